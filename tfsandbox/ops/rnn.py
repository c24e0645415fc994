"""Recurrent networks: a cell unrolled over time, step by step (`static_rnn`) or in a loop (`dynamic_rnn`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import get_default_graph
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape, as_shape
from tfsandbox.ops import array_ops, control_flow_ops, math_ops
from tfsandbox.ops import variable_scope as vs
from tfsandbox.ops.rnn_states import assert_like_rnncell, joined_shape, joined_static_shape, state_dtype
from tfsandbox.ops.tensor_array_ops import TensorArray
from tfsandbox.util import nest

__all__: list[str] = []


def _transpose_batch_time(x: Tensor) -> Tensor:
    """The first two axes exchanged."""
    shape = x.get_shape()
    if shape.ndims is not None and shape.ndims < 2:
        return x
    order = array_ops.concat(([1, 0], math_ops.range(2, array_ops.rank(x))), axis=0)
    result = array_ops.transpose(x, order)
    if shape.ndims is not None:
        sizes = shape.as_list()
        result.set_shape([sizes[1], sizes[0], *sizes[2:]])
    return result


def _batch_size(flat_input: Sequence[Tensor]) -> Any:
    """The second size of the inputs, a number where one of them tells."""
    for tensor in flat_input:
        shape = tensor.shape
        if shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError(f"Expected input tensor {tensor} to have rank at least 2")
        if shape.as_list()[1] is not None:
            return shape.as_list()[1]
    return array_ops.shape(flat_input[0])[1]


def _cache_variables(scope: vs.VariableScope) -> None:
    """Outside loops, variables are read once for all steps, where they are used."""
    context = get_default_graph()._get_control_flow_context()
    in_loop = context is not None and context.while_context() is not None
    if not in_loop and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def _start_state(cell: Any, batch_size: Any, dtype: Any) -> Any:
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _zero_output(cell: Any, batch_size: Any, dtype: Any, static_batch: Any = None, is_static: bool = False) -> Any:
    """Zeros in the structure of the cell's output: what is given past a sequence's end."""

    def zeros(size: Any) -> Tensor:
        result = array_ops.zeros(array_ops.stack(joined_shape(batch_size, size)), dtype)
        if is_static:
            result.set_shape(as_shape(joined_static_shape(static_batch, size)))
        return result

    return nest.map_structure(zeros, cell.output_size)


# ------------------------------------------------------------ one step


def _rnn_step(time: Any, sequence_length: Tensor, min_sequence_length: Any, max_sequence_length: Any,
              zero_output: Any, state: Any, call_cell: Callable[[], tuple[Any, Any]],
              skip_conditionals: bool = False) -> tuple[Any, Any]:
    """A step for the sequences that go on: of the others the output is zero and the state stays.

    With `skip_conditionals` the cell is always computed, else only where a sequence goes on.
    """
    flat_state, flat_zero = nest.flatten(state), nest.flatten(zero_output)
    ended = time >= sequence_length

    def copied(old: Any, new: Any) -> Any:
        if not isinstance(new, Tensor) or new.shape.ndims == 0:
            return new
        with ops.colocate_with(new):
            return array_ops.where(ended, old, new)

    def copied_where_ended(outputs: list[Any], states: list[Any]) -> list[Any]:
        return [copied(old, new) for old, new in zip(flat_zero + flat_state, outputs + states)]

    def called() -> tuple[list[Any], list[Any]]:
        output, new_state = call_cell()
        nest.assert_same_structure(zero_output, output)
        nest.assert_same_structure(state, new_state)
        return nest.flatten(output), nest.flatten(new_state)

    def step() -> Any:
        outputs, states = called()
        return control_flow_ops.cond(time < min_sequence_length, lambda: outputs + states,
                                     lambda: copied_where_ended(outputs, states))

    if skip_conditionals:
        result = copied_where_ended(*called())
    else:
        result = control_flow_ops.cond(time >= max_sequence_length, lambda: flat_zero + flat_state, step)
        if not isinstance(result, (list, tuple)):
            result = [result]
    for new, old in zip(result, flat_zero + flat_state):
        if isinstance(new, Tensor):
            new.set_shape(old.get_shape())
    count = len(flat_zero)
    return (nest.pack_sequence_as(zero_output, list(result[:count])),
            nest.pack_sequence_as(state, list(result[count:])))


# ------------------------------------------------------------ in a loop


def dynamic_rnn(cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None, dtype: Any = None,
                parallel_iterations: int | None = None, swap_memory: bool = False, time_major: bool = False,
                scope: Any = None) -> tuple[Any, Any]:
    """(outputs, last state) of a cell over `inputs` [batch, time, ...], or [time, batch, ...] with `time_major`.

    Past its `sequence_length` a sequence has outputs of zero, and its state stays. The state begins with
    `initial_state`, else with zeros of `dtype`. Raises `TypeError` for a `cell` that is none, `ValueError` without
    state and dtype and where the inputs' last size is unknown.
    """
    assert_like_rnncell("cell", cell)
    with vs.variable_scope(scope or "rnn") as entered:
        _cache_variables(entered)
        flat_input = nest.flatten(inputs)
        if not time_major:
            flat_input = [_transpose_batch_time(ops.convert_to_tensor(tensor)) for tensor in flat_input]
        if sequence_length is not None:
            sequence_length = math_ops.cast(sequence_length, dtypes.int32)
            if sequence_length.get_shape().ndims not in (None, 1):
                raise ValueError(f"sequence_length must be a vector of length batch_size, but saw shape: "
                                 f"{sequence_length.get_shape()}")
            sequence_length = array_ops.identity(sequence_length, name="sequence_length")
        batch_size = _batch_size(flat_input)
        if initial_state is None:
            if not dtype:
                raise ValueError("If there is no initial_state, you must give a dtype.")
            initial_state = _start_state(cell, batch_size, dtype)
        if sequence_length is not None:
            with ops.control_dependencies([_assert_shape(sequence_length, [batch_size])]):
                sequence_length = array_ops.identity(sequence_length, name="CheckSeqLen")
        outputs, state = _loop(cell, nest.pack_sequence_as(inputs, flat_input), flat_input, initial_state,
                               sequence_length, dtype, parallel_iterations or 32, swap_memory)
        if not time_major:
            outputs = nest.map_structure(_transpose_batch_time, outputs)
        return outputs, state


def _assert_shape(tensor: Tensor, wanted: list[Any]) -> Operation:
    actual, expected = array_ops.shape(tensor), array_ops.stack(wanted)
    return control_flow_ops.Assert(math_ops.reduce_all(math_ops.equal(actual, expected)),
                                   [f"Expected shape for Tensor {tensor.name} is ", expected, " but saw shape: ",
                                    actual])


def _loop(cell: Any, inputs: Any, flat_input: list[Tensor], initial_state: Any, sequence_length: Tensor | None,
          dtype: Any, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any]:
    output_sizes = nest.flatten(cell.output_size)
    steps = array_ops.shape(flat_input[0])[0]
    batch_size = _batch_size(flat_input)
    shapes = _checked_shapes(flat_input)
    static_steps, static_batch = shapes[0].as_list()[:2]
    output_dtype = state_dtype(dtype, initial_state)
    zero_output = _zero_output(cell, batch_size, output_dtype)
    shortest: Any = None
    longest: Any = steps
    if sequence_length is not None:
        shortest, longest = math_ops.reduce_min(sequence_length), math_ops.reduce_max(sequence_length)
    time = constant(0, dtype=dtypes.int32, name="time")
    with ops.name_scope("dynamic_rnn") as base_name:
        pass

    def array(name: str, shape: TensorShape, kind: Any) -> Any:
        return TensorArray(dtype=kind, size=steps, element_shape=shape, tensor_array_name=base_name + name)

    written = tuple(array(f"output_{i}", TensorShape([static_batch]).concatenate(_size_shape(size)), output_dtype)
                    for i, size in enumerate(output_sizes))
    read = tuple(array(f"input_{i}", shape[1:], tensor.dtype)
                 for i, (tensor, shape) in enumerate(zip(flat_input, shapes)))
    read = tuple(one.unstack(tensor) for one, tensor in zip(read, flat_input))

    def step(time: Tensor, written: Any, state: Any) -> tuple[Any, ...]:
        parts = [one.read(time) for one in read]
        for part, shape in zip(parts, shapes):
            part.set_shape(shape[1:])
        now = nest.pack_sequence_as(inputs, parts)
        if sequence_length is None:
            output, new_state = cell(now, state)
        else:
            output, new_state = _rnn_step(time, sequence_length, shortest, longest, zero_output, state,
                                          lambda: cell(now, state), skip_conditionals=True)
        written = tuple(one.write(time, value) for one, value in zip(written, nest.flatten(output)))
        return time + 1, written, new_state

    # At least one step, so that the outputs have a shape.
    bound = math_ops.minimum(steps, math_ops.maximum(1, longest))
    _, written, state = control_flow_ops.while_loop(
        cond=lambda time, *_: time < bound, body=step, loop_vars=(time, written, initial_state),
        parallel_iterations=parallel_iterations, maximum_iterations=steps, swap_memory=swap_memory)
    outputs = [one.stack() for one in written]
    for output, size in zip(outputs, output_sizes):
        output.set_shape(TensorShape(joined_static_shape([static_steps, static_batch], size)))
    return nest.pack_sequence_as(cell.output_size, outputs), state


def _size_shape(size: Any) -> TensorShape:
    """A cell's size as the shape of one example."""
    if isinstance(size, Tensor):
        from tfsandbox.framework.shape_inference import constant_value
        known = constant_value(size)
        return TensorShape(None if known is None else known.tolist())
    return as_shape(size)


