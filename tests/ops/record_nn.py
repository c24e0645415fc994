"""Record what TensorFlow 1.15 makes of the cases of `nn_cases.py`: `python tests/ops/record_nn.py`."""

from __future__ import annotations

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

from tests.ops import nn_cases  # noqa: E402
from tests.ops.expression_outcomes import split  # noqa: E402


def main():
    """Write `recorded/nn.json`."""
    import tensorflow as tf
    if not tf.__version__.startswith("1.15"):
        sys.exit("this needs TensorFlow 1.15, not " + tf.__version__)
    tf.compat.v1.logging.set_verbosity("ERROR")
    lines = []
    for group, expression in split(nn_cases.GROUPS):
        print(expression, file=sys.stderr, flush=True)
        outcome = nn_cases.outcome(tf, group, expression)
        lines.append(json.dumps(group + ": " + expression) + ": " + json.dumps(outcome))
    with open(os.path.join(HERE, "recorded", "nn.json"), "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
