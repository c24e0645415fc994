"""The names of `tensorflow.python.summary.summary_iterator`."""

from tfsandbox.training.summary_io import summary_iterator  # noqa: F401
