"""Products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, casts, complex_ops, reductions
from tfsandbox.ops.broadcasting import broadcast_gradient_args, same_static_shapes
from tfsandbox.ops.kernel_values import text_of_sizes

__all__ = ["matmul", "sparse_matmul"]

_TYPES = "bfloat16, float16, float32, float64, int32, int64, complex64, complex128"

# ------------------------------------------------------------ MatMul

matmul_op = register_op("MatMul", "a: T, b: T -> product: T",
                        f"transpose_a: bool = false; transpose_b: bool = false; T: type in {{{_TYPES}}}")


def _with_rank(shape: TensorShape, rank: int) -> list[int | None]:
    if shape.ndims is None:
        return [None] * rank
    if shape.ndims != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {shape.ndims}")
    return shape.as_list()


def _matmul_shape(c: Any) -> TensorShape:
    a, b = _with_rank(c.shape(0), 2), _with_rank(c.shape(1), 2)
    if c.attr("transpose_a"):
        a = a[::-1]
    if c.attr("transpose_b"):
        b = b[::-1]
    if a[1] is not None and b[0] is not None and a[1] != b[0]:
        raise ValueError(f"Dimensions must be equal, but are {a[1]} and {b[0]}")
    return TensorShape([a[0], b[1]])


matmul_op.shape(_matmul_shape)


@matmul_op.kernel
def _matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    a = a.T if transpose_a else a
    b = b.T if transpose_b else b
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise errors.InvalidArgumentError(None, None, _mismatch(a, b, transpose_a, transpose_b))
    return _product(a, b)


_LARGE_PRODUCT = 1 << 15
"""Complex products of up to so many multiplications are added up in order, as TensorFlow does; larger ones by BLAS."""


def _product(a: Any, b: Any) -> Any:
    if a.dtype.kind == "c" and a.size * b.shape[-1] <= _LARGE_PRODUCT:
        return np.einsum("...ik,...kj->...ij", a, b)
    return np.matmul(a, b)


def _mismatch(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> str:
    if a.ndim != 2:
        return f"In[0] is not a matrix. Instead it has shape {text_of_sizes(a.shape)}"
    if b.ndim != 2:
        return f"In[1] is not a matrix. Instead it has shape {text_of_sizes(b.shape)}"
    left = a.shape[::-1] if transpose_a else a.shape
    right = b.shape[::-1] if transpose_b else b.shape
    return f"Matrix size-incompatible: In[0]: {text_of_sizes(left)}, In[1]: {text_of_sizes(right)}"


@matmul_op.emit
def _matmul_emit(node: Any) -> str | None:
    a, b = node.shape(0), node.shape(1)
    if a.ndims != 2 or b.ndims != 2 or node.dtype(0).is_complex:
        return None
    inner = (a.as_list()[0 if node.attr("transpose_a") else 1], b.as_list()[1 if node.attr("transpose_b") else 0])
    if inner[0] is None or inner[0] != inner[1]:
        return None
    left = "{0}.T" if node.attr("transpose_a") else "{0}"
    return f"{left} @ {{1}}.T" if node.attr("transpose_b") else f"{left} @ {{1}}"


@matmul_op.gradient
def _matmul_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    transposed = (op.get_attr("transpose_a"), op.get_attr("transpose_b"))
    a, b = complex_ops.conj(op.inputs[0]), complex_ops.conj(op.inputs[1])
    return _product_grad(a, b, grad, transposed, _plain_product)


def _plain_product(a: Tensor, b: Tensor, flip_a: bool, flip_b: bool) -> Tensor:
    return apply_op("MatMul", a=a, b=b, transpose_a=flip_a, transpose_b=flip_b)


def _product_grad(a: Tensor, b: Tensor, grad: Tensor, transposed: tuple[bool, bool], product: Any) -> list[Tensor]:
    """The gradients of `product(a, b)`: dA = dC B', dB = A' dC, with both factors turned as the product turns them."""
    ta, tb = transposed
    if not ta and not tb:
        return [product(grad, b, False, True), product(a, grad, True, False)]
    if not ta:
        return [product(grad, b, False, False), product(grad, a, True, False)]
    if not tb:
        return [product(b, grad, False, True), product(a, grad, False, False)]
    return [product(b, grad, True, True), product(grad, a, True, True)]


# ------------------------------------------------------------ SparseMatMul

sparse_matmul_op = register_op(
    "SparseMatMul", "a: Ta, b: Tb -> product: float32",
    "transpose_a: bool = false; transpose_b: bool = false; a_is_sparse: bool = false; b_is_sparse: bool = false; "
    "Ta: type in {float32, bfloat16} = float32; Tb: type in {float32, bfloat16} = float32")
sparse_matmul_op.shape(_matmul_shape)


@sparse_matmul_op.kernel
def _sparse_matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    a, b = (dtypes.bfloat16_to_float32(x) if x.dtype.names else x for x in (a, b))
    return _matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


@sparse_matmul_op.gradient
def _sparse_matmul_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    ta, tb = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    a, b = op.inputs
    # The gradient of a relu is likely as sparse as the relu.
    sparse = {a: op.get_attr("a_is_sparse"), b: op.get_attr("b_is_sparse"), grad: grad.op.type == "ReluGrad"}

    def product(x: Tensor, y: Tensor, dtype: Any, flip_x: bool = False, flip_y: bool = False) -> Tensor:
        x_sparse, y_sparse = sparse[x], sparse[y]
        if flip_y:
            y, flip_y = array_ops.transpose(y), False
        result = matmul(x, y, transpose_a=flip_x, transpose_b=flip_y, a_is_sparse=x_sparse, b_is_sparse=y_sparse)
        return casts.cast(result, dtype) if result.dtype != dtype else result

    if not ta and not tb:
        return [product(grad, b, a.dtype, flip_y=True), product(a, grad, b.dtype, flip_x=True)]
    if not ta:
        return [product(grad, b, a.dtype), product(grad, a, b.dtype, flip_x=True)]
    if not tb:
        return [product(b, grad, a.dtype, flip_y=True), product(a, grad, b.dtype)]
    return [product(b, grad, a.dtype, flip_x=True, flip_y=True), product(grad, a, b.dtype, flip_x=True, flip_y=True)]


def sparse_matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, a_is_sparse: bool = False,
                  b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """a times b, [m, k] x [k, n], float32, where one factor holds many zeros. Here it is the plain product."""
    return apply_op("SparseMatMul", a=a, b=b, transpose_a=transpose_a, transpose_b=transpose_b,
                    a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse, name=name)


# ------------------------------------------------------------ BatchMatMul

batch_matmul_op = register_op("BatchMatMul", "x: T, y: T -> output: T",
                              f"T: type in {{{_TYPES}}}; adj_x: bool = false; adj_y: bool = false")
batch_matmul_v2_op = register_op("BatchMatMulV2", "x: T, y: T -> output: T",
                                 f"T: type in {{{_TYPES}}}; adj_x: bool = false; adj_y: bool = false")


@batch_matmul_op.shape
@batch_matmul_v2_op.shape
def _batch_matmul_shape(c: Any) -> TensorShape:
    if c.shape(0).ndims is None or c.shape(1).ndims is None:
        return shape_inference.UNKNOWN
    for i in (0, 1):
        if c.shape(i).ndims < 2:
            raise ValueError(f"Shape must be at least rank 2 but is rank {c.shape(i).ndims}")
    x, y = c.shape(0).as_list(), c.shape(1).as_list()
    rows, inner = x[-2:][::-1] if c.attr("adj_x") else x[-2:]
    inner_y, columns = y[-2:][::-1] if c.attr("adj_y") else y[-2:]
    if inner is not None and inner_y is not None and inner != inner_y:
        raise ValueError(f"Dimensions must be equal, but are {inner} and {inner_y}")
    batch = shape_inference.broadcast_shapes(TensorShape(x[:-2]), TensorShape(y[:-2]))
    return TensorShape([*batch.as_list(), rows, columns])


@batch_matmul_op.kernel
@batch_matmul_v2_op.kernel
def _batch_matmul(x: Any, y: Any, *, adj_x: bool, adj_y: bool) -> Any:
    if adj_x:
        x = _adjoint(x)
    if adj_y:
        y = _adjoint(y)
    if x.ndim < 2 or y.ndim < 2:
        raise errors.InvalidArgumentError(None, None, f"In[{int(x.ndim >= 2)}] ndims must be >= 2: "
                                                      f"{min(x.ndim, y.ndim)}")
    if x.shape[-1] != y.shape[-2]:
        raise errors.InvalidArgumentError(None, None, f"In[0] mismatch In[1] shape: {x.shape[-1]} vs. {y.shape[-2]}: "
                                                      f"{text_of_sizes(x.shape)} {text_of_sizes(y.shape)} "
                                                      f"{int(adj_x)} {int(adj_y)}")
    return _product(x, y)


def _adjoint(x: Any) -> Any:
    turned = np.swapaxes(x, -1, -2)
    return np.conjugate(turned) if turned.dtype.kind == "c" else turned


@batch_matmul_op.gradient
def _batch_matmul_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    def product(x: Tensor, y: Tensor, flip_x: bool, flip_y: bool) -> Tensor:
        return matmul(x, y, adjoint_a=flip_x, adjoint_b=flip_y)

    return _product_grad(op.inputs[0], op.inputs[1], grad, (op.get_attr("adj_x"), op.get_attr("adj_y")), product)


@batch_matmul_v2_op.gradient
def _batch_matmul_v2_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    grads = _batch_matmul_grad(op, grad)
    if same_static_shapes(x, y):
        return grads
    # The batch axes may have been broadcast: the gradients are added up over them.
    shapes = array_ops.shape(x), array_ops.shape(y)
    axes = broadcast_gradient_args(shapes[0][:-2], shapes[1][:-2])
    return [array_ops.reshape(reductions.reduce_sum(g, r), s) for g, r, s in zip(grads, axes, shapes)]


# ------------------------------------------------------------ the public functions


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
           adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
           name: str | None = None) -> Tensor:
    """a times b: matrices of [..., m, k] and [..., k, n] give [..., m, n]; leading axes are broadcast.

    Each factor may be transposed, or conjugated and transposed (`adjoint`), not both: `ValueError`. The hints
    `a_is_sparse` and `b_is_sparse` build a SparseMatMul for matrices of float32 or bfloat16.
    """
    with ops.name_scope(name, "MatMul", [a, b]) as name:
        if transpose_a and adjoint_a:
            raise ValueError("Only one of transpose_a and adjoint_a can be True.")
        if transpose_b and adjoint_b:
            raise ValueError("Only one of transpose_b and adjoint_b can be True.")
        a = ops.convert_to_tensor(a, name="a")
        b = ops.convert_to_tensor(b, name="b")
        ranks = a.shape.ndims, b.shape.ndims
        if not a_is_sparse and not b_is_sparse and any(r is None or r > 2 for r in ranks):
            # The op for batches knows the adjoint, not the transpose.
            if transpose_a:
                a, adjoint_a = complex_ops.conj(a), True
            if transpose_b:
                b, adjoint_b = complex_ops.conj(b), True
            return apply_op("BatchMatMulV2", x=a, y=b, adj_x=adjoint_a, adj_y=adjoint_b, name=name)
        if adjoint_a:
            a, transpose_a = complex_ops.conj(a), True
        if adjoint_b:
            b, transpose_b = complex_ops.conj(b), True
        short = (dtypes.bfloat16, dtypes.float32)
        if (a_is_sparse or b_is_sparse) and a.dtype.base_dtype in short and b.dtype.base_dtype in short or \
                a.dtype == dtypes.bfloat16 or b.dtype == dtypes.bfloat16:
            product = sparse_matmul(a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse, name=name)
            if a.dtype == dtypes.bfloat16 and b.dtype == dtypes.bfloat16:
                product = casts.cast(product, dtypes.bfloat16)
            return product
        return apply_op("MatMul", a=a, b=b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)


def matvec(a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
           b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """a times b: a matrix [..., m, k] and a vector [..., k] give [..., m]."""
    with ops.name_scope(name, "MatVec", [a, b]) as name:
        column = array_ops.expand_dims(b, axis=-1)
        product = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a, a_is_sparse=a_is_sparse,
                         b_is_sparse=b_is_sparse)
        return array_ops.squeeze(product, axis=-1)
