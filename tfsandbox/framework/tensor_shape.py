"""Static shapes: `TensorShape`, with `Dimension` for its entries, as TensorFlow 1 has them.

A shape holds a tuple of `int | None` (`sizes`) and makes `Dimension` objects only when asked: nearly all of
the shapes of a graph are never looked at entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from tfsandbox.framework import dtypes


class Dimension:
    """One entry of a `TensorShape`: a size, or unknown (`value` is None).

    Arithmetic and comparison with an unknown dimension give an unknown dimension, or None for comparisons.
    """

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        """Make a dimension of an int, a value that converts to one exactly, another Dimension, or None."""
        self._value = _size_of(value)

    @property
    def value(self) -> int | None:
        """The size, or None if it is not known."""
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __reduce__(self) -> tuple[type[Dimension], tuple[int | None]]:
        return Dimension, (self._value,)

    # An unknown size has no number: returning None makes Python raise the TypeError TensorFlow programs see.
    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def is_compatible_with(self, other: Any) -> bool:
        """True if the two could be the same size."""
        size = _size_of(other)
        return self._value is None or size is None or self._value == size

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless the two could be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """Return what is known of a size that is both; ValueError if it cannot be both."""
        self.assert_is_compatible_with(other)
        return Dimension(_size_of(other) if self._value is None else self._value)

    def __add__(self, other: Any) -> Dimension:
        return _sum_or_product(self, other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Dimension:
        return self + other

    def __mul__(self, other: Any) -> Dimension:
        return _sum_or_product(self, other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Dimension:
        return self * other

    def __sub__(self, other: Any) -> Dimension:
        return _sum_or_product(self, other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Dimension:
        return _calculated(_size_of(other), self._value, lambda a, b: a - b)

    def __floordiv__(self, other: Any) -> Dimension:
        return _sum_or_product(self, other, lambda a, b: a // b)

    def __rfloordiv__(self, other: Any) -> Dimension:
        return _calculated(_size_of(other), self._value, lambda a, b: a // b)

    def __mod__(self, other: Any) -> Dimension:
        return _calculated(self._value, _size_of(other), lambda a, b: a % b)

    def __rmod__(self, other: Any) -> Dimension:
        return _calculated(_size_of(other), self._value, lambda a, b: a % b)

    def __truediv__(self, other: Any) -> NoReturn:
        _refuse_division("Dimension", type(other).__name__)

    def __rtruediv__(self, other: Any) -> NoReturn:
        _refuse_division(type(other).__name__, "Dimension")

    def __eq__(self, other: object) -> Any:
        try:
            size = _size_of(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if self._value is None or size is None else self._value == size

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is None or equal is NotImplemented else not equal

    def __lt__(self, other: Any) -> bool | None:
        return _compared(self._value, _size_of(other), lambda a, b: a < b)

    def __le__(self, other: Any) -> bool | None:
        return _compared(self._value, _size_of(other), lambda a, b: a <= b)

    def __gt__(self, other: Any) -> bool | None:
        return _compared(self._value, _size_of(other), lambda a, b: a > b)

    def __ge__(self, other: Any) -> bool | None:
        return _compared(self._value, _size_of(other), lambda a, b: a >= b)


def _size_of(value: Any) -> int | None:
    """Return the size that `value` stands for; ValueError or TypeError if it stands for none."""
    if value is None:
        return None
    if type(value) is int:
        size = value
    elif isinstance(value, Dimension):
        return value._value
    elif isinstance(value, dtypes.DType):
        # A misplaced argument (`placeholder([2], tf.float32)`) is the usual reason: name the type.
        raise TypeError(f"Cannot convert {value} to Dimension")
    else:
        size = int(value)
        if not isinstance(value, str | bytes) and size != value:
            raise ValueError(f"Ambiguous dimension: {value}")
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def _calculated(a: int | None, b: int | None, rule: Callable[[int, int], int]) -> Dimension:
    return Dimension(None if a is None or b is None else rule(a, b))


def _sum_or_product(self: Dimension, other: Any, rule: Callable[[int, int], int]) -> Any:
    try:
        size = _size_of(other)
    except (TypeError, ValueError):
        return NotImplemented
    return _calculated(self._value, size, rule)


def _compared(a: int | None, b: int | None, rule: Callable[[int, int], bool]) -> bool | None:
    return None if a is None or b is None else rule(a, b)


def _refuse_division(left: str, right: str) -> NoReturn:
    raise TypeError(f"unsupported operand type(s) for /: {left!r} and {right!r}, please use // instead")


class TensorShape:
    """A static shape: fully known, known in part (some entries None), or unknown (`TensorShape(None)`)."""

    __slots__ = ("_sizes",)
    __hash__ = None  # type: ignore[assignment]

    _sizes: tuple[int | None, ...] | None

    def __init__(self, dims: Any) -> None:
        """Make a shape of None, a TensorShape, a TensorShapeProto, an iterable of sizes, or one size."""
        kind = type(dims)
        if kind is tuple or kind is list:
            self._sizes = tuple(
                [d if d is None or (type(d) is int and d >= 0) else _size_of(d) for d in dims]
            )
        elif dims is None:
            self._sizes = None
        elif kind is TensorShape:
            self._sizes = dims._sizes
        else:
            self._sizes = _sizes_of(dims)

    @classmethod
    def from_sizes(cls, sizes: tuple[int | None, ...] | None) -> TensorShape:
        """Make a shape of a tuple of None and ints >= 0 (an array's `shape`), without checking it."""
        shape = cls.__new__(cls)
        shape._sizes = sizes
        return shape

    @property
    def sizes(self) -> tuple[int | None, ...] | None:
        """The entries as a tuple of `int | None`; None if the rank is unknown. (TensorFlow has no such name.)"""
        return self._sizes

    @property
    def dims(self) -> list[Dimension] | None:
        """The entries as `Dimension` objects; None if the rank is unknown."""
        return None if self._sizes is None else [Dimension(s) for s in self._sizes]

    @property
    def _dims(self) -> list[Dimension] | None:
        return self.dims

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if unknown."""
        return None if self._sizes is None else len(self._sizes)

    @property
    def ndims(self) -> int | None:
        """The number of dimensions; None if unknown."""
        return None if self._sizes is None else len(self._sizes)

    def is_fully_defined(self) -> bool:
        """True if the rank and every size are known."""
        return self._sizes is not None and None not in self._sizes

    def num_elements(self) -> int | None:
        """The number of elements; None if the shape is not fully defined."""
        if self._sizes is None:
            return None
        count = 1
        for size in self._sizes:
            if size is None:
                return None
            count *= size
        return count

    def as_list(self) -> list[int | None]:
        """The entries as a list of `int | None`; ValueError if the rank is unknown."""
        if self._sizes is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._sizes)

    def as_proto(self) -> Any:
        """The shape as a TensorShapeProto, unknown sizes as -1."""
        from tfsandbox.proto import tensor_shape_pb2

        if self._sizes is None:
            return tensor_shape_pb2.TensorShapeProto(unknown_rank=True)
        proto = tensor_shape_pb2.TensorShapeProto()
        for size in self._sizes:
            proto.dim.add(size=-1 if size is None else size)
        return proto

    def __repr__(self) -> str:
        return f"TensorShape({self.dims!r})"

    def __str__(self) -> str:
        if self._sizes is None:
            return "<unknown>"
        texts = ["?" if size is None else str(size) for size in self._sizes]
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"

    def __reduce__(self) -> tuple[type[TensorShape], tuple[list[Dimension] | None]]:
        return TensorShape, (self.dims,)

    def __len__(self) -> int:
        if self._sizes is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._sizes)

    def __bool__(self) -> bool:
        """True if the rank is known, even for a scalar."""
        return self._sizes is not None

    def __iter__(self) -> Iterator[Dimension]:
        if self._sizes is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return map(Dimension, self._sizes)

    def __getitem__(self, key: Any) -> Any:
        """`shape[i]` is a Dimension, `shape[i:j]` a TensorShape, as far as they can be told."""
        if self._sizes is None:
            return _slice_of_unknown(key) if isinstance(key, slice) else Dimension(None)
        try:
            found = self._sizes[key]
        except (IndexError, TypeError):
            return list(self._sizes)[key]  # raises the same, but speaks of a list as TensorFlow does
        return TensorShape.from_sizes(found) if isinstance(found, tuple) else Dimension(found)

    def __eq__(self, other: object) -> bool:
        """True if both are known to be the same shape; an unknown size in either makes them unequal."""
        try:
            shape = as_shape(other)
        except TypeError:
            return NotImplemented
        # Two views of one shape are equal even if sizes are unknown.
        if self._sizes is shape._sizes:
            return True
        return self._sizes == shape._sizes and self._sizes is not None and None not in self._sizes

    def __ne__(self, other: object) -> bool:
        """As not `==`, but ValueError if either rank is unknown."""
        try:
            shape = as_shape(other)
        except TypeError:
            return NotImplemented
        if self._sizes is None or shape._sizes is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == shape

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __concat__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def concatenate(self, other: Any) -> TensorShape:
        """Return the dimensions of this shape followed by those of `other`; unknown if either is."""
        sizes = as_shape(other)._sizes
        return TensorShape.from_sizes(None if self._sizes is None or sizes is None else self._sizes + sizes)

    def is_compatible_with(self, other: Any) -> bool:
        """True if one array could have both shapes."""
        sizes = as_shape(other)._sizes
        if self._sizes is None or sizes is None or self._sizes == sizes:
            return True
        if len(self._sizes) != len(sizes):
            return False
        return all(a is None or b is None or a == b for a, b in zip(self._sizes, sizes, strict=True))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless one array could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def merge_with(self, other: Any) -> TensorShape:
        """Return what is known of a shape that is both; ValueError if nothing can be both."""
        shape = as_shape(other)
        if self._sizes is None:
            return shape
        if shape._sizes is None:
            return self
        if not self.is_compatible_with(shape):
            raise ValueError(f"Shapes {self} and {shape} are not compatible")
        merged = tuple([b if a is None else a for a, b in zip(self._sizes, shape._sizes, strict=True)])
        return TensorShape.from_sizes(merged)

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Return the narrowest shape both fit: where sizes differ it is unknown, where ranks differ wholly so."""
        sizes = as_shape(other)._sizes
        if self._sizes is None or sizes is None or len(self._sizes) != len(sizes):
            return unknown_shape()
        return TensorShape.from_sizes(
            tuple([a if a == b else None for a, b in zip(self._sizes, sizes, strict=True)])
        )

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError if the ranks are known and differ."""
        shape = as_shape(other)
        if self._sizes is not None and shape._sizes is not None and len(self._sizes) != len(shape._sizes):
            raise ValueError(f"Shapes {self} and {shape} must have the same rank")

    def assert_has_rank(self, rank: int | None) -> None:
        """Raise ValueError if this shape cannot have rank `rank`."""
        if self._sizes is not None and rank is not None and len(self._sizes) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless the rank and every size are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def with_rank(self, rank: int | None) -> TensorShape:
        """Return this shape with its rank known to be `rank`; ValueError if it is another."""
        self.assert_has_rank(rank)
        return unknown_shape(rank) if self._sizes is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return this shape; ValueError if its rank is known to be lower."""
        if self._sizes is not None and len(self._sizes) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return this shape; ValueError if its rank is known to be higher."""
        if self._sizes is not None and len(self._sizes) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self


def _sizes_of(dims: Any) -> tuple[int | None, ...] | None:
    """Return the sizes of anything that is not a list, tuple or None."""
    if isinstance(dims, TensorShape):
        return dims._sizes
    if isinstance(dims, str | bytes):
        text = dims.decode(errors="replace") if isinstance(dims, bytes) else dims
        raise TypeError(
            f"A string has ambiguous TensorShape, please wrap in a list or convert to an int: {text}"
        )
    # By its fields: protobuf need not be imported, and TensorFlow's own message is taken as well as ours.
    if hasattr(dims, "unknown_rank") and hasattr(dims, "dim"):
        return (
            None if dims.unknown_rank else tuple(None if d.size == -1 else _size_of(d.size) for d in dims.dim)
        )
    try:
        entries: Iterable[Any] = iter(dims)
    except TypeError as error:
        # A graph tensor refuses iteration with an error of its own, which says more than int() would.
        if type(error) is not TypeError:
            raise
        return (_size_of(dims),)
    return tuple([_size_of(entry) for entry in entries])


def _slice_of_unknown(key: slice) -> TensorShape:
    if key.step is not None:
        raise ValueError("Steps are not yet handled")
    start = 0 if key.start is None else key.start
    # Without an end, or with one counted from the back, nothing is known even about the rank.
    if key.stop is None or start < 0 or key.stop < 0:
        return unknown_shape()
    return unknown_shape(key.stop - start)


def as_shape(shape: Any) -> TensorShape:
    """Return `shape` itself if it is a TensorShape, otherwise the TensorShape made of it."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def as_dimension(value: Any) -> Dimension:
    """Return `value` itself if it is a Dimension, otherwise the Dimension made of it."""
    return value if isinstance(value, Dimension) else Dimension(value)


def unknown_shape(rank: int | None = None, **kwargs: Any) -> TensorShape:
    """Return a shape of which only the rank is known, or not even that. `ndims` is the old name of `rank`."""
    if rank is None:
        rank = kwargs.pop("ndims", None)
    if kwargs:
        raise TypeError(f"Unknown argument: {', '.join(map(str, kwargs))}")
    return TensorShape.from_sizes(None if rank is None else (None,) * rank)


def scalar() -> TensorShape:
    """Return the shape of a scalar."""
    return TensorShape.from_sizes(())


def vector(length: Any) -> TensorShape:
    """Return the shape of a vector of `length` (which may be None)."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """Return the shape of a matrix; either size may be None."""
    return TensorShape([rows, cols])


def dimension_value(dimension: Any) -> Any:
    """Return the size of a Dimension; anything else is returned as it is (an int or None already)."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Return one entry of a shape, an unknown Dimension if the rank is unknown; IndexError past the end."""
    found = shape[index]
    assert isinstance(found, Dimension)
    return found
