"""The views as plain data: JSON, text, files, MIME bundles."""

import json
import xml.etree.ElementTree as ET

import pytest

from tfsandbox.notebook.graph_model import GraphModel, Node
from tfsandbox.notebook.views import (
    CodeLine,
    CodeView,
    GradientView,
    GraphView,
    PruneStep,
    PruneView,
    ScopeMaskView,
    VariableRecord,
    VariablesView,
)
from tfsandbox.notebook.views.code import highlighted
from tfsandbox.notebook.views.gradient import norm_state
from tfsandbox.notebook.views.view import MIME_TYPE, byte_size, figure

HOSTILE = "<img src=x onerror=alert(1)>\"'&"

RECORDS = [
    VariableRecord("dense/kernel", (10, 20), "float32", True, True, 3.5, True, delta=0.25),
    VariableRecord("dense/bias", (20,), "float32", True, True, 0.5, False, delta=0.0, reason="not in the scope"),
    VariableRecord("dense/kernel/Adam", (10, 20), "float32", False, True, 0.1, True, "dense/kernel", 0.01),
    VariableRecord("dense/bias/Adam", (20,), "float32", False, True, 0.0, False, "dense/bias", 0.0),
    VariableRecord("global_step", (), "int64", False, True, 7.0),
    VariableRecord("beta1_power", (), "float32", False, None, None, None, "-"),
]


def prune_view(graph):
    reasons = {"gradient": "feeds only GradientDescent/update_w", "optimizer": "applies an update"}
    steps = [
        PruneStep(
            node.name,
            node.op,
            node.role not in ("gradient", "optimizer") and not node.name.endswith("/read"),
            "identity" if node.name.endswith("/read") else node.role if node.role in reasons else "",
            reasons.get(node.role, ""),
        )
        for node in graph.nodes
    ]
    return PruneView(graph, steps, ["Mean"])


@pytest.fixture
def views(model):
    graph = model("linear_regression")
    return [
        GraphView(graph),
        GradientView(graph, loss="Mean", norms={"w": 0.5}),
        prune_view(graph),
        ScopeMaskView(RECORDS),
        VariablesView(RECORDS),
        CodeView.from_source("y = np.matmul(x, w)\nreturn y", {1: ["MatMul"]}, {"w/read": "an Identity"}),
    ]


def test_every_view_has_json_text_repr_and_a_bundle(views):
    for view in views:
        record = json.loads(json.dumps(view.to_json()))
        assert record["view"] == view.kind and record["version"] == 1
        assert view.text() and repr(view).startswith(f"<{type(view).__name__}") and " at 0x" not in repr(view)
        bundle = view._repr_mimebundle_()
        assert bundle["text/plain"] == view.text(60) and set(bundle) > {"text/plain"}
        assert set(bundle) <= {"text/plain", "image/svg+xml", "text/html", MIME_TYPE}
        assert set(view._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}
        assert "text/html" not in view._repr_mimebundle_(exclude={"text/html"})
        if "image/svg+xml" in bundle:
            ET.fromstring(bundle["image/svg+xml"])


def test_pictures_are_svg_and_tables_html(views):
    kinds = {type(view).__name__: set(view._repr_mimebundle_()) - {"text/plain"} for view in views}
    picture = {"image/svg+xml", "text/html"}
    assert kinds["GraphView"] == kinds["GradientView"] == {*picture, MIME_TYPE}
    assert kinds["PruneView"] == {"image/svg+xml", "text/html"}
    assert kinds["ScopeMaskView"] == {"text/html", MIME_TYPE}
    assert kinds["VariablesView"] == kinds["CodeView"] == {"text/html"}


def test_text_keeps_to_its_limit(views, model):
    for view in [
        *views,
        GraphView(model("convnet"), "full"),
        prune_view(model("arg_scope_adam")),
        VariablesView([VariableRecord(f"v{i}") for i in range(200)]),
        ScopeMaskView([VariableRecord(f"v{i}") for i in range(200)]),
        CodeView.from_source("x = 1\n" * 500),
    ]:
        assert view.text(limit=30).count("\n") < 32, type(view).__name__


