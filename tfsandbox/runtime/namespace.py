"""What the names in an emitted program stand for.

Node names only choose identifiers, after everything but letters, digits and underscores is gone; whatever a graph
brings along is bound to a name here.
"""

from __future__ import annotations

import keyword
import math
import re
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.framework.op_registry import OpDef
from tfsandbox.framework.operation import Operation
from tfsandbox.runtime import called
from tfsandbox.runtime.values import Value


class Namespace:
    """The names of one program, each used once: constants, variables, states, kernels, local values."""

    def __init__(self) -> None:
        self.used_names: set[str] = {"np", "run", "dead", "unfit", "own"}
        self.constants: dict[str, Any] = {"np": np, "dead": called.dead, "unfit": called.unfit, "own": called.own}
        self.constant_names: dict[int, str] = {}
        self.kernel_names: dict[int, str] = {}
        self.refs: dict[str, Operation] = {}
        self.ref_names: dict[Operation, str] = {}
        self.states: dict[str, Operation] = {}
        self.notes: dict[str, str] = {}

    def identifier(self, op: Operation, index: int) -> str:
        """A new local name for an output of a node."""
        parts = [re.sub(r"\W", "_", part, flags=re.A) for part in op.name.split("/")]
        base = parts[-1].lower().strip("_") or "value"
        if base[0].isdigit() or keyword.iskeyword(base) or keyword.issoftkeyword(base):
            base = "v_" + base
        if index:
            base += f"_out{index}"
        if base in self.used_names and len(parts) > 1:
            longer = parts[-2].lower().strip("_")
            if longer and not longer[0].isdigit():
                base = f"{longer}_{base}"
        return self._unused(base)

    def _unused(self, base: str) -> str:
        name, count = base, 1
        while name in self.used_names:
            count += 1
            name = f"{base}_{count}"
        self.used_names.add(name)
        return name

    def constant_name(self, value: Value) -> str:
        """The name that a constant is bound to: one for each array, however many values it is."""
        constant = value.constant
        found = self.constant_names.get(id(constant))
        if found is not None:
            return found
        name = self.identifier(value.op, value.index)
        if isinstance(constant, np.ndarray) and constant.ndim == 0 and constant.dtype != object:
            constant = constant[()]
        self.constants[name] = constant
        self.constant_names[id(value.constant)] = name
        self.notes[name] = _described(constant)
        return name

    def ref_name(self, op: Operation) -> str:
        """The name that a variable's storage is bound to in each session."""
        if op not in self.ref_names:
            name = self._unused(re.sub(r"\W", "_", op.name, flags=re.A).strip("_").lower() + "_var")
            self.ref_names[op] = name if not name[0].isdigit() else self._unused("v_" + name)
            self.refs[self.ref_names[op]] = op
        return self.ref_names[op]

    def state_name(self, op: Operation) -> str:
        """The name that what a session keeps for a node is bound to in each session."""
        name = self.identifier(op, 0) + "_state"
        name = self._unused(name)
        self.states[name] = op
        return name

    def kernel_name(self, definition: OpDef) -> str:
        """How an op's kernel is written: `np.exp`, or a name that the function is bound to."""
        function = definition.kernel_fn
        own = str(getattr(function, "__name__", definition.name))
        if isinstance(function, np.ufunc) and getattr(np, own, None) is function:
            return f"np.{own}"
        if id(function) not in self.kernel_names:
            base = own.strip("_") or definition.name
            if not base.isidentifier() or keyword.iskeyword(base):
                base = definition.name.lower() + "_kernel"
            name = self._unused(base)
            self.kernel_names[id(function)] = name
            self.constants[name] = function
        return self.kernel_names[id(function)]

    def literal(self, value: Any) -> str:
        """An attribute as source text, or the name it is bound to."""
        if value is None or isinstance(value, (bool, int)):
            return repr(value)
        if isinstance(value, float) and math.isfinite(value):
            return repr(value)
        if isinstance(value, (list, tuple)) and all(isinstance(v, (bool, int)) for v in value):
            return repr(list(value))
        if isinstance(value, dtypes.DType):
            name = value.name
            if name in self.used_names and self.constants.get(name) is not value:
                name = self._unused(name + "_dtype")
            self.used_names.add(name)
            self.constants[name] = value
            return name
        for name, bound in self.constants.items():
            if bound is value:
                return name
        name = self._unused("attr")
        self.constants[name] = value
        return name


def _described(constant: Any) -> str:
    """A constant in words: its type, and its value or its shape."""
    array = np.asarray(constant)
    if array.dtype == object:
        return "a string" if array.ndim == 0 else f"strings, shape {array.shape}"
    if array.ndim == 0:
        return f"{array.dtype.name} {array[()]!s}"
    if array.size <= 8:
        return f"{array.dtype.name} {' '.join(str(array.tolist()).split())}"
    return f"{array.dtype.name} array of shape {array.shape}"
