"""The code view as an instrument: its payload, and what belongs to what."""

import json

import pytest

import tfsandbox as tf
from tfsandbox.notebook import engine_records
from tfsandbox.notebook.interactive import module
from tfsandbox.notebook.labels_code import CODE_LABELS
from tfsandbox.notebook.views.code import CodeView, tokens_of


@pytest.fixture
def graph():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        hidden = tf.layers.dense(x, 8, tf.nn.relu, name="hidden")
        tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(hidden), name="loss"), name="train")
    return graph


@pytest.fixture
def view(graph):
    return engine_records.code_view([graph.get_operation_by_name("train"), graph.get_tensor_by_name("loss:0")])


def names(payload):
    found, before = [], ""
    coded = payload["nodes"]["names"]
    for shared, rest in zip(coded[::2], coded[1::2]):
        before = before[:shared] + rest
        found.append(before)
    return found


def test_payload_has_the_program_and_the_nodes_of_its_lines(view):
    payload = view.payload()
    code, order = payload["code"], names(payload)
    assert payload["kind"] == "code" and payload["offered"] == ["full"]
    assert ["".join(tokens[1::2]) for tokens, _ in code["lines"]] == [line.code for line in view.lines]
    for (_, nodes), line in zip(code["lines"], view.lines):
        if not line.code.startswith("def "):
            assert [order[number] for number in nodes] == list(line.nodes)
    head = next(nodes for tokens, nodes in code["lines"] if "".join(tokens[1::2]).startswith("def run"))
    assert [order[number] for number in head] == ["x"], "what is fed is a parameter"


def test_every_node_of_the_run_has_a_line_or_a_reason(view):
    payload = view.payload()
    code = payload["code"]
    with_line = {number for _, nodes in code["lines"] for number in nodes}
    for number, name in enumerate(names(payload)):
        folded = code["folded"][number]
        assert (number in with_line) != (folded >= 0), name
    reasons = {name: code["reasons"][folded] for name, folded in zip(names(payload), code["folded"]) if folded >= 0}
    assert reasons["hidden/kernel"] == "the variable itself"
    assert reasons["train/learning_rate"] == "constant"


def test_same_graph_same_payload(graph):
    one, two = (json.dumps(engine_records.code_view([graph.get_tensor_by_name("loss:0")]).payload()) for _ in range(2))
    assert one == two


def test_tokens():
    line = "    a = np.add(b, 2.0)  # 'c'"
    found = tokens_of(line)
    assert "".join(text for _, text in found) == line
    assert ("b", "np") in found and ("m", "2.0") in found and ("c", "# 'c'") in found
    assert tokens_of("if 'x") == [("", "if 'x")] or "".join(text for _, text in tokens_of("if 'x")) == "if 'x"
    assert tokens_of("") == []


def test_a_source_alone_is_a_still_picture():
    view = CodeView.from_source("a = 1")
    assert view.payload() is None and not view.has_payload()


def test_words_and_module():
    assert CODE_LABELS["zh"].keys() == CODE_LABELS["en"].keys()
    assert "code" in module.kinds() and "class CodeView extends GraphView" in module.source("code")
