"""What needs no graph: random number streams, TensorFlow's file formats and file access."""
