"""Python functions as nodes: py_func, numpy_function and py_function."""

from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.graph import get_default_graph
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import eager_evaluation
from tfsandbox.ops.kernel_values import as_array

__all__ = ["numpy_function", "py_func", "py_function"]

_ATTRS = "token: string; Tin: list(type) >= 0; Tout: list(type) >= 0"

py_func_op = register_op("PyFunc", "input: Tin -> output: Tout", _ATTRS, stateful=True).no_gradient()
py_func_stateless_op = register_op("PyFuncStateless", "input: Tin -> output: Tout", _ATTRS).no_gradient()
eager_py_func_op = register_op("EagerPyFunc", "input: Tin -> output: Tout",
                               "token: string; is_async: bool = false; Tin: list(type) >= 0; Tout: list(type) >= 0",
                               stateful=True)

# What the errors of a Python function become; the first that fits counts.
_ERRORS: list[tuple[tuple[type[Exception], ...], Any]] = [
    ((TypeError, ValueError), errors.InvalidArgumentError),
    ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
]
_C_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


class _Callback:
    """One registered function. A graph keeps those of its nodes; without the graph they are gone."""

    def __init__(self, function: Callable[..., Any], token: str) -> None:
        self.function, self.token = function, token
        self.tape: tuple[Sequence[Tensor], Sequence[Tensor]] | None = None
        """Of an EagerPyFunc: the inputs and outputs of its last call, from which its gradient is made."""


_callbacks: weakref.WeakValueDictionary[str, _Callback] = weakref.WeakValueDictionary()
_numbers = itertools.count()


def _register(function: Callable[..., Any]) -> _Callback:
    token = f"pyfunc_{next(_numbers)}"
    _callbacks[token] = callback = _Callback(function, token)
    get_default_graph()._caches.setdefault("py_funcs", []).append(callback)
    return callback


def _callback(token: str) -> _Callback:
    found = _callbacks.get(token)
    if found is None:
        raise errors.InvalidArgumentError(
            None, None, f"ValueError: callback {token} is not found: it belongs to a Python function of another "
                        "program or of a graph that is gone. Make the node again with tf.py_func.")
    return found


def _shape(c: ShapeContext) -> list[TensorShape]:
    return [UNKNOWN] * len(c.attr("Tout"))


for _op in (py_func_op, py_func_stateless_op, eager_py_func_op):
    _op.shape(_shape)

    # The token; and what has a state may run this session again, and is never folded away.
    @_op.state
    def _token(op: Operation, session_state: Any) -> str:
        return op.get_attr("token").decode()


def _call(callback: _Callback, function: Callable[..., Any], *arguments: Any) -> Any:
    """The function's result; its error as TensorFlow's, with the traceback from the function on."""
    try:
        return function(*arguments)
    except Exception as error:
        kind = next((ours for theirs, ours in _ERRORS if isinstance(error, theirs)), errors.UnknownError)
        below = error.__traceback__.tb_next if error.__traceback__ is not None else None
        lines = "\n".join(traceback.format_tb(below))
        message = f"{type(error).__name__}: {error}\nTraceback (most recent call last):\n\n{lines}\n"
        raise kind(None, None, message) from error


def _argument(value: Any) -> Any:
    """What the function is given: an array of its own, which it may keep or change."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.ndim else value[()]
    return value


def _result(value: Any, dtype: dtypes.DType, index: int, token: str) -> np.ndarray:
    """One result as an array of the node's own; `InvalidArgumentError` for another type than it declares."""
    array = np.array(value, order="C")
    if array.dtype.kind == "U":
        array = np.array([text.encode() for text in array.ravel().tolist()] + [None], object)[:-1].reshape(array.shape)
    elif array.dtype.kind == "S":
        array = array.astype(object)
    elif array.dtype == object:
        flat = [item.encode() if isinstance(item, str) else item for item in array.ravel().tolist()]
        wrong = next((item for item in flat if not isinstance(item, bytes)), None)
        if wrong is not None:
            raise errors.InternalError(None, None, f"Unsupported object type {type(wrong).__name__}")
        array = np.array([*flat, None], object)[:-1].reshape(array.shape)
    try:
        found = dtypes.as_dtype(array.dtype)
    except TypeError:
        raise errors.InternalError(None, None, f"Unsupported numpy type {array.dtype}") from None
    if found != dtype:
        raise errors.InvalidArgumentError(
            None, None, f"{index}-th value returned by {token} is {_C_NAMES.get(found.name, found.name)}, but expects "
                        f"{_C_NAMES.get(dtype.name, dtype.name)}")
    return array


def _results(value: Any, types: Sequence[dtypes.DType], token: str) -> tuple[np.ndarray, ...]:
    values = [] if value is None else value if isinstance(value, (list, tuple)) else [value]
    if len(values) != len(types):
        raise errors.InvalidArgumentError(
            None, None, f"{token} returns {len(values)} values, but expects to see {len(types)} values.")
    return tuple([_result(item, dtype, i, token) for i, (item, dtype) in enumerate(zip(values, types))])


