"""The code view: the numpy program a run became, line by line, with the nodes that each line computes."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tfsandbox.notebook.graph_model import GraphModel
from tfsandbox.notebook.labels import node_count
from tfsandbox.notebook.markup import escape
from tfsandbox.notebook.views.view import View, cell, fragment

if TYPE_CHECKING:
    from tfsandbox.notebook.interactive.live import Live

_BUILTINS = frozenset({"True", "False", "None", "len", "range", "float", "int", "bool", "tuple", "list", "dict", "zip"})


@dataclass(frozen=True)
class CodeLine:
    """One line of the program, counted from 1, the nodes it computes, and a remark."""

    number: int
    code: str
    nodes: tuple[str, ...] = ()
    remark: str = ""


def code_lines(source: str, nodes: Mapping[int, Iterable[str]] | None = None) -> list[CodeLine]:
    """The lines of a source, with the nodes of each line number."""
    table = nodes or {}
    return [CodeLine(number, line, tuple(table.get(number, ())))
            for number, line in enumerate(source.splitlines(), start=1)]


def tokens_of(line: str) -> list[tuple[str, str]]:
    """One line of Python as (kind, text): k keyword, b builtin, s string, m number, c comment, "" anything else.

    What is no Python comes out in one piece.
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(line.strip()).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        tokens = []
    indent = line[:len(line) - len(line.lstrip())]
    text = line.strip()
    parts = [("", indent)]
    at = 0
    for token in tokens:
        (row, start), (end_row, end) = token.start, token.end
        if row != 1 or end_row != 1 or token.type in (tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.NL):
            continue
        if start < at:
            continue
        parts += [("", text[at:start]), (_kind(token.string, token.type), token.string)]
        at = end
    parts.append(("", text[at:]))
    return [(kind, words) for kind, words in parts if words]


def highlighted(line: str) -> str:
    """One line of Python as escaped HTML with its tokens in spans."""
    return "".join(f'<span class="tfs-{kind}k">{escape(words)}</span>' if kind else escape(words)
                   for kind, words in tokens_of(line))


def _kind(words: str, kind: int) -> str:
    if kind == tokenize.COMMENT:
        return "c"
    if kind == tokenize.STRING:
        return "s"
    if kind == tokenize.NUMBER:
        return "m"
    if kind == tokenize.NAME and keyword.iskeyword(words):
        return "k"
    return "b" if kind == tokenize.NAME and (words in _BUILTINS or words == "np") else ""


_CSS = (
    ".tfs .tfs-code{border-collapse:collapse;"
    "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;line-height:1.45}"
    ".tfs table.tfs-code td{border:0;padding:0 10px;white-space:pre;font-family:inherit;font-size:inherit}"
    ".tfs table.tfs-code tr:hover td{background:var(--tfs-hover,rgba(127,127,127,.13))}"
    ".tfs table.tfs-code td.tfs-ln{text-align:right!important;user-select:none;"
    "color:var(--jp-content-font-color2,var(--tfs-muted))}"
    ".tfs .tfs-at{color:var(--jp-content-font-color2,var(--tfs-muted))}"
    ".tfs .tfs-kk{color:var(--jp-mirror-editor-keyword-color,var(--tfs-forward));font-weight:600}"
    ".tfs .tfs-bk{color:var(--jp-mirror-editor-builtin-color,var(--tfs-input))}"
    ".tfs .tfs-sk{color:var(--jp-mirror-editor-string-color,var(--tfs-optimizer))}"
    ".tfs .tfs-mk{color:var(--jp-mirror-editor-number-color,var(--tfs-init))}"
    ".tfs .tfs-ck{color:var(--jp-mirror-editor-comment-color,var(--tfs-muted));font-style:italic}"
)


