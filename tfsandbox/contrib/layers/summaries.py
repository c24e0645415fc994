"""Summaries of tensors, and of all that is noted in a collection."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import math_ops, summary_ops

__all__ = ["summarize_activation", "summarize_activations", "summarize_biases", "summarize_collection",
           "summarize_tensor", "summarize_tensors", "summarize_variables", "summarize_weights"]


def _add_scalar_summary(tensor: Any, tag: str | None = None) -> Tensor:
    tensor.get_shape().assert_has_rank(0)
    return summary_ops.scalar(tag or f"{tensor.op.name}_summary", tensor)


def _add_histogram_summary(tensor: Any, tag: str | None = None) -> Tensor:
    return summary_ops.histogram(tag or f"{tensor.op.name}_summary", tensor)


def summarize_activation(op: Any) -> Tensor:
    """A histogram of an activation, and the share of its zeros (relu) or saturated elements."""
    kind = op.op.type
    if kind in ("Relu", "Softplus", "Relu6"):
        inputs = op.op.inputs[0]
        below = math_ops.less(inputs, math_ops.cast(0.0, inputs.dtype))
        _add_scalar_summary(math_ops.reduce_mean(math_ops.to_float(below)), f"{op.op.name}/zeros")
        if kind == "Relu6":
            above = math_ops.greater(inputs, math_ops.cast(6.0, inputs.dtype))
            _add_scalar_summary(math_ops.reduce_mean(math_ops.to_float(above)), f"{op.op.name}/sixes")
    return _add_histogram_summary(op, f"{op.op.name}/activation")


def summarize_tensor(tensor: Any, tag: str | None = None) -> Tensor:
    """A scalar summary of a scalar, a histogram of anything else."""
    if tensor.get_shape().ndims == 0:
        return _add_scalar_summary(tensor, tag)
    return _add_histogram_summary(tensor, tag)


def summarize_tensors(tensors: Iterable[Any], summarizer: Callable[..., Any] = summarize_tensor) -> list[Any]:
    """A summary of each tensor."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection: Any, name_filter: str | None = None,
                         summarizer: Callable[..., Any] = summarize_tensor) -> list[Any]:
    """A summary of each tensor of a collection whose name matches `name_filter` from its start."""
    return summarize_tensors([t for t in ops.get_collection(collection)
                              if name_filter is None or re.match(name_filter, t.op.name)], summarizer)


summarize_variables = functools.partial(summarize_collection, GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, GraphKeys.BIASES)


def summarize_activations(name_filter: str | None = None,
                          summarizer: Callable[..., Any] = summarize_activation) -> list[Any]:
    """A summary of each tensor noted in ACTIVATIONS."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
