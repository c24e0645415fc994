"""Small programs whose graphs are pruned in the tests, written for TensorFlow 1.15 (`record_graphs.py` builds them).

Each function builds one graph in the default graph. What it makes `with training():` is made for training only, and
goes; `stays` gives patterns of names that stay all the same, `goes` of names made elsewhere that go too, and `may_go`
of those that are left to the pruning.
"""

import contextlib

import tensorflow as tf

MODELS = {}
RECORD = {}


def model(function):
    MODELS[function.__name__] = function
    return function


@contextlib.contextmanager
def training():
    graph = tf.get_default_graph()
    before = {op.name for op in graph.get_operations()}
    yield
    made = [op.name for op in graph.get_operations() if op.name not in before]
    RECORD.setdefault("training", []).extend(made)


def stays(*patterns):
    RECORD.setdefault("stays", []).extend(patterns)


def goes(*patterns):
    RECORD.setdefault("goes", []).extend(patterns)


def may_go(*patterns):
    RECORD.setdefault("may_go", []).extend(patterns)


def data():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    return x, y


def linear(name="w"):
    x, y = data()
    w = tf.Variable(tf.random_normal([3, 1], seed=1), name=name)
    b = tf.Variable(tf.zeros([1]), name="b")
    output = tf.add(tf.matmul(x, w), b, name="output")
    return output, y


def squared(output, y):
    return tf.reduce_mean(tf.square(output - y), name="loss")


def saver(**kwargs):
    return tf.train.Saver(**kwargs)


def init():
    tf.global_variables_initializer()


@model
def document():
    output, y = linear()
    loss = tf.reduce_mean(tf.square(output - y))
    with training():
        tf.train.GradientDescentOptimizer(learning_rate=0.1).minimize(loss)
    saver()
    init()


def one_optimizer(make):
    output, y = linear()
    loss = squared(output, y)
    with training():
        make().minimize(loss)
    saver()
    init()


OPTIMIZERS = {
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "rmsprop_centered": lambda: tf.train.RMSPropOptimizer(0.1, centered=True),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l2_regularization_strength=0.1),
    "proximal": lambda: tf.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.1),
    "proximal_adagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1),
    "adamax": lambda: tf.contrib.opt.AdaMaxOptimizer(0.1),
    "nadam": lambda: tf.contrib.opt.NadamOptimizer(0.1),
    "addsign": lambda: tf.contrib.opt.AddSignOptimizer(0.1),
    "powersign": lambda: tf.contrib.opt.PowerSignOptimizer(0.1),
    "lars": lambda: tf.contrib.opt.LARSOptimizer(0.1),
    "lazyadam": lambda: tf.contrib.opt.LazyAdamOptimizer(0.1),
    "adamw": lambda: tf.contrib.opt.AdamWOptimizer(0.01, 0.1),
}
for _name, _make in OPTIMIZERS.items():
    MODELS["dense_" + _name] = lambda make=_make: one_optimizer(make)


@model
def dense_adagrad_da():
    output, y = linear()
    step = tf.train.create_global_step()
    loss = squared(output, y)
    with training():
        tf.train.AdagradDAOptimizer(0.1, step).minimize(loss, global_step=step)
    saver()
    init()


def embedding(make):
    ids = tf.placeholder(tf.int32, [None], name="ids")
    y = tf.placeholder(tf.float32, [None, 2], name="y")
    table = tf.get_variable("table", [7, 2], initializer=tf.random_normal_initializer(seed=1))
    w = tf.get_variable("w", [2, 2], initializer=tf.random_normal_initializer(seed=2))
    rows = tf.nn.embedding_lookup(table, ids)
    output = tf.matmul(rows, w, name="output")
    loss = squared(output, y)
    with training():
        make().minimize(loss)
    saver()
    init()


for _name in ("momentum", "nesterov", "adagrad", "adadelta", "adam", "rmsprop", "ftrl", "proximal_adagrad",
              "lazyadam", "adamax", "nadam"):
    MODELS["sparse_" + _name] = lambda make=OPTIMIZERS[_name]: embedding(make)
MODELS["sparse_sgd"] = lambda: embedding(lambda: tf.train.GradientDescentOptimizer(0.1))


