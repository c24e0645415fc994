"""Roles by structure, on graphs that TensorFlow itself built."""

from dataclasses import replace

import pytest

from tfsandbox.notebook.graph_model import GraphModel, Node
from tfsandbox.notebook.roles import ROLES, apply_kind, assign_roles, gradient_input


def names(model, role):
    return {node.name for node in model.nodes if node.role == role}


def test_linear_regression(model):
    graph = model("linear_regression")
    assert names(graph, "input") == {"x", "y"}
    assert names(graph, "variable") == {"w", "b"}
    assert names(graph, "forward") == {"MatMul", "add", "sub", "Square", "Mean"}
    assert names(graph, "gradient") == {n.name for n in graph.nodes if n.name.startswith("gradients/")}
    assert names(graph, "optimizer") == {n.name for n in graph.nodes if n.name.startswith("GradientDescent")}
    assert names(graph, "saver") == {n.name for n in graph.nodes if n.name.startswith("save/")}
    assert {"w/Assign", "init", "random_normal", "Const"} <= names(graph, "init")
    assert names(graph, "plumbing") == {"w/read", "b/read", "Const_1"}
    assert graph.node("gradients/MatMul_grad/MatMul_1").of == "MatMul"
    assert graph.node("GradientDescent/update_w/ApplyGradientDescent").of == "w"
    assert graph.node("w/Assign").of == "w"


def test_adam(model):
    graph = model("arg_scope_adam")
    slots = names(graph, "slot")
    assert {"beta1_power", "beta2_power", "fully_connected/weights/Adam", "fully_connected/weights/Adam_1"} <= slots
    assert len(slots) == 14
    assert graph.node("fully_connected/weights/Adam_1").of == "fully_connected/weights"
    assert graph.node("gradients/Loss/value_grad/Neg").of == "Loss/value"
    assert {"Adam/Assign", "Adam/Assign_1", "Adam/mul", "Adam"} <= names(graph, "optimizer")
    assert names(graph, "variable") == {
        f"fully_connected{n}/{v}"
        for n in ("", "_1")
        for v in (
            "weights",
            "batch_normalization/gamma",
            "batch_normalization/beta",
            "batch_normalization/moving_mean",
            "batch_normalization/moving_variance",
        )
    }


def test_schedule_clipping_step_and_summaries(model):
    graph = model("convnet")
    assert graph.node("ExponentialDecay").role == "optimizer"
    assert graph.node("clip_by_global_norm/mul_1").role == "gradient"
    assert graph.node("global_step").role == "variable"
    assert graph.node("RMSProp").role == "optimizer" and graph.node("RMSProp").of == "global_step"
    assert names(graph, "summary") == {"loss", "loss/tags", "Merge/MergeSummary"}
    assert graph.node("total_loss").role == "forward", "a loss that only a summary reads is still the loss"


def renamed(graph, table):
    """The graph with other names for its outer scopes."""

    def new(name):
        head, _, rest = name.partition("/")
        head = table.get(head, head)
        return f"{head}/{rest}" if rest else head

    def text(source):
        name, colon, index = source.partition(":")
        return new(name) + colon + index

    return GraphModel(
        [
            replace(
                node,
                name=new(node.name),
                inputs=[text(i) for i in node.inputs],
                control_inputs=[new(c) for c in node.control_inputs],
                role="forward",
                of="",
            )
            for node in graph.nodes
        ]
    )


@pytest.mark.parametrize("name", ["linear_regression", "arg_scope_adam", "convnet"])
def test_training_is_found_without_its_scope_names(name, model):
    graph = model(name)
    other = renamed(
        graph, {"gradients": "backprop", "GradientDescent": "step", "Adam": "step", "RMSProp": "step", "save": "keep"}
    )
    assign_roles(other)
    wrong = [(a.name, a.role, b.role) for a, b in zip(graph.nodes, other.nodes) if a.role != b.role]
    # What the gradient of an unused input needs for itself alone hangs loose and looks like any other op.
    assert len(wrong) <= 0.04 * len(graph), wrong
    assert all(a.role == "gradient" for a, _, _ in [(graph.node(n), r, s) for n, r, s in wrong if n in graph])


def test_every_role_is_known_and_reassigning_changes_nothing(model):
    for name in ("linear_regression", "arg_scope_adam", "convnet", "dynamic_rnn"):
        graph = model(name)
        assert {node.role for node in graph.nodes} <= set(ROLES)
        again = GraphModel.from_json(graph.to_json())
        assign_roles(again)
        assert [node.role for node in again.nodes] == [node.role for node in graph.nodes]


def test_first_graph_of_a_beginner():
    graph = GraphModel([Node("Const", "Const"), Node("Const_1", "Const"), Node("add", "AddV2", ["Const", "Const_1"])])
    assign_roles(graph)
    assert [node.role for node in graph.nodes] == ["constant", "constant", "forward"]


def test_a_learning_rate_variable_is_no_slot():
    graph = GraphModel(
        [
            Node("w", "VariableV2"),
            Node("lr", "VariableV2"),
            Node("lr/read", "Identity", ["lr"]),
            Node("g", "Const"),
            Node("u", "ApplyGradientDescent", ["w", "lr/read", "g"]),
        ]
    )
    assign_roles(graph)
    assert graph.node("lr").role == "variable" and graph.node("g").role == "gradient"


def test_resource_variables():
    graph = GraphModel(
        [
            Node("w", "VarHandleOp"),
            Node("w/Read/ReadVariableOp", "ReadVariableOp", ["w"]),
            Node("m", "VarHandleOp"),
            Node("lr", "Const"),
            Node("mu", "Const"),
            Node("g", "Const"),
            Node("u", "ResourceApplyMomentum", ["w", "m", "lr", "g", "mu"]),
        ]
    )
    assign_roles(graph)
    assert [n.role for n in graph.nodes] == [
        "variable",
        "plumbing",
        "slot",
        "optimizer",
        "optimizer",
        "gradient",
        "optimizer",
    ]
    assert graph.node("m").of == "w"


def test_apply_kinds():
    assert apply_kind("ResourceSparseApplyAdagrad") == "Adagrad" and apply_kind("ApplyAdam") == "Adam"
    assert apply_kind("MatMul") is None
    assert gradient_input("ApplyGradientDescent") == 2 and gradient_input("ApplyAdam") == 9
    assert gradient_input("SparseApplyFtrl") == 3 and gradient_input("Relu") is None
