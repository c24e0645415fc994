"""dtypes, shapes, conversions and errors do what TensorFlow 1.15 was recorded to do (see recorded_cases)."""

import importlib.util
import json
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tfsandbox.framework import dtypes, errors_impl, tensor_shape, tensor_util

HERE = Path(__file__).parent

# Errors that Python or numpy words, differently from version to version: the type alone is compared.
WORDED_ELSEWHERE = re.compile(
    r"(int|float|complex)\(\) arg|integer division or modulo|setting an array element|could not convert string|"
    r"invalid literal for int|could not assign tuple|__init__\(\) missing|Python int too large|"
    r"'int' object is not iterable|unsupported operand|unhashable type|not supported between|can't set attribute|"
    r"Cannot convert value <class 'numpy"
)

# What differs on purpose, or with the versions of Python and numpy, and why.
DIFFERENT = {
    r"tf_bool(_ref)?\.limits": "TensorFlow's table has no entry under the type it looks for",
    r"tf_(resource|variant)_ref\.size": "TensorFlow knows the size of the base type only",
    r"float\(D\(3\)\)": "Python asks __index__ since 3.8",
    r"proto\(\[.*\[.*\].*\], tf_complex64\)": "numpy used to say TypeError for lists of unequal length",
    r"proto\((\[.*\]|range\(3\)|S\(.*\)), tf_resource\)": "refused before the lists are looked at",
    r"proto\((\(3,\)|np\.array\(3\)), tf_q?u?q?int16\)": "TensorFlow cannot encode single values of 16 bit",
    r"proto\(np\.array\(\[b?'a'.*\]\), tf_bool\)": "numpy takes any string for True since version 2",
    r"proto\(\{1:2\}, .*\)": "TensorFlow looks at the dict's values before it refuses the dict",
    r"proto\(np.array\(\['a',1\],dtype=object\), tf_complex64\)": "numpy's own refusal changed its type",
}


def _cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recorded_cases", HERE / "recorded_cases.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = _cases()


def _agrees(expected: str, found: str) -> bool:
    if expected == found:
        return True
    expected_type, _, expected_text = expected.partition(": ")
    return bool(WORDED_ELSEWHERE.search(expected_text)) and found.startswith(expected_type + ": ")


@pytest.mark.parametrize("subject", CASES.SUBJECTS)
def test_as_recorded(subject: str) -> None:
    recorded: dict[str, str] = json.loads((HERE / "recorded" / f"{subject}.json").read_text())
    assert set(recorded) == set(CASES.SUBJECTS[subject]()), "record_outcomes.py has to be run again"
    names: dict[str, Any] = CASES.environment(dtypes, tensor_shape, errors_impl, tensor_util)
    differences = []
    with warnings.catch_warnings():
        # What TensorFlow converts silently is converted silently here. numpy's own deprecations are not at issue.
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        for expression, expected in recorded.items():
            expected = expected.replace("tensorflow.python.framework", "tfsandbox.framework")
            found = CASES.outcome(expression, names)
            if not _agrees(expected, found) and not any(re.fullmatch(p, expression) for p in DIFFERENT):
                differences.append(f"{expression}\n    TensorFlow: {expected}\n    here:       {found}")
    assert not differences, "\n".join(differences)
