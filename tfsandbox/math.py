"""tf.math: mathematical functions."""

# ruff: noqa: F401

from tfsandbox.ops.activations import log_softmax, softmax, softplus, softsign
from tfsandbox.ops.binary_ops import (
    add,
    atan2,
    divide,
    floordiv,
    floormod,
    maximum,
    minimum,
    mod,
    multiply,
    nextafter,
    pow,
    scalar_mul,
    squared_difference,
    subtract,
    truediv,
)
from tfsandbox.ops.check_ops import is_non_decreasing, is_strictly_increasing
from tfsandbox.ops.comparison_ops import (
    equal,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from tfsandbox.ops.complex_ops import angle, conj, imag, real
from tfsandbox.ops.confusion_matrix import confusion_matrix
from tfsandbox.ops.counting import bincount
from tfsandbox.ops.elementwise import (
    abs,
    ceil,
    exp,
    expm1,
    floor,
    log,
    log1p,
    log_sigmoid,
    reciprocal,
    rint,
    round,
    rsqrt,
    sigmoid,
    sign,
    sqrt,
    square,
    tanh,
)
from tfsandbox.ops.elementwise import neg as negative
from tfsandbox.ops.normalization import l2_normalize
from tfsandbox.ops.ranking import in_top_k, top_k
from tfsandbox.ops.reductions import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from tfsandbox.ops.reshaping import invert_permutation
from tfsandbox.ops.segment_ops import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from tfsandbox.ops.special_functions import (
    bessel_i0e,
    bessel_i1e,
    betainc,
    digamma,
    erf,
    erfc,
    igamma,
    igammac,
    lgamma,
    polygamma,
    zeta,
)
from tfsandbox.ops.special_math_ops import bessel_i0, bessel_i1, lbeta
from tfsandbox.ops.statistics import (
    argmax,
    argmin,
    count_nonzero,
    reduce_euclidean_norm,
    reduce_logsumexp,
    reduce_std,
    reduce_variance,
)
from tfsandbox.ops.sums import accumulate_n, add_n, cumprod, cumsum, cumulative_logsumexp
from tfsandbox.ops.tensor_products import polyval
from tfsandbox.ops.trigonometric import acos, acosh, asin, asinh, atan, atanh, cos, cosh, sin, sinh, tan
from tfsandbox.ops.zero_fraction import zero_fraction
from tfsandbox.ops.zero_safe_ops import div_no_nan as divide_no_nan
from tfsandbox.ops.zero_safe_ops import multiply_no_nan, reciprocal_no_nan, xdivy, xlogy
