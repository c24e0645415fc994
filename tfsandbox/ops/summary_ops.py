"""Summaries: ops that write a value, a histogram, images, audio or text as a serialized Summary message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.lib import histogram as histogram_lib
from tfsandbox.lib.png import encode_png
from tfsandbox.lib.wav import encode_wav
from tfsandbox.ops.kernel_values import as_array, text_of_shape
from tfsandbox.platform import tf_logging

__all__: list[str] = []


def _scalar_shape(c: ShapeContext) -> TensorShape:
    return TensorShape([])


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


def _serialized(summary: Any) -> np.ndarray:
    return as_array(summary.SerializeToString())


def _summary() -> Any:
    from tfsandbox.proto import summary_pb2
    return summary_pb2.Summary()


def _one_tag(tag: Any, text: str) -> str:
    if np.size(tag) != 1:
        raise _invalid(text)
    return as_array(tag).reshape(-1)[0].decode("utf-8", "replace")


def _as_floats(values: Any, dtype: dtypes.DType) -> np.ndarray:
    array = np.asarray(values)
    return dtypes.bfloat16_to_float32(array) if dtype == dtypes.bfloat16 else array


# ------------------------------------------------------------ names, tags and collections


def clean_tag(name: str | None) -> str | None:
    """A name that a node may have: other characters become `_`, slashes in front go; says so where it changes."""
    if name is None:
        return None
    cleaned = re.sub(r"[^-/\w.]", "_", name).lstrip("/")
    if cleaned != name:
        tf_logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextmanager
def summary_scope(name: str | None, family: str | None = None, default_name: str | None = None,
                  values: Sequence[Any] | None = None) -> Iterator[tuple[str, str]]:
    """Context manager: the (tag, name scope) of a summary; the tag of a family begins with it once more."""
    name, family = clean_tag(name), clean_tag(family)
    base = name if family is None else f"{family}/{name}"
    with ops.name_scope(base, default_name, values) as scope:
        tag = scope.rstrip("/")
        if not tag:
            raise ValueError("'' is not a valid node name")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collect(value: Any, collections: Any, default_collections: Sequence[Any]) -> None:
    """Enter a summary into the collections, by default into the others."""
    for key in default_collections if collections is None else collections:
        ops.add_to_collection(key, value)


# ------------------------------------------------------------ numbers

scalar_summary_op = register_op("ScalarSummary", "tags: string, values: T -> summary: string",
                                "T: type in {realnumbertype}").no_gradient()
scalar_summary_op.shape(_scalar_shape)


@scalar_summary_op.kernel
def _scalar_summary(tags: Any, values: Any, *, T: dtypes.DType) -> Any:
    tags = as_array(tags)
    if tags.shape != np.shape(values):
        one = f" (tag '{_one_tag(tags, '')}')" if tags.size == 1 else ""
        raise _invalid(f"tags and values not the same shape: {text_of_shape(tags)} != {text_of_shape(values)}{one}")
    summary = _summary()
    for tag, value in zip(tags.ravel(), _as_floats(values, T).ravel()):
        summary.value.add(tag=tag.decode("utf-8", "replace"), simple_value=float(np.float32(value)))
    return _serialized(summary)


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """String scalar: a Summary with the value of `tensor`, a real scalar.

    It is added to `collections`, by default to `GraphKeys.SUMMARIES`; `family` begins the tag.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary = apply_op("ScalarSummary", tags=tag, values=tensor, name=scope)
        collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


histogram_summary_op = register_op("HistogramSummary", "tag: string, values: T -> summary: string",
                                   "T: type in {realnumbertype} = float32").no_gradient()
histogram_summary_op.shape(_scalar_shape)


@histogram_summary_op.kernel
def _histogram_summary(tag: Any, values: Any, *, T: dtypes.DType) -> Any:
    name = _one_tag(tag, "tags must be scalar")
    numbers = _as_floats(values, T).astype(np.float64).ravel()
    finite = np.isfinite(numbers)
    if not finite.all():
        kind = "Nan" if np.isnan(numbers[~finite][0]) else "Infinity"
        raise _invalid(f"{kind} in summary histogram for: {name}")
    summary = _summary()
    found = histogram_lib.histogram(numbers)
    message = summary.value.add(tag=name).histo
    message.min, message.max, message.num = found.min, found.max, found.num
    message.sum, message.sum_squares = found.sum, found.sum_squares
    message.bucket_limit.extend(found.bucket_limit)
    message.bucket.extend(found.bucket)
    return _serialized(summary)