def test_save(views, tmp_path):
    for view in views:
        for ending in ("html", "json", "txt"):
            path = view.save(tmp_path / f"{view.kind}.{ending}")
            assert path.read_text(encoding="utf-8")
        page = (tmp_path / f"{view.kind}.html").read_text(encoding="utf-8")
        assert ("<script" in page) is view.has_payload()
        assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
        assert json.loads((tmp_path / f"{view.kind}.json").read_text(encoding="utf-8"))["view"] == view.kind
    ET.parse(views[0].save(tmp_path / "graph.svg"))
    with pytest.raises(ValueError, match="table, not a picture"):
        VariablesView(RECORDS).save(tmp_path / "x.svg")
    with pytest.raises(ValueError, match=r"\.svg, \.html, \.json or \.txt"):
        views[0].save(tmp_path / "graph.png")
    left_over = {
        path.name for path in tmp_path.iterdir() if path.name.split(".")[-1] not in ("html", "json", "txt", "svg")
    }
    assert not left_over


def test_graph_view_focus_expand_collapse(model):
    view = GraphView(model("arg_scope_adam"), focus="fully_connected/Relu")
    assert "Loss" not in view.text() and "fully_connected/" in view.text()
    closed = GraphView(model("arg_scope_adam"), expand=[])
    assert not closed.expanded and "fully_connected/" in closed.opened("fully_connected").expanded
    everything = GraphView(model("arg_scope_adam"), expand="*", collapse="Loss")
    assert (
        "Loss/" not in everything.expanded and "fully_connected/batch_normalization/batchnorm/" in everything.expanded
    )
    with pytest.raises(KeyError, match="fully_connected"):
        GraphView(model("arg_scope_adam"), expand="fully_conected")
    with pytest.raises(ValueError, match="detail"):
        GraphView(model("arg_scope_adam"), "everything")


def test_graph_view_levels(model):
    view = GraphView(model("linear_regression"))
    assert len(view.at("full").model) == 86 and view.at("full").source is view.source
    assert view.at("gradients").backward is not None
    assert "9 of 86 nodes" in view.caption() and "backward pass 47" in view.caption()
    assert "46 of the backward pass" in view.at("gradients").caption()


def test_notes_are_shown(model):
    view = GraphView(model("linear_regression"), notes={"w": "norm 3.1"})
    assert "[norm 3.1]" in view.text() and "norm 3.1" in view.svg()


def test_big_flat_graph_is_still_a_picture():
    nodes = [Node("x", "Placeholder")] + [
        Node(f"MatMul_{i}", "MatMul", [f"MatMul_{i - 1}" if i else "x"]) for i in range(5000)
    ]
    svg = GraphView(GraphModel(nodes), "full").svg()
    assert len(svg) < 100_000 and "5,000 nodes" in svg


def test_gradient_view(model):
    view = GradientView(
        model("linear_regression"),
        [("w:0", "gradients/MatMul_grad/tuple/control_dependency_1:0"), ("y", None)],
        {"w:0": 0.5, "MatMul": 1e-9},
        "Mean:0",
    )
    states = {found.variable: found.state() for found in view.variables()}
    assert states == {"w": "flows", "y": "unconnected"}
    text = view.text()
    assert "gradients of Mean" in text and "|g| = 0.5" in text and "None: no derivative leads back to it" in text
    assert "1e-09 vanishing" in view.svg() and "no gradient path" in view.svg()
    assert view.to_json()["norms"] == {"w": 0.5, "MatMul": 1e-9}
    assert isinstance(view.opened(), GradientView) and view.opened().norms == view.norms


def test_a_stopped_gradient_is_marked():
    graph = GraphModel(
        [
            Node("x", "VariableV2"),
            Node("stop", "StopGradient", ["x"]),
            Node("loss", "Square", ["stop"]),
            Node("gradients/Fill", "Fill", role="gradient"),
            Node("gradients/loss_grad/Mul", "Mul", ["gradients/Fill", "stop"], role="gradient", of="loss"),
        ]
    )
    view = GradientView(graph, [("x", None)], loss="loss")
    assert "⊘" in view.svg() and "no gradient passes" in view.svg() and "stop: StopGradient" in view.text()


def test_norm_states():
    words = [norm_state(n) for n in (None, 0.0, 1e-12, 1.0, 1e9, float("nan"), float("inf"))]
    assert words == ["unknown", "dead", "vanishing", "flows", "exploding", "not finite", "not finite"]


def test_gradient_view_of_a_graph_without_gradients():
    graph = GraphModel([Node("a", "Const"), Node("b", "Square", ["a"])])
    assert "0 backward ops" in GradientView(graph).text()
    ET.fromstring(GradientView(graph).svg())


