"""tf.gradients: the backward pass as more graph.

From the ys backwards, each node that lies between the ys and the xs gets the gradients of its outputs summed up, its
gradient function builds nodes for the gradients of its inputs under the scope `gradients/NODE_grad`, and so on. There
is no tape: what is built here is what runs.
"""

from __future__ import annotations

import collections
import contextlib
import enum
from collections.abc import Iterator, Sequence
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import get_default_graph
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops, control_flow_ops, math_ops

__all__ = ["AggregationMethod", "UnconnectedGradients", "gradients", "hessians"]

_TRAINABLE = {dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128, dtypes.bfloat16,
              dtypes.resource, dtypes.variant}


class AggregationMethod:
    """How gradients that meet at a tensor are added: here all of them with AddN."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients(enum.Enum):
    """What the gradient with respect to something the ys do not depend on is: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


def is_trainable(tensor: Tensor) -> bool:
    """Whether gradients can flow through a tensor of this type."""
    return tensor.dtype.base_dtype in _TRAINABLE


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients",
              colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
              aggregation_method: int | None = None, stop_gradients: Any = None,
              unconnected_gradients: Any = UnconnectedGradients.NONE) -> list[Any]:
    """Build the derivatives of sum(ys) with respect to each x.

    Gives one Tensor or IndexedSlices an x, of its shape; None where the ys do not depend on it (zeros with
    `unconnected_gradients=ZERO`). `grad_ys` are the gradients of the ys, ones where None. `stop_gradients` are held
    constant.

    Raises `LookupError` for an op between them that has no gradient, `TypeError` for types that have none.
    """
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    ys, xs = _as_list(ys), _as_list(xs)
    stops = [] if stop_gradients is None else _as_list(stop_gradients)
    seeds = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    with ops.name_scope(name, "gradients", [*ys, *xs, *stops, *seeds]):
        # TensorFlow takes this name too, and later names depend on what is taken.
        get_default_graph().unique_name("uid")
        ys = ops.convert_n_to_tensor_or_indexed_slices(ys, name="y")
        xs = [ops.convert_to_tensor_or_indexed_slices(x, name=f"x_{i}", as_ref=True) for i, x in enumerate(xs)]
        stops = [ops.convert_to_tensor_or_indexed_slices(s, name=f"x_{i}", as_ref=True) for i, s in enumerate(stops)]
        backward = _Backward(ys, xs, stops, colocate_gradients_with_ops, gate_gradients)
        backward.seed(_seeds(seeds, ys, colocate_gradients_with_ops))
        backward.propagate()
        return [backward.gradient_of(x, unconnected) for x in xs]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


@contextlib.contextmanager
def _maybe_colocated(op: Operation, colocate: bool) -> Iterator[None]:
    if colocate:
        with ops.colocate_with(op):
            yield
    else:
        yield


