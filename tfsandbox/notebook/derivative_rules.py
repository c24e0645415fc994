"""The local derivative of each op in one line: what its backward op makes of the gradient g of its output.

One expression an input, in order. y is the op's output, x its input (a and b when it has two).
"""

from __future__ import annotations

DERIVATIVES: dict[str, str] = {
    "Identity": "g", "StopGradient": "nothing passes", "PreventGradient": "an error", "Cast": "g, cast back",
    "Add": "g,  g", "AddV2": "g,  g", "AddN": "g for each", "BiasAdd": "g,  Σ g", "Sub": "g,  −g", "Neg": "−g",
    "Mul": "g·b,  g·a", "RealDiv": "g / b,  −g·a / b²", "Div": "g / b,  −g·a / b²",
    "DivNoNan": "g / b,  −g·a / b²  (0 where b = 0)", "Pow": "g·b·a^(b−1),  g·y·ln a",
    "Square": "2·x·g", "Sqrt": "g / 2y", "Rsqrt": "−g·y³ / 2", "Reciprocal": "−g·y²", "Inv": "−g·y²",
    "Exp": "g·y", "Expm1": "g·exp x", "Log": "g / x", "Log1p": "g / (1 + x)", "Sin": "g·cos x", "Cos": "−g·sin x",
    "Tan": "g / cos² x", "Asin": "g / √(1 − x²)", "Acos": "−g / √(1 − x²)", "Atan": "g / (1 + x²)",
    "Sinh": "g·cosh x", "Cosh": "g·sinh x", "Erf": "g·2/√π·exp(−x²)", "Abs": "g·sign x", "Sign": "0",
    "SquaredDifference": "2·g·(a − b),  −2·g·(a − b)",
    "MatMul": "g·bᵀ,  aᵀ·g", "BatchMatMul": "g·bᵀ,  aᵀ·g", "BatchMatMulV2": "g·bᵀ,  aᵀ·g",
    "Sum": "g for every element", "Mean": "g / n for every element", "Prod": "g·y / x", "Max": "g at the maxima",
    "Min": "g at the minima", "L2Loss": "x·g",
    "Maximum": "g where a ≥ b,  g elsewhere", "Minimum": "g where a ≤ b,  g elsewhere",
    "Select": "–,  g where true,  g where false", "Where": "–",
    "Relu": "g where x > 0", "Relu6": "g where 0 < x < 6", "LeakyRelu": "g where x > 0,  α·g elsewhere",
    "Elu": "g where x > 0,  g·(y + 1) elsewhere", "Selu": "g·λ where x > 0,  g·(y + λα) elsewhere",
    "Sigmoid": "g·y·(1 − y)", "Tanh": "g·(1 − y²)", "Softplus": "g·sigmoid x", "Softsign": "g / (1 + |x|)²",
    "Softmax": "(g − Σ g·y)·y", "LogSoftmax": "g − softmax x · Σ g",
    "SoftmaxCrossEntropyWithLogits": "g·(softmax − labels)",
    "SparseSoftmaxCrossEntropyWithLogits": "g·(softmax − one-hot)",
    "Conv2D": "g ⋆ kernelᵀ,  x ⋆ g", "MaxPool": "g at each maximum", "AvgPool": "g / window",
    "FusedBatchNorm": "through mean and variance", "FusedBatchNormV3": "through mean and variance",
    "Reshape": "g, reshaped", "Squeeze": "g, reshaped", "ExpandDims": "g, reshaped", "Transpose": "g, transposed",
    "ConcatV2": "slices of g", "Pack": "slices of g", "Unpack": "g, stacked", "Split": "g, joined",
    "Tile": "Σ g of the copies",
    "Slice": "g, padded with 0", "StridedSlice": "g, padded with 0", "Pad": "g, cut out",
    "GatherV2": "g, added at the indices", "Gather": "g, added at the indices", "Cumsum": "Σ g from there on",
    "TensorArrayReadV3": "g, written", "TensorArrayWriteV3": "g, read", "ReadVariableOp": "g",
    "Floor": "0", "Round": "0", "Ceil": "0", "ArgMax": "–", "CheckNumerics": "g",
}


def derivative(op: str) -> str:
    """The rule of an op; "" for one that the table does not have."""
    return DERIVATIVES.get(op, "")


UPDATES: dict[str, str] = {
    "GradientDescent": "w − lr·g", "ProximalGradientDescent": "prox(w − lr·g)",
    "Momentum": "m ← μ·m + g,  w − lr·m", "KerasMomentum": "m ← μ·m − lr·g,  w + m",
    "Adagrad": "a ← a + g²,  w − lr·g / √a", "AdagradV2": "a ← a + g²,  w − lr·g / √a",
    "ProximalAdagrad": "a ← a + g²,  prox(w − lr·g / √a)", "Adadelta": "w − lr·g·√u / √a",
    "RMSProp": "w − lr·g / √ms", "CenteredRMSProp": "w − lr·g / √(ms − mg²)", "Adam": "w − lr·m / √v",
    "AdaMax": "w − lr·m / v", "Ftrl": "w from a and z", "FtrlV2": "w from a and z",
}
"""What an optimizer makes of a variable w with the gradient g, by the kind of its Apply op; slots by their letters."""


def update_rule(kind: str) -> str:
    """The rule of an optimizer; "" for one that the table does not have."""
    return UPDATES.get(kind, "")
