"""The interactive views without a browser: payloads, the module, the Python end, widget, link, saved page."""

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

import tfsandbox
from tfsandbox.notebook import palette
from tfsandbox.notebook.graph_model import GraphModel, Node
from tfsandbox.notebook.interactive import graph_payload, link, module
from tfsandbox.notebook.interactive.live import Live
from tfsandbox.notebook.interactive.training_kinds import training_kinds
from tfsandbox.notebook.layout_plan import plan_scopes
from tfsandbox.notebook.views import GradientView, GraphView
from tfsandbox.notebook.views.view import MIME_TYPE

STATIC = Path(module.SOURCES).parent
SOURCES = sorted(module.SOURCES.glob("*.js"))
EXTENSION = STATIC / "labextension"


# Payloads


def test_a_payload_has_every_level_and_is_plain_data(model):
    view = GraphView(model("convnet"))
    payload = json.loads(json.dumps(view.payload(), allow_nan=False))
    assert (payload["version"], payload["kind"], payload["level"]) == (1, "graph", "ideas")
    assert list(payload["levels"]) == payload["offered"] == ["ideas", "gradients", "full"]
    assert payload["labels"]["zoom.in"] == "larger"
    assert list(GradientView(model("convnet")).payload()["levels"]) == ["gradients"]


def test_the_same_graph_gives_the_same_payload(model):
    one, two = (GraphView(GraphModel.from_json(model("dynamic_rnn").to_json())).payload() for _ in range(2))
    assert json.dumps(one) == json.dumps(two)


def test_names_come_back(model):
    names = [node.name for node in model("arg_scope_adam").nodes]
    coded = graph_payload.front_coded(names)
    found, before = [], ""
    for shared, rest in zip(coded[::2], coded[1::2]):
        before = before[:shared] + rest
        found.append(before)
    assert found == names and len(json.dumps(coded)) < 0.6 * len(json.dumps(names))


def test_plans_are_those_of_any_layout(random_graph):
    """Rows and orders do not depend on what is open: the page may open scopes in any way."""
    for seed in range(40):
        view = GraphView(random_graph(seed), "full")
        everything = plan_scopes(view.tree, view.tree.scopes(), view.edges(), view.max_row)
        some = view.tree.scopes()[::2]
        for scope, plan in plan_scopes(view.tree, some, view.edges(), view.max_row).items():
            assert plan.layers.rows == everything[scope].layers.rows and plan.number == everything[scope].number


def test_a_large_graph_travels_with_few_bytes(random_graph):
    nodes = [Node("x", "Placeholder")]
    for layer in range(600):
        scope = f"block_{layer // 8}/dense_{layer}"
        nodes += [Node(f"{scope}/kernel", "VariableV2", role="variable"),
                  Node(f"{scope}/bias", "VariableV2", role="variable"),
                  Node(f"{scope}/MatMul", "MatMul", [nodes[-1].name, f"{scope}/kernel"]),
                  Node(f"{scope}/add", "Add", [f"{scope}/MatMul", f"{scope}/bias"]),
                  Node(f"{scope}/step", "ApplyAdam", [f"{scope}/kernel"], role="optimizer"),
                  Node(f"{scope}/Relu", "Relu", [f"{scope}/add"])]
    graph = GraphModel(nodes)
    ideas = GraphView(graph).payload()
    assert list(ideas["levels"]) == ["ideas"] and ideas["offered"][-1] == "full"
    whole = GraphView(graph, "full").payload()
    assert list(whole["levels"]) == ["ideas", "full"]
    assert len(json.dumps(whole, separators=(",", ":"))) < 120 * len(nodes)
    assert len(whole["levels"]["full"]["rows"]) < 30


def test_training_kinds(model):
    graph = model("arg_scope_adam")
    kinds = training_kinds(graph)
    assert kinds["fully_connected/weights"] == "trains" and kinds["beta1_power"] == "slot"
    assert kinds["fully_connected/weights/Adam"] == "slot" and kinds["Adam/beta1"] == "training"
    # Nothing in this graph changes the averages, and nobody says that they are not meant to train.
    assert kinds["fully_connected/batch_normalization/moving_mean"] == "frozen"
    average = [*graph.nodes, Node("assign", "AssignSub", ["fully_connected/batch_normalization/moving_mean", "x"])]
    assert training_kinds(GraphModel(average))["fully_connected/batch_normalization/moving_mean"] == "state"
    assert set(kinds.values()) <= {"trains", "frozen", "state", "slot", "gradient", "training"}


