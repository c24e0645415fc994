"""The names of `tensorflow.python.summary.writer`."""
