"""Inputs for the finite-difference test of ops on images: sizes and boxes must fit them."""

from __future__ import annotations

import numpy as np

from tests.ops.gradient_cases import Case, distinct, numbers

SIZES = [{"size": np.array([5, 3], np.int32)}, {"size": np.array([2, 4], np.int32), "align_corners": True},
         {"size": np.array([2, 5], np.int32), "half_pixel_centers": True}]
# No corner of a sample lies on a pixel, where the slope jumps.
BOXES = np.array([[0.12, 0.23, 0.83, 0.94], [0.05, 0.02, 0.51, 0.57]])

IMAGE_CASES: dict[str, list[Case]] = {
    "ResizeBilinear": [Case({"images": numbers(1, 3, 4, 2), **size}) for size in SIZES],
    "ResizeBicubic": [Case({"images": numbers(1, 3, 4, 2), **size}) for size in SIZES],
    "ResizeNearestNeighbor": [Case({"images": numbers(1, 3, 4, 2), **size}) for size in SIZES],
    "CropAndResize": [Case({"image": numbers(2, 4, 5, 1), "boxes": BOXES, "box_ind": np.array([1, 0], np.int32),
                            "crop_size": np.array([3, 2], np.int32)}, tolerance=5e-2)],
    "ExtractImagePatches": [Case({"images": numbers(1, 4, 5, 2), "ksizes": [1, 2, 3, 1], "strides": [1, 1, 2, 1],
                                  "rates": [1, *rates, 1], "padding": padding})
                            for rates in ([1, 1], [2, 1]) for padding in ("SAME", "VALID")],
    "RGBToHSV": [Case({"images": distinct(2, 2, 3) + 1.2}, dtype=np.float32)],  # TensorFlow has it for no other type
}
