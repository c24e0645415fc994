"""TensorFlow's V2 checkpoints: `PREFIX.index`, a table of entries, and `PREFIX.data-0000i-of-0000n`, the tensors."""
from __future__ import annotations

from .bundle_entry import BundleEntry, data_path, index_path
from .bundle_reader import BundleReader, exists
from .bundle_writer import BundleWriter, merge

__all__ = ["BundleEntry", "BundleReader", "BundleWriter", "data_path", "exists", "index_path", "merge"]
