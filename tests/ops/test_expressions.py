"""Array, string, set, sparse, check and image ops build TensorFlow's nodes, shapes and errors, and give its values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
from tests.ops import array_cases, image_cases, lookup_cases, parsing_cases
from tests.ops.expression_outcomes import outcome, split

CASES = {"arrays": array_cases, "images": image_cases, "parsing": parsing_cases, "lookup": lookup_cases}
RECORDED: dict[str, dict[str, Any]] = {
    name: json.loads((Path(__file__).parent / "recorded" / f"{name}.json").read_text()) for name in CASES}


@pytest.mark.parametrize("name", list(CASES))
def test_all_cases_are_recorded(name: str) -> None:
    assert [f"{group}: {expression}" for group, expression in split(CASES[name].GROUPS)] == list(RECORDED[name])


@pytest.mark.parametrize("name, label", [(name, label) for name in CASES for label in RECORDED[name]])
def test_outcome_is_tensorflows(name: str, label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    group, expression = label.split(": ", 1)
    actual, wanted = outcome(tf, CASES[name].INPUTS, group, expression), RECORDED[name][label]
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
        np.testing.assert_allclose(np.array(actual["elements"], float), np.array(wanted["elements"], float),
                                   rtol=2e-5, atol=1e-6)
    else:
        assert actual["elements"] == wanted["elements"]
