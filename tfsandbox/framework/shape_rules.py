"""What shape rules demand of shapes, with errors in the words of TensorFlow's shape inference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.tensor_shape import TensorShape

Sizes = tuple[int | None, ...]


def text(shape: TensorShape) -> str:
    """`[2,?]`, as error messages write shapes."""
    if shape.sizes is None:
        return "?"
    return "[" + ",".join("?" if d is None else str(d) for d in shape.sizes) + "]"


def unknown_of_rank(rank: int | None) -> TensorShape:
    """A shape of that rank, every size unknown."""
    return UNKNOWN if rank is None else TensorShape.from_sizes((None,) * rank)


def with_rank(shape: TensorShape, rank: int) -> TensorShape:
    """The shape, known to have that rank; `ValueError` where it has another."""
    if shape.sizes is None:
        return unknown_of_rank(rank)
    if len(shape.sizes) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(shape.sizes)}")
    return shape


def with_rank_at_least(shape: TensorShape, rank: int) -> TensorShape:
    """The shape; `ValueError` where its rank is known to be less."""
    if shape.sizes is not None and len(shape.sizes) < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {len(shape.sizes)}")
    return shape


def with_rank_at_most(shape: TensorShape, rank: int) -> TensorShape:
    """The shape; `ValueError` where its rank is known to be greater."""
    if shape.sizes is not None and len(shape.sizes) > rank:
        raise ValueError(f"Shape must be at most rank {rank} but is rank {len(shape.sizes)}")
    return shape


def merge_sizes(a: int | None, b: int | None) -> int | None:
    """What is known of a size that is both; `ValueError` where it cannot be."""
    if a is None or b is None or a == b:
        return b if a is None else a
    raise ValueError(f"Dimensions must be equal, but are {a} and {b}")


def with_size(size: int | None, wanted: int) -> int:
    """The size, known to be `wanted`; `ValueError` where it is another."""
    if size is not None and size != wanted:
        raise ValueError(f"Dimension must be {wanted} but is {size}")
    return wanted


def merge(a: TensorShape, b: TensorShape) -> TensorShape:
    """What is known of a shape that is both; `ValueError` where it cannot be."""
    if a.sizes is None or b.sizes is None:
        return b if a.sizes is None else a
    if len(a.sizes) != len(b.sizes):
        raise ValueError(f"Shapes must be equal rank, but are {len(a.sizes)} and {len(b.sizes)}")
    sizes = []
    for i, (m, n) in enumerate(zip(a.sizes, b.sizes)):
        if m is not None and n is not None and m != n:
            raise ValueError(f"Dimension {i} in both shapes must be equal, but are {m} and {n}. "
                             f"Shapes are {text(a)} and {text(b)}.")
        sizes.append(n if m is None else m)
    return TensorShape.from_sizes(tuple(sizes))


def merge_prefix(shape: TensorShape, prefix: TensorShape) -> TensorShape:
    """The shape, known to begin with `prefix`."""
    if shape.sizes is None or prefix.sizes is None:
        return shape
    rank = len(prefix.sizes)
    with_rank_at_least(shape, rank)
    head = tuple(merge_sizes(size, known) for size, known in zip(shape.sizes, prefix.sizes))
    return TensorShape.from_sizes(head + shape.sizes[rank:])


def size_of_scalar(c: ShapeContext, index: int) -> int | None:
    """The size that an input is, None if it is not known; `ValueError` unless it is a number that can be one."""
    value = c.value(index)
    if value is None:
        return None
    if np.ndim(value):
        raise ValueError(f"Input must be scalar but has rank {np.ndim(value)}")
    if value < 0:
        raise ValueError(f"Dimension size, given by scalar input {index}, must be non-negative but is {int(value)}")
    return int(value)


def joined(*parts: TensorShape) -> TensorShape:
    """The sizes of all parts, one after the other."""
    result: Sizes = ()
    for part in parts:
        if part.sizes is None:
            return UNKNOWN
        result += part.sizes
    return TensorShape.from_sizes(result)


def known_product(sizes: Sequence[int | None]) -> int | None:
    """The product of sizes; None where one of them is unknown."""
    count = 1
    for size in sizes:
        if size is None:
            return None
        count *= size
    return count
