"""The names of `tensorflow.contrib.framework.python.ops`."""

from __future__ import annotations

from tfsandbox.contrib.framework import *  # noqa: F401, F403
from tfsandbox.contrib.framework import ops, variables  # noqa: F401
from tfsandbox.util.arg_scoping import arg_scope_func_key  # noqa: F401
