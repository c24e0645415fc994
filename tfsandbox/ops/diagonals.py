"""Diagonals and bands of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops, shape_inference, shape_rules
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, reductions

__all__ = ["diag", "diag_part", "matrix_band_part", "matrix_diag", "matrix_diag_part", "matrix_set_diag"]

_TYPES = "bfloat16, float16, float32, float64, int32, int64, complex64, complex128"

# ------------------------------------------------------------ tensors of twice the rank

diag_op = register_op("Diag", "diagonal: T -> output: T", f"T: type in {{{_TYPES}}}")


@diag_op.shape
def _diag_shape(c: Any) -> TensorShape:
    shape = c.shape(0)
    return shape.concatenate(shape) if shape.ndims is not None else shape_inference.UNKNOWN


@diag_op.kernel
def _diag(diagonal: Any) -> Any:
    shape = np.shape(diagonal)
    result = np.zeros((diagonal.size, diagonal.size), diagonal.dtype)
    np.fill_diagonal(result, np.ravel(diagonal))
    return result.reshape(shape + shape)


@diag_op.gradient
def _diag_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [diag_part(grad)]


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """The tensor of twice the rank with `diagonal` on its diagonal and zeros elsewhere."""
    return apply_op("Diag", diagonal=diagonal, name=name)


diag_part_op = register_op("DiagPart", "input: T -> diagonal: T", f"T: type in {{{_TYPES}}}")


@diag_part_op.shape
def _diag_part_shape(c: Any) -> TensorShape:
    shape = c.shape(0)
    if shape.ndims is None:
        return shape_inference.UNKNOWN
    if shape.ndims == 0 or shape.ndims % 2:
        raise ValueError(f"Input must have even and non-zero rank, input rank is {shape.ndims}")
    half = shape.ndims // 2
    sizes = shape.as_list()
    return TensorShape([shape_rules.merge_sizes(m, n) for m, n in zip(sizes[:half], sizes[half:])])


@diag_part_op.kernel
def _diag_part(input: Any) -> Any:
    half = input.ndim // 2
    shape = input.shape[:half]
    if not half or input.ndim % 2:
        raise errors.InvalidArgumentError(None, None, f"The rank of the tensor should be even and positive, got shape "
                                                      f"[{','.join(map(str, input.shape))}]")
    for i, (m, n) in enumerate(zip(shape, input.shape[half:])):
        if m != n:
            raise errors.InvalidArgumentError(None, None, f"Invalid shape [{','.join(map(str, input.shape))}]: "
                                                          f"dimensions {i} and {i + half} do not match.")
    size = int(np.prod(shape))
    return input.reshape(size, size).diagonal().reshape(shape).copy()


@diag_part_op.gradient
def _diag_part_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [diag(grad)]


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """The diagonal of a tensor of even rank whose shape is one shape twice."""
    return apply_op("DiagPart", input=input, name=name)


# ------------------------------------------------------------ batches of matrices, the main diagonal


def _matrix_op(name: str, signature: str, attrs: str = "T: type") -> OpDef:
    return register_op(name, signature, attrs)


matrix_diag_op = _matrix_op("MatrixDiag", "diagonal: T -> output: T")


@matrix_diag_op.shape
def _matrix_diag_shape(c: Any) -> TensorShape:
    shape = c.shape(0)
    if shape.ndims is None:
        return shape_inference.UNKNOWN
    if shape.ndims < 1:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return TensorShape([*shape.as_list(), shape.as_list()[-1]])


@matrix_diag_op.kernel
def _matrix_diag(diagonal: Any) -> Any:
    n = diagonal.shape[-1]
    result = np.zeros((*diagonal.shape, n), diagonal.dtype)
    result[..., np.arange(n), np.arange(n)] = diagonal
    return result


@matrix_diag_op.gradient
def _matrix_diag_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [matrix_diag_part(grad)]


matrix_diag_part_op = _matrix_op("MatrixDiagPart", "input: T -> diagonal: T")


def _least(m: int | None, n: int | None) -> int | None:
    return None if m is None or n is None else min(m, n)


@matrix_diag_part_op.shape
def _matrix_diag_part_shape(c: Any) -> TensorShape:
    sizes = _matrix_sizes(c.shape(0))
    return shape_inference.UNKNOWN if sizes is None else TensorShape([*sizes[:-2], _least(*sizes[-2:])])


def _matrix_sizes(shape: TensorShape) -> list[int | None] | None:
    if shape.ndims is None:
        return None
    if shape.ndims < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {shape.ndims}")
    return shape.as_list()


@matrix_diag_part_op.kernel
def _matrix_diag_part(input: Any) -> Any:
    return np.diagonal(input, axis1=-2, axis2=-1).copy()


@matrix_diag_part_op.gradient
def _matrix_diag_part_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    shape = op.inputs[0].shape
    if shape.ndims is not None and shape.as_list()[-1] is not None and shape.as_list()[-1] == shape.as_list()[-2]:
        return [matrix_diag(grad)]
    return [matrix_set_diag(array_ops.zeros_like(op.inputs[0]), grad)]


matrix_set_diag_op = _matrix_op("MatrixSetDiag", "input: T, diagonal: T -> output: T")


@matrix_set_diag_op.shape
def _matrix_set_diag_shape(c: Any) -> TensorShape:
    sizes = _matrix_sizes(c.shape(0))
    diagonal = c.shape(1)
    if sizes is None:
        return shape_inference.UNKNOWN
    if diagonal.ndims is not None:
        expected = [*sizes[:-2], _least(*sizes[-2:])]
        if diagonal.ndims != len(expected):
            raise ValueError(f"Shape must be rank {len(expected)} but is rank {diagonal.ndims}")
        for m, n in zip(expected, diagonal.as_list()):
            shape_rules.merge_sizes(m, n)
    return TensorShape(sizes)


@matrix_set_diag_op.kernel
def _matrix_set_diag(input: Any, diagonal: Any) -> Any:
    result = input.copy()
    n = min(input.shape[-2:])
    expected = (*input.shape[:-2], n)
    if diagonal.shape != expected:
        raise errors.InvalidArgumentError(
            None, None, "must have diagonal.shape == input.shape[:-2] + min(input.shape[-2:]), but received input "
                        f"shape: [{','.join(map(str, input.shape))}] and diagonal shape: "
                        f"[{','.join(map(str, diagonal.shape))}]")
    result[..., np.arange(n), np.arange(n)] = diagonal
    return result


@matrix_set_diag_op.gradient
def _matrix_set_diag_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    input_shape = op.inputs[0].shape.merge_with(grad.shape)
    diagonal_shape = op.inputs[1].shape
    if input_shape.ndims is not None and input_shape.is_fully_defined():
        sizes = input_shape.as_list()
        shape: Any = [*sizes[:-2], _least(*sizes[-2:])]
    elif diagonal_shape.is_fully_defined():
        shape = diagonal_shape.as_list()
    else:
        with ops.colocate_with(grad):
            whole = array_ops.shape(grad)
            rank = array_ops.rank(grad)
            batch = array_ops.slice(whole, [0], [rank - 2])
            matrix = array_ops.slice(whole, [rank - 2], [2])
            shape = array_ops.concat([batch, [reductions.reduce_min(matrix)]], 0)
    kept = matrix_set_diag(grad, array_ops.zeros(shape, dtype=grad.dtype))
    return [kept, matrix_diag_part(grad)]


# ------------------------------------------------------------ batches of matrices, any diagonals

matrix_diag_v2_op = _matrix_op("MatrixDiagV2", "diagonal: T, k: int32, num_rows: int32, num_cols: int32, "
                                               "padding_value: T -> output: T")
matrix_diag_part_v2_op = _matrix_op("MatrixDiagPartV2", "input: T, k: int32, padding_value: T -> diagonal: T")
matrix_set_diag_v2_op = _matrix_op("MatrixSetDiagV2", "input: T, diagonal: T, k: int32 -> output: T")


def _band(k: Any) -> tuple[int, int]:
    """The lowest and the highest diagonal of a band given as one number or two."""
    values = np.ravel(k).tolist()
    lower, upper = values[0], values[-1]
    if lower > upper:
        raise errors.InvalidArgumentError(None, None, f"lower_diag_index must not be larger than upper_diag_index: "
                                                      f"{lower} > {upper}")
    return lower, upper


def _places(rows: int, columns: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of the elements of diagonal d."""
    length = max(min(rows + min(d, 0), columns - max(d, 0)), 0)
    start = np.arange(length)
    return start + max(-d, 0), start + max(d, 0)


