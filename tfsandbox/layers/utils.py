"""The names of `tensorflow.python.layers.utils`: arguments of convolutions and pooling in one form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import control_flow_ops


def convert_data_format(data_format: str, ndim: int) -> str:
    """'channels_last' or 'channels_first' as the ops' layout for inputs of this rank: 'NHWC', 'NCHW', ..."""
    layouts = {"channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"}, "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"}}
    if data_format not in layouts:
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in layouts[data_format]:
        raise ValueError("Input rank not supported:", ndim)
    return layouts[data_format][ndim]


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """An int, or n of them, as a tuple of n; `ValueError` naming the argument otherwise."""
    if isinstance(value, int):
        return (value,) * n
    try:
        values = tuple(value)
    except TypeError:
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}") from None
    if len(values) != n:
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")
    for single in values:
        try:
            int(single)
        except (ValueError, TypeError):
            raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value} including "
                             f"element {single} of type {type(single)}") from None
    return values


def normalize_data_format(value: Any) -> str:
    """'channels_last' or 'channels_first', in lower case."""
    data_format = "channels_last" if value is None else value.lower()
    if data_format not in {"channels_first", "channels_last"}:
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". Received: '
                         + str(value))
    return data_format


def normalize_padding(value: Any) -> str:
    """'valid', 'same' or 'causal', in lower case."""
    if isinstance(value, (list, tuple)):
        return value  # type: ignore[return-value]
    padding = value.lower()
    if padding not in {"valid", "same", "causal"}:
        raise ValueError('The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for '
                         f'`Conv1D). Received: {padding}')
    return padding


def conv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int,
                       dilation: int = 1) -> int | None:
    """How many windows of a convolution fit along an axis."""
    if input_length is None:
        return None
    span = filter_size + (filter_size - 1) * (dilation - 1)
    length = {"same": input_length, "causal": input_length, "valid": input_length - span + 1,
              "full": input_length + span - 1}[padding]
    return (length + stride - 1) // stride


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The length of the input that gives so many windows."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length: Any, filter_size: int, padding: str, stride: int) -> Any:
    """The length that a transposed convolution gives, of a number or a scalar tensor."""
    if input_length is None:
        return None
    length = input_length * stride
    if padding == "valid":
        length = length + max(filter_size - stride, 0)
    elif padding == "full":
        length = length - (stride + filter_size - 2)
    return length


def smart_cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
               name: str | None = None) -> Any:
    """One of two functions, now where the predicate is known while building, else by `tf.cond`."""
    assert true_fn is not None and false_fn is not None
    return control_flow_ops.smart_cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def constant_value(pred: Any) -> bool | None:
    """The value of a predicate known while building, else None."""
    return control_flow_ops.smart_constant_value(pred)


def get_reachable_from_inputs(inputs: Sequence[Any], targets: Sequence[Any] | None = None) -> set[Any]:
    """The tensors and operations that depend on the inputs; the search ends once all targets are found."""
    reachable: set[Any] = set(inputs)
    wanted = set(targets) if targets is not None else None
    queue = list(inputs)
    while queue:
        item = queue.pop()
        if isinstance(item, Operation):
            found: list[Any] = list(item.outputs)
        elif isinstance(item, Tensor):
            found = item.consumers()
        else:
            found = [item.op] if hasattr(item, "op") else []
        for output in found:
            if output not in reachable:
                reachable.add(output)
                queue.append(output)
        if wanted is not None and wanted <= reachable:
            return reachable
    return reachable
