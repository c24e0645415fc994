"""Protocol buffer messages with TensorFlow 1.15's names, fields and numbers: bytes and text are interchangeable.

There is one .proto file for each of TensorFlow's, under the same name, so that `tensorflow.core.framework.graph_pb2`
is `tfsandbox.proto.graph_pb2`. The messages are of package `tfsandbox`: a real TensorFlow can live in the same
process. Compare a message of ours with one of TensorFlow's by their bytes, not with `==`.

The `_pb2` files are generated, by a protoc of the 25 series so that they load under every protobuf from 4.25 on.
After a change of a .proto file, from the top of the source tree:

    python3 -m venv /tmp/protoc && /tmp/protoc/bin/pip install grpcio-tools==1.62.3
    /tmp/protoc/bin/python -m grpc_tools.protoc -I . --python_out=. --pyi_out=. tfsandbox/proto/*.proto
"""

from __future__ import annotations

import importlib
from typing import Any

# The messages of each file, so that `message` imports only what is asked for: protobuf is slow to load.
_MESSAGES = {
    "allocation_description": "AllocationDescription",
    "attr_value": "AttrValue NameAttrList",
    "checkpoint_state": "CheckpointState",
    "cluster": "JobDef ClusterDef",
    "config": (
        "GPUOptions OptimizerOptions GraphOptions ThreadPoolOptionProto RPCOptions SessionMetadata "
        "ConfigProto RunOptions RunMetadata TensorConnection CallableOptions"
    ),
    "control_flow": "ValuesDef ControlFlowContextDef CondContextDef WhileContextDef",
    "cost_graph": "CostGraphDef",
    "debug": "DebugTensorWatch DebugOptions DebuggedSourceFile DebuggedSourceFiles",
    "device_attributes": "InterconnectLink LocalLinks DeviceLocality DeviceAttributes",
    "event": "Event LogMessage SessionLog TaggedRunMetadata",
    "example": "Example SequenceExample",
    "feature": "BytesList FloatList Int64List Feature Features FeatureList FeatureLists",
    "function": "FunctionDefLibrary FunctionDef GradientDef",
    "graph": "GraphDef",
    "meta_graph": "MetaGraphDef CollectionDef TensorInfo SignatureDef AssetFileDef",
    "node_def": "NodeDef",
    "op_def": "OpDef OpDeprecation OpList",
    "queue_runner": "QueueRunnerDef",
    "resource_handle": "ResourceHandleProto",
    "rewriter_config": "AutoParallelOptions ScopedAllocatorOptions RewriterConfig",
    "saved_model": "SavedModel",
    "saved_object_graph": (
        "SavedObjectGraph SavedObject SavedUserObject SavedAsset SavedFunction SavedConcreteFunction "
        "SavedBareConcreteFunction SavedConstant SavedVariable FunctionSpec SavedResource"
    ),
    "saver": "SaverDef",
    "step_stats": (
        "AllocationRecord AllocatorMemoryUsed NodeOutput MemoryStats NodeExecStats DeviceStepStats StepStats"
    ),
    "struct": (
        "StructuredValue NoneValue ListValue TupleValue DictValue PairValue NamedTupleValue TensorSpecProto "
        "TypeSpecProto"
    ),
    "summary": "SummaryDescription HistogramProto SummaryMetadata Summary",
    "tensor_bundle": "BundleHeaderProto BundleEntryProto",
    "tensor_description": "TensorDescription",
    "tensor": "TensorProto VariantTensorDataProto",
    "tensor_shape": "TensorShapeProto",
    "tensor_slice": "TensorSliceProto",
    "tensorflow_server": "ServerDef",
    "trackable_object_graph": "TrackableObjectGraph",
    "variable": "VariableDef SaveSliceInfoDef",
    "verifier_config": "VerifierConfig",
    "versions": "VersionDef",
}
_FILES = {name: file for file, names in _MESSAGES.items() for name in names.split()}


def message(name: str) -> Any:
    """Return the class of the message `name` (`"GraphDef"`); AttributeError if there is none."""
    if name not in _FILES:
        raise AttributeError(f"tfsandbox.proto has no message {name!r}")
    return getattr(importlib.import_module(f"tfsandbox.proto.{_FILES[name]}_pb2"), name)
