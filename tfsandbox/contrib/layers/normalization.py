"""Normalizations within an example: over all of it, over groups of channels, or over each channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfsandbox.contrib.framework import variables as contrib_variables
from tfsandbox.contrib.layers import utils
from tfsandbox.contrib.layers.layer_scope import check_data_format, finished
from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, init_ops, math_ops, nn_impl, variable_scope
from tfsandbox.util.arg_scoping import add_arg_scope

_ZEROS, _ONES = init_ops.zeros_initializer(), init_ops.ones_initializer()


def _parameter(name: str, initializer: Any, shape: Any, inputs: Tensor, variables_collections: Any,
               trainable: bool) -> Any:
    return contrib_variables.model_variable(
        name, shape=shape, dtype=inputs.dtype.base_dtype, initializer=initializer,
        collections=utils.get_variable_collections(variables_collections, name), trainable=trainable)


@add_arg_scope
def layer_norm(inputs: Any, center: bool = True, scale: bool = True, activation_fn: Any = None, reuse: Any = None,
               variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
               begin_norm_axis: int = 1, begin_params_axis: int = -1, scope: Any = None) -> Tensor:
    """(x - mean) / standard deviation * gamma + beta, over the axes from `begin_norm_axis` (Ba et al., 2016).

    beta and gamma have the sizes of the axes from `begin_params_axis`. Raises `ValueError` for axes that the inputs do
    not have, and for unknown sizes.
    """
    with variable_scope.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = ops.convert_to_tensor(inputs)
        shape = inputs.shape
        rank = shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        first = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or first >= rank:
            raise ValueError(f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({first}) must be < "
                             f"rank(inputs) ({rank})")
        sizes = shape[begin_params_axis:]
        if not sizes.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
                             f"{shape}")
        beta = _parameter("beta", _ZEROS, sizes, inputs, variables_collections, trainable) if center else None
        gamma = _parameter("gamma", _ONES, sizes, inputs, variables_collections, trainable) if scale else None
        mean, variance = nn_impl.moments(inputs, list(range(first, rank)), keep_dims=True)
        # 1 - 1e-12 is 1 in half precision.
        epsilon = 1e-3 if inputs.dtype.base_dtype == dtypes.float16 else 1e-12
        outputs = nn_impl.batch_normalization(inputs, mean, variance, offset=beta, scale=gamma,
                                              variance_epsilon=epsilon)
        outputs.set_shape(shape)
        return finished(outputs, None, None, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def instance_norm(inputs: Any, center: bool = True, scale: bool = True, epsilon: float = 1e-6,
                  activation_fn: Any = None, param_initializers: Any = None, reuse: Any = None,
                  variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                  data_format: str = "NHWC", scope: Any = None) -> Tensor:
    """Each channel of each example normalized by itself (Ulyanov et al., 2016)."""
    inputs = ops.convert_to_tensor(inputs)
    shape = inputs.shape
    rank = shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    first = check_data_format(data_format, "NCHW", "NHWC") == "channels_first"
    initial = param_initializers or {}
    with variable_scope.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        axes = list(range(2, rank)) if first else list(range(1, rank - 1))
        sizes = shape[1:2] if first else shape[-1:]
        if not sizes.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {sizes}.")
        wide = [1, sizes.as_list()[0]] + [1] * (rank - 2)

        def parameter(name: str, default: Any) -> Any:
            made = _parameter(name, initial.get(name, default), sizes, inputs, variables_collections, trainable)
            return array_ops.reshape(made, wide) if first else made

        beta = parameter("beta", _ZEROS) if center else None
        gamma = parameter("gamma", _ONES) if scale else None
        mean, variance = nn_impl.moments(inputs, axes, keep_dims=True)
        outputs = nn_impl.batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs.set_shape(shape)
        return finished(outputs, None, None, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def group_norm(inputs: Any, groups: int = 32, channels_axis: int = -1, reduction_axes: Sequence[int] = (-3, -2),
               center: bool = True, scale: bool = True, epsilon: float = 1e-6, activation_fn: Any = None,
               param_initializers: Any = None, reuse: Any = None, variables_collections: Any = None,
               outputs_collections: Any = None, trainable: bool = True, scope: Any = None,
               mean_close_to_zero: bool = False) -> Tensor:
    """Groups of channels normalized together, over `reduction_axes` too (Wu and He, 2018).

    Raises `ValueError` for axes out of range or named twice, and for groups that do not divide the channels.
    """
    inputs = ops.convert_to_tensor(inputs)
    shape = inputs.shape
    rank = shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    channels_axis = channels_axis + rank if channels_axis < 0 else channels_axis
    axes = [axis + rank if axis < 0 else axis for axis in reduction_axes]
    if any(axis > rank for axis in axes):
        raise ValueError("Axis is out of bounds.")
    if channels_axis in axes:
        raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    channels = shape.as_list()[channels_axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {channels_axis}.")
    if groups > channels or channels % groups:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    initial = param_initializers or {}
    # The channels become two axes, and what stands behind them moves by one.
    reduced = [channels_axis + 1] + [axis + 1 if axis > channels_axis else axis for axis in axes]
    parts = [groups, channels // groups]
    sizes = [array_ops.shape(inputs)[i] if size is None else size for i, size in enumerate(shape.as_list())]
    grouped = array_ops.reshape(inputs, [*sizes[:channels_axis], *parts, *sizes[channels_axis + 1:]])
    wide = [1] * (rank + 1)
    wide[channels_axis:channels_axis + 2] = parts
    with variable_scope.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:

        def parameter(name: str, default: Any) -> Any:
            made = _parameter(name, initial.get(name, default), [channels], inputs, variables_collections, trainable)
            return array_ops.reshape(made, wide)

        beta = parameter("beta", _ZEROS) if center else None
        gamma = parameter("gamma", _ONES) if scale else None
        mean, variance = _group_moments(grouped, reduced, mean_close_to_zero)
        gain = math_ops.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain, offset = gain * gamma, offset * gamma
        if beta is not None:
            offset = offset + beta
        outputs = array_ops.reshape(grouped * gain + offset, sizes)
        outputs.set_shape(shape)
        return finished(outputs, None, None, activation_fn, outputs_collections, sc.name)


def _group_moments(grouped: Tensor, axes: list[int], mean_close_to_zero: bool) -> tuple[Tensor, Tensor]:
    if not mean_close_to_zero:
        return nn_impl.moments(grouped, axes, keep_dims=True)
    # One pass over the data, which loses digits where the mean is large.
    counts, means, squares, _ = nn_impl.sufficient_statistics(grouped, axes, keep_dims=True)
    return nn_impl.normalize_moments(counts, means, squares, shift=None)
