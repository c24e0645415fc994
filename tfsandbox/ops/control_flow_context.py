"""Contexts that route tensors into branches and loop bodies, and the ops they are built from.

While a context is entered, every new node is told to it (`AddOp`). The context gives the node's inputs that come from
outside a way in: through a Switch for a branch, through an Enter for a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsandbox.framework import conversion, dtypes, ops
from tfsandbox.framework.graph import get_default_graph
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import SCALAR, UNKNOWN, ShapeContext, unchanged
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.util import nest

# ------------------------------------------------------------ Switch and Merge

switch_op = register_op("Switch", "data: T, pred: bool -> output_false: T, output_true: T", "T: type")
ref_switch_op = register_op("RefSwitch", "data: ref(T), pred: bool -> output_false: ref(T), output_true: ref(T)",
                            "T: type", allows_uninitialized_input=True)
merge_op = register_op("Merge", "inputs: N*T -> output: T, value_index: int32", "T: type; N: int >= 1")
ref_merge_op = register_op("RefMerge", "inputs: ref(N*T) -> output: ref(T), value_index: int32",
                           "T: type; N: int >= 1")
ref_identity_op = register_op("RefIdentity", "input: ref(T) -> output: ref(T)", "T: type",
                              allows_uninitialized_input=True)
ref_identity_op.shape(unchanged)


@switch_op.shape
def _switch_shape(c: ShapeContext) -> list[TensorShape]:
    return [c.shape(0), c.shape(0)]


ref_switch_op.shape(_switch_shape)


@merge_op.shape
def _merge_shape(c: ShapeContext) -> list[TensorShape]:
    shape = c.shape(0)
    for i in range(1, c.num_inputs):
        other = c.shape(i)
        if shape.ndims is None or other.ndims != shape.ndims:
            return [UNKNOWN, SCALAR]
        shape = TensorShape([a if a == b else None for a, b in zip(shape.as_list(), other.as_list())])
    return [shape, SCALAR]


ref_merge_op.shape(_merge_shape)


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> Any:
    """(data if not pred, data if pred): only one of them is there in a run."""
    with ops.name_scope(name, "Switch", [data, pred]) as name:
        data = conversion.convert_to_tensor_or_indexed_slices(data, dtype=dtype, name="data", as_ref=True)
        pred = conversion.convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            return apply_op("Switch", data=data, pred=pred, name=name)
        value_f, value_t = apply_op("Switch", data=data.values, pred=pred, name=name)
        index_f, index_t = apply_op("Switch", data=data.indices, pred=pred, name=name + "indices")
        shape_f = shape_t = None
        if data.dense_shape is not None:
            shape_f, shape_t = apply_op("Switch", data=data.dense_shape, pred=pred, name=name + "dense_shape")
        return IndexedSlices(value_f, index_f, shape_f), IndexedSlices(value_t, index_t, shape_t)


def switch_ref_or_tensor(data: Any, pred: Tensor, name: str = "Switch") -> Any:
    """A Switch beside `data`, keeping a reference a reference."""
    data = conversion.convert_to_tensor_or_indexed_slices(data, name="data", as_ref=True)
    with ops.colocate_with(data, ignore_existing=True):
        if isinstance(data, Tensor) and data.dtype._is_ref_dtype:
            return apply_op("RefSwitch", data=data, pred=pred, name=name)
        return switch(data, pred, name=name)


def merge(inputs: Any, name: str | None = None) -> Any:
    """(the input that is there in this run, its index)."""
    if any(inp is None for inp in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    with ops.name_scope(name, "Merge", inputs) as name:
        inputs = [conversion.convert_to_tensor_or_indexed_slices(inp, as_ref=True) for inp in inputs]
        if all(isinstance(inp, Tensor) for inp in inputs):
            if all(inp.dtype._is_ref_dtype for inp in inputs):
                return apply_op("RefMerge", inputs=inputs, name=name)
            return apply_op("Merge", inputs=inputs, name=name)
        slices = _as_slices(inputs)
        values, _ = apply_op("Merge", inputs=[part.values for part in slices])
        indices, index = apply_op("Merge", inputs=[part.indices for part in slices])
        shapes = [part.dense_shape for part in slices]
        shape = None
        if all(s is not None for s in shapes):
            shape, _ = apply_op("Merge", inputs=shapes)
        return IndexedSlices(values, indices, shape), index


def _as_slices(inputs: list[Any]) -> list[IndexedSlices]:
    """What meets slices of a tensor in a Merge are slices, too: a whole tensor is all of its own rows."""
    from tfsandbox.ops import math_ops
    slices = []
    for value in inputs:
        if not isinstance(value, IndexedSlices):
            shape = array_ops.shape_internal(value, optimize=False)
            value = IndexedSlices(value, math_ops.range(0, shape[0]), shape)
        slices.append(value)
    if any(part.indices.dtype == dtypes.int64 for part in slices):
        slices = [IndexedSlices(part.values, math_ops.cast(part.indices, dtypes.int64), part.dense_shape)
                  for part in slices]
    return slices


def ref_identity(data: Any, name: str | None = None) -> Tensor:
    """The same reference."""
    return apply_op("RefIdentity", input=data, name=name)


# ------------------------------------------------------------ Enter, Exit, NextIteration, LoopCond

_FRAME = "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10"
enter_op = register_op("Enter", "data: T -> output: T", _FRAME)
ref_enter_op = register_op("RefEnter", "data: ref(T) -> output: ref(T)", _FRAME)
exit_op = register_op("Exit", "data: T -> output: T", "T: type")
ref_exit_op = register_op("RefExit", "data: ref(T) -> output: ref(T)", "T: type")
next_iteration_op = register_op("NextIteration", "data: T -> output: T", "T: type")
ref_next_iteration_op = register_op("RefNextIteration", "data: ref(T) -> output: ref(T)", "T: type")
loop_cond_op = register_op("LoopCond", "input: bool -> output: bool", "").no_gradient()


@enter_op.shape
def _enter_shape(c: ShapeContext) -> TensorShape:
    # What enters a loop as a variable may change its shape there; the while context says what it keeps.
    return c.shape(0) if c.attr("is_constant") else UNKNOWN


for _op in (ref_enter_op, exit_op, ref_exit_op, next_iteration_op, ref_next_iteration_op, loop_cond_op):
    _op.shape(unchanged)


def enter(data: Any, frame_name: str, is_constant: bool = False, parallel_iterations: int = 10,
          use_ref: bool = True, use_input_shape: bool = True, name: str | None = None) -> Tensor:
    """`data` inside the loop's frame."""
    data = conversion.convert_to_tensor(data, as_ref=True)
    kind = "RefEnter" if data.dtype._is_ref_dtype and use_ref else "Enter"
    result = apply_op(kind, data=data, frame_name=frame_name, is_constant=is_constant,
                      parallel_iterations=parallel_iterations, name=name)
    if use_input_shape:
        result.set_shape(data.shape)
    return result


