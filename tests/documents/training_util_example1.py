"""Example 1 of training_util.txt: the training loop.

As printed but for the lines marked `filled in`: the loss (printed as `...`), the number of steps, and showing it.
"""
import tensorflow as tf
from tensorflow.python.training import training_util

# 定义损失函数和优化器
features = tf.constant([[1.0], [2.0], [3.0], [4.0]])  # filled in
targets = tf.constant([[3.0], [5.0], [7.0], [9.0]])  # filled in
weight = tf.get_variable('weight', initializer=[[0.5]])  # filled in
bias = tf.get_variable('bias', initializer=[0.0])  # filled in
loss = tf.reduce_mean(tf.square(tf.matmul(features, weight) + bias - targets))  # filled in
optimizer = tf.train.AdamOptimizer(learning_rate=0.1)

# 定义训练循环
train_op = training_util.make_train_op(loss, optimizer)
num_iterations = 200  # filled in

# 执行训练循环
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(num_iterations):
        sess.run(train_op)
        if i % 50 == 0:  # filled in
            print('loss at step', i, sess.run(loss))  # filled in
    print('weight', sess.run(weight)[0, 0], 'bias', sess.run(bias)[0])  # filled in
    print('global step', sess.run(training_util.get_global_step()))  # filled in
