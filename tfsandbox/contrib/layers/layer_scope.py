"""What all contrib layers share: their variable scope, the names of their variables, and the last steps.

A contrib layer is a `tf.layers` layer whose variables are made by `model_variable`, under contrib's names: a getter in
the layer's variable scope turns `kernel` into `weights`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfsandbox.contrib.framework import variables as contrib_variables
from tfsandbox.contrib.layers import utils
from tfsandbox.framework import ops
from tfsandbox.ops import init_ops, variable_scope
from tfsandbox.ops.partitioned_variables import PartitionedVariable

NAMES = {"kernel": "weights", "bias": "biases"}
SEPARABLE_NAMES = {"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}

ZEROS = init_ops.zeros_initializer()


def model_variables(names: Mapping[str, str]) -> Callable[..., Any]:
    """A custom getter that makes model variables, renamed by their last part."""

    def getter_of_model_variables(getter: Callable[..., Any], name: str, shape: Any = None, dtype: Any = None,
                                  initializer: Any = None, regularizer: Any = None, trainable: bool = True,
                                  collections: Any = None, caching_device: Any = None, partitioner: Any = None,
                                  use_resource: bool | None = None, **kwargs: Any) -> Any:
        parent, slash, own = name.rpartition("/")
        return contrib_variables.model_variable(
            parent + slash + names.get(own, own), shape=shape, dtype=dtype, initializer=initializer,
            regularizer=regularizer, trainable=trainable, collections=collections, caching_device=caching_device,
            partitioner=partitioner, custom_getter=getter, use_resource=use_resource,
            synchronization=kwargs["synchronization"], aggregation=kwargs["aggregation"])

    return getter_of_model_variables


def layer_scope(scope: Any, default_name: str, inputs: Any, reuse: Any,
                names: Mapping[str, str] = NAMES) -> variable_scope.variable_scope:
    """The variable scope of a layer: `scope`, or a unique one of the default name."""
    return variable_scope.variable_scope(scope, default_name, [inputs], reuse=reuse,
                                         custom_getter=model_variables(names))


def note_variable(variable: Any, variables_collections: Any, name: str) -> None:
    """Add a layer's variable, if there is one, to the collections asked for."""
    if variable is None:
        return
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for collection in utils.get_variable_collections(variables_collections, name) or []:
        for part in parts:
            if not any(part is other for other in ops.get_collection_ref(collection)):
                ops.add_to_collection(collection, part)


def finished(outputs: Any, normalizer_fn: Callable[..., Any] | None, normalizer_params: Mapping[str, Any] | None,
             activation_fn: Callable[..., Any] | None, outputs_collections: Any, alias: str) -> Any:
    """Normalizer and activation, then the output is noted under its alias."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return utils.collect_named_outputs(outputs_collections, alias, outputs)


def check_data_format(data_format: Any, *known: str) -> str:
    """'channels_first' or 'channels_last' for one of the two known layouts; `ValueError` for another."""
    if data_format not in known:
        raise ValueError(f"data_format has to be either {known[0]} or {known[1]}.")
    return "channels_first" if data_format.startswith("NC") else "channels_last"


