"""fully_connected and its short forms."""

from __future__ import annotations

import functools
from typing import Any

from tfsandbox.contrib.layers import initializers
from tfsandbox.contrib.layers.layer_scope import ZEROS, finished, layer_scope, note_variable
from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Tensor
from tfsandbox.layers import core
from tfsandbox.ops import array_ops, math_ops, nn_ops, variable_scope
from tfsandbox.util.arg_scoping import add_arg_scope

_XAVIER = initializers.xavier_initializer()


@add_arg_scope
def fully_connected(inputs: Any, num_outputs: int, activation_fn: Any = nn_ops.relu, normalizer_fn: Any = None,
                    normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                    weights_regularizer: Any = None, biases_initializer: Any = ZEROS,
                    biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                    outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Tensor:
    """activation(inputs @ weights + biases), over the last axis: [..., in] -> [..., num_outputs].

    With a `normalizer_fn` (`batch_norm`, called with `normalizer_params`) there are no biases. The variables are
    `scope/weights` and `scope/biases`; `variables_collections` is a list for both or a dict by name.

    Raises `ValueError` where `num_outputs` is no int, and for inputs of unknown rank or size of the last axis.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of [<class 'int'>], got {type(num_outputs)}.")
    with layer_scope(scope, "fully_connected", inputs, reuse) as sc:
        inputs = ops.convert_to_tensor(inputs)
        layer = core.Dense(
            units=num_outputs, activation=None, use_bias=normalizer_fn is None and biases_initializer is not None,
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, activity_regularizer=None,
            trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
        outputs = layer.apply(inputs)
        note_variable(layer.kernel, variables_collections, "weights")
        note_variable(layer.bias, variables_collections, "biases")
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections, sc.name)


relu = functools.partial(fully_connected, activation_fn=nn_ops.relu)
relu6 = functools.partial(fully_connected, activation_fn=nn_ops.relu6)
elu = functools.partial(fully_connected, activation_fn=nn_ops.elu)
linear = functools.partial(fully_connected, activation_fn=None)


def legacy_fully_connected(x: Any, num_output_units: int, activation_fn: Any = None, weight_init: Any = _XAVIER,
                           bias_init: Any = ZEROS, name: Any = None,
                           weight_collections: Any = (GraphKeys.WEIGHTS,),
                           bias_collections: Any = (GraphKeys.BIASES,),
                           output_collections: Any = (GraphKeys.ACTIVATIONS,), trainable: bool = True,
                           weight_regularizer: Any = None, bias_regularizer: Any = None) -> Tensor:
    """The fully connected layer of early programs: variables `weights` and `bias`, noted in collections."""
    with variable_scope.variable_scope(name, "fully_connected", [x]):
        x = ops.convert_to_tensor(x)
        if x.get_shape().ndims is None:
            raise ValueError("dims of x must be known but is None")
        sizes = x.get_shape().as_list()
        if len(sizes) < 2:
            raise ValueError(f"rank of x must be at least 2 not: {len(sizes)}")
        inputs = sizes[-1]
        if inputs is None:
            raise ValueError("last dimension of x must be known but is None")
        dtype = x.dtype.base_dtype

        def made(variable: str, shape: list[int], initializer: Any, collections: Any, regularizer: Any) -> Any:
            kept = [*(collections or []), GraphKeys.GLOBAL_VARIABLES]
            return variable_scope.get_variable(variable, shape=shape, dtype=dtype, initializer=initializer,
                                               collections=kept, regularizer=regularizer, trainable=trainable)

        weights = made("weights", [inputs, num_output_units], weight_init, weight_collections, weight_regularizer)
        flat = x if len(sizes) <= 2 else array_ops.reshape(x, [-1, inputs])
        y = math_ops.matmul(flat, weights)
        if bias_init is not None:
            y = nn_ops.bias_add(y, made("bias", [num_output_units], bias_init, bias_collections, bias_regularizer))
        if len(sizes) > 2:
            shape = array_ops.unstack(array_ops.shape(x))
            y = array_ops.reshape(y, array_ops.stack([*shape[:-1], num_output_units]))
            y.set_shape([*sizes[:-1], num_output_units])
        outputs = y if activation_fn is None else activation_fn(y)
        for collection in output_collections or ():
            ops.add_to_collection(collection, outputs)
        return outputs


legacy_relu = functools.partial(legacy_fully_connected, activation_fn=nn_ops.relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
