"""Levels of detail: which nodes a picture leaves out, and where their edges then go.

A rule hides nodes; a level is a set of rules. A hidden node that hands its input on unchanged is spliced: its
consumers are joined to what it read. Whatever is hidden is counted in the model's `hidden` and named in the `folded`
of the node that it belongs to, so that no picture pretends the rest is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tfsandbox.notebook.graph_model import GraphModel, Node, closest, split_input
from tfsandbox.notebook.roles import PASSING_OPS

LEVELS = ("ideas", "gradients", "full")
"""ideas: the forward pass. gradients: each op with its backward op beside it. full: every node TensorFlow has."""

LOOP_OPS = frozenset({"Enter", "Exit", "NextIteration", "Switch", "LoopCond", "RefEnter", "RefExit", "RefSwitch",
                      "RefNextIteration"})


@dataclass(frozen=True)
class Rule:
    """One reason to leave nodes out: what it is called, what it says to a reader, and which nodes it takes."""

    name: str
    title: str
    takes: Callable[[Node], bool]


def _role_rule(role: str, title: str) -> Rule:
    return Rule(role, title, lambda node: node.role == role)


def _is_pass_through(node: Node) -> bool:
    return node.op in PASSING_OPS and node.role in ("forward", "plumbing")


RULES: dict[str, Rule] = {rule.name: rule for rule in (
    _role_rule("gradient", "the backward pass"),
    _role_rule("optimizer", "what applies the updates"),
    _role_rule("slot", "the optimizer's own state"),
    _role_rule("init", "initial values"),
    _role_rule("saver", "what saves and restores"),
    _role_rule("summary", "summaries"),
    _role_rule("check", "checks and assertions"),
    _role_rule("plumbing", "shapes, reads and groups"),
    Rule("identity", "what hands its input on", _is_pass_through),
    Rule("loop", "the frames of loops and conditions", lambda node: node.op in LOOP_OPS),
    Rule("argument", "constants that are an op's own argument", lambda node: False),
)}
"""Every rule. `argument` needs to see the consumers and is decided in `simplify`."""

_LEVEL_RULES: dict[str, tuple[str, ...]] = {
    "ideas": tuple(RULES),
    "gradients": ("init", "saver", "summary", "check", "plumbing", "identity", "loop", "argument"),
    "full": (),
}


def level_rules(detail: str) -> tuple[str, ...]:
    """The names of the rules of a level. Raises ValueError for an unknown level."""
    if detail not in _LEVEL_RULES:
        near = closest(str(detail), LEVELS, 1)
        raise ValueError(f"detail must be one of {', '.join(map(repr, LEVELS))}, not {detail!r}."
                         + (f" Did you mean {near[0]!r}?" if near else ""))
    return _LEVEL_RULES[detail]


def simplify(model: GraphModel, detail: str = "ideas", hide: Iterable[str] = (), show: Iterable[str] = (),
             keep: Iterable[str] = ()) -> GraphModel:
    """The model with the level's nodes left out.

    `hide` and `show` add rules to the level and take rules from it; `keep` names nodes that stay in any case.
    Raises ValueError for an unknown level or rule.
    """
    names = list(dict.fromkeys([*level_rules(detail), *hide]))
    shown = set(show)
    for name in [*names, *shown]:
        if name not in RULES:
            raise ValueError(f"There is no rule {name!r}; the rules are {', '.join(RULES)}.")
    active = [RULES[name] for name in names if name not in shown]
    kept_names = set(keep)
    if not active:
        return replace_model(model, model.nodes, {})
    consumers = model.consumers()
    hidden: dict[str, str] = {}
    hides_arguments = any(rule.name == "argument" for rule in active)
    for node in model.nodes:
        if node.name in kept_names:
            continue
        if hides_arguments and _is_argument(node, consumers[node.name]):
            hidden[node.name] = "argument"
            continue
        for rule in active:
            if rule.takes(node):
                hidden[node.name] = rule.name
                break
    if hidden and len(hidden) == len(model.nodes):
        # A graph of nothing but plumbing is still worth a look.
        return replace_model(model, model.nodes, {})
    return _without(model, hidden, consumers)


def replace_model(model: GraphModel, nodes: list[Node], hidden: dict[str, int]) -> GraphModel:
    """A model of other nodes under the same title."""
    return GraphModel(nodes, model.title, hidden)


def _is_argument(node: Node, users: list[str]) -> bool:
    """Whether a constant is written inside the op that uses it: `mul/y` of `mul`, `dropout/rate` of `dropout/...`."""
    if node.role != "constant" or not node.scope:
        return False
    if not users:
        return False
    return all(user == node.scope or user.startswith(node.scope + "/") for user in users)


def _without(model: GraphModel, hidden: dict[str, str], consumers: dict[str, list[str]]) -> GraphModel:
    """The model without the hidden nodes, spliced where they hand their input on."""
    source_of: dict[str, str] = {}

    def behind(text: str) -> str | None:
        """The tensor that stands for `text` once hidden nodes are gone; None when nothing does."""
        trail: list[str] = []
        while True:
            known = source_of.get(text)
            if known is not None:
                text = known
                break
            name, _, _ = split_input(text)
            if name not in hidden:
                break
            node = model.nodes[model.index[name]]
            passes = node.op in PASSING_OPS or node.op in LOOP_OPS
            if not passes or not node.inputs or len(trail) > len(model.nodes):
                return None
            trail.append(text)
            text = node.inputs[0]
        for step in trail:
            source_of[step] = text
        return text

    nodes: list[Node] = []
    for node in model.nodes:
        if node.name in hidden:
            continue
        inputs = [found for found in (behind(text) for text in node.inputs) if found is not None]
        control = [name for name in node.control_inputs if name not in hidden]
        nodes.append(replace(node, inputs=inputs, control_inputs=control, folded=list(node.folded)))
    reduced = replace_model(model, nodes, _count(model, hidden))
    for name in hidden:
        home = _home(model, name, hidden, consumers)
        if home is not None:
            reduced.nodes[reduced.index[home]].folded.append(name)
    return reduced


def _count(model: GraphModel, hidden: dict[str, str]) -> dict[str, int]:
    counts = dict(model.hidden)
    for rule in RULES:
        number = sum(1 for name in hidden.values() if name == rule)
        if number:
            counts[rule] = counts.get(rule, 0) + number
    return counts


def _home(model: GraphModel, name: str, hidden: dict[str, str], consumers: dict[str, list[str]]) -> str | None:
    """The visible node that a hidden one is folded into: what it belongs to, or the only one that uses it."""
    seen = {name}
    while True:
        node = model.nodes[model.index[name]]
        if node.of and node.of in model.index and node.of not in hidden:
            return node.of
        users = consumers[name]
        if len(users) != 1 or users[0] in seen:
            return None
        name = users[0]
        if name not in hidden:
            return name
        seen.add(name)
