"""The names of `tensorflow.python.summary.writer.writer_cache`."""

from tfsandbox.training.summary_io import FileWriterCache  # noqa: F401