def exit(data: Tensor, name: str | None = None) -> Tensor:
    """`data` outside the loop's frame."""
    return apply_op("RefExit" if data.dtype._is_ref_dtype else "Exit", data=data, name=name)


def next_iteration(data: Any, name: str | None = None) -> Tensor:
    """`data` in the next iteration."""
    data = conversion.convert_to_tensor(data, as_ref=True)
    return apply_op("RefNextIteration" if data.dtype._is_ref_dtype else "NextIteration", data=data, name=name)


def is_loop_switch(op: Operation) -> bool:
    """Whether the node is the Switch of a loop variable."""
    if op.type not in ("Switch", "RefSwitch"):
        return False
    context = op._get_control_flow_context()
    return context is not None and context.is_while() and any(
        t.op.type == "LoopCond" for t in op.inputs)


# ------------------------------------------------------------ contexts


class ControlFlowContext:
    """What branches and loops share: the context around, and which tensors are known inside."""

    def __init__(self) -> None:
        self._outer_context: ControlFlowContext | None = get_default_graph()._get_control_flow_context()
        self._stack: list[Any] = []
        self._values: set[str] = set()
        self._external_values: dict[str, Tensor] = {}

    @property
    def outer_context(self) -> ControlFlowContext | None:
        return self._outer_context

    def is_while(self) -> bool:
        return False

    def while_context(self) -> Any:
        """The innermost loop this context is in."""
        context: Any = self
        while context is not None and not context.is_while():
            context = context._outer_context
        return context

    def Enter(self) -> None:
        """New nodes of the default graph are told to this context."""
        graph = get_default_graph()
        self._stack.append(graph._get_control_flow_context())
        graph._set_control_flow_context(self)

    def Exit(self) -> None:
        get_default_graph()._set_control_flow_context(self._stack.pop())

    def exit_result(self, result: Any) -> None:
        """Tell the context around that it may use the results."""
        if self._outer_context is not None:
            for leaf in nest.flatten(result, expand_composites=True):
                self._outer_context._values.add(leaf.name)

    def AddOp(self, op: Operation) -> None:
        raise NotImplementedError

    def AddValue(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def AddInnerOp(self, op: Operation) -> None:
        """A node was added to a context inside this one."""
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def _close(self, op: Operation) -> None:
        """What is inside cannot be fed or fetched, except a loop's exits; and the context around is told."""
        if self._outer_context is not None or op.type not in ("Exit", "RefExit"):
            op.graph.prevent_fetching(op)
            for tensor in op.outputs:
                op.graph.prevent_feeding(tensor)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def _mark_outputs(self, op: Operation) -> None:
        names = [t.name for t in op.outputs]
        context: ControlFlowContext | None = self
        while context is not None:
            context._values.update(names)
            context = context._outer_context

    def _remove_external_control_edges(self, op: Operation) -> list[Operation]:
        """Inside a loop, control inputs from outside it go; they are returned."""
        loop = self.while_context()
        if loop is None:
            return []
        internal: list[Operation] = []
        external: list[Operation] = []
        for control in op.control_inputs:
            context = output_context(control)
            while context is not None and context is not loop:
                context = context._outer_context
            (internal if context is loop else external).append(control)
        if external:
            op._remove_all_control_inputs()
            op._add_control_inputs(internal)
        return external


def output_context(op: Operation) -> Any:
    """The context that a node's outputs are in: an exit's are outside of its loop."""
    context = op._get_control_flow_context()
    if context is not None and op.type in ("Exit", "RefExit"):
        return context._outer_context
    return context


class CondContext(ControlFlowContext):
    """One branch of a cond."""

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int, name: str = "cond_text") -> None:
        super().__init__()
        self.name = get_default_graph().unique_name(name)
        self.pred, self.pivot, self.branch = pred, pivot, branch
        self._values.update([pred.name, pivot.name])
        self._external_values[pred.name] = pred
        pivot.op._set_control_flow_context(self)

    def AddValue(self, value: Tensor) -> Tensor:
        """`value` inside the branch: itself if it was made there, else behind a Switch."""
        if value.name in self._values:
            return self._external_values.get(value.name, value)
        result = value
        self._values.add(value.name)
        if self._outer_context is not None:
            result = self._outer_context.AddValue(value)
            self._values.add(result.name)
            self._external_values[result.name] = result
        with ops.control_dependencies(None):
            result = switch_ref_or_tensor(result, self.pred)[self.branch]
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(result.op)
        result.graph.prevent_fetching(result.op)
        result.op._set_control_flow_context(self)
        context: ControlFlowContext | None = self
        while context is not None:
            context._values.add(result.name)
            context = context._outer_context
        self._external_values[value.name] = result
        return result

    def AddOp(self, op: Operation) -> None:
        """A new node of the branch: its inputs come in, or it waits for the pivot."""
        if not op.inputs:
            self._remove_external_control_edges(op)
            if not any(c._get_control_flow_context() is self for c in op.control_inputs):
                op._add_control_input(self.pivot.op)
        else:
            for index, x in enumerate(op.inputs):
                real = x if op.type == "Merge" and x.op.type == "NextIteration" else self.AddValue(x)
                if real is not x:
                    op._update_input(index, real)
            self._remove_external_control_edges(op)
        self._mark_outputs(op)
        self._close(op)

    def build_branch(self, function: Callable[[], Any]) -> tuple[Any, Any]:
        """(what the function returned, the tensors for the Merge)."""
        from tfsandbox.ops import control_flow_ops
        graph = get_default_graph()
        summaries = graph.get_collection_ref("_SUMMARY_V2")
        before = list(summaries)
        original = function()
        new = summaries[len(before):]
        if new:
            summaries[:] = before
            with ops.control_dependencies(new):
                if original is None:
                    return control_flow_ops.no_op(), None
                if not isinstance(original, Operation):
                    original = nest.map_structure(array_ops.identity, original)
        if original is None:
            return None, None
        result = nest.map_structure(self._result, original, expand_composites=True)
        return original, result if isinstance(result, (list, tuple)) else [result]

    def _result(self, value: Any) -> Tensor:
        from tfsandbox.ops import control_flow_ops
        from tfsandbox.ops.tensor_array_ops import flows_of
        if isinstance(value, Operation):
            return control_flow_ops.with_dependencies([value], self.pivot)
        return self._process_output(conversion.convert_to_tensor(flows_of([value])[0]))

    def _process_output(self, value: Tensor) -> Tensor:
        if value.name in self._values:
            return self._external_values.get(value.name, value)
        # The branch returned something made outside of it.
        real = value
        self._values.add(value.name)
        if self._outer_context is not None:
            real = self._outer_context.AddValue(value)
            self._values.add(real.name)
            self._external_values[real.name] = real
        real = switch_ref_or_tensor(real, self.pred)[self.branch]
        self._external_values[value.name] = real
        return real
