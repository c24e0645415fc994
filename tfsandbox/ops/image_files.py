"""Images in files: PNG, JPEG, GIF, BMP."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.image_types import convert_image_dtype
from tfsandbox.ops.kernel_values import as_array

_JPEG_ATTRS = ("channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool = false; "
               "acceptable_fraction: float = 1.0; dct_method: string = ''")
encode_png_op = register_op("EncodePng", "image: T -> contents: string",
                            "compression: int = -1; T: type in {uint8, uint16} = uint8").no_gradient()
decode_png_op = register_op("DecodePng", "contents: string -> image: dtype",
                            "channels: int = 0; dtype: type in {uint8, uint16} = uint8").no_gradient()
decode_jpeg_op = register_op("DecodeJpeg", "contents: string -> image: uint8", _JPEG_ATTRS).no_gradient()
decode_crop_op = register_op("DecodeAndCropJpeg", "contents: string, crop_window: int32 -> image: uint8",
                             _JPEG_ATTRS).no_gradient()
decode_gif_op = register_op("DecodeGif", "contents: string -> image: uint8").no_gradient()
decode_bmp_op = register_op("DecodeBmp", "contents: string -> image: uint8", "channels: int = 0").no_gradient()
encode_jpeg_op = register_op(
    "EncodeJpeg", "image: uint8 -> contents: string",
    "format: string in {'', 'grayscale', 'rgb'} = ''; quality: int = 95; progressive: bool = false; "
    "optimize_size: bool = false; chroma_downsampling: bool = true; density_unit: string in {'in', 'cm'} = 'in'; "
    "x_density: int = 300; y_density: int = 300; xmp_metadata: string = ''").no_gradient()
jpeg_shape_op = register_op("ExtractJpegShape", "contents: string -> image_shape: output_type",
                            "output_type: type in {int32, int64} = int32").no_gradient()


@encode_png_op.shape
@encode_jpeg_op.shape
def _encoded_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 3)
    return TensorShape([])


@decode_png_op.shape
@decode_jpeg_op.shape
@decode_crop_op.shape
@decode_bmp_op.shape
def _decoded_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 0)
    channels = c.attr("channels")
    if channels < 0:
        raise ValueError(f"channels must be non-negative, got {channels}")
    return TensorShape([None, None, channels or None])


@decode_gif_op.shape
def _gif_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 0)
    return TensorShape([None, None, None, 3])


@jpeg_shape_op.shape
def _jpeg_shape_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 0)
    return TensorShape([3])


@encode_png_op.kernel
def _encode_png(image: Any, *, compression: int) -> Any:
    from tfsandbox.lib.png import encode_png
    try:
        return encode_png(image, compression)
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None


_KINDS = {b"\xff\xd8\xff": "JPEG", b"\x89PNG": "PNG", b"GIF8": "GIF", b"BM": "BMP"}


def _kind(data: bytes) -> str | None:
    return next((kind for start, kind in _KINDS.items() if data.startswith(start)), None)


def _decoded(contents: Any, channels: int) -> np.ndarray:
    """[h, w, c] of a file of any kind; `channels` that are not in it are computed."""
    data = as_array(contents).item() if not isinstance(contents, bytes) else contents
    kind = _kind(data)
    if kind is None or kind == "BMP":
        shown = data[:16].decode("latin1")
        raise errors.InvalidArgumentError(
            None, None, f"Expected image (JPEG, PNG, or GIF), got unknown format starting with '{shown}'")
    if kind == "PNG":
        from tfsandbox.lib.png_reader import decode_png
        try:
            image = decode_png(data)
        except (ValueError, KeyError) as error:
            raise errors.InvalidArgumentError(None, None, f"Invalid PNG data, size {len(data)}: {error}") from None
    else:
        image = _frames(data)[0]
    return _with_channels(image, channels)


def _frames(data: bytes) -> np.ndarray:
    """[frames, h, w, c], by Pillow."""
    try:
        from PIL import Image, ImageSequence
    except ImportError:
        raise errors.UnimplementedError(
            None, None, f"Reading {_kind(data)} files needs the package Pillow: pip install pillow") from None
    try:
        with Image.open(io.BytesIO(data)) as file:
            mode = "L" if file.mode in ("1", "L") else "RGBA" if file.mode == "RGBA" and _kind(data) == "BMP" else "RGB"
            if _kind(data) == "GIF":
                mode = "RGB"
            frames = [np.asarray(frame.convert(mode)) for frame in ImageSequence.Iterator(file)]
    except OSError as error:
        raise errors.InvalidArgumentError(
            None, None, f"Invalid {_kind(data)} data, size {len(data)}: {error}") from None
    images = np.stack(frames)
    return images if images.ndim == 4 else images[..., None]


def _with_channels(image: np.ndarray, channels: int) -> np.ndarray:
    """The image with 1 (grey), 3 (RGB) or 4 (RGB and alpha) channels; as it is for 0."""
    if channels in (0, image.shape[2]):
        return image
    has_alpha = image.shape[2] in (2, 4)
    colors = image[..., :-1] if has_alpha else image
    most = image.dtype.type(np.iinfo(image.dtype).max)
    if channels == 1:
        if colors.shape[2] == 1:
            return colors
        weights = np.array([9797, 19234, 3737], np.int64)  # in parts of 32768
        return ((colors.astype(np.int64) * weights).sum(2, keepdims=True) >> 15).astype(image.dtype)
    if colors.shape[2] == 1:
        colors = np.repeat(colors, 3, 2)
    if channels == 3:
        return colors
    alpha = image[..., -1:] if has_alpha else np.full((*image.shape[:2], 1), most)
    return np.concatenate([colors, alpha], 2)


def _check_channels(channels: int) -> None:
    if channels not in (0, 1, 3, 4):
        raise errors.InvalidArgumentError(None, None, f"channels must be 0, 1, 3, or 4, got {channels}")


@decode_png_op.kernel
def _decode_png(contents: Any, *, channels: int, dtype: dtypes.DType) -> Any:
    _check_channels(channels)
    image = _decoded(contents, channels)
    wanted = np.dtype(dtype.as_numpy_dtype)
    if image.dtype == wanted:
        return image
    if wanted == np.uint8:
        return (image >> 8).astype(np.uint8)
    return image.astype(np.uint16) * np.uint16(257)


@decode_jpeg_op.kernel
def _decode_jpeg(contents: Any, *, channels: int, ratio: int) -> Any:
    _check_channels(channels)
    image = _decoded(contents, channels)
    return np.ascontiguousarray(image[::ratio, ::ratio]) if ratio > 1 else image


@decode_crop_op.kernel
def _decode_crop(contents: Any, crop_window: Any, *, channels: int, ratio: int) -> Any:
    top, left, height, width = crop_window.tolist()
    return np.ascontiguousarray(
        _decode_jpeg(contents, channels=channels, ratio=ratio)[top:top + height, left:left + width])


@decode_gif_op.kernel
def _decode_gif(contents: Any) -> Any:
    data = as_array(contents).item()
    if _kind(data) == "GIF":
        return _frames(data)
    return _decoded(contents, 3)[None]


@decode_bmp_op.kernel
def _decode_bmp(contents: Any, *, channels: int) -> Any:
    data = as_array(contents).item()
    if _kind(data) != "BMP":
        raise errors.InvalidArgumentError(None, None, "Incomplete bmp content, requires at least 32 bytes to find the "
                                                      f"header size, width, height, and bpp, got {len(data)} bytes")
    return _with_channels(_frames(data)[0], channels)


@encode_jpeg_op.kernel
def _encode_jpeg(image: Any, *, format: bytes, quality: int, progressive: bool, optimize_size: bool) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise errors.UnimplementedError(
            None, None, "Writing JPEG files needs the package Pillow: pip install pillow") from None
    if image.shape[2] not in (1, 3):
        raise errors.InvalidArgumentError(None, None, f"image must have 1 or 3 channels, got {image.shape[2]}")
    file = io.BytesIO()
    picture = Image.fromarray(image[..., 0] if image.shape[2] == 1 else image)
    picture.save(file, "JPEG", quality=quality, progressive=progressive, optimize=optimize_size)
    return file.getvalue()


@jpeg_shape_op.kernel
def _jpeg_shape(contents: Any, *, output_type: dtypes.DType) -> Any:
    return np.array(_decoded(contents, 0).shape, output_type.as_numpy_dtype)


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """The PNG file, a string, of an image [h, w, 1 to 4 channels] of uint8 or uint16."""
    return apply_op("EncodePng", image=image, compression=compression, name=name)


def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """[h, w, c]: the image in a PNG file; `channels` 1 (grey), 3 (RGB) or 4 (RGB and alpha) converts it."""
    return apply_op("DecodePng", contents=contents, channels=channels, dtype=dtype, name=name)


def decode_jpeg(contents: Any, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
                try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = "",
                name: str | None = None) -> Tensor:
    """[h, w, c]: the image in a JPEG file. A run needs the package Pillow."""
    return apply_op("DecodeJpeg", contents=contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
                    try_recover_truncated=try_recover_truncated, acceptable_fraction=float(acceptable_fraction),
                    dct_method=dct_method, name=name)


def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: int = 0, ratio: int = 1,
                         fancy_upscaling: bool = True, try_recover_truncated: bool = False,
                         acceptable_fraction: float = 1, dct_method: str = "", name: str | None = None) -> Tensor:
    """The part (y, x, height, width) of the image in a JPEG file. A run needs the package Pillow."""
    return apply_op("DecodeAndCropJpeg", contents=contents, crop_window=crop_window, channels=channels, ratio=ratio,
                    fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
                    acceptable_fraction=float(acceptable_fraction), dct_method=dct_method, name=name)


def encode_jpeg(image: Any, format: str = "", quality: int = 95, progressive: bool = False,
                optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: str = "in",
                x_density: int = 300, y_density: int = 300, xmp_metadata: str = "", name: str | None = None) -> Tensor:
    """The JPEG file, a string, of an image [h, w, 1 or 3] of uint8. A run needs the package Pillow."""
    return apply_op("EncodeJpeg", image=image, format=format, quality=quality, progressive=progressive,
                    optimize_size=optimize_size, chroma_downsampling=chroma_downsampling, density_unit=density_unit,
                    x_density=x_density, y_density=y_density, xmp_metadata=xmp_metadata, name=name)


def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """[h, w, c] of a JPEG file. A run needs the package Pillow."""
    return apply_op("ExtractJpegShape", contents=contents, output_type=output_type, name=name)


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """[frames, h, w, 3]: the images in a GIF file. A run needs the package Pillow."""
    return apply_op("DecodeGif", contents=contents, name=name)


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """[h, w, c]: the image in a BMP file. A run needs the package Pillow."""
    return apply_op("DecodeBmp", contents=contents, channels=channels, name=name)


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether a string begins as a JPEG file does."""
    return _starts_with(contents, b"\xff\xd8\xff", name, "is_jpeg")


