"""Pooling of windows, by their largest element or their mean."""

from __future__ import annotations

from typing import Any

from tfsandbox.contrib.layers import utils
from tfsandbox.contrib.layers.layer_scope import check_data_format
from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.layers import pooling
from tfsandbox.ops import nn_ops
from tfsandbox.util.arg_scoping import add_arg_scope


def _pooled(layer_class: Any, default_name: str, inputs: Any, kernel_size: Any, stride: Any, padding: str,
            channels: str, outputs_collections: Any, scope: Any) -> Tensor:
    with ops.name_scope(scope, default_name, [inputs]) as sc:
        inputs = ops.convert_to_tensor(inputs)
        layer = layer_class(pool_size=kernel_size, strides=stride, padding=padding, data_format=channels, _scope=sc)
        return utils.collect_named_outputs(outputs_collections, sc, layer.apply(inputs))


@add_arg_scope
def avg_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NHWC",
               outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """The mean of each window of [n, h, w, c]."""
    channels = check_data_format(data_format, "NCHW", "NHWC")
    return _pooled(pooling.AveragePooling2D, "AvgPool2D", inputs, kernel_size, stride, padding, channels,
                   outputs_collections, scope)


@add_arg_scope
def avg_pool3d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NDHWC",
               outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """The mean of each window of [n, d, h, w, c]."""
    channels = check_data_format(data_format, "NCDHW", "NDHWC")
    return _pooled(pooling.AveragePooling3D, "AvgPool3D", inputs, kernel_size, stride, padding, channels,
                   outputs_collections, scope)


@add_arg_scope
def max_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NHWC",
               outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """The largest element of each window of [n, h, w, c]."""
    channels = check_data_format(data_format, "NCHW", "NHWC")
    return _pooled(pooling.MaxPooling2D, "MaxPool2D", inputs, kernel_size, stride, padding, channels,
                   outputs_collections, scope)


@add_arg_scope
def max_pool3d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NDHWC",
               outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """The largest element of each window of [n, d, h, w, c]."""
    channels = check_data_format(data_format, "NCDHW", "NDHWC")
    return _pooled(pooling.MaxPooling3D, "MaxPool3D", inputs, kernel_size, stride, padding, channels,
                   outputs_collections, scope)


@add_arg_scope
def pool(inputs: Any, kernel_size: Any, pooling_type: str, padding: str = "VALID", data_format: str | None = None,
         dilation_rate: Any = 1, stride: Any = 1, outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Pooling of windows over any number of spatial axes; `pooling_type` is 'AVG' or 'MAX'."""
    with ops.name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
        inputs = ops.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        axes = rank - 2
        outputs = nn_ops.pool(
            input=inputs, window_shape=utils.n_positive_integers(axes, kernel_size), pooling_type=pooling_type,
            padding=padding, data_format=data_format,
            dilation_rate=utils.n_positive_integers(axes, dilation_rate),
            strides=utils.n_positive_integers(axes, stride), name=sc)
        return utils.collect_named_outputs(outputs_collections, sc, outputs)
