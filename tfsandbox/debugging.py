"""tf.debugging: checks of values, shapes and types."""

# ruff: noqa: F401

from tfsandbox.ops.check_ops import (
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_proper_iterable,
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_same_float_dtype,
    assert_scalar,
    assert_shapes,
    assert_type,
    check_numerics,
    is_non_decreasing,
    is_numeric_tensor,
    is_strictly_increasing,
)
from tfsandbox.ops.comparison_ops import is_finite, is_inf, is_nan
from tfsandbox.ops.control_flow_ops import Assert
from tfsandbox.ops.numerics import verify_tensor_all_finite as assert_all_finite

_log_device_placement = [False]


def get_log_device_placement() -> bool:
    """What `set_log_device_placement` was told: there is one device here, so it changes nothing."""
    return _log_device_placement[0]


def set_log_device_placement(enabled: bool) -> None:
    """Kept, and without effect: there is one device here."""
    _log_device_placement[0] = bool(enabled)
