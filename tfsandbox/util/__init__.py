"""Small pieces that need no graph, under the names of `tensorflow.python.util`."""
