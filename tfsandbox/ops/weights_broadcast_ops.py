"""Weights that must spread over values: the check, while building or in the run, and the spreading itself."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import constant_value
from tfsandbox.ops import array_ops, control_flow_ops, math_ops, sets_impl

__all__: list[str] = []

_MESSAGE = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """An operation that fails where `weights` is neither a scalar nor of the rank of `values` with sizes of 1 or its.

    What the graph already knows raises `ValueError` at once.
    """
    with ops.name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        with ops.name_scope(None, "weights", (weights,)) as weights_scope:
            weights = ops.convert_to_tensor(weights, name=weights_scope)
            weights_shape = array_ops.shape(weights, name="shape")
            weights_rank = array_ops.rank(weights, name="rank")
        known_weights_rank = constant_value(weights_rank)
        with ops.name_scope(None, "values", (values,)) as values_scope:
            values = ops.convert_to_tensor(values, name=values_scope)
            values_shape = array_ops.shape(values, name="shape")
            values_rank = array_ops.rank(values, name="rank")
        known_values_rank = constant_value(values_rank)

        if known_weights_rank is not None and known_values_rank is not None:
            if known_weights_rank == 0:
                return control_flow_ops.no_op(name="static_scalar_check_success")
            if known_weights_rank != known_values_rank:
                raise ValueError(f"{_MESSAGE} values.rank={known_values_rank}. weights.rank={known_weights_rank}. "
                                 f"values.shape={values.shape}. weights.shape={weights.shape}.")
            known_weights, known_values = constant_value(weights_shape), constant_value(values_shape)
            if known_weights is not None and known_values is not None:
                for axis in range(int(known_values_rank)):
                    if known_weights[axis] not in (1, known_values[axis]):
                        raise ValueError(f"{_MESSAGE} Mismatch at dim {axis}. values.shape={known_values} "
                                         f"weights.shape={known_weights}.")
                return control_flow_ops.no_op(name="static_dims_check_success")

        is_scalar = math_ops.equal(0, weights_rank, name="is_scalar")
        data = [_MESSAGE, "weights.shape=", weights.name, weights_shape, "values.shape=", values.name, values_shape,
                "is_scalar=", is_scalar]
        is_valid = control_flow_ops.cond(
            is_scalar, lambda: is_scalar,
            lambda: _has_valid_nonscalar_shape(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape")
        return control_flow_ops.Assert(is_valid, data, name=scope)


def _has_valid_nonscalar_shape(weights_rank: Tensor, weights_shape: Tensor, values_rank: Tensor,
                               values_shape: Tensor) -> Tensor:
    with ops.name_scope(None, "has_valid_nonscalar_shape",
                        (weights_rank, weights_shape, values_rank, values_shape)) as scope:
        same_rank = math_ops.equal(values_rank, weights_rank, name="is_same_rank")
        return control_flow_ops.cond(same_rank, lambda: _has_valid_sizes(weights_shape, values_shape),
                                     lambda: same_rank, name=scope)


def _has_valid_sizes(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    """Whether each size of the weights is in the set {1, the size of the values}."""
    with ops.name_scope(None, "has_invalid_dims", (weights_shape, values_shape)) as scope:
        values_sizes = array_ops.expand_dims(values_shape, -1)
        valid = array_ops.concat((values_sizes, array_ops.ones_like(values_sizes)), axis=1)
        weights_sizes = array_ops.expand_dims(weights_shape, -1)
        invalid = sets_impl.set_difference(weights_sizes, valid)
        count = array_ops.size(invalid.values, name="num_invalid_dims")
        return math_ops.equal(0, count, name=scope)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """`weights` spread to the shape of `values`; checked as by `assert_broadcastable`."""
    with ops.name_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = ops.convert_to_tensor(values, name="values")
        weights = ops.convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        if weights.shape.is_fully_defined() and values.shape.is_fully_defined() \
                and weights.shape.is_compatible_with(values.shape):
            return weights
        with ops.control_dependencies((assert_broadcastable(weights, values),)):
            return math_ops.multiply(weights, array_ops.ones_like(values), name=scope)
