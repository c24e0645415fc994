"""The folders that TensorFlow keeps tf.contrib.training in; what stands there is a level or two up here."""