def histogram(name: str | None, values: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """String scalar: a Summary with the histogram of `values`, real numbers of any shape.

    Running it raises `InvalidArgumentError` where one of them is not finite.
    """
    with summary_scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        summary = apply_op("HistogramSummary", tag=tag, values=values, name=scope)
        collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


# ------------------------------------------------------------ images and audio

image_summary_op = register_op(
    "ImageSummary", "tag: string, tensor: T -> summary: string",
    "max_images: int >= 1 = 3; T: type in {uint8, float32, float16, float64} = float32; "
    "bad_color: tensor = uint8[255, 0, 0, 255]").no_gradient()
image_summary_op.shape(_scalar_shape)


def _scaled_to_bytes(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """A floating image as uint8: [0, maximum] to [0, 255], or with negative numbers around 128."""
    good = np.isfinite(image).all(axis=-1)
    pixels = image[good]
    lowest, highest = (pixels.min(), pixels.max()) if pixels.size else (image.dtype.type(0), image.dtype.type(0))
    if lowest < 0:
        largest, span, offset = np.float32(max(abs(lowest), abs(highest))), np.float32(127), 128
    else:
        largest, span, offset = np.float32(highest), np.float32(255), 0
    scale = image.dtype.type(span / largest if largest else 0)
    result = np.empty(image.shape, np.uint8)
    result[good] = (pixels * scale + image.dtype.type(offset)).astype(np.uint8)
    result[~good] = bad_color[:image.shape[-1]]
    return result


@image_summary_op.kernel
def _image_summary(tag: Any, tensor: Any, *, max_images: int, bad_color: np.ndarray) -> Any:
    base = _one_tag(tag, "Tags must be a scalar")
    if bad_color.dtype != np.uint8:
        raise _invalid(f"bad_color must be uint8, got {dtypes.as_dtype(bad_color.dtype).name}")
    tensor = np.asarray(tensor)
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise _invalid(f"Tensor must be 4-D with last dim 1, 3, or 4, not {text_of_shape(tensor)}")
    if not all(tensor.shape[1:]):
        raise _invalid(f"input tensor must have non-zero dims. Found: [{', '.join(map(str, tensor.shape))}].")
    if bad_color.size < tensor.shape[3]:
        raise _invalid(f"expected depth <= bad_color.size, got depth = {tensor.shape[3]}, bad_color.size = "
                       f"{bad_color.size}")
    summary = _summary()
    for i, image in enumerate(tensor[:max_images]):
        pixels = image if image.dtype == np.uint8 else _scaled_to_bytes(image, bad_color)
        value = summary.value.add(tag=f"{base}/image" if max_images == 1 else f"{base}/image/{i}")
        value.image.height, value.image.width, value.image.colorspace = pixels.shape
        value.image.encoded_image_string = encode_png(pixels)
    return _serialized(summary)


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Any = None,
          family: str | None = None) -> Tensor:
    """String scalar: a Summary with the first `max_outputs` of the images [n, height, width, 1, 3 or 4] as PNG.

    Floating values are scaled so that the largest becomes 255, or, where some are negative, 0 becomes 128; pixels
    that are not finite are shown in red.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary = apply_op("ImageSummary", tag=tag, tensor=tensor, max_images=max_outputs, name=scope)
        collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


audio_summary_op = register_op("AudioSummaryV2",
                               "tag: string, tensor: float32, sample_rate: float32 -> summary: string",
                               "max_outputs: int >= 1 = 3").no_gradient()
audio_summary_op.shape(_scalar_shape)


@audio_summary_op.kernel
def _audio_summary(tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int) -> Any:
    base = _one_tag(tag, "Tag must be a scalar")
    tensor = np.asarray(tensor)
    if tensor.ndim not in (2, 3):
        raise _invalid(f"Tensor must be 3-D or 2-D, got: {text_of_shape(tensor)}")
    if not sample_rate > 0:
        raise _invalid("sample_rate must be > 0")
    clips = tensor if tensor.ndim == 3 else tensor[:, :, None]
    channels = clips.shape[2]
    if not 0 < channels < 1 << 16:
        raise _invalid(f"num_channels must be in (0, 2^16), got: {channels}")
    summary = _summary()
    for i, clip in enumerate(clips[:max_outputs]):
        if not clip.shape[0]:
            raise _invalid("num_frames must be positive.")
        value = summary.value.add(tag=f"{base}/audio" if max_outputs == 1 else f"{base}/audio/{i}")
        value.audio.sample_rate = float(sample_rate)
        value.audio.num_channels, value.audio.length_frames = channels, clip.shape[0]
        value.audio.encoded_audio_string = encode_wav(clip, round(float(sample_rate)))
        value.audio.content_type = "audio/wav"
    return _serialized(summary)


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None,
          family: str | None = None) -> Tensor:
    """String scalar: a Summary with the first clips of float32 [n, frames] or [n, frames, channels] as WAV.

    Samples lie in [-1, 1]; `sample_rate` is a float32 scalar in Hz.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        rate = ops.convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        summary = apply_op("AudioSummaryV2", tag=tag, tensor=tensor, max_outputs=max_outputs, sample_rate=rate,
                           name=scope)
        collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


# ------------------------------------------------------------ any tensor, and text


def _write_tensor(message: Any, tensor: Any, dtype: dtypes.DType) -> None:
    array = as_array(tensor)
    message.dtype = dtype.as_datatype_enum
    message.tensor_shape.SetInParent()
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    if dtype == dtypes.string:
        message.string_val.extend(array.ravel().tolist())
    else:
        message.tensor_content = array.tobytes()


tensor_summary_op = register_op(
    "TensorSummary", "tensor: T -> summary: string",
    "T: type; description: string = ''; labels: list(string) = []; display_name: string = ''").no_gradient()
tensor_summary_op.shape(_scalar_shape)


@tensor_summary_op.state
def _tensor_summary_name(op: Operation, session_state: Any) -> str:
    return op.name


@tensor_summary_op.kernel
def _tensor_summary(tensor: Any, *, T: dtypes.DType, state: str) -> Any:
    summary = _summary()
    _write_tensor(summary.value.add(node_name=state).tensor, tensor, T)
    return _serialized(summary)


tensor_summary_v2_op = register_op("TensorSummaryV2", "tag: string, tensor: T, serialized_summary_metadata: string "
                                                      "-> summary: string", "T: type").no_gradient()
tensor_summary_v2_op.shape(_scalar_shape)


@tensor_summary_v2_op.kernel
def _tensor_summary_v2(tag: Any, tensor: Any, serialized_summary_metadata: Any, *, T: dtypes.DType) -> Any:
    if np.ndim(tag):
        raise _invalid("tag must be scalar")
    if np.ndim(serialized_summary_metadata):
        raise _invalid("serialized_summary_metadata must be scalar")
    summary = _summary()
    value = summary.value.add(tag=_one_tag(tag, ""))
    _write_tensor(value.tensor, tensor, T)
    value.metadata.SetInParent()
    try:
        value.metadata.ParseFromString(as_array(serialized_summary_metadata)[()])
    except Exception:  # TensorFlow too writes the summary without a metadata that it cannot read
        value.metadata.Clear()
        value.metadata.SetInParent()
    return _serialized(summary)


def tensor_summary(name: str | None, tensor: Any, summary_description: str | None = None, collections: Any = None,
                   summary_metadata: Any = None, family: str | None = None, display_name: str | None = None) -> Tensor:
    """String scalar: a Summary with `tensor` of any type and shape.

    `summary_metadata` is a SummaryMetadata message, whose description and display name the other arguments replace.
    """
    from tfsandbox.proto import summary_pb2
    metadata = summary_pb2.SummaryMetadata()
    if summary_metadata is not None:
        metadata.MergeFromString(summary_metadata.SerializeToString())
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        summary = apply_op("TensorSummaryV2", tensor=tensor, tag=tag, name=scope,
                           serialized_summary_metadata=metadata.SerializeToString())
        collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


def text(name: str, tensor: Any, collections: Any = None) -> Tensor:
    """String scalar: a Summary with the strings of `tensor`, which TensorBoard shows as Markdown.

    Raises `ValueError` unless `tensor` is of type string.
    """
    from tfsandbox.proto import summary_pb2
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype!s}")
    metadata = summary_pb2.SummaryMetadata()
    metadata.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, summary_metadata=metadata, collections=collections)


