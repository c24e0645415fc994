"""From the engine's objects to the plain records that the views are made of.

This file alone knows both sides. It reads; nothing here adds a node to a user's graph, except that a gradient that
nobody has built yet is built once by `training_util.Gradients`, as its user would.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tfsandbox.notebook.attr_text import dtype_name, shape_of
from tfsandbox.notebook.backward import find_backward
from tfsandbox.notebook.graph_model import GraphModel, node_name, unknown_name_message
from tfsandbox.notebook.views.code import CodeView
from tfsandbox.notebook.views.gradient import GradientView
from tfsandbox.notebook.views.graph import GraphView
from tfsandbox.notebook.views.prune import PruneStep, PruneView
from tfsandbox.notebook.views.scope_mask import ScopeMaskView
from tfsandbox.notebook.views.variables import VariableRecord, VariablesView

_models: weakref.WeakKeyDictionary[Any, tuple[int, GraphModel]] = weakref.WeakKeyDictionary()


def graph_model(graph: Any) -> GraphModel:
    """The model of a Graph; read again only after the graph has grown."""
    version = graph.version
    known = _models.get(graph)
    if known is None or known[0] != version:
        known = (version, GraphModel.from_graph(graph))
        _models[graph] = known
    model = known[1]
    # These change without a new node.
    model.trainable = frozenset(variable.op.name for variable in _trainable(graph))
    model.masked = _masked(graph)
    return model


def _masked(graph: Any) -> frozenset[str]:
    """The variables that the active training scope holds still."""
    from tfsandbox.training.training_scope import current_scope

    scope = current_scope()
    if scope is None or scope.graph is not graph:
        return frozenset()
    return frozenset(name for name, trains in scope.mask().items() if not trains)


def graph_def_model(graph_def: Any, largest: int = 3_000) -> GraphModel:
    """The model of a GraphDef; with the shapes that importing it would give, where it can be imported at all."""
    from tfsandbox.framework.graph import Graph
    from tfsandbox.framework.importer import import_graph_def

    if 0 < len(graph_def.node) <= largest and hasattr(graph_def, "SerializeToString"):
        scratch = Graph()
        try:
            with scratch.as_default():
                import_graph_def(graph_def, name="")
            return GraphModel.from_graph(scratch, "GraphDef")
        except Exception:
            pass  # an op nobody knows, an input that is missing: the nodes themselves can still be drawn
    return GraphModel.from_graph_def(graph_def)


def graph_view(graph: Any, **settings: Any) -> GraphView:
    """The picture of a Graph; settings as of `GraphView`."""
    return GraphView(graph_model(graph), **settings)


# Variables


def graph_variables(graph: Any) -> list[Any]:
    """Every variable object of a graph's collections, each once, in order of making."""
    from tfsandbox.framework.graph import GraphKeys
    from tfsandbox.ops import variables

    found: dict[Any, None] = {}
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES):
        for item in graph.get_collection(key):
            if isinstance(item, variables.Variable):
                found[item] = None
    return list(found)


def stored_value(session: Any, name: str) -> Any:
    """A variable's array in a session, not copied; None where it has none or the session keeps no variables here."""
    state = getattr(session, "_state", None)
    ref = getattr(state, "refs", {}).get(name)
    return None if ref is None else ref.value


