"""The syntax of training_scope.txt, as a call with all of its defaults.

As printed but for the lines marked `filled in`: the import and `kwargs`, and showing what the call gives.
"""
import tensorflow as tf  # filled in

kwargs = {}  # filled in
scope = (  # filled in
tf.contrib.framework.training_scope(
    trainable_variables=None,
    regularizer=None,
    is_chief=True,
    **kwargs
)
)  # filled in
with scope as entered:  # filled in
    print(type(entered).__name__)  # filled in
