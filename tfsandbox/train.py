"""The tf.train namespace."""

from __future__ import annotations

import importlib
from typing import Any

from tfsandbox.training.adadelta import AdadeltaOptimizer
from tfsandbox.training.adagrad import AdagradOptimizer
from tfsandbox.training.adagrad_da import AdagradDAOptimizer
from tfsandbox.training.adam import AdamOptimizer
from tfsandbox.training.checkpoint_management import (
    CheckpointManager,
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from tfsandbox.training.checkpoint_utils import (
    NewCheckpointReader,
    checkpoints_iterator,
    init_from_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
)
from tfsandbox.training.ftrl import FtrlOptimizer
from tfsandbox.training.gradient_descent import GradientDescentOptimizer
from tfsandbox.training.learning_rate_decay import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from tfsandbox.training.momentum import MomentumOptimizer
from tfsandbox.training.moving_averages import ExponentialMovingAverage
from tfsandbox.training.optimizer import Optimizer
from tfsandbox.training.proximal_adagrad import ProximalAdagradOptimizer
from tfsandbox.training.proximal_gradient_descent import ProximalGradientDescentOptimizer
from tfsandbox.training.rmsprop import RMSPropOptimizer
from tfsandbox.training.saver import Saver, export_meta_graph, import_meta_graph
from tfsandbox.training.training_util import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "CheckpointManager",
    "ExponentialMovingAverage", "FtrlOptimizer", "GradientDescentOptimizer", "MomentumOptimizer",
    "NewCheckpointReader", "Optimizer", "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer",
    "RMSPropOptimizer", "Saver", "assert_global_step", "checkpoint_exists", "checkpoints_iterator", "cosine_decay",
    "cosine_decay_restarts", "create_global_step", "exponential_decay", "export_meta_graph",
    "generate_checkpoint_state_proto", "get_checkpoint_mtimes", "get_checkpoint_state", "get_global_step",
    "get_or_create_global_step", "global_step", "import_meta_graph", "init_from_checkpoint", "inverse_time_decay",
    "latest_checkpoint", "linear_cosine_decay", "list_variables", "load_checkpoint", "load_variable",
    "natural_exp_decay", "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay",
    "polynomial_decay", "remove_checkpoint", "update_checkpoint_state",
    "write_graph",
]

# Where the other names of tf.train come from, once the module is there: imported when somebody asks.
_LATER = {
    "basic_session_run_hooks": (
        "CheckpointSaverHook", "CheckpointSaverListener", "FeedFnHook", "FinalOpsHook", "GlobalStepWaiterHook",
        "LoggingTensorHook", "NanLossDuringTrainingError", "NanTensorHook", "ProfilerHook", "SecondOrStepTimer",
        "StepCounterHook", "StopAtStepHook", "SummarySaverHook"),
    "coordinator": ("Coordinator", "LooperThread"),
    "device_setter": ("replica_device_setter",),
    "input": (
        "batch", "batch_join", "input_producer", "limit_epochs", "match_filenames_once", "maybe_batch",
        "maybe_batch_join", "maybe_shuffle_batch", "maybe_shuffle_batch_join", "range_input_producer",
        "shuffle_batch", "shuffle_batch_join", "slice_input_producer", "string_input_producer"),
    "monitored_session": (
        "ChiefSessionCreator", "MonitoredSession", "MonitoredTrainingSession", "Scaffold", "SessionCreator",
        "SingularMonitoredSession", "WorkerSessionCreator"),
    "queue_runner_impl": ("QueueRunner", "add_queue_runner", "start_queue_runners"),
    "server_lib": ("ClusterSpec", "Server"),
    "session_manager": ("SessionManager",),
    "session_run_hook": ("SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues"),
    "summary_io": ("summary_iterator",),
    "supervisor": ("Supervisor", "basic_train_loop"),
    "sync_replicas_optimizer": ("SyncReplicasOptimizer",),
    "warm_starting_util": ("VocabInfo", "warm_start"),
}
_PROTOS = (
    "BytesList", "ClusterDef", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList",
    "Int64List", "JobDef", "SaverDef", "SequenceExample", "ServerDef",
)


def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    """Write a graph or GraphDef to `logdir/name`, as text or binary; gives the path."""
    import os

    from tfsandbox.framework import meta_graph
    message = graph_or_graph_def.as_graph_def() if hasattr(graph_or_graph_def, "as_graph_def") else graph_or_graph_def
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    meta_graph.write_message(path, message, as_text)
    return path


def __getattr__(name: str) -> Any:
    if name in _PROTOS:
        from tfsandbox import proto
        return proto.message(name)
    module = next((module for module, names in _LATER.items() if name in names), None)
    if module is not None:
        path = f"tfsandbox.training.{module}"
        try:
            return getattr(importlib.import_module(path), name)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
