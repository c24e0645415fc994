"""V2 checkpoints: the files of TensorFlow byte for byte (fixtures/checkpoints.json), damage, and killed writers."""
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tfsandbox.framework import errors
from tfsandbox.lib import atomic_file, crc32c, table, wire_format
from tfsandbox.lib.bundle_entry import BundleEntry, BundleHeader, data_path, index_path
from tfsandbox.lib.bundle_reader import current_index
from tfsandbox.lib.tensor_bundle import BundleReader, BundleWriter, exists, merge
from tfsandbox.lib.tensor_slice import TensorSlice, parse_shape_and_slice

HERE = Path(__file__).parent
RECORDED = {case["name"]: case for case in json.loads((HERE / "fixtures" / "checkpoints.json").read_text())}
SINGLE = [name for name in RECORDED if name not in ("merged", "large")]
DATA = ".data-00000-of-00001"


def array(told):
    if told["dtype"] == "string":
        out = np.empty(len(told["strings"]), object)
        out[:] = [bytes.fromhex(s) for s in told["strings"]]
        return out.reshape(told["shape"])
    return np.frombuffer(bytes.fromhex(told["hex"]), told["dtype"]).reshape(told["shape"])


def tensors_of(case):
    return [(name, spec, array(told)) for name, spec, told in case["tensors"]]


def write(prefix, tensors):
    with BundleWriter(str(prefix)) as writer:
        for name, spec, value in tensors:
            writer.add_slice(name, spec, value)


def files(directory):
    return {path.name: path.read_bytes() for path in Path(directory).iterdir()}


def put(directory, case):
    for name, data in case["files"].items():
        (directory / name).write_bytes(bytes.fromhex(data))
    return str(directory / "ckpt")


@pytest.mark.parametrize("name", SINGLE)
def test_writes_the_bytes_of_tensorflow(name, tmp_path):
    case = RECORDED[name]
    write(tmp_path / "ckpt", tensors_of(case))
    assert {n: d.hex() for n, d in files(tmp_path).items()} == case["files"]


@pytest.mark.parametrize("name", SINGLE)
def test_reads_what_tensorflow_wrote(name, tmp_path):
    prefix = put(tmp_path, RECORDED[name])
    with BundleReader(prefix) as reader:
        for tensor, spec, expected in tensors_of(RECORDED[name]):
            got = reader.restore(tensor, spec)
            assert got.dtype == expected.dtype and got.shape == expected.shape
            np.testing.assert_array_equal(got, expected)
            assert got.flags.writeable


def test_an_index_of_several_blocks(tmp_path):
    spec = importlib.util.spec_from_file_location("record_checkpoints", HERE / "record_checkpoints.py")
    recorder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recorder)
    tensors = dict((case, tensors) for case, tensors in recorder.cases())["large"]
    write(tmp_path / "ckpt", tensors)
    digests = {n: hashlib.sha256(d).hexdigest() for n, d in files(tmp_path).items()}
    assert digests == RECORDED["large"]["files"]
    with BundleReader(str(tmp_path / "ckpt")) as reader:
        assert len(reader.names()) == len(tensors)
        assert all(reader.get(name) == value for name, _, value in tensors[::100])


def test_merge(tmp_path):
    case = RECORDED["merged"]
    prefixes = []
    for i, shard in enumerate(case["shards"]):
        prefixes.append(str(tmp_path / f"part{i}_temp" / "ckpt"))
        write(prefixes[-1], [(name, spec, array(told)) for name, spec, told in shard])
    merge(prefixes, str(tmp_path / "ckpt"), delete_old_dirs=True)
    assert {n: d.hex() for n, d in files(tmp_path).items()} == case["files"]
    with BundleReader(str(tmp_path / "ckpt")) as reader:
        assert reader.names() == ["a", "b", "c", "w"]
        assert reader.get("w").tolist() == [[0, 1], [2, 3], [0, 1], [2, 3], [4, 5], [6, 7]]
        assert reader.get("c").tolist() == [b"end"]


