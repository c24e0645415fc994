"""A graph as plain data: nodes with their inputs, shapes and roles, and the tree of name scopes.

Everything that is drawn starts here. A `GraphModel` holds strings and numbers only: it is made from a Graph, from
Operations or from a GraphDef (`graph_reader`), written to JSON and back, and tested without an engine or a browser.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

JSON_VERSION = 1

Shape = tuple[int | None, ...] | None
"""A static shape: None for a dimension nobody knows, and None for the whole when not even the rank is known."""


def shape_text(shape: Shape) -> str:
    """A shape as TensorFlow prints it: `(?, 10)`, `(3,)`, `()`, `<unknown>`."""
    if shape is None:
        return "<unknown>"
    parts = ["?" if size is None else str(size) for size in shape]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def element_count(shape: Shape) -> int | None:
    """How many elements a tensor of this shape has; None while a dimension is unknown."""
    if shape is None:
        return None
    count = 1
    for size in shape:
        if size is None:
            return None
        count *= size
    return count


def split_input(text: str) -> tuple[str, int, bool]:
    """(node, output index, is control) of an input as a GraphDef spells it: `a`, `a:1`, `^a`."""
    if text.startswith("^"):
        return text[1:], 0, True
    name, colon, index = text.rpartition(":")
    if colon and index.isdigit():
        return name, int(index), False
    return text, 0, False


def node_name(text: str) -> str:
    """The node that a tensor name, an input or a node name speaks of: `w:0`, `^w` and `w` all give `w`."""
    return split_input(text)[0]


def closest(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known names most like `name`, best first; a shared ending counts, since people forget the scope."""
    pool = list(known)
    short = name.rsplit("/", 1)[-1].lower()
    found = [other for other in pool if other.rsplit("/", 1)[-1].lower() == short] if short else []
    found += difflib.get_close_matches(name, pool, n=limit, cutoff=0.5)
    lowered: dict[str, str] = {}
    for other in pool:
        lowered.setdefault(other.lower(), other)
    found += [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, n=limit, cutoff=0.6)]
    return list(dict.fromkeys(found))[:limit]


