"""Times training steps of the sandbox against the same steps in hand-written numpy, in one interleaved run.

    python -m tests.benchmarks [--rounds N] [--steps N] [--tensorflow PYTHON]

PYTHON is an interpreter that has TensorFlow 1.15: it then takes part in the same run, in a process of its own. Each
round times a few hundred steps of each side in turn, so that a machine that gets slower slows all of them; what is
printed is the median time of a step, and the median over the rounds of the ratio to numpy.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.steps import STEPS, Step


def timed(step: Step, count: int) -> float:
    """Seconds a step, over `count` steps."""
    run = step.run
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(count):
            run()
        return (time.perf_counter() - start) / count
    finally:
        gc.enable()


class Elsewhere:
    """The same steps in another interpreter, asked over a pipe."""

    def __init__(self, python: str) -> None:
        here = os.path.dirname(os.path.abspath(__file__))
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        self.process = subprocess.Popen([python, os.path.join(here, "in_tensorflow.py")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)

    def ask(self, name: str, count: int) -> float:
        """Seconds a step, timed over there."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([name, count]) + "\n")
        self.process.stdin.flush()
        return float(json.loads(self.process.stdout.readline()))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=300, help="steps a round and side")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow 1.15")
    options = parser.parse_args()
    import tfsandbox as tf
    other = Elsewhere(options.tensorflow) if options.tensorflow else None
    for name, (build, by_hand) in STEPS.items():
        tf.reset_default_graph()
        sandbox, numpy_step = build(tf), by_hand()
        for _ in range(5):
            sandbox.run()
            numpy_step.run()
        difference = abs(sandbox.loss() - numpy_step.loss())
        if difference > 1e-4:
            sys.exit(f"{name}: the two sides do not compute the same: losses differ by {difference:.2g} after 5 steps")
        sides: dict[str, Callable[[int], float]] = {
            "numpy by hand": lambda count, s=numpy_step: timed(s, count),
            "tfsandbox": lambda count, s=sandbox: timed(s, count)}
        if other is not None:
            sides["TensorFlow"] = lambda count, n=name: other.ask(n, count)
        report(name, measure(sides, options.rounds, options.steps))


def measure(sides: dict[str, Callable[[int], float]], rounds: int, steps: int) -> dict[str, list[float]]:
    """Seconds a step for each side, round by round."""
    for side in sides.values():
        side(max(1, steps // 10))
    found: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side, run in sides.items():
            found[side].append(run(steps))
    return found


def report(name: str, found: dict[str, list[float]]) -> None:
    print(name)
    base: Any = found["numpy by hand"]
    for side, seconds in found.items():
        ratio = statistics.median(s / b for s, b in zip(seconds, base))
        print(f"  {side:<14} {statistics.median(seconds) * 1e6:8.1f} us a step   {ratio:6.2f} x numpy")


if __name__ == "__main__":
    main()
