"""Graph tensors among the values of a constant (what else is converted how is in test_recorded)."""

from typing import Any

import pytest

from tfsandbox.framework import dtypes
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import Graph
from tfsandbox.framework.tensor_util import as_ndarray

# The texts are those of tf.make_tensor_proto in TensorFlow 1.15.
SINGLE = "List of Tensors when single Tensor expected"


@pytest.mark.parametrize(
    ("pattern", "dtype", "message"),
    [
        ("{t}", None, SINGLE),
        ("[{t}]", None, SINGLE),
        ("[1, {t}]", None, SINGLE),
        ("[[{t}], [1.0]]", None, SINGLE),
        ("['a', {t}]", None, SINGLE),
        ("[{t}]", dtypes.int32,
         "Expected int32, got <tf.Tensor 'Const:0' shape=() dtype=float32> of type 'Tensor' instead."),
        ("[1, {t}]", dtypes.bool, "Expected bool, got 1 of type 'int' instead."),
    ],
)  # fmt: skip
def test_tensors_are_no_values(pattern: str, dtype: Any, message: str) -> None:
    with Graph().as_default():
        values = eval(pattern.format(t="t"), {"t": constant(1.0)})
        with pytest.raises(TypeError) as raised:
            as_ndarray(values, dtype)
    assert str(raised.value) == message
