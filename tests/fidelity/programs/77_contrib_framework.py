# tf.contrib.framework: variables and where they are found, values given to them, shapes asserted.
import os
import tempfile
import tensorflow as tf
import numpy as np

framework = tf.contrib.framework
tf.set_random_seed(77)


def names(found):
    return [item.op.name for item in found]


with framework.arg_scope([framework.variable], device="/cpu:0", collections=["mine", "variables"]):
    with framework.arg_scope([framework.model_variable], trainable=False,
                             regularizer=tf.contrib.layers.l2_regularizer(0.1)):
        first = framework.model_variable("first", [2, 3])
    second = framework.variable("second", [3], initializer=tf.ones_initializer())
with tf.variable_scope("deep") as scope:
    third = framework.model_variable("first", [2], initializer=tf.zeros_initializer())
    fourth = framework.variable("w", [2], collections=[tf.GraphKeys.GLOBAL_VARIABLES, "x"],
                                regularizer=tf.contrib.layers.l1_regularizer(0.2))
    def twice(*args, **kwargs):
        print("getter", args, sorted(kwargs))
        kwargs.pop("reuse")
        return 2.0 * tf.get_variable(*args, **kwargs)
    doubled = framework.variable("doubled", [2], custom_getter=twice)
local = framework.local_variable(3.0, name="local")
shared = framework.global_variable([1, 2], name="shared", validate_shape=False)
framework.add_model_variable(shared)

print("get", names(framework.get_variables()))
print("scope", names(framework.get_variables("deep")), names(framework.get_variables(scope)))
print("suffix", names(framework.get_variables(suffix="first")),
      names(framework.get_variables_by_suffix("st")))
print("name", names(framework.get_variables_by_name("first")),
      names(framework.get_variables_by_name("first", "deep")))
print("model", names(framework.get_model_variables()), names(framework.get_local_variables()))
print("trainable", names(framework.get_trainable_variables()))
print("mine", names(tf.get_collection("mine")), names(tf.get_collection("x")))
print("regularizers", names(tf.losses.get_regularization_losses()))
print("unique", framework.get_unique_variable("deep/first").op.name,
      framework.get_variable_full_name(third))
print("restore", names(framework.get_variables_to_restore(["deep", "first"], ["deep/w"])))
print("filter", names(framework.filter_variables(
    tf.global_variables(), include_patterns=["first", "w"], exclude_patterns=["^deep/f"])))
print("filter match", names(framework.filter_variables(
    tf.global_variables(), include_patterns=["first"], reg_search=False)))

step = framework.get_or_create_global_step()
framework.assert_global_step(step)
print("step", step.op.name, step.dtype, framework.get_global_step() is step)
assign, feed = framework.assign_from_values(
    {"first": np.arange(6.0).reshape(2, 3), "deep/w": np.array([5.0, 6.0])})
restore_values = framework.assign_from_values_fn({"deep/first": np.array([7.0, 8.0])})
path = os.path.join(tempfile.mkdtemp(), "model")
saver = tf.train.Saver([first, third, fourth])
x = tf.placeholder(tf.float32, name="x")
shaped = framework.with_shape([2, 3], x)
like = framework.with_same_shape(first, x)
same = framework.with_shape([2, 3], first)
total = framework.reduce_sum_n([first, fourth, third])
predictions = tf.placeholder(tf.float32, [None, 1], name="predictions")
labels = tf.placeholder(tf.float32, [None], name="labels")
squeezed, kept = framework.remove_squeezable_dimensions(predictions, labels)
print("squeezed", squeezed.shape, kept.shape)
print("dtype", framework.assert_same_float_dtype([first, x]), framework.is_tensor(x),
      framework.is_tensor([1.0]))
scalar = framework.assert_scalar_int(tf.constant(3, name="three"))
ordered = framework.sort([3.0, 1.0, 2.0], direction="DESCENDING")
order = framework.argsort([[3.0, 1.0, 2.0]], axis=-1)
print("placeholders", [t.op.name for t in framework.get_placeholders(tf.get_default_graph())])
with tf.name_scope("here"):
    print("name scope", framework.get_name_scope(), framework.get_graph_from_inputs([x]) is x.graph)

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    sess.run(assign, feed)
    print("assigned", sess.run(first).ravel(), sess.run(fourth), sess.run(doubled).shape)
    restore_values(sess)
    print("again", sess.run(third), sess.run(shared), sess.run(local))
    saver.save(sess, path)
    sess.run(tf.global_variables_initializer())
    op, feed = framework.assign_from_checkpoint(path, [fourth])
    sess.run(op, feed)
    print("restored", sess.run(fourth), sess.run(third))
    print("total", sess.run(total))
    print("shaped", sess.run([shaped, like], {x: np.ones((2, 3))})[0].shape)
    print("sorted", sess.run([ordered, order]))
    reader = framework.load_checkpoint(path)
    print("reader", reader.get_tensor("deep/w"), framework.load_variable(path, "deep/first"))
for label, function in [
        ("unique", lambda: framework.get_unique_variable("fir")),
        ("unique missing", lambda: framework.get_unique_variable("nowhere")),
        ("include", lambda: framework.get_variables_to_restore("deep")),
        ("exclude", lambda: framework.get_variables_to_restore(exclude="deep")),
        ("values", lambda: framework.assign_from_values({"nowhere": np.ones(1)})),
        ("model", lambda: framework.model_variable("first", [2])),
        ("with shape", lambda: framework.with_shape([3], first)),
        ("scalar", lambda: framework.assert_scalar_int(tf.constant([3]))),
        ("float scalar", lambda: framework.assert_scalar_int(tf.constant(3.0)))]:
    try:
        function()
        print(label, "no error")
    except Exception as error:
        print(label, type(error).__name__, str(error).split("\n")[0].split(". Did")[0])
