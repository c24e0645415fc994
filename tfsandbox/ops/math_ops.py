"""The names of `tensorflow.python.ops.math_ops`, gathered from the files that hold them by subject."""

from __future__ import annotations

from tfsandbox.ops import (
    binary_ops,
    bitwise_ops,  # noqa: F401 - tf.bitwise; an imported graph may hold its ops
    casts,
    comparison_ops,
    complex_ops,
    counting,
    elementwise,
    reductions,
    segment_ops,
    sequences,
    sparse_segment_ops,
    special_functions,
    special_math_ops,
    statistics,
    sums,
    tensor_products,
    trigonometric,
    zero_safe_ops,
)
from tfsandbox.ops import matmul as _matmul
from tfsandbox.ops.binary_ops import *  # noqa: F403
from tfsandbox.ops.binary_ops import add_v2, nextafter  # noqa: F401
from tfsandbox.ops.broadcasting import broadcast_gradient_args  # noqa: F401
from tfsandbox.ops.casts import *  # noqa: F403
from tfsandbox.ops.comparison_ops import *  # noqa: F403
from tfsandbox.ops.comparison_ops import approximate_equal  # noqa: F401
from tfsandbox.ops.complex_ops import *  # noqa: F403
from tfsandbox.ops.confusion_matrix import confusion_matrix  # noqa: F401
from tfsandbox.ops.counting import *  # noqa: F403
from tfsandbox.ops.elementwise import *  # noqa: F403
from tfsandbox.ops.elementwise import neg  # noqa: F401
from tfsandbox.ops.matmul import *  # noqa: F403
from tfsandbox.ops.matmul import matvec  # noqa: F401
from tfsandbox.ops.operators import TENSOR_OPERATORS  # noqa: F401
from tfsandbox.ops.reductions import *  # noqa: F403
from tfsandbox.ops.reductions import reduced_shape  # noqa: F401
from tfsandbox.ops.segment_ops import *  # noqa: F403
from tfsandbox.ops.sequences import *  # noqa: F403
from tfsandbox.ops.sparse_segment_ops import *  # noqa: F403
from tfsandbox.ops.special_functions import *  # noqa: F403
from tfsandbox.ops.special_functions import bessel_i0e, bessel_i1e  # noqa: F401
from tfsandbox.ops.special_math_ops import *  # noqa: F403
from tfsandbox.ops.statistics import *  # noqa: F403
from tfsandbox.ops.statistics import reduce_euclidean_norm, reduce_std, reduce_variance  # noqa: F401
from tfsandbox.ops.sums import *  # noqa: F403
from tfsandbox.ops.sums import cumulative_logsumexp  # noqa: F401
from tfsandbox.ops.tensor_products import *  # noqa: F403
from tfsandbox.ops.tensor_products import polyval  # noqa: F401
from tfsandbox.ops.trigonometric import *  # noqa: F403
from tfsandbox.ops.zero_safe_ops import *  # noqa: F403
from tfsandbox.ops.zero_safe_ops import multiply_no_nan, reciprocal_no_nan, xdivy, xlogy  # noqa: F401

__all__ = sorted({name for module in (
    binary_ops, casts, comparison_ops, complex_ops, counting, elementwise, _matmul, reductions, segment_ops, sequences,
    sparse_segment_ops, special_functions, special_math_ops, statistics, sums, tensor_products, trigonometric,
    zero_safe_ops,
) for name in module.__all__} | {"confusion_matrix"})
