"""The example of training_scope.txt, as printed; nothing is filled in.
"""
import tensorflow as tf
import numpy as np

x = tf.placeholder(tf.float32, shape=[None, 10], name='x')
y = tf.placeholder(tf.int32, shape=[None], name='y')

# 定义模型
with tf.contrib.framework.arg_scope(
    [tf.contrib.layers.fully_connected],
    activation_fn=tf.nn.relu,
    normalizer_fn=tf.layers.batch_normalization,
    weights_regularizer=tf.contrib.layers.l2_regularizer(scale=0.01)
):
    hidden = tf.contrib.layers.fully_connected(x, 20)
    logits = tf.contrib.layers.fully_connected(hidden, 2, activation_fn=None)

# 定义损失函数
with tf.contrib.framework.arg_scope(
    [tf.losses.sparse_softmax_cross_entropy],
    scope='Loss',
    reduction=tf.losses.Reduction.MEAN
):
    loss = tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)

# 定义优化器
with tf.contrib.framework.arg_scope(
    [tf.train.AdamOptimizer],
    learning_rate=0.001,
    beta1=0.9,
    beta2=0.999
):
    optimizer = tf.train.AdamOptimizer().minimize(loss)

# 定义训练过程
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())

    # 构建参数字典
    train_vars = {
        'fully_connected/weights': tf.global_variables('fully_connected/weights'),
        'fully_connected/biases': tf.global_variables('fully_connected/biases')
    }

    # 使用training_scope限制训练的可变参数集合
    with tf.contrib.framework.training_scope(trainable_variables=train_vars):
        for epoch in range(10):
            # 进行训练
            sess.run(optimizer, feed_dict={x: np.random.randn(100, 10), y: np.random.randint(0, 2, 100)})

    # 查看训练后的权重
    weights = sess.run(train_vars)
    print(weights)
