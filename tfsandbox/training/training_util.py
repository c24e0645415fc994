"""The global step: the variable that counts training steps.

As `tensorflow.python.training.training_util` this module also gives what the sandbox adds to it: `make_train_op`,
`Gradients`, `TrainingGraphManager`.
"""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import init_ops, state_ops, variable_scope, variables
from tfsandbox.platform import tf_logging


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of the global step in a session, as a Python int."""
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Any:
    """The global step of the graph, or None; `TypeError` where something else goes by that name."""
    graph = graph or get_default_graph()
    steps = graph.get_collection(GraphKeys.GLOBAL_STEP)
    found = None
    if len(steps) == 1:
        found = steps[0]
    elif not steps:
        try:
            found = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    else:
        tf_logging.error("Multiple tensors in global_step collection.")
        return None
    assert_global_step(found)
    return found


def create_global_step(graph: Graph | None = None) -> Any:
    """A new global step; `ValueError` where the graph has one."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return variable_scope.get_variable(
            GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64, initializer=init_ops.zeros_initializer(),
            trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The global step of the graph, made if it has none."""
    graph = graph or get_default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def assert_global_step(global_step_tensor: Any) -> None:
    """`TypeError` unless it is an integer scalar variable or tensor."""
    if not isinstance(global_step_tensor, (variables.Variable, Tensor)):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype!s}')
    if global_step_tensor.get_shape().ndims not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.get_shape()}')


_READ_KEY = ("global_step_read_op_cache",)


def _get_global_step_read(graph: Graph | None = None) -> Any:
    """The tensor that reads the global step as it is at the beginning of a run, or None."""
    graph = graph or get_default_graph()
    reads = graph.get_collection(_READ_KEY)
    if len(reads) > 1:
        raise RuntimeError(f"There are multiple items in collection {_READ_KEY}. There should be only one.")
    return reads[0] if reads else None


def _get_or_create_global_step_read(graph: Graph | None = None) -> Any:
    graph = graph or get_default_graph()
    read = _get_global_step_read(graph)
    if read is not None:
        return read
    step = get_global_step(graph)
    if step is None:
        return None
    # Adding 0 makes it a value of its own: a plain read would follow later updates of the variable.
    with graph.as_default(), graph.name_scope(None), graph.name_scope(step.op.name + "/"):
        value = step.initialized_value() if isinstance(step, variables.Variable) else step
        read = value + 0
        ops.add_to_collection(_READ_KEY, read)
    return read


def _increment_global_step(increment: int, graph: Graph | None = None) -> Any:
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError("Global step tensor should be created by tf.train.get_or_create_global_step before calling "
                         "increment.")
    read = _get_or_create_global_step_read(graph)
    with graph.as_default(), graph.name_scope(None), graph.name_scope(step.op.name + "/"), \
            ops.control_dependencies([read]):
        return state_ops.assign_add(step, increment)


_ADDITIONS = {"make_train_op": "train_op", "Gradients": "loss_gradients", "TrainingGraphManager": "graph_manager"}


def __getattr__(name: str) -> Any:
    # These modules need the global step themselves, so they are imported when somebody asks.
    if name in _ADDITIONS:
        import importlib
        return getattr(importlib.import_module(f"tfsandbox.training.{_ADDITIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
