"""Nodes of a GraphDef that hand a value on: CheckNumerics, Assert and the `cond` around it, dropout, Identity.

What is found here is taken out by giving its readers what it read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from tfsandbox.framework.node_graph import NodeGraph

Source = tuple[int, int]  # a node and the number of its output

HANDING_ON_OPS = frozenset({"Identity", "StopGradient", "PreventGradient"})

_STATEFUL_OP = re.compile(r"\w*(Variable|Queue|Dequeue|Enqueue|Iterator|Reader|Random|PyFunc|Stack|TensorArray|Barrier|"
                          r"LookupTable|HashTable|StagingArea|Stage|Unstage)\w*|VarHandleOp|Multinomial|TruncatedNormal")


_ADDITIONS = ("Add", "AddV2")
_DIVISIONS = ("RealDiv", "Div")

# Checks


def assertions(graph: NodeGraph, protected: Container[int]) -> set[int]:
    """The nodes that only check: Assert, a Merge of branches that do nothing but assert, groups of these."""
    found = {i for i, op in enumerate(graph.ops) if op == "Assert" and i not in protected}
    checked = {i for i, op in enumerate(graph.ops) if op == "CheckNumerics" and i not in protected}
    waiting = list(dict.fromkeys(j for i in found | checked for j in graph.all_users(i)))
    while waiting:
        i = waiting.pop()
        if i in found or i in protected:
            continue
        if graph.ops[i] == "NoOp":
            only_checks = all(j in found or j in checked for j in graph.controls[i])
        elif graph.ops[i] == "Merge" and not graph.users[i]:
            only_checks = _only_asserts(graph, i, found)
        else:
            if graph.ops[i] == "Identity" and not graph.control_users[i]:
                waiting += [j for j in graph.users[i] if graph.ops[j] == "Merge"]
            continue
        if only_checks:
            found.add(i)
            waiting += graph.control_users[i]
    return found


def _only_asserts(graph: NodeGraph, merge: int, found: set[int]) -> bool:
    """Whether the branches of a `cond` do nothing but assert."""
    seen = False
    for branch, _ in graph.inputs[merge]:
        if graph.ops[branch] != "Identity" or graph.controls[merge]:
            return False
        for j in graph.controls[branch]:
            if j in found:
                seen = True
            elif graph.ops[j] != "NoOp" or any(graph.ops[k] not in ("Identity", "Switch") for k in graph.controls[j]):
                return False
        pivot = graph.inputs[branch][0][0] if graph.inputs[branch] else -1
        for _ in range(3):
            if pivot >= 0 and graph.ops[pivot] == "Identity" and graph.inputs[pivot]:
                pivot = graph.inputs[pivot][0][0]
        if pivot < 0 or graph.ops[pivot] != "Switch":
            return False
    return seen


def has_state(graph: NodeGraph, i: int) -> bool:
    """Whether running a node again, or later, may give something else."""
    return graph.is_variable(i) or graph.is_write(i) or _STATEFUL_OP.fullmatch(graph.ops[i]) is not None


# Dropout


def dropouts(graph: NodeGraph, protected: Container[int]) -> dict[int, Source]:
    """The last node of each dropout, and what it drops from.

    TensorFlow 1.15 multiplies `x * (1 / (1 - rate))` by `random >= rate`; older versions `x / keep` by
    `floor(random + keep)`.
    """
    found = {}
    for i, op in enumerate(graph.ops):
        if op == "Mul" and i not in protected and len(graph.inputs[i]) == 2:
            for scaled, mask in (graph.inputs[i], graph.inputs[i][::-1]):
                source = _dropped(graph, scaled, mask)
                if source is not None:
                    found[i] = source
                    break
    if found:
        found.update(_conditions_of_nothing(graph, found, protected))
    return found


def _behind(graph: NodeGraph, source: Source) -> Source:
    """What a chain of plain Identities hands on."""
    for _ in range(len(graph)):  # a file may have a cycle
        if graph.ops[source[0]] != "Identity" or not graph.inputs[source[0]]:
            break
        source = graph.inputs[source[0]][0]
    return source


def _operands(graph: NodeGraph, source: Source, *ops: str) -> list[Source]:
    """The two (or one) data inputs of a node of one of these ops, behind Identities; empty for other nodes."""
    i = _behind(graph, source)[0]
    count = 1 if ops in (("Floor",), ("Cast",)) else 2
    return graph.inputs[i] if graph.ops[i] in ops and len(graph.inputs[i]) == count else []


def _dropped(graph: NodeGraph, scaled: Source, mask: Source) -> Source | None:
    """The `x` of `scaled = x * (1 / keep)`, where `mask` is random, 1 in the share `keep` of its places, else 0."""
    for total in _operands(graph, mask, "Floor"):
        summands = _operands(graph, total, *_ADDITIONS)
        for keep, noise in (summands, summands[::-1]) if summands else ():
            if _is_uniform(graph, noise):
                return _divided(graph, scaled, _same, keep)
    for compared in _operands(graph, mask, "Cast"):
        compared_with = _operands(graph, compared, "GreaterEqual")
        if compared_with and _is_uniform(graph, compared_with[0]):
            return _divided(graph, scaled, _is_rest, compared_with[1])
    return None


def _same(graph: NodeGraph, one: Source, other: Source) -> bool:
    one, other = _behind(graph, one), _behind(graph, other)
    if one == other:
        return True
    values = graph.constant(one[0]), graph.constant(other[0])
    return values[0] is not None and values[1] is not None and values[0].shape == () == values[1].shape \
        and bool(values[0] == values[1])


def _is_number(graph: NodeGraph, source: Source, number: float) -> bool:
    value = graph.constant(_behind(graph, source)[0])
    return value is not None and value.size == 1 and value.dtype.kind == "f" and float(value.reshape(())) == number


def _is_rest(graph: NodeGraph, source: Source, rate: Source) -> bool:
    """Whether a tensor is `1 - rate`."""
    i = _behind(graph, source)[0]
    difference = _operands(graph, source, "Sub")
    if difference and _is_number(graph, difference[0], 1.0) and _same(graph, difference[1], rate):
        return True
    values = graph.constant(i), graph.constant(_behind(graph, rate)[0])
    return values[0] is not None and values[1] is not None and values[0].size == 1 == values[1].size \
        and bool(values[0] == 1 - values[1])


def _is_uniform(graph: NodeGraph, source: Source) -> bool:
    """Whether a tensor is drawn from [0, 1): RandomUniform, alone or as `tf.random_uniform` scales it."""
    scaled = _operands(graph, source, *_ADDITIONS)
    if scaled and _is_number(graph, scaled[1], 0.0):
        source = scaled[0]
    product = _operands(graph, source, "Mul")
    if product:
        width = _operands(graph, product[1], "Sub")
        from_0_to_1 = width and _is_number(graph, width[0], 1.0) and _is_number(graph, width[1], 0.0)
        if from_0_to_1 or _is_number(graph, product[1], 1.0):
            source = product[0]
    return graph.ops[_behind(graph, source)[0]] == "RandomUniform"


def _divided(graph: NodeGraph, scaled: Source, is_keep: Callable[[NodeGraph, Source, Source], bool],
             given: Source) -> Source | None:
    """The `x` of `x / keep` or `x * (1 / keep)`, where `keep` is what `given` says."""
    quotient = _operands(graph, scaled, *_DIVISIONS)
    if quotient and is_keep(graph, quotient[1], given):
        return quotient[0]
    product = _operands(graph, scaled, "Mul")
    for x, factor in (product, product[::-1]) if product else ():
        inverse = _operands(graph, factor, *_DIVISIONS)
        if inverse and _is_number(graph, inverse[0], 1.0) and is_keep(graph, inverse[1], given):
            return x
    return None


def _conditions_of_nothing(graph: NodeGraph, found: dict[int, Source], protected: Container[int]) -> dict[int, Source]:
    """The Merges of a `cond` between dropout and none, and the tensor that both branches then hand on."""
    merges = {}
    for i, op in enumerate(graph.ops):
        if op != "Merge" or i in protected or len(graph.inputs[i]) != 2 or graph.controls[i]:
            continue
        if any(source == (i, 1) for j in graph.users[i] for source in graph.inputs[j]):
            continue
        through: set[int] = set()
        ends = [_handed_on(graph, source, found, through) for source in graph.inputs[i]]
        if through.isdisjoint(found) or any(graph.ops[j] != "Switch" or len(graph.inputs[j]) != 2 for j, _ in ends):
            continue
        (one, output), (other, other_output) = ends
        if {output, other_output} == {0, 1} and graph.inputs[one][0] == graph.inputs[other][0] \
                and _same(graph, graph.inputs[one][1], graph.inputs[other][1]):
            merges[i] = graph.inputs[one][0]
    return merges


def idle_pivots(graph: NodeGraph) -> dict[int, set[int]]:
    """The branch markers of conditions that nothing reads, and the Switches that their condition has besides."""
    found = {}
    switches: dict[Source, set[int]] = {}
    for i, op in enumerate(graph.ops):
        if op == "Switch" and len(graph.inputs[i]) == 2:
            switches.setdefault(_behind(graph, graph.inputs[i][1]), set()).add(i)
    for i, op in enumerate(graph.ops):
        if op == "Identity" and graph.inputs[i] and not graph.all_users(i):
            j = graph.inputs[i][0][0]
            if graph.ops[j] == "Switch" and len(graph.inputs[j]) == 2 and graph.inputs[j][0] == graph.inputs[j][1]:
                others = switches[_behind(graph, graph.inputs[j][1])] - {j}
                if others:
                    found[i] = others
    return found


def _handed_on(graph: NodeGraph, source: Source, found: dict[int, Source], through: set[int]) -> Source:
    for _ in range(len(graph)):
        through.add(source[0])
        if source[0] in found:
            source = found[source[0]]
        elif graph.ops[source[0]] == "Identity" and graph.inputs[source[0]] and not graph.controls[source[0]]:
            source = graph.inputs[source[0]][0]
        else:
            break
    return source
