# tf.contrib.training and slim.learning: train ops, clipped and multiplied gradients; losses, optimize_loss.
import tensorflow as tf
import tensorflow.contrib.slim as slim
import numpy as np

training = tf.contrib.training
tf.set_random_seed(79)
rng = np.random.RandomState(3)
x = tf.placeholder(tf.float32, [None, 4], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
ids = tf.placeholder(tf.int32, [None], name="ids")
feed = {x: rng.uniform(-1.0, 1.0, (8, 4)), y: rng.uniform(-1.0, 1.0, (8, 1)),
        ids: [0, 2, 1, 1, 0, 3, 3, 2]}

hidden = slim.fully_connected(x, 3, activation_fn=tf.tanh, scope="hidden",
                              weights_regularizer=slim.l2_regularizer(0.05))
table = slim.model_variable("table", [4, 3], initializer=tf.constant_initializer(0.3))
hidden += tf.gather(table, ids)
output = slim.fully_connected(hidden, 1, activation_fn=None, scope="output")
counter = slim.local_variable(0.0, name="counter")
tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(counter, 1.0))
loss = slim.losses.mean_squared_error(output, y)
total = slim.losses.get_total_loss()
print("losses", [t.op.name for t in slim.losses.get_losses()],
      [t.op.name for t in slim.losses.get_regularization_losses()])

ops = [
    ("training", training.create_train_op(
        total, tf.train.GradientDescentOptimizer(0.1), summarize_gradients=True,
        transform_grads_fn=training.clip_gradient_norms_fn(0.2))),
    ("some", training.create_train_op(
        total, tf.train.AdagradOptimizer(0.1), global_step=None,
        variables_to_train=slim.get_variables("output"), check_numerics=False)),
    ("slim", slim.learning.create_train_op(
        total, tf.train.MomentumOptimizer(0.1, 0.9), clip_gradient_norm=0.3,
        gradient_multipliers={"output/weights": 0.5, table: tf.constant(2.0)},
        summarize_gradients=True, update_ops=[])),
]
gradients = tf.train.GradientDescentOptimizer(0.1).compute_gradients(total)
multiplied = training.multiply_gradients(gradients, {table: 0.5})
clipped = training.clip_gradient_norms(multiplied, 0.01)
print("clipped", [(type(g).__name__, v.op.name) for g, v in clipped])
step = tf.train.get_or_create_global_step()
layers = tf.contrib.layers
ops += [
    ("optimize", layers.optimize_loss(total, step, 0.1, "SGD")),
    ("optimize adam", layers.optimize_loss(
        total, step, 0.05, "Adam", clip_gradients=0.5, name="adam",
        gradient_multipliers={"output/weights": 0.1},
        learning_rate_decay_fn=lambda rate, step: tf.train.exponential_decay(rate, step, 2, 0.5),
        summaries=["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"])),
    ("optimize function", layers.optimize_loss(
        total, step, None, lambda: tf.train.GradientDescentOptimizer(0.01), summaries=[],
        update_ops=[], variables=slim.get_trainable_variables("hidden"), increment_global_step=False,
        name="function")),
    ("optimize noise", layers.optimize_loss(
        total, step, 0.1, tf.train.GradientDescentOptimizer, gradient_noise_scale=1e-6,
        summaries=["loss"], name="noise",
        variables=slim.get_trainable_variables("hidden"))),
    ("optimize adaptive", layers.optimize_loss(
        total, step, tf.constant(0.1), tf.train.GradientDescentOptimizer(0.2),
        variables=slim.get_trainable_variables("output"),
        clip_gradients=slim.adaptive_clipping_fn(name="clip"), name="adaptive")),
]
print("summaries", [t.op.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)])
print("train ops", [t.name for t in tf.get_collection(tf.GraphKeys.TRAIN_OP)])
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    for name, op in ops:
        for _ in range(2):
            print(name, op.name, sess.run(op, feed), "step", sess.run(step))
    print("total", sess.run(total, feed), sess.run(loss, feed))
    print("counter", sess.run(counter))
    print("table", sess.run(table).ravel())
