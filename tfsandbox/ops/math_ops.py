"""The names of `tensorflow.python.ops.math_ops`, gathered from the files that hold them by subject."""

from tfsandbox.ops import binary_ops, casts, comparison_ops, complex_ops, elementwise, reductions, sequences, sums
from tfsandbox.ops import matmul as _matmul
from tfsandbox.ops.binary_ops import *  # noqa: F403
from tfsandbox.ops.binary_ops import add_v2  # noqa: F401
from tfsandbox.ops.broadcasting import broadcast_gradient_args  # noqa: F401
from tfsandbox.ops.casts import *  # noqa: F403
from tfsandbox.ops.comparison_ops import *  # noqa: F403
from tfsandbox.ops.comparison_ops import approximate_equal  # noqa: F401
from tfsandbox.ops.complex_ops import *  # noqa: F403
from tfsandbox.ops.elementwise import *  # noqa: F403
from tfsandbox.ops.elementwise import neg  # noqa: F401
from tfsandbox.ops.matmul import *  # noqa: F403
from tfsandbox.ops.matmul import matvec  # noqa: F401
from tfsandbox.ops.operators import TENSOR_OPERATORS  # noqa: F401
from tfsandbox.ops.reductions import *  # noqa: F403
from tfsandbox.ops.reductions import reduced_shape  # noqa: F401
from tfsandbox.ops.sequences import *  # noqa: F403
from tfsandbox.ops.sums import *  # noqa: F403

__all__ = sorted({name for module in (
    binary_ops, casts, comparison_ops, complex_ops, elementwise, _matmul, reductions, sequences, sums,
) for name in module.__all__})
