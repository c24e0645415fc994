"""Math ops on values at the edges of their domains, the same for TensorFlow (`record_math.py`) and the sandbox.

Each case is a function of the `tf` module that builds a tensor.
"""

from __future__ import annotations

import numpy as np

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int32", "int64", "int8", "uint8", "int16", "uint16")

ORDINARY = [-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 3.7, -3.2]
OTHERS = [3.0, -2.0, 0.7, -0.3, 2.0, -1.0, 1.5, 2.0, -7.0]
EXTREME = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0]

BINARY = ("add subtract multiply div truediv floordiv mod truncatemod maximum minimum squared_difference atan2 less "
          "greater_equal equal not_equal div_no_nan math.xdivy").split()
UNARY = "round rint floor ceil sign abs negative square tanh sigmoid reciprocal is_finite".split()
UNARY_EXTREME = ("round floor sign abs exp log sqrt rsqrt tanh sigmoid reciprocal sin log1p expm1 lgamma digamma erf "
                 "erfc asin atanh acosh").split()
COMPLEX_UNARY = ("exp log sqrt sin tanh sigmoid square reciprocal abs angle real imag conj sign negative rsqrt "
                 "sinh").split()


def _function(tf, name):
    for part in name.split("."):
        tf = getattr(tf, part)
    return tf


def cases(tf):
    """(label, function that builds a tensor) for every case."""
    found = []

    def add(label, function):
        found.append((label, function))

    for kind in FLOATS:
        dtype = getattr(tf, kind)

        def constant(values, dtype=dtype):
            return tf.constant(values, dtype)

        for name in BINARY:
            add(f"{name} {kind}", lambda n=name, c=constant: _function(tf, n)(c(ORDINARY), c(OTHERS)))
        for name in UNARY:
            add(f"{name} {kind}", lambda n=name, c=constant: _function(tf, n)(c(ORDINARY)))
        for name in UNARY_EXTREME:
            add(f"{name} of extremes {kind}", lambda n=name, c=constant: _function(tf, n)(c(EXTREME)))
        add(f"divide by zero {kind}", lambda c=constant: c(EXTREME) / c([0.0] * 7))
        add(f"mod of extremes {kind}", lambda c=constant: c(EXTREME) % c([2.0] * 7))
        add(f"mod by extremes {kind}", lambda c=constant: c([2.0] * 7) % c(EXTREME))
        for name in "reduce_sum reduce_mean reduce_prod reduce_max reduce_min argmax argmin".split():
            add(f"{name} {kind}", lambda n=name, c=constant: _function(tf, n)(c(ORDINARY)))
        for name in ("cumsum", "cumprod"):
            add(f"{name} exclusive {kind}", lambda n=name, c=constant: _function(tf, n)(c(ORDINARY), exclusive=True))
            add(f"{name} reverse {kind}", lambda n=name, c=constant: _function(tf, n)(c(ORDINARY), reverse=True))
    _add_integers(tf, add)
    _add_complex(tf, add)
    _add_casts_and_sequences(tf, add)
    _add_others(tf, add)
    return found


def _add_integers(tf, add):
    for kind in INTEGERS:
        unsigned = kind.startswith("u")
        left = [7, 100, 120, 0, 3, 125] if unsigned else [7, -7, -128, 127, 0, 100]
        right = [2, 3, 5, 1, 120, 7] if unsigned else [2, 3, -2, -5, 4, 7]

        def operands(kind=kind, left=left, right=right):
            return tf.constant(left, getattr(tf, kind)), tf.constant(right, getattr(tf, kind))

        names = "multiply subtract floordiv".split()
        if kind != "uint16":
            names += "add truncatediv less truediv div".split()
        if kind in ("int32", "int64"):
            names += "mod truncatemod maximum minimum squared_difference".split()
        for name in names:
            add(f"{name} {kind}", lambda n=name, o=operands: _function(tf, n)(*o()))
        for name in "reduce_sum reduce_prod reduce_max reduce_min reduce_mean".split():
            add(f"{name} {kind}", lambda n=name, o=operands: _function(tf, n)(o()[1]))
        for name in "bitwise_and bitwise_or bitwise_xor".split():
            add(f"{name} {kind}", lambda n=name, o=operands: getattr(tf.bitwise, n)(*o()))
        add(f"invert {kind}", lambda o=operands: tf.bitwise.invert(o()[0]))
        for name in ("left_shift", "right_shift"):
            add(f"{name} {kind}", lambda n=name, k=kind, o=operands: getattr(tf.bitwise, n)(
                o()[0], tf.constant([0, 1, 2, 3, 1, 5], getattr(tf, k))))
        for target in "float32 int32 int8 uint8 bool int64 float16 complex64".split():
            add(f"cast {kind} to {target}", lambda t=target, o=operands: tf.cast(o()[0], getattr(tf, t)))
    add("integer power", lambda: tf.pow(tf.constant([2, 3, -1, 5]), tf.constant([3, 2, 5, 0])))


