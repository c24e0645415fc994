"""The gradient of RGBToHSV: every channel of the result by every channel of the color, case by case."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops
from tfsandbox.ops.image_colors import rgb_to_hsv_op

# The hue is 60 degrees times the difference of two channels, divided by that of the biggest and the smallest one.
# Its slope by a channel, where that is the biggest: minus this difference, divided by saturation and value squared.
_HUE_AS_BIGGEST = {"r": "gb", "g": "br", "b": "rg"}
# And where it is not: (biggest, smallest, difference on top or sign, difference below). A difference on top goes with
# the square below.
_HUE_OTHERWISE: dict[str, list[tuple[str, str, Any, str]]] = {
    "r": [("g", "r", "bg", "rg"), ("g", "b", -1, "gb"), ("b", "r", "bg", "br"), ("b", "g", 1, "bg")],
    "g": [("r", "g", "rb", "rg"), ("r", "b", 1, "rb"), ("b", "g", "rb", "bg"), ("b", "r", -1, "br")],
    "b": [("r", "b", "gr", "rb"), ("r", "g", -1, "rg"), ("g", "b", "gr", "gb"), ("g", "r", 1, "gr")],
}
# The saturation: (the channels that may be the smallest, those that may be the biggest), in TensorFlow's order.
_OTHERS = {"r": ("gb", "gb"), "g": ("rb", "rb"), "b": ("gr", "gr")}


class _Slopes:
    """The slopes of hue and saturation by the channels of `colors`."""

    def __init__(self, colors: Tensor, hsv: Tensor) -> None:
        r, g, b = colors[..., 0], colors[..., 1], colors[..., 2]
        self.saturation, self.value = hsv[..., 1], hsv[..., 2]
        self.channels = {"r": r, "g": g, "b": b}
        self.dtype = colors.dtype
        # Of equal channels the first counts as the biggest, the last as the smallest.
        self.biggest = {"r": self.number((r >= b) & (r >= g)), "g": self.number((g > r) & (g >= b)),
                        "b": self.number((b > r) & (b > g))}
        self.smallest = {"r": self.number((r < b) & (r < g)), "g": self.number((g <= r) & (g < b)),
                         "b": self.number((b <= r) & (b <= g))}

    def number(self, condition: Tensor) -> Tensor:
        """A condition as 1 and 0 of the colors' type."""
        from tfsandbox.ops import math_ops
        return math_ops.cast(condition, self.dtype)

    def difference(self, pair: str) -> Tensor:
        return self.channels[pair[0]] - self.channels[pair[1]]

    def of_saturation(self, name: str) -> Tensor:
        """By the channel of this name."""
        from tfsandbox.ops import math_ops
        channel, (small, big) = self.channels[name], _OTHERS[name]
        positive = self.number(channel > 0)
        first, second = [self.smallest[other] * self.channels[other] for other in small]
        low = math_ops.add(first, second)
        as_biggest = self.biggest[name] * low * _inverse(math_ops.square(channel))
        sign = self.smallest[name] * -1
        first, second = [self.biggest[other] * self.channels[other] for other in big]
        return positive * math_ops.add(as_biggest, sign * _inverse(first + second))

    def of_hue(self, name: str) -> Tensor:
        """By the channel of this name; once around is 1."""
        from tfsandbox.ops import math_ops
        part = self.where_biggest(name) * -1 * self.difference(_HUE_AS_BIGGEST[name])
        total = 60 * (part * _inverse(math_ops.square(self.saturation)) * _inverse(math_ops.square(self.value)))
        parts = []
        for big, small, above, below in _HUE_OTHERWISE[name]:
            part = self.where_biggest(big) * self.smallest[small]
            if isinstance(above, str):
                part = part * self.difference(above) * _inverse(math_ops.square(self.difference(below)))
            else:
                part = (part * -1 if above < 0 else part) * _inverse(self.difference(below))
            parts.append(60 * part)
        for part in parts:
            total = total + part
        return total / 360

    def where_biggest(self, name: str) -> Tensor:
        return self.number(self.channels[name] > 0) * self.biggest[name]


def _inverse(x: Tensor) -> Tensor:
    from tfsandbox.ops import math_ops
    return math_ops.div_no_nan(1.0, x)


@rgb_to_hsv_op.gradient
def _rgb_to_hsv_gradient(op: Operation, grad: Tensor) -> Tensor:
    from tfsandbox.ops import math_ops
    slopes = _Slopes(op.inputs[0], op.outputs[0])
    by_saturation = [slopes.of_saturation(name) for name in "rgb"]
    by_hue = [slopes.of_hue(name) for name in "rgb"]
    value, saturation, hue = [
        array_ops.stack([grad[..., channel] * slope for slope in parts], axis=-1)
        for channel, parts in ((2, list(slopes.biggest.values())), (1, by_saturation), (0, by_hue))]
    return math_ops.add(math_ops.add(value, saturation), hue)
