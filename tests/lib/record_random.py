"""Record what TensorFlow 1.15's CPU random ops draw, for tests/lib/test_philox.py.

Run with a Python that has TensorFlow 1.15: ``python tests/lib/record_random.py``. It rewrites
``tests/lib/fixtures/random.json``. Arrays are stored as hex of their little-endian bytes; of a large one
only ``keep`` evenly spaced elements are stored, and the sha256 of the whole.
"""
import hashlib
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

CASES = []


def case(op, seed, seed2, runs=2, keep=None, **args):
    """One op with its seeds and arguments, drawn from ``runs`` times in one session."""
    CASES.append(dict(op=op, seed=seed, seed2=seed2, runs=runs, keep=keep, args=args))


SEEDS = [(42, 7), (0, 3), (87654321, 12345), (-5, 2 ** 40 + 9)]
for s, s2 in SEEDS:
    for dt in ("float16", "float32", "float64"):
        case("RandomUniform", s, s2, runs=3, shape=[3, 3], dtype=dt)
        case("RandomStandardNormal", s, s2, runs=3, shape=[3, 3], dtype=dt)
        case("TruncatedNormal", s, s2, runs=3, shape=[13], dtype=dt)
    case("RandomUniformInt", s, s2, shape=[9], minval=-3, maxval=11, dtype="int32")
    case("RandomUniformInt", s, s2, shape=[9], minval=-3 * 10 ** 12, maxval=10 ** 15, dtype="int64")
for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
    case(op, 1, 2, runs=2, shape=[7, 9], dtype="bfloat16")
case("RandomUniform", 1, 2, runs=2, keep=20, shape=[600, 500], dtype="float32")
case("RandomUniform", 1, 2, runs=2, keep=20, shape=[300, 500], dtype="float64")
case("RandomStandardNormal", 1, 2, runs=2, keep=50, shape=[600, 500], dtype="float32")
case("RandomStandardNormal", 1, 2, runs=1, keep=50, shape=[300, 301], dtype="float64")
case("RandomStandardNormal", 1, 2, runs=1, keep=50, shape=[100, 301], dtype="float16")
case("TruncatedNormal", 1, 2, runs=2, keep=50, shape=[600, 501], dtype="float32")
case("TruncatedNormal", 1, 2, runs=1, keep=50, shape=[300, 301], dtype="float64")
case("TruncatedNormal", 1, 2, runs=1, keep=50, shape=[100, 301], dtype="float16")
case("RandomUniformInt", 1, 2, runs=2, keep=20, shape=[100003], minval=0, maxval=10, dtype="int32")
case("RandomUniformInt", 1, 2, runs=2, shape=[5], minval=-2 ** 31, maxval=2 ** 31 - 1, dtype="int32")
case("RandomUniformInt", 1, 2, runs=2, shape=[5], minval=-2 ** 63, maxval=2 ** 63 - 1, dtype="int64")
case("RandomUniform", 1, 2, runs=2, shape=[], dtype="float32")
case("RandomUniform", 1, 2, runs=2, shape=[0, 3], dtype="float32")
case("RandomUniform", 2 ** 31 - 1, 2 ** 62, runs=2, shape=[2], dtype="float32")
for n in (0, 1, 2, 5, 17, 1000):
    case("RandomShuffle", 3, 4, runs=3, keep=40 if n > 40 else None, value_shape=[n])
case("RandomShuffle", 3, 4, runs=3, value_shape=[7, 2])
case("RandomShuffle", 3, 4, runs=3, value_shape=[3, 1, 2])
for out in ("int32", "int64"):
    case("Multinomial", 5, 6, runs=3, logits=[[0.1, 0.9, 0.2], [3.0, -1.0, 0.0]], num_samples=7,
         dtype="float32", output_dtype=out)
case("Multinomial", 5, 6, runs=2, logits=[[0.5, -0.25, 1.0, 2.0]], num_samples=8, dtype="float64", output_dtype="int64")
case("Multinomial", 5, 6, runs=2, logits=[[0.5, -0.25, 1.0, 2.0]] * 5, num_samples=3, dtype="float16",
     output_dtype="int64")
case("Multinomial", 5, 6, runs=2, logits=[[-1e30, 1.0, float("-inf"), 2.0]] * 3, num_samples=4, dtype="float32",
     output_dtype="int64")
