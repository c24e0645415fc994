"""The code view where people use it: lines light nodes, nodes light lines; and without a kernel."""

import re
from typing import Any

import pytest

from tests.browser.notebook_page import Page

pytestmark = pytest.mark.browser

PROGRAM = """\
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 10], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
output = tf.layers.dense(x, 1, name="output")
loss = tf.reduce_mean(tf.square(output - y), name="loss")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
"""
CELLS = ["%load_ext tfsandbox\n%tensorflow_version 1.x", PROGRAM, "view = %tf_code train loss\nview"]


def box(view: Any, name: str) -> Any:
    return view.locator(f'.tfs-n[aria-label^="{name},"]')


def look_through(page: Page, picture: str) -> Any:
    """What a reader does without a kernel, too. Gives the line that stays lit."""
    view = page.view()
    said = view.locator(".tfs-said")
    page.screenshot(f"{picture}-whole")
    # A line lights its node.
    line = view.locator(".tfs-row", has_text=re.compile(r"# Square$")).first
    line.locator("span").first.hover()
    assert "computes Square." in said.inner_text()
    assert "tfs-is-lit" in box(view, "Square").get_attribute("class")
    assert "tfs-is-dim" in box(view, "y").get_attribute("class")
    page.screenshot(f"{picture}-line")
    # A node lights its line; what is fed is a parameter.
    view.locator(".tfs-toolbar").hover()
    box(view, "Square").locator(".tfs-b").first.hover()
    page.until(lambda: "Square is computed in line" in said.inner_text(), what="the node's lines")
    assert "tfs-on-line" in line.get_attribute("class")
    box(view, "x").locator(".tfs-b").first.click()
    assert "tfs-on-line" in view.locator(".tfs-row", has_text="def run").get_attribute("class")
    # A node without a line says why.
    box(view, "Const").locator(".tfs-b").first.click()
    assert "Const has no line of its own: constant" in said.inner_text()
    page.screenshot(f"{picture}-node")
    # A click keeps a line lit.
    line.locator("span").first.click()
    view.locator(".tfs-toolbar").hover()
    assert view.locator(".tfs-row.tfs-on-line").all_inner_texts() == [line.inner_text()]
    return line


@pytest.mark.parametrize("width, dark", [(1280, False), (1280, True), (400, False), (400, True)])
def test_lab(lab: Any, width: int, dark: bool) -> None:
    page = lab(CELLS, width=width, dark=dark)
    page.run_all()
    view = page.view()
    page.until(lambda: page.page.locator(".tfs-row").count(), what="the program")
    line = look_through(page, f"code-lab-{width}-{'dark' if dark else 'light'}")
    # The keyboard goes from line to line, and keeps one.
    line.press("ArrowDown")
    below = view.locator(".tfs-row").nth(int(line.get_attribute("data-number")))
    page.until(lambda: below.get_attribute("tabindex") == "0", what="the next line to be the one for the keys")
    below.press("Enter")
    assert view.locator(".tfs-row.tfs-on-line").all_inner_texts() == [below.inner_text()]
    kept = int(view.locator(".tfs-row.tfs-on-line").get_attribute("data-number"))
    page.until(lambda: page.python("view.live.state").get("line") == kept, what="Python to know the line")
    page.python("setattr(view, 'selected', 'loss')")
    page.until(lambda: "loss is computed in line" in view.locator(".tfs-said").inner_text(), what="Python's choice")
    assert not page.errors


def test_notebook7_and_without_a_kernel(notebook7: Any) -> None:
    page = notebook7(CELLS)
    page.run_all()
    page.view()
    page.save()
    page.shut_down()
    page.open()
    look_through(page, "code-notebook7")