def test_training_kinds_by_optimizer_and_mask():
    nodes = [Node(name, "VariableV2", role="variable") for name in ("a", "b", "c", "d")]
    nodes += [Node("Adam/update_a/ApplyAdam", "ApplyAdam", ["a"], role="optimizer", of="a"),
              Node("SGD/update_a/ApplyGradientDescent", "ApplyGradientDescent", ["a"], role="optimizer", of="a"),
              Node("SGD/update_b/ApplyGradientDescent", "ApplyGradientDescent", ["b"], role="optimizer", of="b")]
    graph = GraphModel(nodes, trainable=frozenset("abc"))
    assert {name: kind for name, kind in training_kinds(graph).items() if len(name) == 1} == {
        "a": "trains Adam, SGD", "b": "trains SGD", "c": "frozen", "d": "state"}
    graph.masked = frozenset("b")
    assert training_kinds(graph)["b"] == "frozen"
    alone = GraphModel([Node("a", "VariableV2", role="variable")])
    assert training_kinds(alone) == {"a": "trains"}


# The module


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_source_file_keeps_to_the_rules(path):
    text = path.read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.strip().startswith("//"))
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(",
                 "XMLHttpRequest", "WebSocket", "importScripts", "import(", "localStorage", "</script",
                 "export default"):
        assert word not in code, word
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", code)
    for line in code.splitlines():
        if line.startswith("import "):
            assert re.fullmatch(r'import \{[\w\s,]+\} from "\./\w+\.js";', line), line
    assert len(text.splitlines()) <= 500 and max(map(len, text.splitlines())) <= 180
    assert text.startswith("//"), "begins with what it is for"


@pytest.mark.parametrize("kind", module.kinds())
def test_every_kind_has_a_module_of_bearable_size(kind):
    text = module.source(kind)
    assert text.count("export default") == 1 and f'register("{kind}"' in text and "\n//" not in text
    # Everything is defined before it is used.
    order = re.findall(r"^const \$(\w+) = \(\(\) => \{$", text, re.M)
    for name in order:
        body = text.partition(f"const ${name} = (() => {{")[2].partition("\n})();")[0]
        for used in re.findall(r"^const \{[^}]*\} = \$(\w+);$", body, re.M):
            assert order.index(used) < order.index(name)
    assert len(module.packed(kind)) < 60_000 and module.packed(kind) == module.packed(kind)


def test_an_unknown_kind():
    assert "graph" in module.kinds()
    with pytest.raises(ValueError, match="no module for a view of kind 'poem'"):
        module.source("poem")


def test_the_pages_colours_are_pythons():
    text = (module.SOURCES / "palette.js").read_text(encoding="utf-8")
    for role, style in palette.ROLE_STYLES.items():
        line = f'{role}: {{light: "{style.light}", dark: "{style.dark}", shape: "{style.shape}", ' \
               f"dashed: {str(style.dashed).lower()}}},"
        assert line in text
    for name, pair in (("ink", palette.INK), ("muted", palette.MUTED), ("ground", palette.GROUND),
                       ("line", palette.LINE), ("frame", palette.FRAME)):
        assert f'{name}: ["{pair[0]}", "{pair[1]}"]' in text


