"""Functions over the first axis of tensors, as loops: map_fn, scan, foldl, foldr."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import get_default_graph
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, control_flow_ops
from tfsandbox.ops import variable_scope as vs
from tfsandbox.ops.tensor_array_ops import TensorArray
from tfsandbox.util import nest

__all__ = ["foldl", "foldr", "map_fn", "scan"]


@contextlib.contextmanager
def _variables_read_where_used() -> Iterator[None]:
    """Outside loops, variables made inside are read once for all steps."""
    scope = vs.get_variable_scope()
    context = get_default_graph()._get_control_flow_context()
    sets = scope.caching_device is None and (context is None or context.while_context() is None)
    if sets:
        scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        if sets:
            scope.set_caching_device(None)


def _check_function(fn: Any) -> None:
    if not callable(fn):
        raise TypeError("fn must be callable.")


def _packer(structure: Any) -> tuple[Callable[[Any], list[Any]], Callable[[Sequence[Any]], Any]]:
    """(how to take such a structure apart, how to make one of a list)."""
    if nest.is_sequence(structure):
        return nest.flatten, lambda flat: nest.pack_sequence_as(structure, list(flat))
    return lambda value: [value], lambda flat: flat[0]


def _elements(elems: Any) -> list[Tensor]:
    return [ops.convert_to_tensor(elem, name="elem") for elem in elems]


def _count(tensors: Sequence[Tensor]) -> Any:
    """The size of the first axis, a number where it is known; `ValueError` for scalars."""
    shape = tensors[0].shape
    if shape.ndims == 0:
        raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar" if len(tensors) == 1 else
                         "elements in elems must be 1+ dimensional Tensors, not scalars")
    known = shape.as_list()[0] if shape.ndims is not None else None
    return known or array_ops.shape(tensors[0])[0]


def _arrays(tensors: Sequence[Tensor], count: Any, with_shapes: bool = False) -> list[TensorArray]:
    """The rows of the tensors, to be read one by one."""
    arrays = [TensorArray(dtype=tensor.dtype, size=count, dynamic_size=False, infer_shape=True,
                          element_shape=tensor.shape[1:] if with_shapes and tensor.shape.ndims is not None else None)
              for tensor in tensors]
    return [array.unstack(tensor) for array, tensor in zip(arrays, tensors)]


def _stacked(arrays: Sequence[TensorArray], elements: Sequence[Tensor]) -> list[Tensor]:
    """The elements of the arrays in tensors with as many rows as the inputs have."""
    results = [array.stack() for array in arrays]
    rows = TensorShape([None])
    for element in elements:
        rows = rows.merge_with(element.get_shape().with_rank_at_least(1)[:1])
    for result in results:
        if result.get_shape().ndims is not None:
            result.set_shape(rows.concatenate(result.get_shape()[1:]))
    return results


def map_fn(fn: Callable[[Any], Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
           back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
           name: str | None = None) -> Any:
    """`fn` of each row of `elems`, a tensor or a nest of tensors, in one tensor for each result.

    `dtype` is the type of the result, or a nest of types, where it is not that of `elems`. Raises `TypeError` for an
    `fn` that cannot be called, `ValueError` for scalars and for results of another structure.
    """
    _check_function(fn)
    if isinstance(elems, SparseTensor):
        raise TypeError("To perform a map over the values of a sparse tensor use either  SparseTensor(input.indices, "
                        "fn(input.values), input.dense_shape) or   SparseTensor(input.indices, map_fn(fn, "
                        "input.values), input.dense_shape)")
    flatten_input, pack_input = _packer(elems)
    flatten_output, pack_output = _packer(elems if dtype is None else dtype)
    flat = flatten_input(elems)
    with ops.name_scope(name, "map", flat), _variables_read_where_used():
        flat = _elements(flat)
        types = [elem.dtype for elem in flat] if dtype is None else flatten_output(dtype)
        count = _count(flat)
        arrays = _arrays(flat, count)
        i = constant(0)
        results = [TensorArray(dtype=kind, size=count, dynamic_size=False, infer_shape=infer_shape) for kind in types]

        def step(i: Tensor, results: list[TensorArray]) -> tuple[Any, Any]:
            value = fn(pack_input([array.read(i) for array in arrays]))
            nest.assert_same_structure(pack_output(types), value)
            results = [array.write(i, one) for array, one in zip(results, flatten_output(value))]
            return i + 1, results

        _, results = control_flow_ops.while_loop(
            lambda i, _: i < count, step, (i, results), parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=count)
        return pack_output(_stacked(results, flat))


def scan(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
         back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
         name: str | None = None) -> Any:
    """All results of `accumulator = fn(accumulator, row)` over the rows of `elems`, from the last on with `reverse`.

    It begins with `initializer`, or with the first row, which is then the first result.
    """
    _check_function(fn)
    flatten_input, pack_input = _packer(elems)
    like = elems if initializer is None else initializer
    flatten_output, pack_output = _packer(like)
    flat = flatten_input(elems)
    with ops.name_scope(name, "scan", flat), _variables_read_where_used():
        flat = _elements(flat)
        count = _count(flat)
        arrays = _arrays(flat, count, with_shapes=True)
        if initializer is None:
            start = [array.read(count - 1 if reverse else 0) for array in arrays]
            done = 1
        else:
            start = [ops.convert_to_tensor(value) for value in flatten_output(initializer)]
            done = 0
        results = [TensorArray(dtype=value.dtype, size=count, element_shape=value.shape if infer_shape else None,
                               dynamic_size=False, infer_shape=infer_shape) for value in start]
        if initializer is None:
            results = [array.write(count - 1 if reverse else 0, value) for array, value in zip(results, start)]

        def step(i: Tensor, state: list[Tensor], results: list[TensorArray]) -> tuple[Any, ...]:
            row = pack_input([array.read(i) for array in arrays])
            value = fn(pack_output(state), row)
            nest.assert_same_structure(like, value)
            values = flatten_output(value)
            results = [array.write(i, one) for array, one in zip(results, values)]
            return i - 1 if reverse else i + 1, values, results

        first = count - 1 - done if reverse else done
        _, _, results = control_flow_ops.while_loop(
            lambda i, _1, _2: i >= 0 if reverse else i < count, step, (first, start, results),
            parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
            maximum_iterations=count)
        return pack_output(_stacked(results, flat))


def foldl(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """The last `accumulator = fn(accumulator, row)` over the rows of `elems`, from `initializer` or the first row."""
    return _fold("foldl", fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def foldr(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """As `foldl`, from the last row to the first."""
    return _fold("foldr", fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name)


def _fold(kind: str, fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, parallel_iterations: int,
          back_prop: bool, swap_memory: bool, name: str | None) -> Any:
    _check_function(fn)
    leftwards = kind == "foldr"
    flatten_input, pack_input = _packer(elems)
    flat = flatten_input(elems)
    with ops.name_scope(name, kind, flat), _variables_read_where_used():
        flat = _elements(flat)
        count = _count(flat)
        arrays = [array for tensor in flat for array in _arrays([tensor], count)]

        def row(i: Any) -> Any:
            return pack_input([array.read(i) for array in arrays])

        i: Any
        if leftwards:
            i = count if initializer is not None else count - 1
            start = initializer if initializer is not None else row(i)
        else:
            start = initializer if initializer is not None else row(0)
            i = constant(0 if initializer is not None else 1)

        def step(i: Any, state: Any) -> list[Any]:
            if leftwards:
                i = i - 1
                return [i, fn(state, row(i))]
            value = fn(state, row(i))
            return [i + 1, value]

        _, result = control_flow_ops.while_loop(
            lambda i, _: i > 0 if leftwards else i < count, step, [i, start],
            parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
            maximum_iterations=count)
        return result
