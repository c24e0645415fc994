"""Expressions on tf.nn and tf.layers, the same for TensorFlow (`record_nn.py`) and the sandbox: nodes, values, errors.

An expression may use `tf`, `np`, the names of `INPUTS`, each of which is a placeholder made when it is first used, and
those of `SHORT`.
"""

from __future__ import annotations

import hashlib

import numpy as np

from tests.ops.expression_outcomes import flat, without_help


def _wave(*shape):
    return np.sin(np.arange(int(np.prod(shape)), dtype=np.float32) * 1.7).reshape(shape) * 2


INPUTS = {
    # name: (type, static shape, value)
    "x": ("float32", [2, 3], _wave(2, 3)),
    "y": ("float32", [2, 3], np.abs(_wave(2, 3)) / 2),
    "rows": ("float32", [None, 3], _wave(2, 3)),
    "any": ("float32", None, _wave(2, 3)),
    "cube": ("float32", [2, 5, 3], _wave(2, 5, 3)),
    "image": ("float32", [2, 5, 6, 3], _wave(2, 5, 6, 3)),
    "images": ("float32", [None, None, None, 3], _wave(2, 5, 6, 3)),
    "first": ("float32", [2, 3, 5, 6], _wave(2, 3, 5, 6)),
    "volume": ("float32", [1, 4, 5, 4, 2], _wave(1, 4, 5, 4, 2)),
    "kernel": ("float32", [3, 2, 3, 4], _wave(3, 2, 3, 4)),
    "kernel1": ("float32", [3, 3, 4], _wave(3, 3, 4)),
    "kernel3": ("float32", [2, 3, 2, 2, 3], _wave(2, 3, 2, 2, 3)),
    "depth": ("float32", [3, 2, 3, 2], _wave(3, 2, 3, 2)),
    "point": ("float32", [1, 1, 6, 4], _wave(1, 1, 6, 4)),
    "deep": ("float32", [2, 5, 6, 4], _wave(2, 5, 6, 4)),
    "bias": ("float32", [3], [0.5, -1.0, 2.0]),
    "scale": ("float32", [3], [1.5, 0.5, 1.0]),
    "matrix": ("float32", [3, 4], _wave(3, 4)),
    "bias4": ("float32", [4], [0.5, -1.0, 2.0, 0.25]),
    "double": ("float64", [2, 3], _wave(2, 3)),
    "i": ("int32", [2], [2, 0]),
    "some": ("int32", [None], [2, 0]),
    "wrong": ("int32", [2], [2, 3]),
    "big": ("int64", [2], [1, 2]),
    "number": ("int32", [], 2),
    "rate": ("float32", [], 0.25),
    "training": ("bool", [], True),
    "classes": ("int64", [2, 2], [[0, 3], [1, 7]]),
    "table": ("float32", [9, 3], _wave(9, 3)),
    "weights": ("float32", [9], _wave(9)),
}

SHORT = {"v": "VALID", "s": "SAME", "one": [1, 1, 1, 1], "two": [1, 2, 2, 1]}  # and cell: tf.nn.rnn_cell

ACTIVATIONS = """
tf.nn.relu(x) | tf.nn.relu(x, name='r') | tf.nn.relu(i) | tf.nn.relu(tf.constant(['a'])) | tf.nn.relu6(x)
tf.nn.elu(x) | tf.nn.selu(x) | tf.nn.softplus(x) | tf.nn.softsign(x) | tf.nn.leaky_relu(x) | tf.nn.leaky_relu(x, 0.5)
tf.nn.leaky_relu(i) | tf.nn.leaky_relu(x, alpha=rate) | tf.nn.crelu(x) | tf.nn.crelu(x, axis=0, name='c')
tf.nn.swish(x) | tf.nn.softmax(x) | tf.nn.softmax(x, 0) | tf.nn.softmax(x, axis=-2) | tf.nn.softmax(x, dim=1)
tf.nn.softmax(x, 2) | tf.nn.softmax(x, -3) | tf.nn.softmax(x, axis=0, dim=0) | tf.nn.softmax(any) | tf.nn.softmax(rows)
tf.nn.softmax(cube, 1) | tf.nn.softmax(bias) | tf.nn.softmax(rate) | tf.nn.softmax(i) | tf.nn.log_softmax(x)
tf.nn.log_softmax(cube, axis=0) | tf.nn.log_softmax(double) | tf.nn.softmax([[1.0, 2.0]]) | tf.nn.sigmoid(x)
tf.nn.tanh(x) | tf.nn.l2_normalize(x, 1) | tf.nn.l2_normalize(x, [0, 1], epsilon=0.5) | tf.nn.l2_normalize(x, dim=0)
tf.nn.zero_fraction(x) | tf.nn.zero_fraction(any) | tf.nn.zero_fraction(i) | tf.nn.xw_plus_b(x, matrix, bias4)
tf.nn.relu_layer(x, matrix, bias4) | tf.nn.xw_plus_b(x, x, bias) | tf.nn.l2_loss(x) | tf.nn.l2_loss(i)
tf.nn.top_k(x, 2) | tf.nn.top_k(x) | tf.nn.top_k(x, 4) | tf.nn.top_k(x, number) | tf.nn.top_k(i, 2)
tf.nn.top_k(rate, 1) | tf.nn.top_k(any, 2) | tf.nn.in_top_k(x, i, 1) | tf.nn.in_top_k(x, i, 2)
tf.nn.in_top_k(x, wrong, 1) | tf.nn.in_top_k(x, big, number) | tf.nn.in_top_k(x, x, 1) | tf.nn.in_top_k(cube, i, 1)
tf.nn.in_top_k(x, tf.zeros([3], tf.int32), 1)
"""

