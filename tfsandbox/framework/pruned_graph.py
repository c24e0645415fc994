"""The GraphDef that a `Pruning` leaves: edges past what was handed on, Identities spliced out, savers restricted."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.framework.node_graph import NodeGraph, input_text
from tfsandbox.framework.pass_through import HANDING_ON_OPS, Source, has_state
from tfsandbox.framework.pruning import Pruning
from tfsandbox.framework.saver_nodes import (
    SAVE_OPS,
    can_be_restricted,
    first_saved,
    keep_entries,
    keep_types,
    name_inputs,
    new_name,
)
from tfsandbox.framework.tensor_proto import ndarray_to_proto


class PrunedGraph:
    """What remains of a graph. `spliced` are the Identities among the kept nodes that go too, and what they read."""

    def __init__(self, pruning: Pruning) -> None:
        self.pruning = pruning
        self.graph: NodeGraph = pruning.graph
        self.kept = set(pruning.kept)
        self.inputs: dict[int, list[Source]] = {}
        self.controls: dict[int, list[int]] = {}
        self._with_state: set[int] | None = None
        self.places: dict[int, list[int]] = {}  # the tensors that a restricted saver's node keeps
        self._renumbered: dict[int, dict[int, int]] = {}
        for i in sorted(self.kept):
            self._connect(i)
        for i in sorted(self.kept):
            self._order(i)
        self.spliced: dict[int, Source] = {}
        self._splice()
        self._restrict_savers()
        self._readers: Counter[int] = Counter(j for i in self.kept for j, _ in self.inputs[i])

    # Edges

    def _connect(self, i: int) -> None:
        pruning, graph = self.pruning, self.graph
        if pruning.becomes_true(i):
            self.inputs[i], self.controls[i] = [], []
            return
        if i in pruning.handed_on:
            sources = [pruning.handed_on[i]]
        else:
            sources = [source for place, source in enumerate(graph.inputs[i]) if not pruning.is_cut(i, place)]
        controls: list[int] = list(graph.controls[i])
        handed: list[Source] = []
        for source in sources:
            handed.append(self._behind(source, controls))
        self.inputs[i] = handed
        self.controls[i] = list(dict.fromkeys(controls))

    def _behind(self, source: Source, controls: list[int]) -> Source:
        """What a reader takes now; what the nodes between waited for, the reader has to wait for."""
        handed_on = self.pruning.handed_on
        for _ in range(len(self.graph)):
            if source[0] not in handed_on or source[0] in self.kept:
                break
            if self.graph.ops[source[0]] == "CheckNumerics":
                controls += self.graph.controls[source[0]]
            source = handed_on[source[0]]
        return source

    def _order(self, i: int) -> None:
        """Control edges from kept nodes only; one from a check becomes edges from what it waited for, if that tells."""
        kept: list[int] = []
        for j in self.controls[i]:
            if j in self.kept:
                kept.append(j)
            elif j in self.pruning.dropouts:
                kept.append(self._behind((j, 0), [])[0])
            elif j in self.pruning.checks or self.graph.ops[j] == "CheckNumerics":
                kept += self._waited_for(i, j)
        self.controls[i] = [j for j in dict.fromkeys(kept) if j != i]

    def _waited_for(self, i: int, check: int) -> list[int]:
        frontier: list[int] = []
        seen, waiting = {check}, [check]
        while waiting:
            for j in self.graph.sources(waiting.pop()):
                if j in seen:
                    continue
                seen.add(j)
                if j in self.kept:
                    frontier.append(j)
                else:
                    waiting.append(j)
        if self._with_state is None:
            self._with_state = self.graph.dependents(j for j in range(len(self.graph)) if has_state(self.graph, j))
        frontier = [j for j in frontier if j in self._with_state and not self.graph.is_variable(j)]
        return sorted(self._not_before(i, frontier)) if frontier else []

    def _not_before(self, i: int, nodes: list[int]) -> set[int]:
        """Which of the nodes a node does not run after anyway. What a check guards is near: breadth first."""
        left = set(nodes)
        seen = {i}
        layer = [i]
        while layer and left:
            layer = [j for k in layer for j in [*(j for j, _ in self.inputs.get(k, ())),
                                                *(j for j in self.controls.get(k, ()) if j in self.kept)]]
            layer = [j for j in dict.fromkeys(layer) if j not in seen]
            seen.update(layer)
            left.difference_update(layer)
        return left

    # Identities

    def _splice(self) -> None:
        graph = self.graph
        waited_for = {j for i in self.kept for j in self.controls[i]}
        read = {j for i in self.kept for j, _ in self.inputs[i]}
        writes = self._writes()
        for i in sorted(self.kept):
            if graph.ops[i] not in HANDING_ON_OPS or i in self.pruning.protected or i in waited_for or i not in read:
                continue
            if self.controls[i] or len(self.inputs[i]) != 1 or self.inputs[i][0][0] == i:
                continue
            variable = graph.variable_behind(self.inputs[i][0][0])
            if variable is not None and self._is_read_between(i, writes.get(variable, [])):
                continue
            self.spliced[i] = self.inputs[i][0]
        for i in self.kept:
            self.inputs[i] = [self._spliced_source(source) for source in self.inputs[i]]
        self.kept -= set(self.spliced)

    def _spliced_source(self, source: Source) -> Source:
        for _ in range(len(self.graph)):
            if source[0] not in self.spliced:
                break
            source = self.spliced[source[0]]
        return source

    def _writes(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for i in self.kept:
            if self.graph.is_write(i):
                variable = self.graph.written_variable(i)
                if variable is not None:
                    found.setdefault(variable, []).append(i)
        return found

    def _is_read_between(self, read: int, writes: list[int]) -> bool:
        """Whether the run's order says if a read comes before or after a write: its readers would read later."""
        if not writes:
            return False
        graph = self.graph
        readers = [i for i in graph.users[read] if i in self.kept]
        after_read = graph.dependents([read])
        if any(write in after_read for write in writes):
            return True
        after_writes = graph.dependents(writes)
        return any(reader in after_writes for reader in readers)

    # Savers

    def _restrict_savers(self) -> None:
        """Which tensors each saver's node keeps, and which constants with their names that changes."""
        graph = self.graph
        outputs: dict[int, set[int]] = {}
        for i in self.kept:
            for j, output in self.inputs[i]:
                if graph.ops[j] == "RestoreV2":
                    outputs.setdefault(j, set()).add(output)
        for i in self.kept:
            op = graph.ops[i]
            if op in SAVE_OPS:
                places = [place - first_saved(op) for place in range(first_saved(op), len(graph.inputs[i]))
                          if not self.pruning.is_cut(i, place)]
                count = len(graph.inputs[i]) - first_saved(op)
            elif op == "RestoreV2" and can_be_restricted(graph, i):
                before = {output for j in graph.users[i] for k, output in graph.inputs[j] if k == i}
                count = len(graph.nodes[i].attr["dtypes"].list.type)
                places = [k for k in range(count) if k in outputs.get(i, ()) or k not in before]
            else:
                continue
            if len(places) < count:
                self.places[i] = places
        self._renumbered = {i: {old: new for new, old in enumerate(places)} for i, places in self.places.items()
                            if graph.ops[i] == "RestoreV2"}

    def _restricted_names(self, i: int, taken: set[str]) -> tuple[dict[int, str], list[Any]]:
        """Constants with the names that a saver's node keeps: the inputs they are for, and the new nodes.

        A constant that only this node reads is changed in its place instead.
        """
        from tfsandbox.proto import node_def_pb2

        graph = self.graph
        replaced: dict[int, str] = {}
        nodes = []
        for place in name_inputs(graph.ops[i]):
            j = graph.inputs[i][place][0]
            if self._readers[j] == 1:
                continue
            node = node_def_pb2.NodeDef()
            node.CopyFrom(graph.nodes[j])
            node.name = new_name(graph.names[j], taken.__contains__)
            taken.add(node.name)
            self._keep_entries(node, j, i)
            nodes.append(node)
            replaced[place] = node.name
        return replaced, nodes

    def _keep_entries(self, node: Any, constant: int, saver: int) -> None:
        value = self.graph.constant(constant)
        assert value is not None
        keep_entries(node, value, self.places[saver])

    # The message

    def graph_def(self) -> Any:
        """A new GraphDef of what remains, in the order of the original."""
        from tfsandbox.proto import graph_pb2

        graph = self.graph
        result = graph_pb2.GraphDef()
        result.library.CopyFrom(graph.graph_def.library)
        result.versions.CopyFrom(graph.graph_def.versions)
        taken = set(graph.names)
        places = {b"loc:@" + graph.names[i].encode() for i in self.kept}
        edited = {graph.inputs[i][place][0]: i for i in self.places for place in name_inputs(graph.ops[i])}
        for i in sorted(self.kept):
            replaced: dict[int, str] = {}
            if i in self.places:
                replaced, nodes = self._restricted_names(i, taken)
                result.node.extend(nodes)
            node = result.node.add()
            node.CopyFrom(graph.nodes[i])
            del node.input[:]
            for place, (j, output) in enumerate(self.inputs[i]):
                output = self._renumbered.get(j, {}).get(output, output)
                node.input.append(replaced.get(place) or input_text(graph.names[j], output))
            node.input.extend("^" + graph.names[j] for j in self.controls[i])
            if i in self.places:
                keep_types(node, self.places[i])
            elif i in edited and self._readers[i] == 1:
                self._keep_entries(node, i, edited[i])
            elif i in self.pruning.handed_on:
                _make_identity(node)
            elif self.pruning.becomes_true(i):
                _make_true(node)
            _stay_near(node, places)
        return result


def _make_identity(node: Any) -> None:
    node.op = "Identity"
    for name in list(node.attr):
        if name != "T" and not name.startswith("_"):
            del node.attr[name]


def _make_true(node: Any) -> None:
    node.op = "Const"
    for name in list(node.attr):
        if not name.startswith("_"):
            del node.attr[name]
    node.attr["dtype"].type = dtypes.bool.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(ndarray_to_proto(np.array(True)))


def _stay_near(node: Any, places: set[bytes]) -> None:
    """Drop the wishes to be placed with nodes that are gone."""
    if "_class" not in node.attr:
        return
    wishes = node.attr["_class"].list.s
    left = [text for text in wishes if not text.startswith(b"loc:@") or text in places]
    if len(left) < len(wishes):
        del wishes[:]
        wishes.extend(left)
        if not left:
            del node.attr["_class"]
