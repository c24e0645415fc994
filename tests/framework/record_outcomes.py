"""Record what TensorFlow 1.15 makes of the expressions in `recorded_cases`: run this with TensorFlow's Python.

    python tests/framework/record_outcomes.py
"""

import json
import os

from recorded_cases import SUBJECTS, environment, outcome

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    from tensorflow.python.framework import dtypes, errors_impl, tensor_shape, tensor_util

    names = environment(dtypes, tensor_shape, errors_impl, tensor_util)
    for subject, cases in SUBJECTS.items():
        outcomes = {expression: outcome(expression, names) for expression in cases()}
        with open(os.path.join(FOLDER, subject + ".json"), "w") as file:
            json.dump(outcomes, file, indent=0, sort_keys=True)
            file.write("\n")
        print(subject, len(outcomes))


if __name__ == "__main__":
    main()