class CodeView(View):
    """A program and where it comes from. `folded` says for nodes without a line of their own why they have none.

    `model` is the graph, `focus` the names of what is fetched, `fed` those of the program's parameters: with them the
    program is shown beside its graph.
    """

    kind = "code"

    def __init__(self, lines: Iterable[CodeLine], folded: Mapping[str, str] | None = None,
                 title: str = "The numpy your graph became", model: GraphModel | None = None,
                 focus: Iterable[str] = (), fed: Iterable[str] = ()) -> None:
        self.lines = list(lines)
        self.folded = dict(folded or {})
        self.title = title
        self.model = model
        self.focus = list(focus)
        self.fed = list(fed)

    def payload(self) -> dict[str, Any] | None:
        """What the page draws from; None without a graph."""
        if not self.has_payload():
            return None
        from tfsandbox.notebook.interactive import code
        return code.payload(self)

    def has_payload(self) -> bool:
        """Whether there is a graph to show the program beside."""
        return self.model is not None and bool(self.focus)

    def _make_live(self) -> Live:
        from tfsandbox.notebook.interactive.code import CodeLive
        return CodeLive(self)

    @classmethod
    def from_source(cls, source: str, nodes: Mapping[int, Iterable[str]] | None = None,
                    folded: Mapping[str, str] | None = None, title: str = "The numpy your graph became",
                    model: GraphModel | None = None, focus: Iterable[str] = (),
                    fed: Iterable[str] = ()) -> CodeView:
        """The view of a source text, with the nodes of each line number."""
        return cls(code_lines(source, nodes), folded, title, model, focus, fed)

    def source(self) -> str:
        """The program alone."""
        return "\n".join(line.code for line in self.lines)

    def lines_of(self, node: str) -> list[int]:
        """The numbers of the lines that compute a node."""
        return [line.number for line in self.lines if node in line.nodes]

    def _shows_nodes(self) -> bool:
        """Whether the nodes need a column: not when every line names its own in a comment."""
        return any(name not in line.code.partition("#")[2] for line in self.lines for name in line.nodes)

    def text(self, limit: int | None = None) -> str:
        width = max((min(len(line.code), 88) for line in self.lines), default=0)
        beside = self._shows_nodes()
        rows = []
        for line in self.lines:
            row = f"{line.number:>4}  {line.code}"
            if beside and line.nodes:
                row = f"{line.number:>4}  {line.code.ljust(width)}  # {', '.join(line.nodes)}"
            rows.append(row.rstrip())
        if limit is not None and len(rows) > limit:
            rows = [*rows[:limit - 1], f"   … {len(rows) - limit + 1} more lines"]
        folded = []
        if self.folded and limit is None:
            folded = ["", "without a line of their own:", *(f"  {name}: {why}" for name, why in self.folded.items())]
        return "\n".join([*rows, *folded])

    def html(self) -> str:
        beside = self._shows_nodes()
        rows = []
        for line in self.lines:
            nodes = ", ".join(line.nodes)
            tip = f' title="{escape(nodes)}"' if nodes else ""
            data = f' data-nodes="{escape(nodes)}"' if nodes else ""
            cells = f'<td class="tfs-ln">{line.number}</td><td>{highlighted(line.code)}</td>'
            if beside:
                cells += cell(nodes, "tfs-at")
            rows.append(f"<tr{tip}{data}>{cells}</tr>")
        body = (f'<style>{_CSS}</style><div class="tfs-scroll"><table class="tfs-code">'
                f"<tbody>{''.join(rows)}</tbody></table></div>")
        if self.folded:
            items = "".join(f"<tr>{cell(name, 'tfs-name')}{cell(why)}</tr>" for name, why in self.folded.items())
            body += (f"<details><summary>{escape(node_count(len(self.folded)))} without a line of their own</summary>"
                     f'<div class="tfs-scroll"><table><tbody>{items}</tbody></table></div></details>')
        return fragment(body, self.title)

    def to_json(self) -> dict[str, Any]:
        return {"view": self.kind, "version": 1, "title": self.title, "source": self.source(),
                "lines": [asdict(line) | {"nodes": list(line.nodes)} for line in self.lines], "folded": self.folded}

    def __repr__(self) -> str:
        return f"<CodeView: {len(self.lines)} lines>"
