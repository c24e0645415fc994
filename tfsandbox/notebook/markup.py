"""Escaping: the only way for a text from a graph into HTML or SVG."""

from __future__ import annotations

import hashlib
import re

# XML 1.0 has no way to write these, escaped or not.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Characters that turn the direction of writing: a name must not reorder the text around it.
_BIDI = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def escape(text: object) -> str:
    """Text for an element or a quoted attribute of HTML or SVG; what XML cannot hold becomes U+FFFD."""
    plain = _BIDI.sub("\ufffd", _FORBIDDEN.sub("\ufffd", str(text)))
    return (plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            .replace('"', "&quot;").replace("'", "&#39;"))


def digest(text: str) -> str:
    """Eight characters that are the same for the same content: ids that several drawings on a page do not share."""
    return "t" + hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:8]


def number(value: float) -> str:
    """A coordinate, to a tenth of a pixel, as short as it goes."""
    text = f"{value:.1f}"
    if text.endswith(".0"):
        text = text[:-2]
    return "0" if text == "-0" else text
