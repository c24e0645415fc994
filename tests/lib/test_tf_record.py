"""Record files: bytes, errors and wording are TensorFlow 1.15's."""
import gzip
import zlib

import numpy as np
import pytest

from tfsandbox.framework import errors
from tfsandbox.lib.io.python_io import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)
from tfsandbox.lib.io.tf_record import framed

RECORDS = [b"one", b"", b"three" * 50]
# What TensorFlow writes for the first two.
WRITTEN = bytes.fromhex("0300000000000000b099490e6f6e6501405508" "000000000000000029039807d8ea82a2")
# And for all three, compressed.
GZIPPED = bytes.fromhex(
    "1f8b0800000000000003636680800d333df9f2f352191d4239a0220c9acc33d86fbc6a5af40bca1778e837b724a32835754412bd473f44"
    "0000920007722d010000"
)
ZLIBBED = bytes.fromhex(
    "789c636680800d333df9f2f352191d4239a0220c9acc33d86fbc6a5af40bca1778e837b724a32835754412bd473f440000c2177555"
)


def write(path, options=None, records=RECORDS):
    with TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)


def read(path, options=None):
    """(records up to an error, its text or None)."""
    records = []
    try:
        for record in tf_record_iterator(str(path), options):
            records.append(record)
    except errors.DataLossError as loss:
        return records, str(loss)
    return records, None


def test_plain(tmp_path):
    write(tmp_path / "p")
    data = (tmp_path / "p").read_bytes()
    assert data.startswith(WRITTEN) and data == b"".join(map(framed, RECORDS))
    assert read(tmp_path / "p") == (RECORDS, None)


@pytest.mark.parametrize("options, unpack", [
    (TFRecordOptions(TFRecordCompressionType.GZIP), gzip.decompress),
    ("GZIP", gzip.decompress),
    (TFRecordCompressionType.ZLIB, zlib.decompress),
    ("ZLIB", zlib.decompress),
    (TFRecordOptions("ZLIB", compression_level=9), zlib.decompress),
    (TFRecordOptions("GZIP", window_bits=15), zlib.decompress),
    (TFRecordCompressionType.NONE, bytes),
    ("", bytes),
    (TFRecordOptions(None), bytes),
])
def test_compressed(options, unpack, tmp_path):
    write(tmp_path / "p", options)
    assert unpack((tmp_path / "p").read_bytes()) == b"".join(map(framed, RECORDS))
    assert read(tmp_path / "p", options) == (RECORDS, None)


@pytest.mark.parametrize("data, options", [(GZIPPED, "GZIP"), (ZLIBBED, "ZLIB")])
def test_what_tensorflow_compressed(data, options, tmp_path):
    (tmp_path / "p").write_bytes(data)
    assert read(tmp_path / "p", options) == (RECORDS, None)


def test_large_compressed_records(tmp_path):
    records = [np.random.default_rng(0).bytes(700000), b"\0" * 3000000, b"x"]
    write(tmp_path / "p", "GZIP", records)
    assert read(tmp_path / "p", "GZIP") == (records, None)
    data = (tmp_path / "p").read_bytes()
    (tmp_path / "p").write_bytes(data + data)
    assert read(tmp_path / "p", "GZIP") == (records * 2, None)


def test_flushed_records_can_be_read(tmp_path):
    for options in (None, "GZIP"):
        writer = TFRecordWriter(str(tmp_path / "p"), options)
        writer.write(b"one")
        writer.flush()
        assert read(tmp_path / "p", options) == ([b"one"], None)
        writer.close()


def damage(data, place):
    return data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :]


DATA = b"".join(map(framed, RECORDS))


@pytest.mark.parametrize("data, expected", [
    (damage(DATA, 0), ([], "corrupted record at 0")),
    (damage(DATA, 8), ([], "corrupted record at 0")),
    (damage(DATA, 12), ([], "corrupted record at 12")),
    (damage(DATA, 15), ([], "corrupted record at 12")),
    (b"x" * 100, ([], "corrupted record at 0")),
    (DATA[:11], ([], None)),
    (DATA[:12], ([], "truncated record at 0")),
    (DATA[:18], ([], "truncated record at 0")),
    (DATA[:19], ([b"one"], None)),
    (DATA[:30], ([b"one"], None)),
    (DATA[:-1], ([b"one", b""], "truncated record at 35")),
    (b"", ([], None)),
])
def test_damaged(data, expected, tmp_path):
    (tmp_path / "p").write_bytes(data)
    assert read(tmp_path / "p") == expected


def test_a_record_that_declares_more_than_there_is(tmp_path):
    header = framed(b"")[:0] + (1 << 62).to_bytes(8, "little")
    from tfsandbox.lib import crc32c

    header += crc32c.mask(crc32c.value(header)).to_bytes(4, "little")
    (tmp_path / "p").write_bytes(header + b"abc")
    assert read(tmp_path / "p") == ([], "truncated record at 0")
    (tmp_path / "p").write_bytes(gzip.compress(header + b"abc"))
    assert read(tmp_path / "p", "GZIP") == ([], "truncated record at 0")


@pytest.mark.parametrize("data, expected", [
    (GZIPPED[:-12], ([b"one", b""], "truncated record at 35")),
    (GZIPPED[:-1], (RECORDS, None)),
    (GZIPPED + b"\0\0\0", (RECORDS, None)),
    (DATA, ([], "inflate() failed with error -3: incorrect header check")),
    (b"", ([], None)),
])
def test_damaged_compressed(data, expected, tmp_path):
    (tmp_path / "p").write_bytes(data)
    assert read(tmp_path / "p", "GZIP") == expected


def test_options():
    string = TFRecordOptions.get_compression_type_string
    assert [string(o) for o in (None, "", TFRecordOptions(2), 1, "GZIP", TFRecordOptions(TFRecordOptions("ZLIB")))] == [
        "", "", "GZIP", "ZLIB", "GZIP", "ZLIB"]  # fmt: skip
    for make in (TFRecordOptions, string):
        for wrong, told in (("FOO", "FOO"), (7, "7"), (3.5, "3.5")):
            with pytest.raises(ValueError, match=f'Not a valid compression_type: "{told}"'):
                make(wrong)


def test_errors(tmp_path):
    with pytest.raises(errors.NotFoundError, match="no; No such file or directory"):
        list(tf_record_iterator(str(tmp_path / "no")))
    with pytest.raises(errors.NotFoundError, match="no/x; No such file or directory"):
        TFRecordWriter(str(tmp_path / "no" / "x"))
    with pytest.raises(errors.FailedPreconditionError, match="Is a directory"):
        list(tf_record_iterator(str(tmp_path)))
    writer = TFRecordWriter(str(tmp_path / "q"))
    with pytest.raises(TypeError, match="expected bytes, str found"):
        writer.write("abc")
    writer.close()
    writer.close()
    for call in (lambda: writer.write(b"x"), writer.flush):
        with pytest.raises(errors.FailedPreconditionError, match="Writer not initialized or previously closed"):
            call()