@py_func_op.kernel
def _py_func(inputs: list[Any], *, Tout: Sequence[dtypes.DType], state: str) -> tuple[np.ndarray, ...]:
    callback = _callback(state)
    return _results(_call(callback, callback.function, *map(_argument, inputs)), Tout, state)


py_func_stateless_op.kernel(_py_func)


def _make(op_type: str, func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None) -> Any:
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    several = isinstance(Tout, (list, tuple))
    types = list(Tout) if several else [Tout]
    result = apply_op(op_type, input=inp, token=_register(func).token, Tout=types, name=name)
    return result if several else result[0]


def py_func(func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: bool = True,
            name: str | None = None) -> Any:
    """A node that calls a Python function on numpy values when it runs.

    Args:
      func: takes one numpy value for each of `inp`, gives numpy values of the types `Tout` (strings as bytes).
      inp: a list of tensors.
      Tout: the types of the results, as a list, or one type.
      stateful: False for a function whose result depends on its arguments only.

    Returns: a list of tensors of unknown shape, or one; the Operation where `Tout` is empty. No gradient flows through.
    An error of the function is one of the run, of a kind by that of the exception: `InvalidArgumentError` for
    TypeError and ValueError, `UnknownError` for most.
    """
    return _make("PyFunc" if stateful else "PyFuncStateless", func, inp, Tout, name)


def numpy_function(func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None = None) -> Any:
    """A node that calls a Python function on numpy values when it runs: `py_func` under another name."""
    return py_func(func, inp, Tout, stateful=True, name=name)


# ------------------------------------------------------------ functions of tensors


def _differentiable(callback: _Callback, inputs: list[Any], types: Sequence[dtypes.DType]) -> tuple[np.ndarray, ...]:
    with eager_evaluation.EagerGraph().as_default():
        arguments = [ops.convert_to_tensor(as_array(value)) for value in inputs]
        found = _call(callback, callback.function, *arguments)
        values = [] if found is None else found if isinstance(found, (list, tuple)) else [found]
        if len(values) < len(types):
            raise errors.InvalidArgumentError(
                None, None, f"{callback.token} returns {len(values)} values, but expects to see {len(types)} values.")
        outputs = [_call(callback, ops.convert_to_tensor, value, dtype) for value, dtype in zip(values, types)]
        results = _call(callback, eager_evaluation.evaluate, outputs)
    callback.tape = (arguments, outputs)
    return tuple([np.array(as_array(value)) for value in results])


@eager_py_func_op.kernel
def _eager_py_func(inputs: list[Any], *, Tout: Sequence[dtypes.DType], state: str) -> tuple[np.ndarray, ...]:
    callback = _callback(state)
    if isinstance(callback.function, _Backward):
        return callback.function(inputs, Tout)
    return _differentiable(callback, inputs, Tout)


class _Backward:
    """The gradient of a py_function: the backward pass of the graph that its last call built."""

    def __init__(self, forward: _Callback) -> None:
        self._forward = forward

    def __call__(self, grads: list[Any], types: Sequence[dtypes.DType]) -> tuple[np.ndarray, ...]:
        from tfsandbox.ops import gradients_impl
        tape, self._forward.tape = self._forward.tape, None
        if tape is None:
            raise errors.InternalError(None, None, f"the gradient of {self._forward.token} ran without its function")
        inputs, outputs = tape
        chosen = [i for i, t in enumerate(outputs) if gradients_impl.is_trainable(t)]
        with outputs[0].graph.as_default():
            seeds = [ops.convert_to_tensor(as_array(grads[i])) for i in chosen]
            found = gradients_impl.gradients([outputs[i] for i in chosen], list(inputs), seeds)
            dense = [None if g is None else ops.convert_to_tensor(g) for g in found]
            values = iter(eager_evaluation.evaluate([g for g in dense if g is not None]))
        return tuple([np.zeros_like(as_array(eager_evaluation.evaluate([x])[0])) if g is None
                      else np.array(as_array(next(values))) for x, g in zip(inputs, dense)])


@eager_py_func_op.gradient
def _eager_py_func_grad(op: Operation, *grads: Any) -> list[Any]:
    forward = _callback(op.get_attr("token").decode())
    with ops.control_dependencies(op.outputs):
        backward = _register(_Backward(forward))
        result = apply_op("EagerPyFunc", input=list(grads), token=backward.token,
                          Tout=[t.dtype.base_dtype for t in op.inputs])
    return list(result)


def py_function(func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None = None) -> Any:
    """A node that calls a Python function on tensors with values when it runs; gradients flow through it.

    The function's arguments have `.numpy()`, and so has what TensorFlow's functions make of them. It gives tensors (or
    numpy values) of the types `Tout`, one or a list, as `py_func` does.
    """
    return _make("EagerPyFunc", func, inp, Tout, name)