def test_merging_the_same_name_twice_is_an_error(tmp_path):
    for part in "ab":
        write(tmp_path / part, [("x", "", np.zeros(2))])
    with pytest.raises(errors.InvalidArgumentError, match="Duplicate tensor keyed by x"):
        merge([str(tmp_path / "a"), str(tmp_path / "b")], str(tmp_path / "c"))
    assert BundleReader(str(tmp_path / "a")).get("x").tolist() == [0, 0]


def test_what_there_is(tmp_path):
    with BundleReader(put(tmp_path, RECORDED["slices"])) as reader:
        assert reader.names() == ["t", "t/long", "u", "v", "w"]
        assert reader.has("w") and not reader.has("q")
        assert reader.shape("w") == (10, 4) and reader.dtype("w") == 1
        assert b"\0w\0\x01\x01\x02" in reader.debug_string().encode("utf-8", "surrogateescape")
        assert "v (DT_FLOAT) [3]\n" in reader.debug_string()


def test_parts_of_tensors(tmp_path):
    with BundleReader(put(tmp_path, RECORDED["slices"])) as reader:
        whole = np.concatenate([np.arange(20), np.arange(20, 40)]).reshape(10, 4)
        np.testing.assert_array_equal(reader.get("w"), whole)
        np.testing.assert_array_equal(reader.restore("w", "10 4 3,4:-"), whole[3:7])
        np.testing.assert_array_equal(reader.restore("w", "10 4 0,5:1,2"), whole[:5, 1:3])
        np.testing.assert_array_equal(reader.restore("v", "3 1,2"), [0, 0])
        np.testing.assert_array_equal(reader.restore("t", "200 3 0,100:1,1"), np.arange(0, 200, 2).reshape(100, 1))
        with pytest.raises(errors.InvalidArgumentError) as raised:
            reader.get("t")
        assert str(raised.value) == (
            "Does not have sufficient slices for partitioned tensor t to restore in slice_spec: -:-"
        )


def test_overlapping_slices_cover(tmp_path):
    write(tmp_path / "c", [("x", "5 0,3", np.arange(3)), ("x", "5 2,3", np.arange(2, 5)),
                           ("y", "5 0,3", np.arange(3)), ("y", "5 1,2", np.arange(1, 3))])
    with BundleReader(str(tmp_path / "c")) as reader:
        assert reader.get("x").tolist() == [0, 1, 2, 3, 4]
        with pytest.raises(errors.InvalidArgumentError, match="sufficient slices"):
            reader.get("y")


@pytest.mark.parametrize("arguments, kind, message", [
    (("q",), errors.NotFoundError, "Key q not found in checkpoint"),
    (("v", "", 3), errors.InvalidArgumentError,
     "tensor_name = v; expected dtype int32 does not equal original dtype float"),
    (("v", "4 0,2"), errors.InvalidArgumentError,
     "tensor_name = v; shape in shape_and_slice spec [4] does not match the shape stored in checkpoint: [3]"),
])
def test_errors_of_restore(tmp_path, arguments, kind, message):
    with BundleReader(put(tmp_path, RECORDED["slices"])) as reader, pytest.raises(kind) as raised:
        reader.restore(*arguments)
    assert str(raised.value) == message


@pytest.mark.parametrize("spec, kind, message", [
    ("3", errors.InvalidArgumentError, "Need least two elements in shape_and_slice specification: 3"),
    ("3 x", errors.InvalidArgumentError, "Expected a pair of numbers or '-' but got 'x': string = x"),
    ("a 0,1", errors.InvalidArgumentError, "Non numerical dimension in shape_and_slice: a 0,1"),
    ("3  0,1", errors.InvalidArgumentError, "Non numerical dimension in shape_and_slice: 3  0,1"),
    ("-3 0,1", errors.InvalidArgumentError, "Non numerical dimension in shape_and_slice: -3 0,1"),
    ("3 0,0", errors.InvalidArgumentError,
     "Expected non-negative start and positive length but got start = 0, length = 0: string = 0,0"),
    ("3 0,9", errors.InternalError, "Extent in dimension 0 out of bounds: shape = [3], slice = 0,9"),
    ("3 0,1:-", errors.InternalError, "Mismatching ranks: shape = [3], slice = 0,1:-"),
    ("99999999999999999999 0,1", errors.InvalidArgumentError,
     "Non numerical dimension in shape_and_slice: 99999999999999999999 0,1"),
])
def test_errors_of_slices(spec, kind, message):
    with pytest.raises(kind) as raised:
        parse_shape_and_slice(spec)
    assert str(raised.value) == message


