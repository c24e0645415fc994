"""The prune view: which nodes only training needs, by which rule each goes, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfsandbox.notebook import text
from tfsandbox.notebook.faces import Faces, Remarks
from tfsandbox.notebook.graph_model import GraphModel
from tfsandbox.notebook.labels import node_count
from tfsandbox.notebook.layout import Layout, lay_out
from tfsandbox.notebook.markup import escape
from tfsandbox.notebook.scope_tree import ROOT, ScopeTree
from tfsandbox.notebook.svg import draw
from tfsandbox.notebook.views.view import View, cell, chip, fragment, table_html

if TYPE_CHECKING:
    from tfsandbox.notebook.interactive.live import Live

Plan = tuple[list["PruneStep"], Any]
"""What becomes of each node, and the GraphDef that is left."""

RULE_TITLES = {
    "optimizer": "applies updates, counts steps",
    "slot": "state of the optimizer",
    "gradient": "feeds only what is removed: the backward pass and learning rates",
    "check": "CheckNumerics, Assert and what feeds only them",
    "identity": "hands its input on; its readers take that input",
    "dropout": "dropout, now a pass-through",
}
"""What each rule takes, in the order in which they apply."""

_RULE_ROLE = {"optimizer": "optimizer", "slot": "slot", "gradient": "gradient", "check": "check",
              "identity": "plumbing", "dropout": "forward"}

LISTED = 200


@dataclass(frozen=True)
class PruneStep:
    """The fate of one node: kept, or removed by a rule for a reason of one line."""

    name: str
    op: str
    keep: bool
    rule: str = ""
    reason: str = ""


class PruneView(View):
    """Before and after a pruning. `steps` has one record a node, in the graph's order; `protected` are node names.

    `plan` makes the steps and the pruned GraphDef for other protected nodes, `graph_def` is the graph before,
    `settings` what else was asked of the pruning, `session` holds values of the graph's variables, `subject` is how a
    program calls the GraphDef. Without a plan the view is looked at only: nothing can be protected or run.
    """

    kind = "prune"

    def __init__(self, model: GraphModel, steps: Iterable[PruneStep], protected: Iterable[str] = (),
                 title: str = "remove_training_nodes", expand: Iterable[str] | None = None, *, graph_def: Any = None,
                 plan: Callable[[list[str]], Plan] | None = None, settings: Mapping[str, Any] | None = None,
                 session: Any = None, subject: str = "tf.get_default_graph().as_graph_def()") -> None:
        self.model = model
        self.steps = list(steps)
        self.protected = list(protected)
        self.title = title
        self.expand = None if expand is None else [expand] if isinstance(expand, str) else list(expand)
        self.graph_def = graph_def
        self.settings = dict(settings or {})
        self.session = session
        self.subject = subject
        self._plan = plan
        self._pruned: Any = None

    def protect(self, names: Iterable[str]) -> None:
        """Prune again with other protected nodes. Raises ValueError for a name that the graph does not have."""
        if self._plan is None:
            raise ValueError("Nothing can be protected here: the view shows a pruning that somebody else has planned.")
        wanted = list(names)
        self.steps, self._pruned = self._plan(wanted)
        self.protected = wanted

    def pruned(self) -> Any:
        """The GraphDef that is left. Raises ValueError for a view without a plan."""
        if self._plan is None:
            raise ValueError("The view has no graph to run: it shows a pruning that somebody else has planned.")
        if self._pruned is None:
            self._pruned = self._plan(self.protected)[1]
        return self._pruned

    def session_values(self) -> dict[str, Any]:
        """The values of the variables in the view's session, by name; none without a session, or in a closed one."""
        refs = getattr(getattr(self.session, "_state", None), "refs", {})
        return {ref.name: ref.value for ref in list(refs.values()) if ref.value is not None}

    def payload(self) -> dict[str, Any] | None:
        """What the page draws from; None where only the steps are known."""
        if self._plan is None:
            return None
        from tfsandbox.notebook.interactive import prune
        return prune.payload(self)

    def has_payload(self) -> bool:
        """Whether the view can be an instrument."""
        return self._plan is not None

    def _make_live(self) -> Live:
        from tfsandbox.notebook.interactive.prune import PruneLive
        return PruneLive(self)

    def removed(self, rule: str | None = None) -> list[PruneStep]:
        """The nodes that go, by one rule or by all."""
        return [step for step in self.steps if not step.keep and (rule is None or step.rule == rule)]

    def rules(self) -> dict[str, int]:
        """How many nodes each rule takes, in the order of the rules; rules that take none are left out."""
        counts: dict[str, int] = {}
        for step in self.removed():
            counts[step.rule] = counts.get(step.rule, 0) + 1
        order = [*RULE_TITLES, *(rule for rule in counts if rule not in RULE_TITLES)]
        return {rule: counts[rule] for rule in order if rule in counts}

    def summary(self) -> str:
        """`86 nodes before, 35 after; 51 removed`."""
        gone = len(self.removed())
        return f"{len(self.steps):,} nodes before, {len(self.steps) - gone:,} after; {gone:,} removed"

    def remaining(self) -> GraphModel:
        """The kept nodes; a spliced Identity's readers take what it read."""
        gone = {step.name: step for step in self.removed()}
        nodes = []
        for node in self.model.nodes:
            if node.name in gone:
                continue
            record = node.to_json()
            record["inputs"] = [self._behind(source, gone) for source in node.inputs]
            record["control_inputs"] = [name for name in node.control_inputs if name not in gone]
            nodes.append(type(node).from_json(record))
        return GraphModel(nodes, f"{self.model.title}, pruned")

    def _behind(self, source: str, gone: dict[str, PruneStep]) -> str:
        for _ in range(len(self.model.nodes)):
            name = source.partition(":")[0]
            if name not in gone or name not in self.model:
                break
            inputs = self.model.node(name).inputs
            if not inputs:
                break
            source = inputs[0]
        return source

    @cached_property
    def tree(self) -> ScopeTree:
        """The scopes of the graph before."""
        return ScopeTree(self.model)

    def _expansion(self, removed: set[str]) -> frozenset[str]:
        """Open what is partly removed, as far as the picture stays readable; what goes as a whole stays shut."""
        if self.expand is not None:
            return frozenset(self.tree.scopes()) if "*" in self.expand else self.tree.expansion(self.expand)
        opened: set[str] = set()
        visible = len(self.tree[ROOT].children)
        level = [ROOT]
        while level:
            inner = [child for parent in level for child in self.tree[parent].children if self.tree[child].is_scope]
            inner.sort(key=lambda box_id: len(self.tree[box_id].children))
            level = []
            for box_id in inner:
                names = [node.name for node in self.tree.leaves(box_id)]
                gone = sum(name in removed for name in names)
                box = self.tree[box_id]
                if 0 < gone < len(names) and visible + len(box.children) <= 30:
                    opened.add(box_id)
                    visible += len(box.children)
                    level.append(box_id)
        return frozenset(opened)

    def svg(self, rules: Iterable[str] | None = None, theme: str = "auto") -> str:
        """The graph before, with the removed nodes crossed out: by all rules, or by some to go step by step."""
        chosen = None if rules is None else set(rules)
        gone = {step.name: step for step in self.removed() if chosen is None or step.rule in chosen}
        marks = {name: "removed" for name in gone} | {name: "protected" for name in self.protected}
        tips = {name: f"removed by the rule {step.rule!r}: {step.reason}" for name, step in gone.items()}
        faces = Faces(self.tree, Remarks(marks=marks, tips=tips))
        expanded = self._expansion(set(gone))
        layout: Layout = lay_out(self.tree, expanded, faces.size, faces.heading)
        return draw(self.tree, layout, faces, title=f"{self.title}: {self.summary()}", caption=self._caption(),
                    description=self.text(limit=25), theme=theme)

    def _caption(self) -> str:
        rules = ", ".join(f"{rule} {count}" for rule, count in self.rules().items())
        return f"{self.summary()}{f' · by rule: {rules}' if rules else ''}"

    def html(self) -> str:
        head = [("rule", ""), ("nodes", "tfs-num"), ("what goes", ""), ("for instance", "")]
        rows = []
        for rule, count in self.rules().items():
            example = self.removed(rule)[0]
            words = f"{example.name}: {example.reason}" if example.reason else example.name
            name = chip(rule, _RULE_ROLE.get(rule, "plumbing"))
            rows.append(f"<tr>{cell(name, raw=True)}{cell(f'{count:,}', 'tfs-num')}"
                        f"{cell(RULE_TITLES.get(rule, ''), 'tfs-wrap')}{cell(words, 'tfs-wrap')}</tr>")
        gone = len(self.removed())
        rows.append(f'<tr class="tfs-sum">{cell("together")}{cell(f"{gone:,}", "tfs-num")}'
                    f'{cell(f"{len(self.steps) - gone:,} of {len(self.steps):,} nodes remain")}{cell("")}</tr>')
        lists = "".join(self._list(rule) for rule in self.rules())
        return fragment(f"<p>{escape(self.summary())}</p>{table_html(head, rows)}{lists}{self.svg()}", self.title)

    def _list(self, rule: str) -> str:
        steps = self.removed(rule)
        items = "".join(f"<tr>{cell(step.name, 'tfs-name')}{cell(step.op)}{cell(step.reason)}</tr>"
                        for step in steps[:LISTED])
        more = f"<p>and {len(steps) - LISTED:,} more</p>" if len(steps) > LISTED else ""
        return (f"<details><summary>{escape(rule)}: {escape(node_count(len(steps)))}</summary>"
                f'<div class="tfs-scroll"><table><tbody>{items}</tbody></table></div>{more}</details>')

    def text(self, limit: int | None = None) -> str:
        lines = [f"{self.title}: {self.summary()}"]
        rules = self.rules()
        room = None if limit is None else max(2, (limit - 1 - 2 * len(rules)) // max(1, len(rules)))
        for rule, count in rules.items():
            lines.append(f"  {rule} ({count}): {RULE_TITLES.get(rule, '')}".rstrip(": "))
            steps = self.removed(rule)
            shown = steps if room is None else steps[:room]
            lines += text.columns([(f"    {step.name}", step.op, step.reason) for step in shown])
            if len(shown) < len(steps):
                lines.append(f"    … {len(steps) - len(shown)} more")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        return {"view": self.kind, "version": 1, "title": self.title, "before": len(self.steps),
                "after": len(self.steps) - len(self.removed()), "rules": self.rules(), "protected": self.protected,
                "steps": [asdict(step) for step in self.steps], "graph": self.model.to_json()}

    def __repr__(self) -> str:
        return f"<PruneView: {self.summary()}>"
