"""Convolutions over one to three spatial axes: plain, transposed, separable and in a plane.

They all take an `activation_fn` (relu unless said otherwise), a `normalizer_fn` with `normalizer_params` (then there
are no biases), initializers and regularizers, `variables_collections` (a list, or a dict by variable name),
`outputs_collections`, `reuse`, `trainable` and a `scope` for the variables `weights` and `biases`. `stride` and `rate`
(the dilation) cannot both be above 1.
"""

from __future__ import annotations

from typing import Any

from tfsandbox.contrib.framework import variables as contrib_variables
from tfsandbox.contrib.layers import initializers, utils
from tfsandbox.contrib.layers.layer_scope import (
    SEPARABLE_NAMES,
    ZEROS,
    check_data_format,
    finished,
    layer_scope,
    note_variable,
)
from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.layers import convolutional
from tfsandbox.ops import array_ops, nn_impl, nn_ops, variable_scope
from tfsandbox.util.arg_scoping import add_arg_scope

_XAVIER = initializers.xavier_initializer()
_LAYOUTS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_BY_RANK = {3: convolutional.Conv1D, 4: convolutional.Conv2D, 5: convolutional.Conv3D}


@add_arg_scope
def convolution(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                data_format: str | None = None, rate: Any = 1, activation_fn: Any = nn_ops.relu,
                normalizer_fn: Any = None, normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                weights_regularizer: Any = None, biases_initializer: Any = ZEROS, biases_regularizer: Any = None,
                reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
                trainable: bool = True, scope: Any = None, conv_dims: int | None = None) -> Tensor:
    """Convolution of [n, *space, in] with weights [*kernel_size, in, num_outputs], by the rank of the inputs.

    Raises `ValueError` for an unknown `data_format`, or a rank that is not `conv_dims` + 2.
    """
    if data_format not in _LAYOUTS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with layer_scope(scope, "Conv", inputs, reuse) as sc:
        inputs = ops.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in _BY_RANK:
            raise ValueError("Convolution not supported for input with rank", rank)
        first = data_format is not None and data_format.startswith("NC")
        layer = _BY_RANK[rank](
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format="channels_first" if first else "channels_last", dilation_rate=rate, activation=None,
            use_bias=normalizer_fn is None and biases_initializer is not None,
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, activity_regularizer=None,
            trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
        outputs = layer.apply(inputs)
        note_variable(layer.kernel, variables_collections, "weights")
        note_variable(layer.bias, variables_collections, "biases")
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def convolution1d(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                  data_format: str | None = None, rate: Any = 1, activation_fn: Any = nn_ops.relu,
                  normalizer_fn: Any = None, normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                  weights_regularizer: Any = None, biases_initializer: Any = ZEROS, biases_regularizer: Any = None,
                  reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
                  trainable: bool = True, scope: Any = None) -> Tensor:
    """`convolution` of [n, w, in]."""
    return convolution(**locals(), conv_dims=1)


@add_arg_scope
def convolution2d(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                  data_format: str | None = None, rate: Any = 1, activation_fn: Any = nn_ops.relu,
                  normalizer_fn: Any = None, normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                  weights_regularizer: Any = None, biases_initializer: Any = ZEROS, biases_regularizer: Any = None,
                  reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
                  trainable: bool = True, scope: Any = None) -> Tensor:
    """`convolution` of [n, h, w, in]."""
    return convolution(**locals(), conv_dims=2)


@add_arg_scope
def convolution3d(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                  data_format: str | None = None, rate: Any = 1, activation_fn: Any = nn_ops.relu,
                  normalizer_fn: Any = None, normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                  weights_regularizer: Any = None, biases_initializer: Any = ZEROS, biases_regularizer: Any = None,
                  reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
                  trainable: bool = True, scope: Any = None) -> Tensor:
    """`convolution` of [n, d, h, w, in]."""
    return convolution(**locals(), conv_dims=3)


def _transposed(layer_class: Any, default_name: str, inputs: Any, num_outputs: int, kernel_size: Any, stride: Any,
                padding: str, channels: str, activation_fn: Any, normalizer_fn: Any, normalizer_params: Any,
                weights_initializer: Any, weights_regularizer: Any, biases_initializer: Any, biases_regularizer: Any,
                reuse: Any, variables_collections: Any, outputs_collections: Any, trainable: bool,
                scope: Any) -> Tensor:
    with layer_scope(scope, default_name, inputs, reuse) as sc:
        inputs = ops.convert_to_tensor(inputs)
        layer = layer_class(
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding, data_format=channels,
            activation=None, use_bias=normalizer_fn is None and biases_initializer is not None,
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, activity_regularizer=None,
            trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
        outputs = layer.apply(inputs)
        note_variable(layer.kernel, variables_collections, "weights")
        note_variable(layer.bias, variables_collections, "biases")
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def convolution2d_transpose(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                            data_format: str = "NHWC", activation_fn: Any = nn_ops.relu, normalizer_fn: Any = None,
                            normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                            weights_regularizer: Any = None, biases_initializer: Any = ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Tensor:
    """The gradient of a convolution as a layer: [n, h, w, in] -> [n, h * stride, w * stride, num_outputs]."""
    channels = check_data_format(data_format, "NCHW", "NHWC")
    return _transposed(convolutional.Conv2DTranspose, "Conv2d_transpose", inputs, num_outputs, kernel_size, stride,
                       padding, channels, activation_fn, normalizer_fn, normalizer_params, weights_initializer,
                       weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
                       outputs_collections, trainable, scope)


@add_arg_scope
def convolution3d_transpose(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                            data_format: str = "NDHWC", activation_fn: Any = nn_ops.relu, normalizer_fn: Any = None,
                            normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                            weights_regularizer: Any = None, biases_initializer: Any = ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Tensor:
    """The gradient of a convolution as a layer, of [n, d, h, w, in]."""
    channels = check_data_format(data_format, "NCDHW", "NDHWC")
    return _transposed(convolutional.Conv3DTranspose, "Conv3d_transpose", inputs, num_outputs, kernel_size, stride,
                       padding, channels, activation_fn, normalizer_fn, normalizer_params, weights_initializer,
                       weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
                       outputs_collections, trainable, scope)


@add_arg_scope
def separable_convolution2d(inputs: Any, num_outputs: int | None, kernel_size: Any, depth_multiplier: int = 1,
                            stride: Any = 1, padding: str = "SAME", data_format: str = "NHWC", rate: Any = 1,
                            activation_fn: Any = nn_ops.relu, normalizer_fn: Any = None,
                            normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                            pointwise_initializer: Any = None, weights_regularizer: Any = None,
                            biases_initializer: Any = ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                            variables_collections: Any = None, outputs_collections: Any = None,
                            trainable: bool = True, scope: Any = None) -> Tensor:
    """Each channel convolved by itself (`depth_multiplier` times), then 1 x 1 over the channels.

    With `num_outputs` None the second step is left out. Variables: `depthwise_weights`, `pointwise_weights`, `biases`.
    """
    channels = check_data_format(data_format, "NCHW", "NHWC")
    with layer_scope(scope, "SeparableConv2d", inputs, reuse, SEPARABLE_NAMES) as sc:
        inputs = ops.convert_to_tensor(inputs)
        if pointwise_initializer is None:
            pointwise_initializer = weights_initializer
        if num_outputs is not None:
            layer = convolutional.SeparableConv2D(
                filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding, data_format=channels,
                dilation_rate=utils.two_element_tuple(rate), activation=None, depth_multiplier=depth_multiplier,
                use_bias=normalizer_fn is None and biases_initializer is not None,
                depthwise_initializer=weights_initializer, pointwise_initializer=pointwise_initializer,
                depthwise_regularizer=weights_regularizer, pointwise_regularizer=weights_regularizer,
                bias_initializer=biases_initializer, bias_regularizer=biases_regularizer, activity_regularizer=None,
                trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
            outputs = layer.apply(inputs)
            note_variable(layer.depthwise_kernel, variables_collections, "weights")
            note_variable(layer.pointwise_kernel, variables_collections, "weights")
            note_variable(layer.bias, variables_collections, "biases")
        else:
            depth = utils.channel_dimension(inputs.get_shape(), channels, min_rank=4)
            weights = _plain_weights("depthwise_weights", inputs,
                                     [*utils.two_element_tuple(kernel_size), depth, depth_multiplier],
                                     weights_initializer, weights_regularizer, variables_collections, trainable)
            steps = utils.two_element_tuple(stride)
            strides = [1, 1, *steps] if channels == "channels_first" else [1, *steps, 1]
            outputs = nn_impl.depthwise_conv2d(inputs, weights, strides, padding, rate=utils.two_element_tuple(rate),
                                               data_format=data_format)
            if normalizer_fn is None:
                outputs = _with_plain_biases(outputs, depth_multiplier * depth, inputs, biases_initializer,
                                             biases_regularizer, variables_collections, trainable, data_format)
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def convolution2d_in_plane(inputs: Any, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                           activation_fn: Any = nn_ops.relu, normalizer_fn: Any = None, normalizer_params: Any = None,
                           weights_initializer: Any = _XAVIER, weights_regularizer: Any = None,
                           biases_initializer: Any = ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                           variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                           scope: Any = None) -> Tensor:
    """One and the same two-dimensional kernel over every channel of [n, h, w, in]."""
    with variable_scope.variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        inputs = ops.convert_to_tensor(inputs)
        steps = utils.two_element_tuple(stride)
        depth = utils.last_dimension(inputs.get_shape(), min_rank=4)
        weights = _plain_weights("weights", inputs, [*utils.two_element_tuple(kernel_size), 1, 1],
                                 weights_initializer, weights_regularizer, variables_collections, trainable)
        weights = array_ops.tile(weights, [1, 1, depth, 1])
        outputs = nn_impl.depthwise_conv2d(inputs, weights, [1, *steps, 1], padding)
        if normalizer_fn is None:
            outputs = _with_plain_biases(outputs, depth, inputs, biases_initializer, biases_regularizer,
                                         variables_collections, trainable, "NHWC")
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


def _plain_weights(name: str, inputs: Tensor, shape: list[int], initializer: Any, regularizer: Any,
                   variables_collections: Any, trainable: bool) -> Any:
    """The weights where there is no layer object to make them."""
    return contrib_variables.model_variable(
        name, shape=shape, dtype=inputs.dtype.base_dtype, initializer=initializer, regularizer=regularizer,
        trainable=trainable, collections=utils.get_variable_collections(variables_collections, "weights"))


def _with_plain_biases(outputs: Tensor, size: int, inputs: Tensor, initializer: Any, regularizer: Any,
                       variables_collections: Any, trainable: bool, data_format: str) -> Tensor:
    if initializer is None:
        return outputs
    biases = contrib_variables.model_variable(
        "biases", shape=[size], dtype=inputs.dtype.base_dtype, initializer=initializer, regularizer=regularizer,
        trainable=trainable, collections=utils.get_variable_collections(variables_collections, "biases"))
    return nn_ops.bias_add(outputs, biases, data_format=data_format)


conv1d, conv2d, conv3d = convolution1d, convolution2d, convolution3d
conv2d_transpose, conv3d_transpose = convolution2d_transpose, convolution3d_transpose
separable_conv2d = separable_convolution2d
conv2d_in_plane = convolution2d_in_plane
