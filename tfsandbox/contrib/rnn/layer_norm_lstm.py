"""LayerNormBasicLSTMCell: an LSTM with normalized gates and recurrent dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsandbox.contrib.layers.normalization import layer_norm
from tfsandbox.framework.operation import Tensor
from tfsandbox.layers.rnn_cell_base import LSTMStateTuple, RNNCell
from tfsandbox.ops import array_ops, init_ops, math_ops, nn_ops
from tfsandbox.ops import variable_scope as vs


class LayerNormBasicLSTMCell(RNNCell):
    """LSTM whose gates and memory are layer-normalized, and whose new memory is dropped out.

    Sources: Ba, Kiros and Hinton, Layer Normalization, 2016; Semeniuta, Severyn and Barth, Recurrent Dropout without
    Memory Loss, 2016.
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, input_size: Any = None,
                 activation: Callable[[Tensor], Tensor] = math_ops.tanh, layer_norm: bool = True,
                 norm_gain: float = 1.0, norm_shift: float = 0.0, dropout_keep_prob: Any = 1.0,
                 dropout_prob_seed: int | None = None, reuse: bool | None = None) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain, self._norm_shift = norm_gain, norm_shift

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_units

    def _norm(self, value: Tensor, scope: str, dtype: Any) -> Tensor:
        shape = value.get_shape()[-1:]
        with vs.variable_scope(scope):
            vs.get_variable("gamma", shape=shape, dtype=dtype,
                            initializer=init_ops.constant_initializer(self._norm_gain))
            vs.get_variable("beta", shape=shape, dtype=dtype,
                            initializer=init_ops.constant_initializer(self._norm_shift))
        return layer_norm(value, reuse=True, scope=scope)

    def _linear(self, value: Tensor) -> Tensor:
        size = 4 * self._num_units
        kernel = vs.get_variable("kernel", [value.get_shape().as_list()[-1], size], dtype=value.dtype)
        product = math_ops.matmul(value, kernel)
        if self._layer_norm:
            return product
        return nn_ops.bias_add(product, vs.get_variable("bias", [size], dtype=value.dtype))

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """(h, LSTMStateTuple(c, h))."""
        c, h = state
        gates = self._linear(array_ops.concat([inputs, h], 1))
        dtype = gates.dtype
        # Input gate, new memory, forget gate, output gate.
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        if self._layer_norm:
            i, j = self._norm(i, "input", dtype), self._norm(j, "transform", dtype)
            f, o = self._norm(f, "forget", dtype), self._norm(o, "output", dtype)
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = nn_ops.dropout(new, self._keep_prob, seed=self._seed)
        c = c * math_ops.sigmoid(f + self._forget_bias) + math_ops.sigmoid(i) * new
        if self._layer_norm:
            c = self._norm(c, "state", dtype)
        h = self._activation(c) * math_ops.sigmoid(o)
        return h, LSTMStateTuple(c, h)
