"""tf.layers: convolutions over one to three spatial axes, transposed and separable ones."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape, as_shape
from tfsandbox.layers import utils
from tfsandbox.layers.convolution_base import ZEROS, Convolution
from tfsandbox.ops import array_ops, nn_impl, nn_ops
from tfsandbox.util.arg_scoping import accept_arg_scope

__all__ = ["Conv1D", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "SeparableConv1D", "SeparableConv2D",
           "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "separable_conv1d",
           "separable_conv2d"]


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a layer among a function's locals: all but the class's own."""
    kept = {key: value for key, value in given.items() if key not in ("self", "__class__", "kwargs", "inputs", "reuse")}
    kept.update(given.get("kwargs", {}))
    return kept


# ------------------------------------------------------------ plain convolutions


class Conv1D(Convolution):
    """Convolution of [n, w, in] with a kernel [kw, in, filters]."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str = "channels_last", dilation_rate: Any = 1, activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = ZEROS,
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                 name: str | None = None, **kwargs: Any) -> None:
        super().__init__(1, **_arguments(locals()))


class Conv2D(Convolution):
    """Convolution of [n, h, w, in] with a kernel [kh, kw, in, filters]."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
                 data_format: str = "channels_last", dilation_rate: Any = (1, 1), activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = ZEROS,
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                 name: str | None = None, **kwargs: Any) -> None:
        super().__init__(2, **_arguments(locals()))


class Conv3D(Convolution):
    """Convolution of [n, d, h, w, in] with a kernel [kd, kh, kw, in, filters]."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1, 1), padding: str = "valid",
                 data_format: str = "channels_last", dilation_rate: Any = (1, 1, 1), activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = ZEROS,
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                 name: str | None = None, **kwargs: Any) -> None:
        super().__init__(3, **_arguments(locals()))


@accept_arg_scope
def conv1d(inputs: Any, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
           data_format: str = "channels_last", dilation_rate: Any = 1, activation: Any = None, use_bias: bool = True,
           kernel_initializer: Any = None, bias_initializer: Any = ZEROS, kernel_regularizer: Any = None,
           bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
           bias_constraint: Any = None, trainable: bool = True, name: str | None = None, reuse: Any = None) -> Tensor:
    """`Conv1D` as a function: makes the layer in the scope `name` (or reuses its variables) and applies it."""
    return Conv1D(**_arguments(locals()), _reuse=reuse, _scope=name).apply(inputs)


@accept_arg_scope
def conv2d(inputs: Any, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
           data_format: str = "channels_last", dilation_rate: Any = (1, 1), activation: Any = None,
           use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = ZEROS,
           kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
           kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
           reuse: Any = None) -> Tensor:
    """`Conv2D` as a function: makes the layer in the scope `name` (or reuses its variables) and applies it."""
    return Conv2D(**_arguments(locals()), _reuse=reuse, _scope=name).apply(inputs)


@accept_arg_scope
def conv3d(inputs: Any, filters: int, kernel_size: Any, strides: Any = (1, 1, 1), padding: str = "valid",
           data_format: str = "channels_last", dilation_rate: Any = (1, 1, 1), activation: Any = None,
           use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = ZEROS,
           kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
           kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
           reuse: Any = None) -> Tensor:
    """`Conv3D` as a function: makes the layer in the scope `name` (or reuses its variables) and applies it."""
    return Conv3D(**_arguments(locals()), _reuse=reuse, _scope=name).apply(inputs)


# ------------------------------------------------------------ transposed convolutions


class _Transposed(Convolution):
    """The gradient of a convolution as a layer; the kernel is [*kernel_size, filters, in]."""

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        channels = self.input_channels(input_shape)
        self.add_kernel((*self.kernel_size, self.filters, channels))
        self.add_bias()
        self.built = True

    def _space(self) -> range:
        return range(2, 2 + self.rank) if self.data_format == "channels_first" else range(1, 1 + self.rank)

    def call(self, inputs: Tensor) -> Tensor:
        """[n, *space, in] -> [n, *(larger space), filters]."""
        shape = array_ops.shape(inputs)
        batch = shape[0]
        sizes: list[Any] = [shape[axis] for axis in self._space()]
        lengths = [utils.deconv_output_length(size, self.kernel_size[i], self.padding, self.strides[i])
                   for i, size in enumerate(sizes)]
        first = self.data_format == "channels_first"
        wanted = array_ops.stack([batch, self.filters, *lengths] if first else [batch, *lengths, self.filters])
        outputs = self._transposed(inputs, wanted)
        if inputs.shape.ndims is not None:
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self.finished(outputs)

    def _transposed(self, inputs: Tensor, shape: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The lengths whose convolution would give the input's."""
        sizes = as_shape(input_shape).as_list()
        for i, axis in enumerate(self._space()):
            sizes[axis] = utils.deconv_output_length(sizes[axis], self.kernel_size[i], self.padding, self.strides[i])
        sizes[self.channel_axis] = self.filters
        return TensorShape(sizes)


