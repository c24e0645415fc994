"""Boxes [y1, x1, y2, x2] in images: drawn, chosen among overlapping ones, chosen by chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import merge_sizes, with_rank, with_size
from tfsandbox.framework.tensor_shape import TensorShape

# ------------------------------------------------------------ drawing

draw_op = register_op("DrawBoundingBoxes", "images: T, boxes: float32 -> output: T",
                      "T: type in {float32, float16} = float32").no_gradient()
draw_v2_op = register_op("DrawBoundingBoxesV2", "images: T, boxes: float32, colors: float32 -> output: T",
                         "T: type in {float32, float16} = float32").no_gradient()

_COLORS = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [.5, 0, .5, 1], [.5, .5, 0, 1],
                    [.5, 0, 0, 1], [0, 0, .5, 1], [0, 1, 1, 1], [1, 0, 1, 1]], np.float32)


@draw_op.shape
@draw_v2_op.shape
def _draw_shape(c: ShapeContext) -> TensorShape:
    images = with_rank(c.shape(0), 4)
    boxes = with_rank(c.shape(1), 3).sizes
    assert boxes is not None
    with_size(boxes[2], 4)
    return images


@draw_v2_op.kernel
def _draw_v2(images: Any, boxes: Any, colors: Any) -> Any:
    depth = images.shape[3]
    if depth not in (1, 3, 4):
        raise errors.InvalidArgumentError(
            None, None, "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    table = np.array(colors if len(colors) else _COLORS, np.float32)
    if depth == 1:
        table[:, 0] = 1
    result = images.copy()
    height, width = images.shape[1:3]
    for image, image_boxes in zip(result, boxes):
        for number, box in enumerate(image_boxes):
            if box[2] < box[0] or box[3] < box[1]:
                continue
            top, bottom = (int(side * np.float32(height - 1)) for side in (box[0], box[2]))
            left, right = (int(side * np.float32(width - 1)) for side in (box[1], box[3]))
            if top >= height or bottom < 0 or left >= width or right < 0:
                continue
            color = table[number % len(table)][:depth]
            rows = slice(max(top, 0), min(bottom, height - 1) + 1)
            columns = slice(max(left, 0), min(right, width - 1) + 1)
            for row in (top, bottom):
                if 0 <= row < height:
                    image[row, columns] = color
            for column in (left, right):
                if 0 <= column < width:
                    image[rows, column] = color
    return result


@draw_op.kernel
def _draw(images: Any, boxes: Any) -> Any:
    return _draw_v2(images, boxes, np.empty((0, 4), np.float32))


def draw_bounding_boxes(images: Any, boxes: Any, name: str | None = None, colors: Any = None) -> Tensor:
    """`images` [n, h, w, c] with the edges of `boxes` [n, boxes, 4], whose corners are between 0 and 1.

    `colors` [colors, c] are used in turn, a table of ten if there are none.
    """
    if colors is None:
        return apply_op("DrawBoundingBoxes", images=images, boxes=boxes, name=name)
    return apply_op("DrawBoundingBoxesV2", images=images, boxes=boxes, colors=colors, name=name)


# ------------------------------------------------------------ non-maximum suppression

_SCORED = "boxes: T, scores: T, max_output_size: int32, iou_threshold: {0}, score_threshold: {0}"
_BOTH_TYPES = "T: type in {float16, float32} = float32; T_threshold: type in {float16, float32} = float32"
suppression_op = register_op("NonMaxSuppression", "boxes: float32, scores: float32, max_output_size: int32 -> "
                             "selected_indices: int32", "iou_threshold: float = 0.5").no_gradient()
suppression_v2_op = register_op("NonMaxSuppressionV2", "boxes: T, scores: T, max_output_size: int32, "
                                "iou_threshold: T_threshold -> selected_indices: int32", _BOTH_TYPES).no_gradient()
suppression_v3_op = register_op("NonMaxSuppressionV3", _SCORED.format("T_threshold") + " -> selected_indices: int32",
                                _BOTH_TYPES).no_gradient()
suppression_v4_op = register_op(
    "NonMaxSuppressionV4", _SCORED.format("T_threshold") + " -> selected_indices: int32, valid_outputs: int32",
    _BOTH_TYPES + "; pad_to_max_output_size: bool = false").no_gradient()
suppression_v5_op = register_op(
    "NonMaxSuppressionV5", _SCORED.format("T") + ", soft_nms_sigma: T -> selected_indices: int32, selected_scores: T, "
    "valid_outputs: int32", "T: type in {float16, float32} = float32; pad_to_max_output_size: bool = false"
).no_gradient()
overlaps_op = register_op(
    "NonMaxSuppressionWithOverlaps", "overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: "
    "float32, score_threshold: float32 -> selected_indices: int32").no_gradient()
combined_op = register_op(
    "CombinedNonMaxSuppression", "boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: "
    "int32, iou_threshold: float32, score_threshold: float32 -> nmsed_boxes: float32, nmsed_scores: float32, "
    "nmsed_classes: float32, valid_detections: int32", "pad_per_class: bool = false; clip_boxes: bool = true"
).no_gradient()


def _chosen_shape(c: ShapeContext, columns: int | None = 4) -> TensorShape:
    boxes, scores = with_rank(c.shape(0), 2).sizes, with_rank(c.shape(1), 1).sizes
    assert boxes is not None and scores is not None
    for i in range(2, c.num_inputs):
        with_rank(c.shape(i), 0)
    merge_sizes(boxes[0], scores[0])
    if columns is not None:
        with_size(boxes[1], columns)
    return TensorShape.from_sizes((None,))


suppression_op.shape(_chosen_shape)
suppression_v2_op.shape(_chosen_shape)
suppression_v3_op.shape(_chosen_shape)
overlaps_op.shape(lambda c: _chosen_shape(c, None))


def _padded_length(c: ShapeContext) -> TensorShape:
    shape = _chosen_shape(c)
    most = c.value(2)
    return shape if most is None or not c.attr("pad_to_max_output_size") else TensorShape([int(most)])


@suppression_v4_op.shape
def _v4_shape(c: ShapeContext) -> list[TensorShape]:
    return [_padded_length(c), TensorShape([])]


@suppression_v5_op.shape
def _v5_shape(c: ShapeContext) -> list[TensorShape]:
    shape = _padded_length(c)
    return [shape, shape, TensorShape([])]


@combined_op.shape
def _combined_shape(c: ShapeContext) -> list[TensorShape]:
    boxes, scores = with_rank(c.shape(0), 4).sizes, with_rank(c.shape(1), 3).sizes
    assert boxes is not None and scores is not None
    per_class, total = c.value(2), c.value(3)
    length = None if total is None else int(total)
    if c.attr("pad_per_class") and length is not None:
        length = None if per_class is None or scores[2] is None else min(length, int(per_class) * scores[2])
    batch = boxes[0]
    flat = TensorShape.from_sizes((batch, length))
    return [flat.concatenate([4]), flat, flat, TensorShape.from_sizes((batch,))]


def _overlaps(boxes: np.ndarray) -> Callable[[int, int], float]:
    """How much of two boxes together belongs to both."""
    top, bottom = np.minimum(boxes[:, 0], boxes[:, 2]), np.maximum(boxes[:, 0], boxes[:, 2])
    left, right = np.minimum(boxes[:, 1], boxes[:, 3]), np.maximum(boxes[:, 1], boxes[:, 3])
    area = (bottom - top) * (right - left)

    def overlap(i: int, j: int) -> float:
        if area[i] <= 0 or area[j] <= 0:
            return 0.0
        height = max(min(bottom[i], bottom[j]) - max(top[i], top[j]), 0)
        width = max(min(right[i], right[j]) - max(left[i], left[j]), 0)
        return height * width / (area[i] + area[j] - height * width)
    return overlap


def _choose(overlap: Callable[[int, int], float], scores: Any, most: int, threshold: float, least: float,
            sigma: float = 0.0) -> tuple[list[int], list[Any]]:
    """(indices, scores) of the best candidates, none of which overlaps a better one as much as `threshold`.

    With `sigma` an overlap lowers a candidate's score instead.
    """
    if not 0 <= threshold <= 1:
        raise errors.InvalidArgumentError(None, None, "iou_threshold must be in [0, 1]")
    waiting = [[score, i, 0] for i, score in enumerate(scores) if score > least]
    chosen: list[int] = []
    chosen_scores: list[Any] = []
    waiting.sort(key=lambda entry: (-entry[0], entry[1]))
    while waiting and len(chosen) < most:
        score, i, seen = waiting.pop(0)
        original, hard = score, False
        for j in reversed(chosen[seen:]):
            shared = overlap(i, j)
            if shared >= threshold:
                hard = True
                break
            if sigma > 0:
                score = score * scores.dtype.type(np.exp(-0.5 / sigma * shared * shared))
            if score <= least:
                break
        if hard:
            continue
        if score == original:
            chosen.append(i)
            chosen_scores.append(score)
        elif score > least:
            waiting.append([score, i, len(chosen)])
            waiting.sort(key=lambda entry: (-entry[0], entry[1]))
    return chosen, chosen_scores


def _indices(chosen: Sequence[int]) -> Any:
    return np.array(chosen, np.int32)


@suppression_v3_op.kernel
def _suppression_v3(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any) -> Any:
    return _indices(_choose(_overlaps(boxes), scores, int(max_output_size), float(iou_threshold),
                            float(score_threshold))[0])


@suppression_v2_op.kernel
def _suppression_v2(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any) -> Any:
    return _suppression_v3(boxes, scores, max_output_size, iou_threshold, -np.inf)


@suppression_op.kernel
def _suppression(boxes: Any, scores: Any, max_output_size: Any, *, iou_threshold: float) -> Any:
    return _suppression_v3(boxes, scores, max_output_size, iou_threshold, -np.inf)


@suppression_v4_op.kernel
def _suppression_v4(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any, *,
                    pad_to_max_output_size: bool) -> tuple[Any, Any]:
    indices = _suppression_v3(boxes, scores, max_output_size, iou_threshold, score_threshold)
    count = len(indices)
    if pad_to_max_output_size:
        indices = np.pad(indices, (0, max(int(max_output_size) - count, 0)))
    return indices, np.int32(count)


@suppression_v5_op.kernel
def _suppression_v5(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any,
                    soft_nms_sigma: Any, *, pad_to_max_output_size: bool) -> tuple[Any, Any, Any]:
    chosen, found = _choose(_overlaps(boxes), scores, int(max_output_size), float(iou_threshold),
                            float(score_threshold), float(soft_nms_sigma))
    indices, values = _indices(chosen), np.array(found, scores.dtype)
    if pad_to_max_output_size:
        missing = (0, max(int(max_output_size) - len(chosen), 0))
        indices, values = np.pad(indices, missing), np.pad(values, missing)
    return indices, values, np.int32(len(chosen))


@overlaps_op.kernel
def _suppression_overlaps(overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any,
                          score_threshold: Any) -> Any:
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise errors.InvalidArgumentError(None, None, "overlaps must be square")
    return _indices(_choose(lambda i, j: overlaps[i, j], scores, int(max_output_size), float(overlap_threshold),
                            float(score_threshold))[0])


@combined_op.kernel
def _combined(boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any, iou_threshold: Any,
              score_threshold: Any, *, pad_per_class: bool, clip_boxes: bool) -> tuple[Any, Any, Any, Any]:
    classes = scores.shape[2]
    length = int(max_total_size)
    if pad_per_class:
        length = min(length, int(max_output_size_per_class) * classes)
    found_boxes = np.zeros((len(boxes), length, 4), np.float32)
    found_scores, found_classes = (np.zeros((len(boxes), length), np.float32) for _ in range(2))
    counts = np.zeros(len(boxes), np.int32)
    for n in range(len(boxes)):
        found = []
        for kind in range(classes):
            candidates = boxes[n, :, kind if boxes.shape[2] > 1 else 0]
            chosen, values = _choose(_overlaps(candidates), scores[n, :, kind], int(max_output_size_per_class),
                                     float(iou_threshold), float(score_threshold))
            found += [(value, kind, candidates[i]) for i, value in zip(chosen, values)]
        found.sort(key=lambda entry: -entry[0])
        counts[n] = len(found[:length])
        for place, (value, kind, box) in enumerate(found[:length]):
            found_boxes[n, place] = np.clip(box, 0, 1) if clip_boxes else box
            found_scores[n, place], found_classes[n, place] = value, kind
    return found_boxes, found_scores, found_classes, counts


def _as_limit(value: Any, name: str) -> Tensor:
    return ops.convert_to_tensor(value, name=name)


def non_max_suppression(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                        score_threshold: Any = float("-inf"), name: str | None = None) -> Tensor:
    """Indices of at most `max_output_size` of `boxes` [n, 4], by falling scores.

    A box is left out that overlaps a better one by `iou_threshold`, or whose score is not above `score_threshold`.
    """
    with ops.name_scope(name, "non_max_suppression"):
        return apply_op("NonMaxSuppressionV3", boxes=boxes, scores=scores, max_output_size=max_output_size,
                        iou_threshold=_as_limit(iou_threshold, "iou_threshold"),
                        score_threshold=_as_limit(score_threshold, "score_threshold"))


def non_max_suppression_padded(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                               score_threshold: Any = float("-inf"), pad_to_max_output_size: bool = False,
                               name: str | None = None) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`: (indices, filled up with zeros if asked for, how many of them count)."""
    with ops.name_scope(name, "non_max_suppression_padded"):
        indices, count = apply_op(
            "NonMaxSuppressionV4", boxes=boxes, scores=scores, max_output_size=max_output_size,
            iou_threshold=_as_limit(iou_threshold, "iou_threshold"),
            score_threshold=_as_limit(score_threshold, "score_threshold"),
            pad_to_max_output_size=pad_to_max_output_size)
        return indices, count


