"""The outlines of boxes and the paths of edges, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from tfsandbox.notebook.markup import number as n

Point = tuple[float, float]


def outline(shape: str, x: float, y: float, width: float, height: float) -> str:
    """The `d` of a closed outline that fills the rectangle."""
    right, bottom = x + width, y + height
    if shape == "pill":
        r = height / 2
        return (f"M{n(x + r)} {n(y)}H{n(right - r)}A{n(r)} {n(r)} 0 0 1 {n(right - r)} {n(bottom)}H{n(x + r)}"
                f"A{n(r)} {n(r)} 0 0 1 {n(x + r)} {n(y)}Z")
    if shape == "cylinder":
        ry = 4.5
        rx = width / 2
        return (f"M{n(x)} {n(y + ry)}A{n(rx)} {n(ry)} 0 0 1 {n(right)} {n(y + ry)}V{n(bottom - ry)}"
                f"A{n(rx)} {n(ry)} 0 0 1 {n(x)} {n(bottom - ry)}Z")
    if shape == "hexagon":
        d = 10.0
        middle = y + height / 2
        return (f"M{n(x + d)} {n(y)}H{n(right - d)}L{n(right)} {n(middle)}L{n(right - d)} {n(bottom)}H{n(x + d)}"
                f"L{n(x)} {n(middle)}Z")
    if shape == "octagon":
        d = 9.0
        return (f"M{n(x + d)} {n(y)}H{n(right - d)}L{n(right)} {n(y + d)}V{n(bottom - d)}L{n(right - d)} {n(bottom)}"
                f"H{n(x + d)}L{n(x)} {n(bottom - d)}V{n(y + d)}Z")
    if shape == "note":
        d = 9.0
        return f"M{n(x)} {n(y)}H{n(right - d)}L{n(right)} {n(y + d)}V{n(bottom)}H{n(x)}Z"
    r = 7.0
    return (f"M{n(x + r)} {n(y)}H{n(right - r)}Q{n(right)} {n(y)} {n(right)} {n(y + r)}V{n(bottom - r)}"
            f"Q{n(right)} {n(bottom)} {n(right - r)} {n(bottom)}H{n(x + r)}Q{n(x)} {n(bottom)} {n(x)} {n(bottom - r)}"
            f"V{n(y + r)}Q{n(x)} {n(y)} {n(x + r)} {n(y)}Z")


def detail_line(shape: str, x: float, y: float, width: float) -> str:
    """The inner line that makes an outline what it is: a cylinder's rim, a note's fold; "" for the others."""
    right = x + width
    if shape == "cylinder":
        return f"M{n(x)} {n(y + 4.5)}A{n(width / 2)} 4.5 0 0 0 {n(right)} {n(y + 4.5)}"
    if shape == "note":
        return f"M{n(right - 9)} {n(y)}V{n(y + 9)}H{n(right)}"
    return ""


def path(points: Sequence[Point]) -> str:
    """The `d` of a line through points: straight up and down, and smooth in between."""
    (x, y), *rest = points
    parts = [f"M{n(x)} {n(y)}"]
    for px, py in rest:
        if abs(px - x) < 0.6:
            parts.append(f"V{n(py)}" if px == x else f"L{n(px)} {n(py)}")
        else:
            middle = (y + py) / 2
            parts.append(f"C{n(x)} {n(middle)} {n(px)} {n(middle)} {n(px)} {n(py)}")
        x, y = px, py
    return "".join(parts)


def shortened(points: Sequence[Point], by: float) -> list[Point]:
    """The points with the end moved back along the last piece, to make room for an arrowhead."""
    *before, (px, py), (x, y) = points
    if y > py:
        end = max(py, y - by)
    elif y < py:
        end = min(py, y + by)
    else:
        end = y
    return [*before, (px, py), (x, end)]


def arrowhead(point: Point, up: bool, size: float = 6.0) -> str:
    """The `d` of a triangle whose tip is at the point."""
    x, y = point
    back = y + size * 1.25 if up else y - size * 1.25
    return f"M{n(x)} {n(y)}L{n(x - size * 0.62)} {n(back)}H{n(x + size * 0.62)}Z"
