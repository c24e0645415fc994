"""The names of `tensorflow.python.framework.graph_util`, and the plan behind `remove_training_nodes`."""

from tfsandbox.framework.graph_util_impl import (
    convert_variables_to_constants,
    extract_sub_graph,
    must_run_on_cpu,
    tensor_shape_from_node_def_name,
)
from tfsandbox.framework.training_nodes import (
    NodeDecision,
    TrainingNodes,
    remove_training_nodes,
    set_default_pruning,
    training_nodes,
)

__all__ = [
    "NodeDecision",
    "TrainingNodes",
    "convert_variables_to_constants",
    "extract_sub_graph",
    "must_run_on_cpu",
    "remove_training_nodes",
    "set_default_pruning",
    "tensor_shape_from_node_def_name",
    "training_nodes",
]
