"""tfsandbox: a TensorFlow 1.x you can see through.

This package is the `tf` namespace: `import tfsandbox as tf`, or let `import tensorflow as tf` mean it with
`tfsandbox.install_as_tensorflow()` (in a notebook: `%load_ext tfsandbox`). A TensorFlow 1 program builds the same graph
here, node for node, runs on numpy and gives the same numbers.

Every module of `ops/` lists in `__all__` what it gives to this namespace. Sub-namespaces (`tf.nn`, `tf.train`,
`tf.contrib`, ...) are modules of that name, imported when first used.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from tfsandbox._alias import (  # noqa: F401
    explain_missing_names,
    install_as_tensorflow,
    uninstall_as_tensorflow,
)
from tfsandbox._version import __version__ as _sandbox_version
from tfsandbox.client.session import InteractiveSession, Session  # noqa: F401
from tfsandbox.framework.constant_op import constant  # noqa: F401
from tfsandbox.framework.device import DeviceSpec  # noqa: F401
from tfsandbox.framework.dtypes import (  # noqa: F401
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from tfsandbox.framework.errors import OpError  # noqa: F401
from tfsandbox.framework.execution_mode import *  # noqa: F403
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph, reset_default_graph  # noqa: F401
from tfsandbox.framework.importer import import_graph_def  # noqa: F401
from tfsandbox.framework.ops import (  # noqa: F401
    IndexedSlices,
    NoGradient,
    NotDifferentiable,
    Operation,
    RegisterGradient,
    Tensor,
    add_to_collection,
    add_to_collections,
    colocate_with,
    container,
    control_dependencies,
    convert_to_tensor,
    convert_to_tensor_or_indexed_slices,
    device,
    get_collection,
    get_collection_ref,
    get_default_session,
    init_scope,
    name_scope,
    register_tensor_conversion_function,
)
from tfsandbox.framework.random_seed import get_seed, set_random_seed  # noqa: F401
from tfsandbox.framework.sparse_tensor import (  # noqa: F401
    SparseTensor,
    SparseTensorValue,
    convert_to_tensor_or_sparse_tensor,
)
from tfsandbox.framework.tensor_shape import Dimension, TensorShape  # noqa: F401
from tfsandbox.framework.tensor_util import is_tensor, make_ndarray, make_tensor_proto  # noqa: F401
from tfsandbox.ops.array_ops import *  # noqa: F403
from tfsandbox.ops.check_ops import *  # noqa: F403
from tfsandbox.ops.clip_ops import *  # noqa: F403
from tfsandbox.ops.control_flow_ops import *  # noqa: F403
from tfsandbox.ops.custom_gradient import *  # noqa: F403
from tfsandbox.ops.data_flow_ops import *  # noqa: F403
from tfsandbox.ops.functional_ops import *  # noqa: F403
from tfsandbox.ops.gradients_impl import *  # noqa: F403
from tfsandbox.ops.init_ops import *  # noqa: F403
from tfsandbox.ops.io_ops import *  # noqa: F403
from tfsandbox.ops.linalg_ops import *  # noqa: F403
from tfsandbox.ops.logging_ops import *  # noqa: F403
from tfsandbox.ops.lookup_ops import *  # noqa: F403
from tfsandbox.ops.math_ops import *  # noqa: F403
from tfsandbox.ops.parsing_ops import *  # noqa: F403
from tfsandbox.ops.random_ops import *  # noqa: F403
from tfsandbox.ops.script_ops import *  # noqa: F403
from tfsandbox.ops.sort_ops import *  # noqa: F403
from tfsandbox.ops.sparse_ops import *  # noqa: F403
from tfsandbox.ops.state_ops import *  # noqa: F403
from tfsandbox.ops.string_ops import *  # noqa: F403
from tfsandbox.ops.summary_ops import *  # noqa: F403
from tfsandbox.ops.template import *  # noqa: F403
from tfsandbox.ops.tensor_array_ops import *  # noqa: F403
from tfsandbox.ops.variable_scope import *  # noqa: F403
from tfsandbox.ops.variables import *  # noqa: F403
from tfsandbox.platform.tf_logging import get_logger  # noqa: F401

__version__ = VERSION = "1.15.5"
"""The TensorFlow whose behaviour this is; programs ask for it. `__sandbox_version__` is the package's own."""

__sandbox_version__ = _sandbox_version
GIT_VERSION = COMPILER_VERSION = "tfsandbox"
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 134, 0, 0
newaxis = None

# Where a name of the tf namespace that is not imported above comes from, once somebody asks for it.
_MODULES = {
    "app", "bitwise", "compat", "contrib", "data", "debugging", "distributions", "dtypes", "errors", "feature_column",
    "flags", "gfile", "graph_util", "image", "initializers", "interchange", "io", "layers", "linalg", "logging",
    "lookup", "losses", "manip", "math", "metrics", "nn", "notebook", "python_io", "queue", "random",
    "resource_loader", "sandbox", "saved_model", "sets", "signal", "sparse", "strings", "summary", "sysconfig", "test",
    "train", "user_ops",
}
_PROTOS = {
    "attr_value_pb2": ["AttrValue", "NameAttrList"],
    "config_pb2": ["ConfigProto", "GPUOptions", "GraphOptions", "OptimizerOptions", "RunMetadata", "RunOptions"],
    "event_pb2": ["Event", "LogMessage", "SessionLog"],
    "graph_pb2": ["GraphDef"],
    "meta_graph_pb2": ["MetaGraphDef", "TensorInfo"],
    "node_def_pb2": ["NodeDef"],
    "rewriter_config_pb2": ["AutoParallelOptions"],
    "summary_pb2": ["HistogramProto", "Summary", "SummaryMetadata"],
}
_MESSAGES = {name: module for module, names in _PROTOS.items() for name in names}
# Functions of modules that few programs use, not imported before somebody asks for one.
_LATE_NAMES = {"extract_image_patches": "image_patches"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        try:
            return importlib.import_module(f"tfsandbox.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"tfsandbox.{name}":
                raise
    elif name in _MESSAGES:
        value = getattr(importlib.import_module(f"tfsandbox.proto.{_MESSAGES[name]}"), name)
        globals()[name] = value
        return value
    elif name in _LATE_NAMES:
        value = getattr(importlib.import_module(f"tfsandbox.ops.{_LATE_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    import pkgutil

    # Completion fetches every name that is listed here.
    there = _MODULES & {module.name for module in pkgutil.iter_modules(sys.modules[__name__].__path__)}
    return sorted({*globals(), *there, *_MESSAGES, *_LATE_NAMES})


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext tfsandbox`."""
    from tfsandbox.notebook.extension import load_ipython_extension as load
    load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """`%unload_ext tfsandbox`."""
    from tfsandbox.notebook.extension import unload_ipython_extension as unload
    unload(ipython)


explain_missing_names(sys.modules[__name__])
