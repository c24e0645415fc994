"""The op registry: what every op takes, gives, computes, and how it is differentiated.

An op is one block in `ops/`: a schema, a shape rule, a numpy kernel and a gradient, all hung on
the `OpDef` that `register_op` returns::

    matmul_op = register_op("MatMul", "a: T, b: T -> product: T",
                            "transpose_a: bool = false; transpose_b: bool = false; T: type in {...}")

    @matmul_op.shape
    def _matmul_shape(c): ...

    @matmul_op.kernel
    def _matmul(a, b, *, transpose_a, transpose_b): ...

    @matmul_op.gradient
    def _matmul_grad(op, grad): ...

Planner, importer, views and tests read ops only from here.

The schema language is that of TensorFlow's op list:

* arguments `name: T` (a type attr), `name: float32` (a fixed type), `name: N*T` (a list of N tensors of
  one type), `name: Tlist` (a list with its own types), `name: ref(T)` (a reference to a variable);
* attributes `name: kind = default`, separated by `;`, where kind is `int`, `float`, `bool`, `string`, `type`,
  `shape`, `tensor`, `func` or `list(...)` of one, followed by `>= n` or `in {a, b}` where limited.
  `numbertype`, `realnumbertype` and `floattype` stand for TensorFlow's usual sets of types. The default of a
  `tensor` is its type and its numbers: `uint8[255, 0]`.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsandbox.framework import dtypes

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()
"""Stands where an attribute has no default."""

_TYPE_SETS = {
    "numbertype": "float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
                  "bfloat16, uint16, complex128, float16, uint32, uint64",
    "realnumbertype": "float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, "
                      "uint32, uint64",
    "floattype": "bfloat16, float16, float32, float64",
}


@dataclass(frozen=True)
class ArgDef:
    """One input or output argument of an op; exactly one of `type`, `type_attr`, `type_list_attr` is set."""

    name: str
    type: dtypes.DType | None = None
    type_attr: str | None = None
    type_list_attr: str | None = None
    number_attr: str | None = None
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        return self.number_attr is not None or self.type_list_attr is not None

    def count(self, attrs: dict[str, Any]) -> int:
        """How many tensors the argument is in a node with these attributes."""
        if self.number_attr is not None:
            return attrs[self.number_attr]
        return len(attrs[self.type_list_attr]) if self.type_list_attr is not None else 1


@dataclass(frozen=True)
class AttrDef:
    """One attribute of an op. `default` is `REQUIRED` where there is none."""

    name: str
    type: str
    default: Any = REQUIRED
    allowed: tuple[Any, ...] | None = None
    minimum: int | None = None


def _parse_value(text: str, kind: str) -> Any:
    text = text.strip()
    if kind.startswith("list("):
        inner = kind[5:-1]
        body = text[1:-1].strip()
        return [_parse_value(part, inner) for part in _split(body, ",")] if body else []
    if kind == "string":
        return ast.literal_eval(text).encode()
    if kind == "bool":
        return text == "true"
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind == "type":
        return dtypes.as_dtype(text)
    if kind == "shape":
        from tfsandbox.framework.tensor_shape import TensorShape
        if text == "unknown":
            return TensorShape(None)
        return TensorShape([None if d.strip() == "?" else int(d) for d in text[1:-1].split(",") if d.strip()])
    if kind == "tensor":
        import numpy as np
        type_name, _, numbers = text.partition("[")
        array = np.array([float(n) for n in numbers[:-1].split(",")], dtypes.as_dtype(type_name).as_numpy_dtype)
        array.flags.writeable = False
        return array
    raise ValueError(f"an attribute of kind {kind!r} cannot have the default {text!r}")


def _split(text: str, separator: str) -> list[str]:
    """Split at separators that stand outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, char in enumerate(text):
        if quote:
            if char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


_ATTR = re.compile(r"(?P<name>\w+): (?P<kind>list\(\w+\)|\w+)"
                   r"(?: in \{(?P<allowed>[^}]*)\})?(?: >= (?P<minimum>-?\d+))?(?: = (?P<default>.*))?$", re.S)


