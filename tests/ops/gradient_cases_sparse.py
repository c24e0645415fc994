"""Inputs for the finite-difference test of ops on SparseTensors: indices and shapes must fit one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.gradient_cases import Case, numbers, signed

INDICES = np.array([[0, 1], [1, 0], [1, 2]], np.int64)
OTHER = np.array([[0, 0], [1, 2]], np.int64)
SHAPE = np.array([2, 3], np.int64)


def sparse(*names: str, **more: Any) -> dict[str, Any]:
    """Arguments of an op with one SparseTensor [2, 3], whose parts have these names."""
    return dict(zip(names, (INDICES, numbers(3), SHAPE))) | more


def pair(**more: Any) -> dict[str, Any]:
    """Arguments of an op with two SparseTensors [2, 3]."""
    return {"a_indices": INDICES, "a_values": signed(3), "a_shape": SHAPE,
            "b_indices": OTHER, "b_values": signed(2), "b_shape": SHAPE} | more


SP = ("sp_indices", "sp_values", "sp_shape")

SPARSE_CASES: dict[str, list[Case]] = {
    "SparseAdd": [Case(pair(thresh=np.float64(0)), fixed=("thresh",)),
                  Case(pair(thresh=np.float64(0.01)), fixed=("thresh",))],
    "SparseTensorDenseAdd": [Case(sparse("a_indices", "a_values", "a_shape", b=numbers(2, 3)))],
    **{name: [Case(sparse(*SP, dense=numbers(*shape)), fixed=("dense",)) for shape in ((2, 3), (3,), (2, 1))]
       for name in ("SparseDenseCwiseMul", "SparseDenseCwiseDiv")},
    "SparseReduceSum": [Case(sparse("input_indices", "input_values", "input_shape",
                                    reduction_axes=np.array(axes, np.int32), keep_dims=keep))
                        for axes, keep in (([1], False), ([0], True), ([0, 1], False), ([-1], True))],
    "SparseReorder": [Case({"input_indices": INDICES[::-1].copy(), "input_values": numbers(3), "input_shape": SHAPE})],
    "SparseSlice": [Case({"indices": INDICES, "values": numbers(3), "shape": SHAPE,
                          "start": np.array([0, 1], np.int64), "size": np.array([2, 2], np.int64)})],
    "SparseSoftmax": [Case(sparse(*SP))],
    "SparseTensorDenseMatMul": [
        Case(sparse("a_indices", "a_values", "a_shape", b=numbers(*((3, 4) if not adjoint_a else (2, 4))),
                    adjoint_a=adjoint_a)) for adjoint_a in (False, True)] + [
        Case(sparse("a_indices", "a_values", "a_shape", b=numbers(4, 3), adjoint_b=True))],
    "SparseFillEmptyRows": [Case({"indices": INDICES[1:], "values": numbers(2), "dense_shape": SHAPE,
                                  "default_value": np.float64(0.7)})],
    "SparseToDense": [Case({"sparse_indices": INDICES, "output_shape": SHAPE, "sparse_values": numbers(3),
                            "default_value": np.float64(0.4)})],
}