BIASES = """
tf.nn.bias_add(x, bias) | tf.nn.bias_add(image, bias) | tf.nn.bias_add(first, bias, 'NCHW') | tf.nn.bias_add(x, bias4)
tf.nn.bias_add(any, bias) | tf.nn.bias_add(x, matrix) | tf.nn.bias_add(bias, bias) | tf.nn.bias_add(x, bias, 'XY')
tf.nn.bias_add(x, i) | tf.nn.bias_add(cube, bias, name='b') | tf.nn.bias_add(x, bias, data_format='N...C')
tf.nn.dropout(x, 0.5, seed=1) | tf.nn.dropout(x, rate=0.25, seed=1) | tf.nn.dropout(x, keep_prob=0.5, seed=2, name='d')
tf.nn.dropout(x, rate=rate, seed=1) | tf.nn.dropout(x, 1.0) | tf.nn.dropout(x, rate=0) | tf.nn.dropout(x, 0.0)
tf.nn.dropout(x, 1.5) | tf.nn.dropout(x, rate=-0.1) | tf.nn.dropout(x, 0.5, [2, 1], seed=3) | tf.nn.dropout(i, 0.5)
tf.nn.dropout(x, 0.5, rate=0.5) | tf.nn.dropout(x) | tf.nn.dropout(any, 0.5, seed=1) | tf.nn.dropout(x, 'half')
tf.nn.dropout(x, 0.5, noise_shape=[None, 3], seed=4) | tf.nn.dropout(rows, 0.5, noise_shape=[None, 1], seed=4)
"""

CROSS_ENTROPIES = """
tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x) | tf.nn.softmax_cross_entropy_with_logits(y, x)
tf.nn.softmax_cross_entropy_with_logits(labels=y) | tf.nn.softmax_cross_entropy_with_logits_v2(y, x)
tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x, axis=0)
tf.nn.softmax_cross_entropy_with_logits(logits=x, labels=y, dim=0)
tf.nn.softmax_cross_entropy_with_logits(labels=any, logits=x)
tf.nn.softmax_cross_entropy_with_logits(labels=cube, logits=cube)
tf.nn.softmax_cross_entropy_with_logits(labels=bias, logits=x)
tf.nn.softmax_cross_entropy_with_logits(labels=matrix, logits=x)
tf.nn.softmax_cross_entropy_with_logits(labels=i, logits=x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x)
tf.nn.sparse_softmax_cross_entropy_with_logits(i, x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=big, logits=rows, name='e')
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=wrong, logits=x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([2, 1], tf.int32), logits=x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([3], tf.int32), logits=x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([2, 5], tf.int32), logits=cube)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x, logits=x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=number, logits=rate)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=number, logits=bias)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=some, logits=any)
tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x)
tf.nn.sigmoid_cross_entropy_with_logits(labels=bias, logits=x) | tf.nn.sigmoid_cross_entropy_with_logits(y, x)
tf.nn.sigmoid_cross_entropy_with_logits(labels=i, logits=x)
tf.nn.weighted_cross_entropy_with_logits(targets=y, logits=x, pos_weight=2.0)
tf.nn.weighted_cross_entropy_with_logits(y, x, rate, name='w')
tf.nn.weighted_cross_entropy_with_logits(labels=y, logits=x, pos_weight=3.0)
tf.nn.weighted_cross_entropy_with_logits(bias, x, 2.0) | tf.nn.log_poisson_loss(y, x)
tf.nn.log_poisson_loss(y, x, compute_full_loss=True) | tf.nn.log_poisson_loss(bias, x)
"""

