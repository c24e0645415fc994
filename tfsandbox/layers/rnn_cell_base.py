"""RNNCell and LayerRNNCell: what recurrent cells have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import constant_value
from tfsandbox.layers.base import Layer
from tfsandbox.ops import variable_scope as vs
from tfsandbox.ops import variables as tf_variables
from tfsandbox.ops.partitioned_variables import PartitionedVariable
from tfsandbox.ops.rnn_states import zero_states
from tfsandbox.util import nest

__all__ = ["LSTMStateTuple", "LayerRNNCell", "RNNCell"]


class RNNCell(Layer):
    """Base of the cells: `call(inputs, state)` gives `(output, new_state)`; `state_size` and `output_size` tell shapes.

    A cell made of `get_variable` calls derives from this class, one that makes its variables in `build` from
    `LayerRNNCell`.
    """

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._is_tf_rnn_cell = True
        self._cell_scope: vs.variable_scope | None = None

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """(output, new state) for `inputs` [batch, size] and a `state` that fits `state_size`.

        `scope` is the variable scope to work in, by default the one of the cell's name in the current one.
        """
        if scope is not None:
            with vs.variable_scope(scope, custom_getter=self._rnn_get_variable) as entered:
                return super().__call__(inputs, state, scope=entered)
        if self._cell_scope is None:
            self._cell_scope = vs.variable_scope(vs.get_variable_scope(), custom_getter=self._rnn_get_variable)
        with self._cell_scope:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The custom getter that counts a variable among the cell's."""
        variable = getter(*args, **kwargs)
        trainable = tf_variables.trainable_variables()
        parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
        trains = all(any(part is other for other in trainable) for part in parts)
        weights = self._trainable_weights if trains else self._non_trainable_weights
        if not any(variable is other for other in weights):
            weights.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The size of the state, or a nest of sizes: numbers or shapes."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of an output: a number or a shape."""
        raise NotImplementedError("Abstract method")

    def build(self, input_shape: Any) -> None:
        """Nothing: `call` makes the variables."""

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """The state to begin with: zeros, for the batch of `inputs` or for `batch_size` and `dtype`."""
        if inputs is not None:
            inputs = ops.convert_to_tensor(inputs, name="inputs")
            if batch_size is not None:
                known = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
                if inputs.shape.dims[0].value != known:
                    raise ValueError(f"batch size from input tensor is different from the input param. Input tensor "
                                     f"batch: {inputs.shape.dims[0].value}, batch_size: {batch_size}")
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError(f"dtype from input tensor is different from the input param. Input tensor dtype: "
                                 f"{inputs.dtype}, dtype: {dtype}")
            from tfsandbox.ops import array_ops
            batch_size = inputs.shape.dims[0].value or array_ops.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(f"batch_size and dtype cannot be None while constructing initial state: batch_size="
                             f"{batch_size}, dtype={dtype}")
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros in the structure of `state_size`, each [batch_size, size]."""
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_states(self.state_size, batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as layers do."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any) -> Any:
        """(output, new state); `scope` is the variable scope to work in."""
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: `c`, the cell's memory, and `h`, its output."""

    c: Any
    h: Any

    @property
    def dtype(self) -> Any:
        """The type of both; `TypeError` where they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


def check_floating(values: Any) -> None:
    """Raises `ValueError` for a tensor in the nest that is not floating."""
    for value in nest.flatten(values):
        if not value.dtype.is_floating:
            raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {value.dtype}")


def known_depth(shape: Any) -> int:
    """The last size of the inputs' shape; `ValueError` where it is unknown."""
    size = shape[-1]
    depth = getattr(size, "value", size)
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    return depth


def activation_function(activation: Any, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A function, or that of tf.nn with this name; `otherwise` where none is given."""
    if not activation:
        return otherwise
    if callable(activation):
        return activation
    from tfsandbox.ops import math_ops, nn_ops
    for module in (nn_ops, math_ops):
        if hasattr(module, activation):
            return getattr(module, activation)
    if activation == "linear":
        from tfsandbox.ops import array_ops
        return array_ops.identity
    raise ValueError(f"Unknown activation function:{activation}")
