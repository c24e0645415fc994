"""Sorted string tables and snappy blocks that are not as they should be; honest ones are in test_tensor_bundle.py."""
import io
import time
import tracemalloc

import numpy as np
import pytest

from tfsandbox.framework import errors
from tfsandbox.lib import crc32c, snappy
from tfsandbox.lib.table import MAGIC, TableWriter, read_table
from tfsandbox.lib.wire_format import varint


def written(entries):
    file = io.BytesIO()
    table = TableWriter(file)
    for key, value in entries:
        table.add(key, value)
    table.finish()
    return file.getvalue()


def test_round_trip():
    entries = [(f"{i:06d}".encode() * (i % 5 + 1), bytes(i % 300)) for i in range(5000)]
    assert read_table(written(sorted(entries)), "t") == sorted(entries)
    assert read_table(written([]), "t") == []
    edges = [(b"", b""), (b"\0", b"1"), (b"\xff", b"2"), (b"\xff\xff", b"3" * 300000), (b"\xff\xff\xff", b"4")]
    assert read_table(written(edges), "t") == edges


def test_keys_come_in_order():
    table = TableWriter(io.BytesIO())
    table.add(b"b", b"")
    for key in (b"b", b"a"):
        with pytest.raises(ValueError, match="does not come after"):
            table.add(key, b"")


def entry(shared, key, value):
    return varint(shared) + varint(len(key)) + varint(len(value)) + key + value


def forged(blocks, index=None, kind=0):
    """A table of these blocks' contents, with right checksums."""
    data, handles = b"", []
    for contents in (*blocks, None):
        if contents is None:
            contents = RESTARTS
        covered = contents + bytes((kind if len(handles) < len(blocks) else 0,))
        handles.append(varint(len(data)) + varint(len(contents)))
        data += covered + crc32c.mask(crc32c.value(covered)).to_bytes(4, "little")
    if index is None:
        index = b"".join(entry(0, bytes((i + 1,)), handle) for i, handle in enumerate(handles[:-1]))
    contents = index + RESTARTS
    footer = handles[-1] + varint(len(data)) + varint(len(contents))
    covered = contents + b"\0"
    data += covered + crc32c.mask(crc32c.value(covered)).to_bytes(4, "little")
    return data + footer.ljust(40, b"\0") + MAGIC.to_bytes(8, "little")


RESTARTS = (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
PLAIN = entry(0, b"a", b"1") + entry(0, b"b", b"2") + RESTARTS
STAIRCASE = entry(0, b"a", b"") + b"".join(entry(i, b"a", b"") for i in range(1, 40000)) + RESTARTS
HOSTILE = {
    "one key longer than the other": (forged([STAIRCASE]), "expand"),
    "a block many times": (forged([PLAIN], b"".join(entry(0, varint(i), varint(0) + varint(len(PLAIN)))
                                                    for i in range(1, 100))), "overlap"),
    "keys out of order": (forged([entry(0, b"b", b"") + entry(0, b"a", b"") + RESTARTS]), "out of order"),
    "a key twice": (forged([entry(0, b"b", b"") + entry(1, b"", b"") + RESTARTS]), "out of order"),
    "more shared than there is": (forged([entry(3, b"a", b"") + RESTARTS]), "bad entry"),
    "a huge key": (forged([varint(0) + varint(1 << 60) + varint(0) + RESTARTS]), "bad entry"),
    "a huge value": (forged([varint(0) + varint(1) + varint(1 << 60) + b"a" + RESTARTS]), "bad entry"),
    "a number without end": (forged([b"\xff" * 20 + RESTARTS]), "ten bytes"),
    "many restarts": (forged([entry(0, b"a", b"") + b"\xff" * 4]), "bad block contents"),
    "an empty block": (forged([b""]), "bad block contents"),
    "a block outside": (forged([PLAIN], entry(0, b"a", varint(1 << 40) + varint(5))), "truncated"),
    "a huge block": (forged([PLAIN], entry(0, b"a", varint(0) + varint(1 << 40))), "truncated"),
    "a handle cut short": (forged([PLAIN], entry(0, b"a", b"\x80")), "cut short"),
    "an unknown compression": (forged([PLAIN], kind=7), "bad block type"),
    "a bad compressed block": (forged([PLAIN], kind=1), "compressed"),
    "a compressed block that swells": (forged([varint(1 << 40) + b"\0a"], kind=1), "declares more"),
    "no magic": (b"\0" * 100, "magic"),
    "nothing": (b"", "too short"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tables(name):
    data, message = HOSTILE[name]
    started = time.process_time()
    tracemalloc.start()
    with pytest.raises(errors.DataLossError, match=message) as raised:
        read_table(data, "the/file")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(raised.value).startswith("the/file: ")
    assert peak < 40 * len(data) + (1 << 20)
    assert time.process_time() - started < 1


def test_compressed_blocks_are_read():
    # A literal of four bytes and a copy of them for each of the copy's three forms.
    packed = varint(16) + b"\x0cabcd" + b"\x01\x04" + b"\x0e\x04\0" + b"\x0f\x04\0\0\0"
    assert snappy.decompress(packed) == b"abcd" * 4
    assert snappy.decompress(varint(9) + b"\0a" + b"\x1e\x01\0") == b"a" * 9
    assert snappy.decompress(varint(70) + b"\xf0\x45" + b"x" * 70) == b"x" * 70
    block = entry(0, b"key", b"value") + RESTARTS
    compressed = varint(len(block)) + bytes(((len(block) - 1) << 2,)) + block
    assert read_table(forged([compressed], kind=1), "t") == [(b"key", b"value")]


def test_damaged_compressed_blocks():
    packed = varint(16) + b"\x0cabcd" + b"\x01\x04" + b"\x0e\x04\0" + b"\x0f\x04\0\0\0"
    rng = np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(packed)
        damaged[rng.integers(len(packed))] = rng.integers(256)
        try:
            assert len(snappy.decompress(bytes(damaged[: rng.integers(len(packed) + 1)]))) <= 400
        except ValueError:
            pass