def test_slice_keys_sort_by_place():
    places = [0, 1, 63, 64, 8191, 8192, 2**20, 2**35, 2**55, 2**62]
    keys = [TensorSlice(((place, 1),)).key(b"x") for place in places]
    assert keys == sorted(keys)
    assert TensorSlice(((64, -1),)).key(b"x") == b"\0x\0\x01\x01\x01\xc0\x40\x7f"


def test_errors_of_the_writer(tmp_path):
    writer = BundleWriter(str(tmp_path / "c"))
    writer.add("a", np.zeros(3))
    with pytest.raises(errors.InvalidArgumentError, match="Adding duplicate key: a"):
        writer.add("a", np.zeros(3))
    with pytest.raises(errors.InvalidArgumentError) as raised:
        writer.add_slice("b", "4 0,2", np.zeros(3))
    assert str(raised.value) == (
        "Slice in shape_and_slice specification does not match the shape of the tensor to  save: 4 0,2, tensor: [3]"
    )
    writer.add_slice("b", "4 0,2", np.zeros(2))
    with pytest.raises(errors.InvalidArgumentError, match="Adding duplicate key"):
        writer.add_slice("b", "4 0,2", np.zeros(2))
    with pytest.raises(errors.InvalidArgumentError, match="same whole shape"):
        writer.add_slice("b", "5 2,2", np.zeros(2))
    with pytest.raises(errors.InvalidArgumentError):
        writer.add("", np.zeros(3))
    writer.abort()
    assert files(tmp_path) == {}


def test_an_exception_leaves_nothing(tmp_path):
    write(tmp_path / "c", [("a", "", np.zeros(3))])
    before = files(tmp_path)
    with pytest.raises(KeyError), BundleWriter(str(tmp_path / "c")) as writer:
        writer.add("a", np.ones(3))
        raise KeyError("x")
    assert files(tmp_path) == before


def test_arrays_of_other_layouts(tmp_path):
    value = np.arange(12).reshape(3, 4)
    write(tmp_path / "c", [("t", "", value.T), ("b", "", value.astype(">i8")), ("s", "", value[:, ::2]),
                           ("u", "", np.array(["é", "b"])), ("p", "", np.array(3.5))])
    with BundleReader(str(tmp_path / "c")) as reader:
        np.testing.assert_array_equal(reader.get("t"), value.T)
        np.testing.assert_array_equal(reader.get("b"), value)
        np.testing.assert_array_equal(reader.get("s"), value[:, ::2])
        assert reader.get("u").tolist() == ["é".encode(), b"b"]
        assert reader.get("p").shape == () and reader.get("p") == 3.5


def test_types_without_a_numpy_type(tmp_path):
    from tfsandbox.framework import dtypes

    values = {name: np.arange(3).astype("u2" if "16" in name else "i1") for name in ("bfloat16", "qint8")}
    with BundleWriter(str(tmp_path / "c")) as writer:
        for name, value in values.items():
            kind = dtypes.as_dtype(name)
            writer.add(name, value.view(kind.as_numpy_dtype), kind.as_datatype_enum)
    with BundleReader(str(tmp_path / "c")) as reader:
        for name, value in values.items():
            assert reader.dtype(name) == dtypes.as_dtype(name).as_datatype_enum
            np.testing.assert_array_equal(reader.get(name).view(value.dtype), value)


# Files that are missing or damaged ------------------------------------------------------------------------------


