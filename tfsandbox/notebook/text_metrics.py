"""How wide a text will be, without a browser: by the advance widths of a wide font, so that no box is too small."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_ADVANCE = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838)
"""Of the characters from space to tilde in DejaVu Sans, in thousandths of the size: the widest of the usual fonts."""

_BOLD = 1.1


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width in pixels of one line of text at a font size in pixels."""
    total = 0
    for character in text:
        code = ord(character)
        if 32 <= code < 127:
            total += _ADVANCE[code - 32]
        elif unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn"):
            continue
        elif unicodedata.east_asian_width(character) in ("W", "F"):
            total += 1000
        else:
            total += 850
    return total * size / 1000 * (_BOLD if bold else 1.0)


def elided(text: str, width: float, size: float, bold: bool = False) -> str:
    """The text, or its beginning and end around an ellipsis, so that it is no wider than `width`.

    The end of a name tells numbered nodes apart, so it stays.
    """
    if text_width(text, size, bold) <= width:
        return text
    keep = len(text) - 1
    while keep > 1:
        tail = max(1, keep // 3)
        shorter = f"{text[:keep - tail]}…{text[len(text) - tail:]}"
        if text_width(shorter, size, bold) <= width:
            return shorter
        keep -= 1
    return "…"


def wrapped(text: str, width: float, size: float) -> list[str]:
    """The text in lines no wider than `width`, broken at spaces."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and text_width(longer, size) > width:
            lines.append(line)
            longer = word
        line = elided(longer, width, size)
    return [*lines, line] if line else lines