class Conv2DTranspose(_Transposed):
    """The gradient of `Conv2D` as a layer."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
                 data_format: str = "channels_last", activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = None, bias_initializer: Any = ZEROS, kernel_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(2, **_arguments(locals()))

    def _transposed(self, inputs: Tensor, shape: Tensor) -> Tensor:
        strides = list(self.strides)
        if self.data_format == "channels_last":
            # TensorFlow asks for the batch once more here.
            _ = shape[0]
            return nn_ops.conv2d_transpose(inputs, self.kernel, shape, [1, *strides, 1], padding=self.padding.upper())
        # On a CPU TensorFlow has no kernel for this layout: it turns the input around.
        shape = array_ops.stack([shape[0], shape[2], shape[3], shape[1]])
        inputs = array_ops.transpose(inputs, (0, 2, 3, 1))
        outputs = nn_ops.conv2d_transpose(inputs, self.kernel, shape, [1, *strides, 1], padding=self.padding.upper())
        return array_ops.transpose(outputs, (0, 3, 1, 2))


class Conv3DTranspose(_Transposed):
    """The gradient of `Conv3D` as a layer."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1, 1), padding: str = "valid",
                 data_format: str = "channels_last", activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = None, bias_initializer: Any = ZEROS, kernel_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(3, **_arguments(locals()))

    def _transposed(self, inputs: Tensor, shape: Tensor) -> Tensor:
        strides = [1, 1, *self.strides] if self.data_format == "channels_first" else [1, *self.strides, 1]
        return nn_ops.conv3d_transpose(inputs, self.kernel, shape, strides, padding=self.padding.upper(),
                                       data_format=self.layout)


@accept_arg_scope
def conv2d_transpose(inputs: Any, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
                     data_format: str = "channels_last", activation: Any = None, use_bias: bool = True,
                     kernel_initializer: Any = None, bias_initializer: Any = ZEROS, kernel_regularizer: Any = None,
                     bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                     bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
                     reuse: Any = None) -> Tensor:
    """`Conv2DTranspose` as a function."""
    return Conv2DTranspose(**_arguments(locals()), _reuse=reuse, _scope=name).apply(inputs)


@accept_arg_scope
def conv3d_transpose(inputs: Any, filters: int, kernel_size: Any, strides: Any = (1, 1, 1), padding: str = "valid",
                     data_format: str = "channels_last", activation: Any = None, use_bias: bool = True,
                     kernel_initializer: Any = None, bias_initializer: Any = ZEROS, kernel_regularizer: Any = None,
                     bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                     bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
                     reuse: Any = None) -> Tensor:
    """`Conv3DTranspose` as a function."""
    return Conv3DTranspose(**_arguments(locals()), _reuse=reuse, _scope=name).apply(inputs)


# ------------------------------------------------------------ separable convolutions


class _Separable(Convolution):
    """A convolution of each channel by itself, then one of 1 x 1 over the channels."""

    def __init__(self, rank: int, depth_multiplier: int = 1, depthwise_initializer: Any = None,
                 pointwise_initializer: Any = None, depthwise_regularizer: Any = None,
                 pointwise_regularizer: Any = None, depthwise_constraint: Any = None, pointwise_constraint: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(rank, **kwargs)
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer, self.pointwise_initializer = depthwise_initializer, pointwise_initializer
        self.depthwise_regularizer, self.pointwise_regularizer = depthwise_regularizer, pointwise_regularizer
        self.depthwise_constraint, self.pointwise_constraint = depthwise_constraint, pointwise_constraint

    def build(self, input_shape: Any) -> None:
        """Make `depthwise_kernel`, `pointwise_kernel` and `bias`."""
        channels = self.input_channels(input_shape)
        multiplied = self.depth_multiplier * channels
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer, regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint, trainable=True, dtype=self.dtype)
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", shape=(*((1,) * self.rank), multiplied, self.filters),
            initializer=self.pointwise_initializer, regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint, trainable=True, dtype=self.dtype)
        self.add_bias()
        self.built = True


