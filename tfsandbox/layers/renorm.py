"""Batch renormalization: corrections that make training normalize as the moving averages would.

Source: Ioffe, Batch Renormalization: Towards Reducing Minibatch Dependence in Batch-Normalized Models, 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfsandbox.framework import ops
from tfsandbox.layers import utils
from tfsandbox.ops import array_ops, init_ops, math_ops, nn_ops, state_ops

if TYPE_CHECKING:
    from tfsandbox.layers.normalization import BatchNormalization


class Renorm:
    """The averages of batch renormalization, and the corrections r and d they give."""

    def __init__(self, clipping: dict[str, Any] | None, momentum: float) -> None:
        clipping = clipping or {}
        allowed = ["rmax", "rmin", "dmax"]
        if set(clipping) - set(allowed):
            raise ValueError(f"renorm_clipping {clipping} contains keys not in {allowed}")
        self.clipping, self.momentum = clipping, momentum

    def make_averages(self, average: Callable[[str, Any], Any], moving_mean: Any, moving_variance: Any,
                      variance_initializer: Any) -> None:
        """Make the three variables beside the layer's own, initialised as the moving variance's root and 0."""
        def root(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return math_ops.sqrt(variance_initializer(shape, dtype=dtype, partition_info=partition_info))

        initializer = None if variance_initializer is None else root
        with ops.colocate_with(moving_variance):
            self.moving_stddev = average("moving_stddev", initializer)
        with ops.colocate_with(moving_mean):
            self.mean = average("renorm_mean", init_ops.zeros_initializer())
        with ops.colocate_with(moving_variance):
            self.stddev = average("renorm_stddev", initializer)

    def corrections(self, layer: BatchNormalization, mean: Any, variance: Any,
                    training: Any) -> tuple[Any, Any, Any, Any]:
        """(r, d, mean, variance): the factors, and what the layer's own averages should move to."""
        stddev = math_ops.sqrt(variance + layer.epsilon)
        # Before the average has seen anything it must not divide by nothing.
        floor = math_ops.maximum(self.stddev, math_ops.cast(math_ops.sqrt(layer.epsilon), self.stddev.dtype.base_dtype))
        r = stddev / floor
        d = (mean - self.mean) / floor
        # The corrections are those before this batch changes the averages.
        with ops.control_dependencies([r, d]):
            mean, stddev = array_ops.identity(mean), array_ops.identity(stddev)
        r_min, r_max, d_max = (self.clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        if r_min is not None:
            r = math_ops.maximum(r, r_min)
        if r_max is not None:
            r = math_ops.minimum(r, r_max)
        if d_max is not None:
            d = math_ops.maximum(d, -d_max)
            d = math_ops.minimum(d, d_max)
        r = utils.smart_cond(training, lambda: r, lambda: array_ops.ones_like(r))
        d = utils.smart_cond(training, lambda: d, lambda: array_ops.zeros_like(d))
        new_mean = self._updated(layer, self.mean, mean, training)
        new_stddev = self._updated(layer, self.stddev, stddev, training)
        with ops.control_dependencies([new_mean, new_stddev]):
            return r, d, array_ops.identity(mean), array_ops.identity(variance)

    def _updated(self, layer: BatchNormalization, variable: Any, value: Any, training: Any) -> Any:
        value = array_ops.identity(value)
        return utils.smart_cond(training, lambda: layer.assign_moving_average(variable, value, self.momentum),
                                lambda: array_ops.identity(variable))

    def move_variance(self, layer: BatchNormalization, variance: Any) -> Any:
        """Move the average of the standard deviation, and set the moving variance to its square."""
        stddev = math_ops.sqrt(variance + layer.epsilon)
        moved = layer.assign_moving_average(self.moving_stddev, stddev, layer.momentum)
        value = nn_ops.relu(moved * moved - layer.epsilon)
        with ops.name_scope(None, "AssignNewValue", [layer.moving_variance, value]) as scope, \
                ops.colocate_with(layer.moving_variance):
            return state_ops.assign(layer.moving_variance, value, name=scope)
