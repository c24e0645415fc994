"""The graph view where people use it."""

import pytest

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
CELLS = ["%load_ext tfsandbox\n%tensorflow_version 1.x", PROGRAM, "view = %tf_graph\nview"]


def test_try(lab):
    page = lab(CELLS)
    page.run_all()
    page.view()
    page.screenshot("lab")
    page.view().locator("[data-box]").first.click()
    page.until(lambda: page.python("view.selected"))
    print(page.python("view.selected"), page.errors)
    page.screenshot("lab2", whole=True)