@model
def sparse_only_adam():
    """No Apply op at all: the update is Assign, ScatterAdd and AssignSub."""
    ids = tf.placeholder(tf.int32, [None], name="ids")
    table = tf.get_variable("table", [7, 2], initializer=tf.random_normal_initializer(seed=1))
    output = tf.reduce_sum(tf.square(tf.gather(table, ids)), name="output")
    step = tf.train.create_global_step()
    with training():
        tf.train.AdamOptimizer(0.1).minimize(output, global_step=step)
    saver()
    init()


@model
def sparse_linear():
    """The gradient depends on no value of the variable."""
    ids = tf.placeholder(tf.int32, [None], name="ids")
    table = tf.get_variable("table", [7, 2], initializer=tf.random_normal_initializer(seed=1))
    loss = tf.reduce_sum(tf.gather(table, ids), name="loss")
    with training():
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def resource_variables():
    may_go("save/Identity.*")
    x, y = data()
    with tf.variable_scope("net", use_resource=True):
        w = tf.get_variable("w", [3, 1], initializer=tf.random_normal_initializer(seed=1))
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    output = tf.add(tf.matmul(x, w), b, name="output")
    loss = squared(output, y)
    step = tf.train.create_global_step()
    with training():
        tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    saver()
    init()


@model
def resource_embedding():
    may_go("save/Identity.*")
    ids = tf.placeholder(tf.int32, [None], name="ids")
    with tf.variable_scope("net", use_resource=True):
        table = tf.get_variable("table", [7, 2], initializer=tf.random_normal_initializer(seed=1))
    output = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids)), name="output")
    with training():
        tf.train.AdamOptimizer(0.1).minimize(output)
    with training():
        tf.train.GradientDescentOptimizer(0.1).minimize(output)
    saver()
    init()


@model
def gan():
    """Two optimizers with lists of variables; labels that look like the seed of a gradient."""
    noise = tf.placeholder(tf.float32, [None, 2], name="noise")
    real = tf.placeholder(tf.float32, [None, 3], name="real")

    def generator(z):
        with tf.variable_scope("G"):
            return tf.layers.dense(tf.layers.dense(z, 4, activation=tf.nn.relu), 3)

    def discriminator(x, reuse=None):
        with tf.variable_scope("D", reuse=reuse):
            return tf.layers.dense(tf.layers.dense(x, 4, activation=tf.nn.leaky_relu), 1)

    fake = generator(noise)
    on_real, on_fake = discriminator(real), discriminator(fake, reuse=True)
    xent = tf.nn.sigmoid_cross_entropy_with_logits
    d_loss = tf.reduce_mean(xent(logits=on_real, labels=tf.ones_like(on_real))) + \
        tf.reduce_mean(xent(logits=on_fake, labels=tf.zeros_like(on_fake)))
    g_loss = tf.reduce_mean(xent(logits=on_fake, labels=tf.ones_like(on_fake)))
    with training():
        tf.train.AdamOptimizer(1e-3).minimize(d_loss, var_list=tf.trainable_variables("D"))
    with training():
        tf.train.RMSPropOptimizer(1e-3).minimize(g_loss, var_list=tf.trainable_variables("G"))
    saver()
    init()


