"""Two training steps, each as a TensorFlow 1 program and as numpy written by hand.

A `Step` is a function that takes one step and one that tells the loss now. Both sides start from the same weights
and see the same batch, so their losses can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Step(NamedTuple):
    """One training step of one side."""

    run: Callable[[], Any]
    loss: Callable[[], float]


def line_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs [100, 10], targets [100, 1] and first weights [10, 1]."""
    rng = np.random.RandomState(0)
    x = rng.randn(100, 10).astype(np.float32)
    return x, (x @ rng.randn(10, 1) + 0.5).astype(np.float32), rng.randn(10, 1).astype(np.float32)


def line_in_tensorflow(tf: Any) -> Step:
    """The second document's step: 10 -> 1, mean squared error, gradient descent."""
    data_x, data_y, first_w = line_data()
    x = tf.placeholder(tf.float32, shape=(None, 10), name="x")
    y = tf.placeholder(tf.float32, shape=(None, 1), name="y")
    w = tf.Variable(first_w, name="w")
    b = tf.Variable(tf.constant(0.0, shape=[1]), name="b")
    output = tf.matmul(x, w) + b
    loss = tf.reduce_mean(tf.square(output - y))
    train = tf.train.GradientDescentOptimizer(learning_rate=0.01).minimize(loss)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    feed = {x: data_x, y: data_y}
    return Step(lambda: sess.run(train, feed_dict=feed), lambda: float(sess.run(loss, feed_dict=feed)))


def line_in_numpy() -> Step:
    """The same step by hand."""
    x, y, w = line_data()
    b = np.zeros(1, np.float32)
    rate = np.float32(0.01)

    def run() -> None:
        error = x @ w
        error += b
        error -= y
        error *= np.float32(2.0 / len(x))
        gradient_w = x.T @ error
        gradient_b = error.sum(axis=0)
        w[...] -= rate * gradient_w
        b[...] -= rate * gradient_b

    def loss() -> float:
        return float(np.mean(np.square(x @ w + b - y)))
    return Step(run, loss)


def net_data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Inputs [100, 10], labels [100], first weights [10, 20] and [20, 2]."""
    rng = np.random.RandomState(1)
    x = rng.randn(100, 10).astype(np.float32)
    labels = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
    return (x, labels, (0.3 * rng.randn(10, 20)).astype(np.float32), (0.3 * rng.randn(20, 2)).astype(np.float32))


L2 = 0.01
RATE, BETA1, BETA2, EPSILON = 0.001, 0.9, 0.999, 1e-8
MOMENTUM, BN_EPSILON = 0.99, 1e-3


def net_in_tensorflow(tf: Any) -> Step:
    """10 -> 20 (batch norm, relu) -> 2, softmax cross entropy, L2 on the weights, Adam."""
    data_x, data_labels, first_w1, first_w2 = net_data()
    x = tf.placeholder(tf.float32, [None, 10], name="x")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    regularizer = lambda v: L2 * tf.nn.l2_loss(v)
    hidden = tf.layers.dense(x, 20, use_bias=False, kernel_initializer=tf.constant_initializer(first_w1),
                             kernel_regularizer=regularizer)
    hidden = tf.nn.relu(tf.layers.batch_normalization(hidden, training=True, momentum=MOMENTUM, epsilon=BN_EPSILON))
    logits = tf.layers.dense(hidden, 2, kernel_initializer=tf.constant_initializer(first_w2),
                             kernel_regularizer=regularizer)
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.AdamOptimizer(RATE, BETA1, BETA2, EPSILON).minimize(loss)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    feed = {x: data_x, labels: data_labels}
    return Step(lambda: sess.run(train, feed_dict=feed), lambda: float(sess.run(loss, feed_dict=feed)))


def net_in_numpy() -> Step:
    """The same step by hand."""
    f = np.float32
    x, labels, w1, w2 = net_data()
    n = len(x)
    rows = np.arange(n)
    gamma, beta, b2 = np.ones(20, f), np.zeros(20, f), np.zeros(2, f)
    moving_mean, moving_variance = np.zeros(20, f), np.ones(20, f)
    weights = [w1, gamma, beta, w2, b2]
    moments1, moments2 = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    powers = [f(BETA1), f(BETA2)]

    def forward() -> tuple[Any, ...]:
        z = x @ w1
        mean = z.mean(axis=0)
        centered = z - mean
        variance = np.square(centered).mean(axis=0)
        scale = 1 / np.sqrt(variance + f(BN_EPSILON))
        normal = centered * scale
        hidden = np.maximum(normal * gamma + beta, 0)
        logits = hidden @ w2 + b2
        shifted = logits - logits.max(axis=1, keepdims=True)
        exps = np.exp(shifted)
        sums = exps.sum(axis=1, keepdims=True)
        return mean, variance, scale, normal, hidden, shifted, exps, sums

    def run() -> None:
        mean, variance, scale, normal, hidden, _, exps, sums = forward()
        moving_mean[...] -= f(1 - MOMENTUM) * (moving_mean - mean)
        moving_variance[...] -= f(1 - MOMENTUM) * (moving_variance - variance)
        d_logits = exps / sums
        d_logits[rows, labels] -= 1
        d_logits *= f(1 / n)
        d_w2 = hidden.T @ d_logits + f(L2) * w2
        d_b2 = d_logits.sum(axis=0)
        d_scaled = d_logits @ w2.T
        d_scaled *= hidden > 0
        d_gamma = (d_scaled * normal).sum(axis=0)
        d_beta = d_scaled.sum(axis=0)
        d_normal = d_scaled * gamma
        d_z = scale * (d_normal - d_normal.mean(axis=0) - normal * (d_normal * normal).mean(axis=0))
        d_w1 = x.T @ d_z + f(L2) * w1
        rate = f(RATE) * np.sqrt(1 - powers[1]) / (1 - powers[0])
        for w, m, v, g in zip(weights, moments1, moments2, (d_w1, d_gamma, d_beta, d_w2, d_b2)):
            m += (g - m) * f(1 - BETA1)
            v += (np.square(g) - v) * f(1 - BETA2)
            w -= rate * m / (np.sqrt(v) + f(EPSILON))
        powers[0] *= f(BETA1)
        powers[1] *= f(BETA2)

    def loss() -> float:
        *_, shifted, _, sums = forward()
        cross = np.log(sums[:, 0]) - shifted[rows, labels]
        return float(cross.mean() + L2 * 0.5 * (np.square(w1).sum() + np.square(w2).sum()))
    return Step(run, loss)


STEPS = {
    "line: 10 -> 1, batch 100, gradient descent": (line_in_tensorflow, line_in_numpy),
    "net: 10 -> 20 -> 2, batch norm, L2, batch 100, Adam": (net_in_tensorflow, net_in_numpy),
}
