"""Element types of tensors: `DType`, the constants `float32`, `string`, ..., and `as_dtype`.

numpy has no bfloat16 and no quantized types, so arrays of those are one-field structured arrays that hold the raw
bits: `[('bfloat16', '<u2')]`, `[('qint8', 'i1')]` and so on. Nothing can be added or rounded by accident in that form;
a kernel converts on the way in and out with `bfloat16_to_float32` and `float32_to_bfloat16` (or reads the integer
field). Strings are object arrays of `bytes`. Resource and variant tensors have no array form.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

# What `np.dtype` accepts; narrower than typing can say.
NumpyType = Any


class DType:
    """The element type of a `Tensor`; `tf.float32` and its like are the only instances a program needs.

    Instances are immutable. Equal types compare equal whatever they are written as:
    `tf.float32 == 'float32' == np.float32`.
    """

    __slots__ = (
        "_array_dtype",
        "_is_ref_dtype",
        "_type_enum",
        "as_numpy_dtype",
        "base_dtype",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numpy_compatible",
        "is_quantized",
        "is_unsigned",
        "name",
    )

    _type_enum: int
    name: str
    as_numpy_dtype: NumpyType
    """The numpy type, a scalar class where there is one; KeyError for resource and variant."""
    _array_dtype: np.dtype[Any] | None
    """`np.dtype(as_numpy_dtype)`, or None for resource and variant."""
    base_dtype: DType
    """This type without `_ref`."""
    _is_ref_dtype: builtins.bool
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_floating: builtins.bool
    """True for real floating point types, bfloat16 among them."""
    is_integer: builtins.bool
    """True for integers that are not quantized."""
    is_numpy_compatible: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool

    def __init__(self, type_enum: int) -> None:
        """Make the type of a `DataType` enum value; raises TypeError for a value that is none."""
        enum = int(type_enum)
        base = enum - _REF_OFFSET if enum > _REF_OFFSET else enum
        if base not in _BASE_TYPES:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}")
        name, numpy_type, kind = _BASE_TYPES[base]
        is_ref = base != enum
        put = object.__setattr__
        put(self, "_type_enum", enum)
        put(self, "name", name + "_ref" if is_ref else name)
        put(self, "_is_ref_dtype", is_ref)
        put(self, "base_dtype", (_BY_ENUM.get(base) or DType(base)) if is_ref else self)
        put(self, "is_numpy_compatible", numpy_type is not None)
        put(self, "_array_dtype", None if numpy_type is None else np.dtype(numpy_type))
        if numpy_type is not None:
            put(self, "as_numpy_dtype", numpy_type)
        put(self, "is_bool", kind == "b")
        put(self, "is_floating", kind == "f")
        put(self, "is_complex", kind == "c")
        put(self, "is_integer", kind in "iu")
        put(self, "is_unsigned", kind == "u")
        put(self, "is_quantized", kind == "q")

    def __getattr__(self, attribute: str) -> Any:
        # Reached only when a slot is empty: resource and variant have no numpy type.
        if attribute == "as_numpy_dtype":
            raise KeyError(self._type_enum)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r}")

    def __setattr__(self, attribute: str, value: object) -> None:
        raise AttributeError("can't set attribute")

    @property
    def as_datatype_enum(self) -> int:
        """The `DataType` enum value, as GraphDef stores it."""
        return self._type_enum

    @property
    def _as_ref(self) -> DType:
        """The `_ref` form of this type: what the output of a `VariableV2` node has."""
        return self if self._is_ref_dtype else _BY_ENUM[self._type_enum + _REF_OFFSET]

    @property
    def real_dtype(self) -> DType:
        """The type of the real part: float32 of complex64, float64 of complex128, else the type itself."""
        return _REAL_PART.get(self.base_dtype._type_enum, self)

    @property
    def size(self) -> int:
        """Bytes an element takes in a numpy array; 1 for resource and variant."""
        return 1 if self._array_dtype is None else self._array_dtype.itemsize

    @property
    def min(self) -> Any:
        """The least representable value; TypeError for types without order or limits."""
        return self._extreme("min", "minimum")

    @property
    def max(self) -> Any:
        """The greatest representable value; TypeError for types without order or limits."""
        return self._extreme("max", "maximum")

    def _extreme(self, which: str, word: str) -> Any:
        if self.base_dtype._type_enum == _BFLOAT16:
            # The bits of the greatest finite bfloat16 are those of the greatest float32, cut in half.
            limit = np.array(0x7F7F << 16, np.uint32).view(np.float32)[()]
            return -limit if which == "min" else limit
        if self.is_floating:
            return getattr(np.finfo(self.as_numpy_dtype), which)
        if self.is_integer:
            return getattr(np.iinfo(self.as_numpy_dtype), which)
        raise TypeError(f"Cannot find {word} value of {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The (low, high) range of image values, low clipped at 0; KeyError for types no image has."""
        if self.is_numpy_compatible and self._numpy_scalar_type() in dtype_range:
            low, high = dtype_range[self._numpy_scalar_type()]
            return (low if self.is_bool else 0), high
        raise KeyError(self.as_numpy_dtype)

    def _numpy_scalar_type(self) -> type:
        if self._array_dtype is None:
            raise KeyError(self._type_enum)
        return self._array_dtype.type

    def is_compatible_with(self, other: object) -> builtins.bool:
        """True if a value of type `other` may go where this type is asked for, as a `_ref` may for its base."""
        other_type = as_dtype(other)
        return self._type_enum in (other_type._type_enum, other_type.base_dtype._type_enum)

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if type(other) is DType:
            return self._type_enum == other._type_enum
        if other is None:
            return False
        try:
            return self._type_enum == as_dtype(other)._type_enum
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self._type_enum

    def __repr__(self) -> str:
        return "tf." + self.name

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> tuple[Callable[[Any], DType], tuple[str]]:
        return as_dtype, (self.name,)


