"""Record what TensorFlow 1.15 makes of the cases of `array_cases.py` and its like.

`python tests/ops/record_expressions.py` writes `recorded/arrays.json` and so on; names say which.
"""

from __future__ import annotations

import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)

import array_cases  # noqa: E402
import image_cases  # noqa: E402
import lookup_cases  # noqa: E402
import parsing_cases  # noqa: E402
from expression_outcomes import outcome, split  # noqa: E402


def main():
    """Record all cases, or those of the files that are named."""
    import tensorflow as tf
    if not tf.__version__.startswith("1.15"):
        sys.exit("this needs TensorFlow 1.15, not " + tf.__version__)
    os.chdir(os.path.join(FOLDER, "..", ".."))
    tf.compat.v1.logging.set_verbosity("ERROR")
    for name, cases in (("arrays", array_cases), ("images", image_cases), ("parsing", parsing_cases),
                        ("lookup", lookup_cases)):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        lines = []
        for group, expression in split(cases.GROUPS):
            print(expression, file=sys.stderr, flush=True)
            result = outcome(tf, cases.INPUTS, group, expression)
            lines.append(json.dumps(group + ": " + expression) + ": " + json.dumps(result))
        with open(os.path.join(FOLDER, "recorded", name + ".json"), "w") as file:
            file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
