"""The scope mask where people use it: switched, trained, slid, set back; and without a kernel."""

from typing import Any

import pytest

from tests.browser.notebook_page import NotebookPage

pytestmark = pytest.mark.browser

PROGRAM = """\
import time
import numpy as np
import tensorflow as tf
tf.set_random_seed(1)
rng = np.random.RandomState(0)
x = tf.placeholder(tf.float32, [None, 10], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
hidden = tf.layers.dense(x, 20, activation=tf.nn.relu, name="hidden")
output = tf.layers.dense(hidden, 1, name="output")
loss = tf.reduce_mean(tf.square(output - y), name="loss")
train = tf.train.AdamOptimizer(0.02).minimize(loss)
data = rng.randn(64, 10)
batch = {x: data, y: data[:, :1] - data[:, 1:2] * data[:, 2:3]}
pause = [0]
def next_batch():
    time.sleep(pause[0])
    return batch
sess = tf.Session()
_ = sess.run(tf.global_variables_initializer())
with tf.contrib.framework.training_scope() as scope:
    pass
"""
CELLS = ["%load_ext tfsandbox\n%tensorflow_version 1.x", PROGRAM, "view = %tf_scope scope --feed next_batch()\nview"]


def row(view: Any, name: str) -> Any:
    return view.locator(f'tr[data-name="{name}"]')


def moved(view: Any, name: str) -> str:
    return str(row(view, name).locator(".tfs-moved").inner_text())


def act(page: NotebookPage, picture: str) -> None:
    """All that the view is for, in a page with a kernel."""
    view = page.view()
    status = view.locator(".tfs-status")
    one = view.get_by_role("button", name="1 step", exact=True)
    page.until(lambda: not one.is_disabled(), what="the kernel")
    page.screenshot(f"{picture}-first")
    assert "4 of 4" in view.locator("strong").inner_text()

    # A layer at once.
    view.get_by_role("checkbox", name="hidden/ trains").uncheck()
    page.until(lambda: page.python("scope.mask()") == {
        "hidden/kernel": False, "hidden/bias": False, "output/kernel": True, "output/bias": True}, what="the mask")
    page.until(lambda: "2 of 4 train now" in status.inner_text(), what="the status")
    assert "training_scope('output/')" in view.locator("pre").inner_text()

    # Ten steps: what trains has moved, what is frozen held still, with its slots.
    before = page.python("[float(v).hex() for v in sess.run(tf.trainable_variables('hidden'))[0].ravel()]")
    view.get_by_role("button", name="10 steps").click()
    page.until(lambda: "10 steps: 2 variables moved, 2 held still" in status.inner_text(), what="ten steps")
    assert page.python("[float(v).hex() for v in sess.run(tf.trainable_variables('hidden'))[0].ravel()]") == before
    for name in ("hidden/kernel", "hidden/kernel/Adam", "hidden/bias/Adam_1"):
        assert moved(view, name) == "held still"
    for name in ("output/kernel", "output/kernel/Adam"):
        assert float(moved(view, name)) > 0
    assert page.python("len(view.trainer.runs[-1].loss)") == 10

    # The values of one, before and after.
    row(view, "output/kernel").get_by_role("button").click()
    page.until(lambda: view.locator(".tfs-heat").count() == 3, what="three heat maps")
    assert page.python("view.selected") == ["output/kernel"]
    page.screenshot(f"{picture}-trained")

    # A modifier by the keys, and a regularizer: the mark is on the curve, the code says it.
    rate = view.get_by_role("slider", name="learning rate ×")
    rate.focus()
    for _ in range(25):
        page.page.keyboard.press("ArrowRight")
    page.until(lambda: page.python("scope.learning_rate_multiplier") == 10, what="the learning rate")
    view.get_by_label("regularizer").select_option("l2")
    page.until(lambda: page.python("scope.regularizer is not None"), what="the regularizer")
    page.until(lambda: "l2_regularizer(0.01)" in view.locator("pre").inner_text(), what="the code")
    assert "learning_rate_multiplier=10" in view.locator("pre").inner_text()
    view.get_by_role("button", name="10 steps").click()
    page.until(lambda: "10 steps: 2" in status.inner_text() and page.python("len(view.trainer.runs[-1].loss)") == 20)
    assert view.locator(".tfs-curve .tfs-mark").count() == 2

    # Back to the start: nothing has moved any more, and the next steps make a second curve.
    view.get_by_role("button", name="Back to the start").click()
    page.until(lambda: moved(view, "output/kernel") == "held still", what="the start")
    view.get_by_role("button", name="All", exact=True).click()
    page.until(lambda: page.python("all(scope.mask().values())"), what="all to train")
    one.click()
    page.until(lambda: "1 step: 4 variables moved" in status.inner_text(), what="one step")
    assert view.locator(".tfs-keys span", has_text="run 2").count() == 1

    # Stop.
    page.python("pause.__setitem__(0, 0.05)")
    view.get_by_role("button", name="100 steps").click()
    view.get_by_role("button", name="Stop").click()
    page.until(lambda: "Stopped after" in status.inner_text(), what="the stop")
    assert 1 < page.python("view.trainer.runs[-1].steps") < 60
    page.python("pause.__setitem__(0, 0)")
    view.get_by_role("button", name="100 steps").click()
    page.until(lambda: "100 steps" in status.inner_text(), what="a hundred steps")
    page.screenshot(f"{picture}-runs")

    # What a cell has changed is seen when the reader comes back.
    page.python("scope.change(trainable_variables='hidden')")
    page.page.mouse.move(1, 1)
    page.page.wait_for_timeout(2100)
    view.locator("strong").hover()
    page.until(lambda: "2 of 4" in view.locator("strong").inner_text(), what="the new mask")
    assert not page.errors


