"""The folders that TensorFlow keeps tf.contrib.losses in; what stands there is a level or two up here."""
