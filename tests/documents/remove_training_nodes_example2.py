"""The example of remove_training_nodes.txt: train, save, prune, import.

As printed but for the lines marked `filled in`: the data (`next_batch` is used and not defined) and running the
pruned graph at the end. The Saver makes the folder /path/to/your. The test removes it again; where it may not make
it, or finds it there, it runs a copy with a folder of its own in that place.
"""
import tensorflow as tf
import numpy as np  # filled in
from tensorflow.python.framework import graph_util

# 构建一个用于训练的图
x = tf.placeholder(tf.float32, shape=(None, 10), name='x')
y = tf.placeholder(tf.float32, shape=(None, 1), name='y')
w = tf.Variable(tf.random_normal([10, 1]), name='w')
b = tf.Variable(tf.constant(0.0, shape=[1]), name='b')
output = tf.matmul(x, w) + b
loss = tf.reduce_mean(tf.square(output - y))
optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1).minimize(loss)

# 创建一个保存训练模型的Saver对象
saver = tf.train.Saver()

rng = np.random.RandomState(0)  # filled in
true_w = rng.randn(10, 1)  # filled in


def next_batch():  # filled in
    features = rng.randn(100, 10)  # filled in
    return features, features.dot(true_w) + 0.5  # filled in


# 启动训练会话
with tf.Session() as sess:
    # 初始化模型或从检查点文件中恢复模型
    sess.run(tf.global_variables_initializer())
    
    # 模拟训练过程
    for i in range(100):
        batch_x, batch_y = next_batch()
        sess.run(optimizer, feed_dict={x: batch_x, y: batch_y})
    
    # 使用Saver对象保存训练模型
    saver.save(sess, '/path/to/your/checkpoint')

    # 使用graph_util.remove_training_nodes()函数优化图中的训练过程
    optimized_graph_def = tf.graph_util.remove_training_nodes(sess.graph_def)
    optimized_graph = tf.Graph()
    with optimized_graph.as_default():
        tf.import_graph_def(optimized_graph_def, name='')

    # The pruned graph, restored from the same checkpoint by the same saver.  # filled in
    before = sess.run(output, {x: batch_x})  # filled in
    print('loss', sess.run(loss, {x: batch_x, y: batch_y}))  # filled in

print('nodes', len(tf.get_default_graph().as_graph_def().node), 'pruned', len(optimized_graph_def.node))  # filled in
with tf.Session(graph=optimized_graph) as inference:  # filled in
    saver.restore(inference, '/path/to/your/checkpoint')  # filled in
    after = inference.run('add:0', {'x:0': batch_x})  # filled in
    print('same output', (before == after).all())  # filled in
