"""What TensorFlow programs import from `tensorflow.python.platform`."""
