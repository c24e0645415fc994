"""Activation functions: the rectifiers, softplus and softsign, softmax and its logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import with_rank_at_least
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.lib.matrix_reductions import row_maxima, row_sums
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops.nn_shapes import invalid

__all__: list[str] = []

_FLOATS = "T: type in {float16, bfloat16, float32, float64}"
_REALS = "T: type in {realnumbertype}"

# ------------------------------------------------------------ relu

relu_op = register_op("Relu", "features: T -> activations: T", "T: type in {realnumbertype, qint8}")
relu_grad_op = register_op("ReluGrad", "gradients: T, features: T -> backprops: T", _REALS)
relu_op.shape(shape_inference.unchanged)
relu_grad_op.shape(shape_inference.merged)


@relu_op.kernel
def _relu(features: Any) -> Any:
    return np.maximum(features, features.dtype.type(0))


@relu_op.emit
def _relu_emit(node: Any) -> str | None:
    # Below numpy 2 a scalar of rank 0 and a Python number make a float64.
    return "np.maximum({0}, 0)" if node.shape(0).ndims else None


@relu_op.gradient
def _relu_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [relu_grad(grad, op.outputs[0])]


@relu_grad_op.kernel
def _relu_grad(gradients: Any, features: Any) -> Any:
    return gradients * (features > 0)


@relu_grad_op.emit
def _relu_grad_emit(node: Any) -> str:
    return "{0} * ({1} > 0)"


@relu_grad_op.gradient
def _relu_grad_gradient(op: Operation, grad: Tensor) -> list[Any]:
    features = op.inputs[1]
    return [relu_grad(grad, features), array_ops.zeros(array_ops.shape(features), features.dtype)]


def relu(features: Any, name: str | None = None) -> Tensor:
    """max(features, 0), element by element."""
    return apply_op("Relu", features=features, name=name)


def relu_grad(gradients: Any, features: Any, name: str | None = None) -> Tensor:
    """The gradient of relu: `gradients` where `features` (or relu's output) is positive, else 0."""
    return apply_op("ReluGrad", gradients=gradients, features=features, name=name)


# ------------------------------------------------------------ relu6

relu6_op = register_op("Relu6", "features: T -> activations: T", _REALS)
relu6_grad_op = register_op("Relu6Grad", "gradients: T, features: T -> backprops: T", _REALS)
relu6_op.shape(shape_inference.unchanged)
relu6_grad_op.shape(shape_inference.merged)


@relu6_op.kernel
def _relu6(features: Any) -> Any:
    number = features.dtype.type
    return np.minimum(np.maximum(features, number(0)), number(6))


@relu6_op.gradient
def _relu6_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [relu6_grad(grad, op.outputs[0])]


@relu6_grad_op.kernel
def _relu6_grad(gradients: Any, features: Any) -> Any:
    return gradients * ((features > 0) & (features < 6))


@relu6_grad_op.gradient
def _relu6_grad_gradient(op: Operation, grad: Tensor) -> list[Any]:
    features = op.inputs[1]
    return [relu6_grad(grad, features), array_ops.zeros(array_ops.shape(features), features.dtype)]


def relu6(features: Any, name: str | None = None) -> Tensor:
    """min(max(features, 0), 6). Source: Krizhevsky, Convolutional Deep Belief Networks on CIFAR-10, 2010."""
    with ops.name_scope(name, "Relu6", [features]) as name:
        features = ops.convert_to_tensor(features, name="features")
        return apply_op("Relu6", features=features, name=name)


def relu6_grad(gradients: Any, features: Any, name: str | None = None) -> Tensor:
    """The gradient of relu6: `gradients` where `features` lies between 0 and 6, else 0."""
    return apply_op("Relu6Grad", gradients=gradients, features=features, name=name)


# ------------------------------------------------------------ leaky relu

leaky_relu_op = register_op("LeakyRelu", "features: T -> activations: T",
                            "alpha: float = 0.2; T: type in {float16, bfloat16, float32, float64} = float32")
leaky_relu_grad_op = register_op("LeakyReluGrad", "gradients: T, features: T -> backprops: T",
                                 "alpha: float = 0.2; T: type in {float16, bfloat16, float32, float64} = float32")
leaky_relu_op.shape(shape_inference.unchanged)
leaky_relu_grad_op.shape(shape_inference.merged)


@leaky_relu_op.kernel
def _leaky_relu(features: Any, *, alpha: float) -> Any:
    factor = features.dtype.type(alpha)
    if 0 <= alpha <= 1:
        return np.maximum(features, features * factor)
    return np.where(features > 0, features, features * factor)


@leaky_relu_op.gradient
def _leaky_relu_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [leaky_relu_grad(grad, op.inputs[0], op.get_attr("alpha"))]


@leaky_relu_grad_op.kernel
def _leaky_relu_grad(gradients: Any, features: Any, *, alpha: float) -> Any:
    return np.where(features > 0, gradients, gradients * gradients.dtype.type(alpha))


@leaky_relu_grad_op.gradient
def _leaky_relu_grad_gradient(op: Operation, grad: Tensor) -> list[Any]:
    features = op.inputs[1]
    return [leaky_relu_grad(grad, features, op.get_attr("alpha")),
            array_ops.zeros(array_ops.shape(features), features.dtype)]


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features` where positive, `alpha * features` elsewhere. Integers become float32.

    Source: Maas, Hannun and Ng, Rectifier Nonlinearities Improve Neural Network Acoustic Models, 2013.
    """
    with ops.name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = ops.convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, "float32")
        if isinstance(alpha, np.ndarray):
            alpha = alpha.item()
        return apply_op("LeakyRelu", features=features, alpha=alpha, name=name)


def leaky_relu_grad(gradients: Any, features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """The gradient of leaky_relu: `gradients` where `features` is positive, `alpha * gradients` elsewhere."""
    return apply_op("LeakyReluGrad", gradients=gradients, features=features, alpha=alpha, name=name)


# ------------------------------------------------------------ elu

elu_op = register_op("Elu", "features: T -> activations: T", _FLOATS)
elu_grad_op = register_op("EluGrad", "gradients: T, outputs: T -> backprops: T", _FLOATS)
elu_op.shape(shape_inference.unchanged)
elu_grad_op.shape(shape_inference.merged)


@elu_op.kernel
def _elu(features: Any) -> Any:
    # exp(x) - 1 as TensorFlow computes it, although expm1 would keep more digits next to 0.
    return np.where(features < 0, np.exp(features) - features.dtype.type(1), features)


@elu_op.gradient
def _elu_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [elu_grad(grad, op.outputs[0])]


@elu_grad_op.kernel
def _elu_grad(gradients: Any, outputs: Any) -> Any:
    return np.where(outputs < 0, (outputs + outputs.dtype.type(1)) * gradients, gradients)


@elu_grad_op.gradient
def _elu_grad_gradient(op: Operation, grad: Tensor) -> list[Any]:
    gradients, outputs = op.inputs
    return [elu_grad(grad, outputs),
            array_ops.where(outputs < 0, grad * gradients, array_ops.zeros_like(outputs))]


def elu(features: Any, name: str | None = None) -> Tensor:
    """exp(features) - 1 where negative, `features` elsewhere.

    Source: Clevert, Unterthiner and Hochreiter, Fast and Accurate Deep Network Learning by Exponential Linear Units,
    2016.
    """
    return apply_op("Elu", features=features, name=name)


def elu_grad(gradients: Any, outputs: Any, name: str | None = None) -> Tensor:
    """The gradient of elu, from its outputs: gradients * (outputs + 1) where negative, else `gradients`."""
    return apply_op("EluGrad", gradients=gradients, outputs=outputs, name=name)


# ------------------------------------------------------------ selu

_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALED_ALPHA = 1.7580993408473768599402175208123

selu_op = register_op("Selu", "features: T -> activations: T", _FLOATS)
selu_grad_op = register_op("SeluGrad", "gradients: T, outputs: T -> backprops: T", _FLOATS)
selu_op.shape(shape_inference.unchanged)
selu_grad_op.shape(shape_inference.merged)


@selu_op.kernel
def _selu(features: Any) -> Any:
    number = features.dtype.type
    return np.where(features < 0, number(_SELU_SCALED_ALPHA) * (np.exp(features) - number(1)),
                    number(_SELU_SCALE) * features)


@selu_op.gradient
def _selu_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [selu_grad(grad, op.outputs[0])]


@selu_grad_op.kernel
def _selu_grad(gradients: Any, outputs: Any) -> Any:
    number = outputs.dtype.type
    return np.where(outputs < 0, gradients * (outputs + number(_SELU_SCALED_ALPHA)), gradients * number(_SELU_SCALE))


@selu_grad_op.gradient
def _selu_grad_gradient(op: Operation, grad: Tensor) -> list[Any]:
    gradients, outputs = op.inputs
    return [selu_grad(grad, outputs),
            array_ops.where(outputs < 0, grad * gradients, array_ops.zeros_like(outputs))]


def selu(features: Any, name: str | None = None) -> Tensor:
    """scale * alpha * (exp(features) - 1) where negative, scale * features elsewhere.

    Source: Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """
    return apply_op("Selu", features=features, name=name)


def selu_grad(gradients: Any, outputs: Any, name: str | None = None) -> Tensor:
    """The gradient of selu, from its outputs."""
    return apply_op("SeluGrad", gradients=gradients, outputs=outputs, name=name)


# ------------------------------------------------------------ softplus and softsign

softplus_op = register_op("Softplus", "features: T -> activations: T", _FLOATS)
softplus_grad_op = register_op("SoftplusGrad", "gradients: T, features: T -> backprops: T", _FLOATS)
softplus_op.shape(shape_inference.unchanged)
softplus_grad_op.shape(shape_inference.merged)


@softplus_op.kernel
def _softplus(features: Any) -> Any:
    return np.logaddexp(features, features.dtype.type(0))


@softplus_op.gradient
def _softplus_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [grad * math_ops.sigmoid(op.inputs[0])]


@softplus_grad_op.kernel
def _softplus_grad(gradients: Any, features: Any) -> Any:
    return gradients / (np.exp(-features) + features.dtype.type(1))


@softplus_grad_op.gradient
def _softplus_grad_gradient(op: Operation, grad: Tensor) -> list[Any]:
    gradients, features = op.inputs
    with ops.control_dependencies([grad]):
        # The derivative of sigmoid(x) is 1 / (exp(-x) + 2 + exp(x)).
        return [softplus_grad(grad, features),
                grad * gradients / (math_ops.exp(-features) + 2.0 + math_ops.exp(features))]


def softplus(features: Any, name: str | None = None) -> Tensor:
    """log(exp(features) + 1)."""
    return apply_op("Softplus", features=features, name=name)


def softplus_grad(gradients: Any, features: Any, name: str | None = None) -> Tensor:
    """gradients * sigmoid(features)."""
    return apply_op("SoftplusGrad", gradients=gradients, features=features, name=name)


softsign_op = register_op("Softsign", "features: T -> activations: T", _FLOATS)
softsign_grad_op = register_op("SoftsignGrad", "gradients: T, features: T -> backprops: T", _FLOATS)
softsign_op.shape(shape_inference.unchanged)
softsign_grad_op.shape(shape_inference.merged)


@softsign_op.kernel
def _softsign(features: Any) -> Any:
    return features / (np.abs(features) + features.dtype.type(1))


@softsign_op.gradient
def _softsign_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [softsign_grad(grad, op.inputs[0])]


@softsign_grad_op.kernel
def _softsign_grad(gradients: Any, features: Any) -> Any:
    return gradients / np.square(np.abs(features) + features.dtype.type(1))


def softsign(features: Any, name: str | None = None) -> Tensor:
    """features / (abs(features) + 1)."""
    return apply_op("Softsign", features=features, name=name)


def softsign_grad(gradients: Any, features: Any, name: str | None = None) -> Tensor:
    """gradients / (1 + abs(features))**2."""
    return apply_op("SoftsignGrad", gradients=gradients, features=features, name=name)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """relu of `features` and of `-features`, side by side along `axis`.

    Source: Shang et al., Understanding and Improving Convolutional Neural Networks via Concatenated Rectified Linear
    Units, 2016.
    """
    with ops.name_scope(name, "CRelu", [features]) as name:
        features = ops.convert_to_tensor(features, name="features")
        return relu(array_ops.concat([features, -features], axis, name=name))


# ------------------------------------------------------------ swish


def swish(features: Any) -> Tensor:
    """features * sigmoid(features), of which the gradient keeps nothing but `features`."""
    from tfsandbox.ops.custom_gradient import custom_gradient

    @custom_gradient
    def build(features: Tensor) -> tuple[Tensor, Any]:
        def gradient(dy: Tensor) -> Tensor:
            # Made anew where the gradient has come, not kept until then.
            with ops.control_dependencies([dy]):
                gate = math_ops.sigmoid(features)
            return dy * (gate * (1.0 + features * (1.0 - gate)))

        return features * math_ops.sigmoid(features), gradient

    return build(features)


# ------------------------------------------------------------ softmax

softmax_op = register_op("Softmax", "logits: T -> softmax: T", _FLOATS)
log_softmax_op = register_op("LogSoftmax", "logits: T -> logsoftmax: T", _FLOATS)


@softmax_op.shape
@log_softmax_op.shape
def _softmax_shape(c: Any) -> TensorShape:
    return with_rank_at_least(c.shape(0), 1)


def shifted_rows(logits: Any) -> Any:
    """[n, c]: the logits less the largest of their row, so that exp cannot overflow."""
    return logits - row_maxima(logits)[:, None]


def _as_rows(logits: Any) -> Any:
    if np.ndim(logits) < 1:
        raise invalid("logits must have >= 1 dimension, got []")
    return logits.reshape(-1, logits.shape[-1])


@softmax_op.kernel
def _softmax(logits: Any) -> Any:
    if not logits.size:
        return logits.copy()
    result = shifted_rows(logits if logits.ndim == 2 else _as_rows(logits))
    np.exp(result, out=result)
    result /= row_sums(result)[:, None]
    return result.reshape(logits.shape)


@softmax_op.gradient
def _softmax_gradient(op: Operation, grad: Tensor) -> list[Any]:
    # d softmax_i = softmax_i * (grad_i - sum_j grad_j * softmax_j)
    probabilities = op.outputs[0]
    total = math_ops.reduce_sum(grad * probabilities, -1, keepdims=True)
    return [(grad - total) * probabilities]


@log_softmax_op.kernel
def _log_softmax(logits: Any) -> Any:
    if not logits.size:
        return logits.copy()
    result = shifted_rows(logits if logits.ndim == 2 else _as_rows(logits))
    result -= np.log(row_sums(np.exp(result)))[:, None]
    return result.reshape(logits.shape)


@log_softmax_op.gradient
def _log_softmax_gradient(op: Operation, grad: Tensor) -> list[Any]:
    probabilities = math_ops.exp(op.outputs[0])
    return [grad - math_ops.reduce_sum(grad, -1, keepdims=True) * probabilities]


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """exp(logits) / sum(exp(logits)) along `axis` (the last one by default; `dim` is its old name).

    Raises `InvalidArgumentError` where `logits` has no such axis.
    """
    return _along_last_axis(logits, "Softmax", _one_axis(axis, dim), name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """logits - log(sum(exp(logits))) along `axis` (the last one by default; `dim` is its old name)."""
    return _along_last_axis(logits, "LogSoftmax", _one_axis(axis, dim), name)


def _one_axis(axis: Any, dim: Any) -> Any:
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'dim' and 'axis'")
        axis = dim
    return -1 if axis is None else axis


def _along_last_axis(logits: Any, op_type: str, axis: Any, name: str | None) -> Tensor:
    """The op over any axis: that axis is exchanged with the last one and back."""
    logits = ops.convert_to_tensor(logits)
    shape = logits.get_shape()
    number = axis if isinstance(axis, (int, np.integer)) else None
    if number is not None and (number == -1 or (shape.ndims is not None and number == shape.ndims - 1)):
        return apply_op(op_type, logits=logits, name=name)
    if number is not None and shape.ndims is not None and not -shape.ndims <= number < shape.ndims:
        raise invalid(f"Dimension ({number}) must be in the range [{-shape.ndims}, {shape.ndims}) where {shape.ndims} "
                      f"is the number of dimensions in the input.")
    rank = array_ops.rank(logits)
    if number is None:
        axis = array_ops.where(math_ops.less(axis, 0), axis + rank, axis)
    elif number < 0:
        axis = axis + rank
    last = array_ops.rank(logits)
    if shape.ndims is not None:
        axis = axis % shape.ndims
    exchanged = _exchange(logits, axis, last)
    result = _exchange(apply_op(op_type, logits=exchanged), axis, last, name=name)
    result.set_shape(shape)
    return result


def _exchange(tensor: Tensor, axis: Any, rank: Tensor, name: str | None = None) -> Tensor:
    """Exchange an axis with the last one."""
    last = math_ops.subtract(rank, 1)
    order = array_ops.concat([math_ops.range(axis), [last], math_ops.range(axis + 1, last), [axis]], 0)
    return array_ops.transpose(tensor, order, name=name or "transpose")