def contrast(one, two):
    def light(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
    low, high = sorted((light(one), light(two)))
    return (high + 0.05) / (low + 0.05)


def test_groups_are_told_from_their_ground():
    text = (module.SOURCES / "palette.js").read_text(encoding="utf-8")
    groups = re.findall(r'\["(#\w{6})", "(#\w{6})"\]', text.partition("GROUPS = [")[2].partition("];")[0])
    assert len(groups) == 8
    for light, dark in groups:
        assert contrast(light, palette.GROUND[0]) >= 4.5 and contrast(dark, palette.GROUND[1]) >= 4.5


def test_every_label_of_the_page_is_there():
    from tfsandbox.notebook.labels import page_labels

    labels = page_labels("graph")
    used = set()
    for path in SOURCES:
        if path.stem in ("graph", "canvas", "panel", "search", "card", "colours", "controls", "frame", "outline"):
            used |= set(re.findall(r'\bt\("([\w.]+)"', path.read_text(encoding="utf-8")))
    assert used - set(labels) == set()


# The Python end


class Wish(Live):
    def request_double(self, content):
        return {"value": 2 * content["value"]}

    def request_fail(self, content):
        raise KeyError("There is no such thing.")


@pytest.fixture
def view(model):
    return GraphView(model("linear_regression"))


def test_what_a_page_may_ask(view):
    live = Wish(view)
    assert live.answer({"ask": "double", "id": 7, "content": {"value": 4}}) == {"answer": 7, "content": {"value": 8}}
    assert live.answer({"ask": "fail", "id": 8}) == {"answer": 8, "error": "There is no such thing."}
    for name in ("nothing", "__init__", "double; import os", ""):
        assert "does not answer" in live.answer({"ask": name, "id": 9})["error"]
    assert live.answer({"hello": 1}) is None


def test_what_a_page_may_set(view):
    live = view.live
    live.take({"selected": ["MatMul"], "payload": {"kind": "x"}, "expanded": 3, "view": None})
    assert view.selected == ["MatMul"] and live.expanded == [] and live.payload["kind"] == "graph" and live.view is view
    view.selected = "Mean"
    assert live.selected == ["Mean"]


def test_the_widget_follows_the_view(view):
    pytest.importorskip("anywidget")
    widget = view.explore()
    widget.selected = ["MatMul"]
    assert view.selected == ["MatMul"]
    view.selected = ["Mean"]
    assert widget.selected == ["Mean"]
    bundle, _ = widget._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", MIME_TYPE, "image/svg+xml", "text/plain"} <= set(bundle)
    assert bundle["text/plain"] == view.text(60) and " at 0x" not in repr(widget)
    sent = []
    widget.send = sent.append
    widget._take(widget, {"ask": "page", "id": 1}, [])
    assert sent[0]["content"]["html"].startswith("<!DOCTYPE html>")
    widget.close()
    view.selected = ["w"]
    assert widget.selected == ["Mean"]


class Comm:
    """A comm as ipykernel gives it."""

    def __init__(self):
        self.sent, self.closed = [], False

    def on_msg(self, act):
        self.hear = act

    def on_close(self, act):
        self.end = act

    def send(self, data):
        self.sent.append(data)

    def close(self):
        self.closed = True

    def say(self, **data):
        self.hear({"content": {"data": data}})


def opened(key):
    comm = Comm()
    link.opened(comm, {"content": {"data": {"link": key}}})
    return comm


def test_a_page_finds_the_view_of_its_output(view):
    stored = view._repr_mimebundle_()[MIME_TYPE]
    assert json.loads(stored["json"]) == json.loads(json.dumps(view.payload())) and stored["kind"] == "graph"
    comm = opened(stored["link"])
    assert comm.sent == [{"set": {"selected": [], "expanded": [], "state": {}}}]
    comm.say(set={"selected": ["MatMul"], "payload": {}})
    assert view.selected == ["MatMul"] and view.live.payload["kind"] == "graph"
    assert len(comm.sent) == 1, "what a page says is not said back to it"
    view.selected = ["Mean"]
    assert comm.sent[-1] == {"set": {"selected": ["Mean"]}}
    other = opened(stored["link"])
    other.say(set={"selected": ["w"]})
    assert comm.sent[-1] == {"set": {"selected": ["w"]}}, "two outputs of one view agree"
    comm.say(message={"ask": "level", "id": 3, "content": {"level": "full"}})
    assert comm.sent[-1]["message"]["answer"] == 3 and "full" in comm.sent[-1]["message"]["content"]["levels"]
    comm.end({})
    before = len(comm.sent)
    view.selected = ["x"]
    assert len(comm.sent) == before and other.sent[-1] == {"set": {"selected": ["x"]}}


def test_a_page_without_its_view_is_left_alone():
    assert opened("0123456789abcdef").closed and opened(None).closed and opened(["x"]).closed


# Files


def test_a_saved_page_allows_only_its_own_script(view, tmp_path):
    text = view.save(tmp_path / "graph.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    script = re.search(r'<script type="module">(.*?)</script>', text, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    payload = re.search(r'<script type="application/json" id="payload">(.*?)</script>', text, re.S).group(1)
    assert json.loads(payload) == json.loads(json.dumps(view.payload()))
    assert "<noscript>" in text and "<svg" in text.partition("<noscript>")[2]


def test_a_still_view(view):
    view.interactive = False
    assert MIME_TYPE not in view._repr_mimebundle_() and "<script" not in view.page()


def test_the_picture_is_what_nbconvert_and_github_show(view):
    nbformat = pytest.importorskip("nbformat")
    nbconvert = pytest.importorskip("nbconvert")
    output = nbformat.v4.new_output("display_data", view._repr_mimebundle_())
    cell = nbformat.v4.new_code_cell("%tf_graph", outputs=[output])
    notebook = nbformat.v4.new_notebook(cells=[cell])
    text, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert "<svg" in text and "MatMul" in text
    # GitHub draws `image/svg+xml` or `text/html`; whoever draws neither has the text.
    assert {"image/svg+xml", "text/html", "text/plain"} <= set(output.data)


def test_the_extension_is_what_jupyterlab_reads():
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert package["name"] == "tfsandbox" and package["version"] == tfsandbox.__sandbox_version__
    entry = EXTENSION / package["jupyterlab"]["_build"]["load"]
    text = entry.read_text(encoding="utf-8")
    assert f'"{package["jupyterlab"]["_build"]["mimeExtension"]}"' in text and f'MIME = "{MIME_TYPE}"' in text
    assert f'TARGET = "{link.TARGET}"' in text
    project = (Path(tfsandbox.__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    for source, target in (("labextension", ""), ("src", "/static/src")):
        line = f'"tfsandbox/notebook/static/{source}" = "share/jupyter/labextensions/tfsandbox{target}"'
        assert line in project.partition("shared-data]\n")[2].partition("\n\n")[0].splitlines()
