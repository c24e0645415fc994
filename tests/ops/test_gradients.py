"""Every op that has a gradient, against central differences. The registry says which there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
from tests.ops.gradient_cases import CASES as GENERAL_CASES
from tests.ops.gradient_cases import NOT_TESTED, Case, numbers
from tests.ops.gradient_cases_images import IMAGE_CASES
from tests.ops.gradient_cases_nn import NN_CASES
from tests.ops.gradient_cases_sparse import SPARSE_CASES
from tfsandbox.framework import op_registry
from tfsandbox.framework.op_def_library import apply_op_helper

CASES = GENERAL_CASES | SPARSE_CASES | IMAGE_CASES | NN_CASES
DIFFERENTIABLE = sorted(name for name, op in op_registry.registered().items() if op.gradient_fn is not None)


def default_case(definition: op_registry.OpDef) -> Case:
    arguments: dict[str, Any] = {}
    for arg in definition.inputs:
        floating = (arg.type_attr and (definition.attrs[arg.type_attr].allowed is None or
                                       tf.float32 in definition.attrs[arg.type_attr].allowed)) or \
            arg.type_list_attr or (arg.type is not None and arg.type.is_floating)
        if not floating:
            pytest.fail(f"{definition.name} takes {arg.name}, which is not floating: give it a case")
        arguments[arg.name] = [numbers(2, 3), numbers(2, 3)] if arg.is_list else numbers(2, 3)
    return Case(arguments)


def widest(definition: op_registry.OpDef, arg: op_registry.ArgDef) -> type:
    """float64 where the op takes it: differences are precise there."""
    if arg.type is not None:
        return arg.type.as_numpy_dtype
    allowed = None if arg.type_attr is None else definition.attrs[arg.type_attr].allowed
    return np.float64 if allowed is None or tf.float64 in allowed else np.float32


def is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and np.asarray(value).dtype.kind == "f"


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient_is_the_slope(name: str) -> None:
    if name in NOT_TESTED:
        pytest.skip(NOT_TESTED[name])
    definition = op_registry.get(name)
    cases = CASES[name] if name in CASES else [default_case(definition)]
    if not cases:
        pytest.skip("complex or constrained inputs: has a test of its own in test_gradients_special.py")
    for case in cases:
        check(definition, case)


def check(definition: op_registry.OpDef, case: Case) -> None:
    rng = np.random.RandomState(1)
    with tf.Graph().as_default(), tf.Session() as sess:
        arguments: dict[str, Any] = dict(case.arguments)
        fed: list[tuple[Any, np.ndarray]] = []
        for arg in definition.inputs:
            value = arguments[arg.name]
            dtype = case.dtype or widest(definition, arg)

            def feedable(one: Any, arg: Any = arg, dtype: type = dtype) -> Any:
                if not is_float(one) or arg.name in case.fixed:
                    return tf.constant(one if not is_float(one) else np.asarray(one, dtype))
                array = np.asarray(one, dtype)
                tensor = tf.placeholder(tf.as_dtype(dtype), array.shape)
                fed.append((tensor, array))
                return tensor
            arguments[arg.name] = [feedable(v) for v in value] if arg.is_list else feedable(value)
        op = apply_op_helper(definition.name, None, arguments)
        chosen = range(len(op.outputs)) if case.outputs is None else case.outputs
        outputs = [op.outputs[i] for i in chosen if op.outputs[i].dtype.is_floating]
        assert outputs and fed, "nothing to differentiate: give the op a case in gradient_cases.py"
        feed = dict(fed)
        values = sess.run(outputs, feed)
        weights = [rng.uniform(0.5, 1.5, np.shape(v)).astype(np.asarray(v).dtype) for v in values]
        found = tf.gradients(outputs, [t for t, _ in fed], grad_ys=[tf.constant(w) for w in weights])
        single = any(array.dtype == np.float32 for _, array in fed) or any(
            np.asarray(v).dtype == np.float32 for v in values)
        tolerance = case.tolerance or (2e-2 if single else 2e-5)
        step = 1e-2 if single else 1e-5
        for (tensor, array), gradient in zip(fed, found):
            exact = np.zeros(array.shape) if gradient is None else dense(sess.run(gradient, feed), array.shape)
            assert exact.shape == array.shape
            numeric = np.zeros(array.shape)
            for place in np.ndindex(array.shape):
                sums = []
                for sign in (1, -1):
                    moved = array.copy()
                    moved[place] += sign * step
                    results = sess.run(outputs, {**feed, tensor: moved})
                    sums.append(sum(float(np.sum(np.float64(r) * w)) for r, w in zip(results, weights)))
                numeric[place] = (sums[0] - sums[1]) / (2 * step)
            np.testing.assert_allclose(exact, numeric, rtol=tolerance, atol=tolerance,
                                       err_msg=f"gradient of {definition.name} with respect to {tensor.name}")


def dense(value: Any, shape: tuple[int, ...]) -> np.ndarray:
    if not isinstance(value, np.ndarray | np.generic):
        result = np.zeros(shape)
        np.add.at(result, np.asarray(value.indices), value.values)
        return result
    return np.asarray(value)
