"""Batch normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsandbox.contrib.framework import variables as contrib_variables
from tfsandbox.contrib.layers import utils
from tfsandbox.contrib.layers.layer_scope import check_data_format, finished, layer_scope, note_variable
from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.layers import normalization
from tfsandbox.ops import array_ops, init_ops, nn_impl, variable_scope
from tfsandbox.training import moving_averages
from tfsandbox.util.arg_scoping import add_arg_scope

_INITIAL = {"beta": init_ops.zeros_initializer(), "gamma": init_ops.ones_initializer(),
            "moving_mean": init_ops.zeros_initializer(), "moving_variance": init_ops.ones_initializer()}


@add_arg_scope
def batch_norm(inputs: Any, decay: Any = 0.999, center: bool = True, scale: bool = False, epsilon: float = 0.001,
               activation_fn: Any = None, param_initializers: Any = None, param_regularizers: Any = None,
               updates_collections: Any = GraphKeys.UPDATE_OPS, is_training: Any = True, reuse: Any = None,
               variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
               batch_weights: Any = None, fused: bool | None = None, data_format: str = "NHWC",
               zero_debias_moving_mean: bool = False, scope: Any = None, renorm: bool = False,
               renorm_clipping: Any = None, renorm_decay: float = 0.99, adjustment: Any = None) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, for each channel (Ioffe and Szegedy, 2015).

    With `is_training` (a bool, or a tensor that decides in the run) mean and variance are the batch's, and the moving
    ones follow them by `decay`: through operations in `updates_collections` that must be run with the train step, or,
    where that is None, at once. Else the moving ones are used. `center`: with beta; `scale`: with gamma.
    `param_initializers` and `param_regularizers` are dicts by variable: `beta`, `gamma`, `moving_mean`,
    `moving_variance`. `batch_weights` [n] weigh the examples. `fused`: None takes the fused op where it can.

    Raises `ValueError` for an unknown rank or number of channels, and where `renorm` is asked for together with what
    it does not support.
    """
    channels = check_data_format(data_format, "NCHW", "NHWC")
    inputs = ops.convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    simple = batch_weights is None and updates_collections == GraphKeys.UPDATE_OPS and not zero_debias_moving_mean
    can_fuse = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    initial, regularizers = {**_INITIAL, **(param_initializers or {})}, param_regularizers or {}
    if (fused is None or fused) and can_fuse and (rank == 2 or not simple):
        with variable_scope.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
            parameters = _Parameters(initial, regularizers, variables_collections, trainable)
            outputs = _fused(inputs, parameters, decay, center, scale, epsilon, updates_collections, is_training,
                             data_format, zero_debias_moving_mean)
            return finished(outputs, None, None, activation_fn, outputs_collections, sc.name)
    with layer_scope(scope, "BatchNorm", inputs, reuse, {}) as sc:
        if simple:
            layer = normalization.BatchNormalization(
                axis=1 if channels == "channels_first" else -1, momentum=decay, epsilon=epsilon, center=center,
                scale=scale, beta_initializer=initial["beta"], gamma_initializer=initial["gamma"],
                moving_mean_initializer=initial["moving_mean"],
                moving_variance_initializer=initial["moving_variance"], beta_regularizer=regularizers.get("beta"),
                gamma_regularizer=regularizers.get("gamma"), trainable=trainable, renorm=renorm,
                renorm_clipping=renorm_clipping, renorm_momentum=renorm_decay, adjustment=adjustment, name=sc.name,
                _scope=sc, _reuse=reuse, fused=fused)
            outputs = layer.apply(inputs, training=is_training)
            note_variable(layer.moving_mean, variables_collections, "moving_mean")
            note_variable(layer.moving_variance, variables_collections, "moving_variance")
            note_variable(layer.beta, variables_collections, "beta")
            note_variable(layer.gamma, variables_collections, "gamma")
        else:
            if renorm:
                raise ValueError("renorm is not supported with batch_weights, updates_collections or "
                                 "zero_debias_moving_mean")
            # TensorFlow forgets the regularizers here.
            parameters = _Parameters(initial, {}, variables_collections, trainable)
            outputs = _unfused(inputs, parameters, decay, center, scale, epsilon, updates_collections, is_training,
                               batch_weights, data_format, zero_debias_moving_mean)
        return finished(outputs, None, None, activation_fn, outputs_collections, sc.name)


class _Parameters:
    """Makes the variables of a batch normalization."""

    def __init__(self, initial: dict[str, Any], regularizers: dict[str, Any], variables_collections: Any,
                 trainable: bool) -> None:
        self._initial, self._regularizers = initial, regularizers
        self._collections, self._trainable = variables_collections, trainable

    def trained(self, name: str, shape: TensorShape, dtype: Any) -> Any:
        """beta or gamma."""
        return contrib_variables.model_variable(
            name, shape=shape, dtype=dtype, initializer=self._initial[name],
            regularizer=self._regularizers.get(name), trainable=self._trainable,
            collections=utils.get_variable_collections(self._collections, name))

    def averages(self, shape: TensorShape, dtype: Any) -> tuple[Any, Any]:
        """moving_mean and moving_variance; never partitioned, for their updates are not."""
        with variable_scope.variable_scope(variable_scope.get_variable_scope()) as scope:
            scope.set_partitioner(None)
            mean, variance = (contrib_variables.model_variable(
                name, shape=shape, dtype=dtype, initializer=self._initial[name], trainable=False,
                collections=utils.get_variable_collections(self._collections, name))
                for name in ("moving_mean", "moving_variance"))
        return mean, variance