def _seeds(grad_ys: list[Any], ys: list[Any], colocate: bool) -> list[Any]:
    """The gradients of the ys: those given, checked, or ones."""
    if len(grad_ys) != len(ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    grad_ys = ops.convert_n_to_tensor_or_indexed_slices(grad_ys, name="grad_y")
    result: list[Any] = []
    for i, (y, seed) in enumerate(zip(ys, grad_ys)):
        with _maybe_colocated(y.op, colocate):
            if seed is None:
                if y.dtype.is_complex:
                    raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
                shape = array_ops.shape(y)
                result.append(array_ops.fill(shape, constant(1, dtype=y.dtype.base_dtype, name=f"grad_ys_{i}")))
                continue
            _check_seed_type(seed, y)
            if isinstance(seed, IndexedSlices):
                result.append(IndexedSlices(
                    array_ops.identity(seed.values, name=f"grad_ys_{i}_values"),
                    array_ops.identity(seed.indices, name=f"grad_ys_{i}_indices"),
                    None if seed.dense_shape is None else
                    array_ops.identity(seed.dense_shape, name=f"grad_ys_{i}_shape")))
            else:
                result.append(array_ops.identity(seed, name=f"grad_ys_{i}"))
    return result


def _check_seed_type(seed: Any, y: Any) -> None:
    for kind, test in (("real", lambda t: t.is_floating or t.is_integer), ("complex", lambda t: t.is_complex)):
        if test(y.dtype) and not test(seed.dtype):
            raise TypeError(f"Gradient type {seed.dtype.name} generated for {kind}-valued tensor {y} with type "
                            f"{y.dtype.name} must be {kind}")


class _Backward:
    """One backward pass."""

    def __init__(self, ys: list[Any], xs: list[Any], stops: list[Any], colocate: bool, gate: bool) -> None:
        self.ys, self.xs = ys, xs
        self.colocate, self.gate = colocate, gate
        self.grads: dict[Operation, list[Any]] = {}
        to_ops, from_ops = [y.op for y in ys], [x.op for x in xs]
        self.waiting, self.reached = _consumers_between(to_ops, from_ops)
        self.to_ops = to_ops
        # Gradients go no further than the xs, unless one x depends on another.
        self.stop_ops = {op for op in from_ops if not any(self.waiting.get(t.op, 0) > 0 for t in op.inputs)}
        self.stop_ops.update(s.op for s in stops)

    def seed(self, grads: list[Any]) -> None:
        for y, grad in zip(self.ys, grads):
            self._add(y, grad)

    def _add(self, tensor: Tensor, grad: Any) -> None:
        op = tensor.op
        if op not in self.grads:
            self.grads[op] = [[] for _ in op.outputs]
        place = self.grads[op][tensor.value_index]
        if isinstance(place, list):
            place.append(grad)
        else:
            # A loop's variable: its gradient was summed before the loop was closed.
            self.grads[op][tensor.value_index] = grad

    def propagate(self) -> None:
        """Visit the nodes between, each when all gradients of its outputs are there."""
        queue: collections.deque[Operation] = collections.deque()
        seen: set[Operation] = set()
        for op in self.to_ops:
            if self.waiting.get(op, 0) == 0 and op not in seen and op in self.reached:
                seen.add(op)
                queue.append(op)
        while queue:
            op = queue.popleft()
            with _maybe_colocated(op, self.colocate):
                self._visit(op)
            for tensor in op.inputs:
                if tensor.op in self.waiting:
                    self.waiting[tensor.op] -= 1
                    if self.waiting[tensor.op] == 0:
                        queue.append(tensor.op)

    def _visit(self, op: Operation) -> None:
        out_grads = self._summed(op)
        has_grads = any(g is not None for g in out_grads)
        function = None
        if has_grads and op not in self.stop_ops:
            try:
                function = ops.get_gradient_function(op)
            except LookupError:
                raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type})") from None
        if function is None:
            return
        for i, grad in enumerate(out_grads):
            if grad is None and is_trainable(op.outputs[i]):
                out_grads[i] = control_flow_ops.zeros_like_outside_loop(op, i)
        graph = op.graph
        with ops.name_scope(op.name + "_grad"):
            outer, graph._default_original_op = graph._default_original_op, op
            try:
                in_grads = function(op, *out_grads)
            finally:
                graph._default_original_op = outer
            if isinstance(in_grads, (Tensor, IndexedSlices)) or in_grads is None:
                in_grads = [in_grads]
            in_grads = list(in_grads)
            if len(in_grads) != len(op.inputs):
                raise ValueError(f"Num gradients {len(in_grads)} generated for op {op.node_def} do not match num "
                                 f"inputs {len(op.inputs)}")
            if self.gate and sum(g is not None for g in in_grads) > 1:
                with ops.device(None), ops.colocate_with(None, ignore_existing=True):
                    in_grads = control_flow_ops.tuple(in_grads)
        for tensor, grad in zip(op.inputs, in_grads):
            if grad is None:
                continue
            if isinstance(grad, Tensor) and tensor.dtype != dtypes.resource:
                try:
                    grad.set_shape(tensor.shape)
                except ValueError:
                    raise ValueError(f"Incompatible shapes between op input and calculated input gradient.  Forward "
                                     f"operation: {op.name}.  Original input shape: {tensor.shape}.  Calculated input "
                                     f"gradient shape: {grad.shape}") from None
            self._add(tensor, grad)

    def _summed(self, op: Operation) -> list[Any]:
        """The gradients of the outputs of a node, each summed; None where there is none."""
        places = self.grads.get(op)
        if places is None:
            return [None] * len(op.outputs)
        for i, found in enumerate(places):
            if isinstance(found, list):
                places[i] = _sum(found)
        return list(places)

    def gradient_of(self, x: Any, unconnected: UnconnectedGradients) -> Any:
        places = self.grads.get(x.op)
        grad = None if places is None else places[x.value_index]
        if isinstance(grad, list):
            grad = _sum(grad)
        if grad is None and unconnected is UnconnectedGradients.ZERO:
            return array_ops.zeros_like(x)
        return grad


