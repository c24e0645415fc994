"""The pruning view as an instrument: its payload, and its answers to a page."""

import json

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.framework import graph_util
from tfsandbox.notebook import engine_records
from tfsandbox.notebook.display_formatters import render
from tfsandbox.notebook.interactive import module, prune
from tfsandbox.notebook.labels_prune import PRUNE_LABELS
from tfsandbox.notebook.side_by_side import CannotRun, SideBySide
from tfsandbox.notebook.views.prune import RULE_TITLES, PruneStep, PruneView


@pytest.fixture
def graph():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        labels = tf.placeholder(tf.int64, [None], name="labels")
        hidden = tf.check_numerics(tf.layers.dense(x, 8, tf.nn.relu, name="hidden"), "bad", name="check")
        logits = tf.layers.dense(tf.nn.dropout(hidden, keep_prob=0.5), 3, name="logits")
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        tf.nn.softmax(logits, name="answer")
        tf.train.AdamOptimizer().minimize(loss)
    return graph


@pytest.fixture
def view(graph):
    return engine_records.prune_view(graph.as_graph_def())


def names(payload):
    found, before = [], ""
    coded = payload["nodes"]["names"]
    for shared, rest in zip(coded[::2], coded[1::2]):
        before = before[:shared] + rest
        found.append(before)
    return found


def test_payload_tells_of_every_node_what_becomes_of_it(view):
    payload = view.payload()
    plan, order = payload["prune"], names(payload)
    assert payload["kind"] == "prune" and payload["offered"] == ["full"]
    assert order == [node.name for node in view.model.nodes]
    fates = {name: plan["rules"][rule] if rule >= 0 else "" for name, rule in zip(order, plan["rule"])}
    assert fates == {step.name: step.rule for step in view.steps}
    reasons = {name: plan["reasons"][reason] for name, reason in zip(order, plan["reason"])}
    assert reasons["check"].startswith("only checks hidden/Relu")
    assert plan["sizes"]["bytes"][0] == view.graph_def.ByteSize()
    assert plan["sizes"]["bytes"][1] == graph_util.remove_training_nodes(view.graph_def).ByteSize()
    assert plan["sizes"]["variables"] == [4 * (3 * (4 * 8 + 8 + 8 * 3 + 3) + 2), 4 * (4 * 8 + 8 + 8 * 3 + 3)]
    assert sum(plan["sizes"]["variablesByRule"]) == plan["sizes"]["variables"][0] - plan["sizes"]["variables"][1]


def test_same_graph_same_payload(graph):
    one, two = (json.dumps(engine_records.prune_view(graph.as_graph_def()).payload()) for _ in range(2))
    assert one == two


def test_tensorflows_own_is_beside_it(view):
    plan, order = view.payload()["prune"], names(view.payload())
    theirs = {order[number] for number in plan["tensorflow"]["removed"]}
    left = {node.name for node in graph_util.remove_training_nodes(view.graph_def, mode="tensorflow").node}
    assert theirs == {node.name for node in view.graph_def.node} - left and "check" in theirs


def test_outputs_are_the_ends_of_the_forward_pass(view):
    found = prune.outputs(view)
    assert "answer:0" in found and any(name.startswith("sparse_softmax_cross_entropy_loss/value") for name in found)
    assert not any("Adam" in name or "gradients" in name or "Assign" in name for name in found)


def test_a_run_gets_shorter_by_the_checks(view):
    (nodes, kernels), (fewer_nodes, fewer_kernels) = prune.kernels(view)
    assert fewer_nodes < nodes and fewer_kernels == kernels - 1


def test_prove(view):
    live = view.live
    answer = live.answer({"ask": "prove", "id": "1"})["content"]
    assert answer["same"] == len(answer["rows"]) == len(prune.outputs(view)) and answer["values"] == "fresh"
    again = live.request_prove({})
    assert answer["seed"] != again["seed"], "new data each time"
    assert all(row["before"] == row["after"] for row in again["rows"])
    sums = [{row["name"]: row["before"] for row in proof["rows"]} for proof in (answer, again)]
    assert sums[0] != sums[1], "and other outputs for it"


def test_prove_takes_the_values_of_the_session(graph):
    with tf.Session(graph=graph) as sess:
        with graph.as_default():
            sess.run(tf.global_variables_initializer())
        kernel = graph.get_tensor_by_name("logits/kernel:0")
        sess.run(graph.get_operation_by_name("logits/kernel/Assign"))
        view = engine_records.prune_view(graph.as_graph_def(), session=sess)
        answer = view.live.request_prove({"seed": 1})
        assert answer["values"] == "session" and answer["same"] == len(answer["rows"])
        pair = view.live._pair
        assert np.array_equal(pair.sessions[1].run("logits/kernel:0"), sess.run(kernel))
    assert view.live.request_prove({"seed": 1})["values"] == "fresh", "a closed session has no values"


