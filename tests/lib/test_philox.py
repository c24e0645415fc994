"""Random streams draw what TensorFlow 1.15 drew (fixtures/random.json, written by record_random.py)."""
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from tfsandbox.framework import dtypes, errors
from tfsandbox.lib import philox
from tfsandbox.lib.philox import RandomStream, stateless_stream
from tfsandbox.lib.philox_blocks import blocks, round_keys
from tfsandbox.lib.philox_sequence import WordSequence, log_uniform_sampler, uniform_sampler

CASES = json.loads((Path(__file__).parent / "fixtures" / "random.json").read_text())
# In units of the last place; what is not here is equal bit for bit. A double goes through the C library's log, sine,
# cosine and power, which numpy does not call (a normal is within 2 from numpy 1.25 on, within 4 before).
DOUBLE_ULPS = {"RandomStandardNormal": 4, "TruncatedNormal": 4, "RandomGamma": 40, "ParameterizedTruncatedNormal": 8,
               "StatelessRandomNormal": 4, "StatelessTruncatedNormal": 4}


def draw(stream, op, args):
    """One run of a case's op."""
    op = op.replace("Stateless", "") if op != "StatelessRandomNormal" else "RandomStandardNormal"
    shape, dtype = args.get("shape"), args.get("dtype")
    if dtype == "bfloat16":
        dtype = dtypes.bfloat16.as_numpy_dtype
    if op == "RandomUniform":
        return stream.uniform(shape, dtype)
    if op == "RandomStandardNormal":
        return stream.standard_normal(shape, dtype)
    if op == "TruncatedNormal":
        return stream.truncated_normal(shape, dtype)
    if op == "RandomUniformInt":
        return stream.uniform_int(shape, args["minval"], args["maxval"], dtype)
    if op == "RandomShuffle":
        dims = args["value_shape"]
        return stream.shuffle(np.arange(np.prod(dims), dtype=np.int32).reshape(dims))
    if op == "Multinomial":
        return stream.multinomial(np.array(args["logits"], dtype), args["num_samples"], args["output_dtype"])
    if op == "RandomGamma":
        return stream.gamma(shape, np.array(args["alpha"], dtype))
    if op == "RandomPoissonV2":
        return stream.poisson(shape, np.array(args["rate"], args["rate_dtype"]), dtype)
    if op == "ParameterizedTruncatedNormal":
        return stream.parameterized_truncated_normal(
            shape, *(np.array(args[k], dtype) for k in ("means", "stdevs", "minvals", "maxvals"))
        )
    if op.endswith("CandidateSampler"):
        make = log_uniform_sampler if op.startswith("Log") else uniform_sampler
        return stream.candidates(make(args["range_max"]), args["num_sampled"], args["unique"])[0]
    raise ValueError(op)


def ulps(got, expected):
    """The largest distance, counted in representable numbers."""
    if got.size == 0:
        return 0
    whole = {2: np.int16, 4: np.int32, 8: np.int64}[got.dtype.itemsize]
    return max(abs(int(a) - int(b)) for a, b in zip(got.ravel().view(whole), expected.ravel().view(whole)))


def identifier(case):
    args = case["args"]
    size = args.get("shape", args.get("value_shape", args.get("range_max")))
    return f"{case['op']}-{args.get('dtype')}-{size}-{case['seed']}"


