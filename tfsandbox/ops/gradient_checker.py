"""Jacobians, by the gradient and by differences: tf.test.compute_gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, stacks
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, gradients_impl

__all__: list[str] = []

_TYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def compute_gradient(x: Any, x_shape: Any, y: Tensor, y_shape: Sequence[int], x_init_value: Any = None,
                     delta: float = 1e-3, init_targets: Any = None, extra_feed_dict: dict[Any, Any] | None = None
                     ) -> Any:
    """(Jacobian by `tf.gradients`, Jacobian by central differences), each [size of x, size of y].

    Runs in the default session. `x` may be a list: then `x_shape` and `x_init_value` are lists too, and so is the
    result. A complex number counts as two, its real and imaginary part.

    Args:
      x_init_value: where to look; by default random in [0, 1).
      delta: half the distance of a difference.
      init_targets: run first.
      extra_feed_dict: further feeds of every run.
    """
    session = stacks.session_for(y.graph, None, "compute the gradient of", "`tf.test.compute_gradient`",
                                 "`with sess.as_default():`")
    if init_targets is not None:
        session.run(init_targets)
    several = isinstance(x, list)
    xs, shapes = (x, x_shape) if several else ([x], [x_shape])
    starts = x_init_value if several and x_init_value is not None else [x_init_value] * len(xs)
    parts = [_dx_and_dy(one, y, y_shape) for one in xs]
    feeds = dict(extra_feed_dict or {})
    values = [_start(one, shape, start) for one, shape, start in zip(xs, shapes, starts)]
    results = []
    for i, (one, (dx, dy)) in enumerate(zip(xs, parts)):
        others = {**feeds, **{o: v for j, (o, v) in enumerate(zip(xs, values)) if j != i}}
        theoretical = _by_gradient(session, one, values[i], dy, y_shape, dx, others)
        numeric = _by_differences(session, one, values[i], y, y_shape, delta, others)
        results.append((theoretical, numeric))
    return results if several else results[0]


def compute_gradient_error(x: Any, x_shape: Any, y: Tensor, y_shape: Sequence[int], x_init_value: Any = None,
                           delta: float = 1e-3, init_targets: Any = None,
                           extra_feed_dict: dict[Any, Any] | None = None) -> float:
    """The largest difference between the two Jacobians of `compute_gradient`."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    error = 0.0
    for theoretical, numeric in found if isinstance(found, list) else [found]:
        if theoretical.size or numeric.size:
            largest = float(np.fabs(theoretical - numeric).max())
            error = largest if np.isnan(largest) else max(error, largest)
    return error


def _dx_and_dy(x: Tensor, y: Tensor, y_shape: Sequence[int]) -> tuple[Any, Tensor]:
    """The gradient for x, and the tensor that is fed with the gradient of y."""
    with x.graph.as_default():
        dy = constant_op.constant(1.0, shape=y_shape, dtype=y.dtype)
        # Fed through an identity, so that no gradient is simplified for a constant.
        dx, = gradients_impl.gradients(y, x, array_ops.identity(dy))
    return dx, dy


def _start(x: Tensor, shape: Sequence[int], value: Any) -> np.ndarray:
    dtype = x.dtype.base_dtype
    if dtype.name not in _TYPES:
        raise TypeError(f"Don't support type {dtype.name}")
    if value is None:
        drawn: Any = np.random.random_sample(tuple(shape))
        value = drawn + 1j * np.random.random_sample(tuple(shape)) if dtype.is_complex else drawn
    array = np.array(value, dtype.as_numpy_dtype)
    if list(array.shape) != list(shape):
        raise ValueError(f"x_init_value has shape {list(array.shape)}, but x_shape is {list(shape)}")
    return array


def _real(array: Any) -> np.ndarray:
    """A flat view in which a complex number is two real ones."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _zeros(shape: Sequence[int], like: Any) -> np.ndarray:
    return np.zeros(tuple(shape), like.dtype.base_dtype.as_numpy_dtype)


def _by_gradient(session: Any, x: Tensor, value: np.ndarray, dy: Tensor, y_shape: Sequence[int], dx: Any,
                 feeds: dict[Any, Any]) -> np.ndarray:
    upstream = _zeros(y_shape, dy)
    columns = _real(upstream).size
    jacobian = np.zeros((_real(value).size, columns), _real(value).dtype)
    for column in range(columns):
        one = upstream.copy()
        _real_view(one)[column] = 1
        found = session.run(dx, {**feeds, x: value, dy: one})
        if hasattr(found, "indices"):
            dense = np.zeros_like(value)
            np.add.at(dense, found.indices, found.values)
            found = dense
        jacobian[:, column] = _real(np.asarray(found, value.dtype))
    if not columns and np.any(session.run(dx, {**feeds, x: value, dy: upstream})):
        raise ValueError("Empty tensor with nonzero gradients")
    return jacobian


def _by_differences(session: Any, x: Tensor, value: np.ndarray, y: Tensor, y_shape: Sequence[int], delta: float,
                    feeds: dict[Any, Any]) -> np.ndarray:
    rows = _real(value).size
    jacobian = np.zeros((rows, _real(_zeros(y_shape, y)).size), _real(value).dtype)
    step = _real(value).dtype.type(delta)
    for row in range(rows):
        sides = []
        for shift in (step, -step):
            moved = value.copy()
            _real_view(moved)[row] += shift
            sides.append(_real(session.run(y, {**feeds, x: moved})))
        jacobian[row] = (sides[0] - sides[1]) / (2 * step)
    return jacobian


def _real_view(array: np.ndarray) -> np.ndarray:
    """The array's own memory, flat and real."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
