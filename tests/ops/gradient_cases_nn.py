"""Inputs for the finite-difference test of the ops of neural networks that take attrs or shapes of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.gradient_cases import Case, distinct, numbers, signed


def single(array: np.ndarray) -> np.ndarray:
    """float32, for ops that take nothing wider."""
    return array.astype(np.float32)


def statistics(training: bool) -> dict[str, Any]:
    """Mean and variance as FusedBatchNorm wants them: empty in training."""
    shape = (0,) if training else (2,)
    return {"mean": single(numbers(*shape)), "variance": single(numbers(*shape))}


def fused(training: bool) -> Case:
    """A batch norm whose statistics are constants: TensorFlow's gradient with respect to them is zero in training."""
    return Case({"x": single(signed(2, 2, 3, 2)), "scale": single(numbers(2)), "offset": single(numbers(2)),
                 **statistics(training), "epsilon": 0.1, "is_training": training},
                outputs=(0,), fixed=("mean", "variance"))


def fused_grad(name: str, training: bool) -> Case:
    """The gradient op of a batch norm, in its x, scale and y_backprop."""
    x = single(signed(2, 2, 3, 2))
    variance = x.var((0, 1, 2)) if training else single(numbers(2))
    mean = x.mean((0, 1, 2)) if training else single(numbers(2))
    more = {"reserve_space_3": single(np.zeros(0))} if name.endswith("V3") else {}
    fixed = ("reserve_space_1", "reserve_space_2", "reserve_space_3", *(("x",) if training else ()))
    return Case({"y_backprop": single(signed(2, 2, 3, 2)), "x": x, "scale": single(numbers(2)),
                 "reserve_space_1": mean, "reserve_space_2": variance, **more, "epsilon": 0.1,
                 "is_training": training}, outputs=(0,), fixed=fixed)


NN_CASES: dict[str, list[Case]] = {
    "TopK": [Case({"input": distinct(3, 5), "k": 2}, outputs=(0,))],
    "TopKV2": [Case({"input": distinct(3, 5), "k": np.int32(2)}, outputs=(0,)),
               Case({"input": distinct(4), "k": np.int32(4)}, outputs=(0,))],
    "LRN": [Case({"input": single(signed(1, 2, 2, 6)), "depth_radius": 2, "bias": 0.5, "alpha": 0.3, "beta": 0.7})],
    "Dilation2D": [Case({"input": distinct(1, 5, 4, 2), "filter": numbers(2, 2, 2, low=0.0, high=0.02),
                         "strides": [1, s, s, 1], "rates": [1, r, r, 1], "padding": p})
                   for s, r, p in ((1, 1, "SAME"), (2, 1, "VALID"), (1, 2, "SAME"))],
    "LeakyRelu": [Case({"features": signed(2, 3), "alpha": 0.3})],
    "LeakyReluGrad": [Case({"gradients": signed(2, 3), "features": signed(2, 3), "alpha": 0.3}, fixed=("features",))],
    **{name: [fused(training) for training in (True, False)]
       for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")},
    **{name: [fused_grad(name, training) for training in (True, False)]
       for name in ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")},
}
