"""Cells made of cells: MultiRNNCell stacks them; DropoutWrapper, ResidualWrapper, DeviceWrapper change one."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import constant_value
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.layers.base import Layer
from tfsandbox.layers.rnn_cell_base import LSTMStateTuple, RNNCell
from tfsandbox.ops import array_ops, math_ops, random_ops
from tfsandbox.ops import variable_scope as vs
from tfsandbox.ops.dropping import dropout_v2
from tfsandbox.ops.rnn_states import assert_like_rnncell
from tfsandbox.util import nest

__all__ = ["DeviceWrapper", "DropoutWrapper", "MultiRNNCell", "ResidualWrapper"]


class MultiRNNCell(RNNCell):
    """Cells on top of one another: each takes the output of the one below.

    The state is a tuple of theirs, or with `state_is_tuple=False` one tensor of all, side by side. Raises `ValueError`
    without cells, `TypeError` for cells that are no list or tuple.
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_sequence(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_sequence(cell.state_size) for cell in cells):
            raise ValueError(f"Some cells return tuples of states, but the flag state_is_tuple is not set.  State "
                             f"sizes are: {[cell.state_size for cell in cells]}")

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    @property
    def trainable_weights(self) -> list[Any]:
        if not self.trainable:
            return []
        return [weight for cell in self._cells if isinstance(cell, Layer) for weight in cell.trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Any]:
        layers = [cell for cell in self._cells if isinstance(cell, Layer)]
        weights = [weight for cell in layers for weight in cell.non_trainable_weights]
        return weights if self.trainable else [w for cell in layers for w in cell.trainable_weights] + weights

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros for all cells."""
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if not self._state_is_tuple:
                return super().zero_state(batch_size, dtype)
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """(the uppermost cell's output, the states)."""
        states = []
        start = 0
        for i, cell in enumerate(self._cells):
            with vs.variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    if not nest.is_sequence(state):
                        raise ValueError(f"Expected state to be a tuple of length {len(self.state_size)}, but "
                                         f"received: {state}")
                    before = state[i]
                else:
                    before = array_ops.slice(state, [0, start], [-1, cell.state_size])
                    start += cell.state_size
                inputs, after = cell(inputs, before)
                states.append(after)
        return inputs, tuple(states) if self._state_is_tuple else array_ops.concat(states, 1)


class _Wrapper(RNNCell):
    """A cell around another, with its sizes and no scope of its own. As in TensorFlow it lists no variables."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        assert_like_rnncell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros for the cell."""
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """(output, new state), as the wrapper changes them."""
        return self._call(inputs, state, scope)

    def _call(self, inputs: Any, state: Any, scope: Any) -> Any:
        raise NotImplementedError


def _keeps_all_but_memory(state: Any) -> Any:
    """What of a state may be dropped: all, but of an LSTM's only the output."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return type(state).__name__ != "TensorArray"


class DropoutWrapper(_Wrapper):
    """Dropout of inputs, outputs and state of a cell.

    The probabilities to keep are numbers or tensors. With `variational_recurrent` all steps share their masks, which
    needs `dtype`, and `input_size` where inputs are dropped. `dropout_state_filter_visitor` tells of a state, or part
    of one, whether it may be dropped; the default spares an LSTM's memory. Raises `ValueError` for a probability
    outside [0, 1].

    Source: Gal and Ghahramani, A Theoretically Grounded Application of Dropout in Recurrent Neural Networks, 2015.
    """

    def __init__(self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0, state_keep_prob: Any = 1.0,
                 variational_recurrent: bool = False, input_size: Any = None, dtype: Any = None,
                 seed: int | None = None, dropout_state_filter_visitor: Callable[[Any], Any] | None = None) -> None:
        super().__init__(cell)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._state_filter = dropout_state_filter_visitor or _keeps_all_but_memory
        with ops.name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._seed = seed
        self._variational = variational_recurrent
        self._noise: dict[str, Any] = {}
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    def _make_noise(self, input_size: Any, dtype: Any) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def noise(part: str, sizes: Any) -> list[Tensor]:
            # One mask for the whole batch: it broadcasts along the first axis.
            return [random_ops.random_uniform(array_ops.concat(([1], TensorShape(size).as_list()), 0),
                                              seed=self._gen_seed(part, i), dtype=dtype)
                    for i, size in enumerate(nest.flatten(sizes))]

        if not isinstance(self._input_keep_prob, numbers.Real) or self._input_keep_prob < 1.0:
            if input_size is None:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size "
                                 "must be provided")
            self._noise["input"] = noise("input", input_size)
        self._noise["state"] = noise("state", self.cell.state_size)
        self._noise["output"] = noise("output", self.cell.output_size)

    def _gen_seed(self, part: str, index: int) -> int | None:
        if self._seed is None:
            return None
        text = f"{self._seed}{part}_{index}".encode()
        return int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _call(self, inputs: Any, state: Any, scope: Any) -> Any:
        if _drops(self._input_keep_prob):
            inputs = self._dropped(inputs, "input", self._input_keep_prob, lambda part: True)
        output, state = self.cell(inputs, state, scope=scope)
        if _drops(self._state_keep_prob):
            state = self._dropped(state, "state", self._state_keep_prob, self._state_filter)
        if _drops(self._output_keep_prob):
            output = self._dropped(output, "output", self._output_keep_prob, lambda part: True)
        return output, state

    def _dropped(self, values: Any, part: str, keep_prob: Any, may_drop: Callable[[Any], Any]) -> Any:
        places = iter(range(1 << 30))

        def drop(value: Tensor) -> Any:
            index = next(places)
            if not self._variational:
                return dropout_v2(value, rate=1.0 - keep_prob, seed=self._gen_seed(part, index))
            mask = math_ops.floor(keep_prob + self._noise[part][index])
            result = math_ops.div(value, keep_prob) * mask
            result.set_shape(value.get_shape())
            return result

        return _mapped_where(drop, places, may_drop, values)


def _probability(name: str, value: Any) -> Any:
    """A number between 0 and 1 where it is known while the graph is built, else a tensor."""
    tensor = ops.convert_to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {int(known)}")
    return float(known)


def _drops(keep_prob: Any) -> bool:
    return not isinstance(keep_prob, float) or keep_prob < 1


def _mapped_where(function: Callable[[Any], Any], places: Iterator[int], may: Callable[[Any], Any], value: Any) -> Any:
    """The nest with `function` applied where `may` says so, to a part or its children; what is spared takes a place."""
    answer = may(value)
    if not nest.is_sequence(value):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {value}")
        return function(value) if answer else _spared(places, value)
    if answer is False:
        return _spared(places, value)
    children = list(value.values()) if isinstance(value, dict) else list(value)
    if answer is True:
        answers: list[Any] = [True] * len(children)
    elif nest.is_sequence(answer):
        answers = list(answer.values()) if isinstance(answer, dict) else list(answer)
    else:
        raise TypeError(f"traverse_fn returned a non-bool scalar: {answer} for input: {value}")
    mapped = [_mapped_where(function, places, may, child) if yes else _spared(places, child)
              for child, yes in zip(children, answers)]
    if isinstance(value, dict):
        return dict(zip(value, mapped))
    return type(value)(*mapped) if hasattr(value, "_fields") else type(value)(mapped)


def _spared(places: Iterator[int], value: Any) -> Any:
    next(places)
    return value


class ResidualWrapper(_Wrapper):
    """The inputs are added to the cell's outputs, or `residual_fn(inputs, outputs)` says what becomes of both."""

    def __init__(self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None) -> None:
        super().__init__(cell)
        self._residual_fn = residual_fn

    def _call(self, inputs: Any, state: Any, scope: Any) -> Any:
        outputs, state = self.cell(inputs, state, scope=scope)
        return (self._residual_fn or _sum_of_both)(inputs, outputs), state


def _sum_of_both(inputs: Any, outputs: Any) -> Any:
    nest.assert_same_structure(inputs, outputs)
    for one, other in zip(nest.flatten(inputs), nest.flatten(outputs)):
        one.get_shape().assert_is_compatible_with(other.get_shape())
    return nest.map_structure(lambda one, other: one + other, inputs, outputs)


class DeviceWrapper(_Wrapper):
    """The cell on a device."""

    def __init__(self, cell: Any, device: Any) -> None:
        super().__init__(cell)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros for the cell, on the device."""
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]), ops.device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _call(self, inputs: Any, state: Any, scope: Any) -> Any:
        with ops.device(self._device):
            return self.cell(inputs, state, scope=scope)