_REF_OFFSET = 100
_BFLOAT16 = 14

# DataType enum value -> (name, numpy type, kind).
# Kinds: f real, c complex, i signed, u unsigned, b bool, q quantized, - anything else.
_BASE_TYPES: dict[int, tuple[str, NumpyType, str]] = {
    1: ("float32", np.float32, "f"),
    2: ("float64", np.float64, "f"),
    3: ("int32", np.int32, "i"),
    4: ("uint8", np.uint8, "u"),
    5: ("int16", np.int16, "i"),
    6: ("int8", np.int8, "i"),
    7: ("string", object, "-"),
    8: ("complex64", np.complex64, "c"),
    9: ("int64", np.int64, "i"),
    10: ("bool", builtins.bool, "b"),
    11: ("qint8", np.dtype([("qint8", "i1")]), "q"),
    12: ("quint8", np.dtype([("quint8", "u1")]), "q"),
    13: ("qint32", np.dtype([("qint32", "<i4")]), "q"),
    14: ("bfloat16", np.dtype([("bfloat16", "<u2")]), "f"),
    15: ("qint16", np.dtype([("qint16", "<i2")]), "q"),
    16: ("quint16", np.dtype([("quint16", "<u2")]), "q"),
    17: ("uint16", np.uint16, "u"),
    18: ("complex128", np.complex128, "c"),
    19: ("float16", np.float16, "f"),
    20: ("resource", None, "-"),
    21: ("variant", None, "-"),
    22: ("uint32", np.uint32, "u"),
    23: ("uint64", np.uint64, "u"),
}

# Base types come first: a `_ref` type points at its base.
_BY_ENUM: dict[int, DType] = {}
for _enum in _BASE_TYPES:
    _BY_ENUM[_enum] = DType(_enum)
for _enum in _BASE_TYPES:
    _BY_ENUM[_enum + _REF_OFFSET] = DType(_enum + _REF_OFFSET)

float32 = _BY_ENUM[1]
float64 = double = _BY_ENUM[2]
int32 = _BY_ENUM[3]
uint8 = _BY_ENUM[4]
int16 = _BY_ENUM[5]
int8 = _BY_ENUM[6]
string = _BY_ENUM[7]
complex64 = _BY_ENUM[8]
int64 = _BY_ENUM[9]
bool = _BY_ENUM[10]
qint8 = _BY_ENUM[11]
quint8 = _BY_ENUM[12]
qint32 = _BY_ENUM[13]
bfloat16 = _BY_ENUM[14]
qint16 = _BY_ENUM[15]
quint16 = _BY_ENUM[16]
uint16 = _BY_ENUM[17]
complex128 = _BY_ENUM[18]
float16 = half = _BY_ENUM[19]
resource = _BY_ENUM[20]
variant = _BY_ENUM[21]
uint32 = _BY_ENUM[22]
uint64 = _BY_ENUM[23]

