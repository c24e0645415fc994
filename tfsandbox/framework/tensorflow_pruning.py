"""What TensorFlow's own `remove_training_nodes` does, as recorded of 1.15: no more, and its oddities too."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from tfsandbox.framework.graph_util_impl import check_graph_def


def pruned(graph_def: Any, protected: Container[str]) -> Any:
    """A new GraphDef without CheckNumerics nodes, and with Identities spliced out.

    A reader of CheckNumerics loses that input, unless it is written with its number (`check:0`); an Identity stays
    where control edges are involved or where it is protected. Neither the library nor the versions are taken along.
    """
    from tfsandbox.proto import graph_pb2

    check_graph_def(graph_def)
    result = graph_pb2.GraphDef()
    checks = {node.name for node in graph_def.node if node.op == "CheckNumerics" and node.name not in protected}
    waited_for: set[str] = set()
    for original in graph_def.node:
        if original.name in checks:
            continue
        node = result.node.add()
        node.ParseFromString(original.SerializeToString())
        inputs = [text for text in node.input if text.removeprefix("^") not in checks]
        del node.input[:]
        node.input.extend(inputs)
        waited_for.update(text[1:] for text in inputs if text.startswith("^"))
    spliced = {node.name: node.input[0] for node in result.node
               if node.op == "Identity" and node.name not in waited_for and node.name not in protected
               and not any(text.startswith("^") for text in node.input)}
    nodes = [node for node in result.node if node.name not in spliced]
    final = graph_pb2.GraphDef()
    for node in nodes:
        inputs = [_behind(text, spliced) for text in node.input]
        del node.input[:]
        node.input.extend(inputs)
        final.node.add().CopyFrom(node)
    return final


def _behind(text: str, spliced: dict[str, str]) -> str:
    seen: set[str] = set()
    while text in spliced:
        if text in seen:
            raise ValueError(f"The Identity nodes {', '.join(sorted(seen))} feed each other.")
        seen.add(text)
        text = spliced[text]
    return text