def non_max_suppression_with_scores(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                                    score_threshold: Any = float("-inf"), soft_nms_sigma: Any = 0.0,
                                    name: str | None = None) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`: (indices, scores). With `soft_nms_sigma` an overlap only lowers the score."""
    with ops.name_scope(name, "non_max_suppression_with_scores"):
        indices, found, _ = apply_op(
            "NonMaxSuppressionV5", boxes=boxes, scores=scores, max_output_size=max_output_size,
            iou_threshold=_as_limit(iou_threshold, "iou_threshold"),
            score_threshold=_as_limit(score_threshold, "score_threshold"),
            soft_nms_sigma=_as_limit(soft_nms_sigma, "soft_nms_sigma"), pad_to_max_output_size=False)
        return indices, found


def non_max_suppression_overlaps(overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5,
                                 score_threshold: Any = float("-inf"), name: str | None = None) -> Tensor:
    """As `non_max_suppression`, with the overlaps [n, n] given."""
    with ops.name_scope(name, "non_max_suppression_overlaps"):
        return apply_op("NonMaxSuppressionWithOverlaps", overlaps=overlaps, scores=scores,
                        max_output_size=max_output_size,
                        overlap_threshold=_as_limit(overlap_threshold, "overlap_threshold"),
                        score_threshold=score_threshold)


def combined_non_max_suppression(boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any,
                                 iou_threshold: Any = 0.5, score_threshold: Any = float("-inf"),
                                 pad_per_class: bool = False, clip_boxes: bool = True,
                                 name: str | None = None) -> list[Tensor]:
    """(boxes, scores, classes, counts) by falling scores: `non_max_suppression` of each class of each image.

    `boxes` are [n, boxes, classes or 1, 4], `scores` [n, boxes, classes].
    """
    with ops.name_scope(name, "combined_non_max_suppression"):
        return apply_op("CombinedNonMaxSuppression", boxes=boxes, scores=scores,
                        max_output_size_per_class=max_output_size_per_class, max_total_size=max_total_size,
                        iou_threshold=_as_limit(iou_threshold, "iou_threshold"),
                        score_threshold=_as_limit(score_threshold, "score_threshold"),
                        pad_per_class=pad_per_class, clip_boxes=clip_boxes)


# ------------------------------------------------------------ boxes by chance

_SIZES = "T: type in {uint8, int8, int16, int32, int64}; seed: int = 0; seed2: int = 0"
_RANGES = ("aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1.0]; "
           "max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false")
sample_op = register_op(
    "SampleDistortedBoundingBox", "image_size: T, bounding_boxes: float32 -> begin: T, size: T, bboxes: float32",
    f"{_SIZES}; min_object_covered: float = 0.1; {_RANGES}", stateful=True).no_gradient()
sample_v2_op = register_op(
    "SampleDistortedBoundingBoxV2", "image_size: T, bounding_boxes: float32, min_object_covered: float32 -> begin: T, "
    "size: T, bboxes: float32", f"{_SIZES}; {_RANGES}", stateful=True).no_gradient()


@sample_op.shape
@sample_v2_op.shape
def _sample_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(0), 1)
    boxes = with_rank(c.shape(1), 3).sizes
    assert boxes is not None
    with_size(boxes[2], 4)
    return [TensorShape([3]), TensorShape([3]), TensorShape([1, 1, 4])]


@sample_op.state
@sample_v2_op.state
def _sample_state(op: Operation, session_state: Any) -> Any:
    from tfsandbox.lib.philox import RandomStream
    return RandomStream(op._attrs["seed"], op._attrs["seed2"])


@sample_v2_op.kernel
def _sample_v2(image_size: Any, bounding_boxes: Any, min_object_covered: Any, *, aspect_ratio_range: Sequence[float],
               area_range: Sequence[float], max_attempts: int, use_image_if_no_bounding_boxes: bool,
               state: Any) -> tuple[Any, Any, Any]:
    if len(image_size) != 3:
        raise errors.InvalidArgumentError(None, None, f"image_size must be 1-dimensional{list(image_size.shape)}")
    height, width, channels = image_size.tolist()
    if channels not in (1, 3, 4) or height <= 0 or width <= 0:
        raise errors.InvalidArgumentError(
            None, None, f"image_size must be [height, width, channels] of an image, got {image_size.tolist()}")
    boxes = bounding_boxes.reshape(-1, 4)
    if not len(boxes):
        if not use_image_if_no_bounding_boxes:
            raise errors.InvalidArgumentError(
                None, None, "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if "
                            "you wish to not provide any bounding boxes.")
        boxes = np.array([[0, 0, 1, 1]], np.float32)
    objects = [(int(x1 * width), int(y1 * height), int(x2 * width), int(y2 * height)) for y1, x1, y2, x2 in boxes]
    numbers = state.words(max_attempts)
    low, high = (np.float32(bound) for bound in aspect_ratio_range)
    found = (0, 0, width, height)
    for _ in range(max_attempts):
        ratio = numbers.float() * (high - low) + low
        crop = _random_crop(numbers, width, height, area_range, ratio)
        if crop is not None and any(_covers(crop, box, float(min_object_covered)) for box in objects):
            found = crop
            break
    left, top, right, bottom = found
    begin = np.array([top, left, 0], image_size.dtype)
    size = np.array([bottom - top, right - left, -1]).astype(image_size.dtype)
    scale = np.array([height, width, height, width], np.float32)
    return begin, size, (np.array([top, left, bottom, right], np.float32) / scale).reshape(1, 1, 4)


@sample_op.kernel
def _sample(image_size: Any, bounding_boxes: Any, *, min_object_covered: float, aspect_ratio_range: Sequence[float],
            area_range: Sequence[float], max_attempts: int, use_image_if_no_bounding_boxes: bool,
            state: Any) -> tuple[Any, Any, Any]:
    return _sample_v2(image_size, bounding_boxes, min_object_covered, aspect_ratio_range=aspect_ratio_range,
                      area_range=area_range, max_attempts=max_attempts,
                      use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes, state=state)


def _random_crop(numbers: Any, width: int, height: int, area_range: Sequence[float],
                 ratio: np.float32) -> tuple[int, int, int, int] | None:
    """(left, top, right, bottom) of a random part of an image with that ratio of width to height; None for none."""
    least, most = (np.float32(share) * np.float32(width) * np.float32(height) for share in area_range)
    rows = int(np.rint(np.sqrt(least / ratio)))
    most_rows = int(np.rint(np.sqrt(most / ratio)))
    if np.rint(np.float32(most_rows) * ratio) > width:
        most_rows = int((width + 0.5 - 1e-7) / float(ratio))
    most_rows = min(most_rows, height)
    rows = min(rows, most_rows)
    if rows < most_rows:
        rows += numbers.integer(most_rows - rows + 1)
    columns = int(np.rint(np.float32(rows) * ratio))
    if rows * columns < least:
        rows += 1
        columns = int(np.rint(np.float32(rows) * ratio))
    if rows * columns > most:
        rows -= 1
        columns = int(np.rint(np.float32(rows) * ratio))
    if not (least <= rows * columns <= most and 0 < columns <= width and 0 < rows <= height):
        return None
    top = numbers.integer(height - rows) if rows < height else 0
    left = numbers.integer(width - columns) if columns < width else 0
    return left, top, left + columns, top + rows


def _covers(crop: tuple[int, int, int, int], box: tuple[int, int, int, int], least: float) -> bool:
    area = (box[2] - box[0]) * (box[3] - box[1])
    if area <= 0:
        return False
    width = max(min(crop[2], box[2]) - max(crop[0], box[0]), 0)
    height = max(min(crop[3], box[3]) - max(crop[1], box[1]), 0)
    return not math.isnan(least) and width * height / area >= least


def sample_distorted_bounding_box(
        image_size: Any, bounding_boxes: Any, seed: int | None = None, seed2: int | None = None,
        min_object_covered: Any = 0.1, aspect_ratio_range: Sequence[float] | None = None,
        area_range: Sequence[float] | None = None, max_attempts: int | None = None,
        use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None) -> list[Tensor]:
    """(begin, size, boxes [1, 1, 4]) of a random part of an image of size [h, w, c]; begin and size go into `tf.slice`.

    It covers at least `min_object_covered` of one of `bounding_boxes` [1, n, 4], has a ratio of width to height and a
    share of the area within the ranges, or after `max_attempts` is the whole image.
    """
    with ops.name_scope(name, "sample_distorted_bounding_box"):
        return apply_op("SampleDistortedBoundingBoxV2", image_size=image_size, bounding_boxes=bounding_boxes,
                        min_object_covered=min_object_covered, seed=seed, seed2=seed2,
                        aspect_ratio_range=aspect_ratio_range, area_range=area_range, max_attempts=max_attempts,
                        use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes)