case("Multinomial", 5, 6, runs=2, logits=[[float("nan"), 1.0, float("inf"), 2.0]] * 3, num_samples=4, dtype="float32",
     output_dtype="int64")
case("Multinomial", 5, 6, runs=2, keep=50, logits=[[1.0, 2.0, 3.0, 0.5]] * 3, num_samples=1000, dtype="float32",
     output_dtype="int64")
for dt in ("float16", "float32", "float64"):
    case("RandomGamma", 8, 9, runs=3, shape=[5], alpha=[0.3, 1.0, 2.5, 40.0], dtype=dt)
case("RandomGamma", 8, 9, runs=2, shape=[3, 2], alpha=[[0.05], [1.5]], dtype="float32")
case("RandomGamma", 8, 9, runs=2, shape=[], alpha=2.0, dtype="float32")
case("RandomGamma", 8, 9, runs=2, keep=60, shape=[3000], alpha=[0.5, 3.0], dtype="float64")
for rdt, dt in (("float32", "float32"), ("float64", "int64"), ("float32", "int32"), ("float64", "float64"),
                ("float16", "float16"), ("int32", "int64"), ("int64", "float32")):
    case("RandomPoissonV2", 10, 11, runs=3, shape=[5], rate=[1, 3, 12, 100], rate_dtype=rdt, dtype=dt)
case("RandomPoissonV2", 10, 11, runs=2, shape=[2, 3], rate=[[0.5, 9.99], [10.0, 10.5]], rate_dtype="float32",
     dtype="float32")
case("RandomPoissonV2", 10, 11, runs=2, shape=[], rate=4.5, rate_dtype="float64", dtype="float64")
case("RandomPoissonV2", 10, 11, runs=2, keep=60, shape=[3000], rate=[2.0, 25.0, 1000.0], rate_dtype="float64",
     dtype="int64")
for dt in ("float16", "float32", "float64"):
    case("ParameterizedTruncatedNormal", 12, 13, runs=3, shape=[6, 5], means=[0.0, 1.0, -2.0, 0.0, 0.0, 5.0],
         stdevs=[1.0, 2.0, 0.5, 1.0, 1.0, 1.0], minvals=[-1.0, -10.0, -1.0, 3.0, -9.0, float("-inf")],
         maxvals=[1.0, 10.0, 0.0, 4.0, -3.0, 6.0], dtype=dt)
case("ParameterizedTruncatedNormal", 12, 13, runs=2, shape=[10], means=[0.0], stdevs=[1.0], minvals=[-0.5],
     maxvals=[0.75], dtype="float32")
case("ParameterizedTruncatedNormal", 12, 13, runs=2, shape=[10], means=[0.0], stdevs=[1.0], minvals=[2.0],
     maxvals=[9.0], dtype="float32")
case("ParameterizedTruncatedNormal", 12, 13, runs=2, shape=[10], means=[0.0], stdevs=[1.0], minvals=[2.0],
     maxvals=[2.1], dtype="float32")
case("ParameterizedTruncatedNormal", 12, 13, runs=2, shape=[3, 4], means=[0.0], stdevs=[2.0], minvals=[1.0, -3.0, 5.0],
     maxvals=[float("inf")], dtype="float64")
case("ParameterizedTruncatedNormal", 12, 13, runs=1, keep=40, shape=[4000], means=[0.0], stdevs=[2.0], minvals=[-1.0],
     maxvals=[7.0], dtype="float64")
case("ParameterizedTruncatedNormal", 12, 13, runs=1, keep=40, shape=[2, 4000], means=[0.0], stdevs=[2.0],
     minvals=[3.0], maxvals=[6.0, 30.0], dtype="float64")
for seed in ([1, 2], [-3, 2 ** 40]):
    for dt in ("float16", "float32", "float64"):
        for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"):
            case(op, 0, 0, runs=1, shape=[9], stateless_seed=seed, dtype=dt)
    case("StatelessRandomUniformInt", 0, 0, runs=1, shape=[9], stateless_seed=seed, minval=-7, maxval=100,
         dtype="int32")
    case("StatelessRandomUniformInt", 0, 0, runs=1, shape=[9], stateless_seed=seed, minval=-7, maxval=10 ** 14,
         dtype="int64")
    case("StatelessMultinomial", 0, 0, runs=1, stateless_seed=seed, logits=[[0.1, 0.9, 0.2], [3.0, -1.0, 0.0]],
         num_samples=7, dtype="float32", output_dtype="int64")