def _checked_shapes(flat_input: Sequence[Tensor]) -> list[TensorShape]:
    shapes = [tensor.get_shape().with_rank_at_least(3) for tensor in flat_input]
    steps, batch = shapes[0].as_list()[:2]
    for shape in shapes:
        if not shape[2:].is_fully_defined():
            raise ValueError("Input size (depth of inputs) must be accessible via shape inference, but saw value None.")
        if shape.as_list()[0] != steps:
            raise ValueError("Time steps is not the same for all the elements in the input in a batch.")
        if shape.as_list()[1] != batch:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return shapes


def bidirectional_dynamic_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, sequence_length: Any = None,
                              initial_state_fw: Any = None, initial_state_bw: Any = None, dtype: Any = None,
                              parallel_iterations: int | None = None, swap_memory: bool = False,
                              time_major: bool = False, scope: Any = None) -> tuple[Any, Any]:
    """((outputs forward, outputs backward), (state forward, state backward)); arguments as for `dynamic_rnn`."""
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    with vs.variable_scope(scope or "bidirectional_rnn"):
        with vs.variable_scope("fw") as forward:
            output_fw, state_fw = dynamic_rnn(
                cell=cell_fw, inputs=inputs, sequence_length=sequence_length, initial_state=initial_state_fw,
                dtype=dtype, parallel_iterations=parallel_iterations, swap_memory=swap_memory,
                time_major=time_major, scope=forward)
        time_axis, batch_axis = (0, 1) if time_major else (1, 0)

        def backwards(tensor: Any) -> Tensor:
            if sequence_length is None:
                return array_ops.reverse(tensor, axis=[time_axis])
            return array_ops.reverse_sequence(input=tensor, seq_lengths=sequence_length, seq_axis=time_axis,
                                              batch_axis=batch_axis)

        with vs.variable_scope("bw") as backward:
            reversed_inputs = nest.map_structure(backwards, inputs)
            output_bw, state_bw = dynamic_rnn(
                cell=cell_bw, inputs=reversed_inputs, sequence_length=sequence_length,
                initial_state=initial_state_bw, dtype=dtype, parallel_iterations=parallel_iterations,
                swap_memory=swap_memory, time_major=time_major, scope=backward)
    output_bw = nest.map_structure(backwards, output_bw)
    return (output_fw, output_bw), (state_fw, state_bw)