# ------------------------------------------------------------ several together

merge_summary_op = register_op("MergeSummary", "inputs: N*string -> summary: string", "N: int >= 1").no_gradient()
merge_summary_op.shape(_scalar_shape)


@merge_summary_op.kernel
def _merge_summary(inputs: list[Any]) -> Any:
    from tfsandbox.proto import summary_pb2
    merged = _summary()
    tags: set[str] = set()
    for serialized in inputs:
        for item in as_array(serialized).ravel():
            try:
                found = summary_pb2.Summary.FromString(item)
            except Exception:
                raise _invalid("Could not parse one of the summary inputs") from None
            for value in found.value:
                if value.tag and value.tag in tags:
                    raise _invalid(f"Duplicate tag {value.tag} found in summary inputs")
                tags.add(value.tag)
            merged.value.extend(found.value)
    return _serialized(merged)


def merge(inputs: Sequence[Any], collections: Any = None, name: str | None = None) -> Tensor:
    """String scalar: one Summary with all values of several; their tags have to differ when it runs."""
    with ops.name_scope(name, "Merge", inputs):
        summary = apply_op("MergeSummary", inputs=inputs, name=name)
        collect(summary, collections, [])
    return summary


def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | None:
    """`merge` of a collection of the default graph, filtered by `scope`; None where it is empty."""
    found = ops.get_collection(key, scope)
    return merge(found, name=name) if found else None