def test_in_lab(lab):
    page = lab(CELLS)
    page.run_all()
    act(page, "scope-lab")


def test_in_notebook_7(notebook7):
    page = notebook7(CELLS)
    page.run_all()
    view = page.view()
    page.until(lambda: not view.get_by_role("button", name="1 step", exact=True).is_disabled(), what="the kernel")
    view.get_by_role("checkbox", name="hidden/bias trains").uncheck()
    page.until(lambda: page.python("scope.mask()['hidden/bias']") is False, what="the mask")
    view.get_by_role("button", name="10 steps").click()
    page.until(lambda: "3 variables moved, 1 held still" in view.locator(".tfs-status").inner_text(), what="ten steps")
    assert not [error for error in page.errors if "tfsandbox" in error]


def test_without_a_kernel(lab):
    page = lab(CELLS)
    page.run_all()
    page.view()
    page.save()
    page.shut_down()
    page.page.reload()
    view = page.view()
    box = view.get_by_role("checkbox", name="hidden/kernel trains")
    assert box.is_disabled() and "kernel" in box.get_attribute("title")
    assert view.get_by_role("button", name="10 steps").is_disabled()
    view.get_by_role("button", name="close hidden/").click()
    assert row(view, "hidden/kernel").count() == 0
    view.get_by_role("button", name="open hidden/").click()
    assert row(view, "hidden/kernel").count() == 1
    row(view, "hidden/kernel").get_by_role("button").click()
    assert "hidden/kernel" in view.locator(".tfs-value").inner_text()
    assert not page.errors


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1280, True), (400, True)])
def test_pictures(lab, width, dark):
    page = lab(CELLS, width, dark)
    page.run_all()
    view = page.view()
    ten = view.get_by_role("button", name="10 steps")
    page.until(lambda: not ten.is_disabled(), what="the kernel")
    view.get_by_role("checkbox", name="output/ trains").uncheck()
    page.until(lambda: page.python("sum(scope.mask().values())") == 2, what="the mask")
    ten.click()
    page.until(lambda: "10 steps" in view.locator(".tfs-status").inner_text(), what="ten steps")
    row(view, "hidden/kernel").get_by_role("button").click()
    page.until(lambda: view.locator(".tfs-heat").count() == 3, what="the values")
    page.screenshot(f"scope-{width}-{'dark' if dark else 'light'}")
    assert view.evaluate("view => view.scrollWidth <= view.clientWidth + 1")


def program_view():
    """The same program, here."""
    import tfsandbox as tf
    from tfsandbox.notebook import engine_records

    with tf.Graph().as_default() as graph:
        hidden = tf.layers.dense(tf.placeholder(tf.float32, [None, 10]), 20, name="hidden")
        loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1, name="output")))
        tf.train.AdamOptimizer(0.02).minimize(loss)
        return engine_records.scope_view(None, None, graph)


def test_a_saved_page(page_of):
    page = page_of(program_view())
    view = page.view()
    view.get_by_role("button", name="close output/").click()
    assert row(view, "output/kernel").count() == 0
    view.get_by_role("button", name="Slots").click()
    assert view.locator(".tfs-slot-row").count() == 0
    assert "training_scope()" in view.locator("pre").inner_text()
    # By the keys alone.
    view.get_by_role("button", name="open output/").focus()
    page.page.keyboard.press("ArrowRight")
    assert row(view, "output/kernel").count() == 1
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    assert view.locator('tr[aria-selected="true"]').get_attribute("data-name") == "output/kernel"
    assert not page.errors and len(page.requests) == 1
