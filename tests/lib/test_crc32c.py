import numpy as np
import pytest

from tfsandbox.lib import crc32c


def bytewise(crc, data):
    state = crc ^ 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = (state >> 1) ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def test_known_answers():
    """From RFC 3720, appendix B.4, and the usual check value."""
    assert crc32c.value(b"123456789") == 0xE3069283
    assert crc32c.value(b"\0" * 32) == 0x8A9136AA
    assert crc32c.value(b"\xff" * 32) == 0x62A8AB43
    assert crc32c.value(bytes(range(32))) == 0x46DD794E
    assert crc32c.value(bytes(range(31, -1, -1))) == 0x113FDB5C


@pytest.mark.parametrize("size", [0, 1, 3, 95, 96, 97, 100, 127, 128, 129, 500, 5684, 5685, 5686, 5760, 5761, 6000,
                                  11370, 11371, 20001, 50000])
def test_every_way_gives_the_same(size):
    data = np.random.default_rng(size).bytes(size)
    assert crc32c.value(data) == bytewise(0, data)
    assert crc32c.extend(12345, data) == bytewise(12345, data)


def test_long_data_in_pieces():
    data = np.random.default_rng(1).integers(0, 256, (1 << 22) + 3, np.uint8)
    whole = crc32c.value(data)
    for cut in (1, 1000, 1 << 20, data.size - 2):
        assert crc32c.extend(crc32c.value(data[:cut]), data[cut:]) == whole
        assert crc32c.of_parts([data[:cut], data[cut:]]) == whole
    damaged = data.copy()
    damaged[12345] ^= 4
    assert crc32c.value(damaged) != whole


def test_arrays_of_any_type():
    values = np.arange(1000, dtype=np.float64)
    before = values.copy()
    assert crc32c.value(values) == crc32c.value(values.tobytes()) == crc32c.value(memoryview(values))
    np.testing.assert_array_equal(values, before)


def test_mask():
    crc = crc32c.value(b"foo")
    assert crc32c.mask(crc) not in (crc, crc32c.mask(crc32c.mask(crc)))
    assert crc32c.unmask(crc32c.mask(crc)) == crc
    assert crc32c.unmask(crc32c.unmask(crc32c.mask(crc32c.mask(crc)))) == crc
