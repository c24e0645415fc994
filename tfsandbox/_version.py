"""The version of the package; `tfsandbox.__version__` is the TensorFlow version whose behaviour it has."""

__version__ = "0.1.0"
