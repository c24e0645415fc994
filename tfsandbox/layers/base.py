"""Layer: a function with variables of its own, made at its first call in a variable scope of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape, as_shape
from tfsandbox.layers.input_spec import InputSpec, check_inputs
from tfsandbox.layers.utils import get_reachable_from_inputs
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops import variable_scope as vs
from tfsandbox.ops import variables as tf_variables
from tfsandbox.ops.partitioned_variables import PartitionedVariable

__all__ = ["InputSpec", "Layer"]


class Layer:
    """Base of the tf.layers classes.

    A subclass makes its variables in `build(input_shape)` with `add_weight`, and computes in `call(inputs, ...)`. The
    first call opens the variable scope `name`, or a unique one from the class's name; a later call reuses the
    variables. `_scope` and `_reuse` are how the functional forms pass their `name` and `reuse`.
    """

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        # The functional forms let an outer scope decide, so that their `reuse=True` finds what was made there.
        self._scope: Any = None
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self.activity_regularizer = kwargs.pop("activity_regularizer", None)
        kwargs.pop("dynamic", None)
        for key in kwargs:
            raise TypeError("Keyword argument not understood:", key)
        self.trainable = trainable
        self.built = False
        self.input_spec: Any = None
        self.stateful = False
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._graph: Graph | None = None
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._losses: list[Any] = []
        self._updates: list[Any] = []
        self._current_scope: Any = None
        self._init_name(name)
        if scope is not None:
            with vs.variable_scope(scope) as captured:
                self._scope = captured

    # ------------------------------------------------------------ names

    def _init_name(self, name: Any) -> None:
        if isinstance(name, vs.VariableScope):
            name = name.name
        self._base_name: str = name or _snake_case(type(self).__name__)
        self._name: str = self._base_name
        if not name:
            counts: dict[str, int] = get_default_graph()._caches.setdefault("layer_names", {})
            counts[self._base_name] = counts.get(self._base_name, 0) + 1
            self._name = f"{self._base_name}_{counts[self._base_name]}"

    @property
    def name(self) -> str:
        """The name given, or one made from the class's name. The variables' scope is `scope_name`."""
        return self._name

    @property
    def scope_name(self) -> str:
        """The variable scope of the layer; `ValueError` before the first call, which decides it."""
        if self._scope is None:
            raise ValueError(f'No name available for layer scope because the layer "{self._name}" has not been used '
                             "yet. The scope name  is determined the first time the layer instance is called. You must "
                             "therefore call the layer before querying `scope_name`.")
        return self._scope.name

    def _name_scope(self) -> str:
        """The name scope of the layer's nodes: that of its variable scope, entered again."""
        return self._current_scope.original_name_scope

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            with vs.variable_scope(scope if scope is not None else self._base_name) as captured:
                self._scope = captured
        else:
            with vs.variable_scope(scope, default_name=self._base_name) as captured:
                self._scope = captured

    # ------------------------------------------------------------ calling

    def build(self, input_shape: Any) -> None:
        """Make the variables; called once, before the first `call`."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The layer's computation."""
        return inputs

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Build the layer if need be and apply it to `inputs`: a tensor, or a nest of tensors.

        Raises `ValueError` where the inputs do not fit the layer or lie in another graph.
        """
        self._set_scope(kwargs.pop("scope", None))
        graph = ops._get_graph_from_inputs([t for t in _flat(inputs) if isinstance(t, Tensor)])
        if self._graph is None:
            self._graph = graph
        elif self._graph is not graph:
            raise ValueError(f"Input graph and Layer graph are not the same: {inputs} is not from the passed-in graph.")
        with graph.as_default(), vs.variable_scope(self._scope, reuse=True if self.built else self._reuse,
                                                   auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            if any(isinstance(value, (np.ndarray, float, int)) for value in _flat(inputs)):
                inputs = _mapped(ops.convert_to_tensor, inputs)
            with ops.name_scope(self._name_scope()):
                outputs = self._apply(inputs, args, kwargs)
        _add_new_to_collection(self._updates, GraphKeys.UPDATE_OPS)
        return outputs

    apply = __call__

    def _apply(self, inputs: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        tensors = _flat(inputs)
        check_inputs(self.input_spec, tensors, self.name)
        if not self.built:
            if self._dtype is None and tensors and hasattr(tensors[0], "dtype"):
                self._dtype = tensors[0].dtype.base_dtype.name
            if all(hasattr(t, "shape") for t in tensors):
                self.build(_mapped(lambda t: t.shape, inputs))
            self.built = True
            # Building may have said more about the inputs: their number of channels.
            check_inputs(self.input_spec, tensors, self.name)
        outputs = self.call(inputs, *args, **kwargs)
        if self.activity_regularizer is not None:
            self._regularize_activity(inputs, outputs)
        return outputs

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        with ops.name_scope("ActivityRegularizer"):
            for output in _flat(outputs):
                loss = self.activity_regularizer(output)
                batch = math_ops.cast(array_ops.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch, inputs=inputs)

    # ------------------------------------------------------------ variables

    def add_weight(self, name: str, shape: Any, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                   trainable: bool | None = None, constraint: Any = None, use_resource: bool | None = None,
                   synchronization: Any = tf_variables.VariableSynchronization.AUTO,
                   aggregation: Any = tf_variables.VariableAggregation.NONE, partitioner: Any = None,
                   **kwargs: Any) -> Any:
        """A variable of the layer, made by `get_variable` in its scope, or reused from there.

        The value of `regularizer` on a new variable is one of the graph's regularization losses.
        """
        for key in kwargs:
            if key != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", key)
        if trainable is None:
            trainable = True
        before = set(tf_variables.global_variables())
        self._set_scope(None)
        dtype = dtypes.as_dtype(dtype if dtype is not None else self._dtype or dtypes.float32)
        with vs.variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with ops.name_scope(self._name_scope()):
                variable = vs.get_variable(
                    name, shape=_as_list(shape), dtype=dtype, initializer=initializer,
                    trainable=trainable and self.trainable, constraint=constraint, use_resource=use_resource,
                    synchronization=synchronization, aggregation=aggregation, partitioner=partitioner)
                if regularizer is not None:
                    self._regularize_weight(name, variable, regularizer, before)
        weights = self._trainable_weights if trainable else self._non_trainable_weights
        weights.append(variable)
        return variable

    add_variable = add_weight

    def _regularize_weight(self, name: str, variable: Any, regularizer: Callable[[Any], Any], before: set[Any]) -> None:
        if isinstance(variable, PartitionedVariable):
            parts = list(variable)
        else:
            parts = [variable]
        for part in parts:
            if part not in before:
                with ops.name_scope(name + "/Regularizer"):
                    loss = regularizer(part)
                if loss is not None:
                    self._losses.append((loss, True))
                    _add_new_to_collection([loss], GraphKeys.REGULARIZATION_LOSSES)

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that train; none where the layer is not `trainable`."""
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        if self.trainable:
            return list(self._non_trainable_weights)
        return self._trainable_weights + self._non_trainable_weights

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)
    variables = property(lambda self: self.weights)

    def count_params(self) -> int:
        """The number of elements of all variables; `ValueError` before the layer is built."""
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can "
                             f"build it manually via: `{self.name}.build(batch_input_shape)`.")
        return sum(int(np.prod(variable.shape.as_list())) for variable in self.weights)

    def get_weights(self) -> list[np.ndarray]:
        """The values of the variables in the default session."""
        return ops.get_default_session().run(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Give the variables these values in the default session; `ValueError` where number or shapes differ."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length '
                             f"{len(weights)}, but the layer was expecting {len(own)} weights.")
        for variable, value in zip(own, weights):
            if tuple(variable.shape.as_list()) != np.shape(value):
                raise ValueError(f"Layer weight shape {variable.shape} not compatible with provided weight shape "
                                 f"{np.shape(value)}")
            variable.load(value, ops.get_default_session())

    # ------------------------------------------------------------ losses and updates

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add scalar losses to the layer and to the graph's regularization losses.

        `inputs` says that they depend on the layer's inputs, True or the inputs themselves.
        """
        new = []
        for loss in _flat(losses):
            loss = loss() if callable(loss) else loss
            if loss is None:
                continue
            loss = ops.convert_to_tensor(loss)
            new.append(loss)
            self._losses.append((loss, inputs is None))
        _add_new_to_collection(new, GraphKeys.REGULARIZATION_LOSSES)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add operations that should run with every training step; they go to the graph's UPDATE_OPS."""
        for update in _flat(updates):
            update = update() if callable(update) else update
            self._updates.append(update.op if not isinstance(update, (Operation, Tensor)) else
                                 update.op if isinstance(update, Tensor) else update)

    @property
    def losses(self) -> list[Any]:
        return [loss for loss, _ in self._losses]

    @property
    def updates(self) -> list[Any]:
        return list(self._updates) if self.trainable or self.stateful else []

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on these inputs; with None, those that depend on none."""
        if inputs is None:
            return [loss for loss, unconditional in self._losses if unconditional]
        losses = [loss for loss, unconditional in self._losses if not unconditional]
        reachable = get_reachable_from_inputs(_flat(inputs), losses)
        return [loss for loss in losses if loss in reachable]

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on these inputs; with None, those that depend on no input of the layer."""
        if inputs is None:
            return [update for update in self.updates if not _depends_on_placeholders(update)]
        reachable = get_reachable_from_inputs(_flat(inputs), self.updates)
        return [update for update in self.updates if update in reachable]

    # ------------------------------------------------------------ the rest of the interface

    @property
    def dtype(self) -> str | None:
        """The type of the variables, by name; None until the inputs have decided it."""
        return self._dtype

    @property
    def graph(self) -> Graph | None:
        return self._graph

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs for inputs of this shape."""
        raise NotImplementedError

    @property
    def input(self) -> Any:
        raise AttributeError(f"Layer {self.name} is not connected, no input to return.")

    @property
    def output(self) -> Any:
        raise AttributeError(f"Layer {self.name} has no inbound nodes.")

    @property
    def input_shape(self) -> Any:
        raise AttributeError("The layer has never been called and thus has no defined input shape.")

    @property
    def output_shape(self) -> Any:
        raise AttributeError("The layer has never been called and thus has no defined output shape.")

    def get_config(self) -> dict[str, Any]:
        """What `from_config` makes an equal layer of; subclasses add their arguments."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """A layer made with these arguments."""
        return cls(**config)


def _snake_case(name: str) -> str:
    name = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    # A class that is private to a module makes no valid scope name.
    return "private" + name if name[0] == "_" else name


def _flat(value: Any) -> list[Any]:
    """The leaves of a nest of lists, tuples and dicts."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _flat(value[key])]
    return [value]


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The nest with a function applied to its leaves."""
    if isinstance(value, (list, tuple)):
        items = [_mapped(function, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _mapped(function, item) for key, item in value.items()}
    return function(value)


def _as_list(shape: Any) -> Any:
    if isinstance(shape, TensorShape):
        return shape.as_list()
    return [size.value if hasattr(size, "value") else size for size in shape] if isinstance(shape, (list, tuple)) \
        else as_shape(shape).as_list()


def _add_new_to_collection(elements: Sequence[Any], key: str) -> None:
    """Add what is not in the collection yet; the collection is there afterwards."""
    collection = ops.get_collection_ref(key)
    for element in elements:
        if not any(element is other for other in collection):
            collection.append(element)


def _depends_on_placeholders(update: Any) -> bool:
    stack, seen = [update], set()
    while stack:
        op = stack.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.type in ("Placeholder", "PlaceholderWithDefault", "IteratorGetNext"):
            return True
        stack += [tensor.op for tensor in op.inputs]
    return False