def _starts_with(contents: Any, start: bytes, name: str | None, default: str) -> Tensor:
    from tfsandbox.ops import math_ops, string_ops
    with ops.name_scope(name, default):
        return math_ops.equal(string_ops.substr(contents, 0, len(start)), start, name=name)


def decode_image(contents: Any, channels: int | None = None, dtype: Any = dtypes.uint8, name: str | None = None,
                 expand_animations: bool = True) -> Tensor:
    """The image in a JPEG, PNG, GIF or BMP file: [h, w, c], or [frames, h, w, 3] of a GIF."""
    from tfsandbox.ops import control_flow_ops, math_ops, string_ops
    with ops.name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        dtype = dtypes.as_dtype(dtype)
        number = 0 if channels is None else channels
        start = string_ops.substr(contents, 0, 3)

        def check(condition: Any, message: str) -> Any:
            return control_flow_ops.Assert(condition, [message])

        def bmp() -> Tensor:
            two = string_ops.substr(contents, 0, 2)
            known = check(math_ops.equal(two, b"BM", name="is_bmp"),
                          "Unable to decode bytes as JPEG, PNG, GIF, or BMP")
            fits = check(math_ops.not_equal(number, 1, name="check_channels"),
                         "Channels must be in (None, 0, 3) when decoding BMP images")
            with ops.control_dependencies([known, fits]):
                return convert_image_dtype(decode_bmp(contents), dtype)

        def gif() -> Tensor:
            some = math_ops.not_equal(number, 1, name="check_gif_channels")
            more = math_ops.not_equal(number, 4, name="check_gif_channels")
            fits = check(math_ops.logical_and(some, more), "Channels must be in (None, 0, 3) when decoding GIF images")
            with ops.control_dependencies([fits]):
                result = convert_image_dtype(decode_gif(contents), dtype)
                return result if expand_animations else array_ops.gather(result, 0)

        def gif_or_bmp() -> Tensor:
            return control_flow_ops.cond(math_ops.equal(start, b"GIF", name="is_gif"), gif, bmp, name="cond_gif")

        def png() -> Tensor:
            kind = dtypes.uint8 if dtype == dtypes.uint8 else dtypes.uint16
            return convert_image_dtype(decode_png(contents, number, dtype=kind), dtype)

        def jpeg() -> Tensor:
            fits = check(math_ops.not_equal(number, 4, name="check_jpeg_channels"),
                         "Channels must be in (None, 0, 1, 3) when decoding JPEG images")
            with ops.control_dependencies([fits]):
                return convert_image_dtype(decode_jpeg(contents, number), dtype)

        def others() -> Tensor:
            return control_flow_ops.cond(_starts_with(contents, b"\x89PN", None, "is_png"), png, gif_or_bmp,
                                         name="cond_png")

        return control_flow_ops.cond(is_jpeg(contents), jpeg, others, name="cond_jpeg")
