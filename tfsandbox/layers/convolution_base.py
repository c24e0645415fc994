"""What all convolution layers are made of: arguments in one form, the kernel and the bias, and the last steps."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape, as_shape
from tfsandbox.layers import utils
from tfsandbox.layers.base import Layer
from tfsandbox.layers.input_spec import InputSpec
from tfsandbox.ops import array_ops, init_ops, nn_ops
from tfsandbox.ops.space_to_batch import SpaceToBatch

ZEROS = init_ops.zeros_initializer()


class Convolution(Layer):
    """activation(convolution(inputs, kernel) + bias) over `rank` spatial axes."""

    def __init__(self, rank: int, filters: Any, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = None, dilation_rate: Any = 1, activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = None, bias_initializer: Any = ZEROS, kernel_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.rank = rank
        self.filters = filters if filters is None or isinstance(filters, int) else int(filters)
        self.kernel_size = utils.normalize_tuple(kernel_size, rank, "kernel_size")
        self.strides = utils.normalize_tuple(strides, rank, "strides")
        self.padding = utils.normalize_padding(padding)
        if self.padding == "causal" and rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.data_format = utils.normalize_data_format(data_format)
        self.dilation_rate = utils.normalize_tuple(dilation_rate, rank, "dilation_rate")
        self.activation = activation
        self.use_bias = use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.kernel: Any = None
        self.bias: Any = None
        self.input_spec = InputSpec(ndim=rank + 2)

    # ------------------------------------------------------------ building

    @property
    def channel_axis(self) -> int:
        """1 or -1."""
        return 1 if self.data_format == "channels_first" else -1

    @property
    def layout(self) -> str:
        """The ops' name of the data format: 'NHWC', ..."""
        return utils.convert_data_format(self.data_format, self.rank + 2)

    def input_channels(self, input_shape: Any) -> int:
        """The number of input channels, which must be known, and which later inputs must have too."""
        channels = as_shape(input_shape).as_list()[self.channel_axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self.channel_axis: channels})
        return channels

    def add_kernel(self, shape: Any) -> None:
        """Make the kernel."""
        self.kernel = self.add_weight("kernel", shape=shape, initializer=self.kernel_initializer,
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint,
                                      trainable=True, dtype=self.dtype)

    def add_bias(self) -> None:
        """Make the bias, if there is one."""
        if self.use_bias:
            self.bias = self.add_weight("bias", shape=(self.filters,), initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint,
                                        trainable=True, dtype=self.dtype)

    def build(self, input_shape: Any) -> None:
        """Make `kernel` [*kernel_size, in, filters] and `bias` [filters]."""
        channels = self.input_channels(input_shape)
        self.add_kernel((*self.kernel_size, channels, self.filters))
        self.add_bias()
        if any(rate > 1 for rate in self.dilation_rate) and any(step > 1 for step in self.strides):
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        padding = "valid" if self.padding == "causal" else self.padding
        first = 2 if self.data_format == "channels_first" else 1
        self._spaced = SpaceToBatch(as_shape(input_shape), list(self.dilation_rate), padding.upper(),
                                    filter_shape=self.kernel.shape, spatial_dims=range(first, first + self.rank),
                                    data_format=self.layout)
        self.built = True

    # ------------------------------------------------------------ calling

    def call(self, inputs: Tensor) -> Tensor:
        """[n, *space, in] -> [n, *space', filters]."""
        padded = array_ops.pad(inputs, self.causal_paddings()) if self.padding == "causal" else inputs
        return self.finished(self._spaced(padded, self._convolved, sized=inputs))

    def _convolved(self, inputs: Tensor, num_spatial_dims: int, padding: str) -> Tensor:
        if self.rank == 1:
            return nn_ops.conv1d(inputs, self.kernel, list(self.strides), padding, data_format=self.layout)
        if self.data_format == "channels_first":
            strides = [1, 1, *self.strides]
        else:
            strides = [1, *self.strides, 1]
        convolve = nn_ops.conv2d if self.rank == 2 else nn_ops.conv3d
        return convolve(inputs, self.kernel, strides, padding, data_format=self.layout)

    def finished(self, outputs: Tensor) -> Tensor:
        """Bias and activation."""
        if self.use_bias:
            if self.data_format == "channels_first" and self.rank == 1:
                outputs = outputs + array_ops.reshape(self.bias, (1, self.filters, 1))
            else:
                outputs = nn_ops.bias_add(outputs, self.bias,
                                          data_format="NCHW" if self.data_format == "channels_first" else "NHWC")
        return self.activation(outputs) if self.activation is not None else outputs

    def causal_paddings(self) -> list[list[int]]:
        """Zeros before the first element, so that no window sees what comes after it."""
        before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        return [[0, 0], [before, 0], [0, 0]] if self.data_format == "channels_last" else [[0, 0], [0, 0], [before, 0]]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """How many windows fit along each spatial axis, and `filters` channels."""
        sizes = as_shape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for i in range(self.rank):
            sizes[first + i] = utils.conv_output_length(sizes[first + i], self.kernel_size[i], self.padding,
                                                        self.strides[i], self.dilation_rate[i])
        sizes[self.channel_axis] = self.filters
        return TensorShape(sizes)
