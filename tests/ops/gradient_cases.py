"""Inputs for the finite-difference test of ops that random numbers around one do not suit.

`CASES[op]` is a list of `Case`s. An op without one gets a [2, 3] array of random numbers between 0.3 and 1.7 for every
input whose type may be floating; if that does not fit the op, the test asks for a case here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Case:
    """Keyword arguments for `apply_op`: float arrays are differentiated, everything else is constant.

    `outputs` says which outputs count (all floating ones by default), `tolerance` is relative and absolute.
    """

    arguments: dict[str, Any]
    outputs: tuple[int, ...] | None = None
    fixed: tuple[str, ...] = ()
    tolerance: float | None = None
    dtype: type | None = None  # what floating arrays are made, instead of the widest type the op takes


_rng = np.random.RandomState(0)


def numbers(*shape: int, low: float = 0.3, high: float = 1.7) -> np.ndarray:
    """Random float64 numbers, none of them near a kink of the usual functions."""
    return _rng.uniform(low, high, shape)


def signed(*shape: int) -> np.ndarray:
    """Random numbers of both signs, away from zero."""
    return numbers(*shape) * _rng.choice([-1.0, 1.0], shape)


def distinct(*shape: int) -> np.ndarray:
    """Numbers far apart, so that a maximum stays where it is."""
    return _rng.permutation(int(np.prod(shape))).reshape(shape) * 0.3 - 1.0


def well_conditioned(*shape: int) -> np.ndarray:
    """Square matrices near a multiple of the identity."""
    return numbers(*shape, low=-0.3, high=0.3) + 2.0 * np.eye(shape[-1])


def symmetric(*shape: int) -> np.ndarray:
    """Symmetric matrices with separate eigenvalues."""
    a = numbers(*shape, low=-0.3, high=0.3)
    return a + np.swapaxes(a, -1, -2) + np.diag(np.arange(1.0, 1.0 + shape[-1]))


AXIS0, AXIS1 = np.int32(0), np.int32(1)

NOT_TESTED: dict[str, str] = {
    "Switch": "one of its outputs is dead in every run: tests of cond cover it",
    "RefSwitch": "as Switch",
    "Merge": "as Switch",
    "RefMerge": "as Switch",
    "PreventGradient": "its gradient is an error on purpose",
    **{name: "TensorFlow has none either: its gradient is an error that says so"
       for name in ("SparseDenseCwiseAdd", "SparseSparseMaximum", "SparseSparseMinimum")},
    "EagerPyFunc": "calls a Python function under a token: tested with py_function in test_script_ops.py",
    "RandomGamma": "a random op: its gradient is that of the samples, tested against TensorFlow's numbers",
    "RandomGammaGrad": "as RandomGamma",
    **{f"TensorArray{name}V3": "takes a handle: test_tensor_arrays.py differentiates it"
       for name in ("Concat", "Gather", "Read", "Scatter", "Split", "Write")},
}
"""Ops whose gradient has no finite difference to compare with, and why."""

CASES: dict[str, list[Case]] = {
    "Fill": [Case({"dims": np.array([2, 3], np.int32), "value": np.float64(1.3)})],
    "Concat": [Case({"concat_dim": AXIS1, "values": [numbers(2, 3), numbers(2, 1)]})],
    "ConcatV2": [Case({"values": [numbers(2, 3), numbers(4, 3)], "axis": AXIS0}),
                 Case({"values": [numbers(2, 3), numbers(2, 1)], "axis": np.int32(-1)})],
    "Reshape": [Case({"tensor": numbers(2, 3), "shape": np.array([3, -1], np.int32)})],
    "ExpandDims": [Case({"input": numbers(2, 3), "dim": AXIS1})],
    "Squeeze": [Case({"input": numbers(2, 1, 3)})],
    "Transpose": [Case({"x": numbers(2, 3, 4), "perm": np.array([2, 0, 1], np.int32)})],
    "ConjugateTranspose": [Case({"x": numbers(2, 3), "perm": np.array([1, 0], np.int32)})],
    "Select": [Case({"condition": np.array([[True, False, True]] * 2), "t": numbers(2, 3), "e": numbers(2, 3)}),
               Case({"condition": np.array([True, False]), "t": numbers(2, 3), "e": numbers(2, 3)})],
    "SelectV2": [Case({"condition": np.array([[True], [False]]), "t": numbers(2, 3), "e": numbers(3)})],
    "Slice": [Case({"input": numbers(3, 4), "begin": np.array([1, 0], np.int32), "size": np.array([2, 3], np.int32)})],
    "StridedSlice": [Case({"input": numbers(4, 5), "begin": np.array([0, 4], np.int32),
                           "end": np.array([4, 0], np.int32), "strides": np.array([2, -2], np.int32)}),
                     Case({"input": numbers(4, 5), "begin": np.array([1, 0], np.int32),
                           "end": np.array([2, 0], np.int32), "strides": np.array([1, 1], np.int32),
                           "shrink_axis_mask": 1, "end_mask": 2})],
    "StridedSliceGrad": [Case({"shape": np.array([4], np.int32), "begin": np.array([0], np.int32),
                               "end": np.array([4], np.int32), "strides": np.array([2], np.int32), "dy": numbers(2)})],
    "Split": [Case({"split_dim": AXIS1, "value": numbers(2, 6), "num_split": 3})],
    "SplitV": [Case({"value": numbers(2, 5), "size_splits": np.array([2, 3], np.int32), "split_dim": AXIS1,
                     "num_split": 2})],
    "Unpack": [Case({"value": numbers(2, 3), "num": 3, "axis": 1})],
    "Cast": [Case({"x": numbers(2, 3), "DstT": "float64"})],
    "Sum": [Case({"input": numbers(2, 3, 2), "reduction_indices": np.array([0, 2], np.int32)}),
            Case({"input": numbers(2, 3), "reduction_indices": AXIS1, "keep_dims": True})],
    "Mean": [Case({"input": numbers(2, 3, 2), "reduction_indices": np.array([0, 2], np.int32)})],
    "Prod": [Case({"input": signed(2, 3, 2), "reduction_indices": np.array([1], np.int32)}),
             Case({"input": numbers(2, 3), "reduction_indices": np.array([0, 1], np.int32)})],
    "Max": [Case({"input": distinct(3, 4), "reduction_indices": np.array([1], np.int32)})],
    "Min": [Case({"input": distinct(3, 4), "reduction_indices": np.array([0], np.int32)})],
    "EuclideanNorm": [Case({"input": numbers(2, 3), "reduction_indices": np.array([1], np.int32)})],
    "Cumsum": [Case({"x": numbers(2, 4), "axis": AXIS1, "exclusive": e, "reverse": r})
               for e in (False, True) for r in (False, True)],
    "Cumprod": [Case({"x": numbers(2, 4), "axis": AXIS1, "exclusive": e, "reverse": r})
                for e in (False, True) for r in (False, True)],
    "Maximum": [Case({"x": distinct(2, 3), "y": distinct(2, 3) + 0.1}),
                Case({"x": distinct(2, 3), "y": np.float64(.05)})],
    "Minimum": [Case({"x": distinct(2, 3), "y": distinct(2, 3) + 0.1})],
    "MatMul": [Case({"a": numbers(*((3, 2) if ta else (2, 3))), "b": numbers(*((4, 3) if tb else (3, 4))),
                     "transpose_a": ta, "transpose_b": tb}) for ta in (False, True) for tb in (False, True)],
    "BatchMatMul": [Case({"x": numbers(2, *((3, 2) if ax else (2, 3))), "y": numbers(2, *((4, 3) if ay else (3, 4))),
                          "adj_x": ax, "adj_y": ay}) for ax in (False, True) for ay in (False, True)],
    "BatchMatMulV2": [Case({"x": numbers(2, 1, 2, 3), "y": numbers(3, 3, 4)}),
                      Case({"x": numbers(2, 3, 2), "y": numbers(2, 4, 3), "adj_x": True, "adj_y": True})],
    "SparseMatMul": [Case({"a": numbers(2, 3).astype(np.float32), "b": numbers(3, 4).astype(np.float32)})],
    "Acos": [Case({"x": numbers(2, 3, low=-0.8, high=0.8)})],
    "Asin": [Case({"x": numbers(2, 3, low=-0.8, high=0.8)})],
    "Atanh": [Case({"x": numbers(2, 3, low=-0.8, high=0.8)})],
    "Acosh": [Case({"x": numbers(2, 3, low=1.2, high=3.0)})],
    "Erfinv": [Case({"x": numbers(2, 3, low=-0.8, high=0.8)})],
    "Ndtri": [Case({"x": numbers(2, 3, low=0.2, high=0.8)})],
    "Zeta": [Case({"x": numbers(2, 3, low=1.5, high=3.0), "q": numbers(2, 3)}, fixed=("x",))],
    "Polygamma": [Case({"a": np.array([[1.0, 2.0, 3.0]]), "x": numbers(2, 3)}, fixed=("a",))],
    "Igamma": [Case({"a": numbers(2, 3), "x": numbers(2, 3)}, tolerance=1e-4)],
    "Igammac": [Case({"a": numbers(2, 3), "x": numbers(2, 3)}, tolerance=1e-4)],
    "Betainc": [Case({"a": numbers(2, 3), "b": numbers(2, 3), "x": numbers(2, 3, low=0.2, high=0.8)},
                     fixed=("a", "b"))],
    "FloorMod": [Case({"x": np.array([1.3, -2.4, 3.7]), "y": np.array([0.8, 1.9, 1.2])})],
    "Relu6": [Case({"features": np.array([-1.0, 0.5, 3.0, 7.0])})],
    "Relu6Grad": [Case({"gradients": numbers(4), "features": np.array([-1.0, 0.5, 3.0, 7.0])})],
    "Complex": [],
    "Real": [], "Imag": [], "Angle": [], "ComplexAbs": [], "Conj": [],
    "AccumulateNV2": [Case({"inputs": [numbers(2, 3), numbers(2, 3)], "shape": [2, 3]})],
    "EnsureShape": [Case({"input": numbers(2, 3), "shape": [2, None]})],
    "PlaceholderWithDefault": [Case({"input": numbers(2, 3), "shape": [2, 3]})],
    "TensorStridedSliceUpdate": [Case({"input": numbers(4), "begin": np.array([1], np.int32),
                                       "end": np.array([3], np.int32), "strides": np.array([1], np.int32),
                                       "value": numbers(2)})],
    "CumulativeLogsumexp": [Case({"x": numbers(2, 4), "axis": AXIS1, "reverse": r}) for r in (False, True)],
    "BatchToSpace": [Case({"input": numbers(4, 2, 2, 1), "crops": np.array([[0, 1], [1, 0]], np.int32),
                           "block_size": 2})],
    "BatchToSpaceND": [Case({"input": numbers(4, 2, 2), "block_shape": np.array([2, 2], np.int32),
                             "crops": np.array([[0, 1], [1, 0]], np.int32)})],
    "SpaceToBatch": [Case({"input": numbers(1, 3, 3, 1), "paddings": np.array([[0, 1], [1, 0]], np.int32),
                           "block_size": 2})],
    "SpaceToBatchND": [Case({"input": numbers(1, 3, 3), "block_shape": np.array([2, 2], np.int32),
                             "paddings": np.array([[0, 1], [1, 0]], np.int32)})],
    "DepthToSpace": [Case({"input": numbers(1, 2, 2, 4), "block_size": 2})],
    "SpaceToDepth": [Case({"input": numbers(1, 4, 2, 1), "block_size": 2})],
    "BroadcastTo": [Case({"input": numbers(3), "shape": np.array([2, 3], np.int32)})],
    "DynamicPartition": [Case({"data": numbers(4, 2), "partitions": np.array([0, 1, 0, 1], np.int32),
                               "num_partitions": 2})],
    "DynamicStitch": [Case({"indices": [np.array([2, 0], np.int32), np.array([1, 3], np.int32)],
                            "data": [numbers(2, 3), numbers(2, 3)]})],
    "ParallelDynamicStitch": [Case({"indices": [np.array([2, 0], np.int32), np.array([1, 3], np.int32)],
                                    "data": [numbers(2, 3), numbers(2, 3)]})],
    "Gather": [Case({"params": numbers(4, 2), "indices": np.array([3, 0, 3], np.int32)})],
    "GatherV2": [Case({"params": numbers(4, 2), "indices": np.array([3, 0, 3], np.int32), "axis": AXIS0}),
                 Case({"params": numbers(2, 4, 3), "indices": np.array([[3, 0], [1, 3]], np.int32), "axis": AXIS1})],
    "GatherNd": [Case({"params": numbers(4, 2), "indices": np.array([[3, 0], [0, 1], [3, 0]], np.int32)}),
                 Case({"params": numbers(4, 2), "indices": np.array([[3], [0]], np.int32)})],
    "MirrorPad": [Case({"input": numbers(3, 4), "paddings": np.array([[1, 2], [0, 1]], np.int32), "mode": mode})
                  for mode in ("REFLECT", "SYMMETRIC")],
    "MirrorPadGrad": [Case({"input": numbers(5, 4), "paddings": np.array([[1, 1], [0, 1]], np.int32), "mode": mode})
                      for mode in ("REFLECT", "SYMMETRIC")],
    "Pad": [Case({"input": numbers(3, 4), "paddings": np.array([[1, 2], [0, 1]], np.int32)})],
    "PadV2": [Case({"input": numbers(3, 4), "paddings": np.array([[1, 2], [0, 1]], np.int32),
                    "constant_values": np.float64(2.0)}, fixed=("constant_values",))],
    "Reverse": [Case({"tensor": numbers(2, 3), "dims": np.array([True, False])})],
    "ReverseV2": [Case({"tensor": numbers(2, 3), "axis": np.array([1], np.int32)})],
    "ReverseSequence": [Case({"input": numbers(2, 4), "seq_lengths": np.array([3, 2], np.int32), "seq_dim": 1})],
    "Roll": [Case({"input": numbers(3, 4), "shift": np.array([1, -2], np.int32), "axis": np.array([0, 1], np.int32)})],
    "ScatterNd": [Case({"indices": np.array([[4], [1], [4]], np.int32), "updates": numbers(3, 2),
                        "shape": np.array([6, 2], np.int32)})],
    "ScatterNdNonAliasingAdd": [Case({"input": numbers(5), "indices": np.array([[4], [1]], np.int32),
                                      "updates": numbers(2)})],
    **{name: [Case({"tensor": numbers(5), "indices": np.array([[4], [1]], np.int32), "updates": numbers(2)})]
       for name in ("TensorScatterAdd", "TensorScatterSub", "TensorScatterUpdate")},
    "CheckNumerics": [Case({"tensor": numbers(2, 3), "message": "not finite"})],
    "MaxPool": [Case({"input": distinct(2, 4, 5, 2).astype(np.float32), "ksize": [1, 2, 3, 1], "strides": [1, s, s, 1],
                      "padding": p}) for s, p in ((1, "SAME"), (2, "VALID"))],
    "AvgPool": [Case({"value": numbers(2, 4, 5, 2), "ksize": [1, 2, 3, 1], "strides": [1, s, s, 1], "padding": p})
                for s, p in ((1, "SAME"), (2, "VALID"))],
    "AvgPoolGrad": [Case({"orig_input_shape": np.array([2, 4, 5, 2], np.int32), "grad": numbers(2, 4, 5, 2),
                          "ksize": [1, 2, 3, 1], "strides": [1, 1, 1, 1], "padding": "SAME"})],
    "AvgPool3D": [Case({"input": numbers(1, 3, 4, 3, 2), "ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1],
                        "padding": "SAME"})],
    "AvgPool3DGrad": [Case({"orig_input_shape": np.array([1, 3, 4, 3, 2], np.int32), "grad": numbers(1, 3, 4, 3, 2),
                            "ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "SAME"})],
    "MaxPoolWithArgmax": [Case({"input": distinct(2, 4, 5, 2).astype(np.float32), "ksize": [1, 2, 3, 1],
                                "strides": [1, 2, 2, 1], "padding": "VALID"}, outputs=(0,))],
    **{name: [Case({"data": distinct(4, 2), "segment_ids": np.array([0, 0, 2, 2], np.int32)})]
       for name in ("SegmentMax", "SegmentMin", "SegmentMean", "SegmentSum", "SegmentProd")},
    **{name: [Case({"data": distinct(4, 2) + 0.05, "segment_ids": np.array([2, 0, 2, 1], np.int32),
                    "num_segments": np.int32(3)})]
       for name in ("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum")},
    **{name: [Case({"data": numbers(4, 2), "indices": np.array([0, 3, 1, 0], np.int32),
                    "segment_ids": np.array([0, 0, 1, 2], np.int32),
                    **({"num_segments": np.int32(4)} if name.endswith("Segments") else {})})]
       for name in ("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum", "SparseSegmentMeanWithNumSegments",
                    "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSumWithNumSegments")},
    "MaxPool3D": [Case({"input": distinct(1, 3, 4, 3, 2).astype(np.float32), "ksize": [1, 2, 2, 2, 1],
                        "strides": [1, 2, 2, 2, 1], "padding": "SAME"})],
    **{name: [Case({"orig_input": (a := distinct(1, 4, 4, 1).astype(np.float32)),
                    "orig_output": a.reshape(1, 2, 2, 2, 2, 1).max((2, 4)), grad: numbers(
                        *((1, 2, 2, 1) if name == "MaxPoolGrad" else (1, 4, 4, 1))).astype(np.float32),
                    "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
                   fixed=("orig_input", "orig_output"))]
       for name, grad in (("MaxPoolGrad", "grad"), ("MaxPoolGradGrad", "grad"))},
    **{name: [Case({"orig_input": (a := distinct(1, 2, 4, 4, 1).astype(np.float32)),
                    "orig_output": a.reshape(1, 1, 2, 2, 2, 2, 2, 1).max((2, 4, 6)), "grad": numbers(
                        *((1, 1, 2, 2, 1) if name == "MaxPool3DGrad" else (1, 2, 4, 4, 1))).astype(np.float32),
                    "ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"},
                   fixed=("orig_input", "orig_output"), dtype=np.float32)]
       for name in ("MaxPool3DGrad", "MaxPool3DGradGrad")},
    "Tile": [Case({"input": numbers(2, 3), "multiples": np.array([2, 3], np.int32)})],
    "BiasAdd": [Case({"value": numbers(2, 3, 4), "bias": numbers(4)}),
                Case({"value": numbers(2, 3, 4, 2), "bias": numbers(3), "data_format": "NCHW"})],
    "BiasAddV1": [Case({"value": numbers(2, 3), "bias": numbers(3)})],
    "Conv2D": [Case({"input": signed(2, 5, 4, 2), "filter": signed(3, 2, 2, 3), "strides": [1, s, s, 1],
                     "padding": p, "dilations": [1, d, d, 1]}) for s, p, d in
               ((1, "SAME", 1), (2, "VALID", 1), (2, "SAME", 1), (1, "VALID", 2))],
    "Conv2DBackpropInput": [Case({"input_sizes": np.array([2, 5, 4, 2], np.int32), "filter": signed(3, 2, 2, 3),
                                  "out_backprop": signed(2, 5, 4, 3), "strides": [1, 1, 1, 1], "padding": "SAME"})],
    "Conv2DBackpropFilter": [Case({"input": signed(2, 5, 4, 2), "filter_sizes": np.array([3, 2, 2, 3], np.int32),
                                   "out_backprop": signed(2, 5, 4, 3), "strides": [1, 1, 1, 1], "padding": "SAME"})],
    "Conv3D": [Case({"input": signed(1, 3, 4, 3, 2), "filter": signed(2, 2, 2, 2, 2), "strides": [1, 1, 1, 1, 1],
                     "padding": "SAME"})],
    "Conv3DBackpropInputV2": [Case({"input_sizes": np.array([1, 3, 4, 3, 2], np.int32),
                                    "filter": signed(2, 2, 2, 2, 2), "out_backprop": signed(1, 3, 4, 3, 2),
                                    "strides": [1, 1, 1, 1, 1], "padding": "SAME"})],
    "Conv3DBackpropFilterV2": [Case({"input": signed(1, 3, 4, 3, 2),
                                     "filter_sizes": np.array([2, 2, 2, 2, 2], np.int32),
                                     "out_backprop": signed(1, 3, 4, 3, 2), "strides": [1, 1, 1, 1, 1],
                                     "padding": "SAME"})],
    "DepthwiseConv2dNative": [Case({"input": signed(2, 5, 4, 2), "filter": signed(3, 2, 2, 2),
                                    "strides": [1, s, s, 1], "padding": p})
                              for s, p in ((1, "SAME"), (2, "VALID"))],
    "DepthwiseConv2dNativeBackpropInput": [Case({
        "input_sizes": np.array([2, 5, 4, 2], np.int32), "filter": signed(3, 2, 2, 2),
        "out_backprop": signed(2, 5, 4, 4), "strides": [1, 1, 1, 1], "padding": "SAME"})],
    "DepthwiseConv2dNativeBackpropFilter": [Case({
        "input": signed(2, 5, 4, 2), "filter_sizes": np.array([3, 2, 2, 2], np.int32),
        "out_backprop": signed(2, 5, 4, 4), "strides": [1, 1, 1, 1], "padding": "SAME"})],
    "SoftmaxCrossEntropyWithLogits": [Case({"features": signed(3, 4), "labels": np.full((3, 4), 0.25)},
                                           outputs=(0,), fixed=("labels",))],
    "SparseSoftmaxCrossEntropyWithLogits": [Case({"features": signed(3, 4), "labels": np.array([0, 3, 1], np.int32)},
                                                 outputs=(0,))],
    "ClipByValue": [Case({"t": np.array([-2.0, -0.5, 0.5, 2.0]), "clip_value_min": np.float64(-1.0),
                          "clip_value_max": np.float64(1.0)})],
    "Diag": [Case({"diagonal": numbers(3)})],
    "DiagPart": [Case({"input": numbers(3, 3)})],
    "MatrixDiagPart": [Case({"input": numbers(2, 3, 3)})],
    "MatrixSetDiag": [Case({"input": numbers(2, 3, 3), "diagonal": numbers(2, 3)})],
    "MatrixBandPart": [Case({"input": numbers(3, 4), "num_lower": np.int64(1), "num_upper": np.int64(0)})],
    "Qr": [Case({"input": well_conditioned(3, 3)}, tolerance=1e-4)],
    "Svd": [Case({"input": symmetric(3, 3)}, outputs=(0,), tolerance=1e-4)],
    "SelfAdjointEigV2": [Case({"input": symmetric(3, 3)}, outputs=(0,), tolerance=1e-4)],
    "Cholesky": [],
    # TensorFlow's gradient of adjoint=True is that of adjoint=False, and so is ours.
    "MatrixInverse": [Case({"input": well_conditioned(2, 3, 3)})],
    "MatrixDeterminant": [Case({"input": well_conditioned(2, 3, 3)})],
    "LogMatrixDeterminant": [Case({"input": well_conditioned(2, 3, 3)}, outputs=(1,))],
    "MatrixSolve": [Case({"matrix": well_conditioned(3, 3), "rhs": numbers(3, 2), "adjoint": a})
                    for a in (False, True)],
    "MatrixTriangularSolve": [Case({"matrix": np.tril(well_conditioned(3, 3)), "rhs": numbers(3, 2)})],
    "MatrixSolveLs": [Case({"matrix": numbers(4, 2), "rhs": numbers(4, 1), "l2_regularizer": np.float64(0.1)},
                           fixed=("l2_regularizer",), tolerance=1e-4)],
    "MatrixDiagV2": [Case({"diagonal": numbers(2, 3), "k": np.array([-1, 0], np.int32), "num_rows": np.int32(-1),
                           "num_cols": np.int32(-1), "padding_value": np.float64(0)}, fixed=("padding_value",))],
    "MatrixDiagPartV2": [Case({"input": numbers(2, 3, 4), "k": np.array([-1, 1], np.int32),
                               "padding_value": np.float64(0)}, fixed=("padding_value",))],
    "MatrixSetDiagV2": [Case({"input": numbers(2, 3, 4), "diagonal": numbers(2, 3), "k": np.int32(1)})],
    "MatrixExponential": [Case({"input": signed(2, 3, 3)})],
    "MatrixSquareRoot": [Case({"input": well_conditioned(2, 3, 3)}, tolerance=1e-4)],
    "TridiagonalSolve": [Case({"diagonals": numbers(3, 4) + np.array([[0], [4], [0]]), "rhs": numbers(4, 2)})],
    "TridiagonalMatMul": [Case({"superdiag": numbers(1, 4), "maindiag": numbers(1, 4), "subdiag": numbers(1, 4),
                                "rhs": numbers(4, 2)})],
}
