"""The pruning view where people use it: stepped through, a node protected, proved, measured; and without a kernel."""

from typing import Any

import pytest

from tests.browser.notebook_page import NotebookPage

pytestmark = pytest.mark.browser

PROGRAM = """\
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 10], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
hidden = tf.check_numerics(tf.layers.dense(x, 8, activation=tf.nn.relu, name="hidden"), "bad", name="check")
output = tf.layers.dense(hidden, 1, name="output")
loss = tf.reduce_mean(tf.square(output - y), name="loss")
train = tf.train.AdamOptimizer(0.1).minimize(loss)
sess = tf.Session()
_ = sess.run(tf.global_variables_initializer())
"""
CELLS = ["%load_ext tfsandbox\n%tensorflow_version 1.x", PROGRAM, "view = %tf_prune\nview"]


def box(view: Any, name: str) -> Any:
    return view.locator(f'.tfs-n[aria-label^="{name},"]')


def slide(view: Any, step: int) -> None:
    view.get_by_role("group", name="steps").get_by_role("slider").fill(str(step))


def act(page: NotebookPage, picture: str) -> None:
    """All that the view is for, in a page with a kernel."""
    view = page.view()
    status = view.locator(".tfs-status")
    page.until(lambda: not view.get_by_role("button", name="Prove it").is_disabled(), what="the kernel")
    page.screenshot(f"{picture}-whole")

    # Rule by rule.
    check = box(view, "check")
    assert "tfs-is-gone" in check.get_attribute("class")
    assert "only checks hidden/Relu" in check.get_attribute("aria-label")
    slide(view, 0)
    assert "tfs-is-gone" not in check.get_attribute("class")
    assert "nothing removed yet" in view.get_by_role("group", name="steps").locator("output").inner_text()
    view.get_by_role("button", name="one step on").click()
    page.until(lambda: page.python("view.live.state").get("step") == 1, what="Python to know the step")
    assert "optimizer takes" in view.get_by_role("group", name="steps").locator("output").inner_text()
    view.locator(".tfs-rule", has_text="check").click()
    assert "tfs-is-going" in check.get_attribute("class")
    page.screenshot(f"{picture}-step")

    # TensorFlow's own.
    view.get_by_role("radio", name="TensorFlow 1.15").click()
    assert "TF" in check.text_content() and "tfs-is-gone" not in box(view, "Adam").get_attribute("class")
    view.get_by_role("radio", name="All rules").click()

    # The proof.
    view.get_by_role("button", name="Prove it").click()
    page.until(lambda: "bit-identical" in status.inner_text(), what="the proof")
    assert "1 of 1 outputs are bit-identical" in status.inner_text()
    assert view.locator(".tfs-proof").get_by_text("✓ identical").count() == 1
    assert "the session's values" in view.locator(".tfs-panel").inner_text()
    view.get_by_role("button", name="Measure").click()
    page.until(lambda: "Medians of" in status.inner_text(), what="times")
    assert "time of a run" in view.locator(".tfs-panel").inner_text()
    page.screenshot(f"{picture}-proof")

    # A node is protected by a click: Python plans again.
    before = page.python("sum(step.keep for step in view.steps)")
    view.get_by_role("button", name="Protect by clicking").click()
    fill = box(view, "Fill")
    if view.bounding_box()["width"] > 620:
        box(view, "gradients").locator(".tfs-sign").first.click()
        fill.wait_for()
        page.page.wait_for_timeout(400)
        fill.locator(".tfs-b").first.click()
    else:  # nothing to hit: the boxes are small until one is looked for
        view.get_by_role("combobox", name="search").fill("gradients/fill")
        view.get_by_role("combobox", name="search").press("Enter")
    page.until(lambda: page.python("view.protected") == ["gradients/Fill"], what="the node to be protected")
    page.until(lambda: "is protected" in status.inner_text(), what="the page to say so")
    assert page.python("sum(step.keep for step in view.steps)") > before
    assert page.python("view.selected") == ["gradients/Fill"]
    assert "stays: protected" in view.locator(".tfs-fate").inner_text()
    assert "tfs-is-gone" not in fill.get_attribute("class")
    page.screenshot(f"{picture}-protected")
    view.locator(".tfs-close").click()
    assert "protected_nodes=['gradients/Fill']" in view.locator(".tfs-panel pre").inner_text()
    assert not [error for error in page.errors if "notebook_core" not in error]  # Notebook 7 has one of its own


@pytest.mark.parametrize("width, dark", [(1280, False), (1280, True), (400, False), (400, True)])
def test_lab(lab: Any, width: int, dark: bool) -> None:
    page = lab(CELLS, width=width, dark=dark)
    page.run_all()
    act(page, f"prune-lab-{width}-{'dark' if dark else 'light'}")


def test_notebook7(notebook7: Any) -> None:
    page = notebook7(CELLS)
    page.run_all()
    act(page, "prune-notebook7")


def test_reopened_without_a_kernel(lab: Any) -> None:
    page = lab(CELLS)
    page.run_all()
    page.view()
    page.save()
    page.shut_down()
    page.open()
    view = page.view()
    slide(view, 0)
    assert "tfs-is-gone" not in box(view, "check").get_attribute("class")
    slide(view, 5)
    assert "tfs-is-gone" in box(view, "check").get_attribute("class")
    page.until(lambda: view.get_by_role("button", name="Prove it").is_disabled(), what="no kernel to be known")
    assert "kernel" in view.get_by_role("button", name="Prove it").get_attribute("title")
    assert not [error for error in page.errors if "notebook_core" not in error]  # Notebook 7 has one of its own
