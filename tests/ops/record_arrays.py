"""Record what TensorFlow 1.15 makes of the cases of `array_cases.py`: `python tests/ops/record_arrays.py`."""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import array_cases  # noqa: E402


def main():
    """Write `recorded/arrays.json`."""
    import tensorflow as tf
    if not tf.__version__.startswith("1.15"):
        sys.exit("this needs TensorFlow 1.15, not " + tf.__version__)
    tf.compat.v1.logging.set_verbosity("ERROR")
    lines = []
    for group, expression in array_cases.expressions():
        print(expression, file=sys.stderr, flush=True)
        outcome = array_cases.outcome(tf, group, expression)
        lines.append(json.dumps(group + ": " + expression) + ": " + json.dumps(outcome))
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded", "arrays.json")
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