def raw_rnn(cell: Any, loop_fn: Callable[..., Any], parallel_iterations: int | None = None, swap_memory: bool = False,
            scope: Any = None) -> tuple[Any, Any, Any]:
    """(TensorArrays of what was emitted, last state, last loop state) of a cell that `loop_fn` drives.

    `loop_fn(time, cell_output, cell_state, loop_state)` gives (finished bool[batch], next input, next state, what to
    emit, next loop state). At time 0 it is called with None for the last three, and gives the start state, and the
    structure of what is emitted (None: that of the cell's output). It ends when all are finished.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with vs.variable_scope(scope or "rnn") as entered:
        _cache_variables(entered)
        time = constant(0, dtype=dtypes.int32)
        finished, value, initial_state, emit_structure, first_loop_state = loop_fn(time, None, None, None)
        flat_input = nest.flatten(value)
        loop_state = constant(0, dtype=dtypes.int32) if first_loop_state is None else first_loop_state
        batch = flat_input[0].get_shape()[:1]
        for tensor in flat_input:
            batch = batch.merge_with(tensor.get_shape()[:1])
        static_batch = batch.as_list()[0]
        batch_size = array_ops.shape(flat_input[0])[0] if static_batch is None else static_batch
        nest.assert_same_structure(initial_state, cell.state_size)
        flat_state = [ops.convert_to_tensor(part) for part in nest.flatten(initial_state)]
        state = nest.pack_sequence_as(initial_state, flat_state)
        if emit_structure is not None:
            flat_emit = nest.flatten(emit_structure)
            sizes = [part.shape if part.shape.is_fully_defined() else array_ops.shape(part) for part in flat_emit]
            types = [part.dtype for part in flat_emit]
        else:
            emit_structure = cell.output_size
            sizes = nest.flatten(emit_structure)
            types = [flat_state[0].dtype] * len(sizes)
        arrays = nest.pack_sequence_as(emit_structure, [
            TensorArray(dtype=dtype, dynamic_size=True, size=0, name=f"rnn_output_{i}",
                        element_shape=TensorShape([static_batch]).concatenate(_size_shape(size)))
            for i, (dtype, size) in enumerate(zip(types, sizes))])
        zero_emit = nest.pack_sequence_as(emit_structure, [
            array_ops.zeros(joined_shape(batch_size, size), dtype) for size, dtype in zip(sizes, types)])

        def step(time: Tensor, finished: Tensor, value: Any, arrays: Any, state: Any,
                 loop_state: Any) -> tuple[Any, ...]:
            output, cell_state = cell(value, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output)
            next_time = time + 1
            next_finished, next_value, next_state, emit, next_loop_state = loop_fn(next_time, output, cell_state,
                                                                                   loop_state)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(value, next_value)
            nest.assert_same_structure(arrays, emit)

            def unless_finished(old: Any, new: Any) -> Any:
                if not isinstance(new, Tensor) or new.shape.ndims == 0:
                    return new
                with ops.colocate_with(new):
                    return array_ops.where(finished, old, new)

            emit = nest.map_structure(unless_finished, zero_emit, emit)
            next_state = nest.map_structure(unless_finished, state, next_state)
            arrays = nest.map_structure(lambda array, part: array.write(time, part), arrays, emit)
            return (next_time, math_ops.logical_or(finished, next_finished), next_value, arrays, next_state,
                    loop_state if next_loop_state is None else next_loop_state)

        results = control_flow_ops.while_loop(
            lambda _, finished, *rest: math_ops.logical_not(math_ops.reduce_all(finished)), step,
            loop_vars=[time, finished, value, arrays, state, loop_state],
            parallel_iterations=parallel_iterations or 32, swap_memory=swap_memory)
        return results[3], results[4], None if first_loop_state is None else results[5]


# ------------------------------------------------------------ step by step


def static_rnn(cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
               scope: Any = None) -> tuple[list[Any], Any]:
    """(outputs, last state) of a cell over a list of inputs [batch, ...], one for each step, as so many nodes.

    With `sequence_length` [batch], steps past an end give zeros and leave the state. Raises `TypeError` for a cell or
    inputs that are none, `ValueError` without inputs, without state and dtype, and for inputs of unknown size.
    """
    assert_like_rnncell("cell", cell)
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    outputs = []
    with vs.variable_scope(scope or "rnn") as entered:
        _cache_variables(entered)
        first = inputs
        while nest.is_sequence(first):
            first = first[0]
        static_batch = _static_batch(first, nest.flatten(inputs))
        batch_size = static_batch or array_ops.shape(first)[0]
        if initial_state is not None:
            state = initial_state
        elif not dtype:
            raise ValueError("If no initial_state is provided, dtype must be specified")
        else:
            state = _start_state(cell, batch_size, dtype)
        if sequence_length is not None:
            sequence_length = ops.convert_to_tensor(sequence_length, name="sequence_length")
            if sequence_length.get_shape().ndims not in (None, 1):
                raise ValueError("sequence_length must be a vector of length batch_size")
            zero_output = _zero_output(cell, batch_size, state_dtype(dtype, state), static_batch, is_static=True)
            sequence_length = math_ops.cast(sequence_length, dtypes.int32)
            shortest, longest = math_ops.reduce_min(sequence_length), math_ops.reduce_max(sequence_length)
        for time, value in enumerate(inputs):
            if time > 0:
                entered.reuse_variables()
            if sequence_length is None:
                output, state = cell(value, state)
            else:
                output, state = _rnn_step(time, sequence_length, shortest, longest, zero_output, state,
                                          functools.partial(cell, value, state))
            outputs.append(output)
        return outputs, state


def _static_batch(first: Tensor, flat_inputs: Sequence[Tensor]) -> int | None:
    if first.get_shape().ndims == 1:
        return first.get_shape().as_list()[0]
    batch = first.get_shape().with_rank_at_least(2)[:1]
    for tensor in flat_inputs:
        shape = tensor.get_shape().with_rank_at_least(2)
        batch = batch.merge_with(shape[:1])
        for i, size in enumerate(shape[1:].as_list()):
            if size is None:
                raise ValueError(f"Input size (dimension {i} of inputs) must be accessible via shape inference, but "
                                 "saw value None.")
    return batch.as_list()[0]


def static_state_saving_rnn(cell: Any, inputs: Any, state_saver: Any, state_name: Any, sequence_length: Any = None,
                            scope: Any = None) -> tuple[list[Any], Any]:
    """`static_rnn` that takes its start state from `state_saver.state(name)` and gives the last one back to it.

    The nodes that save the state run before the last output. `state_name` is a nest of names like the cell's state.
    """
    sizes = cell.state_size
    if nest.is_sequence(sizes) != nest.is_sequence(state_name):
        raise ValueError("state_name should be the same type as cell.state_size.  "
                         f"state_name: {state_name}, cell.state_size: {sizes}")
    names, flat_sizes = nest.flatten(state_name), nest.flatten(sizes)
    if len(names) != len(flat_sizes):
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(flat_sizes)}")
    initial = nest.pack_sequence_as(sizes, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=initial, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state))]
    with ops.control_dependencies(saved):
        last = [array_ops.identity(part) for part in nest.flatten(outputs[-1])]
        outputs[-1] = nest.pack_sequence_as(outputs[-1], last)
        state = nest.map_structure(array_ops.identity, state)
    return outputs, state


def static_bidirectional_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None,
                             initial_state_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                             scope: Any = None) -> tuple[Any, Any, Any]:
    """(outputs of both directions side by side, state forward, state backward); arguments as for `static_rnn`."""
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with vs.variable_scope(scope or "bidirectional_rnn"):
        with vs.variable_scope("fw") as forward:
            output_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=forward)
        with vs.variable_scope("bw") as backward:
            reversed_inputs = _reversed_steps(inputs, sequence_length)
            output_bw, state_bw = static_rnn(cell_bw, reversed_inputs, initial_state_bw, dtype, sequence_length,
                                             scope=backward)
    output_bw = _reversed_steps(output_bw, sequence_length)
    both = [array_ops.concat([one, other], 1) for one, other in zip(nest.flatten(output_fw), nest.flatten(output_bw))]
    return nest.pack_sequence_as(output_fw, both), state_fw, state_bw


def _reversed_steps(steps: Sequence[Any], lengths: Any) -> list[Any]:
    """The steps backwards; of each example the first so many of `lengths`, the others stay."""
    if lengths is None:
        return list(reversed(steps))
    flat_steps = [nest.flatten(step) for step in steps]
    results: list[list[Tensor]] = [[] for _ in steps]
    for sequence in zip(*flat_steps):
        shape = TensorShape([None] * sequence[0].get_shape().ndims) if sequence[0].get_shape().ndims is not None \
            else TensorShape(None)
        for tensor in sequence:
            shape = shape.merge_with(tensor.get_shape())
            tensor.set_shape(shape)
        turned = array_ops.reverse_sequence(array_ops.stack(list(sequence)), lengths, 0, 1)
        for result, tensor in zip(results, array_ops.unstack(turned)):
            tensor.set_shape(shape)
            result.append(tensor)
    return [nest.pack_sequence_as(step, flat) for step, flat in zip(steps, results)]
