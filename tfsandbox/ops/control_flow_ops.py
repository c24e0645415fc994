"""Ordering and branching: groups, control dependencies, cond, case, while_loop, Assert.

`cond` and `while_loop` are built as TensorFlow 1 builds them, from Switch, Merge, Enter, Exit and NextIteration; the
contexts that route tensors into branches and loop bodies are in `control_flow_context.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfsandbox.framework import conversion, dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import (
    array_ops,
    control_flow_protos,  # noqa: F401 - how contexts are written to a MetaGraphDef
    math_ops,
)
from tfsandbox.ops.control_flow_context import (  # noqa: F401
    CondContext,
    ControlFlowContext,
    is_loop_switch,
    merge,
    ref_identity,
    switch,
    switch_ref_or_tensor,
)
from tfsandbox.ops.tensor_array_ops import pack_with_flows
from tfsandbox.ops.while_context import WhileContext
from tfsandbox.util import nest

__all__ = ["Assert", "case", "cond", "group", "no_op", "tuple", "while_loop"]

# ------------------------------------------------------------ NoOp, ControlTrigger, Assert

no_op_op = register_op("NoOp", "->", "")
control_trigger_op = register_op("ControlTrigger", "->", "")
assert_op = register_op("Assert", "condition: bool, data: T ->", "T: list(type) >= 1; summarize: int = 3",
                        stateful=True).no_gradient()
abort_op = register_op("Abort", "->", "error_msg: string = ''; exit_without_error: bool = false")


@assert_op.kernel
def _assert(condition: Any, data: list[Any], *, summarize: int) -> Any:
    if not condition:
        from tfsandbox.framework import errors
        from tfsandbox.ops.logging_ops import summarized
        text = " ".join(f"[{summarized(value, summarize)}]" for value in data)
        raise errors.InvalidArgumentError(None, None, f"assertion failed: {text}")
    return ()


def no_op(name: str | None = None) -> Operation:
    """A node that does nothing; control dependencies give it its use."""
    return apply_op("NoOp", name=name)


def control_trigger(name: str | None = None) -> Operation:
    """A node that does nothing and runs even behind dead inputs."""
    return apply_op("ControlTrigger", name=name)


def Assert(condition: Any, data: list[Any], summarize: int | None = None, name: str | None = None) -> Operation:
    """A node that raises `InvalidArgumentError` with `data` in the text when it runs and `condition` is false."""
    with ops.name_scope(name, "Assert", [condition, data]):
        tensors = conversion.convert_n_to_tensor(data)
        if all(t.dtype.base_dtype in (dtypes.string, dtypes.int32) for t in tensors):
            return apply_op("Assert", condition=condition, data=data, summarize=summarize, name="Assert")
        condition = ops.convert_to_tensor(condition, name="Condition")

        def fail() -> Operation:
            return apply_op("Assert", condition=condition, data=data, summarize=summarize, name="Assert")
        return cond(condition, no_op, fail, name="AssertGuard").op


# ------------------------------------------------------------ ordering


def identity(data: Any, name: str | None = None) -> Any:
    """`data` again, as a reference where it is one; IndexedSlices too."""
    data = conversion.convert_to_tensor_or_indexed_slices(data, as_ref=True)
    if isinstance(data, Tensor):
        return ref_identity(data, name=name) if data.dtype._is_ref_dtype else array_ops.identity(data, name=name)
    if isinstance(data, IndexedSlices):
        return IndexedSlices(identity(data.values, name=name), data.indices, data.dense_shape)
    return type(data)(data.indices, identity(data.values, name=name), data.dense_shape)


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """`output_tensor`, available only after `dependencies` have run."""
    with ops.name_scope(name, "control_dependency", [*dependencies, output_tensor]) as name:
        with ops.colocate_with(output_tensor), ops.control_dependencies(dependencies):
            output_tensor = conversion.convert_to_tensor_or_indexed_slices(output_tensor)
            if isinstance(output_tensor, Tensor):
                return identity(output_tensor, name=name)
            return IndexedSlices(identity(output_tensor.values, name=name), output_tensor.indices,
                                 output_tensor.dense_shape)


def group(*inputs: Any, name: str | None = None, **kwargs: Any) -> Operation:
    """A node that has run when all `inputs` have."""
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    flat = nest.flatten(inputs, expand_composites=True)
    with ops.name_scope(name, "group_deps", flat) as name:
        if not flat:
            return no_op(name=name)
        by_device: dict[str, list[Any]] = {}
        for item in flat:
            if not hasattr(item, "device"):
                raise TypeError(f"Expected tf.group() expected Tensor objects not {item!r}, which has type "
                                f"{type(item)}")
            by_device.setdefault(item.device or "", []).append(item)
        if len(by_device) == 1:
            (device, members), = by_device.items()
            return _group_on(device, members, name)
        groups = [_group_on(device, by_device[device], None) for device in sorted(by_device)]
        with ops.control_dependencies(groups):
            return no_op(name=name)


def _group_on(device: str, members: list[Any], name: str | None) -> Operation:
    with ops.control_dependencies(members):
        if not device:
            return no_op(name=name)
        with ops.device(device):
            return no_op(name=name)


def tuple(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """The tensors again, each available only when all of them (and `control_inputs`) are."""
    with ops.name_scope(name, "tuple", tensors) as name:
        tensors = [t if t is None or isinstance(t, (Operation, Tensor, IndexedSlices))
                   else ops.convert_to_tensor(t) for t in tensors]
        gating = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for control in control_inputs or []:
            if isinstance(control, Tensor):
                control = control.op
            elif not isinstance(control, Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {control}")
            gating.append(control)
        gating = sorted(set(gating), key=lambda op: op._id)
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*gating)
        result: list[Any] = []
        for tensor in tensors:
            if tensor is None:
                result.append(None)
            elif isinstance(tensor, Operation):
                with ops.control_dependencies([gate]):
                    result.append(no_op())
            else:
                result.append(with_dependencies([gate], tensor))
        return result


# ------------------------------------------------------------ cond and case


def _unpack_if_singleton(result: Any) -> Any:
    if isinstance(result, (list, type(()))) and not hasattr(result, "_fields") and len(result) == 1:
        return result[0]
    return result


def cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
         strict: bool = False, name: str | None = None, fn1: Callable[[], Any] | None = None,
         fn2: Callable[[], Any] | None = None) -> Any:
    """`true_fn()` if `pred` is true in the run, else `false_fn()`; only one of them runs.

    Both must return the same nesting of tensors of the same types. Raises `TypeError` for arguments that are no
    functions, `ValueError` where the results do not match.
    """
    if fn1 is not None:
        if true_fn is not None:
            raise TypeError("cond(): true_fn and fn1 may not be set simultaneously.")
        true_fn = fn1
    elif true_fn is None:
        raise TypeError("cond(): true_fn argument required")
    if fn2 is not None:
        if false_fn is not None:
            raise TypeError("cond(): false_fn and fn2 may not be set simultaneously.")
        false_fn = fn2
    elif false_fn is None:
        raise TypeError("cond(): false_fn argument required")
    if not callable(true_fn):
        raise TypeError("true_fn must be callable.")
    if not callable(false_fn):
        raise TypeError("false_fn must be callable.")
    with ops.name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        p_2, p_1 = switch(pred, pred)
        pivot_1 = array_ops.identity(p_1, name="switch_t")
        pivot_2 = array_ops.identity(p_2, name="switch_f")
        pred = array_ops.identity(pred, name="pred_id")
        graph = pred.graph
        # What exists on one branch only cannot be fetched.
        for tensor in (p_1, p_2, pivot_1, pivot_2, pred):
            graph.prevent_fetching(tensor.op)
        original_t, result_t, context_t = _branch(pred, pivot_1, 1, true_fn, "true_fn")
        original_f, result_f, context_f = _branch(pred, pivot_2, 0, false_fn, "false_fn")
        if not strict:
            original_t, original_f = _unpack_if_singleton(original_t), _unpack_if_singleton(original_f)
        try:
            nest.assert_same_structure(original_t, original_f, expand_composites=True)
        except TypeError as error:
            raise TypeError(f"Incompatible return types of true_fn and false_fn: {error}") from None
        except ValueError as error:
            raise ValueError(f"Incompatible return values of true_fn and false_fn: {error}") from None
        if not result_t:
            raise ValueError("true_fn and false_fn must return at least one result.")
        flat_t = nest.flatten(result_t, expand_composites=True)
        flat_f = nest.flatten(result_f, expand_composites=True)
        for x, y in zip(flat_t, flat_f):
            if x.dtype.base_dtype != y.dtype.base_dtype:
                raise ValueError(f"Outputs of true_fn and false_fn must have the same type: {x.dtype.name}, "
                                 f"{y.dtype.name}")
        merges = [merge(pair)[0] for pair in zip(flat_f, flat_t)]
        if context_t.outer_context is None:
            graph.add_to_collection(GraphKeys.COND_CONTEXT, context_t)
            graph.add_to_collection(GraphKeys.COND_CONTEXT, context_f)
        packed = pack_with_flows(original_t, merges)
        return packed if strict else _unpack_if_singleton(packed)


def _branch(pred: Tensor, pivot: Tensor, branch: int, function: Callable[[], Any],
            argument: str) -> Any:
    context = CondContext(pred, pivot, branch)
    context.Enter()
    try:
        original, result = context.build_branch(function)
        if original is None:
            raise ValueError(f"{argument} must have a return value.")
        context.exit_result(result)
    finally:
        context.Exit()
    return original, result, context



def case(pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False, strict: bool = False,
         name: str = "case") -> Any:
    """The result of the first function whose predicate is true in the run, else of `default`.

    `pred_fn_pairs` is a list of pairs or a dict. With `exclusive`, two true predicates are an error of the run.
    """
    predicates, actions = _checked_pairs(pred_fn_pairs, exclusive)
    with ops.name_scope(name, "case", [predicates]):
        if default is None:
            default, predicates, actions = _last_as_default(predicates, actions)
        function = default
        # Built from the last to the first, so that the first is asked first.
        for predicate, action in reversed(list(zip(predicates, actions))):
            function = functools.partial(cond, predicate, true_fn=action, false_fn=function, strict=strict)
        if exclusive:
            with ops.control_dependencies([_at_most_true(predicates, 1, "Input error: exclusive=True")]):
                return function()
        return function()


def _checked_pairs(pred_fn_pairs: Any, exclusive: bool) -> Any:
    if not isinstance(pred_fn_pairs, (list, type(()), dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pred_fn_pairs, dict):
        import collections
        if not isinstance(pred_fn_pairs, collections.OrderedDict):
            pred_fn_pairs = sorted(pred_fn_pairs.items(), key=lambda pair: pair[0].name)
        else:
            pred_fn_pairs = list(pred_fn_pairs.items())
    for pair in pred_fn_pairs:
        if not isinstance(pair, type(())) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        predicate, function = pair
        if not isinstance(predicate, Tensor):
            raise TypeError(f"pred must be Tensor, got {type(predicate)}")
        if predicate.dtype != dtypes.bool:
            raise TypeError(f"pred must be of type bool: {predicate.name}")
        if not callable(function):
            raise TypeError(f"fn for pred {predicate.name} must be callable.")
    return [p for p, _ in pred_fn_pairs], [f for _, f in pred_fn_pairs]


def _last_as_default(predicates: list[Any], actions: list[Any]) -> Any:
    k = len(predicates) - 1
    predicate, action = predicates[k], actions[k]
    others, other_actions = predicates[:k], actions[:k]

    def default() -> Any:
        message = (f"Implementation error: selected default action #{k} was called, but some of other predicates are "
                   f"True: ")
        data = ["Input error: None of conditions evaluated as True:", array_ops.stack(predicates, name="preds_c")]
        with ops.control_dependencies([_at_most_true(others, 0, message), Assert(predicate, data)]):
            return action()
    return default, others, other_actions


def _at_most_true(predicates: list[Tensor], limit: int, message: str) -> Operation:
    """A node that fails where more than `limit` predicates are true in the run."""
    stacked = array_ops.stack(predicates, name="preds_c")
    count = math_ops.reduce_sum(math_ops.cast(stacked, dtypes.int32), name="num_true_conds")
    condition = math_ops.less_equal(count, constant(limit, name="n_true_conds"))
    names = ", ".join(p.name for p in predicates)
    return Assert(condition, [f"{message}: more than {limit} conditions ({names}) evaluated as True:", stacked],
                  summarize=len(predicates))


def smart_cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """The branch itself where `pred` is known while the graph is built, else a `cond`."""
    value = smart_constant_value(pred)
    if value is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if value else false_fn()


def smart_constant_value(pred: Any) -> bool | None:
    """The truth of `pred` where it is known while the graph is built, else None."""
    if isinstance(pred, Tensor):
        from tfsandbox.framework.shape_inference import constant_value
        value = constant_value(pred)
        return None if value is None else bool(value)
    if pred in (0, 1):
        return bool(pred)
    if isinstance(pred, bool):
        return pred
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


def zeros_like_outside_loop(op: Operation, index: int) -> Tensor:
    """Zeros for an output that no gradient reached; in a branch they are made only where that branch runs."""
    value = op.outputs[index]
    context = op._get_control_flow_context()
    if op.type not in ("Switch", "RefSwitch") or context is None:
        return array_ops.zeros_like(value, optimize=False)
    other = switch(op.inputs[0], context.pred)[1 - context.branch]
    pivot = array_ops.identity(other)
    shape = array_ops.shape_internal(other, optimize=False)
    with ops.control_dependencies([pivot]):
        return array_ops.zeros(shape, dtype=value.dtype.base_dtype)


# ------------------------------------------------------------ while_loop


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               name: str | None = None, maximum_iterations: Any = None, return_same_structure: bool = False) -> Any:
    """`loop_vars = body(*loop_vars)` as long as `cond(*loop_vars)` is true in the run; the last loop_vars.

    Raises `ValueError` where the body changes a variable's shape or structure beyond `shape_invariants`, `TypeError`
    where `cond` or `body` are no functions.
    """
    with ops.name_scope(name, "while", loop_vars if isinstance(loop_vars, (list, type(()))) else [loop_vars]):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        if not callable(cond):
            raise TypeError("cond must be callable.")
        if not callable(body):
            raise TypeError("body must be callable.")
        if parallel_iterations < 1:
            raise TypeError("parallel_iterations must be a positive integer.")
        if shape_invariants is not None:
            nest.assert_same_structure(loop_vars, shape_invariants)
        try_to_pack = len(loop_vars) == 1 and not return_same_structure
        if maximum_iterations is not None:
            maximum_iterations = ops.convert_to_tensor(maximum_iterations, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError(f"maximum_iterations must be a scalar, saw shape: {maximum_iterations.shape}")
            counter = constant(0, dtype=maximum_iterations.dtype, name="iteration_counter")
            original_cond, original_body = cond, body
            if try_to_pack:
                loop_vars = (counter, loop_vars[0])
                cond = lambda i, lv: math_ops.logical_and(i < maximum_iterations, original_cond(lv))  # noqa: E731
                body = lambda i, lv: (i + 1, original_body(lv))  # noqa: E731
            else:
                loop_vars = (counter, loop_vars)
                cond = lambda i, lv: math_ops.logical_and(i < maximum_iterations, original_cond(*lv))  # noqa: E731
                body = lambda i, lv: (i + 1, original_body(*lv))  # noqa: E731
            if shape_invariants is not None:
                invariants = shape_invariants[0] if try_to_pack else shape_invariants
                shape_invariants = (TensorShape([]), invariants)
            try_to_pack = False
        context = WhileContext(maximum_iterations=maximum_iterations, parallel_iterations=parallel_iterations,
                               back_prop=back_prop, swap_memory=swap_memory)
        if context.outer_context is None:
            get_default_graph().add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result = context.build_loop(cond, body, loop_vars, shape_invariants, return_same_structure)
        return result[1] if maximum_iterations is not None else result


# ------------------------------------------------------------ gradients of Switch, Merge and loops

from tfsandbox.ops import control_flow_grad as _grad  # noqa: E402,F401