CONVOLUTIONS = """
tf.nn.conv2d(image, kernel, one, s) | tf.nn.conv2d(image, kernel, two, v) | tf.nn.conv2d(images, kernel, 2, v)
tf.nn.conv2d(image, kernel, strides=[1, 2], padding=v) | tf.nn.conv2d(image, kernel, one, 'same')
tf.nn.conv2d(image, kernel, one, [[0, 0], [1, 2], [0, 1], [0, 0]]) | tf.nn.conv2d(image, kernel, one, [[1, 2], [0, 1]])
tf.nn.conv2d(image, kernel, one, v, dilations=two) | tf.nn.conv2d(image, kernel, one, v, dilations=[2, 1])
tf.nn.conv2d(image, kernel, one) | tf.nn.conv2d(image, kernel, None, s) | tf.nn.conv2d(image, kernel, [1, 1, 1], s)
tf.nn.conv2d(x, kernel, one, s) | tf.nn.conv2d(image, x, one, s) | tf.nn.conv2d(deep, kernel, one, s)
tf.nn.conv2d(image, filters=kernel, strides=1, padding=s) | tf.nn.conv2d(image, kernel, 1, s, True, 'NHWC')
tf.nn.conv2d(image[:, :2], kernel, one, v) | tf.nn.conv2d(image, kernel, [2, 1, 1, 1], s)
tf.nn.conv2d(any, kernel, one, s) | tf.nn.conv2d(image, tf.zeros([3, 3, 3, 2], tf.float64), one, s)
tf.nn.conv2d(tf.cast(image, tf.int32), kernel, one, s)
tf.nn.conv2d_backprop_input([2, 5, 6, 3], kernel, deep, one, s)
tf.nn.conv2d_backprop_filter(image, [3, 2, 3, 4], deep, one, s)
tf.nn.conv2d_transpose(deep, kernel, [2, 5, 6, 3], one)
tf.nn.conv2d_transpose(deep, kernel, [2, 10, 12, 3], 2, name='t')
tf.nn.conv2d_transpose(deep, kernel, [2, 11, 12, 3], two, v) | tf.nn.conv2d_transpose(image, kernel, [2, 5, 6, 3], one)
tf.nn.conv2d_transpose(deep, kernel, tf.stack([2, 5, 6, 3]), one)
tf.nn.conv2d_transpose(deep, kernel, [2, 5, 6, 3], one, 'ODD') | tf.nn.conv1d(cube, kernel1, 1, s)
tf.nn.conv1d(cube, kernel1, 2, v) | tf.nn.conv1d(cube, kernel1, stride=1, padding=v, dilations=2)
tf.nn.conv1d(x, kernel1, 1, s) | tf.nn.conv1d(cube, kernel1, padding=s)
tf.nn.conv3d(volume, kernel3, [1, 1, 1, 1, 1], s) | tf.nn.conv3d(volume, kernel3, [1, 2, 1, 2, 1], v, name='c')
tf.nn.conv3d_transpose(tf.zeros([1, 4, 5, 4, 3]), kernel3, [1, 4, 5, 4, 2], [1, 1, 1, 1, 1])
tf.nn.depthwise_conv2d(image, depth, one, s) | tf.nn.depthwise_conv2d(image, depth, two, v)
tf.nn.depthwise_conv2d(image, depth, one, s, rate=[2, 2]) | tf.nn.depthwise_conv2d(deep, depth, one, s)
tf.nn.depthwise_conv2d_native(image, depth, one, v) | tf.nn.separable_conv2d(image, depth, point, one, s)
tf.nn.separable_conv2d(image, depth, point, one, v, rate=[2, 2], name='q')
tf.nn.separable_conv2d(image, depth, kernel, one, s)
tf.nn.separable_conv2d(image, depth, tf.zeros([1, 1, 5, 4]), one, s) | tf.nn.atrous_conv2d(image, kernel, 2, s)
tf.nn.atrous_conv2d(image, kernel, 1, v) | tf.nn.atrous_conv2d(image, kernel, 0, v)
tf.nn.atrous_conv2d_transpose(deep, kernel, [2, 5, 6, 3], 2, s) | tf.nn.atrous_conv2d(images, kernel, 2, v)
tf.nn.convolution(image, kernel, s) | tf.nn.convolution(image, kernel, v, strides=[2, 1])
tf.nn.convolution(image, kernel, s, dilation_rate=[2, 3]) | tf.nn.convolution(image, kernel, v, [2, 2], [2, 2])
tf.nn.convolution(x, kernel, s) | tf.nn.convolution(cube, kernel1, v) | tf.nn.convolution(image, kernel, 'ODD')
tf.nn.convolution(image, kernel, s, [0, 1]) | tf.nn.convolution(cube, kernel, s)
tf.nn.convolution(image, kernel, s, dilation_rate=[2]) | tf.nn.convolution(deep, kernel, s)
tf.nn.dilation2d(image, tf.zeros([2, 2, 3]), one, one, s) | tf.nn.erosion2d(image, tf.zeros([2, 2, 3]), two, one, v)
"""

