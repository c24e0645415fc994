"""The tf.contrib.framework namespace: arg_scope, training_scope, and variables: made, found and given values."""

from __future__ import annotations

from tfsandbox.contrib.framework.assignment import (  # noqa: F401
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
)
from tfsandbox.contrib.framework.checkpoint_utils import (  # noqa: F401
    init_from_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
)
from tfsandbox.contrib.framework.ops import get_graph_from_inputs, get_name_scope, get_placeholders  # noqa: F401
from tfsandbox.contrib.framework.script_ops import py_func  # noqa: F401
from tfsandbox.contrib.framework.tensor_util import (  # noqa: F401
    assert_scalar_int,
    reduce_sum_n,
    remove_squeezable_dimensions,
    with_same_shape,
    with_shape,
)
from tfsandbox.contrib.framework.variables import (  # noqa: F401
    VariableDeviceChooser,
    add_model_variable,
    assert_global_step,
    assert_or_get_global_step,
    create_global_step,
    filter_variables,
    get_global_step,
    get_local_variables,
    get_model_variables,
    get_or_create_global_step,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
)
from tfsandbox.framework.ops import prepend_name_scope, strip_name_scope  # noqa: F401
from tfsandbox.framework.sparse_tensor import convert_to_tensor_or_sparse_tensor  # noqa: F401
from tfsandbox.framework.tensor_util import is_tensor  # noqa: F401
from tfsandbox.ops.check_ops import assert_same_float_dtype, assert_scalar  # noqa: F401
from tfsandbox.ops.control_flow_ops import smart_cond, smart_constant_value  # noqa: F401
from tfsandbox.ops.sort_ops import argsort, sort  # noqa: F401
from tfsandbox.training.training_scope import TrainingScope, training_scope  # noqa: F401
from tfsandbox.util import nest  # noqa: F401
from tfsandbox.util.arg_scoping import (  # noqa: F401
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from tfsandbox.util.deprecation import deprecated, deprecated_arg_values, deprecated_args  # noqa: F401