def _consumers_between(to_ops: Sequence[Operation],
                       from_ops: Sequence[Operation]) -> tuple[dict[Operation, int], set[Operation]]:
    """For the nodes between: how many of their uses lie between too. And the ys' nodes that the xs reach."""
    reached: set[Operation] = set()
    queue = collections.deque(from_ops)
    while queue:
        op = queue.popleft()
        if op not in reached:
            reached.add(op)
            for output in op.outputs:
                if is_trainable(output):
                    queue.extend(output.consumers())
    reachable = {op for op in to_ops if op in reached}
    between: dict[Operation, None] = {}
    queue = collections.deque(to_ops)
    while queue:
        op = queue.popleft()
        if op in reached and op not in between:
            between[op] = None
            queue.extend(tensor.op for tensor in op.inputs)
    loops = [op for op in between if op.type in ("Exit", "RefExit")]
    if loops:
        raise NotImplementedError(f"the sandbox has no gradient of tf.while_loop yet (through {loops[0].name}); a "
                                  f"Python loop that builds the steps one by one has one")
    waiting = dict.fromkeys(between, 0)
    for op in between:
        for tensor in op.inputs:
            if tensor.op in between:
                waiting[tensor.op] += 1
    return waiting, reachable


def _sum(grads: list[Any]) -> Any:
    if not grads:
        return None
    if len(grads) == 1:
        return grads[0]
    if all(isinstance(g, Tensor) for g in grads):
        by_device: dict[str, list[Tensor]] = {}
        for grad in grads:
            by_device.setdefault(grad.device, []).append(grad)
        sums = []
        for device in sorted(by_device):
            with ops.colocate_with(by_device[device][0].op, ignore_existing=True):
                sums.append(math_ops.add_n(by_device[device]))
        return math_ops.add_n(sums)
    return _sum_slices(grads)


def _sum_slices(grads: list[Any]) -> Any:
    """IndexedSlices are summed by putting their rows one after another; with a dense one among them all are dense."""
    if any(isinstance(g, Tensor) for g in grads):
        return math_ops.add_n(grads)
    kinds = {g.indices.dtype for g in grads}
    if len(kinds) > 1:
        grads = [g if g.indices.dtype == dtypes.int64 else
                 IndexedSlices(g.values, math_ops.cast(g.indices, dtypes.int64), g.dense_shape) for g in grads]
    return IndexedSlices(array_ops.concat([g.values for g in grads], axis=0),
                         array_ops.concat([g.indices for g in grads], axis=0), grads[0].dense_shape)


def hessians(ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False,
             gate_gradients: bool = False, aggregation_method: int | None = None) -> list[Tensor]:
    """The second derivatives of sum(ys): for each x of shape S a tensor of shape S + S.

    Block diagonal: no second derivatives between different xs. Raises `ValueError` for an x of unknown shape.
    """
    xs = _as_list(xs)
    kwargs: dict[str, Any] = {"colocate_gradients_with_ops": colocate_gradients_with_ops,
                              "gate_gradients": gate_gradients, "aggregation_method": aggregation_method}
    result = []
    for gradient, x in zip(gradients(ys, xs, **kwargs), xs):
        flat = array_ops.reshape(gradient, [-1])
        static = x.shape.num_elements()
        if static is None:
            raise ValueError(f"hessians needs the static shape of {x}, which is {x.shape}")
        rows = [array_ops.reshape(gradients(flat[i], x, unconnected_gradients="zero", **kwargs)[0], [-1])
                for i in range(static)]
        shape = array_ops.shape(x)
        result.append(array_ops.reshape(array_ops.stack(rows), array_ops.concat([shape, shape], 0)))
    return result