def _known_band(c: Any, index: int) -> tuple[int, int] | None:
    k = c.value(index)
    if k is None:
        return None
    values = np.ravel(k).tolist()
    if not 1 <= len(values) <= 2:
        raise ValueError(f"diag_index must have only one or two elements, received {len(values)} elements.")
    if values[0] > values[-1]:
        raise ValueError(f"lower_diag_index must not be larger than upper_diag_index: {values[0]} > {values[-1]}")
    return values[0], values[-1]


@matrix_diag_v2_op.shape
def _matrix_diag_v2_shape(c: Any) -> TensorShape:
    shape, band = c.shape(0), _known_band(c, 1)
    rows, columns = c.value(2), c.value(3)
    if shape.ndims is None or band is None:
        return shape_inference.UNKNOWN
    if shape.ndims < 1:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    sizes = shape.as_list()
    batch = sizes[:-1] if band[0] == band[1] else sizes[:-2]
    if rows is None or columns is None or sizes[-1] is None:
        return TensorShape([*batch, None, None])
    return TensorShape([*batch, *_matrix_size(sizes[-1], band, int(rows), int(columns))])


def _matrix_size(length: int, band: tuple[int, int], rows: int, columns: int) -> tuple[int, int]:
    """The size of the matrix that holds diagonals of that length; -1 asks for the smallest."""
    least_rows, least_columns = length + max(-band[1], 0), length + max(band[0], 0)
    if rows == -1 and columns == -1:
        return (max(least_rows, least_columns),) * 2
    return least_rows if rows == -1 else rows, least_columns if columns == -1 else columns