def unknown_name_message(kind: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name that is not there, with the nearest ones that are."""
    near = closest(name, known)
    hint = f" Did you mean {' or '.join(repr(other) for other in near)}?" if near else ""
    return f"There is no {kind} named {name!r}.{hint}"


@dataclass(slots=True)
class Output:
    """One output of a node: the type of its elements (`float32`, without `_ref`) and its static shape."""

    dtype: str
    shape: Shape = None

    def text(self) -> str:
        """`float32 (?, 10)`."""
        return f"{self.dtype} {shape_text(self.shape)}" if self.dtype else shape_text(self.shape)


@dataclass(slots=True)
class Node:
    """One node of a graph, or what a picture makes of several.

    `inputs` are tensors as a GraphDef names them (`a`, `a:1`), `control_inputs` node names. `role` says what the node
    is there for (`roles.ROLES`). `of` is the node it belongs to: for a gradient the op it differentiates, for a slot,
    an update or an initialiser the variable. `folded` names what a reduced model hides inside this node.
    """

    name: str
    op: str
    inputs: list[str] = field(default_factory=list)
    control_inputs: list[str] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    role: str = "forward"
    of: str = ""
    attrs: dict[str, str] = field(default_factory=dict)
    device: str = ""
    source: str = ""
    folded: list[str] = field(default_factory=list)

    @property
    def scope(self) -> str:
        """The name scope it was made in, `""` at the top."""
        return self.name.rpartition("/")[0]

    @property
    def short_name(self) -> str:
        """The last part of its name."""
        return self.name.rpartition("/")[2]

    def input_nodes(self) -> Iterator[tuple[str, int]]:
        """(node, output index) of each data input, in order."""
        for text in self.inputs:
            name, index, _ = split_input(text)
            yield name, index

    def shape(self) -> Shape:
        """The shape of the first output; None when unknown or when there is none."""
        return self.outputs[0].shape if self.outputs else None

    def to_json(self) -> dict[str, Any]:
        """Plain data; what is empty is left out."""
        record: dict[str, Any] = {"name": self.name, "op": self.op}
        if self.inputs:
            record["inputs"] = list(self.inputs)
        if self.control_inputs:
            record["control_inputs"] = list(self.control_inputs)
        if self.outputs:
            record["outputs"] = [[out.dtype, None if out.shape is None else list(out.shape)] for out in self.outputs]
        if self.role != "forward":
            record["role"] = self.role
        for key in ("of", "device", "source"):
            if getattr(self, key):
                record[key] = getattr(self, key)
        if self.attrs:
            record["attrs"] = dict(self.attrs)
        if self.folded:
            record["folded"] = list(self.folded)
        return record

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Node:
        """The node that `to_json` wrote."""
        outputs = [Output(dtype, None if shape is None else tuple(shape)) for dtype, shape in record.get("outputs", ())]
        return cls(record["name"], record["op"], list(record.get("inputs", ())), list(record.get("control_inputs", ())),
                   outputs, record.get("role", "forward"), record.get("of", ""), dict(record.get("attrs", {})),
                   record.get("device", ""), record.get("source", ""), list(record.get("folded", ())))


@dataclass
class GraphModel:
    """Nodes in the order in which they were made, with a title. `hidden` counts by rule what a reduction left out.

    `trainable` names the variables that are meant to train, None where nobody says; `masked` those that a training
    scope holds still now.

    Raises ValueError for a node without a name, or with the name of a scope (`a/`).
    """

    nodes: list[Node]
    title: str = "graph"
    hidden: dict[str, int] = field(default_factory=dict)
    trainable: frozenset[str] | None = None
    masked: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.index: dict[str, int] = {node.name: position for position, node in enumerate(self.nodes)}
        for name in self.index:
            if not name or name.endswith("/"):
                raise ValueError(f"{name!r} is not a valid node name: it must not be empty and must not end in '/'.")

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, name: str) -> bool:
        return node_name(name) in self.index

    @classmethod
    def from_graph(cls, graph: Any, title: str = "graph") -> GraphModel:
        """The model of a Graph: anything with `get_operations()`."""
        from tfsandbox.notebook import graph_reader
        return graph_reader.read_operations(graph.get_operations(), title)

    @classmethod
    def from_operations(cls, operations: Iterable[Any], title: str = "operations") -> GraphModel:
        """The model of some Operations; inputs from outside the list are left out."""
        from tfsandbox.notebook import graph_reader
        return graph_reader.read_operations(operations, title)

    @classmethod
    def from_graph_def(cls, graph_def: Any, title: str = "GraphDef") -> GraphModel:
        """The model of a GraphDef: anything with `.node`, each with `.name`, `.op`, `.input` and `.attr`."""
        from tfsandbox.notebook import graph_reader
        return graph_reader.read_graph_def(graph_def, title)

    def node(self, name: str) -> Node:
        """The node of a name or tensor name. Raises KeyError with the nearest names."""
        position = self.index.get(node_name(name))
        if position is None:
            raise KeyError(unknown_name_message("node", node_name(name), self.index))
        return self.nodes[position]

    def sources(self, node: Node) -> Iterator[tuple[str, bool]]:
        """(node name, is control) of every input that is in this model."""
        for name, _ in node.input_nodes():
            if name in self.index:
                yield name, False
        for name in node.control_inputs:
            if name in self.index:
                yield name, True

    def consumers(self) -> dict[str, list[str]]:
        """For each node the nodes that take it, data and control, each once."""
        table: dict[str, dict[str, None]] = {node.name: {} for node in self.nodes}
        for node in self.nodes:
            for name, _ in self.sources(node):
                table[name][node.name] = None
        return {name: list(users) for name, users in table.items()}

    def ancestors(self, names: Iterable[str], control: bool = True) -> set[str]:
        """The named nodes and everything they depend on. Raises KeyError for a name that is not there."""
        waiting = [self.node(name).name for name in names]
        seen = set(waiting)
        while waiting:
            for name, is_control in self.sources(self.nodes[self.index[waiting.pop()]]):
                if name not in seen and (control or not is_control):
                    seen.add(name)
                    waiting.append(name)
        return seen

    def restricted(self, names: Iterable[str], title: str | None = None) -> GraphModel:
        """The model of these nodes alone, in the old order."""
        kept = {node_name(name) for name in names}
        return GraphModel([node for node in self.nodes if node.name in kept], title or self.title, dict(self.hidden))

    def reduced_to(self, names: Iterable[str]) -> GraphModel:
        """The part of the graph that the named nodes or tensors depend on."""
        wanted = [node_name(name) for name in names]
        return self.restricted(self.ancestors(wanted), f"{self.title}: {', '.join(wanted)}")

    def under(self, scope: str) -> GraphModel:
        """The nodes in a name scope, the node of that very name included. Raises KeyError when there is none."""
        scope = scope.strip("/")
        if not scope:
            return self
        kept = [node.name for node in self.nodes if node.name == scope or node.name.startswith(scope + "/")]
        if not kept:
            raise KeyError(unknown_name_message("node or name scope", scope, self.names_and_scopes()))
        return self.restricted(kept, f"{self.title}: {scope}/")

    def names_and_scopes(self) -> list[str]:
        """Every node name and every name scope, each once, in order."""
        names: dict[str, None] = {}
        for node in self.nodes:
            cut = node.name.find("/")
            while cut >= 0:
                names[node.name[:cut]] = None
                cut = node.name.find("/", cut + 1)
            names[node.name] = None
        return list(names)

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"version": JSON_VERSION, "title": self.title, "hidden": dict(self.hidden),
                "nodes": [node.to_json() for node in self.nodes]}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> GraphModel:
        """The model that `to_json` wrote. Raises ValueError for a version from the future."""
        if record.get("version", JSON_VERSION) > JSON_VERSION:
            raise ValueError(f"This graph was written by a newer tfsandbox (format {record['version']}, "
                             f"this one reads {JSON_VERSION}).")
        return cls([Node.from_json(node) for node in record["nodes"]], record.get("title", "graph"),
                   dict(record.get("hidden", {})))