def norm(value: Any) -> float | None:
    """The L2 norm of an array; None for what has none, such as strings."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "fiubc" and array.dtype.names is None:
        return None
    try:
        # float16 and integers overflow in their own arithmetic.
        return float(np.linalg.norm(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64).ravel()))
    except (TypeError, ValueError):
        return None


def variable_records(graph: Any, session: Any = None, mask: Mapping[str, bool] | None = None,
                     deltas: Mapping[str, float] | None = None) -> list[VariableRecord]:
    """A record for each variable of a graph, with values from a session where there is one."""
    model = graph_model(graph)
    trainable = {variable.op.name for variable in _trainable(graph)}
    records = []
    for variable in graph_variables(graph):
        name = variable.op.name
        node = model.node(name) if name in model else None
        slot_of = ""
        if node is not None and node.role == "slot":
            slot_of = node.of or "-"
        value = stored_value(session, name) if session is not None else None
        trains = None
        if mask is not None:
            trains = mask.get(slot_of if slot_of in mask else name)
        reason = "not among the scope's variables" if trains is False else ""
        records.append(VariableRecord(
            name, shape_of(variable.shape), dtype_name(variable.dtype), name in trainable,
            None if session is None else value is not None, norm(value), trains, slot_of,
            None if deltas is None else deltas.get(name), reason))
    return records


def _trainable(graph: Any) -> list[Any]:
    from tfsandbox.framework.graph import GraphKeys

    return list(graph.get_collection(GraphKeys.TRAINABLE_VARIABLES))


def variables_view(graph: Any, session: Any = None, pattern: str = "") -> VariablesView:
    """The table of a graph's variables, or of those whose name begins as the pattern, a regular expression, says.

    Raises ValueError where the pattern fits none, naming the nearest.
    """
    import re

    records = variable_records(graph, session)
    if pattern:
        try:
            chosen = [record for record in records if re.match(pattern, record.name)]
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}.") from None
        if not chosen:
            names = [record.name for record in records]
            there = f" There are: {', '.join(names[:12])}{', …' if len(names) > 12 else ''}." if names else ""
            raise ValueError(unknown_name_message("variable", pattern, names) + there)
        records = chosen
    return VariablesView(records)


# Training scopes


def scope_view(scope: Any, session: Any = None, graph: Any = None, **step: Any) -> ScopeMaskView:
    """The mask of a TrainingScope; without one, the variables of a graph, all of which train.

    With a session in which something ran inside the scope, also what moved. `step` is what the page trains with, as of
    `ScopeTrainer`: `train_op`, `loss`, `feeds`.
    """
    from tfsandbox.notebook.scope_trainer import ScopeTrainer

    if session is None and scope is not None and len(scope.sessions) == 1:
        session = scope.sessions[0]
    trainer = ScopeTrainer(scope, session, graph, **step)
    if scope is None:
        records = scope_records(trainer.scope, session)
        return ScopeMaskView(records, "No training scope is active", trainer=trainer)
    return ScopeMaskView(scope_records(scope, session), "training_scope", scope_modifiers(scope), trainer)


def scope_records(scope: Any, session: Any = None) -> list[VariableRecord]:
    """The variables under a scope; with a session in which something ran inside it, with what moved."""
    deltas = None
    if session is not None:
        try:
            report = scope.report(session)
        except ValueError:
            report = None
        if report is not None:
            deltas = {change.name: change.delta_norm for change in report.changes}
            for change in report.changes:
                deltas.update(change.slots)
    return variable_records(scope.graph, session, scope.mask(), deltas)


def scope_modifiers(scope: Any) -> dict[str, str]:
    """The settings of a scope that are not the default, as short text."""
    found: dict[str, str] = {}
    for name in ("regularizer", "gradient_transform"):
        function = getattr(scope, name, None)
        if function is not None:
            found[name] = getattr(function, "__name__", type(function).__name__)
    for name in ("clip_norm", "clip_value"):
        value = getattr(scope, name, None)
        if value is not None:
            found[name] = f"{value:g}"
    multiplier = getattr(scope, "learning_rate_multiplier", 1.0)
    if multiplier != 1.0:
        found["learning_rate_multiplier"] = f"{multiplier:g}"
    if not getattr(scope, "is_chief", True):
        found["is_chief"] = "False"
    return found


# Gradients


def gradients_of(loss: Any, variables: Iterable[Any] = ()) -> Any:
    """A `training_util.Gradients`; the same one for the same question, so that looking twice builds nothing twice."""
    from tfsandbox.training import training_util

    chosen = list(variables)
    # Kept with the graph, which the value refers to: a table of ours would keep both alive for ever.
    table = loss.graph._caches.setdefault("gradients_shown", {})
    key = (loss.name, *(variable.name for variable in chosen))
    if key not in table:
        table[key] = training_util.Gradients(loss, chosen or None)
    return table[key]


def built_gradients(loss: Any, variables: Iterable[Any] = ()) -> list[tuple[str, str | None]] | None:
    """(variable, gradient tensor) names of a backward pass that the graph already has; None where it has none.

    A loss with an optimizer, or with a `training_util.Gradients`, need not be differentiated again to be looked at.
    """
    model = graph_model(loss.graph)
    backward = find_backward(model, focus=[loss.op.name])
    if loss.op.name not in backward.losses and "gradients_made" not in loss.graph._caches:
        return None
    names = [variable.op.name for variable in variables]
    found = {name: backward.arriving[name] for name, entry in backward.ops.items()
             if entry.update and name in backward.arriving}
    if found and all(name in found for name in names):
        return [(name, found[name]) for name in (names or found)]
    wanted = names or [variable.op.name for variable in _trainable(loss.graph)]
    for gradients in reversed(loss.graph._caches.get("gradients_made", ())):
        pairs = dict(gradient_names(gradients)) if gradients.loss is loss else {}
        if pairs and all(name in pairs for name in wanted):
            return [(name, pairs[name]) for name in wanted]
    return None


def gradient_view(loss: Any, variables: Iterable[Any] = (), session: Any = None,
                  feed_dict: Mapping[Any, Any] | None = None, **settings: Any) -> GradientView:
    """The picture of a loss's gradients; with a session, and the feeds that the loss needs, with their norms."""
    chosen = list(variables)
    pairs = built_gradients(loss, chosen)
    if pairs is None:
        pairs = gradient_names(gradients_of(loss, chosen))
    return _gradient_view(loss, pairs, session, feed_dict, settings)


