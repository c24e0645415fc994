"""log, sin and cos of float32 arrays, to the last bit what the C library under TensorFlow's CPU kernels gives.

numpy's own float32 functions round differently from build to build, and correctly rounded values differ from the
C library's in one of a hundred cases, which shows in a printed normal. A C library takes these functions in double
with a short polynomial and rounds once, so that the polynomial's error decides those cases. The polynomials for
sine and cosine are minimax ones (for sin(x) / x and for cos(x), on [-pi/4, pi/4]); that of the logarithm was fitted
so that every float32 near one rounds as observed.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Float32s = npt.NDArray[np.float32]

_SIN = (-0.16666654943687664, 0.008332178145259609, -0.00019517298858480296)
_COS = (-0.49999999725107896, 0.04166662332430589, -0.001388676379311695, 2.4390450582644982e-05)
_LOG = (-0.4999997484619366, 0.3334567677605137, -0.2508940778820883)

# The logarithm's argument is brought into [first bound, twice that) and split there by its leading bits into sixteen
# intervals; log(z) = log(centre) + log(z / centre).
_LOG_FIRST = np.int32(0x3F330000)
_LOG_BITS = 19
_bounds = (int(_LOG_FIRST) + (np.arange(17) << _LOG_BITS)).astype(np.int32).view(np.float32).astype(np.float64)
_centres = (_bounds[:-1] + _bounds[1:]) / 2
_centres[9] = 1.0  # so that log(1) is 0 and its neighbours lose no digits
_centres[10] = 1.0534215  # the one other that is off centre
_LOG_INVERSES = 1.0 / _centres
_LOG_CENTRES = -np.log(_LOG_INVERSES)
_LN2 = np.log(2.0)

_SIN_SIGNS = np.array([1.0, 1.0, -1.0, -1.0, 1.0])
_COS_SIGNS = np.array([1.0, -1.0, -1.0, 1.0, 1.0])


def log(x: Float32s) -> Float32s:
    """The natural logarithm of positive, finite, normal float32 numbers."""
    bits = x.view(np.int32)
    above = bits - _LOG_FIRST
    interval = (above >> _LOG_BITS) & 15
    exponent = above >> 23
    r = (bits - (exponent << 23)).view(np.float32) * _LOG_INVERSES[interval]
    r -= 1.0
    y: npt.NDArray[Any] = r * _LOG[2]
    y += _LOG[1]
    y *= r
    y += _LOG[0]
    y *= r
    y *= r
    y += r
    y += exponent * _LN2
    y += _LOG_CENTRES[interval]
    return y.astype(np.float32)


def sincos(x: Float32s) -> tuple[Float32s, Float32s]:
    """(sin, cos) of float32 angles in [0, 2 pi]."""
    angle = x.astype(np.float64)
    quarter = np.rint(angle * (2.0 / np.pi))
    r = angle - quarter * (np.pi / 2)
    turn = quarter.astype(np.int8)
    square = r * r
    sine: npt.NDArray[Any] = square * _SIN[2]
    sine += _SIN[1]
    sine *= square
    sine += _SIN[0]
    sine *= square
    sine *= r
    sine += r
    cosine: npt.NDArray[Any] = square * _COS[3]
    for coefficient in _COS[2::-1]:
        cosine += coefficient
        cosine *= square
    cosine += 1.0
    crossed = (turn & 1).astype(bool)
    sines = (np.where(crossed, cosine, sine) * _SIN_SIGNS[turn]).astype(np.float32)
    cosines = (np.where(crossed, sine, cosine) * _COS_SIGNS[turn]).astype(np.float32)
    return sines, cosines
