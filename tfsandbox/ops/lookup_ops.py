"""Lookup tables: their initialiser."""

from __future__ import annotations

from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Operation
from tfsandbox.ops import control_flow_ops

__all__ = ["initialize_all_tables", "tables_initializer"]


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that initialises all tables of the graph; it does nothing where there are none."""
    initializers = ops.get_collection(GraphKeys.TABLE_INITIALIZERS)
    if initializers:
        return control_flow_ops.group(*initializers, name=name)
    return control_flow_ops.no_op(name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """Deprecated name of `tables_initializer`."""
    return tables_initializer(name)
