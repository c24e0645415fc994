"""Layers that have no weights: dropout, flatten, one-hot, softmax, unit norm, maxout and the like; and a bias."""

from __future__ import annotations

from typing import Any

from tfsandbox.contrib.framework import variables as contrib_variables
from tfsandbox.contrib.layers import utils
from tfsandbox.contrib.layers.layer_scope import ZEROS, check_data_format, finished, layer_scope
from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.layers import core
from tfsandbox.ops import array_ops, math_ops, nn_ops, variable_scope
from tfsandbox.util.arg_scoping import add_arg_scope


@add_arg_scope
def bias_add(inputs: Any, activation_fn: Any = None, initializer: Any = ZEROS, regularizer: Any = None,
             reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
             trainable: bool = True, data_format: str = "NHWC", scope: Any = None) -> Tensor:
    """activation(inputs + biases), one bias a channel.

    Raises `ValueError` where the rank or the number of channels is unknown.
    """
    first = check_data_format(data_format, "NCHW", "NHWC") == "channels_first"
    with variable_scope.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = ops.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Dims of shape must be known but is None")
        if rank != 4 and first:
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = inputs.get_shape().as_list()[1 if first else -1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = contrib_variables.model_variable(
            "biases", shape=[channels], dtype=inputs.dtype.base_dtype, initializer=initializer,
            regularizer=regularizer, trainable=trainable,
            collections=utils.get_variable_collections(variables_collections, "biases"))
        outputs = nn_ops.bias_add(inputs, biases, data_format=data_format)
        return finished(outputs, None, None, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def dropout(inputs: Any, keep_prob: Any = 0.5, noise_shape: Any = None, is_training: Any = True,
            outputs_collections: Any = None, scope: Any = None, seed: int | None = None) -> Tensor:
    """In training, elements are kept with `keep_prob` and scaled by its inverse, else zero; otherwise the inputs.

    `is_training` is a bool, or a tensor that decides in the run.
    """
    with layer_scope(scope, "Dropout", inputs, None, {}) as sc:
        inputs = ops.convert_to_tensor(inputs)
        layer = core.Dropout(rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc)
        outputs = layer.apply(inputs, training=is_training)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """[n, ...] -> [n, all the rest]."""
    with ops.name_scope(scope, "Flatten", [inputs]) as sc:
        outputs = core.flatten(ops.convert_to_tensor(inputs))
        return utils.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def one_hot_encoding(labels: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0,
                     outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Whole numbers [n] -> [n, num_classes], `on_value` at the label and `off_value` elsewhere."""
    with ops.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = ops.convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = math_ops.to_int64(labels)
        outputs = array_ops.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return utils.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Tensor:
    """Softmax over the last axis, of any rank from 2."""
    with variable_scope.variable_scope(scope, "softmax", [logits]):
        classes = utils.last_dimension(logits.get_shape(), min_rank=2)
        rows = array_ops.reshape(logits, [-1, classes])
        predictions = array_ops.reshape(nn_ops.softmax(rows), array_ops.shape(logits))
        predictions.set_shape(logits.get_shape())
        return predictions


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Tensor:
    """The inputs divided by their L2 norm along the axis `dim`.

    Raises `ValueError` where the rank is unknown, or `dim` negative or too large.
    """
    with variable_scope.variable_scope(scope, "UnitNorm", [inputs]):
        rank = inputs.get_shape().ndims
        if not rank:
            raise ValueError("The input rank must be known.")
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = math_ops.sqrt(epsilon + math_ops.reduce_sum(math_ops.square(inputs), dim, True))
        multiples = []
        if dim > 0:
            multiples.append(array_ops.ones([dim], dtypes.int32))
        multiples.append(array_ops.strided_slice(array_ops.shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(array_ops.ones([rank - 1 - dim], dtypes.int32))
        return math_ops.div(inputs, array_ops.tile(lengths, array_ops.concat(multiples, 0)))


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Tensor:
    """The largest of each group of features along an axis: `num_units` groups (Goodfellow et al., 2013)."""
    with variable_scope.variable_scope(scope, "MaxOut", [inputs]):
        inputs = ops.convert_to_tensor(inputs)
        sizes = inputs.get_shape().as_list()
        features = sizes[axis]
        if features is None or features % num_units:
            raise ValueError(f"number of features({features}) is not a multiple of num_units({num_units})")
        sizes[axis] = num_units
        groups: list[Any] = [*sizes, features // num_units]
        for i, size in enumerate(groups):
            if size is None:
                groups[i] = array_ops.shape(inputs)[i]
        outputs = math_ops.reduce_max(array_ops.reshape(inputs, groups), -1, keepdims=False)
        outputs.set_shape(sizes)
        return outputs