def test_missing(tmp_path):
    with pytest.raises(errors.NotFoundError) as raised:
        BundleReader(str(tmp_path / "c"))
    assert str(raised.value) == (
        f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {tmp_path}/c"
    )
    with pytest.raises(errors.InvalidArgumentError) as raised:
        BundleReader(str(tmp_path / "no" / "c"))
    assert str(raised.value) == (
        f"Unsuccessful TensorSliceReader constructor: Failed to get matching files on {tmp_path}/no/c: "
        f"Not found: {tmp_path}/no; No such file or directory"
    )
    assert not exists(str(tmp_path / "c"))


def test_missing_data(tmp_path):
    prefix = put(tmp_path, RECORDED["one"])
    os.remove(prefix + DATA)
    assert exists(prefix)
    with pytest.raises(errors.NotFoundError) as raised:
        BundleReader(prefix).get("x")
    assert str(raised.value) == f"{prefix}{DATA}; No such file or directory"


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.AlreadyExistsError):
        BundleWriter(str(tmp_path / "file" / "c"))
    (tmp_path / "c.index").mkdir()
    with pytest.raises(errors.FailedPreconditionError, match="Is a directory"):
        BundleReader(str(tmp_path / "c"))


def everything(prefix):
    with BundleReader(prefix) as reader:
        for name in reader.names():
            reader.get(name)


@pytest.mark.parametrize("name", ["numbers", "strings"])
def test_every_damaged_byte_is_noticed(name, tmp_path):
    prefix = put(tmp_path, RECORDED[name])
    for extension in (".index", DATA):
        path = Path(prefix + extension)
        data = path.read_bytes()
        for i in range(len(data)):
            path.write_bytes(data[:i] + bytes((data[i] ^ 0x10,)) + data[i + 1 :])
            try:
                everything(prefix)
            except errors.DataLossError as loss:
                assert str(path) in str(loss)
            else:
                # The footer has bytes that say nothing: padding, and the place of the empty meta index.
                assert extension == ".index" and len(data) - 48 <= i < len(data) - 8
        path.write_bytes(data)
    everything(prefix)


@pytest.mark.parametrize("name", ["numbers", "strings", "slices"])
def test_truncated(name, tmp_path):
    prefix = put(tmp_path, RECORDED[name])
    for extension in (".index", DATA):
        path = Path(prefix + extension)
        data = path.read_bytes()
        for size in range(len(data)):
            path.write_bytes(data[:size])
            with pytest.raises(errors.DataLossError) as raised:
                with BundleReader(prefix) as reader:
                    for tensor, spec, _ in tensors_of(RECORDED[name]):
                        reader.restore(tensor, spec)
            assert str(path) in str(raised.value)
        path.write_bytes(data)


def test_checksum_message_is_tensorflows(tmp_path):
    prefix = put(tmp_path, RECORDED["one"])
    Path(prefix + DATA).write_bytes(np.float32([1, 2, 4]).tobytes())
    with pytest.raises(errors.DataLossError, match="Checksum does not match: stored .* vs. calculated on the restored"):
        BundleReader(prefix).get("x")


def forge(prefix, entries, header=None, data=b"\0" * 64):
    """A checkpoint whose index says what it is told to."""
    with open(index_path(prefix), "wb") as file:
        writer = table.TableWriter(file)
        writer.add(b"", BundleHeader().encode() if header is None else header)
        for key, entry in sorted(entries.items()):
            writer.add(key, entry if isinstance(entry, bytes) else entry.encode())
        writer.finish()
    Path(data_path(prefix, 0, 1)).write_bytes(data)


