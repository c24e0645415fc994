"""Messages have TensorFlow's fields, and read and write its bytes and text.

`record_messages.py` wrote the files in `recorded/` with TensorFlow 1.15.
"""

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from google.protobuf import text_format

import tfsandbox.proto
from tfsandbox.proto import graph_pb2, meta_graph_pb2

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
MODULES = sorted(path.stem for path in Path(tfsandbox.proto.__path__[0]).glob("*_pb2.py"))
MESSAGES = sorted(path.stem for path in RECORDED.glob("*.pb"))


def _descriptor_lines() -> ModuleType:
    spec = importlib.util.spec_from_file_location("descriptor_lines", HERE / "descriptor_lines.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _modules() -> list[Any]:
    return [importlib.import_module(f"tfsandbox.proto.{name}") for name in MODULES]


def test_every_field_is_tensorflows() -> None:
    recorded = json.loads((RECORDED / "descriptors.json").read_text())
    ours: dict[str, list[str]] = {}
    lines_of = _descriptor_lines().lines_of
    for module in _modules():
        ours.update(lines_of(module.DESCRIPTOR))
    # Left out: the messages by which TensorFlow watches over the workers of a cluster.
    left_out = {name for name in recorded if name.startswith(("Watchdog", "Worker"))}
    assert set(ours) == set(recorded) - left_out
    for name, lines in ours.items():
        assert sorted(lines) == sorted(recorded[name]), name


def test_names_are_our_own() -> None:
    """A real TensorFlow registers its files and messages in the same pool."""
    for module in _modules():
        assert module.DESCRIPTOR.name.startswith("tfsandbox/proto/")
        assert module.DESCRIPTOR.package in ("tfsandbox", "tfsandbox.error")


def test_there_is_generated_code_for_every_source() -> None:
    folder = Path(tfsandbox.proto.__path__[0])
    sources = sorted(path.stem for path in folder.glob("*.proto"))
    assert MODULES == sorted(f"{name}_pb2" for name in sources)
    assert sources == sorted(path.name.removesuffix("_pb2.pyi") for path in folder.glob("*_pb2.pyi"))


@pytest.mark.parametrize("name", MESSAGES)
def test_bytes_and_text_are_tensorflows(name: str) -> None:
    cls = tfsandbox.proto.message(name.rpartition(".")[2])
    data = (RECORDED / f"{name}.pb").read_bytes()
    text = (RECORDED / f"{name}.pbtxt").read_text()
    message = cls.FromString(data)
    # Maps are written in an order that differs between versions of protobuf.
    assert sorted(message.SerializeToString(deterministic=True)) == sorted(data)
    assert cls.FromString(message.SerializeToString()) == message
    assert text_format.Parse(text, cls()) == message
    assert text_format.MessageToString(message) == text


def test_every_message_is_found_by_name() -> None:
    for module in _modules():
        for name in module.DESCRIPTOR.message_types_by_name:
            assert tfsandbox.proto.message(name) is getattr(module, name)
    with pytest.raises(AttributeError, match="no message 'Nonsense'"):
        tfsandbox.proto.message("Nonsense")


def test_unknown_fields_survive() -> None:
    """A graph written by a newer TensorFlow keeps what we do not know of."""
    data = (RECORDED / "graph.GraphDef.pb").read_bytes() + b"\xa2\x06\x03abc"  # field 100
    assert graph_pb2.GraphDef.FromString(data).SerializeToString().endswith(b"\xa2\x06\x03abc")


def test_a_graph_can_be_nested_in_a_meta_graph() -> None:
    meta = meta_graph_pb2.MetaGraphDef.FromString((RECORDED / "meta_graph.MetaGraphDef.pb").read_bytes())
    assert meta.graph_def.node[0].name == "x"
    assert meta.collection_def["trainable_variables"].WhichOneof("kind") == "bytes_list"
    assert meta.saver_def.filename_tensor_name == "save/Const:0"


def test_the_graph_needs_no_protobuf() -> None:
    code = (
        "import sys; from tfsandbox.framework import attr_value, dtypes, errors, tensor_shape, tensor_util;"
        "assert not [name for name in sys.modules if name.startswith('google.protobuf')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_messages_load_without_warnings() -> None:
    """Generated code and protobuf runtime check each other's versions when they are imported."""
    code = "".join(f"import tfsandbox.proto.{name}\n" for name in MODULES)
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
