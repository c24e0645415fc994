"""Cells with a linear layer before or behind them, or with an embedding before them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.layers.rnn_cell_base import RNNCell
from tfsandbox.ops import array_ops, init_ops, math_ops, nn_ops
from tfsandbox.ops import variable_scope as vs
from tfsandbox.ops.embedding_ops import embedding_lookup
from tfsandbox.ops.rnn_states import assert_like_rnncell
from tfsandbox.util import nest


def _linear(value: Tensor, size: int) -> Tensor:
    """value * kernel + bias, with variables of the current scope."""
    depth = value.get_shape().as_list()[1]
    kernel = vs.get_variable("kernel", [depth, size], dtype=value.dtype)
    with vs.variable_scope(vs.get_variable_scope(), auxiliary_name_scope=False) as whole:
        whole.set_partitioner(None)
        bias = vs.get_variable("bias", [size], dtype=value.dtype,
                               initializer=init_ops.constant_initializer(0.0, dtype=value.dtype))
    return nn_ops.bias_add(math_ops.matmul(value, kernel), bias)


class _Projection(RNNCell):
    """A cell around another that makes variables of its own."""

    def __init__(self, cell: Any, reuse: bool | None) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros for the cell inside."""
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class OutputProjectionWrapper(_Projection):
    """The cell's output through a linear layer of `output_size` units, and through `activation`.

    Raises `ValueError` for a size below one.
    """

    def __init__(self, cell: Any, output_size: int, activation: Callable[[Tensor], Tensor] | None = None,
                 reuse: bool | None = None) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size
        self._activation = activation

    @property
    def output_size(self) -> Any:
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """(projected output, new state)."""
        output, state = self._cell(inputs, state)
        projected = _linear(output, self._output_size)
        return self._activation(projected) if self._activation else projected, state


class InputProjectionWrapper(_Projection):
    """The cell's input through a linear layer of `num_proj` units, and through `activation`."""

    def __init__(self, cell: Any, num_proj: int, activation: Callable[[Tensor], Tensor] | None = None,
                 input_size: Any = None, reuse: bool | None = None) -> None:
        super().__init__(cell, reuse)
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """(output, new state)."""
        projected = _linear(inputs, self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class EmbeddingWrapper(_Projection):
    """The cell's input looked up in an embedding: it takes int[batch] or int[batch, 1].

    Raises `ValueError` for numbers of classes or sizes that are not positive.
    """

    def __init__(self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None,
                 reuse: bool | None = None) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, "
                             f"{embedding_size}.")
        self._embedding_classes, self._embedding_size = embedding_classes, embedding_size
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """(output, new state)."""
        with ops.device("/cpu:0"):
            initializer = self._initializer or vs.get_variable_scope().initializer
            if not initializer:
                # Of variance one.
                initializer = init_ops.random_uniform_initializer(-math.sqrt(3), math.sqrt(3))
            embedding = vs.get_variable("embedding", [self._embedding_classes, self._embedding_size],
                                        initializer=initializer, dtype=nest.flatten(state)[0].dtype)
            return self._cell(embedding_lookup(embedding, array_ops.reshape(inputs, [-1])), state)
