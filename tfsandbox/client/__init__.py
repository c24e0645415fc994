"""The names of `tensorflow.python.client`."""