@pytest.mark.parametrize("case", CASES, ids=identifier)
def test_as_recorded(case):
    args = case["args"]
    stream = RandomStream(case["seed"], case["seed2"])
    if "stateless_seed" in args:
        stream = stateless_stream(args["stateless_seed"])
    for recorded in case["drawn"]:
        got = draw(stream, case["op"], args)
        if args.get("dtype") == "bfloat16":
            got = dtypes.bfloat16_to_float32(got)
        assert (list(got.shape), got.dtype.name) == (recorded["shape"], recorded["dtype"])
        exact = got.dtype != np.float64 or case["op"] not in DOUBLE_ULPS
        if "sha256" in recorded and exact:
            assert hashlib.sha256(np.ascontiguousarray(got).tobytes()).hexdigest() == recorded["sha256"]
        if case["keep"]:
            got = got.ravel()[:: max(1, got.size // case["keep"])]
        expected = np.frombuffer(bytes.fromhex(recorded["hex"]), recorded["dtype"])
        assert ulps(got, expected) <= (0 if exact else DOUBLE_ULPS[case["op"]])


def test_known_answers():
    """The Random123 distribution's known answers for Philox 4x32-10."""
    zero = np.zeros(1, np.uint64)
    assert blocks(round_keys(0), 0, zero)[0].tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = (1 << 64) - 1
    all_ones = blocks(round_keys(ones), (ones << 64) | ones, zero)[0].tolist()
    assert all_ones == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    pi = blocks(round_keys(0x299F31D0_A4093822), 0x03707344_13198A2E_85A308D3_243F6A88, zero)[0].tolist()
    assert pi == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_unique_candidates_say_how_often_they_were_drawn():
    stream = RandomStream(1, 2)
    drawn, tries = stream.candidates(uniform_sampler(5), 5, True)
    assert sorted(drawn.tolist()) == [0, 1, 2, 3, 4] and tries >= 5
    assert stream.candidates(uniform_sampler(5), 9, False)[1] == 9
    with pytest.raises(errors.InvalidArgumentError, match="Sampler's range is too small."):
        stream.candidates(uniform_sampler(5), 6, True)


def test_a_sequence_is_the_same_however_it_is_read():
    keys = round_keys(1)
    words = blocks(keys, 7, np.arange(200, dtype=np.uint64)).ravel()
    sequence = WordSequence(keys, 7)
    parts = [sequence.words(n) for n in (1, 0, 3, 255, 2, 300)]
    np.testing.assert_array_equal(np.concatenate(parts), words[:561])


def test_counter_carries_into_its_high_half():
    keys = round_keys(5)
    start = (7 << 64) | ((1 << 64) - 2)
    together = blocks(keys, start, np.arange(4, dtype=np.uint64))
    apart = [blocks(keys, start + i, np.zeros(1, np.uint64))[0] for i in range(4)]
    np.testing.assert_array_equal(together, apart)
    np.testing.assert_array_equal(together[2:], blocks(keys, 8 << 64, np.arange(2, dtype=np.uint64)))


@pytest.mark.parametrize("name", ["uniform", "standard_normal", "truncated_normal"])
def test_drawing_ahead_changes_nothing(name, monkeypatch):
    shapes = [(3,), (3,), (3,), (5, 2), (3,), (3,), (2, 5), (3,)] + [(4,)] * 200 + [(3,)]
    ahead, plain = RandomStream(3, 4), RandomStream(3, 4)
    drawn = [getattr(ahead, name)(shape) for shape in shapes]
    monkeypatch.setattr(philox, "_AHEAD_RUNS", 1)
    for shape, got in zip(shapes, drawn):
        np.testing.assert_array_equal(got, getattr(plain, name)(shape))


def test_results_are_the_callers_to_change():
    one, other = RandomStream(1, 1), RandomStream(1, 1)
    for _ in range(10):
        got, expected = one.uniform((4,)), other.uniform((4,))
        np.testing.assert_array_equal(got, expected)
        got[:] = -1


def test_without_seeds_streams_differ():
    assert RandomStream().uniform((4,)).tolist() != RandomStream().uniform((4,)).tolist()


def test_gamma_and_poisson_of_odd_parameters():
    stream = RandomStream(1, 2)
    assert np.all(stream.gamma((3,), np.array([0.0], np.float32)) == 0)
    assert np.isnan(stream.gamma((1,), np.array([np.nan, -5], np.float32))).all()
    rates = np.array([0, -1, np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(stream.poisson((1,), rates, np.float32), [[0, 0, np.nan, np.nan]])
    assert stream.poisson((2,), np.zeros(0, np.float32)).shape == (2, 0)
    assert np.isfinite(stream.poisson((50,), np.array([60000.0]), np.float16)).all()


@pytest.mark.parametrize("draw_badly, message", [
    (lambda s: s.uniform((2, -2)), "Dimension -2 must be >= 0"),
    (lambda s: s.uniform_int((2,), 5, 5), "Need minval < maxval, got 5 >= 5"),
    (lambda s: s.multinomial(np.zeros(2), 1), "logits should be a matrix, got shape [2]"),
    (lambda s: s.multinomial(np.zeros((1, 2)), -3), "num_samples should be nonnegative, got -3"),
    (lambda s: s.multinomial(np.zeros((2, 0)), 3), "num_classes should be positive, got 0"),
    (lambda s: s.parameterized_truncated_normal((3,), *np.float32([0, 0, -1, 1])), "Invalid parameters"),
    (lambda s: s.parameterized_truncated_normal((3,), np.zeros(2), *np.array([1.0, -1, 1])),
     "Input means should have length 1 or shape[0], got shape: [2]"),
    (lambda s: stateless_stream([1]), "seed must have shape [2], not [1]"),
])
def test_errors(draw_badly, message):
    with pytest.raises(errors.InvalidArgumentError) as raised:
        draw_badly(RandomStream(1, 2))
    assert message in str(raised.value)


def test_nothing_is_drawn_from_any_range():
    assert RandomStream(1, 2).uniform_int((0, 2), 5, 3).shape == (0, 2)


def test_a_bounded_normal_that_accepts_nothing_ends():
    with pytest.raises(errors.InternalError, match="failed to accept a sample"):
        RandomStream(1, 2).parameterized_truncated_normal((3,), *np.float32([np.nan, 1, 0, 9]))