def test_prune_view(model):
    graph = model("linear_regression")
    view = prune_view(graph)
    assert view.rules() == {"optimizer": 4, "gradient": 47, "identity": 2}
    assert view.summary() == "86 nodes before, 33 after; 53 removed"
    after = view.remaining()
    assert len(after) == 33 and after.node("MatMul").inputs == ["x", "w"]
    html = view.html()
    assert "feeds only GradientDescent/update_w" in html and "33 of 86 nodes remain" in html and "<svg" in html
    assert view.svg().count("✕") > view.svg(rules=["optimizer"]).count("✕") > view.svg(rules=[]).count("✕") == 0
    record = view.to_json()
    assert (record["before"], record["after"]) == (86, 33) and record["steps"][0]["keep"] is True


def test_scope_mask_view():
    view = ScopeMaskView(RECORDS, modifiers={"regularizer": "l2_regularizer(0.01)"})
    assert view.counts() == {"trains": 1, "frozen": 1, "slot": 3, "not trainable": 1}
    text = view.text()
    assert "1 of 2 trainable variables train, 1 frozen" in text and "held still" in text and "moved 0.25" in text
    lines = text.splitlines()
    kernel = next(i for i, line in enumerate(lines) if line.strip().startswith("kernel"))
    assert lines[kernel + 1].strip().startswith("Adam"), "a slot stands under its variable"
    assert "'dense/kernel'" in view.code() and "dense/bias" not in view.code()
    compile(view.code(), "code", "exec")
    html = view.html()
    assert "✓ trains" in html and "❄ frozen" in html and "not in the scope" in html


def test_variables_view():
    view = VariablesView(RECORDS)
    assert view.totals() == (200 + 20 + 200 + 20 + 1 + 1, 4 * (200 + 20 + 200 + 20 + 1) + 8)
    assert "6 variables" in view.text() and "(10, 20)" in view.text() and "1.8 kB" in view.text()
    assert VariablesView([]).text() == "Variables: none"
    unknown = VariableRecord("s", (None, 2), "string")
    assert unknown.elements is None and unknown.nbytes is None and "?" in VariablesView([unknown]).text()


def test_code_view():
    source = 'def run(state, x):\n    y = np.matmul(x, state["w<1>"])  # MatMul\n    return y'
    view = CodeView.from_source(source, {2: ["MatMul", "w/read"]}, {"group": "a NoOp"})
    assert view.source() == source and view.lines_of("MatMul") == [2] and view.lines_of("nothing") == []
    assert "# MatMul, w/read" in view.text() and "group: a NoOp" in view.text()
    html = view.html()
    assert "w&lt;1&gt;" in html and '<span class="tfs-kk">def</span>' in html and 'data-nodes="MatMul, w/read"' in html
    assert view.to_json()["lines"][1]["nodes"] == ["MatMul", "w/read"]


def test_highlighting_never_loses_text():
    import html
    import re

    for line in [
        "x = 1",
        "  y = 'a' + \"<b>\"  # note <i>",
        "not python ' at all",
        "",
        "    ",
        "def f(",
        "\tz = 3.5e-2",
        "é = '界'",
    ]:
        plain = re.sub("</?span[^>]*>", "", highlighted(line))
        assert html.unescape(plain) == line.rstrip() or html.unescape(plain) == line


def test_tables_escape(tmp_path):
    record = VariableRecord(HOSTILE, (1,), HOSTILE, reason=HOSTILE)
    for view in (
        VariablesView([record], HOSTILE),
        ScopeMaskView([record], HOSTILE, {HOSTILE: HOSTILE}),
        CodeView([CodeLine(1, HOSTILE, (HOSTILE,))], {HOSTILE: HOSTILE}, HOSTILE),
        PruneView(GraphModel([Node(HOSTILE, HOSTILE)]), [PruneStep(HOSTILE, HOSTILE, False, HOSTILE, HOSTILE)]),
    ):
        assert "<img" not in view.html() and "<img" not in view.page(), type(view).__name__


def test_numbers_for_people():
    assert [figure(v) for v in (None, 0.000012345, 3.0, float("nan"), float("-inf"))] == [
        "–",
        "1.234e-05",
        "3",
        "NaN",
        "-Inf",
    ]
    assert [byte_size(v) for v in (None, 12, 4096, 5_000_000, 2e12)] == ["–", "12 B", "4.1 kB", "5.0 MB", "2000.0 GB"]
