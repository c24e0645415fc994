"""HParams: types kept, text parsed, errors in TensorFlow's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfsandbox as tf

HParams, parse_values = tf.contrib.training.HParams, tf.contrib.training.parse_values


def params() -> Any:
    return HParams(rate=0.1, hidden=100, act="relu", flags=[1, 2], use=True, no=None)


def test_values() -> None:
    h = params()
    assert str(h) == "rate=0.1,hidden=100,act=relu,flags=[1, 2],use=True,no=None"
    assert h.to_json() == '{"rate": 0.1, "hidden": 100, "act": "relu", "flags": [1, 2], "use": true, "no": null}'
    assert "act" in h and "nope" not in h
    assert (h.get("act"), h.get("nope"), h.get("nope", 3), h.get("flags", [3])) == ("relu", None, 3, [1, 2])
    h.add_hparam("more", 1)
    assert h.more == 1
    h.del_hparam("more")
    assert "more" not in h and repr(HParams(b=1, a=2)) == "HParams([('a', 2), ('b', 1)])"


def test_parse() -> None:
    h = params().parse("rate=3, hidden=7,act=tanh,use=false,flags=[3, 4]")
    assert h.values() == {"rate": 3.0, "hidden": 7, "act": "tanh", "flags": [3, 4], "use": False, "no": None}
    assert isinstance(h.rate, float)
    assert h.parse("").parse_json('{"act": "x", "flags": [7]}').override_from_dict({"rate": 2}).values() == {
        "rate": 2.0, "hidden": 7, "act": "x", "flags": [7], "use": False, "no": None}
    assert parse_values("a=1,b=[2,3],c[0]=4,c[2]=5", {"a": int, "b": int, "c": int}) == {
        "a": 1, "b": [2, 3], "c": {0: 4, 2: 5}}
    assert parse_values("a=1,q=2", {"a": int}, ignore_unknown=True) == {"a": 1}


ERRORS: list[tuple[Callable[[], Any], str]] = [
    (lambda: params().parse("nope=1"), "Unknown hyperparameter type for nope"),
    (lambda: params().parse("hidden=1.5"), "Could not parse hparam 'hidden' of type 'int' with value '1.5'"),
    (lambda: params().parse("use=maybe"), "of type 'bool' with value 'maybe' in use=maybe"),
    (lambda: params().parse("hidden=[1]"), "Must not pass a list for single-valued parameter: hidden"),
    (lambda: params().parse("flags=1"), "Must pass a list for multi-valued parameter: flags."),
    (lambda: params().parse("hidden"), "Malformed hyperparameter value: hidden"),
    (lambda: params().parse("hidden=1,hidden=2"), "Multiple assignments to variable 'hidden' in hidden=1,hidden=2"),
    (lambda: parse_values("a[0]=[1]", {"a": int}), "Assignment of a list to a list index."),
    (lambda: params().set_hparam("hidden", 3.0),
     "Could not cast hparam 'hidden' of type '<class 'int'>' from value 3.0"),
    (lambda: params().set_hparam("hidden", True), "from value True"),
    (lambda: params().set_hparam("rate", "3"), "Could not cast hparam 'rate' of type '<class 'float'>' from value '3'"),
    (lambda: params().add_hparam("rate", 1), "Hyperparameter name is reserved: rate"),
    (lambda: HParams(values=1), "Hyperparameter name is reserved: values"),
    (lambda: HParams(a=[]), "Multi-valued hyperparameters cannot be empty: a"),
    (lambda: params().get("flags", 3),
     "Hparam 'flags' of type 'list<<class 'int'>>' is incompatible with default=3"),
]


@pytest.mark.parametrize(("function", "text"), ERRORS, ids=[text[:40] for _, text in ERRORS])
def test_errors(function: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError) as error:
        function()
    assert text in str(error.value)


def test_unknown_names() -> None:
    with pytest.raises(KeyError):
        params().set_hparam("nope", 1)
    with pytest.raises(AttributeError, match="'HParams' object has no attribute 'nope'"):
        params().nope  # noqa: B018
