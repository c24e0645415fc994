# tf.contrib.losses: the old losses, with weights of every shape; activations and weights summarized.
import tensorflow as tf
import numpy as np

losses = tf.contrib.losses
layers = tf.contrib.layers
rng = np.random.RandomState(5)
predictions = tf.placeholder(tf.float32, [4, 3], name="predictions")
labels = tf.placeholder(tf.float32, [4, 3], name="labels")
unknown = tf.placeholder(tf.float32, [None, 3], name="unknown")
classes = tf.placeholder(tf.int64, [4, 1], name="classes")
feed = {predictions: rng.uniform(0.1, 0.9, (4, 3)), labels: [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]],
        unknown: rng.uniform(0.1, 0.9, (4, 3)), classes: [[0], [2], [1], [1]]}
weights = tf.constant([1.0, 0.0, 2.0, 0.5], name="weights")
matrix = tf.constant(rng.randint(0, 3, (4, 3)).astype("float32"), name="matrix")

made = [
    ("absolute", losses.absolute_difference(predictions, labels)),
    ("absolute weights", losses.absolute_difference(predictions, labels, weights)),
    ("squared", losses.mean_squared_error(predictions, labels, matrix, scope="squared")),
    ("squared unknown", losses.mean_squared_error(unknown, labels, 0.5)),
    ("squared column", losses.mean_squared_error(predictions, labels, tf.constant([[1.0], [2.0], [0.0], [1.0]]))),
    ("sigmoid", losses.sigmoid_cross_entropy(predictions, labels, label_smoothing=0.2)),
    ("softmax", losses.softmax_cross_entropy(predictions, labels, weights, label_smoothing=0.1)),
    ("softmax plain", losses.softmax_cross_entropy(predictions, labels, tf.placeholder_with_default(2.0, []))),
    ("sparse", losses.sparse_softmax_cross_entropy(predictions, classes, 0.0)),
    ("log", losses.log_loss(predictions, labels)),
    ("hinge", losses.hinge_loss(predictions, labels)),
    ("pairs", losses.mean_pairwise_squared_error(predictions, labels)),
    ("pairs weights", losses.mean_pairwise_squared_error(predictions, labels, weights)),
    ("cosine", losses.cosine_distance(predictions, labels, dim=1)),
    ("plain", losses.compute_weighted_loss(predictions, 3)),
]
print("losses", [t.op.name for t in losses.get_losses()])
print("some", [t.op.name for t in losses.get_losses("squared")])
losses.add_loss(made[0][1], "mine")
total = losses.get_total_loss(name="all")
gradient = tf.gradients(tf.add_n(losses.get_losses()[:12]), predictions)
hidden = layers.relu6(predictions, 2, weights_initializer=tf.constant_initializer(0.3),
                      variables_collections={"weights": [tf.GraphKeys.WEIGHTS], "biases": ["mine"]},
                      outputs_collections=[tf.GraphKeys.ACTIVATIONS])
layers.summarize_activation(tf.nn.relu(predictions, name="relu"))
print("summaries", [t.op.name for t in layers.summarize_activations()
                    + layers.summaries.summarize_weights() + layers.summarize_tensors([total, predictions])
                    + layers.summarize_collection("mine", name_filter="fully")])
print("mine", [t.op.name for t in tf.get_collection("mine")])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for name, loss in made:
        value = np.asarray(sess.run(loss, feed))
        print(name, loss.op.name, loss.shape, loss.dtype.name, value.sum())
    print("gradient", np.square(sess.run(gradient[0], feed)).sum())
for label, function in [
        ("rank", lambda: losses.compute_weighted_loss(tf.placeholder(tf.float32))),
        ("weights rank", lambda: losses.compute_weighted_loss(predictions, tf.placeholder(tf.float32))),
        ("shapes", lambda: losses.log_loss(predictions, classes)),
        ("axis", lambda: losses.cosine_distance(predictions, labels)),
        ("both", lambda: losses.cosine_distance(predictions, labels, axis=1, dim=1))]:
    try:
        function()
        print(label, "no error")
    except Exception as error:
        print(label, type(error).__name__, str(error).split("\n")[0])
