"""The drawings: well formed, escaped, deterministic, readable, and within their boxes."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest

from tfsandbox.notebook import palette
from tfsandbox.notebook.dot import to_digraph
from tfsandbox.notebook.faces import Faces
from tfsandbox.notebook.graph_model import GraphModel, Node, Output
from tfsandbox.notebook.labels import LABELS, label, set_language
from tfsandbox.notebook.markup import escape, number
from tfsandbox.notebook.roles import ROLES
from tfsandbox.notebook.svg_shapes import outline, path, shortened
from tfsandbox.notebook.text import columns
from tfsandbox.notebook.text_metrics import elided, text_width, wrapped
from tfsandbox.notebook.views import GradientView, GraphView

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("linear_regression", "arg_scope_adam", "convnet", "dynamic_rnn")
HOSTILE = "</title><script>alert(1)</script>&\"'<b>"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("detail", ["ideas", "gradients", "full"])
def test_well_formed_titled_and_within_a_notebook(name, detail, model):
    view = GraphView(model(name), detail)
    root = ET.fromstring(view.svg())
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert name in title.text and "nodes" in desc.text
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    assert float(root.get("width")) <= 1100
    assert not [element for element in root.iter() if element.tag.endswith(("script", "foreignObject", "image"))]
    for element in root.iter():
        for attribute, value in element.attrib.items():
            assert not attribute.startswith("on") and "href" not in attribute and "javascript:" not in value


def test_every_visible_box_has_a_tooltip_and_its_label(model):
    view = GraphView(model("linear_regression"))
    root = ET.fromstring(view.svg())
    texts = [element.text for element in root.iter(f"{SVG}text")]
    for name in ("x", "w", "MatMul", "Mean"):
        assert name in texts
    assert any("Variable" in text and "(10, 1)" in text for text in texts)
    titles = [
        group.find(f"{SVG}title").text for group in root.iter(f"{SVG}g") if group.get("class", "").startswith("tfs-n")
    ]
    assert len(titles) == len(view.layout.boxes)
    assert any(
        "MatMul (op)" in title and "float32 (?, 1)" in title and "transpose_a = false" in title for title in titles
    )


def test_same_content_same_bytes(model):
    one, two = (GraphView(GraphModel.from_json(model("convnet").to_json()), "gradients").svg() for _ in range(2))
    assert one == two


def test_nothing_of_a_name_is_markup():
    nodes = [
        Node(HOSTILE, HOSTILE, attrs={"a": HOSTILE}, device=HOSTILE, source=HOSTILE, outputs=[Output(HOSTILE, (1,))]),
        Node(f"{HOSTILE}/y", "Op", [HOSTILE], [HOSTILE]),
        Node("z\x00\x1b\u202e", "Op", [HOSTILE]),
    ]
    model = GraphModel(nodes, HOSTILE)
    view = GraphView(model, "full", expand="*", notes={HOSTILE: HOSTILE})
    text = view.svg()
    assert "<script" not in text and "<b>" not in text and "\x00" not in text and "\u202e" not in text
    ET.fromstring(text)
    page = view.page()
    assert page.count("<script") == 2 and "<b>" not in page  # the payload and the module
    source = to_digraph(model).source
    assert "n0" in source and len(re.findall(r"^\s*n\d+ \[", source, re.M)) == 3


def test_escape_and_number():
    assert escape('<a href="x">\'&') == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;"
    assert escape("a\ud800b\x07") == "a\ufffdb\ufffd"
    assert [number(v) for v in (1.0, -0.01, 2.345)] == ["1", "0", "2.3"]


def contrast(a, b):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colours_have_contrast_in_both_themes():
    for which in (0, 1):
        ground = palette.GROUND[which]
        assert contrast(palette.INK[which], ground) > 7 and contrast(palette.MUTED[which], ground) > 4.5
        assert contrast(palette.LINE[which], ground) > 3
        for role, style in palette.ROLE_STYLES.items():
            assert contrast((style.light, style.dark)[which], ground) > 4.5, role
    assert set(palette.ROLE_STYLES) == set(ROLES)


def test_roles_of_one_colour_differ_in_shape():
    looks = [(style.light, style.shape, style.dashed) for style in palette.ROLE_STYLES.values()]
    assert len(set(looks)) == len(looks)


def test_themes(model):
    view = GraphView(model("linear_regression"))
    auto, dark = view.svg(), view.svg(theme="dark")
    assert "--jp-layout-color0" in auto and 'data-jp-theme-light="false"' in auto
    assert palette.GROUND[1] in dark and "tfs-dark" in dark


def test_labels_fit_their_boxes(model, random_graph):
    for graph in [model(name) for name in NAMES] + [random_graph(seed) for seed in range(20)]:
        view = GraphView(graph, "full", expand="*")
        for box in view.tree.walk():
            face = view.faces[box]
            assert text_width(face.label, 12.5, bold=True) <= face.width - 12
            assert text_width(face.sub, 10.5) <= face.width - 8


def test_long_names_are_shortened_in_the_middle():
    name = "a_very_long_operation_name_that_goes_on_and_on_and_on_1234"
    short = elided(name, 100, 12)
    assert "…" in short and short.endswith("4") and text_width(short, 12) <= 100
    assert elided("x", 100, 12) == "x" and elided(name, 1, 12) == "…"
    assert text_width("界", 10) == 10 and text_width("e\u0301", 10) == text_width("e", 10)
    assert all(
        text_width(line, 11) <= 80 for line in wrapped("some words that need several lines, and one" + "x" * 99, 80, 11)
    )


@pytest.mark.browser
@pytest.mark.parametrize("detail", ["ideas", "gradients", "full"])
def test_in_a_browser_no_text_leaves_its_box(detail, model, tmp_path):
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("needs Chromium")
    svgs = "".join(GraphView(model(name), detail).svg() for name in NAMES)
    script = """<script>
    const out = [];
    for (const g of document.querySelectorAll('g.tfs-n')) {
      const box = g.querySelector('path.tfs-p,rect.tfs-o');
      if (!box) continue;
      const b = box.getBoundingClientRect();
      for (const t of g.querySelectorAll('text.tfs-l,text.tfs-s,text.tfs-t')) {
        if (t.textContent.length < 2) continue;
        const r = t.getBoundingClientRect();
        if (r.left < b.left - 0.5 || r.right > b.right + 0.5 || r.top < b.top - 1 || r.bottom > b.bottom + 1)
          out.push(t.textContent);
      }
    }
    document.title = 'out:' + JSON.stringify(out);
    </script>"""
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset='utf-8'><title></title>{svgs}{script}", encoding="utf-8")
    dumped = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    assert "<title>out:[]</title>" in dumped, re.search(r"<title>(.*?)</title>", dumped).group(1)


def test_outlines_fill_their_rectangle():
    for style in palette.ROLE_STYLES.values():
        d = outline(style.shape, 10, 20, 100, 40)
        assert d.startswith("M") and d.endswith("Z")


def test_paths():
    assert path([(0, 10), (0, 0)]) == "M0 10V0"
    assert path([(0, 10), (5, 0)]) == "M0 10C0 5 5 5 5 0"
    assert shortened([(0, 10), (0, 0)], 4) == [(0, 10), (0, 4)]
    assert shortened([(0, 0), (0, 10)], 4) == [(0, 0), (0, 6)]
    assert shortened([(0, 3), (0, 0)], 4) == [(0, 3), (0, 3)]


def test_legend_names_what_is_there(model):
    text = GraphView(model("linear_regression")).svg()
    assert ">input<" in text and ">variable<" in text and ">gradient<" not in text
    assert ">gradient<" in GradientView(model("linear_regression")).svg()


def test_labels_come_from_one_table():
    assert label("caption.drawn", drawn=1, total=2) == "1 of 2 nodes"
    assert all(f"role.{role}" in LABELS["en"] for role in ROLES)
    with pytest.raises(ValueError, match="'en'|en"):
        set_language("xx")


def test_columns():
    assert columns([("a", "b"), ("ccc", "")]) == ["a    b", "ccc"]
    assert columns([]) == []


def test_digraph(model):
    graph = to_digraph(GraphView(model("arg_scope_adam")).model)
    assert graph.source.startswith("// arg_scope_adam\ndigraph")
    assert graph.source.count("subgraph") > 3 and "rankdir=BT" in graph.source
    flat = to_digraph(model("linear_regression"), clusters=False).source
    assert "subgraph" not in flat and "style=dashed" in flat


def test_faces_of_closed_scopes(model):
    view = GraphView(model("convnet"), "full", expand=[])
    faces = Faces(view.tree)
    assert faces[view.tree["conv2d/"]].sub.endswith("2 variables")
    assert "conv2d/" in faces.tooltip(view.tree["conv2d/"])
