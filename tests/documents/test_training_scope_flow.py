"""The third document's flow, looked at from inside: what its scope masks keeps every bit, its Adam slots too."""

from __future__ import annotations

import numpy as np

import tfsandbox as tf


def test_masked_variables_and_their_slots_hold_still_and_then_move_again() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, shape=[None, 10], name="x")
        y = tf.placeholder(tf.int32, shape=[None], name="y")
        with tf.contrib.framework.arg_scope(
                [tf.contrib.layers.fully_connected], activation_fn=tf.nn.relu,
                normalizer_fn=tf.layers.batch_normalization,
                weights_regularizer=tf.contrib.layers.l2_regularizer(scale=0.01)):
            hidden = tf.contrib.layers.fully_connected(x, 20)
            logits = tf.contrib.layers.fully_connected(hidden, 2, activation_fn=None)
        with tf.contrib.framework.arg_scope([tf.losses.sparse_softmax_cross_entropy], scope="Loss",
                                            reduction=tf.losses.Reduction.MEAN):
            loss = tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
        with tf.contrib.framework.arg_scope([tf.train.AdamOptimizer], learning_rate=0.001, beta1=0.9, beta2=0.999):
            optimizer = tf.train.AdamOptimizer().minimize(loss)
        rng = np.random.RandomState(0)

        def train(sess: tf.Session) -> None:
            sess.run(optimizer, feed_dict={x: rng.randn(100, 10), y: rng.randint(0, 2, 100)})

        def values(sess: tf.Session) -> dict[str, bytes]:
            return {v.op.name: np.asarray(sess.run(v)).tobytes() for v in tf.global_variables()}
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            train(sess)
            chosen = {"fully_connected/weights": tf.global_variables("fully_connected/weights"),
                      "fully_connected/biases": tf.global_variables("fully_connected/biases")}
            before = values(sess)
            with tf.contrib.framework.training_scope(trainable_variables=chosen) as scope:
                for _ in range(10):
                    train(sess)
                report = scope.report(sess)
            inside = values(sess)
            train(sess)
            after = values(sess)
        trained = [v.op.name for v in tf.trainable_variables()]
        named = [v.op.name for variables in chosen.values() for v in variables if v.op.name in trained]
        masked = [name for name in trained if name not in named]
        assert "fully_connected/weights" in named and len(masked) >= 4
        for name in masked:
            state = [key for key in before if key == name or key.startswith(name + "/Adam")]
            assert len(state) == 3, state
            for key in state:
                assert inside[key] == before[key], f"{key} moved inside the scope"
                assert after[key] != inside[key], f"{key} did not move outside the scope"
        assert inside["fully_connected/weights"] != before["fully_connected/weights"]
        assert report.moved == [name for name in trained if name in named]
