"""From graphs to plain data and back."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from tfsandbox.notebook.attr_text import attr_text, shape_of
from tfsandbox.notebook.graph_model import GraphModel, Node, Output, closest, element_count, shape_text, split_input

NAMES = ("linear_regression", "arg_scope_adam", "convnet", "dynamic_rnn")


def test_shape_text_is_tensorflows():
    assert [shape_text(s) for s in ((None, 10), (3,), (), None)] == ["(?, 10)", "(3,)", "()", "<unknown>"]
    assert [element_count(s) for s in ((2, 3), (), (None, 2), None)] == [6, 1, None, None]


def test_split_input():
    assert [split_input(t) for t in ("a", "a:1", "^a", "s/a:0")] == [
        ("a", 0, False),
        ("a", 1, False),
        ("a", 0, True),
        ("s/a", 0, False),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_graph_and_graph_def_give_the_same_nodes(name, stand_in, graph_def):
    from_graph = GraphModel.from_graph(stand_in(name))
    from_def = GraphModel.from_graph_def(graph_def(name))
    assert [(n.name, n.op, n.inputs, n.control_inputs) for n in from_graph.nodes] == [
        (n.name, n.op, n.inputs, n.control_inputs) for n in from_def.nodes
    ]
    assert [n.role for n in from_graph.nodes if n.role in ("gradient", "optimizer", "slot", "saver", "init")] == [
        n.role for n in from_def.nodes if n.role in ("gradient", "optimizer", "slot", "saver", "init")
    ]


@pytest.mark.parametrize("name", NAMES)
def test_json_there_and_back(name, model):
    before = model(name)
    text = json.dumps(before.to_json())
    after = GraphModel.from_json(json.loads(text))
    assert after == before and json.dumps(after.to_json()) == text


def test_json_of_a_later_version_is_refused():
    with pytest.raises(ValueError, match="newer"):
        GraphModel.from_json({"version": 99, "nodes": []})


def test_shapes_dtypes_and_attrs(model):
    node = model("linear_regression").node("MatMul")
    assert node.outputs == [Output("float32", (None, 1))]
    assert node.attrs == {"T": "float32", "transpose_a": "false", "transpose_b": "false"}
    assert model("linear_regression").node("w").outputs[0].text() == "float32 (10, 1)"
    assert model("linear_regression").node("GradientDescent/learning_rate").attrs["value"] == "float32 () 0.1"


def test_graph_def_without_shapes_knows_what_the_nodes_declare(graph_def):
    model = GraphModel.from_graph_def(graph_def("linear_regression"))
    assert model.node("w").outputs[0] == Output("float32", (10, 1))
    assert model.node("x").outputs[0] == Output("float32", (None, 10))
    assert model.node("GradientDescent/learning_rate").outputs[0].shape == ()


def test_operations_of_a_part_leave_outside_inputs_out(stand_in):
    ops = [op for op in stand_in("linear_regression").get_operations() if op.name in ("MatMul", "add", "x")]
    model = GraphModel.from_operations(ops)
    assert {node.name: node.inputs for node in model.nodes} == {"x": [], "MatMul": ["x"], "add": ["MatMul"]}


def test_dangling_inputs_of_a_graph_def_are_left_out():
    node = SimpleNamespace(name="a", op="Add", input=["gone:1", "^lost"], attr={}, device="")
    model = GraphModel.from_graph_def(SimpleNamespace(node=[node]))
    assert model.node("a").inputs == [] and model.node("a").control_inputs == []


def test_ancestors_and_reduction(model):
    whole = model("linear_regression")
    names = {node.name for node in whole.reduced_to(["add:0"]).nodes}
    assert names == {"x", "w", "w/read", "b", "b/read", "MatMul", "add"}
    assert len(whole.reduced_to(["Mean"])) < len(whole)
    assert [node.name for node in whole.under("GradientDescent").nodes] == [
        "GradientDescent/learning_rate",
        "GradientDescent/update_w/ApplyGradientDescent",
        "GradientDescent/update_b/ApplyGradientDescent",
        "GradientDescent",
    ]


def test_unknown_names_are_answered_with_the_nearest(model):
    whole = model("linear_regression")
    with pytest.raises(KeyError, match="'MatMul'"):
        whole.node("Matmull")
    with pytest.raises(KeyError, match="GradientDescent"):
        whole.under("GradientDecsent")
    with pytest.raises(KeyError, match="no node named"):
        whole.reduced_to(["lss"])
    assert closest("weights", ["dense/weights", "x"]) == ["dense/weights"]


def test_ten_thousand_nodes():
    nodes = [Node(f"s{i // 100}/n{i}", "Add", [f"s{(i - 1) // 100}/n{i - 1}"] if i else []) for i in range(10_000)]
    model = GraphModel(nodes)
    assert len(model.ancestors(["s99/n9999"])) == 10_000
    assert len(model.consumers()) == 10_000


class Message:
    """An AttrValue with one field."""

    def __init__(self, kind, value):
        self.kind = kind
        setattr(self, kind, value)

    def WhichOneof(self, name):
        return self.kind


def test_attr_text_of_python_values():
    assert attr_text(True) == "true" and attr_text(3) == "3" and attr_text(np.float32(0.5)) == "0.5"
    assert attr_text(b"VALID") == "'VALID'" and attr_text("x") == "'x'"
    assert attr_text([1, 2]) == "[1, 2]" and attr_text(list(range(9))) == "[0, 1, 2, 3, 4, 5, …]"
    assert attr_text(np.array([[1.0, 2.0]], np.float32)) == "float32 (1, 2) [1, 2]"
    assert attr_text(np.zeros((100, 100), np.float32)) == "float32 (100, 100)"
    assert attr_text(object()) == "object"
    assert len(attr_text("y" * 5000)) <= 120


def test_attr_text_of_messages():
    shape = SimpleNamespace(unknown_rank=False, dim=[SimpleNamespace(size=-1), SimpleNamespace(size=4)])
    assert attr_text(Message("shape", shape)) == "(?, 4)"
    assert attr_text(Message("type", 1)) == "float32"
    assert attr_text(Message("i", 7)) == "7"
    assert attr_text(Message("list", SimpleNamespace(type=[1, 3]))) == "[float32, int32]"
    tensor = SimpleNamespace(
        dtype=1,
        tensor_shape=SimpleNamespace(unknown_rank=False, dim=[SimpleNamespace(size=3)]),
        tensor_content=b"",
        float_val=[2.0],
    )
    assert attr_text(Message("tensor", tensor)) == "float32 (3,) [2, 2, 2]"
    tensor.tensor_content = np.array([1, 2, 3], np.float32).tobytes()
    assert attr_text(Message("tensor", tensor)) == "float32 (3,) [1, 2, 3]"
    tensor.tensor_content = b"\x00"
    assert attr_text(Message("tensor", tensor)) == "float32 (3,)"


def test_a_declared_huge_tensor_costs_nothing():
    dims = [SimpleNamespace(size=1 << 40), SimpleNamespace(size=1 << 40)]
    tensor = SimpleNamespace(dtype=1, tensor_shape=SimpleNamespace(unknown_rank=False, dim=dims), tensor_content=b"")
    assert attr_text(Message("tensor", tensor)).startswith("float32 (")


def test_shape_of():
    assert shape_of(None) is None
    assert shape_of([None, 3]) == (None, 3) and shape_of([-1]) == (None,)