@matrix_diag_part_v2_op.shape
def _matrix_diag_part_v2_shape(c: Any) -> TensorShape:
    sizes, band = _matrix_sizes(c.shape(0)), _known_band(c, 1)
    if sizes is None or band is None:
        return shape_inference.UNKNOWN
    rows, columns = sizes[-2:]
    length = None if rows is None or columns is None else _longest(rows, columns, *band)
    count = [] if band[0] == band[1] else [band[1] - band[0] + 1]
    return TensorShape([*sizes[:-2], *count, length])


def _longest(rows: int, columns: int, lower: int, upper: int) -> int:
    return min(rows + min(upper, 0), columns - max(lower, 0))


@matrix_diag_v2_op.kernel
def _matrix_diag_v2(diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any) -> Any:
    lower, upper = _band(k)
    length = diagonal.shape[-1]
    rows, columns = _matrix_size(length, (lower, upper), int(num_rows), int(num_cols))
    many = lower != upper
    batch = diagonal.shape[:-2] if many else diagonal.shape[:-1]
    result = np.full((*batch, rows, columns), padding_value, diagonal.dtype)
    for i, d in enumerate(range(upper, lower - 1, -1)):
        at = _places(rows, columns, d)
        result[(..., *at)] = (diagonal[..., i, :] if many else diagonal)[..., :len(at[0])]
    return result


@matrix_diag_part_v2_op.kernel
def _matrix_diag_part_v2(input: Any, k: Any, padding_value: Any) -> Any:
    lower, upper = _band(k)
    rows, columns = input.shape[-2:]
    length = _longest(rows, columns, lower, upper)
    if lower == upper:
        return input[(..., *_places(rows, columns, lower))].copy()
    result = np.full((*input.shape[:-2], upper - lower + 1, length), padding_value, input.dtype)
    for i, d in enumerate(range(upper, lower - 1, -1)):
        at = _places(rows, columns, d)
        result[..., i, :len(at[0])] = input[(..., *at)]
    return result


@matrix_set_diag_v2_op.kernel
def _matrix_set_diag_v2(input: Any, diagonal: Any, k: Any) -> Any:
    lower, upper = _band(k)
    rows, columns = input.shape[-2:]
    result = input.copy()
    many = lower != upper
    for i, d in enumerate(range(upper, lower - 1, -1)):
        at = _places(rows, columns, d)
        result[(..., *at)] = (diagonal[..., i, :] if many else diagonal)[..., :len(at[0])]
    return result


