"""The graph view where people use it: JupyterLab, Notebook 7, a widget, a saved file."""

import pytest

from tests.notebook.conftest import Graph, records
from tfsandbox.notebook.graph_model import GraphModel, Node
from tfsandbox.notebook.views import GraphView

pytestmark = pytest.mark.browser

PROGRAM = """\
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 10], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
hidden = tf.layers.dense(x, 8, activation=tf.nn.relu, name="hidden")
output = tf.layers.dense(hidden, 1, name="output")
loss = tf.reduce_mean(tf.square(output - y), name="loss")
train = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("output"))
"""
START = "%load_ext tfsandbox\n%tensorflow_version 1.x"
CELLS = [START, PROGRAM, "view = %tf_graph --collapse hidden --collapse output\nview"]


def box(view, name):
    """A box by the beginning of what a screen reader says of it."""
    return view.locator(f'[data-box][aria-label^="{name}"]').first


def sign(view, name):
    """The plus or minus of a scope's box."""
    return box(view, name).locator("> .tfs-skin > .tfs-sign")


def recorded(name, detail="ideas", **settings):
    return GraphView(GraphModel.from_graph(Graph(records(name)), name), detail, **settings)


@pytest.mark.parametrize("frontend", ["lab", "notebook7"])
def test_run_all_expand_click_search_and_python(frontend, request):
    page = request.getfixturevalue(frontend)(CELLS)
    page.run_all()
    view = page.view()
    assert box(view, "x,").is_visible() and not box(view, "MatMul").count()

    sign(view, "hidden").click()
    box(view, "MatMul").wait_for()
    page.until(lambda: page.python("view.live.expanded") == ["hidden/"])
    assert box(view, "hidden").get_attribute("aria-expanded") == "true"

    box(view, "Relu").click()
    page.until(lambda: page.python("view.selected") == ["hidden/Relu"])
    panel = view.locator(".tfs-panel")
    assert "hidden/BiasAdd" in panel.inner_text() and "tf.layers.dense(x, 8" in panel.inner_text()
    assert "tfs-is-dim" in box(view, "y,").get_attribute("class")
    assert "tfs-is-dim" not in box(view, "loss").get_attribute("class")
    page.screenshot(f"{frontend}-selected")

    search = view.get_by_role("combobox", name="search")
    search.fill("matmul output")
    search.press("Enter")
    page.until(lambda: page.python("view.selected") == ["output/MatMul"])
    assert box(view, "output").get_attribute("aria-expanded") == "true"

    page.client.execute("view.selected = 'loss'")
    page.until(lambda: "loss" in panel.locator("h4").inner_text())
    view.get_by_role("radio", name="Everything").click()
    page.until(lambda: page.python("view.live.state['level']") == "full")
    assert not page.errors


def test_in_a_dark_narrow_notebook_keys_stay_in_the_view(lab):
    page = lab(CELLS, width=400, dark=True)
    page.run_all()
    view = page.view()
    page.screenshot("lab-400-dark", whole=True)
    assert view.evaluate("(element) => getComputedStyle(element).backgroundColor") == "rgb(17, 17, 17)"
    cells = page.page.locator(".jp-Cell").count()
    view.locator(".tfs-canvas").focus()
    for key in ("Home", "ArrowDown", "b", "d", "d", "m", "Enter", "Escape"):
        page.page.keyboard.press(key)
    view.get_by_role("combobox", name="search").press_sequentially("bdd")
    assert page.page.locator(".jp-Cell").count() == cells and view.is_visible()
    box(view, "loss").click()
    page.screenshot("lab-400-dark-selected")
    assert not page.errors and not page.contrast_faults()


def test_reopened_without_a_kernel(lab):
    page = lab([*CELLS[:2], "%tf_graph --collapse hidden --collapse output"])
    page.run_all()
    page.view()
    page.save()
    page.shut_down()
    stored = page.path.with_name("stored.ipynb")
    stored.write_text(page.path.read_text())
    again = lab(stored)
    view = again.view()
    # JupyterLab starts a kernel, which knows nothing of this view; it goes, too.
    again.until(again.session)
    again.shut_down()
    sign(view, "hidden").click()
    box(view, "Relu").click()
    assert "hidden/Relu" in view.locator(".tfs-panel h4").inner_text()
    view.get_by_role("radio", name="Gradients").click()
    view.locator(".tfs-comp").first.wait_for()
    again.screenshot("reopened-without-kernel")
    view.get_by_role("button", name="save").click()
    assert view.get_by_role("button", name="HTML page").is_disabled()
    assert not again.errors


