"""Candidate samplers: a few of many classes, drawn to train against instead of all of them.

The numbers are those of TensorFlow's streams for the seeds of the node (`lib.philox`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfsandbox.framework import errors, random_seed
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import with_rank, with_size
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.nn_shapes import invalid

__all__: list[str] = []

_SIGNATURE = "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, " \
             "sampled_expected_count: float32"
_ATTRS = "num_true: int >= 1; num_sampled: int >= 1; unique: bool; "
_SEEDS = "seed: int = 0; seed2: int = 0"

uniform_op = register_op("UniformCandidateSampler", _SIGNATURE, f"{_ATTRS}range_max: int >= 1; {_SEEDS}", stateful=True)
log_uniform_op = register_op("LogUniformCandidateSampler", _SIGNATURE, f"{_ATTRS}range_max: int >= 1; {_SEEDS}",
                             stateful=True)
learned_op = register_op("LearnedUnigramCandidateSampler", _SIGNATURE, f"{_ATTRS}range_max: int >= 1; {_SEEDS}",
                         stateful=True)
thread_unsafe_op = register_op("ThreadUnsafeUnigramCandidateSampler", _SIGNATURE,
                               f"{_ATTRS}range_max: int >= 1; {_SEEDS}", stateful=True)
fixed_op = register_op("FixedUnigramCandidateSampler", _SIGNATURE,
                       f"{_ATTRS}range_max: int >= 1; vocab_file: string = ''; distortion: float = 1.0; "
                       "num_reserved_ids: int = 0; num_shards: int >= 1 = 1; shard: int >= 0 = 0; "
                       f"unigrams: list(float) = []; {_SEEDS}", stateful=True)
all_op = register_op("AllCandidateSampler", _SIGNATURE, _ATTRS + _SEEDS, stateful=True)
_SAMPLERS = (uniform_op, log_uniform_op, learned_op, thread_unsafe_op, fixed_op, all_op)


def _sampler_shape(c: Any) -> list[TensorShape]:
    batch = with_rank(c.shape(0), 2).as_list()[0]
    sampled = TensorShape([c.attr("num_sampled")])
    return [sampled, TensorShape([batch, c.attr("num_true")]), sampled]


class _State:
    """What a sampler node keeps between runs of a session: its random numbers, and what its classes weigh."""

    def __init__(self, seed: int, seed2: int) -> None:
        from tfsandbox.lib.philox import RandomStream
        self.stream = RandomStream(seed, seed2)
        self.weights: Any = None


def _make_state(op: Operation, session_state: Any) -> _State:
    return _State(op._attrs["seed"], op._attrs["seed2"])


for _op in _SAMPLERS:
    _op.shape(_sampler_shape)
    _op.state(_make_state)
    _op.no_gradient()


def _check(true_classes: Any, num_true: int) -> None:
    if true_classes.ndim != 2:
        raise invalid("true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        raise invalid(f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {num_true}")


def _expected_count(probability: Any, count: int, tries: int) -> Any:
    """How often a class of this probability is expected among `count` samples that took so many tries."""
    probability = np.asarray(probability, np.float32)
    if tries == count:
        return probability * np.float32(count)
    # Each step is a float32 number, which the next one starts from.
    with np.errstate(divide="ignore"):
        power = np.float32(tries) * np.log1p(-probability.astype(np.float64)).astype(np.float32)
    return -np.expm1(power.astype(np.float64)).astype(np.float32)


def _sample(state: _State, sampler: Any, probability: Callable[[Any], Any], true_classes: Any, num_sampled: int,
            unique: bool) -> tuple[Any, Any, Any]:
    drawn, tries = state.stream.candidates(sampler, num_sampled, unique)
    return (drawn, _expected_count(probability(true_classes), num_sampled, tries),
            _expected_count(probability(drawn), num_sampled, tries))


@uniform_op.kernel
def _uniform(true_classes: Any, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
             state: _State) -> tuple[Any, Any, Any]:
    from tfsandbox.lib.philox_sequence import uniform_sampler
    _check(true_classes, num_true)
    share = np.float32(1) / np.float32(range_max)
    return _sample(state, uniform_sampler(range_max), lambda ids: np.full(ids.shape, share, np.float32), true_classes,
                   num_sampled, unique)


@log_uniform_op.kernel
def _log_uniform(true_classes: Any, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
                 state: _State) -> tuple[Any, Any, Any]:
    from tfsandbox.lib.philox_sequence import log_uniform_sampler
    _check(true_classes, num_true)
    scale = np.log1p(float(range_max))

    def probability(ids: Any) -> Any:
        return (np.log((ids + 2.0) / (ids + 1.0)) / scale).astype(np.float32)

    return _sample(state, log_uniform_sampler(range_max), probability, true_classes, num_sampled, unique)


@learned_op.kernel
@thread_unsafe_op.kernel
def _learned(true_classes: Any, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
             state: _State) -> tuple[Any, Any, Any]:
    from tfsandbox.lib.unigram_sampling import UnigramCounts
    _check(true_classes, num_true)
    if true_classes.size and not 0 <= true_classes.min() <= true_classes.max() < range_max:
        raise invalid(f"true_classes must be in [0, {range_max}), got {true_classes.min()} to {true_classes.max()}")
    if state.weights is None:
        state.weights = UnigramCounts(range_max)
    result = _sample(state, state.weights.sampler(), state.weights.probabilities, true_classes, num_sampled, unique)
    state.weights.see(true_classes)
    return result


@fixed_op.kernel
def _fixed(true_classes: Any, *, num_true: int, num_sampled: int, unique: bool, range_max: int, vocab_file: bytes,
           distortion: float, num_reserved_ids: int, num_shards: int, shard: int, unigrams: list[float],
           state: _State) -> tuple[Any, Any, Any]:
    from tfsandbox.lib.unigram_sampling import fixed_unigram_sampler
    _check(true_classes, num_true)
    if state.weights is None:
        given = _unigrams(vocab_file, unigrams)
        powers = np.power(np.asarray(given, np.float64), distortion)
        weights = np.concatenate([np.zeros(num_reserved_ids), powers])[shard::num_shards].astype(np.float32)
        if len(weights) != range_max:
            raise invalid(f"range_max is {range_max}, but there are {len(weights)} unigrams"
                          + (" in this shard" if num_shards > 1 else ""))
        state.weights = (weights, fixed_unigram_sampler(weights.tolist()))
    weights, sampler = state.weights
    if unique and num_sampled > np.count_nonzero(weights):
        raise invalid("Sampler's range is too small.")

    def probability(ids: Any) -> Any:
        known = (ids >= 0) & (ids < len(weights))
        return np.where(known, weights[np.where(known, ids, 0)] / _running_sum(weights), np.float32(0))

    return _sample(state, sampler, probability, true_classes, num_sampled, unique)


def _running_sum(weights: Any) -> Any:
    return np.cumsum(weights, dtype=np.float32)[-1]


def _unigrams(vocab_file: bytes, unigrams: list[float]) -> list[float]:
    if vocab_file and unigrams:
        raise invalid("Must only provide one of vocab_file and unigrams.")
    if not vocab_file and not unigrams:
        raise invalid("Must provide either vocab_file or unigrams.")
    if unigrams:
        return unigrams
    path = vocab_file.decode()
    try:
        with open(path) as file:
            rows = [line.rstrip("\n").split(",") for line in file]
    except OSError:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from None
    try:
        # The last column counts; TensorFlow skips rows of another form as well.
        return [float(row[-1]) for row in rows if len(row) > 1]
    except ValueError:
        raise invalid(f"Wrong vocabulary format in {path}: the last column must be a number") from None


@all_op.kernel
def _all(true_classes: Any, *, num_true: int, num_sampled: int) -> tuple[Any, Any, Any]:
    _check(true_classes, num_true)
    return (np.arange(num_sampled, dtype=np.int64), np.ones(true_classes.shape, np.float32),
            np.ones(num_sampled, np.float32))


# ------------------------------------------------------------ public functions


class Candidates(NamedTuple):
    """What a candidate sampler gives."""

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


def _apply(definition: OpDef, seed: int | None, **arguments: Any) -> Candidates:
    seed1, seed2 = random_seed.get_seed(seed)
    return Candidates(*apply_op(definition.name, seed=seed1, seed2=seed2, **arguments))


def uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                              seed: int | None = None, name: str | None = None) -> Candidates:
    """`num_sampled` classes below `range_max`, all as likely: (int64 [num_sampled], expected counts of the true classes
    [batch, num_true], expected counts of the sampled ones).

    With `unique` no class comes twice; `InvalidArgumentError` where there are not enough of them.
    """
    return _apply(uniform_op, seed, true_classes=true_classes, num_true=num_true,
                  num_sampled=num_sampled, unique=unique, range_max=range_max, name=name)


def log_uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                  seed: int | None = None, name: str | None = None) -> Candidates:
    """As `uniform_candidate_sampler`, class k with probability log((k + 2) / (k + 1)) / log(range_max + 1)."""
    return _apply(log_uniform_op, seed, true_classes=true_classes, num_true=num_true,
                  num_sampled=num_sampled, unique=unique, range_max=range_max, name=name)


def learned_unigram_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool,
                                      range_max: int, seed: int | None = None,
                                      name: str | None = None) -> Candidates:
    """As `uniform_candidate_sampler`, by how often each class was a true one in this session."""
    return _apply(learned_op, seed, true_classes=true_classes, num_true=num_true,
                  num_sampled=num_sampled, unique=unique, range_max=range_max, name=name)


def fixed_unigram_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                    vocab_file: str = "", distortion: float = 1.0, num_reserved_ids: int = 0,
                                    num_shards: int = 1, shard: int = 0, unigrams: Any = (), seed: int | None = None,
                                    name: str | None = None) -> Candidates:
    """As `uniform_candidate_sampler`, by the powers `distortion` of `unigrams` or of a CSV file's last column."""
    return _apply(fixed_op, seed, true_classes=true_classes, num_true=num_true,
                  num_sampled=num_sampled, unique=unique, range_max=range_max, vocab_file=vocab_file,
                  distortion=distortion, num_reserved_ids=num_reserved_ids, num_shards=num_shards, shard=shard,
                  unigrams=list(unigrams), name=name)


