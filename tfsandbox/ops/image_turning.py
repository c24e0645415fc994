"""Images [h, w, c] and batches of them, mirrored and turned."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops
from tfsandbox.ops.image_sizes import as_image, checked, require_image


def _checked_image(image: Any) -> tuple[Tensor, bool]:
    """(the image with its checks, whether it is a batch); of unknown rank it counts as one image."""
    image = as_image(image)
    image = checked(require_image(image, static=False), image)
    ndims = image.shape.ndims
    if ndims not in (None, 3, 4):
        raise ValueError(f"'image' must have either 3 or 4 dimensions, but has {ndims}.")
    return image, ndims == 4


def _with_shape_of(image: Tensor, result: Tensor) -> Tensor:
    result.set_shape([None, None, None] if image.shape.ndims is None else image.shape)
    return result


def _flip(image: Any, axis: int, name: str) -> Tensor:
    with ops.name_scope(None, name, [image]):
        image, batched = _checked_image(image)
        return _with_shape_of(image, array_ops.reverse(image, [axis + batched]))


def flip_left_right(image: Any) -> Tensor:
    """The image or images with left and right exchanged."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """The image or images with top and bottom exchanged."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, name: str) -> Tensor:
    from tfsandbox.ops import control_flow_ops, math_ops, random_ops
    with ops.name_scope(None, name, [image]) as scope:
        image, batched = _checked_image(image)
        if not batched:
            chosen = math_ops.less(random_ops.random_uniform([], 0, 1.0, seed=seed), 0.5)
            result = control_flow_ops.cond(
                chosen, lambda: array_ops.reverse(image, [axis]), lambda: image, name=scope)
            return _with_shape_of(image, result)
        count = array_ops.shape(image)[0]
        chances = random_ops.random_uniform([count], 0, 1.0, seed=seed)
        flips = math_ops.cast(math_ops.round(array_ops.reshape(chances, [count, 1, 1, 1])), image.dtype)
        return flips * array_ops.reverse(image, [axis + 1]) + (1 - flips) * image


def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """`flip_left_right` with a chance of one half, for each image of a batch by itself."""
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """`flip_up_down` with a chance of one half, for each image of a batch by itself."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def transpose(image: Any, name: str | None = None) -> Tensor:
    """The image or images with rows and columns exchanged."""
    with ops.name_scope(name, "transpose", [image]):
        image, batched = _checked_image(image)
        return array_ops.transpose(image, [0, 2, 1, 3] if batched else [1, 0, 2], name="transpose")


transpose_image = transpose


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """The image or images turned counter-clockwise `k` times by 90 degrees."""
    from tfsandbox.ops import control_flow_ops, math_ops
    with ops.name_scope(name, "rot90", [image, k]) as scope:
        image, batched = _checked_image(image)
        k = ops.convert_to_tensor(k, dtype=dtypes.int32, name="k")
        k.shape.assert_has_rank(0)
        k = math_ops.mod(k, 4)
        rows, columns = 0 + batched, 1 + batched
        order = [0, 2, 1, 3] if batched else [1, 0, 2]
        result = control_flow_ops.case([
            (math_ops.equal(k, 1), lambda: array_ops.transpose(array_ops.reverse(image, [columns]), order)),
            (math_ops.equal(k, 2), lambda: array_ops.reverse(image, [rows, columns])),
            (math_ops.equal(k, 3), lambda: array_ops.reverse(array_ops.transpose(image, order), [columns])),
        ], default=lambda: image, exclusive=True, name=scope)
        if batched:
            result.set_shape([image.shape[0], None, None, image.shape[3]])
        else:
            result.set_shape([None, None, None if image.shape.ndims is None else image.shape[2]])
        return result