def view_of_gradients(gradients: Any, session: Any = None, feed_dict: Mapping[Any, Any] | None = None,
                      **settings: Any) -> GradientView:
    """The picture of a `training_util.Gradients`."""
    return _gradient_view(gradients.loss, gradient_names(gradients), session, feed_dict, settings)


def gradient_names(gradients: Any) -> list[tuple[str, str | None]]:
    """(variable, gradient tensor) names; a sparse gradient by its values."""
    pairs: list[tuple[str, str | None]] = []
    for gradient, variable in gradients.compute_gradients():
        tensor = getattr(gradient, "values", gradient)
        pairs.append((variable.op.name, None if tensor is None else _plain_name(tensor)))
    return pairs


def _plain_name(tensor: Any) -> str:
    name = str(tensor.name)
    return name[:-2] if name.endswith(":0") else name


def _gradient_view(loss: Any, pairs: list[tuple[str, str | None]], session: Any,
                   feed_dict: Mapping[Any, Any] | None, settings: dict[str, Any]) -> GradientView:
    model = graph_model(loss.graph)
    view = GradientView(model, pairs, None, loss.op.name, **settings)
    if session is None or view.backward is None:
        return view
    norms = gradient_norms(session, loss.graph, view.backward.arriving, feed_dict)
    return GradientView(model, pairs, norms, loss.op.name, **settings) if norms else view


def gradient_norms(session: Any, graph: Any, tensors: Mapping[str, str],
                   feed_dict: Mapping[Any, Any] | None) -> dict[str, float]:
    """The L2 norm of each named gradient tensor, from one run. Empty where the run lacks feeds or values."""
    from tfsandbox.framework import errors_impl

    names = list(tensors)
    fetches = [graph.get_tensor_by_name(name if ":" in name else f"{name}:0") for name in tensors.values()]
    if not fetches:
        return {}
    try:
        values = session.run(fetches, feed_dict)
    except (errors_impl.InvalidArgumentError, errors_impl.FailedPreconditionError):
        if feed_dict:
            raise
        return {}  # the loss needs feeds, or variables are not initialised yet: a picture without numbers
    return {name: found for name, value in zip(names, values) if (found := norm(value)) is not None}


# Pruning


