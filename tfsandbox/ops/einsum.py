"""einsum: sums of products, written as an equation between axis labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, binary_ops, matmul, reductions, tensor_products

__all__ = ["einsum"]


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """The tensor that an equation such as "ij,jk->ik" describes: each letter is an axis, letters that are missing on
    the right are summed over. Without "->" the letters that occur once are kept, in alphabetical order.

    `ValueError` for an equation that does not fit the inputs, `TypeError` for keywords other than `name`.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError("invalid keyword arguments for this function: " + ", ".join(sorted(kwargs)))
    with ops.name_scope(name, "einsum", [equation, *inputs]):
        tensors = [ops.convert_to_tensor(x, name="input") if not isinstance(x, Tensor) else x for x in inputs]
        labels, output = _parse(equation, [x.shape for x in tensors])
        for part in labels:
            repeated = [a for a in part if part.count(a) > 1]
            if repeated and len(labels) == 1 and len(part) == 2 and "->" not in equation:
                return tensor_products.trace(tensors[0])
            if repeated:
                raise ValueError(f"Subscript not supported: an axis appears more than once: {part}")
        for label in {a for part in labels for a in part}:
            if label not in output and sum(label in part for part in labels) > 2:
                return _all_at_once(tensors, labels, output)
        total, total_labels = tensors[0], labels[0]
        for tensor, part in zip(tensors[1:], labels[1:]):
            summed = set(total_labels) & set(part) - set(output)
            total, total_labels = _pair(total, total_labels, tensor, part, summed)
        missing = [i for i, a in enumerate(total_labels) if a not in output]
        if missing:
            total = reductions.reduce_sum(total, axis=missing)
            total_labels = "".join(a for a in total_labels if a in output)
        if sorted(total_labels) != sorted(output):
            raise ValueError(f"Invalid equation: {equation}")
        return _turned(total, [total_labels.index(a) for a in output])


def _parse(equation: str, shapes: Sequence[Any]) -> tuple[list[str], str]:
    """The labels of each input and of the output; an ellipsis becomes labels of its own."""
    text = equation.replace(" ", "")
    match = re.match(r"^([a-zA-Z,.]+)(->[a-zA-Z.]*)?$", text)
    if not match:
        raise ValueError(f"Indices have incorrect format: {text}")
    labels = match.group(1).split(",")
    output = match.group(2)[2:] if match.group(2) else None
    if len(shapes) != len(labels):
        raise ValueError(f"Got {len(shapes)} arguments for equation \"{text}\", expecting {len(labels)}")
    unused = [chr(i) for i in range(ord("a"), ord("z") + 1) if chr(i) not in text]
    longest = ""
    for i, (part, shape) in enumerate(zip(labels, shapes)):
        if "." in part:
            pieces = part.split("...")
            if len(pieces) != 2 or "." in "".join(pieces):
                raise ValueError(f"Unable to resolve ellipsis. Excess number found: {part}")
            if shape.ndims is None:
                raise ValueError("Unable to statically infer ellipsis axes.")
            count = shape.ndims - len(pieces[0]) - len(pieces[1])
            if count < 0 or count > len(unused):
                raise ValueError("Unable to resolve ellipsis, too few axes in the input")
            # The axes of an ellipsis are matched from the right.
            extra = "".join(unused[len(unused) - count:])
            longest = extra if len(extra) > len(longest) else longest
            labels[i] = pieces[0] + extra + pieces[1]
        elif shape.ndims is not None and shape.ndims != len(part):
            raise ValueError(f"Input {i} has rank {shape.ndims}, its subscripts are {part}")
    if output is None:
        whole = "".join(labels)
        return labels, longest + "".join(sorted(a for a in set(whole) if whole.count(a) == 1 and a not in longest))
    if "." in output:
        output = output.replace("...", longest, 1)
    return labels, output


def _turned(tensor: Tensor, order: list[int]) -> Tensor:
    return array_ops.transpose(tensor, perm=order) if order != list(range(len(order))) else tensor


def _pair(left: Tensor, left_labels: str, right: Tensor, right_labels: str, summed: set[str]) -> tuple[Tensor, str]:
    """The product of two tensors, summed over `summed`, as one product of (batches of) matrices."""
    shared = sorted(set(left_labels) & set(right_labels) - summed)
    only_left = sorted(set(left_labels) - set(shared) - summed)
    only_right = sorted(set(right_labels) - set(shared) - summed)
    contracted = sorted(summed)
    left = _turned(left, [left_labels.index(a) for a in shared + only_left + contracted])
    right = _turned(right, [right_labels.index(a) for a in shared + contracted + only_right])
    kept = "".join(shared + only_left + only_right)
    if not contracted:
        for _ in only_right:
            left = array_ops.expand_dims(left, -1)
        for _ in only_left:
            right = array_ops.expand_dims(right, len(shared))
        return binary_ops.multiply(left, right), kept
    left_sizes = _sizes(left)
    batch = len(shared)
    count = _total(left_sizes[batch + len(only_left):])
    rows = _total(left_sizes[batch:batch + len(only_left)])
    left = _reshaped(left, [*left_sizes[:batch], rows, count])
    right_sizes = _sizes(right)
    columns = _total(right_sizes[batch + len(contracted):])
    right = _reshaped(right, [*right_sizes[:batch], count, columns])
    product = matmul.matmul(left, right)
    return _reshaped(product, left_sizes[:batch + len(only_left)] + right_sizes[batch + len(contracted):]), kept


def _sizes(tensor: Tensor) -> list[Any]:
    """The sizes of the axes: numbers where known, else slices of the shape."""
    sizes: list[Any] = tensor.shape.as_list()
    if None in sizes:
        shape = array_ops.shape(tensor)
        sizes = [shape[i] if size is None else size for i, size in enumerate(sizes)]
    return sizes


def _total(sizes: Sequence[Any]) -> Any:
    total: Any = 1
    for size in sizes:
        total = total * size
    return total


def _reshaped(tensor: Tensor, sizes: Sequence[Any]) -> Tensor:
    current = tensor.shape.as_list()
    if len(current) == len(sizes) and all(isinstance(n, int) and m == n for m, n in zip(current, sizes)):
        return tensor
    return array_ops.reshape(tensor, tuple(sizes))


def _all_at_once(tensors: Sequence[Tensor], labels: Sequence[str], output: str) -> Tensor:
    """The sum of the product over all axes at once; needs memory for the whole product."""
    missing = sorted({a for part in labels for a in part} - set(output))
    order = list(output) + missing
    product: Tensor | None = None
    for tensor, part in zip(tensors, labels):
        present = [a for a in order if a in part]
        tensor = _turned(tensor, [part.index(a) for a in present])
        for i, label in enumerate(order):
            if label not in part:
                tensor = array_ops.expand_dims(tensor, i)
        product = tensor if product is None else product * tensor
    assert product is not None
    return reductions.reduce_sum(product, list(range(len(output), len(order)))) if missing else product
