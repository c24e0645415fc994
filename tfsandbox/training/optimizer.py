"""Optimizer: the base of all optimizers. Gradients are computed, then applied; an algorithm says how.

A subclass gives `_apply_dense` (the node that updates a variable by its gradient), `_apply_sparse` (by rows),
`_prepare` (its hyperparameters as tensors), `_create_slots` (variables it keeps) and, where something is left to do
after all updates, `_finish`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import (
    array_ops,
    control_flow_ops,
    gradients_impl,
    math_ops,
    state_ops,
    variable_scope,
    variables,
)
from tfsandbox.training import slot_creator


@dataclass
class SparseUpdate:
    """Where the gradient's rows and the learning rate enter the nodes of one update by rows."""

    gradient_inputs: list[tuple[Operation, int]]
    rate_inputs: list[tuple[Operation, int]]
    rows: Tensor | None


class BuildScope(Protocol):
    """What may change how training is built: see `build_scopes`."""

    def default_var_list(self) -> list[Any] | None:
        """The variables to train where none are named; None for all."""

    def transform_loss(self, loss: Any) -> Any:
        """The loss to differentiate in place of `loss`."""

    def transform_gradients(self, grads_and_vars: list[Any]) -> list[Any]:
        """The pairs that `compute_gradients` gives."""

    def built_update(self, update: Operation, variable: Any) -> None:
        """Called with each node made to update a variable or its slots."""


class _BuildScopes(threading.local):
    def __init__(self) -> None:
        self.stack: list[BuildScope] = []


build_scopes = _BuildScopes()
"""The scopes under which this thread builds, the innermost last. With none, nothing of what is built changes."""


@contextmanager
def building_in(scope: BuildScope) -> Iterator[None]:
    """Context manager: optimizers built inside ask `scope`."""
    build_scopes.stack.append(scope)
    try:
        yield
    finally:
        build_scopes.stack.pop()


def _default_var_list() -> list[Any]:
    for scope in reversed(build_scopes.stack):
        chosen = scope.default_var_list()
        if chosen is not None:
            return list(chosen)
    return variables.trainable_variables() + ops.get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)


