"""tf.layers: batch normalization."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape, as_shape
from tfsandbox.layers import utils
from tfsandbox.layers.base import Layer
from tfsandbox.layers.input_spec import InputSpec
from tfsandbox.layers.renorm import Renorm
from tfsandbox.ops import array_ops, init_ops, math_ops, nn_impl, state_ops
from tfsandbox.util.arg_scoping import accept_arg_scope

__all__ = ["BatchNormalization", "batch_normalization"]

_ZEROS, _ONES = init_ops.zeros_initializer(), init_ops.ones_initializer()


class BatchNormalization(Layer):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, for each index along `axis`.

    In training mean and variance are the batch's, and the layer's updates move `moving_mean` and `moving_variance`
    towards them; they stand in the graph's UPDATE_OPS and must be run with the training step. Else the moving ones are
    used. Four-dimensional inputs take the fused op, unless `fused` is False.

    Source: Ioffe and Szegedy, Batch Normalization, 2015; with `renorm`, Ioffe, Batch Renormalization, 2017.
    """

    def __init__(self, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True,
                 scale: bool = True, beta_initializer: Any = _ZEROS, gamma_initializer: Any = _ONES,
                 moving_mean_initializer: Any = _ZEROS, moving_variance_initializer: Any = _ONES,
                 beta_regularizer: Any = None, gamma_regularizer: Any = None, beta_constraint: Any = None,
                 gamma_constraint: Any = None, renorm: bool = False, renorm_clipping: dict[str, Any] | None = None,
                 renorm_momentum: float = 0.99, fused: bool | None = None, trainable: bool = True,
                 virtual_batch_size: int | None = None, adjustment: Any = None, name: str | None = None,
                 **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else int(axis)
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale = center, scale
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint
        self.renorm = Renorm(renorm_clipping, renorm_momentum) if renorm else None
        self.fused = fused
        self.virtual_batch_size, self.adjustment = virtual_batch_size, adjustment

    # ------------------------------------------------------------ building

    def build(self, input_shape: Any) -> None:
        """Make gamma, beta, moving_mean and moving_variance, one element for each index along the axis."""
        shape = as_shape(input_shape)
        if shape.ndims is None:
            raise ValueError("Input has undefined rank:", shape)
        rank = shape.ndims
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        axes = [rank + axis if axis < 0 else axis for axis in axes]
        for axis in axes:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(axes) != len(set(axes)):
            raise ValueError(f"Duplicate axis: {axes}")
        self.axis = axes
        if self.virtual_batch_size is not None:
            self._check_virtual_batches()
        self.fused = self._can_fuse(rank) if self.fused is None or self.fused else False
        sizes = {axis: shape.as_list()[axis] for axis in axes}
        for size in sizes.values():
            if size is None:
                raise ValueError("Input has undefined `axis` dimension. Input shape: ", shape)
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        if len(axes) == 1 and self.virtual_batch_size is None:
            parameters: list[int] = [sizes[axes[0]]]  # type: ignore[list-item]
        else:
            parameters = [sizes.get(i, 1) for i in range(rank)]  # type: ignore[misc]
        if self.virtual_batch_size is not None:
            # The batch becomes two axes.
            parameters.insert(1, 1)
            self.axis = [axis + 1 for axis in axes]
        self._make_parameters(parameters)
        self._make_averages(parameters)
        self.built = True

    def _can_fuse(self, rank: int) -> bool:
        """The fused op takes the channels of images, without the refinements."""
        return (rank == 4 and self.axis in ([1], [3]) and self.renorm is None and self.virtual_batch_size is None
                and self.adjustment is None)

    def _check_virtual_batches(self) -> None:
        if self.virtual_batch_size is not None and self.virtual_batch_size <= 0:
            raise ValueError("virtual_batch_size must be a positive integer that divides the true batch size of the "
                             "input Tensor")
        if 0 in self.axis:  # type: ignore[operator]
            raise ValueError("When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot "
                             "include 0")
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    @property
    def _parameter_dtype(self) -> dtypes.DType:
        """float16 would lose the averages."""
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        return dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype

    def _make_parameters(self, shape: list[int]) -> None:
        self.gamma: Any = None
        self.beta: Any = None
        if self.scale:
            self.gamma = self.add_weight("gamma", shape=shape, dtype=self._parameter_dtype,
                                         initializer=self.gamma_initializer, regularizer=self.gamma_regularizer,
                                         constraint=self.gamma_constraint, trainable=True)
        elif self.fused:
            self._gamma_constant = constant(1.0, dtype=self._parameter_dtype, shape=shape)
        if self.center:
            self.beta = self.add_weight("beta", shape=shape, dtype=self._parameter_dtype,
                                        initializer=self.beta_initializer, regularizer=self.beta_regularizer,
                                        constraint=self.beta_constraint, trainable=True)
        elif self.fused:
            self._beta_constant = constant(0.0, dtype=self._parameter_dtype, shape=shape)

    def _make_averages(self, shape: list[int]) -> None:
        def average(name: str, initializer: Any) -> Any:
            return self.add_weight(name, shape=shape, dtype=self._parameter_dtype, initializer=initializer,
                                   trainable=False)

        self.moving_mean = average("moving_mean", self.moving_mean_initializer)
        self.moving_variance = average("moving_variance", self.moving_variance_initializer)
        if self.renorm is not None:
            self.renorm.make_averages(average, self.moving_mean, self.moving_variance,
                                      self.moving_variance_initializer)

    # ------------------------------------------------------------ calling

    def call(self, inputs: Tensor, training: Any = False) -> Tensor:
        """Normalize; `training` is a bool, or a tensor that decides in the run."""
        if self.virtual_batch_size is not None:
            return self._in_virtual_batches(inputs, training)
        if self.fused:
            return self._fused(inputs, training)
        return self._normalized(inputs, training)

    def _in_virtual_batches(self, inputs: Tensor, training: Any) -> Tensor:
        """The batch in parts, each normalized by its own moments."""
        sizes = inputs.shape.as_list()[1:]
        parts = array_ops.reshape(inputs, [self.virtual_batch_size, -1, *sizes])
        outputs = array_ops.reshape(self._normalized(parts, training), [-1, *sizes])
        outputs.set_shape(inputs.shape)
        return outputs

    def _normalized(self, inputs: Tensor, training: Any) -> Tensor:
        rank = inputs.shape.ndims
        assert rank is not None and isinstance(self.axis, list)
        virtual = self.virtual_batch_size is not None
        others = [i for i in range(rank) if i not in self.axis and not (virtual and i == 1)]
        wide = [1] * rank
        wide[self.axis[0]] = inputs.shape.as_list()[self.axis[0]]  # type: ignore[call-overload]

        def broadcast(vector: Any) -> Any:
            if vector is not None and vector.shape.ndims != rank and others != list(range(rank - 1)):
                return array_ops.reshape(vector, wide)
            return vector

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        if utils.constant_value(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            scale, offset = self._adjusted(inputs, scale, offset, training)
            batch_mean, batch_variance = nn_impl.moments(inputs, others, keep_dims=virtual or len(self.axis) > 1)
            mean = utils.smart_cond(training, lambda: batch_mean, lambda: ops.convert_to_tensor(self.moving_mean))
            variance = utils.smart_cond(training, lambda: batch_variance,
                                        lambda: ops.convert_to_tensor(self.moving_variance))
            new_mean, new_variance = mean, variance
            if virtual:
                new_mean = math_ops.reduce_mean(mean, axis=1, keepdims=True)
                new_variance = math_ops.reduce_mean(variance, axis=1, keepdims=True)
            if self.renorm is not None:
                r, d, new_mean, new_variance = self.renorm.corrections(self, new_mean, new_variance, training)
                r = broadcast(array_ops.stop_gradient(r, name="renorm_r"))
                d = broadcast(array_ops.stop_gradient(d, name="renorm_d"))
                scale, offset = _composed(r, d, scale, offset)
            self._update_averages(new_mean, new_variance, training)
        mean, variance = (math_ops.cast(broadcast(moment), inputs.dtype) for moment in (mean, variance))
        if offset is not None:
            offset = math_ops.cast(offset, inputs.dtype)
        if scale is not None:
            scale = math_ops.cast(scale, inputs.dtype)
        outputs = nn_impl.batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)
        outputs.set_shape(inputs.shape)
        return outputs

    def _adjusted(self, inputs: Tensor, scale: Any, offset: Any, training: Any) -> tuple[Any, Any]:
        """Scale and offset with the `adjustment` function's applied first, in training."""
        if self.adjustment is None:
            return scale, offset
        more_scale, more_offset = self.adjustment(array_ops.shape(inputs))
        more_scale = utils.smart_cond(training, lambda: more_scale, lambda: array_ops.ones_like(more_scale))
        more_offset = utils.smart_cond(training, lambda: more_offset, lambda: array_ops.zeros_like(more_offset))
        return _composed(more_scale, more_offset, scale, offset)

    def _update_averages(self, mean: Any, variance: Any, training: Any) -> None:
        def move_variance() -> Any:
            if self.renorm is not None:
                return self.renorm.move_variance(self, variance)
            return self.assign_moving_average(self.moving_variance, variance, self.momentum)

        self.add_update(utils.smart_cond(
            training, lambda: self.assign_moving_average(self.moving_mean, mean, self.momentum),
            lambda: self.moving_mean))
        self.add_update(utils.smart_cond(training, move_variance, lambda: self.moving_variance))

    def assign_moving_average(self, variable: Any, value: Any, momentum: Any) -> Tensor:
        """variable -= (variable - value) * (1 - momentum)."""
        with ops.name_scope(None, "AssignMovingAvg", [variable, value, momentum]) as scope, \
                ops.colocate_with(variable):
            decay = ops.convert_to_tensor(1.0 - momentum, name="decay")
            if decay.dtype != variable.dtype.base_dtype:
                decay = math_ops.cast(decay, variable.dtype.base_dtype)
            delta = (variable - math_ops.cast(value, variable.dtype)) * decay
            return state_ops.assign_sub(variable, delta, name=scope)

    def _fused(self, inputs: Tensor, training: Any) -> Tensor:
        layout = "NCHW" if self.axis == [1] else "NHWC"
        beta = self.beta if self.center else self._beta_constant
        gamma = self.gamma if self.scale else self._gamma_constant

        def by_batch() -> Any:
            return nn_impl.fused_batch_norm(inputs, gamma, beta, epsilon=self.epsilon, data_format=layout)

        def by_averages() -> Any:
            return nn_impl.fused_batch_norm(inputs, gamma, beta, mean=self.moving_mean, variance=self.moving_variance,
                                            epsilon=self.epsilon, is_training=False, data_format=layout)

        output, mean, variance = utils.smart_cond(training, by_batch, by_averages)
        known = utils.constant_value(training)
        # Outside training a momentum of 1 leaves the averages as they are.
        if known is None:
            momentum = utils.smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = ops.convert_to_tensor(self.momentum)
        if known is not False:
            self.add_update(lambda: self.assign_moving_average(self.moving_mean, mean, momentum))
            self.add_update(lambda: self.assign_moving_average(self.moving_variance, variance, momentum))
        return output

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Unchanged."""
        return as_shape(input_shape)


def _composed(inner_scale: Any, inner_offset: Any, scale: Any, offset: Any) -> tuple[Any, Any]:
    """(x * inner_scale + inner_offset) * scale + offset as one scale and one offset."""
    if scale is not None:
        inner_scale, inner_offset = inner_scale * scale, inner_offset * scale
    if offset is not None:
        inner_offset = inner_offset + offset
    return inner_scale, inner_offset


@accept_arg_scope
def batch_normalization(inputs: Any, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3,
                        center: bool = True, scale: bool = True, beta_initializer: Any = _ZEROS,
                        gamma_initializer: Any = _ONES, moving_mean_initializer: Any = _ZEROS,
                        moving_variance_initializer: Any = _ONES, beta_regularizer: Any = None,
                        gamma_regularizer: Any = None, beta_constraint: Any = None, gamma_constraint: Any = None,
                        training: Any = False, trainable: bool = True, name: str | None = None, reuse: Any = None,
                        renorm: bool = False, renorm_clipping: dict[str, Any] | None = None,
                        renorm_momentum: float = 0.99, fused: bool | None = None,
                        virtual_batch_size: int | None = None, adjustment: Any = None) -> Tensor:
    """`BatchNormalization` as a function. Note that `training` is False by default, and run UPDATE_OPS in training."""
    layer = BatchNormalization(
        axis=axis, momentum=momentum, epsilon=epsilon, center=center, scale=scale, beta_initializer=beta_initializer,
        gamma_initializer=gamma_initializer, moving_mean_initializer=moving_mean_initializer,
        moving_variance_initializer=moving_variance_initializer, beta_regularizer=beta_regularizer,
        gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint, gamma_constraint=gamma_constraint,
        renorm=renorm, renorm_clipping=renorm_clipping, renorm_momentum=renorm_momentum, fused=fused,
        trainable=trainable, virtual_batch_size=virtual_batch_size, adjustment=adjustment, name=name, _reuse=reuse,
        _scope=name)
    return layer.apply(inputs, training=training)


BatchNorm = BatchNormalization
batch_norm = batch_normalization
