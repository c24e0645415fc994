"""Attributes to and from AttrValue messages."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from tfsandbox.framework import dtypes
from tfsandbox.framework.attr_value import (
    AttrPlaceholder,
    FunctionRef,
    from_attr_value,
    to_attr_value,
    type_of_value,
)
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.proto import attr_value_pb2, graph_pb2

RECORDED = Path(__file__).parents[1] / "proto" / "recorded"

VALUES: list[tuple[Any, str, str]] = [
    (b"a\xff", "string", 's: "a\\377"'),
    (-3, "int", "i: -3"),
    (0.5, "float", "f: 0.5"),
    (True, "bool", "b: true"),
    (False, "bool", "b: false"),
    (dtypes.int32_ref, "type", "type: DT_INT32_REF"),
    (TensorShape([2, None]), "shape", "shape { dim { size: 2 } dim { size: -1 } }"),
    (TensorShape(None), "shape", "shape { unknown_rank: true }"),
    (TensorShape([]), "shape", "shape { }"),
    (FunctionRef("f", {"T": dtypes.bool, "n": [1]}), "func",
     'func { name: "f" attr { key: "T" value { type: DT_BOOL } } attr { key: "n" value { list { i: 1 } } } }'),
    ([], "list(int)", "list { }"),
    ([b"a", b""], "list(string)", 'list { s: "a" s: "" }'),
    ([1, -1], "list(int)", "list { i: 1 i: -1 }"),
    ([0.5], "list(float)", "list { f: 0.5 }"),
    ([True, False], "list(bool)", "list { b: true b: false }"),
    ([dtypes.float32, dtypes.string], "list(type)", "list { type: DT_FLOAT type: DT_STRING }"),
    ([TensorShape([1]), TensorShape(None)], "list(shape)",
     "list { shape { dim { size: 1 } } shape { unknown_rank: true } }"),
    ([FunctionRef("f"), FunctionRef("g")], "list(func)", 'list { func { name: "f" } func { name: "g" } }'),
    (AttrPlaceholder("T"), "type", 'placeholder: "T"'),
]  # fmt: skip


def _parsed(text: str) -> attr_value_pb2.AttrValue:
    return text_format.Parse(text, attr_value_pb2.AttrValue())


@pytest.mark.parametrize(("value", "attr_type", "text"), VALUES, ids=[text for _, _, text in VALUES])
def test_there_and_back(value: Any, attr_type: str, text: str) -> None:
    assert to_attr_value(value, attr_type) == _parsed(text)
    for found in (from_attr_value(_parsed(text), attr_type), from_attr_value(_parsed(text))):
        assert type(found) is type(value)
        assert found == value or str(found) == str(value)  # shapes with unknown sizes are never equal
    if not isinstance(value, AttrPlaceholder):
        assert to_attr_value(value) == _parsed(text)


@pytest.mark.parametrize(
    "array",
    [
        np.array(1, np.float32),
        np.arange(6, dtype=np.int64).reshape(2, 3),
        np.array([b"a", b"\xff"], object),
        np.array([True]),
        dtypes.float32_to_bfloat16(np.array([1.5], np.float32)),
        np.zeros(2, dtypes.qint8.as_numpy_dtype),
    ],
    ids=lambda array: str(array.dtype),
)
def test_tensors(array: np.ndarray) -> None:
    proto = to_attr_value(array, "tensor")
    found = from_attr_value(proto, "tensor")
    assert (found.dtype, found.shape, found.tolist()) == (array.dtype, array.shape, array.tolist())
    assert from_attr_value(to_attr_value([array]), "list(tensor)")[0].tolist() == array.tolist()
    assert to_attr_value(proto.tensor) == proto


def test_convenient_forms_are_taken() -> None:
    assert to_attr_value("é", "string").s == "é".encode()
    assert to_attr_value("float32", "type").type == 1
    assert to_attr_value([1, None], "shape") == to_attr_value(TensorShape([1, None]))
    assert to_attr_value(np.int32(3), "int").i == 3
    assert to_attr_value(3, "float").f == 3
    assert to_attr_value((1, 2), "list(int)").list.i == [1, 2]


def test_the_type_of_a_value() -> None:
    assert [type_of_value(value) for value in (True, 1, 1.5, "a", np.bool_(True), np.float32(1), [])] == [
        "bool", "int", "float", "string", "bool", "float", "list()",
    ]  # fmt: skip
    with pytest.raises(TypeError, match="cannot be the value of an attribute"):
        type_of_value(object())


@pytest.mark.parametrize(
    ("value", "attr_type"), [("a", "int"), (1, "string"), ("no type", "type"), (1, "func"), (1, "x")]
)
def test_values_of_another_type_are_refused(value: Any, attr_type: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        to_attr_value(value, attr_type)


# The texts are those of tf.import_graph_def in TensorFlow 1.15.
@pytest.mark.parametrize(
    ("text", "attr_type", "message"),
    [
        ("", "tensor", "AttrValue missing value with expected type 'tensor'"),
        ("i: 3", "type", "AttrValue had value with type 'int' when 'type' expected"),
        ("list { i: 3 }", "shape", "AttrValue had value with type 'list\\(int\\)' when 'shape' expected"),
        ("list { }", "type", "AttrValue missing value with expected type 'type'"),
        ("type: DT_FLOAT", "list(type)", "AttrValue had value with type 'type' when 'list\\(type\\)' expected"),
        ("list { type: DT_FLOAT i: 3 }", "list(type)", "with type 'list\\(int\\)' when 'list\\(type\\)' expected"),
        ("list { type: DT_FLOAT i: 3 }", None, "AttrValue had value with type"),
        ("type: DT_INVALID", "type", "AttrValue has invalid DataType"),
        ("type: 55", "type", "AttrValue has invalid DataType enum: 55"),
        ("list { type: 55 }", "list(type)", "AttrValue has invalid DataType enum: 55"),
        ("shape { dim { size: -3 } }", "shape", "Shape \\[-3\\] has dimensions with values below -1"),
        ("tensor { dtype: DT_RESOURCE }", "tensor", "Unsupported tensor type"),
        ("tensor { dtype: DT_FLOAT tensor_shape { dim { size: -1 } } }", "tensor", "negative size"),
        ("tensor { dtype: DT_FLOAT tensor_shape { dim { size: 999999999999 } } }", "tensor", "larger than 2GB"),
        ("tensor { }", None, "Cannot convert value 0 to a TensorFlow DType"),
        ("list { i: 1 }", "list(nonsense)", "'nonsense' is not a type of attribute"),
    ],
)
def test_malformed_messages_are_refused(text: str, attr_type: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_attr_value(_parsed(text), attr_type)


def test_every_attribute_of_a_graph_by_tensorflow() -> None:
    graph = graph_pb2.GraphDef.FromString((RECORDED / "graph.GraphDef.pb").read_bytes())
    count = 0
    for node in graph.node:
        for attr in node.attr.values():
            value = from_attr_value(attr)
            assert to_attr_value(value).SerializeToString() == attr.SerializeToString()
            count += 1
    assert count > 200
