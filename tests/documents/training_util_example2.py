"""Example 2 of training_util.txt: the gradients of a loss.

As printed but for the lines marked `filled in`: the loss and the variables (printed as `...`).
"""
import tensorflow as tf
from tensorflow.python.training import training_util

# 定义损失函数和变量
weight = tf.get_variable('weight', initializer=[[1.0], [-2.0]])  # filled in
bias = tf.get_variable('bias', initializer=[0.5])  # filled in
features = tf.constant([[1.0, 2.0], [3.0, 4.0]])  # filled in
loss = tf.reduce_sum(tf.square(tf.matmul(features, weight) + bias))  # filled in
variables = [weight, bias]  # filled in

# 计算梯度
gradients = training_util.Gradients(loss, variables)
grads_and_vars = gradients.compute_gradients()

# 执行计算梯度
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    grads = sess.run(grads_and_vars)
    for grad, var in grads:
        print(grad, var)