for unique in (False, True):
    for limit in (16, 37, 10 ** 6):
        for op in ("UniformCandidateSampler", "LogUniformCandidateSampler"):
            case(op, 3, 4, runs=3, range_max=limit, num_sampled=9, unique=unique)


def build(raw, tf, one):
    """The op of a case, with its seeds given as attrs."""
    a, op = one["args"], one["op"]
    seeds = dict(seed=one["seed"], seed2=one["seed2"])
    shape = tf.constant(a["shape"], tf.int32) if "shape" in a else None
    dtype = tf.as_dtype(a["dtype"]) if "dtype" in a else None
    if op.startswith("Stateless"):
        seed = tf.constant(a["stateless_seed"], tf.int64)
        if op == "StatelessRandomUniformInt":
            return raw.StatelessRandomUniformInt(shape=shape, seed=seed, minval=tf.constant(a["minval"], dtype),
                                                 maxval=tf.constant(a["maxval"], dtype))
        if op == "StatelessMultinomial":
            return raw.StatelessMultinomial(logits=tf.constant(a["logits"], dtype), num_samples=a["num_samples"],
                                            seed=seed, output_dtype=tf.as_dtype(a["output_dtype"]))
        return getattr(raw, op)(shape=shape, seed=seed, dtype=dtype)
    if op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        return getattr(raw, op)(shape=shape, dtype=dtype, **seeds)
    if op == "RandomUniformInt":
        return raw.RandomUniformInt(shape=shape, minval=tf.constant(a["minval"], dtype),
                                    maxval=tf.constant(a["maxval"], dtype), **seeds)
    if op == "RandomShuffle":
        size = 1
        for d in a["value_shape"]:
            size *= d
        return raw.RandomShuffle(value=tf.reshape(tf.range(size), a["value_shape"]), **seeds)
    if op == "Multinomial":
        return raw.Multinomial(logits=tf.constant(a["logits"], dtype), num_samples=a["num_samples"],
                               output_dtype=tf.as_dtype(a["output_dtype"]), **seeds)
    if op == "RandomGamma":
        return raw.RandomGamma(shape=shape, alpha=tf.constant(a["alpha"], dtype), **seeds)
    if op == "RandomPoissonV2":
        return raw.RandomPoissonV2(shape=shape, rate=tf.constant(a["rate"], tf.as_dtype(a["rate_dtype"])),
                                   dtype=dtype, **seeds)
    if op == "ParameterizedTruncatedNormal":
        parameters = {k: tf.constant(a[k], dtype) for k in ("means", "stdevs", "minvals", "maxvals")}
        return raw.ParameterizedTruncatedNormal(shape=shape, **parameters, **seeds)
    if op.endswith("CandidateSampler"):
        return getattr(raw, op)(true_classes=tf.constant([[1]], tf.int64), num_true=1, **a, **seeds)[0]
    raise ValueError(op)


def record(one):
    """The case with what TensorFlow drew."""
    import numpy as np
    import tensorflow as tf

    with tf.Graph().as_default(), tf.device("/cpu:0"):
        op = build(tf.raw_ops, tf, one)
        if one["args"].get("dtype") == "bfloat16":
            op = tf.cast(op, tf.float32)
        config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        drawn = []
        with tf.Session(config=config) as sess:
            for _ in range(one["runs"]):
                value = np.array(sess.run(op), order="C")
                entry = dict(shape=list(np.shape(value)), dtype=value.dtype.name)
                if one["keep"]:
                    entry["sha256"] = hashlib.sha256(value.tobytes()).hexdigest()
                    value = value.ravel()[:: max(1, value.size // one["keep"])]
                entry["hex"] = value.tobytes().hex()
                drawn.append(entry)
    return dict(one, drawn=drawn)


if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures", "random.json")
    if not os.path.isdir(os.path.dirname(path)):
        os.makedirs(os.path.dirname(path))
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(record(one)) for one in CASES) + "\n]\n")
    print(len(CASES), "cases,", os.path.getsize(path), "bytes")