def _add_complex(tf, add):
    def z():
        return tf.constant([1 + 2j, -0.5 - 0.3j, 3.0, 2j], tf.complex64)

    def w():
        return tf.constant([2 - 1j, 0.3 + 0.1j, 1j, -1.0], tf.complex64)

    for name in "add subtract multiply divide pow squared_difference equal".split():
        add(f"complex {name}", lambda n=name: _function(tf, n)(z(), w()))
    for name in COMPLEX_UNARY:
        add(f"complex {name}", lambda n=name: _function(tf, n)(z()))
    for name in "reduce_sum reduce_mean reduce_prod cumsum".split():
        add(f"complex {name}", lambda n=name: _function(tf, n)(z()))


def _add_casts_and_sequences(tf, add):
    for target in "int32 int64 int8 uint8 int16 bool float64 float16".split():
        add(f"cast float32 to {target}", lambda t=target: tf.cast(
            tf.constant([-2.7, -0.5, 0.5, 3.99, 130.7, 300.0, -1000.0, 70000.0]), getattr(tf, t)))
    for i, limits in enumerate([(0.0, 1.0, 0.1), (5.0, 0.0, -0.7), (0, 10, 3), (10, 0, -3), (3, 3, 1)]):
        add(f"range {i}", lambda r=limits: tf.range(*r))
    add("linspace", lambda: tf.linspace(0.0, 1.0, 7))
    add("linspace of one", lambda: tf.linspace(3.0, 9.0, 1))
    add("linspace float64", lambda: tf.linspace(np.float64(0), np.float64(2), 5))


def _add_others(tf, add):
    for name in "reduce_max reduce_min reduce_mean reduce_sum reduce_prod".split():
        add(f"{name} of nothing", lambda n=name: _function(tf, n)(tf.zeros([0, 3]), 0))
    add("reduce_all of nothing", lambda: tf.reduce_all(tf.zeros([0]) > 1.0))
    add("an axis twice", lambda: tf.reduce_sum(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [0, 0]))
    add("count_nonzero of strings", lambda: tf.count_nonzero(tf.constant(["a", "", "b"])))
    add("count_nonzero", lambda: tf.count_nonzero([[0, 1], [2, 0]], axis=0, dtype=tf.int32))
    add("integer matmul", lambda: tf.matmul([[1, 2]], [[3], [4]]))
    add("lbeta", lambda: tf.lbeta([1.0, 2.0, 0.5]))
    for name in "bessel_i0 bessel_i1 bessel_i0e bessel_i1e".split():
        add(name, lambda n=name: getattr(tf.math, n)([0.0, 1.0, -2.0]))
    add("polyval", lambda: tf.math.polyval([1.0, 2.0, 3.0], 2.0))
    add("cross", lambda: tf.cross([[1, 2, 3]], [[3, 2, 1]]))
    add("nextafter", lambda: tf.math.nextafter([1.0, 1.0], [2.0, 0.0]))
    add("cumulative_logsumexp", lambda: tf.math.cumulative_logsumexp([1.0, 2.0, 3.0]))
    add("multiply_no_nan", lambda: tf.math.multiply_no_nan([np.nan, 2.0], [0.0, 3.0]))
    add("igamma", lambda: tf.igamma([0.5, 2.0, 3.0], [0.1, 2.0, 9.0]))
    add("igamma slope", lambda: tf.gradients(tf.igamma(*_fixed(tf, [0.5, 2.0, 3.0, 20.0], [0.1, 2.0, 9.0, 15.0])),
                                             tf.get_default_graph().get_tensor_by_name("a:0"))[0])
    add("betainc", lambda: tf.betainc([1.0, 2.0], [3.0, 0.5], [0.2, 0.7]))
    add("zeta", lambda: tf.zeta([1.0, 2.0, 3.5], [1.0, 0.3, 2.0]))
    add("polygamma", lambda: tf.polygamma([0.0, 1.0, 2.0, 0.5], [0.7, 1.3, 4.0, 2.0]))
    add("bincount", lambda: tf.bincount([1, 2, 5, 2], minlength=8))
    add("histogram_fixed_width", lambda: tf.histogram_fixed_width([0.5, 1.0, 2.0, 3.0, -4.0], [0.0, 3.0], nbins=5))
    add("einsum with an ellipsis", lambda: tf.einsum("...ij,...jk->...ik", *_fixed(
        tf, np.arange(6.0).reshape(1, 2, 3), np.arange(12.0).reshape(1, 3, 4))))
    add("tensordot", lambda: tf.tensordot(*_fixed(tf, np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)),
                                          [[0, 1], [1, 0]]))


def _fixed(tf, a, b):
    return tf.constant(np.float32(a), name="a"), tf.constant(np.float32(b), name="b")