@model
def gradient_penalty():
    """The loss of the second gradient depends on the first: WGAN-GP."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    fake = tf.placeholder(tf.float32, [None, 3], name="fake")

    def critic(v, reuse=None):
        with tf.variable_scope("D", reuse=reuse):
            return tf.layers.dense(tf.layers.dense(v, 4, activation=tf.nn.tanh), 1)

    real_score, fake_score = critic(x), critic(fake, True)
    mixed = 0.3 * x + 0.7 * fake
    gradient = tf.gradients(critic(mixed, True), [mixed])[0]
    may_go("gradients/.*")
    norm = tf.sqrt(tf.reduce_sum(tf.square(gradient), axis=1))
    loss = tf.reduce_mean(fake_score) - tf.reduce_mean(real_score) + 10.0 * tf.reduce_mean(tf.square(norm - 1.0))
    tf.summary.scalar("loss", loss)
    with training():
        tf.train.AdamOptimizer(1e-3).minimize(loss)
    saver()
    init()


@model
def dropout():
    x, y = data()
    keep = tf.placeholder_with_default(1.0, [], name="keep")
    hidden = tf.layers.dense(x, 5, activation=tf.nn.relu)
    hidden = tf.nn.dropout(hidden, keep_prob=keep, seed=1)
    output = tf.layers.dense(hidden, 1, name="output")
    loss = squared(output, y)
    with training():
        tf.train.AdamOptimizer().minimize(loss)
    saver()
    init()


@model
def layers_dropout():
    x, y = data()
    is_training = tf.placeholder(tf.bool, [], name="is_training")
    hidden = tf.layers.dense(x, 5, activation=tf.nn.relu)
    hidden = tf.layers.dropout(hidden, 0.5, training=is_training, seed=1)
    output = tf.layers.dense(hidden, 1, name="output")
    fixed = tf.layers.dropout(output, 0.5, training=True, seed=1, name="fixed")
    loss = squared(output, y) + tf.reduce_sum(fixed)
    with training():
        tf.train.AdamOptimizer().minimize(loss)
    saver()
    init()


@model
def old_dropout():
    """As TensorFlow 1.0 to 1.12 built it."""
    x, y = data()
    hidden = tf.layers.dense(x, 5)
    keep_prob = tf.placeholder(tf.float32, [], name="keep_prob")
    random_tensor = keep_prob + tf.random_uniform(tf.shape(hidden), seed=1)
    dropped = tf.div(hidden, keep_prob) * tf.floor(random_tensor)
    output = tf.layers.dense(dropped, 1, name="output")
    loss = squared(output, y)
    with training():
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def batch_norm():
    x, y = data()
    is_training = tf.placeholder(tf.bool, [], name="is_training")
    hidden = tf.layers.dense(x, 4)
    hidden = tf.nn.relu(tf.layers.batch_normalization(hidden, training=is_training))
    output = tf.layers.dense(hidden, 1, name="output")
    loss = squared(output, y)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        with training():
            tf.train.AdamOptimizer(0.01).minimize(loss)
    saver()
    init()


@model
def fused_batch_norm():
    images = tf.placeholder(tf.float32, [None, 4, 4, 2], name="images")
    hidden = tf.layers.conv2d(images, 3, 3, padding="same")
    hidden = tf.nn.relu(tf.layers.batch_normalization(hidden, training=True))
    hidden = tf.layers.max_pooling2d(hidden, 2, 2)
    logits = tf.layers.dense(tf.layers.flatten(hidden), 2, name="logits")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32), name="accuracy")
    tf.summary.scalar("accuracy", accuracy)
    tf.summary.merge_all()
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        with training():
            tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    saver()
    init()


@model
def create_train_op():
    x, y = data()
    step = tf.train.create_global_step()
    hidden = tf.layers.dense(x, 4)
    hidden = tf.nn.relu(tf.layers.batch_normalization(hidden, training=True))
    output = tf.layers.dense(hidden, 1, name="output")
    tf.losses.mean_squared_error(y, output)
    loss = tf.losses.get_total_loss()
    stays("update_barrier", "control_dependency")
    goes("Merge/MergeSummary")
    with training():
        tf.contrib.training.create_train_op(loss, tf.train.AdamOptimizer(0.01), step, check_numerics=True,
                                            summarize_gradients=True)
    tf.summary.merge_all()
    saver()
    init()


@model
def slim_train_op():
    slim = tf.contrib.slim
    x, y = data()
    with slim.arg_scope([slim.fully_connected], weights_regularizer=slim.l2_regularizer(0.01),
                        normalizer_fn=slim.batch_norm):
        hidden = slim.fully_connected(x, 4)
    output = slim.fully_connected(hidden, 1, activation_fn=None, scope="output")
    tf.losses.mean_squared_error(y, output)
    loss = tf.losses.get_total_loss()
    stays("update_barrier", "control_dependency", "global_step(/.*)?")
    with training():
        slim.learning.create_train_op(loss, tf.train.MomentumOptimizer(0.01, 0.9), clip_gradient_norm=1.0)
    saver()
    init()


@model
def optimize_loss():
    output, y = linear()
    loss = squared(output, y)
    step = tf.train.create_global_step()
    stays("OptimizeLoss/(learning_rate(_1)?|ExponentialDecay|loss)(/.*)?")
    with training():
        tf.contrib.layers.optimize_loss(
            loss, step, 0.1, "Adam", clip_gradients=1.0,
            learning_rate_decay_fn=lambda rate, at: tf.train.exponential_decay(rate, at, 10, 0.5),
            summaries=["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"])
    saver()
    init()


@model
def moving_average():
    output, y = linear()
    loss = squared(output, y)
    with training():
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    ema = tf.train.ExponentialMovingAverage(0.9)
    goes("ExponentialMovingAverage(/.*)?")
    with tf.control_dependencies([step]):
        ema.apply(tf.trainable_variables())
    average = ema.average(tf.trainable_variables()[0])
    tf.matmul(tf.get_default_graph().get_tensor_by_name("x:0"), average, name="averaged_output")
    saver(var_list=ema.variables_to_restore())
    init()


@model
def moving_average_of_loss():
    output, y = linear()
    loss = squared(output, y)
    ema = tf.train.ExponentialMovingAverage(0.9)
    update = ema.apply([loss])
    with tf.control_dependencies([update]):
        with training():
            tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.summary.scalar("loss", ema.average(loss))
    saver()
    init()


@model
def condition():
    output, y = linear()
    flag = tf.placeholder(tf.bool, [], name="flag")
    difference = output - y
    loss = tf.cond(flag, lambda: tf.reduce_mean(tf.square(difference)), lambda: tf.reduce_max(tf.abs(difference)))
    with training():
        tf.train.AdamOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def loop():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 3], initializer=tf.random_normal_initializer(seed=1))
    _, state = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.tanh(tf.matmul(s, w))), [0, x])
    output = tf.identity(state, name="output")
    loss = tf.reduce_sum(tf.square(output), name="loss")
    with training():
        tf.train.AdamOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def rnn():
    x = tf.placeholder(tf.float32, [None, 5, 3], name="x")
    length = tf.placeholder(tf.int32, [None], name="length")
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), x, length, dtype=tf.float32)
    output = tf.layers.dense(state.h, 1, name="output")
    loss = tf.reduce_mean(tf.square(output), name="loss")
    with training():
        optimizer = tf.train.AdamOptimizer(0.1)
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
        optimizer.apply_gradients(zip(gradients, variables))
    saver()
    init()


@model
def root_mean_square():
    """The loss is read by its own gradient only; what it is made of is read elsewhere too."""
    output, y = linear()
    mean = tf.reduce_mean(tf.square(output - y))
    tf.summary.scalar("mean", mean)
    loss = tf.sqrt(mean, name="loss")
    with training():
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def root_mean_square_alone():
    output, y = linear()
    loss = tf.sqrt(tf.reduce_mean(tf.square(output - y)), name="loss")
    with training():
        tf.train.AdamOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def max_loss():
    output, y = linear()
    loss = tf.reduce_max(tf.abs(output - y), name="loss")
    with training():
        tf.train.AdamOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def exp_loss():
    output, y = linear()
    loss = tf.exp(tf.reduce_mean(tf.pow(output - y, 2.0)), name="loss")
    with training():
        tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss)
    saver()
    init()


@model
def vector_loss():
    """The seed has the shape of the loss, which nothing else reads."""
    x, _ = data()
    labels = tf.placeholder(tf.int32, [None], name="labels")
    w = tf.get_variable("w", [3, 4], initializer=tf.random_normal_initializer(seed=1))
    logits = tf.matmul(x, w, name="logits")
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    with training():
        tf.train.AdamOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def softmax_loss():
    x, _ = data()
    labels = tf.placeholder(tf.float32, [None, 4], name="labels")
    w = tf.get_variable("w", [3, 4], initializer=tf.random_normal_initializer(seed=1))
    probability = tf.nn.softmax(tf.matmul(x, w), name="probability")
    loss = -tf.reduce_sum(labels * tf.log(probability))
    with training():
        tf.train.AdamOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def regularized():
    output, y = linear()
    loss = squared(output, y) + 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    with training():
        tf.train.RMSPropOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def clip_global_norm():
    output, y = linear()
    loss = squared(output, y)
    with training():
        optimizer = tf.train.AdamOptimizer(0.1)
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
        optimizer.apply_gradients(zip(clipped, variables))
    with training():
        tf.summary.scalar("gradient_norm", norm)
        for gradient, variable in zip(gradients, variables):
            tf.summary.histogram(variable.op.name + "_gradient", gradient)
    tf.summary.scalar("loss", loss)
    with training():
        tf.summary.merge_all()
    saver()
    init()


@model
def clip_value():
    output, y = linear()
    loss = squared(output, y)
    limit = tf.placeholder(tf.float32, [], name="limit")
    goes("limit")
    with training():
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        pairs = [(tf.clip_by_value(g, -limit, limit), v) for g, v in optimizer.compute_gradients(loss)]
        optimizer.apply_gradients(pairs)
    saver()
    init()


@model
def learning_rates():
    output, y = linear()
    loss = squared(output, y)
    step = tf.Variable(0, trainable=False, name="global_step")
    with training():
        rate = tf.train.exponential_decay(0.1, step, 100, 0.9, staircase=True)
        tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step)
    rate_in = tf.placeholder(tf.float32, [], name="rate_in")
    goes("rate_in")
    with training():
        tf.train.GradientDescentOptimizer(rate_in).minimize(loss, global_step=step)
    rate_variable = tf.Variable(0.1, trainable=False, name="rate")
    tf.assign(rate_variable, rate_variable * 0.5, name="halve")
    with training():
        tf.train.AdagradOptimizer(rate_variable).minimize(loss)
    saver()
    init()


@model
def summarized_rate():
    output, y = linear()
    loss = squared(output, y)
    step = tf.train.create_global_step()
    rate = tf.train.polynomial_decay(0.1, step, 100)
    tf.summary.scalar("rate", rate)
    with training():
        tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    tf.summary.merge_all()
    saver()
    init()


@model
def manual_increment():
    output, y = linear()
    loss = squared(output, y)
    step = tf.train.create_global_step()
    with training():
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        tf.assign_add(step, 1, name="increment")
    tf.train.get_or_create_global_step()
    saver()
    init()


@model
def gradients_alone():
    output, y = linear()
    loss = squared(output, y)
    with training():
        tf.gradients(loss, tf.trainable_variables())
    saver()
    init()


@model
def gradients_of_input():
    """No variable: a saliency map of a frozen network, of the class chosen."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    scores = tf.matmul(x, tf.constant([[1.0, 2.0], [0.5, -1.0], [1.5, 1.0]]), name="scores")
    score = tf.tanh(scores[:, 1], name="score")
    with training():
        tf.gradients(score, x)


