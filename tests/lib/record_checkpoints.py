"""Record checkpoints, as TensorFlow 1.15 writes them, for tests/lib/test_tensor_bundle.py.

Run with a Python that has TensorFlow 1.15: ``python tests/lib/record_checkpoints.py``. It rewrites
``tests/lib/fixtures/checkpoints.json``: for each case the tensors and the files, in hex, or a digest of a large one.
"""
import hashlib
import json
import os
import tempfile

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
HERE = os.path.dirname(os.path.abspath(__file__))
NUMBERS = ("float32", "float64", "int32", "uint8", "int16", "int8", "complex64", "int64", "bool", "uint16",
           "complex128", "float16", "uint32", "uint64")


def described(array):
    """An array as JSON: type, shape and contents."""
    array = np.asarray(array)
    if array.dtype == object:
        return dict(dtype="string", shape=list(array.shape), strings=[s.hex() for s in array.ravel().tolist()])
    return dict(dtype=array.dtype.name, shape=list(array.shape), hex=array.tobytes().hex())


def strings(*values):
    """A vector of strings."""
    return np.array(values + (None,), object)[:-1]


def cases():
    """(name, [(tensor name, shape and slice, array)])."""
    yield "one", [("x", "", np.float32([1, 2, 3]))]
    yield "numbers", [(name, "", np.arange(6).reshape(2, 3).astype(name)) for name in NUMBERS]
    yield "shapes", [("scalar", "", np.int32(3)), ("empty", "", np.zeros((0, 2), np.float32)),
                     ("z/deep/name", "", np.ones((300, 2), np.int8)), ("many", "", np.zeros((1,) * 8, np.float64))]
    yield "strings", [("s", "", strings(b"hello", b"", b"x" * 200, b"\0\xff")), ("one", "", strings(b"q").reshape(())),
                      ("none", "", strings()), ("matrix", "", strings(b"a", b"b", b"c", b"d").reshape(2, 2))]
    yield "slices", [("w", "10 4 0,5:-", np.arange(20, dtype=np.float32).reshape(5, 4)),
                     ("w", "10 4 5,5:-", np.arange(20, 40, dtype=np.float32).reshape(5, 4)),
                     ("v", "3 -", np.zeros(3, np.float32)), ("u", "4 0,4", np.ones(4, np.int32)),
                     ("t", "200 3 0,100:1,2", np.arange(200).reshape(100, 2).astype(np.int16)),
                     ("t", "200 3 100,100:0,1", np.arange(100).reshape(100, 1).astype(np.int16)),
                     ("t/long", "100000 70000,30", np.arange(30).astype(np.int8))]
    yield "prefixes", [(f"layer_{i:02d}/{part}", "", np.int8([i]))
                       for i in range(20) for part in ("kernel", "bias")]
    yield "odd_names", [("\u00fcml\u00e4ut", "", np.int8([1])), ("~", "", np.int8([2])), ("a b", "", np.int8([3])),
                        ("zz\u00ff", "", np.int8([4]))]
    # An index of several blocks.
    yield "large", [(f"variable_{'abcdefgh'[i % 8] * 30}_{i * 7919 % 9000:05d}/{'x' * (i % 50)}", "", np.int32(i))
                    for i in range(9000)]


def save(prefix, tensors):
    """Save by the op SaveV2."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.device("/cpu:0"), tf.Session() as sess:
        values = [tf.constant(v.tolist(), tf.string, v.shape) if v.dtype == object else tf.constant(v)
                  for _, _, v in tensors]
        sess.run(tf.raw_ops.SaveV2(prefix=prefix, tensor_names=[n for n, _, _ in tensors],
                                   shape_and_slices=[s for _, s, _ in tensors], tensors=values))


def merged(directory):
    """Three shards, of which two have slices of one tensor, and their merger."""
    import tensorflow as tf

    shards = [
        [("b", "", np.float32([1, 2])), ("w", "6 2 0,2:-", np.float32([[0, 1], [2, 3]]))],
        [("a", "", np.int64([7])), ("w", "6 2 2,4:-", np.arange(8, dtype=np.float32).reshape(4, 2))],
        [("c", "", strings(b"end"))],
    ]
    prefixes = [os.path.join(directory, f"part{i}_temp", "ckpt") for i in range(len(shards))]
    for prefix, tensors in zip(prefixes, shards):
        save(prefix, tensors)
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes,
                                               destination_prefix=os.path.join(directory, "ckpt")))
    return shards


def files(directory, whole):
    """The files of a directory, as hex or as digests."""
    found = {}
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read()
            found[name] = data.hex() if whole else hashlib.sha256(data).hexdigest()
    return found


if __name__ == "__main__":
    recorded = []
    for case, tensors in cases():
        with tempfile.TemporaryDirectory() as directory:
            save(os.path.join(directory, "ckpt"), tensors)
            whole = case != "large"
            told = [[n, s, described(v)] for n, s, v in tensors] if whole else None
            recorded.append(dict(name=case, tensors=told, files=files(directory, whole)))
    with tempfile.TemporaryDirectory() as directory:
        told = [[[n, s, described(v)] for n, s, v in shard] for shard in merged(directory)]
        recorded.append(dict(name="merged", shards=told, files=files(directory, True)))
    path = os.path.join(HERE, "fixtures", "checkpoints.json")
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(one) for one in recorded) + "\n]\n")
    print(len(recorded), "cases,", os.path.getsize(path), "bytes")
