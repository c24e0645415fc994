"""Ops, one file a family; an op's schema, shape rule, numpy kernel and gradient stand together.

A program imports the families that it uses. A graph from a file may hold any op: the registry then asks for all.
"""

from __future__ import annotations

import importlib
import pkgutil

from tfsandbox.framework import op_registry


def _import_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


op_registry.register_late(_import_all)
