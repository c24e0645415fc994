"""The first code of remove_training_nodes.txt: restore, prune, import.

As printed, in its two pieces, but for the lines marked `filled in`: the graph and its checkpoint (printed as
`...`, and used before it), and running the pruned graph at the end.
"""
import numpy as np  # filled in
import tensorflow as tf  # filled in

data = np.linspace(-1.0, 1.0, 12).reshape(4, 3).astype(np.float32)  # filled in
x = tf.placeholder(tf.float32, [None, 3], name='x')  # filled in
w = tf.get_variable('w', initializer=[[0.5], [1.0], [-0.5]])  # filled in
output = tf.matmul(x, w, name='output')  # filled in
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(output - 1.0)))  # filled in
saver = tf.train.Saver()

with tf.Session() as sess:  # filled in
    sess.run(tf.global_variables_initializer())  # filled in
    for _ in range(20):  # filled in
        sess.run(train, {x: data})  # filled in
    checkpoint_path = saver.save(sess, './model')  # filled in
    expected = sess.run(output, {x: data})  # filled in

with tf.Session() as sess:
    # 读取或构建你的TensorFlow图
    print('nodes', len(sess.graph_def.node))  # filled in
    
    # 使用Saver对象恢复训练模型
    saver.restore(sess, checkpoint_path)
    
    # 使用graph_util.remove_training_nodes()函数优化图中的训练过程
    optimized_graph_def = tf.graph_util.remove_training_nodes(sess.graph_def)
    optimized_graph = tf.Graph()
    with optimized_graph.as_default():
        tf.import_graph_def(optimized_graph_def, name='')

print('nodes after', len(optimized_graph_def.node))  # filled in
with tf.Session(graph=optimized_graph) as sess:  # filled in
    saver.restore(sess, checkpoint_path)  # filled in
    print('same output', (sess.run('output:0', {'x:0': data}) == expected).all())  # filled in
