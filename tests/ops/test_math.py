"""Math ops give TensorFlow's numbers, at the edges of their domains too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
from tests.ops import math_cases

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "recorded" / "math.json").read_text())
CASES = dict(math_cases.cases(tf))


def expected(record: dict[str, Any]) -> np.ndarray:
    elements = record["elements"]
    if record["dtype"].startswith("complex"):
        elements = [complex(float(re), float(im)) for re, im in elements]
    elif record["dtype"].startswith("float"):
        elements = [float(x) for x in elements]
    return np.array(elements, record["dtype"]).reshape(record["shape"])


def test_all_cases_are_recorded() -> None:
    assert list(CASES) == list(RECORDED)


@pytest.mark.parametrize("label", list(RECORDED))
def test_value_is_tensorflows(label: str) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        actual = np.asarray(sess.run(CASES[label]()))
    wanted = expected(RECORDED[label])
    assert actual.dtype == wanted.dtype and actual.shape == wanted.shape
    rtol = {"float16": 2e-3, "float64": 1e-6}.get(wanted.dtype.name, 2e-5)
    np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=2e-6)