@matrix_set_diag_v2_op.shape
def _matrix_set_diag_v2_shape(c: Any) -> TensorShape:
    return c.shape(0)


@matrix_diag_v2_op.gradient
def _matrix_diag_v2_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    zero = array_ops.zeros([], dtype=grad.dtype)
    part = apply_op("MatrixDiagPartV2", input=grad, k=op.inputs[1], padding_value=zero)
    return [part, None, None, None, None]


@matrix_diag_part_v2_op.gradient
def _matrix_diag_part_v2_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    spread = apply_op("MatrixSetDiagV2", input=array_ops.zeros_like(op.inputs[0]), diagonal=grad, k=op.inputs[1])
    return [spread, None, None]


@matrix_set_diag_v2_op.gradient
def _matrix_set_diag_v2_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    _, diagonal, k = op.inputs
    kept = apply_op("MatrixSetDiagV2", input=grad, diagonal=array_ops.zeros_like(diagonal), k=k)
    part = apply_op("MatrixDiagPartV2", input=grad, k=k, padding_value=array_ops.zeros([], dtype=grad.dtype))
    return [kept, part, None]


def _is_main(k: Any) -> bool:
    return isinstance(k, (int, np.integer)) and k == 0


def matrix_diag(diagonal: Any, name: str = "diag", k: Any = 0, num_rows: Any = -1, num_cols: Any = -1,
                padding_value: Any = 0) -> Tensor:
    """Matrices [..., n, n] with the rows of `diagonal` [..., n] on their diagonals, zeros elsewhere.

    `k` names another diagonal (above the main one where positive) or a band of them as a pair, which takes
    `diagonal` as [..., number of diagonals, length], the highest first.
    """
    if _is_main(k) and num_rows == -1 and num_cols == -1 and padding_value == 0:
        return apply_op("MatrixDiag", diagonal=diagonal, name=name)
    diagonal = ops.convert_to_tensor(diagonal)
    return apply_op("MatrixDiagV2", diagonal=diagonal, k=k, num_rows=num_rows, num_cols=num_cols,
                    padding_value=padding_value, name=name)


def matrix_diag_part(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0) -> Tensor:
    """The diagonals [..., min(m, n)] of matrices [..., m, n]; `k` as in `matrix_diag`."""
    if _is_main(k) and padding_value == 0:
        return apply_op("MatrixDiagPart", input=input, name=name)
    return apply_op("MatrixDiagPartV2", input=input, k=k, padding_value=padding_value, name=name)


def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0) -> Tensor:
    """Matrices with their diagonals replaced; `k` as in `matrix_diag`."""
    if _is_main(k):
        return apply_op("MatrixSetDiag", input=input, diagonal=diagonal, name=name)
    return apply_op("MatrixSetDiagV2", input=input, diagonal=diagonal, k=k, name=name)


# ------------------------------------------------------------ bands

matrix_band_part_op = _matrix_op("MatrixBandPart", "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
                                 "T: type; Tindex: type in {int32, int64} = int64")


@matrix_band_part_op.shape
def _matrix_band_part_shape(c: Any) -> TensorShape:
    return c.shape(0)


@matrix_band_part_op.kernel
def _matrix_band_part(input: Any, num_lower: Any, num_upper: Any) -> Any:
    rows, columns = input.shape[-2:]
    lower, upper = int(num_lower), int(num_upper)
    for what, value, size in (("lower", lower, rows), ("upper", upper, columns)):
        if value > size:
            raise errors.InvalidArgumentError(None, None, f"num_{what} must be negative or less or equal to number of "
                                                          f"{'rows' if what == 'lower' else 'columns'} ({size}) got: "
                                                          f"{value}")
    distance = np.arange(columns) - np.arange(rows)[:, None]
    inside = np.ones((rows, columns), bool)
    if lower >= 0:
        inside &= distance >= -lower
    if upper >= 0:
        inside &= distance <= upper
    return np.where(inside, input, np.zeros((), input.dtype))


@matrix_band_part_op.gradient
def _matrix_band_part_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [matrix_band_part(grad, op.inputs[1], op.inputs[2]), None, None]


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Matrices with zeros outside the central band: `num_lower` diagonals below, `num_upper` above; -1 keeps all."""
    return apply_op("MatrixBandPart", input=input, num_lower=num_lower, num_upper=num_upper, name=name)