def test_the_widget_alone(lab):
    page = lab([*CELLS, "widget = view.explore()\nfrom IPython.display import display\n"
                        "found, _ = widget._repr_mimebundle_()\n"
                        "display({kind: data for kind, data in found.items() if 'widget' in kind}, raw=True)"])
    page.run_all()
    page.until(lambda: page.page.locator(".tfs-view").count() == 2)
    view = page.view()
    sign(view, "hidden").click()
    box(view, "BiasAdd").click()
    page.until(lambda: page.python("widget.selected") == ["hidden/BiasAdd"])
    assert page.python("view.selected") == ["hidden/BiasAdd"]
    # The other output shows the same view.
    page.until(lambda: "hidden/BiasAdd" in page.view(0).locator(".tfs-panel h4").inner_text())
    assert not page.errors


def test_values_of_watched_runs(lab):
    run = """\
import numpy as np
sess = tf.Session()
sess.run(tf.global_variables_initializer())
feeds = {x: np.ones((4, 10)), y: np.ones((4, 1))}
with view.watch(sess) as watched:
    for _ in range(3):
        sess.run([train, loss], feeds)
"""
    page = lab([*CELLS[:2], "view = %tf_graph --expand *\nview", run])
    page.run_all()
    view = page.view()
    view.locator('[data-box][aria-label*="μ"]').first.wait_for()
    assert "loss, = " in box(view, "loss,").get_attribute("aria-label")
    assert page.python("[watched.runs, 'loss' in watched.values]") == [3, True]
    box(view, "Relu").click()
    panel = view.locator(".tfs-panel")
    panel.locator(".tfs-histogram").wait_for()
    assert "float32 (4, 8)" in panel.inner_text() and panel.locator(".tfs-heat canvas").count() == 1
    page.screenshot("watched")
    menu = view.get_by_role("combobox", name="colour by")
    menu.select_option("memory")
    assert "kB" in view.locator(".tfs-foot").inner_text() or "B" in view.locator(".tfs-foot").inner_text()
    menu.select_option("time")
    page.until(lambda: "µs" in view.locator(".tfs-foot").inner_text())
    page.client.execute("watching = view.watch(sess)\nwatching.__enter__()\nfeeds[x][0, 0] = np.nan\n"
                        "_ = sess.run(loss, feeds)\nwatching.__exit__(None, None, None)")
    page.until(lambda: "starts at x" in view.locator(".tfs-status").inner_text())
    assert "tfs-is-warn" in box(view, "x,").get_attribute("class")
    assert not page.errors


def test_a_large_graph_asks_for_the_level_that_did_not_travel(lab):
    program = ("import sys; from tests.benchmarks.layout import training_graph\n"
               "from tfsandbox.notebook.roles import assign_roles\nfrom tfsandbox.notebook.views import GraphView\n"
               "model = training_graph(4000); assign_roles(model)\nGraphView(model)")
    page = lab([CELLS[0], program])
    page.run_all()
    view = page.view()
    everything = view.get_by_role("radio", name="Everything")
    page.until(everything.is_enabled)
    everything.click()
    page.until(lambda: "4,0" in view.locator(".tfs-status").inner_text())
    assert not page.errors


# In a saved page, which has the same module and needs no server


def test_a_saved_page_works_offline(page_of):
    page = page_of(recorded("arg_scope_adam"))
    view = page.view()
    for name in ("Gradients", "Everything", "Ideas"):
        view.get_by_role("radio", name=name).click()
        assert view.locator("[data-box]").count() > 5
    view.get_by_role("button", name="expand all").click()
    closed = view.locator('[data-box][aria-expanded="false"]')
    page.until(lambda: closed.count() == 0)
    view.get_by_role("button", name="collapse all").click()
    page.until(lambda: closed.count() > 0 and not view.locator('[data-box][aria-expanded="true"]').count())
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert not page.errors


