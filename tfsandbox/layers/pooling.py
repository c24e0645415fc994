"""tf.layers: pooling over one to three spatial axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape, as_shape
from tfsandbox.layers import utils
from tfsandbox.layers.base import Layer
from tfsandbox.layers.input_spec import InputSpec
from tfsandbox.ops import array_ops, nn_ops
from tfsandbox.util.arg_scoping import accept_arg_scope

__all__ = ["AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D",
           "average_pooling1d", "average_pooling2d", "average_pooling3d", "max_pooling1d", "max_pooling2d",
           "max_pooling3d"]


class _Pooling(Layer):
    """A pooling layer over `rank` spatial axes; subclasses set `rank` and `pool_function`."""

    rank: int
    pool_function: Callable[..., Tensor]

    def __init__(self, pool_size: Any, strides: Any, padding: str = "valid", data_format: str = "channels_last",
                 name: str | None = None, **kwargs: Any) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(name=name, **kwargs)
        self.pool_size = utils.normalize_tuple(pool_size, self.rank, "pool_size")
        self.strides = utils.normalize_tuple(strides, self.rank, "strides")
        self.padding = utils.normalize_padding(padding)
        self.data_format = utils.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Tensor) -> Tensor:
        """The pooled inputs."""
        if self.data_format == "channels_first" and self.rank == 2:
            return self._pooled(inputs, [1, 1, *self.pool_size], [1, 1, *self.strides], "NCHW")
        return self._channels_last(inputs, self.pool_size, self.strides)

    def _channels_last(self, inputs: Tensor, window: Any, strides: Any) -> Tensor:
        """Pool with the channels last: on a CPU TensorFlow turns the input around where they are not."""
        rank = len(window) + 2
        turned = self.data_format == "channels_first"
        if turned:
            inputs = array_ops.transpose(inputs, (0, *range(2, rank), 1))
        outputs = self._pooled(inputs, [1, *window, 1], [1, *strides, 1], "NHWC" if rank == 4 else "NDHWC")
        return array_ops.transpose(outputs, (0, rank - 1, *range(1, rank - 1))) if turned else outputs

    def _pooled(self, inputs: Tensor, window: Any, strides: Any, layout: str) -> Tensor:
        return type(self).pool_function(inputs, window, strides, padding=self.padding.upper(), data_format=layout)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """How many windows fit along each spatial axis."""
        sizes = as_shape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for i in range(self.rank):
            sizes[first + i] = utils.conv_output_length(sizes[first + i], self.pool_size[i], self.padding,
                                                        self.strides[i])
        return TensorShape(sizes)


class _Pooling1D(_Pooling):
    """Pooling over one axis: the op for two, with an axis of size 1."""

    rank = 1

    def call(self, inputs: Tensor) -> Tensor:
        """The pooled inputs."""
        axis = 2 if self.data_format == "channels_last" else 3
        outputs = self._channels_last(array_ops.expand_dims(inputs, axis), [*self.pool_size, 1], [*self.strides, 1])
        return array_ops.squeeze(outputs, axis)


class MaxPooling1D(_Pooling1D):
    """The largest of each window: [n, w, c]."""

    pool_function = staticmethod(nn_ops.max_pool)


class AveragePooling1D(_Pooling1D):
    """The mean of each window: [n, w, c]."""

    pool_function = staticmethod(nn_ops.avg_pool)


class MaxPooling2D(_Pooling):
    """The largest of each window: [n, h, w, c]."""

    rank = 2
    pool_function = staticmethod(nn_ops.max_pool)


class AveragePooling2D(_Pooling):
    """The mean of each window: [n, h, w, c]."""

    rank = 2
    pool_function = staticmethod(nn_ops.avg_pool)


class MaxPooling3D(_Pooling):
    """The largest of each window: [n, d, h, w, c]."""

    rank = 3
    pool_function = staticmethod(nn_ops.max_pool3d)


class AveragePooling3D(_Pooling):
    """The mean of each window: [n, d, h, w, c]."""

    rank = 3
    pool_function = staticmethod(nn_ops.avg_pool3d)


@accept_arg_scope
def max_pooling1d(inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
                  data_format: str = "channels_last", name: str | None = None) -> Tensor:
    """`MaxPooling1D` as a function."""
    return MaxPooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


@accept_arg_scope
def average_pooling1d(inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
                      data_format: str = "channels_last", name: str | None = None) -> Tensor:
    """`AveragePooling1D` as a function."""
    return AveragePooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


@accept_arg_scope
def max_pooling2d(inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
                  data_format: str = "channels_last", name: str | None = None) -> Tensor:
    """`MaxPooling2D` as a function."""
    return MaxPooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


@accept_arg_scope
def average_pooling2d(inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
                      data_format: str = "channels_last", name: str | None = None) -> Tensor:
    """`AveragePooling2D` as a function."""
    return AveragePooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


@accept_arg_scope
def max_pooling3d(inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
                  data_format: str = "channels_last", name: str | None = None) -> Tensor:
    """`MaxPooling3D` as a function."""
    return MaxPooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


@accept_arg_scope
def average_pooling3d(inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
                      data_format: str = "channels_last", name: str | None = None) -> Tensor:
    """`AveragePooling3D` as a function."""
    return AveragePooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


MaxPool2D = MaxPooling2D
AvgPool2D = AveragePooling2D
max_pool2d = max_pooling2d
avg_pool2d = average_pooling2d