@model
def gradients_given_ys():
    output, y = linear()
    given = tf.placeholder(tf.float32, [None, 1], name="given")
    goes("given")
    with training():
        tf.gradients(output, tf.trainable_variables(), grad_ys=given)
    saver()
    init()


@model
def own_norm():
    """The norm of the gradients is an end made by the user."""
    output, y = linear()
    loss = squared(output, y)
    gradients = tf.gradients(loss, tf.trainable_variables())
    tf.global_norm(gradients, name="norm")
    may_go("gradients/.*")
    saver()
    init()


@model
def adversarial():
    """The input is moved along the gradient, and the loss of the moved input is trained."""
    x, y = data()

    def network(v):
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            return tf.layers.dense(tf.layers.dense(v, 4, activation=tf.nn.relu, name="hidden"), 1, name="out")

    loss = tf.reduce_mean(tf.square(network(x) - y))
    may_go("gradients/.*")
    moved = tf.stop_gradient(x + 0.1 * tf.sign(tf.gradients(loss, x)[0]))
    total = loss + tf.reduce_mean(tf.square(network(moved) - y))
    with training():
        tf.train.AdamOptimizer(0.1).minimize(total)
    saver()
    init()


@model
def assigned_by_hand():
    """Gradient descent without an optimizer: the update is an Assign."""
    output, y = linear()
    loss = squared(output, y)
    with training():
        w, b = tf.trainable_variables()
        gradients = tf.gradients(loss, [w, b])
        tf.group(tf.assign(w, w - 0.1 * gradients[0]), b.assign_sub(0.1 * gradients[1]), name="train")
    saver()
    init()


