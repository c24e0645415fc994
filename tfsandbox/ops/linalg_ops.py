"""The names of `tensorflow.python.ops.linalg_ops`, gathered from the files that hold them by subject."""

from __future__ import annotations

from tfsandbox.ops import diagonals, factorizations, linear_systems, norms
from tfsandbox.ops.diagonals import *  # noqa: F403
from tfsandbox.ops.factorizations import *  # noqa: F403
from tfsandbox.ops.factorizations import lu  # noqa: F401
from tfsandbox.ops.linalg.linalg_impl import matrix_square_root  # noqa: F401
from tfsandbox.ops.linear_systems import *  # noqa: F403
from tfsandbox.ops.linear_systems import log_matrix_determinant  # noqa: F401
from tfsandbox.ops.norms import *  # noqa: F403

__all__ = sorted({name for module in (diagonals, factorizations, linear_systems, norms) for name in module.__all__}
                 | {"matrix_square_root"})