def test_everything_is_reached_by_keyboard(page_of):
    page = page_of(recorded("arg_scope_adam", expand=[]))
    view, keys = page.view(), page.page.keyboard
    reached = []
    for _ in range(40):
        keys.press("Tab")
        found = page.page.evaluate(
            "(() => { const e = document.activeElement; return !e.closest('.tfs-view') ? null : [e.tagName, "
            "e.textContent.trim() || e.getAttribute('aria-label'), getComputedStyle(e).outlineStyle]; })()")
        if found is None:
            break
        reached.append(found)
    names = " ".join(name for _, name, _ in reached)
    for control in ("Ideas", "expand all", "text", "save", "keys", "larger", "search", "variable"):
        assert control in names, control
    assert all(outline != "none" for _, _, outline in reached), reached
    canvas = view.locator(".tfs-canvas")
    canvas.focus()
    keys.press("Home")
    active = "document.getElementById(document.querySelector('.tfs-canvas').getAttribute('aria-activedescendant'))" \
             ".getAttribute('aria-label')"
    seen = [page.page.evaluate(active)]
    for _ in range(30):
        keys.press("ArrowDown")
        seen.append(page.page.evaluate(active))
    assert len(set(seen)) == view.locator("[data-box]").count()
    keys.press("Home")
    while "fully_connected," not in page.page.evaluate(active):
        keys.press("ArrowDown")
    keys.press("ArrowRight")
    page.until(lambda: box(view, "fully_connected,").get_attribute("aria-expanded") == "true")
    keys.press("ArrowRight")
    assert page.page.evaluate(active) not in seen
    keys.press(" ")
    assert "fully_connected/" in view.locator(".tfs-panel h4").inner_text()
    keys.press("o")
    keys.press("Escape")
    assert view.locator(".tfs-panel").is_hidden()
    assert not page.errors


def test_the_hover_card(page_of):
    page = page_of(recorded("convnet"))
    view = page.view()
    view.locator("[data-box]", has_text="Placeholder").first.hover()
    card = view.locator(".tfs-card")
    card.wait_for()
    assert "float32 (?, 28, 28, 1)" in card.inner_text() and "dtype" in card.inner_text()
    page.page.mouse.move(2, 2)
    page.until(card.is_hidden)
    view.locator("[data-line] .tfs-hit").first.hover(force=True)
    card.wait_for()
    assert "→" in card.inner_text()


def test_search_lists_and_walks(page_of):
    page = page_of(recorded("arg_scope_adam", expand=[]))
    view = page.view()
    search = view.get_by_role("combobox", name="search")
    search.fill("weights nothing")
    assert view.locator(".tfs-match").count() == 0
    search.fill("weights")
    found = view.locator(".tfs-match").all_inner_texts()
    assert found and all("weights" in text for text in found)
    assert view.locator(".tfs-divider").first.inner_text() == "not at this level of detail:"
    count = int(view.locator(".tfs-tally").inner_text().split()[0])
    title = view.locator(".tfs-panel h4")
    chosen = []
    for step in range(3):
        search.press("Enter")
        assert view.locator(".tfs-tally").inner_text() == f"{step + 1} of {count}"
        chosen.append(title.inner_text())
    assert len(set(chosen)) == 3
    search.press("Shift+Enter")
    assert title.inner_text() == chosen[1]
    search.fill("nothing has this name")
    assert view.locator(".tfs-tally").inner_text() == "none found"
    # A node that only the level of everything has: choosing it goes there.
    search.fill("group_deps")
    search.press("Enter")
    page.until(lambda: view.get_by_role("radio", name="Everything").get_attribute("aria-checked") == "true")
    assert "group_deps" in title.inner_text()


def test_colours_and_their_legend(page_of):
    page = page_of(recorded("arg_scope_adam", "full", expand="fully_connected"))
    view = page.view()
    menu = view.get_by_role("combobox", name="colour by")
    for name, words in (("op", "Const ("), ("scope", "fully_connected ("), ("kind", "trains ("), ("role", "variable")):
        menu.select_option(name)
        assert words in view.locator(".tfs-foot").inner_text(), name
    menu.select_option("kind")
    assert box(view, "weights").get_attribute("aria-label").endswith("trains (2)") or "trains" in box(
        view, "weights").get_attribute("aria-label")
    view.locator(".tfs-legend", has_text="optimizer slot").click()
    assert "tfs-is-dim" in view.locator("[data-box]", has_text="Placeholder").first.get_attribute("class")