@model
def accumulated():
    output, y = linear()
    loss = squared(output, y)
    variables = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False, name="sum") for v in variables]
    [s.assign(tf.zeros_like(s)) for s in sums]
    with training():
        optimizer = tf.train.AdamOptimizer(0.1)
        pairs = optimizer.compute_gradients(loss, variables)
        [s.assign_add(g) for s, (g, _) in zip(sums, pairs)]
        optimizer.apply_gradients(list(zip(sums, variables)))
    saver()
    init()


@model
def checked():
    output, y = linear()
    with tf.control_dependencies([tf.assert_equal(tf.shape(output)[0], tf.shape(y)[0]),
                                  tf.assert_greater(tf.reduce_max(y), -10.0)]):
        difference = output - y
    difference = tf.check_numerics(difference, "not finite")
    loss = tf.reduce_mean(tf.square(difference), name="loss")
    loss = tf.verify_tensor_all_finite(loss, "not finite")
    with training():
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.Assert(loss < 100.0, [loss], name="small")
    saver()
    init()


@model
def check_all():
    output, y = linear()
    loss = squared(output, y)
    with training():
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.add_check_numerics_ops()
    saver()
    init()


@model
def partial_savers():
    output, y = linear()
    loss = squared(output, y)
    w, b = tf.trainable_variables()
    with training():
        optimizer = tf.train.AdamOptimizer(0.1)
        optimizer.minimize(loss)
    tf.train.Saver({"weights": w, "moment": optimizer.get_slot(w, "m")}, name="some")
    tf.train.Saver([optimizer.get_slot(w, "v")], name="slots")
    may_go("slots/.*", "reshaping/Reshape.*")
    tf.train.Saver(sharded=True, name="sharded")
    tf.train.Saver(restore_sequentially=True, name="sequential")
    tf.train.Saver(reshape=True, name="reshaping")
    tf.train.Saver(write_version=tf.train.SaverDef.V1, name="first_version")
    init()