def _parse_attr(text: str) -> AttrDef:
    match = _ATTR.match(" ".join(text.split()))
    if not match:
        raise ValueError(f"not an attribute: {text!r}")
    kind = match["kind"]
    inner = kind[5:-1] if kind.startswith("list(") else kind
    allowed = None
    if match["allowed"] is not None:
        names: list[str] = []
        for name in _split(match["allowed"], ","):
            names += _split(_TYPE_SETS[name], ",") if name in _TYPE_SETS else [name]
        allowed = tuple(_parse_value(name, inner) for name in names)
    default = REQUIRED if match["default"] is None else _parse_value(match["default"], kind)
    minimum = None if match["minimum"] is None else int(match["minimum"])
    return AttrDef(match["name"], kind, default, allowed, minimum)


def _parse_arg(text: str, attrs: dict[str, AttrDef]) -> ArgDef:
    name, _, kind = (part.strip() for part in text.partition(":"))
    is_ref = kind.startswith("ref(")
    if is_ref:
        kind = kind[4:-1].strip()
    number = None
    if "*" in kind:
        number, kind = (part.strip() for part in kind.split("*"))
    if kind in attrs:
        if attrs[kind].type == "list(type)":
            return ArgDef(name, type_list_attr=kind, is_ref=is_ref)
        return ArgDef(name, type_attr=kind, number_attr=number, is_ref=is_ref)
    return ArgDef(name, type=dtypes.as_dtype(kind), number_attr=number, is_ref=is_ref)


