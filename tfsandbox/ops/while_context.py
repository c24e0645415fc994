"""The context of a loop body: what enters the loop's frame, what leaves it, and how the loop is closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsandbox.framework import conversion, ops
from tfsandbox.framework.graph import get_default_graph
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.control_flow_context import (
    ControlFlowContext,
    enter,
    exit,
    merge,
    next_iteration,
    output_context,
    switch_ref_or_tensor,
)
from tfsandbox.ops.tensor_array_ops import flows_of, pack_with_flows
from tfsandbox.util import nest


class WhileContext(ControlFlowContext):
    """A loop: its frame, its variables, and what enters it from outside."""

    def __init__(self, maximum_iterations: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
                 swap_memory: bool = False, name: str = "while_context") -> None:
        super().__init__()
        self.name = get_default_graph().unique_name(name)
        self.maximum_iterations, self.parallel_iterations = maximum_iterations, parallel_iterations
        self.back_prop, self.swap_memory = back_prop, swap_memory
        self.pivot_for_pred: Tensor | None = None
        self.pivot_for_body: Tensor | None = None
        self.pivot: Tensor | None = None
        self.loop_exits: list[Tensor] = []
        self.loop_enters: list[Tensor] = []

    def is_while(self) -> bool:
        return True

    def _control_pivot(self) -> Tensor | None:
        return self.pivot_for_body if self.pivot_for_body is not None else self.pivot_for_pred

    def AddValue(self, value: Tensor) -> Tensor:
        """`value` inside the loop: itself if it was made there, else behind a constant Enter."""
        if value.name in self._values:
            return self._external_values.get(value.name, value)
        result = value
        self._values.add(value.name)
        if self._outer_context is not None:
            result = self._outer_context.AddValue(value)
        with ops.control_dependencies(None):
            entered = enter(result, self.name, is_constant=True, parallel_iterations=self.parallel_iterations)
            entered.graph.prevent_feeding(entered)
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(entered.op)
        self._fix_control_inputs(entered.op)
        entered.op._set_control_flow_context(self)
        self._values.add(entered.name)
        self._external_values[value.name] = entered
        return entered

    def _fix_control_inputs(self, op: Operation) -> None:
        """Nodes that enter a frame must wait for the frame around it."""
        context = self._outer_context
        pivot = None
        while context is not None and pivot is None:
            pivot = context._control_pivot() if isinstance(context, WhileContext) else getattr(context, "pivot", None)
            context = context._outer_context
        if pivot is not None and not op.control_inputs and op.type in ("Enter", "RefEnter") and not op.inputs:
            op._add_control_input(pivot.op)

    def AddOp(self, op: Operation) -> None:
        """A new node of the loop: its inputs come in, or it waits for the pivot."""
        if not op.inputs:
            external = self._remove_external_control_edges(op)
            if not self._has_loop_control(op):
                pivot = self._control_pivot()
                if pivot is not None:
                    op._add_control_input(pivot.op)
            self._mark_values(op)
        else:
            for index, x in enumerate(op.inputs):
                real = self.AddValue(x)
                if real is not x:
                    op._update_input(index, real)
            external = self._remove_external_control_edges(op)
            if not self._has_loop_input(op):
                pivot = self._control_pivot()
                if pivot is not None:
                    op._add_control_input(pivot.op)
            self._mark_values(op)
        if external:
            with ops.control_dependencies(None):
                self.Enter()
                tensors = [array_ops.identity(c.outputs[0]).op for c in external if c.outputs]
                self.Exit()
            op._add_control_inputs(tensors)
        self._close(op)

    def _mark_values(self, op: Operation) -> None:
        self._values.update(t.name for t in op.outputs)

    def _has_loop_control(self, op: Operation) -> bool:
        return any(self._is_inside(c) for c in op.control_inputs)

    def _has_loop_input(self, op: Operation) -> bool:
        return True

    def _is_inside(self, op: Operation) -> bool:
        context = output_context(op)
        while context is not None and context is not self:
            context = context._outer_context
        return context is self

    # -------------------------------------------------------- building

    def build_loop(self, cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any,
                   return_same_structure: bool) -> Any:
        """Build the loop and return its results."""
        original = loop_vars
        flat = ops.convert_n_to_tensor_or_indexed_slices(flows_of(nest.flatten(loop_vars, expand_composites=True)))
        try:
            self.Enter()
            with get_default_graph()._attr_scope({}):
                packed, exits = self._build(cond, body, original, flat, shape_invariants)
        finally:
            self.Exit()
        del packed
        result = pack_with_flows(original, exits)
        if return_same_structure:
            return result
        return result[0] if isinstance(result, (list, tuple)) and len(result) == 1 else result

    def _build(self, cond: Callable[..., Any], body: Callable[..., Any], original: Any, flat: list[Tensor],
               shape_invariants: Any) -> tuple[Any, list[Tensor]]:
        self._values.update(t.name for t in flat)
        real = flat
        if self._outer_context is not None:
            real = [self._outer_context.AddValue(t) for t in flat]
        with ops.control_dependencies(None):
            entered = [enter(t, self.name, is_constant=False, parallel_iterations=self.parallel_iterations,
                             use_input_shape=shape_invariants is None) for t in real]
            for tensor in entered:
                tensor.graph.prevent_feeding(tensor)
                if self._outer_context is not None:
                    self._outer_context.AddInnerOp(tensor.op)
        if shape_invariants is not None:
            for outside, inside, invariant in zip(real, entered, nest.flatten(shape_invariants)):
                shape = invariant if isinstance(invariant, TensorShape) else TensorShape(invariant)
                if not _shape_less_then_or_equal(outside.shape, shape):
                    raise ValueError(f"The shape invariant specified for {outside.name} is not compatible with the "
                                     f"initial shape of the loop variable. It enters the loop with shape "
                                     f"{outside.shape}, but the specified shape invariant is {shape}.")
                inside.set_shape(shape)
        self._values = {t.name for t in entered}
        self.loop_enters = list(entered)
        merges = [merge([t, t])[0] for t in entered]
        self.pivot_for_pred = merges[0]
        packed = pack_with_flows(original, merges)
        predicate = conversion.convert_to_tensor(_call(cond, packed))
        self.pivot = apply_op("LoopCond", input=predicate, name="LoopCond")
        switches = [switch_ref_or_tensor(t, self.pivot) for t in merges]
        body_vars = [array_ops.identity(pair[1]) for pair in switches]
        self.pivot_for_body = body_vars[0]
        packed = pack_with_flows(original, body_vars)
        result = _call(body, packed)
        if not nest.is_sequence(result):
            result = [result]
        nest.assert_same_structure(_as_list_structure(original), _as_list_structure(result), expand_composites=True)
        outs = ops.convert_n_to_tensor_or_indexed_slices(flows_of(nest.flatten(result, expand_composites=True)))
        next_values = []
        for merged, out in zip(merges, outs):
            next_value = next_iteration(out)
            _check_next(merged, out)
            _enforce_shape_invariant(merged, next_value)
            merged.op._update_input(1, next_value)
            next_values.append(next_value)
        exits = [exit(pair[0]) for pair in switches]
        self.loop_exits = exits
        self.exit_result(exits)
        return packed, exits


def _call(function: Callable[..., Any], packed: Any) -> Any:
    return function(**packed) if isinstance(packed, dict) else function(*packed)


def _as_list_structure(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) and not hasattr(value, "_fields") else value


def _check_next(merged: Tensor, out: Tensor) -> None:
    if out.dtype.base_dtype != merged.dtype.base_dtype:
        enter_tensor = merged.op.inputs[0]
        raise TypeError(f"Input '{merged.name}' of the loop has type {merged.dtype.name} "
                        f"({enter_tensor.op.inputs[0].name}), but the body gives it type {out.dtype.name}")


def _shape_less_then_or_equal(shape1: TensorShape, shape2: TensorShape) -> bool:
    if shape2.ndims is None:
        return True
    if shape1.ndims != shape2.ndims:
        return False
    return all(b is None or a == b for a, b in zip(shape1.as_list(), shape2.as_list()))


def _enforce_shape_invariant(merged: Tensor, next_value: Tensor) -> None:
    if not _shape_less_then_or_equal(next_value.shape, merged.shape):
        entered = merged.op.inputs[0].op
        raise ValueError(f"Input tensor '{entered.inputs[0].name}' enters the loop with shape {merged.shape}, but has "
                         f"shape {next_value.shape} after one iteration. To allow the shape to vary across iterations, "
                         f"use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.")