@model
def monitored():
    output, y = linear()
    loss = squared(output, y)
    step = tf.train.create_global_step()
    with training():
        tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    tf.summary.scalar("loss", loss)
    tf.train.Scaffold().finalize()


@model
def partitioned():
    ids = tf.placeholder(tf.int32, [None], name="ids")
    table = tf.get_variable("table", [7, 2], initializer=tf.random_normal_initializer(seed=1),
                            partitioner=tf.fixed_size_partitioner(2))
    output = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids)), name="output")
    with training():
        tf.train.AdamOptimizer(0.1).minimize(output)
    saver()
    init()


@model
def noise_contrast():
    ids = tf.placeholder(tf.int32, [None], name="ids")
    labels = tf.placeholder(tf.int32, [None, 1], name="labels")
    table = tf.Variable(tf.random_uniform([9, 3], -1.0, 1.0, seed=1), name="table")
    weights = tf.Variable(tf.truncated_normal([9, 3], seed=2), name="weights")
    biases = tf.Variable(tf.zeros([9]), name="biases")
    rows = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, rows, 4, 9))
    with training():
        tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    norm = tf.sqrt(tf.reduce_sum(tf.square(table), 1, keepdims=True))
    tf.divide(table, norm, name="normalized")
    saver()
    init()


@model
def step_then_loss():
    """The train op hands out the loss, as create_train_op's does, made by hand."""
    output, y = linear()
    loss = squared(output, y)
    with training():
        step = tf.train.AdamOptimizer(0.1).minimize(loss)
        with tf.control_dependencies([step]):
            tf.identity(loss, name="train_and_loss")
    saver()
    init()


@model
def two_losses():
    """One network, two optimizers, the second loss made after the first optimizer."""
    output, y = linear()
    first = tf.reduce_mean(tf.abs(output - y), name="first")
    with training():
        tf.train.AdamOptimizer(0.1).minimize(first)
    second = tf.sqrt(tf.reduce_mean(tf.square(output - y)), name="second")
    with training():
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(second)
    saver()
    init()


@model
def inference_only():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    ones = tf.ones_like(x[:, :1])
    w = tf.get_variable("w", [4, 2], initializer=tf.random_normal_initializer(seed=1))
    tf.nn.softmax(tf.matmul(tf.concat([ones, x], 1), w), name="output")
    saver()
    init()