def _channels(inputs: Tensor, data_format: str) -> TensorShape:
    """The shape of the parameters: [c]."""
    shape = inputs.get_shape()
    channels = shape[1:2] if data_format == "NCHW" else shape[-1:]
    if not channels.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {channels}.")
    return channels


def _moved(averages: tuple[Any, Any], mean: Any, variance: Any, decay: Any, zero_debias: bool) -> tuple[Any, Any]:
    """The nodes that move both averages."""
    return (moving_averages.assign_moving_average(averages[0], mean, decay, zero_debias=zero_debias),
            moving_averages.assign_moving_average(averages[1], variance, decay, zero_debias=False))


def _collect_updates(is_training: Any, move: Callable[[], Any], averages: tuple[Any, Any], collections: Any) -> None:
    """Note the nodes that move the averages in training."""
    for update in utils.smart_cond(is_training, move, lambda: averages):
        ops.add_to_collections(collections, update)


def _fused(inputs: Tensor, parameters: _Parameters, decay: Any, center: bool, scale: bool, epsilon: float,
           updates_collections: Any, is_training: Any, data_format: str, zero_debias: bool) -> Tensor:
    """By the fused op; a matrix is taken as images of one pixel."""
    original, rank = inputs, inputs.get_shape().ndims
    if rank == 2:
        features = inputs.get_shape().as_list()[-1]
        if features is None:
            raise ValueError("`C` dimension must be known but is None")
        inputs = array_ops.reshape(inputs, [-1, features, 1, 1] if data_format == "NCHW" else [-1, 1, 1, features])
    shape = _channels(inputs, data_format)
    # Half precision would lose the averages.
    dtype = dtypes.float32
    beta = parameters.trained("beta", shape, dtype) if center else constant(0.0, dtype=dtype, shape=shape)
    gamma = parameters.trained("gamma", shape, dtype) if scale else constant(1.0, dtype=dtype, shape=shape)
    averages = parameters.averages(shape, dtype)

    def by_batch() -> Any:
        return nn_impl.fused_batch_norm(inputs, gamma, beta, epsilon=epsilon, data_format=data_format)

    def by_averages() -> Any:
        return nn_impl.fused_batch_norm(inputs, gamma, beta, mean=averages[0], variance=averages[1], epsilon=epsilon,
                                        is_training=False, data_format=data_format)

    outputs, mean, variance = utils.smart_cond(is_training, by_batch, by_averages)
    known = utils.constant_value(is_training)
    if known is None or known:
        normalized = outputs

        def move() -> tuple[Any, Any]:
            return _moved(averages, mean, variance, decay, zero_debias)

        def after_moving() -> Tensor:
            with ops.control_dependencies(list(move())):
                return array_ops.identity(normalized)

        if updates_collections is None:
            outputs = utils.smart_cond(is_training, after_moving, lambda: normalized)
        else:
            _collect_updates(is_training, move, averages, updates_collections)
    outputs.set_shape(inputs.get_shape())
    return array_ops.reshape(outputs, array_ops.shape(original)) if rank == 2 else outputs


def _unfused(inputs: Tensor, parameters: _Parameters, decay: Any, center: bool, scale: bool, epsilon: float,
             updates_collections: Any, is_training: Any, batch_weights: Any, data_format: str,
             zero_debias: bool) -> Tensor:
    """By moments and arithmetic: what has weights for the examples, or another rank than the fused op takes."""
    shape = inputs.get_shape()
    rank = shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    dtype = inputs.dtype.base_dtype
    if batch_weights is not None:
        batch_weights = ops.convert_to_tensor(batch_weights)
        shape[0:1].assert_is_compatible_with(batch_weights.get_shape())
        batch_weights = array_ops.reshape(batch_weights, [-1] + [1] * (rank - 1))
    first = data_format == "NCHW"
    axes = [0, *range(2, rank)] if first else list(range(rank - 1))
    channels = _channels(inputs, data_format)
    beta = parameters.trained("beta", channels, dtype) if center else None
    gamma = parameters.trained("gamma", channels, dtype) if scale else None
    averages = parameters.averages(channels, dtype)
    known = utils.constant_value(is_training)
    mean, variance = averages
    if known is None or known:
        batch = _moments(inputs, axes, batch_weights, first)

        def move() -> tuple[Any, Any]:
            return _moved(averages, *batch, decay, zero_debias)

        def after_moving() -> tuple[Any, Any]:
            with ops.control_dependencies(list(move())):
                return array_ops.identity(batch[0]), array_ops.identity(batch[1])

        if updates_collections is None:
            mean, variance = utils.smart_cond(is_training, after_moving, lambda: averages)
        else:
            _collect_updates(is_training, move, averages, updates_collections)
            mean, variance = utils.smart_cond(is_training, lambda: batch, lambda: averages)
    if first:
        wide = [1, channels.as_list()[0]] + [1] * (rank - 2)
        mean, variance, beta, gamma = (None if parameter is None else array_ops.reshape(parameter, wide)
                                       for parameter in (mean, variance, beta, gamma))
    outputs = nn_impl.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
    outputs.set_shape(shape)
    return outputs


def _moments(inputs: Tensor, axes: list[int], weights: Any, first: bool) -> tuple[Tensor, Tensor]:
    """Mean and variance of the batch, for each channel."""
    if weights is None:
        mean, variance = nn_impl.moments(inputs, axes, keep_dims=first)
    else:
        mean, variance = nn_impl.weighted_moments(inputs, axes, weights, keep_dims=first)
    if first:
        mean, variance = array_ops.reshape(mean, [-1]), array_ops.reshape(variance, [-1])
    return mean, variance