class SeparableConv1D(_Separable):
    """A separable convolution of [n, w, in]."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str = "channels_last", dilation_rate: Any = 1, depth_multiplier: int = 1,
                 activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                 pointwise_initializer: Any = None, bias_initializer: Any = ZEROS, depthwise_regularizer: Any = None,
                 pointwise_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 depthwise_constraint: Any = None, pointwise_constraint: Any = None, bias_constraint: Any = None,
                 trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(1, **_arguments(locals()))

    def call(self, inputs: Tensor) -> Tensor:
        """[n, w, in] -> [n, w', filters], computed on [n, 1, w, in]."""
        if self.padding == "causal":
            inputs = array_ops.pad(inputs, self.causal_paddings())
        first = self.data_format == "channels_first"
        # The ops take equal strides only.
        strides = [1, 1, *self.strides, *self.strides] if first else [1, *self.strides, *self.strides, 1]
        axis = 2 if first else 1
        inputs = array_ops.expand_dims(inputs, axis)
        depthwise = array_ops.expand_dims(self.depthwise_kernel, 0)
        pointwise = array_ops.expand_dims(self.pointwise_kernel, 0)
        padding = "VALID" if self.padding == "causal" else self.padding.upper()
        outputs = nn_impl.separable_conv2d(inputs, depthwise, pointwise, strides=strides, padding=padding,
                                           rate=(1, *self.dilation_rate), data_format="NCHW" if first else "NHWC")
        if self.use_bias:
            outputs = nn_ops.bias_add(outputs, self.bias, data_format="NCHW" if first else "NHWC")
        outputs = array_ops.squeeze(outputs, [axis])
        return self.activation(outputs) if self.activation is not None else outputs


class SeparableConv2D(_Separable):
    """A separable convolution of [n, h, w, in]."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
                 data_format: str = "channels_last", dilation_rate: Any = (1, 1), depth_multiplier: int = 1,
                 activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                 pointwise_initializer: Any = None, bias_initializer: Any = ZEROS, depthwise_regularizer: Any = None,
                 pointwise_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 depthwise_constraint: Any = None, pointwise_constraint: Any = None, bias_constraint: Any = None,
                 trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(2, **_arguments(locals()))

    def call(self, inputs: Tensor) -> Tensor:
        """[n, h, w, in] -> [n, h', w', filters]."""
        strides = [1, 1, *self.strides] if self.data_format == "channels_first" else [1, *self.strides, 1]
        return self.finished(nn_impl.separable_conv2d(
            inputs, self.depthwise_kernel, self.pointwise_kernel, strides=strides, padding=self.padding.upper(),
            rate=self.dilation_rate, data_format=self.layout))


@accept_arg_scope
def separable_conv1d(inputs: Any, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                     data_format: str = "channels_last", dilation_rate: Any = 1, depth_multiplier: int = 1,
                     activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                     pointwise_initializer: Any = None, bias_initializer: Any = ZEROS,
                     depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
                     activity_regularizer: Any = None, depthwise_constraint: Any = None,
                     pointwise_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                     name: str | None = None, reuse: Any = None) -> Tensor:
    """`SeparableConv1D` as a function."""
    return SeparableConv1D(**_arguments(locals()), _reuse=reuse, _scope=name).apply(inputs)


@accept_arg_scope
def separable_conv2d(inputs: Any, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
                     data_format: str = "channels_last", dilation_rate: Any = (1, 1), depth_multiplier: int = 1,
                     activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                     pointwise_initializer: Any = None, bias_initializer: Any = ZEROS,
                     depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
                     activity_regularizer: Any = None, depthwise_constraint: Any = None,
                     pointwise_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                     name: str | None = None, reuse: Any = None) -> Tensor:
    """`SeparableConv2D` as a function."""
    return SeparableConv2D(**_arguments(locals()), _reuse=reuse, _scope=name).apply(inputs)


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
SeparableConvolution2D = SeparableConv2D
Convolution2DTranspose = Deconvolution2D = Deconv2D = Conv2DTranspose
Convolution3DTranspose = Deconvolution3D = Deconv3D = Conv3DTranspose
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
separable_convolution2d = separable_conv2d
convolution2d_transpose = deconvolution2d = deconv2d = conv2d_transpose
convolution3d_transpose = deconvolution3d = deconv3d = conv3d_transpose
