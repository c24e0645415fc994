"""The names of `tensorflow.python.summary.writer.writer`."""

from tfsandbox.training.summary_io import FileWriter, SummaryToEventTransformer  # noqa: F401
