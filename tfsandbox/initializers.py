"""The tf.initializers namespace."""

from __future__ import annotations

from tfsandbox.framework.operation import Operation as _Operation
from tfsandbox.ops.init_ops import Constant as constant
from tfsandbox.ops.init_ops import GlorotNormal as glorot_normal
from tfsandbox.ops.init_ops import GlorotUniform as glorot_uniform
from tfsandbox.ops.init_ops import Identity as identity
from tfsandbox.ops.init_ops import Ones as ones
from tfsandbox.ops.init_ops import Orthogonal as orthogonal
from tfsandbox.ops.init_ops import RandomNormal as random_normal
from tfsandbox.ops.init_ops import RandomUniform as random_uniform
from tfsandbox.ops.init_ops import TruncatedNormal as truncated_normal
from tfsandbox.ops.init_ops import UniformUnitScaling as uniform_unit_scaling
from tfsandbox.ops.init_ops import VarianceScaling as variance_scaling
from tfsandbox.ops.init_ops import Zeros as zeros
from tfsandbox.ops.init_ops import he_normal, he_uniform, lecun_normal, lecun_uniform
from tfsandbox.ops.variables import global_variables_initializer as global_variables
from tfsandbox.ops.variables import local_variables_initializer as local_variables
from tfsandbox.ops.variables import variables_initializer as variables

__all__ = [
    "constant", "global_variables", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity",
    "lecun_normal", "lecun_uniform", "local_variables", "ones", "orthogonal", "random_normal", "random_uniform",
    "tables_initializer", "truncated_normal", "uniform_unit_scaling", "variables", "variance_scaling", "zeros",
]


def tables_initializer(name: str = "init_all_tables") -> _Operation:
    """An operation that initialises all lookup tables of the graph."""
    from tfsandbox.framework import ops
    from tfsandbox.ops import control_flow_ops
    initializers = ops.get_collection(ops.GraphKeys.TABLE_INITIALIZERS)
    return control_flow_ops.group(*initializers, name=name) if initializers else control_flow_ops.no_op(name=name)
