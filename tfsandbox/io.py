"""tf.io: files, serialized examples and images in files."""

# ruff: noqa: F401

import importlib
from typing import Any

from tfsandbox.ops.decoding_ops import (
    decode_compressed,
    decode_csv,
    decode_json_example,
    decode_raw,
    deserialize_many_sparse,
    parse_tensor,
    serialize_many_sparse,
    serialize_sparse,
    serialize_tensor,
)
from tfsandbox.ops.io_ops import matching_files, read_file, write_file
from tfsandbox.ops.parsing_ops import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    parse_example,
    parse_single_example,
    parse_single_sequence_example,
)
from tfsandbox.ops.string_elements import decode_base64, encode_base64
from tfsandbox.python_io import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)

# What is imported only once somebody asks for it, and from where.
_LATER = {
    "gfile": ("platform.gfile_v2", None),
    "write_graph": ("train", "write_graph"),
    **{name: ("ops.image_files", name) for name in (
        "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg", "decode_png", "encode_jpeg",
        "encode_png", "extract_jpeg_shape", "is_jpeg")},
    "match_filenames_once": ("train", "match_filenames_once"),
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module_name, attribute = _LATER[name]
    module = importlib.import_module(f"tfsandbox.{module_name}")
    value = module if attribute is None else getattr(module, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
