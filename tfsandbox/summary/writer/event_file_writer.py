"""The names of `tensorflow.python.summary.writer.event_file_writer`."""

from tfsandbox.training.summary_io import EventFileWriter  # noqa: F401