class OpDef:
    """Schema and behaviour of one op type.

    Behaviour, each set by the decorator of that name:

    * `shape_fn(c) -> TensorShape | list[TensorShape]`: see `shape_inference.ShapeContext`;
    * `kernel_fn(*inputs, **attrs)`: numpy in, numpy out (a tuple for several outputs). Its keyword-only parameters
      name the attributes it wants. A list argument arrives as one Python list, a ref argument as the
      variable's `Ref`, and a keyword `state` as what `state_fn` made;
    * `emit_fn(node) -> str | None`: an inline Python expression for the kernel, with `{0}`, `{1}` for the inputs;
      None falls back to calling the kernel;
    * `state_fn(op, session_state) -> object`: made once a session and node (random streams, queues, ...);
    * `gradient_fn(op, *grads) -> list`: graph construction. `not_differentiable` says there is none on purpose.
    """

    def __init__(self, name: str, signature: str, attrs: str, *, stateful: bool, commutative: bool,
                 aggregate: bool, allows_uninitialized_input: bool) -> None:
        self.name = name
        self._signature, self._attr_text = signature, attrs
        self.is_stateful = stateful
        self.is_commutative = commutative
        self.is_aggregate = aggregate
        self.allows_uninitialized_input = allows_uninitialized_input
        self.shape_fn: Callable[..., Any] | None = None
        self.kernel_fn: Callable[..., Any] | None = None
        self.kernel_attrs: tuple[str, ...] = ()
        self.kernel_wants_state = False
        self.emit_fn: Callable[..., str | None] | None = None
        self.state_fn: Callable[..., Any] | None = None
        self.gradient_fn: Callable[..., Any] | None = None
        self.not_differentiable = False
        self.is_ufunc = False
        self.infix: str | None = None
        self.is_view = False
        self.foldable = not stateful
        self.elides = False

    # The text is parsed when somebody first asks: importing every op must stay cheap.
    def __getattr__(self, name: str) -> Any:
        if name not in ("inputs", "outputs", "attrs"):
            raise AttributeError(name)
        self.attrs: dict[str, AttrDef] = {}
        for text in _split(self._attr_text, ";"):
            attr = _parse_attr(text)
            self.attrs[attr.name] = attr
        left, _, right = self._signature.partition("->")
        self.inputs = tuple(_parse_arg(text, self.attrs) for text in _split(left, ","))
        self.outputs = tuple(_parse_arg(text, self.attrs) for text in _split(right, ","))
        return self.__dict__[name]

    def __repr__(self) -> str:
        return f"<OpDef {self.name}: {self._signature}>"

    def shape(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the shape rule."""
        self.shape_fn = function
        return function

    def kernel(self, function: Callable[..., Any] | None = None, *, view: bool = False) -> Any:
        """Decorator: the numpy kernel. `view=True` says that the result may share memory with an input."""
        if function is None:
            return lambda f: self.kernel(f, view=view)
        code = function.__code__
        keywords = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
        self.kernel_fn = function
        self.kernel_wants_state = "state" in keywords
        self.kernel_attrs = tuple(k for k in keywords if k != "state")
        self.is_view = view
        return function

    def ufunc(self, function: Any, infix: str | None = None) -> OpDef:
        """The kernel is a numpy ufunc, which can write into a dead input; `infix` is its Python operator."""
        self.kernel_fn, self.is_ufunc, self.infix = function, True, infix
        return self

    def emit(self, function: Callable[..., str | None]) -> Callable[..., str | None]:
        """Decorator: an inline expression in place of a call of the kernel."""
        self.emit_fn = function
        return function

    def state(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: makes what the op keeps between runs of one session."""
        self.state_fn = function
        return function

    def gradient(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the gradient, as graph construction."""
        self.gradient_fn = function
        return function

    def no_gradient(self) -> OpDef:
        """Say that the op is not differentiable: gradients stop here without an error."""
        self.not_differentiable = True
        return self

    def evaluate(self, inputs: list[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """Run the kernel of a stateless op on numpy values, flat inputs in order; a tuple of outputs."""
        if self.kernel_fn is None:
            raise NotImplementedError(f"op {self.name} has no kernel that could run here")
        result = self.kernel_fn(*self.group_inputs(inputs, attrs), **{k: attrs[k] for k in self.kernel_attrs})
        results = result if isinstance(result, tuple) else (result,)
        return tuple(_as_string_array(r) if isinstance(r, bytes) else r for r in results)

    def group_inputs(self, flat: list[Any], attrs: dict[str, Any]) -> list[Any]:
        """The flat inputs with every list argument gathered into one list."""
        if not any(arg.is_list for arg in self.inputs):
            return flat
        grouped: list[Any] = []
        at = 0
        for arg in self.inputs:
            if not arg.is_list:
                grouped.append(flat[at])
                at += 1
                continue
            count = arg.count(attrs)
            grouped.append(list(flat[at:at + count]))
            at += count
        return grouped


def _as_string_array(value: bytes) -> Any:
    """A string of rank 0 as an array: numpy alone would make fixed-width bytes of it."""
    import numpy as np
    array = np.empty((), object)
    array[()] = value
    return array


_REGISTRY: dict[str, OpDef] = {}


def register_op(name: str, signature: str, attrs: str = "", *, stateful: bool = False, commutative: bool = False,
                aggregate: bool = False, allows_uninitialized_input: bool = False) -> OpDef:
    """Register an op type and return its OpDef, on which shape rule, kernel and gradient are hung."""
    if name in _REGISTRY:
        raise ValueError(f"op {name} is registered twice")
    op_def = OpDef(name, signature, attrs, stateful=stateful, commutative=commutative, aggregate=aggregate,
                   allows_uninitialized_input=allows_uninitialized_input)
    _REGISTRY[name] = op_def
    return op_def


_LATE: list[Callable[[], Any]] = []


def register_late(load: Callable[[], Any]) -> None:
    """`load` registers further ops: it is called once somebody asks for an op type that is not there."""
    _LATE.append(load)


def _load_late() -> None:
    while _LATE:
        _LATE.pop()()


def get(name: str) -> OpDef:
    """The OpDef of an op type; `ValueError` naming the nearest ones where it is not registered."""
    definition = find(name)
    if definition is None:
        near = difflib.get_close_matches(name, _REGISTRY, 3)
        hint = f" The nearest it has: {', '.join(near)}." if near else ""
        raise ValueError(f"Op type not registered '{name}': tfsandbox has no such op.{hint}")
    return definition


def find(name: str) -> OpDef | None:
    """The OpDef of an op type, or None."""
    if name not in _REGISTRY:
        _load_late()
    return _REGISTRY.get(name)


def registered() -> dict[str, OpDef]:
    """Every registered op by name."""
    _load_late()
    return dict(_REGISTRY)


_GRADIENTS: dict[str, Callable[..., Any] | None] = {}


def register_gradient(name: str, function: Callable[..., Any] | None) -> None:
    """Register a gradient by name, for an op type or for `gradient_override_map`; None: not differentiable."""
    if name in _GRADIENTS:
        raise KeyError(f"Registering two gradient with name '{name}'!")
    _GRADIENTS[name] = function


def gradient_of(name: str) -> Callable[..., Any] | None:
    """The gradient function of an op type or registered name; None where there is none on purpose.

    Raises `LookupError` where nothing is registered.
    """
    if name in _GRADIENTS:
        return _GRADIENTS[name]
    op_def = _REGISTRY.get(name)
    if op_def is not None:
        if op_def.gradient_fn is not None:
            return op_def.gradient_fn
        if op_def.not_differentiable:
            return None
    raise LookupError(f"gradient registry has no entry for: {name}")
