"""The cells of tf.nn.rnn_cell: BasicRNNCell, GRUCell, BasicLSTMCell, LSTMCell."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.dtypes import as_dtype, int32
from tfsandbox.layers.input_spec import InputSpec
from tfsandbox.layers.rnn_cell_base import (
    LayerRNNCell,
    LSTMStateTuple,
    activation_function,
    check_floating,
    known_depth,
)
from tfsandbox.ops import array_ops, init_ops, math_ops, nn_ops
from tfsandbox.ops import partitioned_variables as partitions
from tfsandbox.ops.clip_ops import clip_by_value

__all__ = ["BasicLSTMCell", "BasicRNNCell", "GRUCell", "LSTMCell"]

KERNEL, BIAS = "kernel", "bias"


class _VectorCell(LayerRNNCell):
    """A cell that takes matrices [batch, size] and knows its activation."""

    def __init__(self, num_units: Any, activation: Any, reuse: bool | None, name: str | None, dtype: Any,
                 **kwargs: Any) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        if self.dtype is not None:
            check_floating_type(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_function(activation, math_ops.tanh)

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def _zeros(self) -> Any:
        return init_ops.zeros_initializer(dtype=self.dtype)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_units": self._num_units,
                "activation": getattr(self._activation, "__name__", None), "reuse": self._reuse}


def check_floating_type(dtype: Any) -> None:
    """Raises `ValueError` for a type that variables of a cell cannot have."""
    if not as_dtype(dtype).is_floating:
        raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {as_dtype(dtype)}")


class BasicRNNCell(_VectorCell):
    """activation([inputs, state] * kernel + bias) is the output and the new state."""

    def __init__(self, num_units: Any, activation: Any = None, reuse: bool | None = None, name: str | None = None,
                 dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Make kernel [depth + num_units, num_units] and bias."""
        depth = known_depth(input_shape)
        self._kernel = self.add_variable(KERNEL, shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable(BIAS, shape=[self._num_units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """(output, the same as state)."""
        check_floating([inputs, state])
        product = math_ops.matmul(array_ops.concat([inputs, state], 1), self._kernel)
        output = self._activation(nn_ops.bias_add(product, self._bias))
        return output, output


class GRUCell(_VectorCell):
    """Gated recurrent unit. Source: Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014."""

    def __init__(self, num_units: Any, activation: Any = None, reuse: bool | None = None,
                 kernel_initializer: Any = None, bias_initializer: Any = None, name: str | None = None,
                 dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, input_shape: Any) -> None:
        """Make the kernels and biases of the gates and of the candidate."""
        depth, units = known_depth(input_shape), self._num_units
        # Gates that begin at one neither reset nor update.
        bias = self._bias_initializer
        open_gates = bias if bias is not None else init_ops.constant_initializer(1.0, dtype=self.dtype)
        self._gate_kernel = self.add_variable(f"gates/{KERNEL}", shape=[depth + units, 2 * units],
                                              initializer=self._kernel_initializer)
        self._gate_bias = self.add_variable(f"gates/{BIAS}", shape=[2 * units], initializer=open_gates)
        self._candidate_kernel = self.add_variable(f"candidate/{KERNEL}", shape=[depth + units, units],
                                                   initializer=self._kernel_initializer)
        self._candidate_bias = self.add_variable(f"candidate/{BIAS}", shape=[units],
                                                 initializer=bias if bias is not None else self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """(new state, the same)."""
        check_floating([inputs, state])
        gates = math_ops.matmul(array_ops.concat([inputs, state], 1), self._gate_kernel)
        gates = math_ops.sigmoid(nn_ops.bias_add(gates, self._gate_bias))
        reset, update = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        kept = reset * state
        candidate = math_ops.matmul(array_ops.concat([inputs, kept], 1), self._candidate_kernel)
        candidate = self._activation(nn_ops.bias_add(candidate, self._candidate_bias))
        state = update * state + (1 - update) * candidate
        return state, state


class BasicLSTMCell(_VectorCell):
    """LSTM without peepholes, clipping or projection; `LSTMCell` has them.

    Source: Zaremba, Sutskever and Vinyals, Recurrent Neural Network Regularization, 2014.
    """

    def __init__(self, num_units: Any, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
                 reuse: bool | None = None, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    def build(self, input_shape: Any) -> None:
        """Make kernel [depth + num_units, 4 * num_units] and bias."""
        depth = known_depth(input_shape)
        self._kernel = self.add_variable(KERNEL, shape=[depth + self._num_units, 4 * self._num_units])
        self._bias = self.add_variable(BIAS, shape=[4 * self._num_units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """(h, the new state: an LSTMStateTuple, or [c, h] in one tensor)."""
        check_floating([inputs, state])
        one = constant(1, dtype=int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = array_ops.split(value=state, num_or_size_splits=2, axis=one)
        gates = math_ops.matmul(array_ops.concat([inputs, h], 1), self._kernel)
        gates = nn_ops.bias_add(gates, self._bias)
        # Input gate, new memory, forget gate, output gate.
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=one)
        add, multiply = math_ops.add, math_ops.multiply
        forget = math_ops.sigmoid(add(f, constant(self._forget_bias, dtype=f.dtype)))
        c = add(multiply(c, forget), multiply(math_ops.sigmoid(i), self._activation(j)))
        h = multiply(self._activation(c), math_ops.sigmoid(o))
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else array_ops.concat([c, h], 1)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "forget_bias": self._forget_bias, "state_is_tuple": self._state_is_tuple}


class LSTMCell(_VectorCell):
    """LSTM with peepholes (gates that see the memory), clipping of the memory and a projection of the output.

    Source: Sak, Senior and Beaufays, Long Short-Term Memory Recurrent Neural Network Architectures for Large Scale
    Acoustic Modeling, 2014.
    """

    def __init__(self, num_units: Any, use_peepholes: bool = False, cell_clip: float | None = None,
                 initializer: Any = None, num_proj: int | None = None, proj_clip: float | None = None,
                 num_unit_shards: int | None = None, num_proj_shards: int | None = None, forget_bias: float = 1.0,
                 state_is_tuple: bool = True, activation: Any = None, reuse: bool | None = None,
                 name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._use_peepholes = use_peepholes
        self._cell_clip, self._proj_clip = cell_clip, proj_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        sizes = self._num_units, self.output_size
        return LSTMStateTuple(*sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias, and those of peepholes and projection."""
        depth, units = known_depth(input_shape), self._num_units
        partitioner = partitions.fixed_size_partitioner(self._num_unit_shards) \
            if self._num_unit_shards is not None else None
        self._kernel = self.add_variable(KERNEL, shape=[depth + self.output_size, 4 * units],
                                         initializer=self._initializer, partitioner=partitioner)
        bias = init_ops.zeros_initializer if self.dtype is None else self._zeros()
        self._bias = self.add_variable(BIAS, shape=[4 * units], initializer=bias)
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_variable(f"w_{gate}_diag", shape=[units], initializer=self._initializer) for gate in "fio")
        if self._num_proj is not None:
            partitioner = partitions.fixed_size_partitioner(self._num_proj_shards) \
                if self._num_proj_shards is not None else None
            self._proj_kernel = self.add_variable(f"projection/{KERNEL}", shape=[units, self._num_proj],
                                                  initializer=self._initializer, partitioner=partitioner)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """(output, the new state: an LSTMStateTuple, or [c, m] in one tensor)."""
        check_floating([inputs, state])
        if self._state_is_tuple:
            c_before, m_before = state
        else:
            c_before = array_ops.slice(state, [0, 0], [-1, self._num_units])
            m_before = array_ops.slice(state, [0, self._num_units], [-1, self.output_size])
        depth = inputs.get_shape().with_rank(2).dims[1].value
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        sigmoid = math_ops.sigmoid
        gates = math_ops.matmul(array_ops.concat([inputs, m_before], 1), self._kernel)
        gates = nn_ops.bias_add(gates, self._bias)
        # Input gate, new memory, forget gate, output gate.
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            c = (sigmoid(f + self._forget_bias + self._w_f_diag * c_before) * c_before +
                 sigmoid(i + self._w_i_diag * c_before) * self._activation(j))
        else:
            c = sigmoid(f + self._forget_bias) * c_before + sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            m = sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            m = math_ops.matmul(m, self._proj_kernel)
            if self._proj_clip is not None:
                m = clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else array_ops.concat([c, m], 1)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "use_peepholes": self._use_peepholes, "cell_clip": self._cell_clip,
                "num_proj": self._num_proj, "proj_clip": self._proj_clip, "num_unit_shards": self._num_unit_shards,
                "num_proj_shards": self._num_proj_shards, "forget_bias": self._forget_bias,
                "state_is_tuple": self._state_is_tuple}
