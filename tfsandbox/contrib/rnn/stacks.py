"""Bidirectional layers on top of one another, each of which sees both directions of the one below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfsandbox.ops import array_ops
from tfsandbox.ops import variable_scope as vs
from tfsandbox.ops.rnn import bidirectional_dynamic_rnn, static_bidirectional_rnn


def _check(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> None:
    for cells, direction in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not cells:
            raise ValueError(f"Must specify at least one {direction} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{direction} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for states, cells, direction in ((states_fw, cells_fw, "fw"), (states_bw, cells_bw, "bw")):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells)):
            raise ValueError(f"initial_states_{direction} must be a list of state tensors (one per layer).")


def stack_bidirectional_rnn(cells_fw: Sequence[Any], cells_bw: Sequence[Any], inputs: Any,
                            initial_states_fw: Any = None,
                            initial_states_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                            scope: Any = None) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """(outputs of the uppermost layer, states forward, states backward) of layers of `static_bidirectional_rnn`."""
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with vs.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw)):
            with vs.variable_scope(f"cell_{i}") as layer:
                inputs, state_fw, state_bw = static_bidirectional_rnn(
                    cell_fw, cell_bw, inputs,
                    initial_state_fw=initial_states_fw[i] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[i] if initial_states_bw else None,
                    sequence_length=sequence_length, dtype=dtype, scope=layer)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_dynamic_rnn(cells_fw: Sequence[Any], cells_bw: Sequence[Any], inputs: Any,
                                    initial_states_fw: Any = None, initial_states_bw: Any = None, dtype: Any = None,
                                    sequence_length: Any = None, parallel_iterations: int | None = None,
                                    time_major: bool = False, scope: Any = None, swap_memory: bool = False,
                                    ) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """As `stack_bidirectional_rnn`, of layers of `bidirectional_dynamic_rnn`."""
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with vs.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw)):
            with vs.variable_scope(f"cell_{i}"):
                outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
                    cell_fw, cell_bw, inputs,
                    initial_state_fw=initial_states_fw[i] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[i] if initial_states_bw else None,
                    sequence_length=sequence_length, parallel_iterations=parallel_iterations, dtype=dtype,
                    swap_memory=swap_memory, time_major=time_major)
                inputs = array_ops.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)
