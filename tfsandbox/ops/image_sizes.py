"""What functions on images ask of their shapes: sizes that are numbers where they are known, and checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops


def sizes_of(image: Tensor, rank: int) -> list[Any]:
    """The sizes of an image of that rank: numbers where they are known, else scalar tensors."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    known = image.shape.with_rank(rank).as_list()
    computed = array_ops.unstack(array_ops.shape(image), rank)
    return [tensor if size is None else size for size, tensor in zip(known, computed)]


def require(condition: Any, error: type[Exception], message: str) -> list[Operation]:
    """The checks that a run makes where the condition is a tensor; an exception at once where it is false."""
    from tfsandbox.ops import control_flow_ops
    if isinstance(condition, Tensor):
        return [control_flow_ops.Assert(condition, [message])]
    if not condition:
        raise error(message)
    return []


def require_image(image: Tensor, static: bool = True) -> list[Operation]:
    """Checks that the rank is at least 3 and nothing is empty; with `static` the shape must be known."""
    from tfsandbox.ops import check_ops
    try:
        shape = image.shape.with_rank(3) if image.shape.ndims is None else image.shape.with_rank_at_least(3)
    except ValueError:
        raise ValueError("'image' must be at least three-dimensional.") from None
    if static and not shape.is_fully_defined():
        raise ValueError("'image' must be fully defined.")
    if any(size == 0 for size in shape.as_list()[-3:]):
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {shape}")
    if shape.is_fully_defined():
        return []
    return [check_ops.assert_positive(array_ops.shape(image), ["all dims of 'image.shape' must be > 0."]),
            check_ops.assert_greater_equal(array_ops.rank(image), 3,
                                           message="'image' must be at least three-dimensional.")]


def checked(checks: Sequence[Operation], image: Tensor) -> Tensor:
    """The image, once the checks have passed."""
    from tfsandbox.ops import control_flow_ops
    return control_flow_ops.with_dependencies(checks, image)


def as_batch(image: Tensor) -> tuple[Tensor, bool]:
    """([n, h, w, c], whether it was one already) of an image [h, w, c] or a batch; unknown rank counts as [h, w, c]."""
    ndims = image.shape.ndims
    if ndims is None:
        batch = array_ops.expand_dims(image, 0)
        batch.set_shape([None] * 4)
        return batch, False
    if ndims == 3:
        return array_ops.expand_dims(image, 0), False
    if ndims != 4:
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return image, True


def static(sizes: Sequence[Any]) -> list[Any]:
    """Sizes with None instead of tensors."""
    return [None if isinstance(size, Tensor) else size for size in sizes]


def as_image(image: Any, name: str = "image") -> Tensor:
    """`image` as a tensor."""
    return ops.convert_to_tensor(image, name=name)