def all_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: int | None = None,
                          name: str | None = None) -> Candidates:
    """All classes below `num_sampled`, each expected once: to compare a sampled loss with the full one."""
    return _apply(all_op, seed, true_classes=true_classes, num_true=num_true,
                  num_sampled=num_sampled, unique=unique, name=name)


# ------------------------------------------------------------ accidental hits

accidental_hits_op = register_op("ComputeAccidentalHits", "true_classes: int64, sampled_candidates: int64 -> "
                                 "indices: int32, ids: int64, weights: float32", f"num_true: int; {_SEEDS}")
accidental_hits_op.no_gradient()


@accidental_hits_op.shape
def _accidental_hits_shape(c: Any) -> list[TensorShape]:
    with_size(with_rank(c.shape(0), 2).as_list()[1], c.attr("num_true"))
    with_rank(c.shape(1), 1)
    return [TensorShape([None])] * 3


@accidental_hits_op.kernel
def _accidental_hits(true_classes: Any, sampled_candidates: Any, *, num_true: int) -> tuple[Any, Any, Any]:
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise invalid("true_candidates must be a batch_size * num_true matrix")
    if sampled_candidates.ndim != 1:
        raise invalid("sampled_candidates must be a vector, which is typically an output from CandidateSampler")
    order = np.argsort(sampled_candidates, kind="stable")
    wanted = true_classes.ravel()
    at = np.searchsorted(sampled_candidates, wanted, side="right", sorter=order) - 1
    found = order[at] if order.size else at
    hit = (at >= 0) & (sampled_candidates[found] == wanted) if order.size else at >= 0
    rows = np.flatnonzero(hit) // max(num_true, 1)
    return rows.astype(np.int32), found[hit].astype(np.int64), np.full(len(rows), np.finfo(np.float32).min)


class AccidentalHits(NamedTuple):
    """Where a sampled class is a true one."""

    indices: Any
    ids: Any
    weights: Any


def compute_accidental_hits(true_classes: Any, sampled_candidates: Tensor, num_true: int, seed: int | None = None,
                            name: str | None = None) -> AccidentalHits:
    """Where a sampled class is a true one: (rows of the batch, positions in the sample, weights: the lowest float)."""
    seed1, seed2 = random_seed.get_seed(seed)
    return AccidentalHits(*apply_op("ComputeAccidentalHits", true_classes=true_classes,
                                           sampled_candidates=sampled_candidates, num_true=num_true, seed=seed1,
                                           seed2=seed2, name=name))
