"""apply_op: from Python arguments to a node, by the op's schema.

Every public function in `ops/` ends here: inputs are converted under the node's name scope (so that a Python
number becomes the constant `Add/y`), types are inferred from the inputs, attributes are checked.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import conversion, dtypes, op_registry
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape


def apply_op(op_type: str, *, name: str | None = None, **arguments: Any) -> Any:
    """Add a node of this type to the graph and return its output.

    `arguments` are inputs and attributes by their names in the schema. One output gives a Tensor (a list where the
    schema says list), none gives the Operation, several give a list.

    Raises `TypeError` and `ValueError` in TensorFlow's words where an argument does not fit.
    """
    return _outputs(apply_op_helper(op_type, name, arguments))


def apply_operation(op_type: str, *, name: str | None = None, **arguments: Any) -> Operation:
    """As `apply_op`, giving the Operation itself."""
    return apply_op_helper(op_type, name, arguments)


def apply_op_helper(op_type: str, name: str | None, arguments: dict[str, Any]) -> Operation:
    """The node for inputs and attributes given by name; what `apply_op` is made of."""
    definition = op_registry.get(op_type)
    flat = []
    for value in arguments.values():
        flat += list(value) if isinstance(value, (list, tuple)) else [value]
    graph = conversion.graph_from_inputs(flat)
    for arg in definition.inputs:
        if arg.name not in arguments:
            raise ValueError(f"Input '{arg.name}' is missing from the arguments of op '{op_type}'.")
    known = {arg.name for arg in definition.inputs} | set(definition.attrs)
    for key in arguments:
        if key not in known:
            raise TypeError(f"apply_op() got unexpected keyword arguments: {key}")
    with graph.as_default(), graph.name_scope(name or op_type) as scope:
        attrs: dict[str, Any] = {}
        inferred_from: dict[str, str] = {}
        inputs: list[Tensor] = []
        ref_inputs: list[Tensor] = []
        for arg in definition.inputs:
            values = arguments[arg.name]
            if arg.is_list:
                converted = _convert_list(definition, arg, values, attrs, arguments, inferred_from)
            else:
                converted = [_convert_one(definition, arg, values, attrs, arguments, inferred_from)]
            _infer(definition, arg, converted, attrs, inferred_from)
            inputs += converted
            if arg.is_ref:
                ref_inputs += converted
        for attr in definition.attrs.values():
            if attr.name in attrs:
                continue
            value = arguments.get(attr.name)
            if value is None:
                if attr.default is op_registry.REQUIRED:
                    if attr.name in arguments and attr.type in ("shape",):
                        attrs[attr.name] = TensorShape(None)
                        continue
                    raise TypeError(f"Missing required attribute '{attr.name}' of op '{op_type}'.")
                attrs[attr.name] = attr.default
            else:
                attrs[attr.name] = _convert_attr(definition, attr, value)
        ordered = {attr: attrs[attr] for attr in definition.attrs}
        with contextlib.ExitStack() as stack:
            # A node that takes a variable's storage lives beside the variable.
            for tensor in ref_inputs:
                stack.enter_context(graph.colocate_with(tensor.op))
            return graph.create_op(op_type, inputs, name=scope or None, attrs=ordered)


def _outputs(op: Operation) -> Any:
    definition = op._op_def
    if not definition.outputs:
        return op
    groups: list[Any] = []
    at = 0
    for arg in definition.outputs:
        if not arg.is_list:
            groups.append(op.outputs[at])
            at += 1
            continue
        count = arg.count(op._attrs)
        groups.append(op.outputs[at:at + count])
        at += count
    if len(groups) == 1:
        # A list output that is empty stands for the node itself, as for a PyFunc without outputs.
        return groups[0] if not definition.outputs[0].is_list or groups[0] else op
    return groups


def _convert_one(definition: op_registry.OpDef, arg: op_registry.ArgDef, value: Any, attrs: dict[str, Any],
                 arguments: dict[str, Any], inferred_from: dict[str, str]) -> Tensor:
    dtype = arg.type
    default = None
    if arg.type_attr is not None:
        if arg.type_attr in attrs:
            dtype = attrs[arg.type_attr]
        elif arguments.get(arg.type_attr) is not None:
            dtype = None
        fallback = definition.attrs[arg.type_attr].default
        default = fallback if fallback is not op_registry.REQUIRED else None
    try:
        return conversion.convert_to_tensor(value, dtype=dtype, name=arg.name, preferred_dtype=default,
                                            as_ref=arg.is_ref)
    except TypeError as error:
        if dtype is None:
            raise
        raise TypeError(f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{definition.name}', got "
                        f"{value!r} of type '{type(value).__name__}' instead. Error: {error}") from None
    except ValueError:
        try:
            observed = conversion.convert_to_tensor(value, as_ref=arg.is_ref).dtype.name
        except ValueError as error:
            raise ValueError(f"Tried to convert '{arg.name}' to a tensor and failed. Error: {error}") from None
        prefix = (f"Input '{arg.name}' of '{definition.name}' Op has type {observed} that does not match")
        if arg.type is not None:
            raise TypeError(f"{prefix} expected type of {arg.type.name}.") from None
        assert arg.type_attr is not None
        source = inferred_from.get(arg.type_attr, "Default in OpDef")
        known = attrs.get(arg.type_attr, default)
        raise TypeError(f"{prefix} type {getattr(known, 'name', known)} of argument '{source}'.") from None


def _in_snake_case(op_type: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", op_type).lower()


def _convert_list(definition: op_registry.OpDef, arg: op_registry.ArgDef, values: Any, attrs: dict[str, Any],
                  arguments: dict[str, Any], inferred_from: dict[str, str]) -> list[Tensor]:
    if not isinstance(values, (list, tuple)):
        raise TypeError(
            f"Expected list for '{arg.name}' argument to '{_in_snake_case(definition.name)}' Op, not {values}.")
    dtype, preferred = arg.type, None
    if arg.number_attr is not None:
        if arg.number_attr in attrs and len(values) != attrs[arg.number_attr]:
            raise ValueError(f"List argument '{arg.name}' to '{_in_snake_case(definition.name)}' Op with length "
                             f"{len(values)} must match length {attrs[arg.number_attr]} of argument "
                             f"'{inferred_from[arg.number_attr]}'.")
        minimum = definition.attrs[arg.number_attr].minimum
        if minimum is not None and len(values) < minimum:
            raise ValueError(f"List argument '{arg.name}' to '{definition.name}' Op with length {len(values)} shorter "
                             f"than minimum length {minimum}.")
        if arg.type_attr is not None:
            dtype = attrs.get(arg.type_attr)
            if dtype is None:
                dtype = next((v.dtype if arg.is_ref else v.dtype.base_dtype
                              for v in values if isinstance(v, Tensor)), None)
            fallback = definition.attrs[arg.type_attr].default
            preferred = fallback if fallback is not op_registry.REQUIRED else None
    elif arg.type_list_attr is not None and arguments.get(arg.type_list_attr) is not None:
        wanted = arguments[arg.type_list_attr]
        if len(wanted) == len(values):
            return [conversion.convert_to_tensor(v, dtype=t, name=f"{arg.name}_{i}", as_ref=arg.is_ref)
                    for i, (v, t) in enumerate(zip(values, wanted))]
    try:
        return conversion.convert_n_to_tensor(
            values, name=arg.name, dtype=dtype.base_dtype if dtype is not None and not arg.is_ref else dtype,
            preferred_dtype=preferred, as_ref=arg.is_ref)
    except (TypeError, ValueError):
        prefix = f"Tensors in list passed to '{arg.name}' of '{definition.name}' Op have types"
        types = []
        for value in values:
            try:
                types.append(conversion.convert_to_tensor(value, as_ref=arg.is_ref).dtype.name)
            except (TypeError, ValueError):
                types.append("<NOT CONVERTIBLE TO TENSOR>")
        listed = f"[{', '.join(types)}]"
        if arg.type is not None:
            raise TypeError(f"{prefix} {listed} that do not match expected type {arg.type.name}.") from None
        if arg.type_attr in attrs:
            raise TypeError(f"{prefix} {listed} that do not match type {attrs[arg.type_attr].name} inferred from "
                            f"earlier arguments.") from None
        raise TypeError(f"{prefix} {listed} that don't all match.") from None


def _infer(definition: op_registry.OpDef, arg: op_registry.ArgDef, converted: Sequence[Tensor],
           attrs: dict[str, Any], inferred_from: dict[str, str]) -> None:
    """Set the attributes that follow from an input: its type, its types, their number."""
    if arg.number_attr is not None and arg.number_attr not in attrs:
        attrs[arg.number_attr] = len(converted)
        inferred_from[arg.number_attr] = arg.name
    types = [tensor.dtype.base_dtype for tensor in converted]
    if arg.type_list_attr is not None:
        if arg.type_list_attr in attrs:
            if attrs[arg.type_list_attr] != types:
                raise TypeError(f"Input '{arg.name}' of '{definition.name}' Op has type list of "
                                f"{[t.name for t in types]} that does not match type list "
                                f"{[t.name for t in attrs[arg.type_list_attr]]} of argument "
                                f"'{inferred_from[arg.type_list_attr]}'.")
        else:
            minimum = definition.attrs[arg.type_list_attr].minimum
            if minimum is not None and len(types) < minimum:
                raise ValueError(f"List argument '{arg.name}' to '{definition.name}' Op with length {len(types)} "
                                 f"shorter than minimum length {minimum}.")
            attrs[arg.type_list_attr] = types
            inferred_from[arg.type_list_attr] = arg.name
            _check_allowed(definition, definition.attrs[arg.type_list_attr], types, arg.name)
    elif arg.type_attr is not None and converted:
        base = types[0]
        if arg.type_attr in attrs:
            if attrs[arg.type_attr] != base:
                raise TypeError(f"Input '{arg.name}' of '{definition.name}' Op has type {base.name} that does not "
                                f"match type {attrs[arg.type_attr].name} of argument "
                                f"'{inferred_from[arg.type_attr]}'.")
        else:
            attrs[arg.type_attr] = base
            inferred_from[arg.type_attr] = arg.name
            _check_allowed(definition, definition.attrs[arg.type_attr], base, arg.name)
    if arg.is_ref and not all(tensor.dtype._is_ref_dtype for tensor in converted):
        bad = next(tensor for tensor in converted if not tensor.dtype._is_ref_dtype)
        raise TypeError(f"'{definition.name}' Op requires that input '{arg.name}' be a mutable tensor (e.g.: a "
                        f"tf.Variable), not {bad}")


def _check_allowed(definition: op_registry.OpDef, attr: op_registry.AttrDef, value: Any, parameter: str) -> None:
    if attr.allowed is None or attr.type not in ("type", "list(type)"):
        return
    for dtype in value if isinstance(value, list) else [value]:
        if dtype not in attr.allowed:
            allowed = ", ".join(t.name for t in attr.allowed)
            raise TypeError(f"Value passed to parameter '{parameter}' has DataType {dtype.name} not in list of "
                            f"allowed values: {allowed}")


def _convert_attr(definition: op_registry.OpDef, attr: op_registry.AttrDef, value: Any) -> Any:
    kind = attr.type
    if kind.startswith("list("):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for attr {attr.name}")
        if attr.minimum is not None and len(value) < attr.minimum:
            raise ValueError(f"Attr '{attr.name}' of '{definition.name}' Op passed list of length {len(value)} less "
                             f"than minimum {attr.minimum}.")
        converted = [_convert_scalar(definition, attr, item, kind[5:-1]) for item in value]
        _check_allowed(definition, attr, converted, attr.name)
        return converted
    converted = _convert_scalar(definition, attr, value, kind)
    if kind == "type":
        _check_allowed(definition, attr, converted, attr.name)
    elif kind == "string" and attr.allowed is not None and converted not in attr.allowed:
        allowed = '", "'.join(a.decode() for a in attr.allowed)
        raise ValueError(f"Attr '{attr.name}' of '{definition.name}' Op passed string '{converted.decode()}' not in: "
                         f'"{allowed}".')
    elif kind == "int" and attr.minimum is not None and converted < attr.minimum:
        raise ValueError(f"Attr '{attr.name}' of '{definition.name}' Op passed {converted} less than minimum "
                         f"{attr.minimum}.")
    return converted


def _convert_scalar(definition: op_registry.OpDef, attr: op_registry.AttrDef, value: Any, kind: str) -> Any:
    def expected(what: str) -> TypeError:
        return TypeError(f"Expected {what} for argument '{attr.name}' not {value!r}.")

    if kind == "type":
        return dtypes.as_dtype(value).base_dtype
    if kind == "shape":
        return value if isinstance(value, TensorShape) else TensorShape(value)
    if kind == "int":
        if isinstance(value, (str, bytes)):
            raise expected("int")
        try:
            return int(value)
        except (TypeError, ValueError, NotImplementedError):
            raise expected("int") from None
    if kind == "float":
        if isinstance(value, (str, bytes)):
            raise expected("float")
        try:
            # The attribute is a float32 in the graph.
            return float(np.float32(value))
        except (TypeError, ValueError, NotImplementedError):
            raise expected("float") from None
    if kind == "bool":
        if not isinstance(value, (bool, np.bool_)):
            raise expected("bool")
        return bool(value)
    if kind == "string":
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, bytes):
            return value
        raise expected("string")
    if kind == "tensor":
        from tfsandbox.framework import tensor_util
        return value if isinstance(value, np.ndarray) else tensor_util.make_ndarray(value)
    return value