def test_zoom_pan_and_minimap(page_of):
    page = page_of(recorded("convnet", expand="*"))
    view = page.view()
    world = view.locator(".tfs-world")
    before = world.get_attribute("transform")
    view.get_by_role("button", name="larger").click()
    page.until(lambda: world.get_attribute("transform") != before)
    view.get_by_role("button", name="larger").click()
    minimap = view.locator(".tfs-minimap")
    minimap.wait_for()
    page.page.wait_for_timeout(400)
    before = world.get_attribute("transform")
    area = view.locator(".tfs-canvas").bounding_box()
    page.page.mouse.move(area["x"] + 30, area["y"] + 30)
    page.page.mouse.down()
    page.page.mouse.move(area["x"] + 130, area["y"] + 60, steps=4)
    page.page.mouse.up()
    assert world.get_attribute("transform") != before
    before = world.get_attribute("transform")
    minimap.click(position={"x": 5, "y": 5})
    assert world.get_attribute("transform") != before
    # The wheel scrolls the page; with Ctrl it zooms.
    before = world.get_attribute("transform")
    page.page.mouse.move(area["x"] + 300, area["y"] + 200)
    page.page.mouse.wheel(0, 100)
    page.page.wait_for_timeout(200)
    assert world.get_attribute("transform") == before
    page.page.keyboard.down("Control")
    page.page.mouse.wheel(0, -300)
    page.page.keyboard.up("Control")
    page.until(lambda: world.get_attribute("transform") != before)
    view.get_by_role("button", name="all of it").click()
    page.until(minimap.is_hidden)


def test_pictures_can_be_saved(page_of):
    page = page_of(recorded("linear_regression"))
    view = page.view()
    view.get_by_role("button", name="save").click()
    for name, start in (("SVG picture", b"<svg"), ("PNG picture", b"\x89PNG")):
        with page.page.expect_download() as download:
            view.get_by_role("button", name=name).click()
        with open(download.value.path(), "rb") as file:
            content = file.read()
        assert content.startswith(start) and len(content) > 2000
        download.value.save_as(page.screenshots / download.value.suggested_filename)
    assert not page.errors


HOSTILE = "<img src=x onerror=document.title='owned'>\"'&"


def test_a_name_is_never_markup(page_of):
    nodes = [Node(HOSTILE, HOSTILE, attrs={HOSTILE: HOSTILE}, device=HOSTILE, source=f"{HOSTILE}:1  {HOSTILE}"),
             Node(f"{HOSTILE}/in", "Op", [HOSTILE]),
             Node("</script><script>document.title='owned'</script>", "Op", [HOSTILE])]
    page = page_of(GraphView(GraphModel(nodes, HOSTILE), "full", expand="*"))
    view = page.view()
    for place in range(view.locator("[data-box]").count()):
        view.locator("[data-box]").nth(place).click(force=True)
    view.get_by_role("combobox", name="search").fill("img")
    view.get_by_role("button", name="text").click()
    assert page.page.title() != "owned" and not view.locator("img").count()
    assert HOSTILE in view.locator(".tfs-panel").inner_text()


@pytest.mark.parametrize("width, dark", [(1280, False), (1280, True), (400, False), (400, True)])
def test_it_looks_right(page_of, width, dark):
    page = page_of(recorded("arg_scope_adam"), width, dark)
    name = f"page-{width}-{'dark' if dark else 'light'}"
    page.screenshot(f"{name}-ideas")
    view = page.view()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    view.get_by_role("radio", name="Gradients").click()
    page.screenshot(f"{name}-gradients")
    box(view, "fully_connected").click(position={"x": 20, "y": 20})
    page.screenshot(f"{name}-selected")
    view.get_by_role("combobox", name="colour by").select_option("kind")
    view.get_by_role("radio", name="Everything").click()
    page.screenshot(f"{name}-training")
    assert not page.contrast_faults()