ZEROS = crc32c.mask(crc32c.value(b"\0" * 64))
WHOLE, SECOND = TensorSlice(((0, 1 << 40),)), TensorSlice(((1 << 40, 1 << 40),))
HOSTILE = {
    "huge shape": {b"x": BundleEntry(1, (1 << 40,), size=1 << 42)},
    "overflowing shape": {b"x": BundleEntry(1, (1 << 62, 1 << 62), size=64)},
    "zeros among huge": {b"x": BundleEntry(1, (0, 1 << 62, 1 << 62))},
    "size without shape": {b"x": BundleEntry(1, (2,), size=64)},
    "shape without size": {b"x": BundleEntry(1, (1 << 40,), size=64)},
    "negative dimension": {b"x": BundleEntry(1, (-4,), size=64)},
    "negative offset": {b"x": BundleEntry(1, (16,), offset=-64, size=64)},
    "negative size": {b"x": BundleEntry(1, (16,), size=-64)},
    "offset outside": {b"x": BundleEntry(1, (16,), offset=1 << 50, size=64)},
    "shard outside": {b"x": BundleEntry(1, (16,), 5, 0, 64)},
    "overlapping": {b"x": BundleEntry(1, (16,), 0, 0, 64, ZEROS), b"y": BundleEntry(1, (8,), 0, 32, 32, 0)},
    "the same bytes": {bytes((i,)): BundleEntry(1, (16,), 0, 0, 64, ZEROS) for i in range(1, 200)},
    "unknown type": {b"x": BundleEntry(99, (16,), size=64)},
    "no type": {b"x": BundleEntry(0, (16,), size=64)},
    "resource": {b"x": BundleEntry(20, (16,), size=64)},
    "many dimensions": {b"x": BundleEntry(1, (1,) * 1000, size=4)},
    "many strings": {b"x": BundleEntry(7, (1 << 40,), size=64)},
    "strings of lost lengths": {b"x": BundleEntry(7, (20,), size=64)},
    "slices that are not there": {b"x": BundleEntry(1, (1 << 41,), slices=(WHOLE,))},
    "slices outside": {b"x": BundleEntry(1, (4,), slices=(WHOLE,))},
    "slices of another rank": {b"x": BundleEntry(1, (4, 4), slices=(WHOLE,))},
    "negative slices": {b"x": BundleEntry(1, (4,), slices=(TensorSlice(((-5, 3),)),))},
    "huge slices": {b"x": BundleEntry(1, (1 << 41,), slices=(WHOLE, SECOND)),
                    WHOLE.key(b"x"): BundleEntry(1, (1 << 40,), size=1 << 42),
                    SECOND.key(b"x"): BundleEntry(1, (1 << 40,), offset=1 << 42, size=1 << 42)},
    "a slice of slices": {b"x": BundleEntry(1, (4,), slices=(TensorSlice(((0, 2),)),)),
                          TensorSlice(((0, 2),)).key(b"x"): BundleEntry(1, (2,), slices=(TensorSlice(((0, 2),)),))},
    "nonsense": {b"x": b"\xff" * 40},
    "a field too long": {b"x": b"\x12\xff\xff\xff\xff\x0f"},
    "a number for a message": {b"x": wire_format.field(2, 5)},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_entries(name, tmp_path):
    prefix = str(tmp_path / "c")
    forge(prefix, HOSTILE[name])
    started = time.process_time()
    tracemalloc.start()
    with pytest.raises(errors.DataLossError, match="c.index|c.data"):
        everything(prefix)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20
    assert time.process_time() - started < 1


@pytest.mark.parametrize("header", [b"", b"\xff", wire_format.field(1, 1 << 40), wire_format.field(1, 1) + b"\x10\x01",
                                    wire_format.field(1, 1) + wire_format.field(3, wire_format.field(2, 9))])
def test_hostile_headers(header, tmp_path):
    prefix = str(tmp_path / "c")
    forge(prefix, {}, header)
    with pytest.raises(errors.DataLossError, match="c.index"):
        BundleReader(prefix)


# Killed writers -------------------------------------------------------------------------------------------------

# Saves checkpoint after checkpoint, and dies at the n-th of the calls that touch the disk.
DYING_WRITER = """
    import os, sys
    import numpy as np
    from tfsandbox.lib import bundle_writer, tensor_bundle

    prefix, n = sys.argv[1], int(sys.argv[2])
    calls = 0

    def dying(call):
        def wrapped(*args, **kwargs):
            global calls
            calls += 1
            if calls == n:
                os._exit(9)
            return call(*args, **kwargs)
        return wrapped

    for name in ("replace", "fsync", "remove"):
        setattr(os, name, dying(getattr(os, name)))
    bundle_writer.crc32c.value = dying(bundle_writer.crc32c.value)
    with tensor_bundle.BundleWriter(prefix) as writer:
        for name in "abc":
            writer.add(name, np.full(1000, 2.0))
    print("finished", calls)
"""


def run_writer(prefix, n):
    arguments = [sys.executable, "-c", textwrap.dedent(DYING_WRITER), str(prefix), str(n)]
    environment = dict(os.environ, PYTHONPATH=str(HERE.parents[1]))
    return subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)


