"""The path `tensorflow.python.ops.map_fn`."""

from tfsandbox.ops.functional_ops import map_fn  # noqa: F401

__all__: list[str] = []