POOLING = """
tf.nn.max_pool(image, two, two, s) | tf.nn.max_pool(image, [1, 2, 3, 1], one, v, name='p')
tf.nn.max_pool(image, 2, 2, s) | tf.nn.max_pool(image, two, two, 'ODD') | tf.nn.max_pool(x, two, two, s)
tf.nn.max_pool(images, two, two, v) | tf.nn.max_pool(image, [1, 9, 9, 1], one, v)
tf.nn.max_pool(image, [1, 2], two, v) | tf.nn.max_pool(image, ksize=[2, 2], strides=1, padding=s)
tf.nn.avg_pool(image, two, two, s) | tf.nn.avg_pool(image, [1, 3, 3, 1], one, v)
tf.nn.avg_pool(image, [1, 1, 1, 3], one, v) | tf.nn.avg_pool(value=image, ksize=two, strides=two, padding=s)
tf.nn.max_pool(i, two, two, s) | tf.nn.avg_pool(any, two, two, s)
tf.nn.max_pool(image, [1, 1, 1, 3], [1, 1, 1, 3], v) | tf.nn.max_pool(image, [1, 2, 2, 3], one, v)
tf.nn.max_pool1d(cube, 2, 2, s) | tf.nn.avg_pool1d(cube, 2, 1, v) | tf.nn.avg_pool2d(image, 2, 2, s)
tf.nn.max_pool2d(image, 3, 1, v) | tf.nn.max_pool3d(volume, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], s)
tf.nn.avg_pool3d(volume, 2, 2, v) | tf.nn.max_pool_with_argmax(image, two, two, s) | tf.nn.max_pool_v2(image, 2, 2, s)
tf.nn.max_pool_v2(cube, 2, 2, s) | tf.nn.avg_pool_v2(volume, 2, 1, v) | tf.nn.pool(image, [2, 2], 'MAX', s)
tf.nn.pool(image, [2, 3], 'AVG', v, strides=[2, 1]) | tf.nn.pool(cube, [2], 'MAX', v, dilation_rate=[2])
tf.nn.pool(image, [2, 2], 'SUM', s) | tf.nn.pool(image, [2], 'MAX', s)
tf.nn.pool(image, [2, 2], 'MAX', s, dilation_rate=[2, 2])
tf.nn.pool(image, [2, 2], 'MAX', v, dilation_rate=[2, 1], strides=[2, 2])
"""

NORMALIZATION = """
tf.nn.moments(x, [0]) | tf.nn.moments(x, 1) | tf.nn.moments(image, [0, 1, 2], keep_dims=True)
tf.nn.moments(x, [0], keepdims=True, keep_dims=True) | tf.nn.moments(tf.cast(x, tf.float16), [0])
tf.nn.moments(any, [0], name='m') | tf.nn.weighted_moments(x, [0], y) | tf.nn.weighted_moments(x, 1, [[1.0], [2.0]])
tf.nn.sufficient_statistics(x, [0]) | tf.nn.sufficient_statistics(x, [0], shift=1.0)
tf.nn.sufficient_statistics(rows, [0], keep_dims=True) | tf.nn.normalize_moments(4.0, x, y, None)
tf.nn.normalize_moments(4.0, x, y, 0.5) | tf.nn.batch_normalization(x, bias, scale, bias, scale, 0.1)
tf.nn.batch_normalization(x, bias, scale, None, None, 0.1, name='b')
tf.nn.batch_normalization(x, bias, scale, bias, None, 0.1)
tf.nn.batch_normalization(x, bias4, scale, bias, None, 0.1)
tf.nn.fused_batch_norm(image, scale, bias, is_training=True)[0]
tf.nn.fused_batch_norm(image, scale, bias, bias, scale, is_training=False)[0]
tf.nn.fused_batch_norm(image, scale, bias) | tf.nn.fused_batch_norm(image, scale, bias, bias, scale)
tf.nn.fused_batch_norm(x, scale, bias) | tf.nn.fused_batch_norm(image, scale, bias, epsilon=0.5, name='f')[0]
tf.nn.fused_batch_norm(image, bias4, bias) | tf.nn.fused_batch_norm(image, scale, bias, data_format='X')
tf.nn.batch_norm_with_global_normalization(image, bias, scale, bias, scale, 0.1, True) | tf.nn.lrn(image)
tf.nn.local_response_normalization(image, 1, 0.5, 0.3, 0.7, name='l') | tf.nn.lrn(x)
"""

