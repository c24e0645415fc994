"""The folders that TensorFlow keeps tf.contrib.slim in; what stands there is a level or two up here."""
