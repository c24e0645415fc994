"""Whatever the plan elides, folds, reuses and reorders: a run gives what the nodes' kernels give one by one."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tfsandbox as tf
from tests.runtime.random_programs import Program, evaluate, same
from tfsandbox.framework import errors
from tfsandbox.runtime import emit
from tfsandbox.runtime.state import SessionState


def check(seed: int, updates: bool) -> None:
    """One random program: several fetches at once, then one by one, against the plain evaluator."""
    with tf.Graph().as_default():
        program = Program(seed, updates=updates)
        choose = random.Random(seed)
        fetches = choose.sample(program.outputs, min(len(program.outputs), choose.randrange(1, 6)))
        if choose.random() < 0.3:
            fed = choose.choice(program.pool)
            if fed.shape.is_fully_defined() and fed not in program.feeds:
                program.feeds[fed] = program.array(fed.shape.as_list())
        start = {v.op: program.array(v.shape.as_list()) + (v not in program.variables) for v in tf.global_variables()}
        with tf.Session() as sess:
            for wanted in [fetches, *([f] for f in fetches)]:
                state = SessionState()
                for op, value in start.items():
                    sess._state.ref(op).value = value.copy()
                    state.ref(op).value = value.copy()
                fed_before = {t: np.array(v) for t, v in program.feeds.items()}
                try:
                    expected = evaluate(wanted, program.feeds, state)
                except errors.InvalidArgumentError as error:
                    with pytest.raises(type(error)):
                        sess.run(wanted, program.feeds)
                    continue
                got = sess.run(wanted, program.feeds)
                for fetch, a, b in zip(wanted, got, expected):
                    assert same(a, b), f"{fetch}: {a} is not {b}\n{tf.sandbox.source(wanted, program.feeds)}"
                for op in start:
                    assert same(sess._state.ref(op).value, state.ref(op).value), \
                        f"{op.name}\n{tf.sandbox.source(wanted, program.feeds)}"
                for tensor, value in fed_before.items():
                    assert same(program.feeds[tensor], value), f"the run changed what was fed for {tensor}"


@pytest.mark.parametrize("updates", [False, True])
@pytest.mark.parametrize("block", range(8))
def test_runs_equal_kernels_one_by_one(block: int, updates: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # Small arrays, treated as large ones are.
    monkeypatch.setattr(emit, "REUSE_BYTES", 9)
    monkeypatch.setattr(emit, "RELEASE_BYTES", 1)
    for seed in range(block * 5, block * 5 + 5):
        try:
            check(seed, updates)
        except Exception as error:
            raise AssertionError(f"seed {seed}, updates {updates}: {error}") from error