GRADIENTS = """
tf.nn.relu(x) | tf.nn.relu6(x) | tf.nn.elu(x) | tf.nn.selu(x) | tf.nn.leaky_relu(x) | tf.nn.crelu(x) | tf.nn.swish(x)
tf.nn.softmax(x) | tf.nn.softmax(x, 0) | tf.nn.log_softmax(x) | tf.nn.softplus(x) | tf.nn.softsign(x)
tf.nn.l2_normalize(x, 1) | tf.nn.bias_add(image, bias) | tf.nn.bias_add(first, bias, 'NCHW')
tf.nn.xw_plus_b(x, matrix, bias4) | tf.nn.l2_loss(x) | tf.nn.top_k(x, 2)[0] | tf.nn.top_k(any, 2)[0]
tf.nn.dropout(x, 0.5, seed=1) | tf.nn.zero_fraction(x) | tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x)
tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x)
tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x) | tf.nn.weighted_cross_entropy_with_logits(y, x, 2.0)
tf.nn.log_poisson_loss(y, x, True) | tf.nn.conv2d(image, kernel, two, s)
tf.nn.conv2d(image, kernel, one, [[0, 0], [1, 2], [0, 1], [0, 0]]) | tf.nn.conv1d(cube, kernel1, 1, s)
tf.nn.conv2d_transpose(deep, kernel, [2, 5, 6, 3], one) | tf.nn.conv3d(volume, kernel3, [1, 2, 1, 2, 1], v)
tf.nn.depthwise_conv2d(image, depth, one, s) | tf.nn.separable_conv2d(image, depth, point, one, s)
tf.nn.atrous_conv2d(image, kernel, 2, s) | tf.nn.conv2d_backprop_filter(image, [3, 2, 3, 4], deep, one, s)
tf.nn.max_pool(image, two, two, s) | tf.nn.avg_pool(image, [1, 2, 3, 1], one, v) | tf.nn.max_pool3d(volume, 2, 2, v)
tf.nn.avg_pool3d(volume, 2, 2, v) | tf.nn.max_pool_with_argmax(image, two, two, v)[0] | tf.nn.lrn(image)
tf.nn.moments(x, [0]) | tf.nn.batch_normalization(x, bias, scale, bias, scale, 0.1)
tf.nn.fused_batch_norm(image, scale, bias)[0]
tf.nn.fused_batch_norm(image, scale, bias, bias, scale, is_training=False)[0]
tf.nn.dilation2d(image, tf.zeros([2, 2, 3]), one, one, s) | tf.gradients(tf.nn.max_pool(image, two, two, v), image)
tf.gradients(tf.nn.elu(x) ** 2, x)
tf.gradients(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x) ** 2, x)
tf.gradients(tf.nn.fused_batch_norm(image, scale, bias)[0] ** 2, image)
tf.gradients(tf.nn.conv2d(image, kernel, two, s) ** 2, image)
tf.gradients(tf.nn.avg_pool(image, two, two, s) ** 2, image)
"""

LAYERS = """
tf.layers.dense(x, 4) | tf.layers.dense(cube, 2, tf.nn.relu, name='d')
tf.layers.dense(x, 4, use_bias=False, kernel_initializer=tf.ones_initializer()) | tf.layers.dense(any, 4)
tf.layers.dense(tf.zeros([2, None]) if 0 else tf.placeholder(tf.float32, [2, None]), 4) | tf.layers.dense(rate, 4)
tf.layers.dense(i, 4) | tf.layers.dense(x, 4, reuse=True, name='d')
tf.layers.dense(x, 4, kernel_regularizer=tf.nn.l2_loss) | tf.layers.dense(double, 4)
[tf.layers.dense(x, 4, name='d'), tf.layers.dense(x, 4, name='d')]
[tf.layers.dense(x, 4, name='d'), tf.layers.dense(x, 4, name='d', reuse=True)]
[tf.layers.dense(x, 4, name='d'), tf.layers.dense(x, 5, name='d', reuse=True)]
[tf.layers.dense(x, 4), tf.layers.dense(x, 4)] | tf.layers.Dense(4)(tf.layers.Dense(3)(x))
tf.layers.Dense(4, name='d').apply(x) | tf.layers.dense(x, 4, kernel_constraint=tf.abs)
tf.layers.dense(x, 4, bias_initializer=tf.constant_initializer(2.0), activation=tf.nn.softmax, trainable=False)
tf.layers.dropout(x, 0.5, seed=1) | tf.layers.dropout(x, 0.5, training=True, seed=1)
tf.layers.dropout(x, training=training, seed=1)
tf.layers.dropout(x, 0.5, noise_shape=[2, 1], training=True, seed=1, name='d') | tf.layers.flatten(image)
tf.layers.flatten(images) | tf.layers.flatten(x) | tf.layers.flatten(any) | tf.layers.flatten(bias)
tf.layers.conv1d(cube, 2, 3) | tf.layers.conv1d(cube, 2, 3, padding='same', strides=2)
tf.layers.conv1d(cube, 2, 3, padding='causal', dilation_rate=2) | tf.layers.conv2d(image, 2, 3)
tf.layers.conv2d(image, 2, [3, 2], 2, 'same', activation=tf.nn.relu) | tf.layers.conv2d(image, 2, 3, dilation_rate=2)
tf.layers.conv2d(image, 2, 3, strides=2, dilation_rate=2) | tf.layers.conv2d(x, 2, 3)
tf.layers.conv2d(image, 2, [3, 2, 1]) | tf.layers.conv2d(image, 2, 3, padding='odd')
tf.layers.conv2d(image, 2, 3, data_format='odd') | tf.layers.conv2d(images, 2, 3, use_bias=False, name='c')
tf.layers.conv3d(volume, 2, 2) | tf.layers.conv2d_transpose(image, 2, 3)
tf.layers.conv2d_transpose(image, 2, 3, 2, 'same') | tf.layers.conv2d_transpose(images, 2, [2, 3], (2, 1))
tf.layers.conv3d_transpose(volume, 2, 2) | tf.layers.separable_conv2d(image, 4, 3)
tf.layers.separable_conv2d(image, 4, 3, depth_multiplier=2, padding='same', activation=tf.nn.relu)
tf.layers.separable_conv1d(cube, 4, 3) | tf.layers.conv2d(tf.placeholder(tf.float32, [2, 5, 6, None]), 2, 3)
tf.layers.max_pooling2d(image, 2, 2) | tf.layers.average_pooling2d(image, [2, 3], 1, 'same', name='a')
tf.layers.max_pooling1d(cube, 2, 2) | tf.layers.average_pooling1d(cube, 2, 1) | tf.layers.max_pooling3d(volume, 2, 2)
tf.layers.average_pooling3d(volume, 2, 2) | tf.layers.max_pooling2d(x, 2, 2)
tf.layers.max_pooling2d(image, 2, 2, 'odd') | tf.layers.batch_normalization(x)
tf.layers.batch_normalization(x, training=True) | tf.layers.batch_normalization(x, training=training)
tf.layers.batch_normalization(image) | tf.layers.batch_normalization(image, training=True)
tf.layers.batch_normalization(image, training=training, name='b')
tf.layers.batch_normalization(image, fused=False, training=True)
tf.layers.batch_normalization(x, center=False, scale=False)
tf.layers.batch_normalization(x, momentum=0.9, epsilon=0.5, training=True, trainable=False)
tf.layers.batch_normalization(x, renorm=True, training=True) | tf.layers.batch_normalization(x, fused=True)
tf.layers.batch_normalization(x, axis=[0, 1]) | tf.layers.batch_normalization(x, axis=2)
tf.layers.batch_normalization(any) | tf.layers.batch_normalization(first, axis=1, fused=False, training=True)
tf.layers.batch_normalization(x, virtual_batch_size=1, training=True)
[tf.layers.batch_normalization(x, training=True), tf.get_collection('update_ops')][1]
[tf.layers.batch_normalization(image, training=training), tf.get_collection('update_ops')][1]
[v.name for v in [tf.layers.dense(x, 4, name='d'), tf.global_variables()][1]]
[tf.layers.dense(x, 4, kernel_regularizer=tf.nn.l2_loss), tf.losses.get_regularization_losses()][1]
"""

