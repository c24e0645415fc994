"""The version of the package; TensorFlow's own version number is `tfsandbox.__version__`'s business."""

VERSION = "0.1.0"