def test_protect(view):
    live = view.live
    kept = [step.name for step in view.steps if step.keep]
    heard = []
    live.observe(lambda change: heard.append(change.new), names="payload")
    answer = live.answer({"ask": "protect", "id": "1", "content": {"name": "gradients/Fill", "on": True}})
    assert answer == {"answer": "1", "content": {}}
    assert view.protected == ["gradients/Fill"]
    now = [step.name for step in view.steps if step.keep]
    assert set(now) > set(kept) and "gradients/Fill" in now
    plan = heard[-1]["prune"]
    assert [names(live.payload)[number] for number in plan["protected"]] == ["gradients/Fill"]
    assert "protected_nodes=['gradients/Fill']" in plan["code"] and "gradients/Fill:0" in plan["outputs"]
    assert live.request_prove({})["same"] == len(plan["outputs"])
    live.request_protect({"name": "gradients/Fill", "on": False})
    assert [step.name for step in view.steps if step.keep] == kept and view.protected == []


def test_protecting_what_is_not_there_is_told(view):
    answer = view.live.answer({"ask": "protect", "id": "1", "content": {"name": "gradients/Fil", "on": True}})
    assert "no node of that name" in answer["error"] and "gradients/Fill" in answer["error"]
    assert view.protected == []


def test_measure(view):
    first = view.live.request_measure({"begin": True})
    second = view.live.request_measure({})
    assert 0 < first["before"] < 1 and 0 < first["after"] < 1 and second["runs"] > first["runs"] > 0


def test_the_code_does_what_is_shown(graph, view):
    view.protect(["gradients/Fill"])
    scope = {"tf": tf}
    with graph.as_default():
        exec(prune.code(view), scope)
    assert [op.name for op in scope["pruned"].get_operations()] == [node.name for node in view.pruned().node]


def test_remove_dropout(graph):
    view = engine_records.prune_view(graph.as_graph_def(), remove_dropout=True)
    assert "dropout" in view.payload()["prune"]["rules"] and "remove_dropout=True" in prune.code(view)


def test_a_plan_is_displayed(graph):
    graph_def = graph.as_graph_def()
    plan = graph_util.training_nodes(graph_def, ["gradients/Fill"], remove_dropout=True)
    view = engine_records.view_of_plan(plan)
    assert view.protected == ["gradients/Fill"] and view.settings == {"remove_dropout": True}
    assert [step.keep for step in view.steps] == [decision.keep for decision in plan]
    assert "text/html" in render(plan)
    assert render(graph_util.training_nodes(graph_def, mode="tensorflow")) is None


def test_a_view_of_steps_alone_is_a_still_picture(view):
    still = PruneView(view.model, [PruneStep("x", "Placeholder", True)])
    assert still.payload() is None and not still.has_payload()
    with pytest.raises(ValueError, match="Nothing can be protected"):
        still.protect(["x"])
    with pytest.raises(ValueError, match="no graph to run"):
        still.pruned()


# Running two graphs side by side


def imported(build):
    graph = tf.Graph()
    with graph.as_default():
        build()
    return graph.as_graph_def()


def test_a_difference_is_found_and_measured():
    def graph_def(factor):
        def build():
            x = tf.placeholder(tf.float32, [None], name="x")
            tf.multiply(x, factor, name="y")
        return imported(build)

    row, = SideBySide(graph_def(1.0), graph_def(1.5), ["y:0"]).compare(1)
    assert not row["same"] and row["before"] != row["after"] and 0.0 < row["difference"] <= 0.5


def test_integers_are_valid_indices():
    def build():
        ids = tf.placeholder(tf.int32, [None], name="ids")
        table = tf.get_variable("table", [5, 2])
        tf.identity(tf.nn.embedding_lookup(table, tf.reshape(ids, [-1, 1])), name="rows")

    graph_def = imported(build)
    pair = SideBySide(graph_def, graph_def, ["rows:0"])
    drawn = [pair.fresh(seed)["ids:0"] for seed in range(20)]
    assert {int(value) for array in drawn for value in array} == set(range(5))
    assert pair.compare(1)[0]["same"]


def test_resource_variables_that_start_from_each_other():
    def build():
        first = tf.get_variable("first", [3], use_resource=True)
        second = tf.Variable(first.initialized_value() * 2.0, name="second", use_resource=True)
        tf.add(first, second, name="sum")

    graph_def = imported(build)
    assert SideBySide(graph_def, graph_def, ["sum:0"]).compare(1)[0]["same"]


def test_what_cannot_be_run_is_told():
    def build():
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.reshape(x, [3, 7], name="y")
        tf.Variable(tf.placeholder(tf.float32, [2], name="start"), name="v")

    graph_def = imported(build)
    with pytest.raises(CannotRun, match="made-up data: .*reshape"):
        SideBySide(graph_def, graph_def, ["y:0"]).compare(1)
    with pytest.raises(CannotRun, match="v has no value"):
        SideBySide(graph_def, graph_def, ["v:0"]).compare(1)
    with pytest.raises(CannotRun, match="nothing to run"):
        SideBySide(graph_def, graph_def, [])
    with pytest.raises(CannotRun, match="'z:0'"):
        SideBySide(graph_def, graph_def, ["z:0"])


# Words


def test_words():
    assert PRUNE_LABELS["zh"].keys() == PRUNE_LABELS["en"].keys()
    assert {f"rule.{rule}" for rule in RULE_TITLES} <= PRUNE_LABELS["en"].keys()
    assert all(PRUNE_LABELS["en"][f"rule.{rule}"] == title for rule, title in RULE_TITLES.items())


def test_there_is_a_module_for_it():
    assert "prune" in module.kinds() and "class PruneView extends GraphView" in module.source("prune")