LAYER_GRADIENTS = """
tf.layers.dense(x, 4, tf.nn.relu) | tf.layers.dense(cube, 4) | tf.layers.conv2d(image, 2, 3, padding='same')
tf.layers.batch_normalization(x, training=True) | tf.layers.batch_normalization(image, training=True)
tf.layers.batch_normalization(image, training=training) | tf.layers.separable_conv2d(image, 4, 3)
tf.layers.conv2d_transpose(image, 2, 3, 2) | tf.layers.dropout(x, 0.5, training=training, seed=1)
"""


SAMPLING = """
tf.nn.uniform_candidate_sampler(classes, 2, 4, True, 9, seed=3)
tf.nn.uniform_candidate_sampler(classes, 2, 10, True, 9)
tf.nn.log_uniform_candidate_sampler(classes, 2, 4, False, 9, seed=3)
tf.nn.learned_unigram_candidate_sampler(classes, 2, 4, True, 9, seed=3)
tf.nn.fixed_unigram_candidate_sampler(classes, 2, 4, False, 4, unigrams=[1.0, 2.0, 3.0, 4.0], seed=3)
tf.nn.fixed_unigram_candidate_sampler(classes, 2, 4, False, 4) | tf.nn.all_candidate_sampler(classes, 2, 4, True)
tf.nn.uniform_candidate_sampler(classes, 3, 4, True, 9) | tf.nn.uniform_candidate_sampler(i, 1, 4, True, 9)
tf.nn.compute_accidental_hits(classes, tf.constant([7, 3, 3, 1], tf.int64), 2)
tf.nn.compute_accidental_hits(classes, big, 3) | tf.nn.compute_accidental_hits(classes, classes, 2)
tf.nn.nce_loss(table, weights, classes[:, :1], x, 3, 9)
tf.nn.sampled_softmax_loss(table, weights, classes, x, 3, 9, 2)
tf.nn.nce_loss(table, weights, classes, x, 3, 9, 2, remove_accidental_hits=True, partition_strategy='div', name='n')
tf.nn.nce_loss(table, weights, classes[:, :1], x, 9, 9, 1, tf.nn.all_candidate_sampler(classes, 2, 9, True))
"""

