"""Levels of detail, the tree of scopes, and the backward pass as data."""

import pytest

from tfsandbox.notebook.backward import find_backward
from tfsandbox.notebook.detail import RULES, simplify
from tfsandbox.notebook.graph_model import GraphModel, Node
from tfsandbox.notebook.roles import assign_roles
from tfsandbox.notebook.scope_tree import ROOT, ScopeTree


def test_ideas_of_linear_regression(model):
    graph = model("linear_regression")
    ideas = simplify(graph, "ideas")
    assert [node.name for node in ideas.nodes] == ["x", "y", "w", "b", "MatMul", "add", "sub", "Square", "Mean"]
    assert ideas.node("MatMul").inputs == ["x", "w"], "the read is spliced"
    assert sum(ideas.hidden.values()) + len(ideas) == len(graph)
    assert "w/read" in ideas.node("w").folded and "w/Assign" in ideas.node("w").folded
    assert graph.node("MatMul").inputs == ["x", "w/read"], "the source is untouched"


def test_full_is_everything(model):
    for name in ("linear_regression", "dynamic_rnn"):
        assert simplify(model(name), "full").nodes == model(name).nodes


def test_rules_can_be_added_and_taken(model):
    graph = model("linear_regression")
    names = {node.name for node in simplify(graph, "ideas", show=["init"]).nodes}
    assert "w/Assign" in names
    names = {node.name for node in simplify(graph, "full", hide=["gradient", "saver"]).nodes}
    assert not any(name.startswith(("gradients/", "save/")) for name in names) and "GradientDescent" in names
    assert "w/read" in {node.name for node in simplify(graph, "ideas", keep=["w/read"]).nodes}


def test_unknown_level_or_rule(model):
    with pytest.raises(ValueError, match="Did you mean 'ideas'"):
        simplify(model("linear_regression"), "idea")
    with pytest.raises(ValueError, match="no rule 'gradiant'.*gradient"):
        simplify(model("linear_regression"), "ideas", hide=["gradiant"])
    assert set(RULES) >= {"gradient", "optimizer", "slot", "init", "saver", "plumbing"}


def test_a_graph_of_plumbing_alone_is_shown():
    graph = GraphModel([Node("a", "NoOp"), Node("b", "NoOp", [], ["a"])])
    assign_roles(graph)
    assert len(simplify(graph, "ideas")) == 2


def test_stop_gradient_stays_visible():
    graph = GraphModel([Node("x", "Placeholder"), Node("s", "StopGradient", ["x"]), Node("y", "Square", ["s"])])
    assign_roles(graph)
    assert "s" in simplify(graph, "ideas")


def test_a_loop_of_pass_throughs_ends():
    graph = GraphModel(
        [
            Node("a", "Identity", ["b"]),
            Node("b", "Identity", ["a"]),
            Node("c", "Square", ["a"]),
            Node("x", "Placeholder"),
        ]
    )
    assign_roles(graph)
    assert simplify(graph, "ideas").node("c").inputs == []


def test_tree(model):
    tree = ScopeTree(model("linear_regression"))
    assert tree["w/"].principal == "w" and tree["w/"].children == ["w", "w/Assign", "w/read"]
    assert tree["w"].parent == "w/" and tree["MatMul"].parent == ROOT
    assert tree["gradients/"].count == 47
    update = tree["GradientDescent/update_w/ApplyGradientDescent"]
    assert update.parent == "GradientDescent/" and update.label == "update_w/ApplyGradientDescent"
    assert sum(1 for _ in tree.leaves(ROOT)) == 86


def test_chains_of_scopes_become_one_box(model):
    tree = ScopeTree(model("arg_scope_adam"))
    assert tree["fully_connected/kernel/Regularizer/l2_regularizer/"].label == "kernel/Regularizer/l2_regularizer"


def test_expansion(model):
    tree = ScopeTree(model("arg_scope_adam"))
    assert tree.expansion(["fully_connected/batch_normalization"]) == {
        "fully_connected/",
        "fully_connected/batch_normalization/",
    }
    assert tree.expansion(["fully_connected/MatMul"]) == {"fully_connected/"}
    assert tree.expansion(["fully_connected/kernel"]) == {
        "fully_connected/",
        "fully_connected/kernel/Regularizer/l2_regularizer/",
    }
    with pytest.raises(KeyError, match="fully_connected"):
        tree.expansion(["fully_conected"])


def test_sensible_expansion_stays_in_its_budget(model, random_graph):
    for graph in [model("arg_scope_adam"), *(random_graph(seed, 200) for seed in range(10))]:
        tree = ScopeTree(graph)
        for budget in (5, 20, 60):
            opened = tree.sensible_expansion(budget)
            top = len(tree[ROOT].children)
            if opened:
                assert top + sum(len(tree[scope].children) for scope in opened) <= budget
            assert all(tree[scope].parent in (ROOT, *opened) for scope in opened)


def test_series_are_grouped_and_can_be_left_alone():
    graph = GraphModel([Node("x", "Placeholder"), *(Node(f"MatMul_{i}", "MatMul", ["x"]) for i in range(100))])
    tree = ScopeTree(graph)
    (group,) = tree.scopes()
    assert tree[group].series and tree[group].label == "MatMul_*" and tree[group].count == 100
    assert not ScopeTree(graph, group_series=False).scopes()


@pytest.mark.parametrize("name", ["a//b", "/a", "//a", "a:0", "a b", "<a>/&"])
def test_odd_names_do_no_harm(name):
    graph = GraphModel([Node("a", "Op"), Node(name, "Op", ["a"]), Node("a/b", "Op")])
    tree = ScopeTree(graph)
    assert {node.name for node in tree.leaves(ROOT)} == {"a", name, "a/b"}


@pytest.mark.parametrize("name", ["", "/", "a/"])
def test_names_that_are_scopes_are_refused(name):
    with pytest.raises(ValueError, match="not a valid node name"):
        GraphModel([Node(name, "Op")])


def test_backward_of_linear_regression(model):
    backward = find_backward(model("linear_regression"))
    assert backward.flow == [
        ("Mean", "Square"),
        ("Square", "sub"),
        ("sub", "add"),
        ("add", "MatMul"),
        ("MatMul", "w"),
        ("add", "b"),
    ]
    assert backward.losses == ["Mean"]
    assert backward.ops["MatMul"].summary() == "MatMul ×2" and backward.ops["MatMul"].rule == "g·bᵀ,  aᵀ·g"
    assert backward.ops["w"].update == "ApplyGradientDescent"


def test_clipping_by_a_global_norm_is_no_flow(model):
    flow = find_backward(model("convnet")).flow
    assert [upper for upper, lower in flow if lower == "conv2d/kernel"] == ["conv2d/Conv2D"]
    assert [upper for upper, lower in flow if lower == "dense/bias"] == ["dense/BiasAdd"]


def test_gradients_without_an_optimizer(model):
    graph = model("linear_regression")
    kept = [node.name for node in graph.nodes if node.role != "optimizer"]
    alone = graph.restricted(kept)
    backward = find_backward(alone, [("w:0", "gradients/MatMul_grad/tuple/control_dependency_1:0")], ["Mean"])
    assert ("MatMul", "w") in backward.flow and ("add", "b") not in backward.flow
