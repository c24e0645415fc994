"""The names of `tensorflow.python.summary.summary`."""

from __future__ import annotations

from typing import Any

from tfsandbox import proto
from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.ops.summary_ops import audio, histogram, image, merge, merge_all, scalar, tensor_summary, text
from tfsandbox.training.summary_io import FileWriter, FileWriterCache

__all__ = [  # noqa: F822
    "Event", "FileWriter", "FileWriterCache", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata",
    "all_v2_summary_ops", "audio", "get_summary_description", "histogram", "image", "initialize", "merge", "merge_all",
    "scalar", "tensor_summary", "text",
]

MESSAGES = ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata")
"""The messages of the namespace, imported when somebody asks for one: protobuf is slow to load."""


def get_summary_description(node_def: Any) -> Any:
    """The SummaryDescription of a TensorSummary node; `ValueError` for any other node."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    from google.protobuf import json_format

    from tfsandbox.proto import summary_pb2
    message = summary_pb2.SummaryDescription()
    json_format.Parse(node_def.attr["description"].s.decode(), message)
    return message


def all_v2_summary_ops() -> list[Any]:
    """The ops that write summaries through a `tf.contrib.summary` writer."""
    return ops.get_collection(GraphKeys._SUMMARY_COLLECTION)


def initialize(graph: Any = None, session: Any = None) -> None:
    """For `tf.contrib.summary`, which the sandbox lacks: raises `RuntimeError` as TensorFlow does without a writer."""
    raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")


def __getattr__(name: str) -> Any:
    if name not in MESSAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return proto.message(name)
