"""The names of `tensorflow.python.framework.graph_util`."""

from tfsandbox.framework.graph_util_impl import (  # noqa: F401
    convert_variables_to_constants,
    extract_sub_graph,
    must_run_on_cpu,
    tensor_shape_from_node_def_name,
)

_default_pruning = "full"


def set_default_pruning(mode: str) -> None:
    """What `remove_training_nodes` does where no mode is given: "full" or "tensorflow"."""
    global _default_pruning
    _default_pruning = mode