float32_ref = _BY_ENUM[101]
float64_ref = double_ref = _BY_ENUM[102]
int32_ref = _BY_ENUM[103]
uint8_ref = _BY_ENUM[104]
int16_ref = _BY_ENUM[105]
int8_ref = _BY_ENUM[106]
string_ref = _BY_ENUM[107]
complex64_ref = _BY_ENUM[108]
int64_ref = _BY_ENUM[109]
bool_ref = _BY_ENUM[110]
qint8_ref = _BY_ENUM[111]
quint8_ref = _BY_ENUM[112]
qint32_ref = _BY_ENUM[113]
bfloat16_ref = _BY_ENUM[114]
qint16_ref = _BY_ENUM[115]
quint16_ref = _BY_ENUM[116]
uint16_ref = _BY_ENUM[117]
complex128_ref = _BY_ENUM[118]
float16_ref = half_ref = _BY_ENUM[119]
resource_ref = _BY_ENUM[120]
variant_ref = _BY_ENUM[121]
uint32_ref = _BY_ENUM[122]
uint64_ref = _BY_ENUM[123]

_REAL_PART: dict[int, DType] = {8: float32, 18: float64}

QUANTIZED_DTYPES: frozenset[DType] = frozenset(d for d in _BY_ENUM.values() if d.is_quantized)
TF_VALUE_DTYPES: set[DType] = {d for d in _BY_ENUM.values() if d.is_numpy_compatible and not d._is_ref_dtype}

# The range of values an image of each numpy type has by convention.
dtype_range: dict[type, tuple[Any, Any]] = {
    np.bool_: (False, True),
    np.float32: (-1, 1),
    np.float64: (-1, 1),
    **{t: (int(np.iinfo(t).min), int(np.iinfo(t).max)) for t in (np.uint8, np.uint16, np.uint32, np.uint64)},
    **{t: (int(np.iinfo(t).min), int(np.iinfo(t).max)) for t in (np.int8, np.int16, np.int32, np.int64)},
}

# numpy scalar classes. The C names (longlong, intc) are classes of their own on some platforms, so they are
# looked up by kind and size.
_BY_NUMPY_TYPE: dict[type, DType] = {
    d._numpy_scalar_type(): d
    for d in sorted(TF_VALUE_DTYPES, key=hash)
    if d._numpy_scalar_type() is not np.void
}
_BY_NUMPY_TYPE.update({np.bytes_: string, np.str_: string})
for _code in "bBhHiIlLqQ":
    _c_type = np.dtype(_code)
    _BY_NUMPY_TYPE.setdefault(
        _c_type.type, _BY_NUMPY_TYPE[np.dtype(f"{_c_type.kind}{_c_type.itemsize}").type]
    )

_BY_STRUCTURED_DTYPE: dict[np.dtype[Any], DType] = {
    d._array_dtype: d for d in TF_VALUE_DTYPES if d._array_dtype is not None and d._array_dtype.names
}

_BY_VALUE: dict[Any, DType] = {
    **{d.name: d for d in _BY_ENUM.values()},
    "half": half,
    "float": float32,
    "double": double,
    "half_ref": half_ref,
    "float_ref": float32_ref,
    "double_ref": double_ref,
    **_BY_ENUM,
    **_BY_NUMPY_TYPE,
    # int is missing on purpose: TensorFlow refuses to guess between int32 and int64.
    builtins.float: float32,
    builtins.bool: bool,
    object: string,
}


def as_dtype(type_value: Any) -> DType:
    """Return the `DType` for a DType, an enum value, a name or a numpy type; TypeError for anything else."""
    if type(type_value) is DType:
        return type_value
    if isinstance(type_value, np.dtype):
        found = _BY_NUMPY_TYPE.get(type_value.type) or _BY_STRUCTURED_DTYPE.get(type_value)
        # bfloat16 arrays of other packages register a type of that name.
        if found is None and type_value.itemsize == 2 and type_value.name == "bfloat16":
            found = bfloat16
    else:
        found = _BY_VALUE.get(type_value)
        if found is None and isinstance(type_value, type) and type_value.__name__ == "bfloat16":
            found = bfloat16
        if found is None and isinstance(type_value, DType):
            return type_value
    if found is None:
        raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")
    return found


def bfloat16_to_float32(bits: np.ndarray) -> np.ndarray:
    """Widen bfloat16 (our structured array, or its uint16 bits) to float32, exactly."""
    words = bits["bfloat16"] if bits.dtype.names else bits.view(np.uint16)
    return (words.astype(np.uint32) << np.uint32(16)).view(np.float32)


def float32_to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Round float32 to the nearest bfloat16 (ties to even; NaN stays NaN), as our structured array."""
    words = np.ascontiguousarray(values, np.float32).view(np.uint32).reshape(np.shape(values))
    rounded = (words + (np.uint32(0x7FFF) + ((words >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    # Rounding could carry a NaN's payload into infinity; TensorFlow writes every NaN as the one quiet NaN.
    halves = np.where(np.isnan(values), np.uint32(0x7FC0), rounded).astype(np.uint16)
    return halves.view(bfloat16.as_numpy_dtype)
