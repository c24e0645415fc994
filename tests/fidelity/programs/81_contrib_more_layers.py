# tf.contrib.layers: convolutions of other ranks and layouts, norms within an example, maxout, embeddings, end points.
import functools
import tensorflow as tf
import tensorflow.contrib.slim as slim
import numpy as np

layers = tf.contrib.layers
tf.set_random_seed(81)
rng = np.random.RandomState(9)
x = tf.placeholder(tf.float32, [None, 4], name="x")
sequence = tf.placeholder(tf.float32, [2, 7, 3], name="sequence")
images = tf.placeholder(tf.float32, [None, 6, 6, 4], name="images")
volume = tf.placeholder(tf.float32, [1, 4, 4, 4, 2], name="volume")
training = tf.placeholder(tf.bool, name="training")
ids = tf.placeholder(tf.int32, [2, 3], name="ids")
feed = {x: rng.uniform(-1.0, 1.0, (3, 4)), sequence: rng.uniform(-1.0, 1.0, (2, 7, 3)),
        images: rng.uniform(-1.0, 1.0, (2, 6, 6, 4)), volume: rng.uniform(-1.0, 1.0, (1, 4, 4, 4, 2)),
        training: True, ids: [[0, 2, 2], [1, 0, 4]]}
narrow = functools.partial(layers.fully_connected, num_outputs=2)

with slim.arg_scope([slim.conv2d, slim.max_pool2d, slim.avg_pool2d, slim.conv2d_transpose], padding="VALID",
                    outputs_collections=["points"]):
    outputs = [
        ("conv1d", layers.conv1d(sequence, 2, 3, stride=2, rate=1)),
        ("conv1d dilated", layers.conv1d(sequence, 2, 3, rate=2, padding="VALID", biases_initializer=None)),
        ("conv3d", layers.conv3d(volume, 2, [2, 2, 1])),
        ("conv3d transpose", layers.conv3d_transpose(volume, 2, 2, stride=2, activation_fn=None)),
        ("convolution", layers.convolution(images, 2, 2, normalizer_fn=slim.batch_norm,
                                           normalizer_params={"is_training": training, "decay": 0.7})),
        ("valid", slim.conv2d(images, 3, 3)),
        ("valid same", slim.conv2d(images, 3, 3, padding="SAME", trainable=False, scope="same")),
        ("up", slim.conv2d_transpose(images, 2, 2, stride=2, biases_initializer=None)),
        ("pool", slim.max_pool2d(images, 2, stride=1)), ("mean", slim.avg_pool2d(images, [3, 2], scope="mean")),
        ("plane", layers.conv2d_in_plane(images, 2, activation_fn=tf.sigmoid)),
        ("separable norm", slim.separable_conv2d(images, 2, [3, 2], stride=2, normalizer_fn=slim.batch_norm,
                                                 weights_regularizer=slim.l2_regularizer(0.1))),
        ("depthwise norm", slim.separable_conv2d(images, None, 2, 1, normalizer_fn=slim.layer_norm, rate=2)),
        ("any pool", slim.pool(images, [2, 3], "AVG", stride=[1, 2])),
        ("max pool 3d", layers.max_pool3d(volume, 2)), ("avg pool 3d", layers.avg_pool3d(volume, [1, 2, 2], 1)),
    ]
outputs += [
    ("group", layers.group_norm(images, groups=2)),
    ("group first", layers.group_norm(images, groups=3, channels_axis=-3, reduction_axes=(-2, -1),
                                      center=False, activation_fn=tf.nn.relu)),
    ("group mean", layers.group_norm(images, groups=4, mean_close_to_zero=True, scale=False, trainable=False)),
    ("instance", layers.instance_norm(images)),
    ("instance first", layers.instance_norm(images, data_format="NCHW", epsilon=0.01,
                                            param_initializers={"beta": tf.ones_initializer()})),
    ("layer", layers.layer_norm(images, begin_norm_axis=-1, scale=False)),
    ("layer params", layers.layer_norm(images, begin_params_axis=-2, activation_fn=tf.tanh)),
    ("maxout", layers.maxout(x, 2)), ("maxout images", layers.maxout(images, 3, axis=1)),
    ("unit", layers.unit_norm(sequence, 0)), ("unit last", layers.unit_norm(sequence, 2, epsilon=0.1)),
    ("softmax", layers.softmax(sequence)), ("flat", layers.flatten(sequence, outputs_collections="points")),
    ("hot", layers.one_hot_encoding(tf.constant([2, 0], tf.int64), 3, on_value=2.0, off_value=-1.0)),
    ("dropped", layers.dropout(x, 0.5, is_training=training, seed=4, noise_shape=[None, 1])),
    ("bias", layers.bias_add(images, activation_fn=tf.nn.relu, initializer=tf.ones_initializer(),
                             regularizer=slim.l1_regularizer(0.1))),
    ("elu", layers.elu(x, 2)), ("relu6", layers.relu6(sequence, 2)),
    ("legacy", layers.legacy_fully_connected(x, 2, activation_fn=tf.tanh, weight_regularizer=slim.l2_regularizer(0.2))),
    ("legacy relu", layers.legacy_relu(sequence, 2, name="old")),
    ("stack", layers.stack(images, slim.conv2d, [(2, 1), (3, [2, 2], 2)])),
    ("stack partial", layers.stack(x, layers.relu, [3, 2], scope="stacked", weights_regularizer=None)),
    ("repeat", slim.repeat(x, 2, narrow)),
    ("embedded", layers.embed_sequence(ids, 5, 3, scope="words")),
    ("embedded again", layers.embed_sequence(ids, 5, 3, scope="words", reuse=True, unique=True)),
    ("bag", layers.bow_encoder(ids, 5, 2)),
]
total = tf.add_n([tf.reduce_mean(tf.square(t)) for _, t in outputs])
gradients = tf.gradients(total, [x, sequence, images, volume])
for collection in ("points", tf.GraphKeys.WEIGHTS, tf.GraphKeys.BIASES, tf.GraphKeys.ACTIVATIONS,
                   tf.GraphKeys.REGULARIZATION_LOSSES):
    print(collection, slim.utils.gather_tensors_aliases(tf.get_collection(collection)))
for variable in tf.global_variables():
    print("variable", variable.op.name, variable.shape, variable in tf.trainable_variables(),
          variable in tf.model_variables())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for name, tensor in outputs:
        value = sess.run(tensor, feed)
        print(name, tensor.op.name, tensor.shape, np.abs(value).sum(), "squares", np.square(value).sum())
    feed[training] = False
    print("total", sess.run(total, feed))
    print("gradients", [str(np.square(g).sum()) for g in sess.run(gradients, feed)])
