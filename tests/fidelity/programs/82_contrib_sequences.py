# tf.contrib.layers: images as sequences and back, sequences without their ends, the places of features.
import tensorflow as tf
import numpy as np

layers = tf.contrib.layers
rng = np.random.RandomState(4)
ids = tf.placeholder(tf.int64, [2, 3], name="ids")
images = tf.placeholder(tf.float32, [2, 4, 3, 2], name="images")
batch = tf.placeholder(tf.float32, [None, 4, 3, 2], name="batch")
feed = {ids: [[1, 0, 2], [0, 0, 5]], images: rng.uniform(-1.0, 1.0, (2, 4, 3, 2)),
        batch: rng.uniform(-1.0, 1.0, (2, 4, 3, 2))}

sparse = layers.dense_to_sparse(ids, eos_token=0, outputs_collections="noted")
sequence = layers.images_to_sequence(images, outputs_collections="noted")
of_batch = layers.images_to_sequence(batch)
tensors = [
    ("sparse", sparse.values), ("sequence", sequence), ("batch", of_batch),
    ("first", layers.images_to_sequence(images, data_format="NCHW")),
    ("images", layers.sequence_to_images(sequence, 4)),
    ("images first", layers.sequence_to_images(of_batch, 4, output_data_format="channels_first")),
    ("places", layers.spatial_softmax(images)),
    ("places warm", layers.spatial_softmax(images, temperature=2.0, name="warm")),
    ("places first", layers.spatial_softmax(images, data_format="NCHW", trainable=False)),
]
print("noted", [t.op.name for t in tf.get_collection("noted")])
print("trainable", [v.op.name for v in tf.trainable_variables()])
print("model", [v.op.name for v in tf.model_variables()])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for name, tensor in tensors:
        value = sess.run(tensor, feed)
        print(name, tensor.op.name, tensor.shape, "sum", np.abs(value).sum(), "first", value.ravel()[:2])
    print("back", np.array_equal(sess.run(tensors[4][1], feed), np.float32(feed[images])))