RECURRENT = """
tf.nn.static_rnn(cell.BasicRNNCell(2), steps, dtype=tf.float32)
tf.nn.static_rnn(cell.GRUCell(2), steps, dtype=tf.float32)
tf.nn.static_rnn(cell.BasicLSTMCell(2), steps, dtype=tf.float32)
tf.nn.static_rnn(cell.LSTMCell(2), steps, dtype=tf.float32)
tf.nn.static_rnn(cell.LSTMCell(3, True, 0.4, num_proj=2, proj_clip=0.2), steps, dtype=tf.float32)
tf.nn.static_rnn(cell.BasicLSTMCell(2, state_is_tuple=False), steps, tf.zeros([2, 4]))
tf.nn.static_rnn(cell.MultiRNNCell([cell.BasicRNNCell(3), cell.GRUCell(2)]), steps, dtype=tf.float32)
tf.nn.static_rnn(cell.MultiRNNCell([cell.BasicRNNCell(3), cell.GRUCell(2)], False), steps, dtype=tf.float32)
tf.nn.static_rnn(cell.DropoutWrapper(cell.BasicLSTMCell(2), 0.5, 0.6, 0.7, seed=3), steps, dtype=tf.float32)
tf.nn.static_rnn(cell.DropoutWrapper(cell.GRUCell(2), 0.5, 0.6, 0.7, True, 3, tf.float32, 3), steps, dtype='float32')
tf.nn.static_rnn(cell.ResidualWrapper(cell.GRUCell(3)), steps, dtype=tf.float32)
tf.nn.static_rnn(cell.GRUCell(2), steps)
tf.nn.static_rnn(cell.BasicRNNCell(2, tf.nn.relu, name='r'), steps, dtype=tf.float32, sequence_length=[2, 3], scope='s')
tf.nn.static_bidirectional_rnn(cell.GRUCell(2), cell.BasicRNNCell(3), steps, dtype=tf.float32)
tf.nn.static_bidirectional_rnn(cell.GRUCell(2), cell.BasicRNNCell(3), steps, dtype=tf.float32, sequence_length=[2, 3])
cell.GRUCell(2).zero_state(3, tf.float32) | cell.LSTMCell(2).zero_state(number, tf.float32)
cell.BasicRNNCell(2)(x, tf.zeros([2, 2])) | cell.BasicRNNCell(2)(cube, tf.zeros([2, 2])) | cell.BasicRNNCell(2)(i, i)
cell.GRUCell(3)(rows, tf.zeros([2, 3])) | cell.BasicRNNCell(2)(any, tf.zeros([2, 2])) | cell.RNNCell().state_size
cell.MultiRNNCell([]) | cell.MultiRNNCell(3) | cell.DropoutWrapper(cell.GRUCell(2), 1.5) | cell.DropoutWrapper(3)
cell.DropoutWrapper(cell.GRUCell(2), variational_recurrent=True)
cell.DropoutWrapper(cell.GRUCell(2), 0.5, variational_recurrent=True, dtype=tf.float32)
cell.BasicLSTMCell(2, dtype=tf.int32) | cell.MultiRNNCell([cell.LSTMCell(2)], state_is_tuple=False)
cell.LSTMStateTuple(x, i).dtype | tf.nn.static_rnn(3, steps, dtype=tf.float32)
tf.nn.static_rnn(cell.GRUCell(2), [], dtype=tf.float32) | tf.nn.static_rnn(cell.GRUCell(2), x)
tf.nn.static_rnn(cell.GRUCell(2), steps, dtype=tf.float32, sequence_length=[[1, 2]])
tf.nn.dynamic_rnn(cell.GRUCell(2), x, dtype=tf.float32) | tf.nn.dynamic_rnn(cell.GRUCell(2), cube)
tf.nn.dynamic_rnn(cell.GRUCell(2), cube, dtype=tf.float32, sequence_length=[[1, 2]])
tf.nn.dynamic_rnn(cell.GRUCell(2), tf.placeholder(tf.float32, [2, 3, None]), dtype=tf.float32)
"""

CONTRIB = """
rnn.OutputProjectionWrapper(cell.GRUCell(2), 3)(x, zeros) | rnn.OutputProjectionWrapper(cell.GRUCell(2), 0)
rnn.InputProjectionWrapper(cell.BasicRNNCell(2), 3, tf.tanh)(x, zeros)
rnn.LayerNormBasicLSTMCell(2)(x, (zeros, zeros)) | rnn.EmbeddingWrapper(cell.BasicRNNCell(2), 7, 5)(i, zeros)
rnn.EmbeddingWrapper(cell.BasicRNNCell(2), 7, 0)
rnn.LayerNormBasicLSTMCell(2, layer_norm=False, dropout_keep_prob=0.5, dropout_prob_seed=3)(x, (zeros, zeros))
rnn.stack_bidirectional_rnn([cell.GRUCell(2)] * 2, [cell.GRUCell(3)], steps, dtype=tf.float32)
rnn.stack_bidirectional_rnn([cell.GRUCell(2)], [cell.LSTMCell(3)], steps, dtype=tf.float32, sequence_length=i + 1)
tf.contrib.seq2seq.sequence_loss(cube, tf.zeros([2, 5], tf.int32), tf.ones([2, 5]))
tf.contrib.seq2seq.sequence_loss(x, i, x)
tf.contrib.seq2seq.sequence_loss(cube, tf.zeros([2, 5], tf.int32), cube[:, :, 0], False, False, True)
tf.contrib.seq2seq.sequence_loss(cube, tf.zeros([2, 5], tf.int32), cube[:, :, 0], True, False)
tf.contrib.legacy_seq2seq.sequence_loss(steps, [i, i, i], [scale[:2]] * 3)
tf.contrib.legacy_seq2seq.sequence_loss(steps, [i], [i])
tf.contrib.legacy_seq2seq.rnn_decoder(steps, zeros, cell.GRUCell(2))
"""

