"""The tf.contrib.util namespace: constants as messages, and the ops of a GraphDef."""

from __future__ import annotations

from tfsandbox.framework.meta_graph import ops_used_by_graph_def, stripped_op_list_for_graph  # noqa: F401
from tfsandbox.framework.tensor_util import constant_value, make_ndarray, make_tensor_proto  # noqa: F401
