"""A laid out model as one SVG picture that stands on its own: no script, no font, no file beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tfsandbox.notebook import palette
from tfsandbox.notebook.faces import COMPANION_GAP, HEADING_SIZE, LABEL_SIZE, SUB_SIZE, Face, Faces
from tfsandbox.notebook.labels import label
from tfsandbox.notebook.layout import BACKWARD, Layout, PlacedBox, PlacedEdge
from tfsandbox.notebook.markup import digest, escape
from tfsandbox.notebook.markup import number as n
from tfsandbox.notebook.roles import ROLES
from tfsandbox.notebook.scope_tree import ScopeTree
from tfsandbox.notebook.svg_shapes import arrowhead, detail_line, outline, path, shortened
from tfsandbox.notebook.text_metrics import elided, text_width, wrapped

MARGIN = 16.0
MIN_WIDTH = 460.0
CAPTION_SIZE = 11.0
LEGEND_SIZE = 11.0


@dataclass(frozen=True)
class EdgeNote:
    """What is said about an edge: a short text beside it and a stroke width."""

    text: str = ""
    width: float = 1.5
    tooltip: str = ""


def draw(tree: ScopeTree, layout: Layout, faces: Faces, *, title: str, caption: str = "", description: str = "",
         edge_notes: Mapping[tuple[str, int], EdgeNote] | None = None, legend: bool = True,
         theme: str = "auto") -> str:
    """The picture. `title` and `description` are for screen readers, `caption` is written under the drawing.

    `theme` is "auto" (light, unless the page says that it is dark), "light" or "dark". `edge_notes` go by the
    box where an edge arrives and by its lane.
    """
    return _Painter(tree, layout, faces, title, caption, description, edge_notes or {}, legend, theme).document()


def frame(width: float, height: float, body: str, title: str, description: str, theme: str = "auto") -> str:
    """An SVG document around a body, with its style sheet, title and description."""
    name = digest(body + title + description)
    dark = " tfs-dark" if theme == "dark" else ""
    ground = palette.GROUND[theme == "dark"]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tfs{dark}" viewBox="0 0 {n(width)} {n(height)}" '
        f'width="{n(width)}" height="{n(height)}" role="img" aria-labelledby="{name}-t {name}-d" '
        f'font-family="system-ui, \'Segoe UI\', Helvetica, Arial, sans-serif" '
        f'style="max-width:100%;height:auto">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>'
        f"<style>{palette.drawing_css()}</style>"
        f'<rect class="tfs-bg" width="{n(width)}" height="{n(height)}" rx="8" fill="{ground}"/>'
        f"{body}</svg>")


def text(x: float, y: float, content: str, css: str, size: float, anchor: str = "", fill: str = palette.INK[0],
         bold: bool = False) -> str:
    """One line of text."""
    where = f' text-anchor="{anchor}"' if anchor else ""
    weight = ' font-weight="600"' if bold else ""
    return (f'<text class="{css}" x="{n(x)}" y="{n(y)}" font-size="{n(size)}"{where}{weight} fill="{fill}">'
            f"{escape(content)}</text>")


class _Painter:
    """The state of one `draw`."""

    def __init__(self, tree: ScopeTree, layout: Layout, faces: Faces, title: str, caption: str, description: str,
                 edge_notes: Mapping[tuple[str, int], EdgeNote], legend: bool, theme: str) -> None:
        self.tree, self.layout, self.faces = tree, layout, faces
        self.title, self.caption, self.description = title, caption, description
        self.edge_notes, self.legend = edge_notes, legend
        self.theme = theme
        which = theme == "dark"
        self.ink, self.muted, self.ground = palette.INK[which], palette.MUTED[which], palette.GROUND[which]
        self.line, self.frame = palette.LINE[which], palette.FRAME[which]
        self.roles: dict[str, None] = {}
        self.kinds: set[str] = set()
        self.noted: set[tuple[str, int]] = set()

    def document(self) -> str:
        scopes = "".join(self._open_scope(box) for box in self.layout.boxes if box.open)
        edges = "".join(self._edge(edge) for edge in sorted(self.layout.edges, key=lambda edge: not edge.direct))
        heads = "".join(self._edge_end(edge) for edge in self.layout.edges)
        boxes = "".join(self._closed(box) for box in self.layout.boxes if not box.open)
        width = max(self.layout.width + 2 * MARGIN, MIN_WIDTH)
        left = (width - self.layout.width) / 2
        foot, foot_height = self._foot(width)
        height = self.layout.height + 2 * MARGIN + foot_height
        body = (f'<g transform="translate({n(left)} {n(MARGIN)})">{scopes}{edges}{heads}{boxes}</g>'
                f'<g transform="translate({n(MARGIN)} {n(self.layout.height + 2 * MARGIN)})">{foot}</g>')
        return frame(width, height, body, self.title, self.description, self.theme)

    def _colour(self, role: str) -> str:
        style = palette.role_style(role)
        return style.dark if self.theme == "dark" else style.light

    # Boxes

    def _open_scope(self, placed: PlacedBox) -> str:
        box = self.tree[placed.id]
        role = self.faces[box].role
        heading = elided(placed.label, placed.width - 22, HEADING_SIZE, bold=True)
        return (
            f'<g class="tfs-n tfs-{role}"><title>{escape(self.faces.tooltip(box))}</title>'
            f'<rect class="tfs-o" x="{n(placed.x)}" y="{n(placed.y)}" width="{n(placed.width)}" '
            f'height="{n(placed.height)}" rx="10" fill="{self._colour(role)}" fill-opacity=".05" '
            f'stroke="{self.frame}"/>'
            + text(placed.x + 12, placed.y + 17, heading, "tfs-t", HEADING_SIZE, fill=self._colour(role), bold=True)
            + "</g>")

    def _closed(self, placed: PlacedBox) -> str:
        box = self.tree[placed.id]
        face = self.faces[box]
        self.roles[face.role] = None
        faint = ' opacity=".45"' if face.mark == "removed" else ""
        parts = [f'<g class="tfs-n tfs-{face.role}"{faint}><title>{escape(self.faces.tooltip(box))}</title>']
        x, y = placed.x, placed.y
        parts.append(self._face(face, x, y, face.width, face.height, face.label, face.sub, face.role, face.shape,
                                face.dashed or face.mark == "removed", face.stacked))
        if face.mark:
            parts.append(self._mark(face.mark, x + face.width, y))
        parts.append("</g>")
        if face.companion is not None:
            other = face.companion
            self.roles[other.role] = None
            left = x + face.width + COMPANION_GAP
            parts.append(f'<g class="tfs-n tfs-{other.role}"><title>{escape(other.tooltip)}</title>'
                         + self._face(face, left, y, face.companion_width, face.height, face.companion_label,
                                      face.companion_sub, other.role, palette.role_style(other.role).shape, False,
                                      face.stacked) + "</g>")
        return "".join(parts)

    def _face(self, face: Face, x: float, y: float, width: float, height: float, title: str, sub: str, role: str,
              shape: str, dashed: bool, stacked: bool) -> str:
        colour = self._colour(role)
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        parts = []
        if stacked:
            self.kinds.add("scope")
            back = outline("box", x + 5, y, width - 5, height - 5)
            parts.append(f'<path class="tfs-b" d="{back}" fill="{colour}" fill-opacity=".11" stroke="{colour}" '
                         f'stroke-width="1"/>')
            y, width, height = y + 5, width - 5, height - 5
            shape = "box" if shape in ("pill", "hexagon", "note") else shape
        form = outline(shape, x, y, width, height)
        parts.append(f'<path class="tfs-p" d="{form}" fill="{self.ground}"/>')
        parts.append(f'<path class="tfs-b" d="{form}" fill="{colour}" fill-opacity=".11" stroke="{colour}" '
                     f'stroke-width="1.4"{dash}/>')
        inner = detail_line(shape, x, y, width)
        if inner:
            parts.append(f'<path class="tfs-b" d="{inner}" style="fill:none" fill="none" stroke="{colour}" '
                         f'stroke-width="1.1"/>')
        centre = x + width / 2
        down = 4.0 if shape == "cylinder" else 0.0
        if sub:
            middle = y + height / 2 + down
            parts.append(text(centre, middle - 1.5, title, "tfs-l", LABEL_SIZE, "middle", bold=True,
                              fill=self.ink))
            parts.append(text(centre, middle + 12, sub, "tfs-s", SUB_SIZE, "middle",
                              fill=self.muted))
        else:
            parts.append(text(centre, y + height / 2 + 4.4 + down, title, "tfs-l", LABEL_SIZE, "middle", bold=True,
                              fill=self.ink))
        return "".join(parts)

    def _mark(self, mark: str, x: float, y: float) -> str:
        """A small sign on a box's corner; it says without colour what the mark is."""
        self.kinds.add(mark)
        sign = MARK_SIGNS.get(mark, "")
        if not sign:
            return ""
        return (f'<circle class="tfs-b" style="fill-opacity:1;fill:var(--jp-layout-color0,var(--tfs-ground))" '
                f'cx="{n(x - 3)}" cy="{n(y + 3)}" r="7.5" fill="{self.ground}" '
                f'stroke="{self.muted}" stroke-width="1.2"/>'
                + text(x - 3, y + 6.8, sign, "tfs-l", 10.5, "middle", bold=True,
                       fill=self.ink))

    # Edges

    def _note(self, edge: PlacedEdge) -> EdgeNote | None:
        return self.edge_notes.get((edge.head, edge.lane))

    def _stroke(self, edge: PlacedEdge) -> float:
        note = self._note(edge)
        if note is not None:
            return note.width
        if not edge.data:
            return 1.1
        return min(3.0, 1.3 + 0.35 * math.log2(edge.data))

    def _edge(self, edge: PlacedEdge) -> str:
        backward = edge.lane == BACKWARD
        self.kinds.add("gradient" if backward else "data" if edge.data else "control")
        arrow = self._has_arrow(edge)
        points = shortened(edge.points, 5.0) if arrow else edge.points
        css = "tfs-g" if backward else "tfs-e"
        colour = self._colour("gradient") if backward else self.line
        dash = "" if edge.data else ' stroke-dasharray="4 3"'
        faint = ' opacity=".4"' if edge.direct or self._leads_nowhere(edge) else ""
        return (f'<path class="{css}" d="{path(points)}" fill="none" stroke="{colour}" '
                f'stroke-width="{n(self._stroke(edge))}"{dash}{faint}><title>{escape(self._edge_tip(edge))}</title></path>')

    def _leads_nowhere(self, edge: PlacedEdge) -> bool:
        """Whether one of its ends is removed."""
        return any(self.tree[end].parent == edge.scope and end not in self.layout.expanded and
                   self.faces[self.tree[end]].mark == "removed" for end in (edge.tail, edge.head))

    def _edge_tip(self, edge: PlacedEdge) -> str:
        tail, head = edge.far_tail, edge.far_head
        if edge.lane == BACKWARD:
            tail, head = head, tail
        lines = [f"{tail} → {head}"]
        if edge.data == 1 and edge.tensor and edge.tensor in self.tree.model:
            node = self.tree.model.node(edge.tensor)
            lines.append(f"{edge.tensor}: {node.outputs[0].text()}" if node.outputs else edge.tensor)
        elif edge.data > 1:
            lines.append(f"{edge.data} tensors")
        if edge.control:
            lines.append(f"{edge.control} control")
        note = self._note(edge)
        if note is not None and note.tooltip:
            lines.append(note.tooltip)
        return "\n".join(lines)

    def _has_arrow(self, edge: PlacedEdge) -> bool:
        """Whether the data arrives here; at an open scope's border the line only goes on."""
        return edge.head != edge.scope and edge.head not in self.layout.expanded

    def _edge_end(self, edge: PlacedEdge) -> str:
        """The arrowhead and the note of an edge."""
        backward = edge.lane == BACKWARD
        parts = []
        colour = self._colour("gradient") if backward else self.line
        if self._has_arrow(edge):
            (_, before), (x, y) = edge.points[-2:]
            size = 5.5 + 0.7 * min(4.0, self._stroke(edge))
            parts.append(f'<path class="tfs-{"ga" if backward else "a"}" d="{arrowhead((x, y), before > y, size)}" '
                         f'fill="{colour}"/>')
        note = self._note(edge)
        if note is not None and note.text and self._has_arrow(edge) and (edge.head, edge.lane) not in self.noted:
            self.noted.add((edge.head, edge.lane))
            x, y, before = edge.points[-1][0], edge.points[-1][1], edge.points[-2][1]
            down = y > before
            # Beside the arrow, on the side from which the edge does not come.
            left = edge.points[0][0] > x + 3
            parts.append(text(x - 8 if left else x + 8, y - 9 if down else y + 16, note.text,
                              "tfs-gt" if backward else "tfs-m", 10, "end" if left else "", fill=colour))
        return "".join(parts)

    # Under the drawing

    def _foot(self, width: float) -> tuple[str, float]:
        parts = []
        y = 0.0
        if self.legend:
            legend, used = self._legend(width - 2 * MARGIN)
            parts.append(legend)
            y += used
        for line in wrapped(self.caption, width - 2 * MARGIN, CAPTION_SIZE):
            y += 15
            parts.append(text(0, y - 3, line, "tfs-m", CAPTION_SIZE, fill=self.muted))
        return "".join(parts), y + (10.0 if y else 0.0)

    def _legend(self, width: float) -> tuple[str, float]:
        entries: list[tuple[str, str]] = [(self._swatch(role), label("role." + role))
                                          for role in ROLES if role in self.roles]
        if "scope" in self.kinds:
            entries.append((self._scope_swatch(), label("legend.scope")))
        for kind in ("data", "control", "gradient"):
            if kind in self.kinds:
                key = "norm" if kind == "gradient" and self.noted else kind
                entries.append((self._line_swatch(kind), label("legend." + key)))
        for mark, sign in MARK_SIGNS.items():
            if mark in self.kinds:
                entries.append((text(11, 11.5, sign, "tfs-l", 11, "middle", bold=True, fill=self.ink),
                                label("legend." + mark)))
        parts = []
        x = y = 0.0
        for swatch, words in entries:
            need = 28 + text_width(words, LEGEND_SIZE) + 16
            if x and x + need - 16 > width:
                x, y = 0.0, y + 20
            parts.append(f'<g transform="translate({n(x)} {n(y)})">{swatch}'
                         + text(28, 11.5, words, "tfs-m", LEGEND_SIZE, fill=self.muted) + "</g>")
            x += need
        return "".join(parts), (y + 22 if entries else 0.0)

    def _swatch(self, role: str) -> str:
        style = palette.role_style(role)
        colour = self._colour(role)
        dash = ' stroke-dasharray="4 2"' if style.dashed else ""
        inner = detail_line(style.shape, 1, 1, 20) if style.shape == "cylinder" else ""
        extra = f'<path class="tfs-b" d="{inner}" style="fill:none" fill="none" stroke="{colour}"/>' if inner else ""
        return (f'<g class="tfs-{role}"><path class="tfs-b" d="{_small_outline(style.shape)}" fill="{colour}" '
                f'fill-opacity=".11" stroke="{colour}" stroke-width="1.2"{dash}/>{extra}</g>')

    def _scope_swatch(self) -> str:
        colour = self._colour("forward")
        back, front = 'x="6" y="0.5" width="16" height="10" rx="2"', 'x="1" y="3.5" width="17" height="10" rx="2"'
        look = f'fill="{colour}" fill-opacity=".11" stroke="{colour}"'
        return (f'<g class="tfs-forward"><rect class="tfs-b" {back} {look}/><rect class="tfs-p" {front} '
                f'fill="{self.ground}"/><rect class="tfs-b" {front} {look}/></g>')

    def _line_swatch(self, kind: str) -> str:
        gradient = kind == "gradient"
        colour = self._colour("gradient") if gradient else self.line
        dash = ' stroke-dasharray="4 3"' if kind == "control" else ""
        return (f'<path class="{"tfs-g" if gradient else "tfs-e"}" d="M0 7H15" fill="none" stroke="{colour}" '
                f'stroke-width="1.5"{dash}/><path class="tfs-{"ga" if gradient else "a"}" d="M22 7L14.5 3.4V10.6Z" '
                f'fill="{colour}"/>')


MARK_SIGNS = {"removed": "✕", "protected": "★", "trains": "✓", "frozen": "❄", "loss": "◎", "blocked": "⊘"}


def _small_outline(shape: str) -> str:
    if shape == "hexagon":
        return "M5 1H17L21 7L17 13H5L1 7Z"
    if shape == "octagon":
        return "M5 1H17L21 5V9L17 13H5L1 9V5Z"
    if shape == "note":
        return "M1 1H16L21 6V13H1Z"
    if shape == "box":
        return "M4 1H18Q21 1 21 4V10Q21 13 18 13H4Q1 13 1 10V4Q1 1 4 1Z"
    return outline(shape, 1, 1, 20, 12)


