"""The other end of `--tensorflow`: times steps in this interpreter's TensorFlow 1.15, as asked on standard input."""

import importlib.util
import json
import os
import sys
import time

import tensorflow as tf


def load_steps():
    """The module `steps`, without the package around it; made readable for Python 3.7."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "steps.py")
    spec = importlib.util.spec_from_file_location("steps", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    steps = load_steps()
    built = {}
    for line in sys.stdin:
        name, count = json.loads(line)
        if name not in built:
            with tf.Graph().as_default():
                built[name] = steps.STEPS[name][0](tf)
        run = built[name].run
        start = time.perf_counter()
        for _ in range(count):
            run()
        print(json.dumps((time.perf_counter() - start) / count), flush=True)


if __name__ == "__main__":
    main()
