"""Assertions on tensors: what is known while building is checked at once, the rest in every run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops, tensor_util
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops
from tfsandbox.ops.numerics import (  # noqa: F401
    add_check_numerics_ops,
    check_numerics,
    verify_tensor_all_finite,
)
from tfsandbox.ops.rank_checks import (  # noqa: F401
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_scalar,
    assert_shapes,
)
from tfsandbox.ops.type_checks import (  # noqa: F401
    assert_integer,
    assert_proper_iterable,
    assert_same_float_dtype,
    assert_type,
    is_numeric_tensor,
)

__all__ = [
    "add_check_numerics_ops", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer",
    "assert_less", "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative",
    "assert_non_positive", "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_rank",
    "assert_rank_at_least", "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_type",
    "check_numerics", "is_non_decreasing", "is_numeric_tensor", "is_strictly_increasing", "verify_tensor_all_finite",
]


def _check(condition: Tensor, data: Sequence[Any], summarize: int | None) -> Operation:
    from tfsandbox.ops import control_flow_ops
    return control_flow_ops.Assert(condition, list(data), summarize=summarize)


def _raise_unless(holds: bool, data: Sequence[Any]) -> None:
    """The error of a condition whose operands are known while building."""
    if holds:
        return
    texts = []
    for item in data:
        value = tensor_util.constant_value(item) if isinstance(item, Tensor) else item
        texts.append(str(item if value is None else value))
    raise errors.InvalidArgumentError(None, None, "\n".join(texts))


def _binary_assert(sign: str, op_name: str, compare: Callable[..., Tensor], static: Callable[..., Any], x: Any, y: Any,
                   data: Any, summarize: int | None, message: str | None, name: str | None) -> Operation:
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, op_name, [x, y, data]):
        x = ops.convert_to_tensor(x, name="x")
        y = ops.convert_to_tensor(y, name="y")
        if data is None:
            data = [f"Condition x {sign} y did not hold element-wise:", f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        if message is not None:
            data = [message, *data]
        condition = math_ops.reduce_all(compare(x, y))
        known = tensor_util.constant_value(x), tensor_util.constant_value(y)
        if known[0] is not None and known[1] is not None:
            _raise_unless(bool(np.all(static(*known))), data)
        return _check(condition, data, summarize)


def assert_equal(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                 name: str | None = None) -> Operation:
    """A node that raises `InvalidArgumentError` in a run unless x == y element by element.

    `data` is what the error shows in place of `x` and `y`, `summarize` how many elements of each, `message` a text
    before it. Where both are constant and differ, the error comes at once.
    """
    from tfsandbox.ops import control_flow_ops, math_ops
    with ops.name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return control_flow_ops.no_op()
    return _binary_assert("==", "assert_equal", math_ops.equal, np.equal, x, y, data, summarize, message, name)


def assert_none_equal(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                      name: str | None = None) -> Operation:
    """As `assert_equal`: x != y for every element."""
    from tfsandbox.ops import math_ops
    return _binary_assert("!=", "assert_none_equal", math_ops.not_equal, np.not_equal, x, y, data, summarize, message,
                          name)


def assert_less(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                name: str | None = None) -> Operation:
    """As `assert_equal`: x < y for every element."""
    from tfsandbox.ops import math_ops
    return _binary_assert("<", "assert_less", math_ops.less, np.less, x, y, data, summarize, message, name)


def assert_less_equal(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                      name: str | None = None) -> Operation:
    """As `assert_equal`: x <= y for every element."""
    from tfsandbox.ops import math_ops
    return _binary_assert("<=", "assert_less_equal", math_ops.less_equal, np.less_equal, x, y, data, summarize,
                          message, name)


def assert_greater(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                   name: str | None = None) -> Operation:
    """As `assert_equal`: x > y for every element."""
    from tfsandbox.ops import math_ops
    return _binary_assert(">", "assert_greater", math_ops.greater, np.greater, x, y, data, summarize, message, name)


def assert_greater_equal(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                         name: str | None = None) -> Operation:
    """As `assert_equal`: x >= y for every element."""
    from tfsandbox.ops import math_ops
    return _binary_assert(">=", "assert_greater_equal", math_ops.greater_equal, np.greater_equal, x, y, data,
                          summarize, message, name)


def _assert_sign(op_name: str, sign: str, x: Any, data: Any, summarize: int | None, message: str | None,
                 name: str | None, check: Callable[[Tensor, Tensor], tuple[Callable[..., Operation], Tensor, Tensor]],
                 joined: bool = False) -> Operation:
    with ops.name_scope(name, op_name, [x, data]):
        x = ops.convert_to_tensor(x, name="x")
        if data is None:
            texts = [f"Condition x {sign} 0 did not hold element-wise:", f"x ({x.name}) = "]
            data = [message or "", *(["".join(texts)] if joined else texts), x]
        zero = ops.convert_to_tensor(0, dtype=x.dtype)
        function, left, right = check(x, zero)
        return function(left, right, data=data, summarize=summarize)


def assert_negative(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                    name: str | None = None) -> Operation:
    """As `assert_equal`: x < 0 for every element."""
    return _assert_sign("assert_negative", "<", x, data, summarize, message, name,
                        lambda x, zero: (assert_less, x, zero))


def assert_positive(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                    name: str | None = None) -> Operation:
    """As `assert_equal`: x > 0 for every element."""
    return _assert_sign("assert_positive", ">", x, data, summarize, message, name,
                        lambda x, zero: (assert_less, zero, x))


def assert_non_negative(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                        name: str | None = None) -> Operation:
    """As `assert_equal`: x >= 0 for every element."""
    return _assert_sign("assert_non_negative", ">=", x, data, summarize, message, name,
                        lambda x, zero: (assert_less_equal, zero, x))


def assert_non_positive(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                        name: str | None = None) -> Operation:
    """As `assert_equal`: x <= 0 for every element."""
    # Here TensorFlow's message is one text, not two.
    return _assert_sign("assert_non_positive", "<=", x, data, summarize, message, name,
                        lambda x, zero: (assert_less_equal, x, zero), joined=True)


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, data: Any = None, summarize: int | None = None,
                message: str | None = None, name: str | None = None) -> Operation:
    """As `assert_equal`: |x - y| < atol + rtol * |y|; the tolerances are ten times the type's epsilon by default."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = ops.convert_to_tensor(x, name="x")
        y = ops.convert_to_tensor(y, name="y", dtype=x.dtype)
        default = 10 * np.finfo(x.dtype.as_numpy_dtype).eps
        rtol = ops.convert_to_tensor(default if rtol is None else rtol, name="rtol", dtype=x.dtype)
        atol = ops.convert_to_tensor(default if atol is None else atol, name="atol", dtype=x.dtype)
        if data is None:
            data = [message or "", f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                    f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        tolerance = atol + rtol * math_ops.abs(y)
        condition = math_ops.reduce_all(math_ops.less(math_ops.abs(x - y), tolerance))
        return _check(condition, data, summarize)


def _steps(x: Any) -> Tensor:
    """The differences of the elements of the flat `x`, each from the one before; empty for less than two elements."""
    from tfsandbox.ops import control_flow_ops, math_ops
    flat = array_ops.reshape(x, [-1])
    if not is_numeric_tensor(flat):
        raise TypeError(f"Expected x to be numeric, instead found: {flat}")
    short = math_ops.less(array_ops.size(flat), 2)
    length = array_ops.shape(flat) - 1
    return control_flow_ops.cond(
        short, lambda: ops.convert_to_tensor([], dtype=flat.dtype),
        lambda: array_ops.strided_slice(flat, [1], [1] + length) - array_ops.strided_slice(flat, [0], length))


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """[], bool: whether no element of the flat `x` is less than the one before it."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "is_non_decreasing", [x]):
        steps = _steps(x)
        return math_ops.reduce_all(math_ops.less_equal(ops.convert_to_tensor(0, dtype=steps.dtype), steps))


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """[], bool: whether every element of the flat `x` is greater than the one before it."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "is_strictly_increasing", [x]):
        steps = _steps(x)
        return math_ops.reduce_all(math_ops.less(ops.convert_to_tensor(0, dtype=steps.dtype), steps))
