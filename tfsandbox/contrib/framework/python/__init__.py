"""The folders that TensorFlow keeps tf.contrib.framework in; what stands there is a level or two up here."""
