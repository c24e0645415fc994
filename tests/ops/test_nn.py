"""tf.nn and tf.layers build TensorFlow's nodes, shapes and errors, and give its values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
from tests.ops import nn_cases
from tests.ops.expression_outcomes import split

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "recorded" / "nn.json").read_text())


def test_all_cases_are_recorded() -> None:
    assert [f"{group}: {expression}" for group, expression in split(nn_cases.GROUPS)] == list(RECORDED)


@pytest.mark.parametrize("label", list(RECORDED))
def test_outcome_is_tensorflows(label: str) -> None:
    group, expression = label.split(": ", 1)
    actual, wanted = nn_cases.outcome(tf, group, expression), RECORDED[label]
    values, expected = actual.pop("values", []), wanted.get("values", [])
    assert actual == {key: value for key, value in wanted.items() if key != "values"}
    assert len(values) == len(expected)
    for one, other in zip(values, expected):
        same_value(one, other)


def same_value(actual: dict[str, Any] | None, wanted: dict[str, Any] | None) -> None:
    if actual is None or wanted is None:
        assert actual is wanted
        return
    assert (actual["dtype"], actual["shape"]) == (wanted["dtype"], wanted["shape"])
    if wanted["dtype"].startswith("float"):
        rtol = 2e-3 if wanted["dtype"] == "float16" else 3e-5
        np.testing.assert_allclose(np.array(actual["elements"], float), np.array(wanted["elements"], float), rtol=rtol,
                                   atol=3e-5)
    else:
        assert actual["elements"] == wanted["elements"]
