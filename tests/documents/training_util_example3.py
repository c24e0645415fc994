"""Example 3 of training_util.txt: the manager of variables, and checkpoints.

As printed but for the lines marked `filled in`: the train op and the number of steps, which the example uses
and does not define, and showing what the manager saw.
"""
import tensorflow as tf
from tensorflow.python.training import training_util

# 定义训练图管理器
manager = training_util.TrainingGraphManager()

# 定义变量
var1 = tf.Variable(1.0)
var2 = tf.Variable(2.0)

# 添加变量
manager.add_variables([var1, var2])

# 创建检查点文件保存器
saver = tf.train.Saver()

loss = tf.square(var1 - 3.0) + tf.square(var2 + 1.0)  # filled in
train_op = tf.train.GradientDescentOptimizer(0.25).minimize(loss)  # filled in
num_iterations = 7  # filled in

# 执行训练循环并保存变量到检查点文件
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(num_iterations):
        # 执行训练过程
        manager.begin()
        sess.run([train_op])
        manager.end()

        # 保存变量到检查点文件
        saver.save(sess, 'checkpoint_file', global_step=i)
    print('variables', *sess.run([var1, var2]))  # filled in
    print(manager.table())  # filled in