@model
def gate_none():
    output, y = linear()
    hidden = tf.layers.dense(output, 3, activation=tf.nn.sigmoid)
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(hidden, 1, keepdims=True) - y), name="loss")
    with training():
        optimizer = tf.train.AdamOptimizer(0.1)
        optimizer.minimize(loss, gate_gradients=optimizer.GATE_NONE)
    with training():
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(loss, gate_gradients=optimizer.GATE_GRAPH, colocate_gradients_with_ops=True)
    saver()
    init()


@model
def many_ops():
    """Gradients of many kinds, whose helpers read forward values."""
    x, y = data()
    w = tf.get_variable("w", [3, 3], initializer=tf.random_normal_initializer(seed=1))
    h = tf.matmul(x, w)
    parts = [tf.sin(h), tf.cos(h), tf.exp(h), tf.log(tf.abs(h) + 1.0), tf.square(h), tf.pow(tf.abs(h), 1.5),
             tf.sqrt(tf.abs(h) + 1.0), tf.rsqrt(tf.abs(h) + 1.0), tf.sigmoid(h), tf.tanh(h), tf.nn.relu(h),
             tf.nn.elu(h), tf.nn.softplus(h), tf.nn.softmax(h), tf.nn.log_softmax(h), tf.erf(h), tf.sign(h) * h,
             tf.maximum(h, 0.5), tf.minimum(h, y), h / (1.0 + h * h), 1.0 / (2.0 + tf.cos(h)), tf.where(h > 0, h, -h),
             tf.cumsum(h), tf.cumprod(h, 1), tf.transpose(tf.transpose(h)), tf.reverse(h, [1]), tf.tile(h, [1, 1]),
             tf.pad(h, [[0, 0], [1, 1]])[:, 1:-1], tf.atan(h), tf.stack(tf.unstack(h, axis=1), axis=1),
             tf.concat(tf.split(h, 3, 1), 1), tf.gather(h, [2, 1, 0], axis=1), tf.clip_by_value(h, -1.0, 1.0),
             tf.reduce_max(h, 1, keepdims=True) * h, tf.reduce_prod(h, 1, keepdims=True) * h,
             tf.squared_difference(h, y), tf.slice(h, [0, 1], [-1, 2])[:, :1] * h, tf.nn.l2_normalize(h, 1),
             tf.nn.top_k(h, 3)[0], tf.one_hot(tf.argmax(h, 1), 3) * h, tf.expand_dims(h, 0)[0]]
    output = tf.add_n(parts, name="output")
    loss = tf.norm(output, name="loss")
    with training():
        tf.train.AdamOptimizer(0.1).minimize(loss)
    saver()
    init()


@model
def named_gradients():
    """The user's own scopes have the names that gradients usually have."""
    with tf.name_scope("gradients"):
        output, y = linear()
        loss = squared(output, y)
    with tf.name_scope("Adam"):
        with training():
            tf.train.AdamOptimizer(0.1, name="steps").minimize(loss, name="go")
    with tf.name_scope("gradients"):
        tf.abs(output, name="size")
    saver()
    init()


@model
def chief_and_target():
    """Q-learning: a target network that is assigned after training steps and by itself."""
    x, y = data()

    def network(scope):
        with tf.variable_scope(scope):
            return tf.layers.dense(tf.layers.dense(x, 4, activation=tf.nn.relu), 1)

    online = network("online")
    network("target")
    loss = tf.losses.huber_loss(y, online)
    with training():
        tf.train.RMSPropOptimizer(0.01).minimize(loss, var_list=tf.trainable_variables("online"))
    pairs = zip(tf.trainable_variables("target"), tf.trainable_variables("online"))
    tf.group(*[t.assign(o) for t, o in pairs], name="copy")
    saver()
    init()


@model
def synchronized():
    output, y = linear()
    loss = squared(output, y)
    step = tf.train.create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(0.1), 1, 1)
    stays("sync_rep_local_step.*", "Assign", "report_uninitialized_variables.*", "dummy_queue.*", "Read.*", "init.*")
    with training():
        optimizer.minimize(loss, global_step=step)
    saver()
    init()


@model
def conditional_training():
    output, y = linear()
    loss = squared(output, y)
    flag = tf.placeholder(tf.bool, [], name="flag")
    goes("flag")
    with training():
        tf.cond(flag, lambda: tf.train.GradientDescentOptimizer(0.1).minimize(loss), lambda: tf.no_op())
    saver()
    init()