RECURRENT_GRADIENTS = """
tf.nn.static_rnn(cell.BasicRNNCell(2), steps, dtype=tf.float32)[0][-1]
tf.nn.static_rnn(cell.GRUCell(2), steps, dtype=tf.float32)[1]
tf.nn.static_rnn(cell.BasicLSTMCell(2), steps, dtype=tf.float32)[0]
tf.nn.static_rnn(cell.LSTMCell(2, True, num_proj=3), steps, dtype=tf.float32)[0][-1]
tf.nn.static_rnn(cell.GRUCell(2), steps, dtype=tf.float32, sequence_length=[2, 3])[0]
"""

LOOPS = """
tf.nn.dynamic_rnn(cell.GRUCell(2), cube, dtype=tf.float32)
tf.nn.dynamic_rnn(cell.LSTMCell(2), cube, dtype=tf.float32, time_major=True)
tf.nn.dynamic_rnn(cell.BasicLSTMCell(2), cube, [2, 3], dtype=tf.float32)
tf.nn.dynamic_rnn(cell.GRUCell(2), tf.placeholder(tf.float32, [None, None, 3]), some, dtype=tf.float32)
tf.nn.bidirectional_dynamic_rnn(cell.GRUCell(2), cell.BasicRNNCell(3), cube, [2, 3], dtype=tf.float32)
tf.nn.raw_rnn(cell.GRUCell(2), lambda t, o, s, m: (t >= [4, 2], x, tf.zeros([2, 2]) if s is None else s, o, None))[1]
tf.map_fn(lambda row: row * 2, x) | tf.map_fn(lambda row: (row, -row), rows, (tf.float32, tf.float32))
tf.map_fn(abs, rate) | tf.scan(lambda a, row: a + row, x) | tf.scan(lambda a, row: a + row[0], x, 0.0, reverse=True)
tf.map_fn(3, x) | tf.foldl(lambda a, row: a + row, x) | tf.foldr(lambda a, row: a + row, rows, tf.zeros([3]), name='f')
"""

GROUPS = [("activations", ACTIVATIONS), ("biases", BIASES), ("cross entropies", CROSS_ENTROPIES),
          ("convolutions", CONVOLUTIONS), ("pooling", POOLING), ("normalization", NORMALIZATION),
          ("sampling", SAMPLING), ("gradients", GRADIENTS), ("layers", LAYERS), ("layer gradients", LAYER_GRADIENTS),
          ("recurrent", RECURRENT), ("contrib", CONTRIB), ("recurrent gradients", RECURRENT_GRADIENTS),
          ("built", LOOPS)]


class Names(dict):
    """The names an expression may use; makes the placeholders and remembers what to feed them."""

    def __init__(self, tf):
        super().__init__(SHORT, tf=tf, np=np, cell=tf.nn.rnn_cell)
        self.feed = {}

    def __missing__(self, name):
        tf = self["tf"]
        if name in ("steps", "zeros", "rnn"):
            self[name] = tf.contrib.rnn if name == "rnn" else \
                tf.zeros([2, 2]) if name == "zeros" else tf.unstack(self["cube"], axis=1)[:3]
            return self[name]
        if name not in INPUTS:
            raise KeyError(name)
        dtype, shape, value = INPUTS[name]
        tensor = tf.placeholder(getattr(tf, dtype), shape, name=name)
        self.feed[tensor] = np.array(value, dtype)
        self[name] = tensor
        return tensor


def outcome(tf, group, expression):
    """What building and running an expression gives, as JSON; its gradients, for the groups with "gradients".

    The group "built" is not run.
    """
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        names = Names(tf)
        try:
            result = eval(expression, {}, names)
            if "gradients" in group:
                sources = [t for t in names.feed if t.dtype.is_floating] + tf.trainable_variables()
                result = tf.gradients(result, sources)
        except Exception as error:
            return {"error": [type(error).__name__, without_help(error)]}
        nodes = [" ".join([op.name, op.type] + [t.name[:-2] if t.name.endswith(":0") else t.name for t in op.inputs] +
                          sorted("^" + o.name for o in op.control_inputs)) for op in graph.get_operations()]
        tensors = flat(tf, result)
        if len(nodes) > 60:
            digest = hashlib.sha1("\n".join(nodes).encode()).hexdigest()
            nodes = [*nodes[-3:], f"{len(nodes)} nodes: {digest}"]
        found = {"nodes": nodes, "shapes": [str(t.shape) if hasattr(t, "dtype") else repr(t) for t in tensors]}
        if group == "built":
            return found
        fetches = [t for t in tensors if isinstance(t, (tf.Tensor, tf.Operation))]
        initialize = tf.global_variables_initializer()
        with tf.Session() as sess:
            try:
                sess.run(initialize)
                values = sess.run(fetches, names.feed)
            except Exception as error:
                found["run_error"] = [type(error).__name__, str(error).split("\n")[0]]
            else:
                found["values"] = [sampled(v) for v in values]
        return found


def sampled(value):
    """Type and shape of a value, and some of its elements."""
    if value is None:
        return None
    array = np.asarray(value)
    elements = array.ravel()[::array.size // 16 + 1].tolist()
    if array.dtype.kind == "f":
        elements = [float(f"{x:.7g}") for x in elements]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "elements": elements}