def test_a_killed_writer_leaves_a_whole_checkpoint(tmp_path):
    finished = run_writer(tmp_path / "first", 0)
    assert finished.returncode == 0, finished.stderr
    calls = int(finished.stdout.split()[1])
    assert calls > 8
    seen = set()
    for n in range(1, calls + 1):
        directory = tmp_path / str(n)
        directory.mkdir()
        prefix = directory / "ckpt"
        write(prefix, [(name, "", np.full(1000, 1.0)) for name in "abc"])
        write(directory / "other", [("a", "", np.zeros(3))])
        assert run_writer(prefix, n).returncode == 9
        with BundleReader(str(prefix)) as reader:
            values = {value for name in reader.names() for value in reader.get(name).tolist()}
        assert len(values) == 1 and reader.names() == ["a", "b", "c"]
        seen |= values
        assert BundleReader(str(directory / "other")).get("a").tolist() == [0, 0, 0]
        # The next save cleans up.
        write(prefix, [("a", "", np.full(3, 3.0))])
        assert BundleReader(str(prefix)).get("a").tolist() == [3, 3, 3]
        assert len(files(directory)) == 4
    assert seen == {1.0, 2.0}


def test_a_writer_killed_at_any_time(tmp_path):
    """As above, by the system: kill -9 at times spread over many saves."""
    program = """
        import itertools, sys
        import numpy as np
        from tfsandbox.lib.tensor_bundle import BundleWriter

        for i in itertools.count(1):
            with BundleWriter(sys.argv[1]) as writer:
                for name in "abc":
                    writer.add(name, np.full(20000, float(i)))
            print(i, flush=True)
    """
    prefix = str(tmp_path / "ckpt")
    environment = dict(os.environ, PYTHONPATH=str(HERE.parents[1]))
    for i in range(6):
        arguments = [sys.executable, "-c", textwrap.dedent(program), prefix]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment)
        process.stdout.readline()
        time.sleep(0.003 * i)
        process.kill()
        rest = process.stdout.read().split()
        process.wait()
        with BundleReader(prefix) as reader:
            values = {value for name in "abc" for value in reader.get(name).tolist()}
        assert len(values) == 1 and min(values) >= max([1, *map(float, rest)])


def test_an_old_pending_index_is_not_taken_for_a_new_one(tmp_path):
    prefix = str(tmp_path / "ckpt")
    write(prefix, [("a", "", np.zeros(3))])
    stale = index_path(prefix) + atomic_file.TEMPORARY + "123"
    shutil.copy(index_path(prefix), stale)
    assert current_index(prefix) == stale
    os.utime(stale, (1, 1))
    assert current_index(prefix) == index_path(prefix)


def test_writers_of_one_checkpoint_do_not_disturb_each_other(tmp_path):
    """The last one to finish wins, with both of its files."""
    prefix, problems = str(tmp_path / "ckpt"), []

    def save(number: float) -> None:
        try:
            for _ in range(15):
                write(prefix, [("a", "", np.full(1000, number)), ("b", "", np.full(1000, number))])
                reader = BundleReader(prefix)
                assert (reader.get("a") == reader.get("a")[0]).all()
        except BaseException as error:
            problems.append(error)
    threads = [threading.Thread(target=save, args=(number,)) for number in (1.0, 2.0, 3.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reader = BundleReader(prefix)
    assert (reader.get("a") == reader.get("b")).all()
    assert len(files(tmp_path)) == 2
    assert [p for p in problems if not isinstance(p, errors.DataLossError)] == []