def prune_view(graph_def: Any, protected: Iterable[str] = (), session: Any = None, **settings: Any) -> PruneView:
    """What `graph_util.training_nodes` decides for a GraphDef, node by node; settings as of that function.

    A session of the graph lends the values of its variables when both graphs are run.
    """
    from tfsandbox.framework.training_nodes import training_nodes

    names = [node_name(name) for name in protected]
    return _prune_view(training_nodes(graph_def, names or None, **settings), graph_def, names, session, settings)


def view_of_plan(plan: Any, graph_def: Any = None, protected: Iterable[str] = ()) -> PruneView:
    """The picture of a pruning plan: a `TrainingNodes`, a mapping from node name to a record, or a list of records."""
    if graph_def is None:
        settings = {"remove_dropout": True} if plan.remove_dropout else {}
        return _prune_view(plan, plan.source, list(plan.protected), None, settings)
    model = graph_def_model(graph_def)
    return PruneView(model, _prune_steps(model, plan), protected)


def _prune_view(plan: Any, graph_def: Any, names: list[str], session: Any, settings: dict[str, Any]) -> PruneView:
    from tfsandbox.framework.training_nodes import training_nodes

    model = graph_def_model(graph_def)
    known = {tuple(names): plan}

    def planned(protected: list[str]) -> tuple[list[PruneStep], Any]:
        key = tuple(protected)
        if key not in known:
            known.clear()
            known[key] = training_nodes(graph_def, protected or None, **settings)
        return _prune_steps(model, known[key]), known[key].graph_def()

    return PruneView(model, _prune_steps(model, plan), names, graph_def=graph_def, plan=planned, settings=settings,
                     session=session)


def _prune_steps(model: GraphModel, plan: Any) -> list[PruneStep]:
    records = list(plan.values()) if isinstance(plan, Mapping) else list(plan)
    by_name = {record.name: record for record in records}
    steps = []
    for node in model.nodes:
        record: Any = by_name.get(node.name)
        keep = record is None or bool(record.keep)
        steps.append(PruneStep(node.name, node.op, keep, "" if keep else str(record.rule),
                               "" if record is None else str(record.reason or "")))
    return steps


# Code


def code_view(fetches: Any, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> CodeView:
    """The numpy program that `session.run(fetches, feed_dict)` executes.

    Without feeds, the program for feeds of any shape that the placeholders allow.
    """
    from tfsandbox.runtime import rewrites
    from tfsandbox.runtime.session import Session
    from tfsandbox.util import nest

    if session is None:
        leaf = next((leaf for leaf in nest.flatten(fetches) if hasattr(leaf, "graph")), None)
        session = Session(graph=leaf.graph if leaf is not None else None)
    missing = [] if feed_dict else _needed_placeholders(session.graph, nest.flatten(fetches))
    if missing:
        call = session._prepare(fetches, dict.fromkeys(missing), rewrites.active.rewrites)
        program = session._program(call, None)
    else:
        program = session.program(fetches, feed_dict)
    shift = len(program.text.splitlines()) - len(program.source.splitlines())
    nodes = {number + shift: [op.name] for number, op in program.lines.items()}
    folded = {op.name: reason for op, reason in program.plan.elided.items()}
    model = graph_model(session.graph)
    names = [getattr(getattr(leaf, "op", leaf), "name", leaf) for leaf in nest.flatten(fetches)]
    focus = [node_name(name) for name in names if isinstance(name, str) and name in model]
    return CodeView.from_source(program.text, nodes, folded, model=model, focus=focus,
                                fed=[value.op.name for value in program.plan.feeds])


def _needed_placeholders(graph: Any, fetches: Iterable[Any]) -> list[Any]:
    """The placeholder tensors that a run of the fetches needs fed."""
    model = graph_model(graph)
    names = []
    for fetch in fetches:
        name = fetch if isinstance(fetch, str) else getattr(getattr(fetch, "op", fetch), "name", "")
        if name in model:
            names.append(name)
    inside = model.ancestors(names)
    return [graph.get_tensor_by_name(f"{node.name}:0") for node in model.nodes
            if node.name in inside and node.op in ("Placeholder", "PlaceholderV2")]