def _flat(structure: Any) -> list[Any]:
    if isinstance(structure, dict):
        return [item for key in sorted(structure) for item in _flat(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [item for part in structure for item in _flat(part)]
    if hasattr(structure, "_get_variable_list"):
        return list(structure)
    return [structure]


def _var_key(var: Any) -> tuple[Any, str]:
    return var.op.graph, var.op.name


def _target(var: Any) -> Any:
    """What the loss is differentiated by."""
    if isinstance(var, variables.Variable):
        return var._ref()
    if isinstance(var, Tensor):
        return var
    raise NotImplementedError("Trying to optimize unsupported type ", var)


def _deduplicate_indexed_slices(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """(summed rows, unique indices)."""
    unique, places = array_ops.unique(indices)
    summed = math_ops.unsorted_segment_sum(values, places, array_ops.shape(unique)[0])
    return summed, unique


class Optimizer:
    """Base class of optimizers.

    `minimize(loss)` gives the training operation; between `compute_gradients` and `apply_gradients` gradients can be
    changed. Raises `ValueError` without a name.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slot_dict: dict[tuple[str, Graph], Any] = {}

    def get_name(self) -> str:
        """The name, which the nodes of `apply_gradients` carry."""
        return self._name

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP,
                 aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
                 name: str | None = None, grad_loss: Any = None) -> Operation:
        """An operation that takes one step: it updates `var_list` (default: the trainable variables) against `loss`.

        `global_step` is incremented after the updates. Raises `ValueError` where no variable has a gradient.
        """
        grads_and_vars = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        if not any(grad is not None for grad, _ in grads_and_vars):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(v) for _, v in grads_and_vars]} and loss {loss}.")
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
                          aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
                          grad_loss: Any = None) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs, the gradient None where the loss does not depend on the variable.

        Raises `ValueError` for a loss or variables that are not floating point, an empty `var_list`, or another
        `gate_gradients` than the constants of the class.
        """
        if callable(loss) and not isinstance(loss, Tensor):
            loss = loss()
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             f"Optimizer.GATE_GRAPH.  Not {gate_gradients}")
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            chosen = _default_var_list()
        else:
            chosen = _flat(var_list)
        chosen = chosen + ops.get_collection(GraphKeys._STREAMING_MODEL_PORTS)
        targets = [_target(v) for v in chosen]
        if not chosen:
            raise ValueError("No variables to optimize.")
        for scope in build_scopes.stack:
            loss = scope.transform_loss(loss)
        grads = gradients_impl.gradients(
            loss, targets, grad_ys=grad_loss, gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = control_flow_ops.tuple(grads)
        pairs = list(zip(grads, chosen))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None])
        for scope in build_scopes.stack:
            pairs = scope.transform_gradients(pairs)
        return pairs

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any = None,
                        name: str | None = None) -> Operation:
        """An operation that updates the variables by their gradients, and then increments `global_step`.

        Raises `TypeError` for what is no gradient, `ValueError` where no variable has one.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        converted = [(_converted_gradient(grad), var) for grad, var in pairs]
        for _, var in converted:
            _target(var)
        var_list = [var for grad, var in converted if grad is not None]
        if not var_list:
            raise ValueError(f"No gradients provided for any variable: {[str(var) for _, var in converted]}.")
        with ops.init_scope():
            self._create_slots(var_list)
        update_ops: list[Any] = []
        with ops.name_scope(name, self._name) as scope:
            self._prepare()
            for grad, var in converted:
                if grad is None:
                    continue
                with ops.name_scope("update_" + var.op.name), ops.colocate_with(var):
                    update_ops.append(self._update(grad, var))
            if global_step is None:
                result = self._finish(update_ops, scope)
            else:
                with ops.control_dependencies([self._finish(update_ops, "update")]), ops.colocate_with(global_step):
                    result = state_ops.assign_add(global_step, 1, name=scope)
            train_op = result.op if isinstance(result, Tensor) else result
            collection = ops.get_collection_ref(GraphKeys.TRAIN_OP)
            if train_op not in collection:
                collection.append(train_op)
            return train_op

    def _update(self, grad: Any, var: Any) -> Any:
        """Add the nodes that update one variable, and note in the graph which they are."""
        graph = var.graph
        before = graph.version
        update = self._update_nodes(grad, var)
        updates = graph._caches.setdefault("optimizer_updates", {})
        made = []
        for op in reversed(graph._nodes_by_name.values()):
            if op._id <= before:
                break
            made.append(op)
        made.reverse()
        mutating = [op for op in made if any(arg.is_ref for arg in op._op_def.inputs)]
        if isinstance(grad, IndexedSlices):
            self._note_sparse_update(grad, made, mutating)
        for op in mutating:
            updates[op] = var
            for scope in build_scopes.stack:
                scope.built_update(op, var)
        return update

    def _note_sparse_update(self, grad: IndexedSlices, made: list[Operation], mutating: list[Operation]) -> None:
        """An update by rows may be several nodes: note where the gradient and the learning rate enter them."""
        sums = [op for op in made if op.type == "UnsortedSegmentSum" and op.inputs[0] is grad.values]
        values = sums[0].outputs[0] if sums else grad.values
        rows = next((op.inputs[1] for op in mutating if len(op.inputs) > 2), grad.indices)
        rates = {id(getattr(self, name, None)) for name in ("_learning_rate_tensor", "_lr_t", "_learning_rate")}
        entries = [(op, i, tensor) for op in made for i, tensor in enumerate(op.inputs)]
        note = SparseUpdate([(op, i) for op, i, t in entries if t is values and op not in sums],
                            [(op, i) for op, i, t in entries if id(t) in rates], rows)
        notes = mutating[0].graph._caches.setdefault("sparse_updates", {}) if mutating else {}
        for op in mutating:
            notes[op] = note

    def _update_nodes(self, grad: Any, var: Any) -> Any:
        constraint = getattr(var, "constraint", None)
        if isinstance(grad, Tensor):
            update = self._apply_dense(grad, var)
            if constraint is None:
                return update
            with ops.control_dependencies([update]):
                return var.assign(constraint(var))
        if constraint is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        return self._apply_sparse_duplicate_indices(grad, var)

    # ------------------------------------------------------------ slots and other variables

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot `name` of a variable; None where there is none (yet)."""
        return self._slots.get(name, {}).get(_var_key(var))

    def get_slot_names(self) -> list[str]:
        """The names of the slots there are."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The variables that hold the optimizer's state in the default graph: slots and others, by name."""
        graph = get_default_graph()
        found = [v for v in self._non_slot_variables() if v.graph is graph]
        found += [v for slots in self._slots.values() for v in slots.values() if v.graph is graph]
        return sorted(found, key=lambda v: v.name)

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        slots = self._slot_dict(slot_name)
        if _var_key(var) not in slots:
            slots[_var_key(var)] = slot_creator.create_slot(var, val, op_name)
        return slots[_var_key(var)]

    def _get_or_make_slot_with_initializer(self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str,
                                           op_name: str) -> Any:
        slots = self._slot_dict(slot_name)
        if _var_key(var) not in slots:
            slots[_var_key(var)] = slot_creator.create_slot_with_initializer(var, initializer, shape, dtype, op_name)
        return slots[_var_key(var)]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        slots = self._slot_dict(slot_name)
        if _var_key(var) not in slots:
            slots[_var_key(var)] = slot_creator.create_zeros_slot(var, op_name)
        return slots[_var_key(var)]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable that belongs to no single variable, made once a graph."""
        key = (name, colocate_with.graph)
        if key not in self._non_slot_dict:
            with ops.colocate_with(colocate_with):
                self._non_slot_dict[key] = variable_scope.variable(initial_value, name=name, trainable=False)
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Any:
        return self._non_slot_dict.get((name, graph or get_default_graph()))

    def _non_slot_variables(self) -> list[Any]:
        return list(self._non_slot_dict.values())

    # ------------------------------------------------------------ for subclasses

    def _valid_dtypes(self) -> set[dtypes.DType]:
        """The types of loss, variables and gradients."""
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(f"Invalid type {dtype!r} for {tensor.name}, expected: {list(valid)}.")

    def _create_slots(self, var_list: list[Any]) -> None:
        """Make the slots for these variables."""

    def _prepare(self) -> None:
        """Make the tensors that all updates share, before the first."""

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        """The node that updates `var` by its gradient."""
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        """The node that updates rows of `var`, where indices may repeat: sums the repeats, then `_apply_sparse`."""
        summed, unique = _deduplicate_indexed_slices(values=grad.values, indices=grad.indices)
        return self._apply_sparse(IndexedSlices(summed, unique, grad.dense_shape), var)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """The node that updates rows of `var`; no index repeats."""
        raise NotImplementedError()

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """The operation that is done when all updates are."""
        return control_flow_ops.group(*update_ops, name=name_scope)


def _converted_gradient(grad: Any) -> Any:
    if grad is None:
        return None
    try:
        grad = ops.convert_to_tensor_or_indexed_slices(grad)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}") from None
    if not isinstance(grad, (Tensor, IndexedSlices)):
        raise TypeError(f"Gradient must be a Tensor, IndexedSlices, or None: {grad}")
    return grad


def cast_to(tensor: Any, var: Any) -> Tensor:
    """A hyperparameter as a tensor of the variable's type."""
    return math_ops.cast(tensor, var.dtype.base_dtype)


