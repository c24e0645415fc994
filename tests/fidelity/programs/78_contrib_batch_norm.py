# tf.contrib.layers.batch_norm in all its forms: fused and not, updates now or later, training decided in the run.
import tensorflow as tf
import numpy as np

layers = tf.contrib.layers
tf.set_random_seed(78)
rng = np.random.RandomState(8)
x = tf.placeholder(tf.float32, [None, 3], name="x")
images = tf.placeholder(tf.float32, [4, 5, 5, 2], name="images")
cube = tf.placeholder(tf.float32, [None, 4, 3], name="cube")
channels = tf.placeholder(tf.float32, [2, 2, 3], name="channels")
training = tf.placeholder(tf.bool, name="training")
weights = tf.constant([1.0, 0.0, 2.0, 1.0], name="weights")
feed = {x: rng.normal(2.0, 1.0, (4, 3)), images: rng.normal(1.0, 2.0, (4, 5, 5, 2)),
        cube: rng.normal(0.0, 1.0, (4, 4, 3)), channels: rng.normal(0.0, 1.0, (2, 2, 3)), training: True}
everywhere = {"beta": ["betas"], "gamma": ["gammas"], "moving_mean": ["means"], "moving_variance": ["means"]}
initial = {"beta": tf.constant_initializer(0.3), "gamma": tf.constant_initializer(1.5)}

made = [
    ("plain", layers.batch_norm(x)),
    ("scale", layers.batch_norm(x, scale=True, decay=0.9, variables_collections=everywhere,
                                outputs_collections="outputs", scope="scaled")),
    ("now", layers.batch_norm(x, updates_collections=None, decay=0.8, param_initializers=initial,
                              activation_fn=tf.nn.relu, scale=True)),
    ("run", layers.batch_norm(x, is_training=training, center=False)),
    ("run now", layers.batch_norm(x, is_training=training, updates_collections=None)),
    ("not training", layers.batch_norm(x, is_training=False, trainable=False)),
    ("images", layers.batch_norm(images, scale=True, epsilon=0.1)),
    ("images now", layers.batch_norm(images, updates_collections=None, is_training=training)),
    ("images other", layers.batch_norm(images, updates_collections="other", fused=True)),
    ("images unfused", layers.batch_norm(images, fused=False, scale=True)),
    ("unfused now", layers.batch_norm(x, fused=False, updates_collections=None, scale=True,
                                      param_regularizers={"beta": layers.l2_regularizer(0.1)},
                                      is_training=training)),
    ("unfused other", layers.batch_norm(x, fused=False, updates_collections="other", is_training=training)),
    ("cube", layers.batch_norm(cube, scale=True, is_training=training, scope="cube")),
    ("cube now", layers.batch_norm(cube, updates_collections=None)),
    ("cube other", layers.batch_norm(cube, updates_collections="other", is_training=False)),
    ("first", layers.batch_norm(channels, data_format="NCHW", updates_collections=None, scale=True)),
    ("weighted", layers.batch_norm(x, batch_weights=weights)),
    ("weighted now", layers.batch_norm(cube, batch_weights=weights, updates_collections=None, center=False)),
    ("debias", layers.batch_norm(x, zero_debias_moving_mean=True, decay=0.7)),
    ("debias unfused", layers.batch_norm(cube, zero_debias_moving_mean=True, updates_collections=None)),
    ("renorm", layers.batch_norm(x, renorm=True, renorm_decay=0.9,
                                 renorm_clipping={"rmax": 2.0, "rmin": 0.5, "dmax": 1.0})),
    ("shared", layers.batch_norm(x, scope="scaled", reuse=True, is_training=False, scale=True)),
]
total = tf.add_n([tf.reduce_mean(tf.square(t)) for _, t in made])
gradients = tf.gradients(total, [x, images, cube, channels])
for name in ("betas", "gammas", "means", "other", "outputs", tf.GraphKeys.UPDATE_OPS,
             tf.GraphKeys.REGULARIZATION_LOSSES):
    print(name, [item.name for item in tf.get_collection(name)])
print("model", [v.op.name for v in tf.model_variables()])
print("trainable", [v.op.name for v in tf.trainable_variables()])
updates = tf.group(*tf.get_collection(tf.GraphKeys.UPDATE_OPS) + tf.get_collection("other"))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(2):
        for name, tensor in made:
            value = sess.run(tensor, feed)
            print(name, tensor.op.name, tensor.shape, "sum", np.abs(value).sum(), "squares", np.square(value).sum())
        sess.run(updates, feed)
        print("moving", sum(np.square(sess.run(v)).sum() for v in tf.global_variables()))
    feed[training] = False
    for name, tensor in made:
        print(name, "later", np.square(sess.run(tensor, feed)).sum())
    print("gradients", [str(np.square(g).sum()) for g in sess.run(gradients, feed)])
