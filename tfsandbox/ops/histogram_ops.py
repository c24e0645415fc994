"""The names of `tensorflow.python.ops.histogram_ops`."""

from tfsandbox.ops.counting import histogram_fixed_width, histogram_fixed_width_bins

__all__ = ["histogram_fixed_width", "histogram_fixed_width_bins"]
