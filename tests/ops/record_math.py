"""Record what TensorFlow 1.15 makes of the cases of `math_cases.py`: `python tests/ops/record_math.py`."""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import math_cases  # noqa: E402
import numpy as np  # noqa: E402


def described(value):
    """A value as JSON: its type, shape and elements, floats with all their digits."""
    array = np.asarray(value)
    flat = array.ravel()
    if array.dtype.kind == "c":
        elements = [[repr(float(x.real)), repr(float(x.imag))] for x in flat]
    elif array.dtype.kind == "f":
        elements = [repr(float(x)) for x in flat]
    else:
        elements = flat.tolist()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "elements": elements}


def main():
    """Write `recorded/math.json`."""
    import tensorflow as tf
    if not tf.__version__.startswith("1.15"):
        sys.exit("this needs TensorFlow 1.15, not " + tf.__version__)
    recorded = {}
    for label, build in math_cases.cases(tf):
        with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            recorded[label] = described(sess.run(build()))
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "math.json"), "w") as file:
        file.write("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v) for k, v in recorded.items()) + "\n}\n")


if __name__ == "__main__":
    main()
