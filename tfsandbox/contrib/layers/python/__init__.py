"""The folders that TensorFlow keeps tf.contrib.layers in; what stands there is a level or two up here."""
