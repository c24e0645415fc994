"""A view's ES module as one string: its file of `static/src` and what that imports, each in a function of its own.

The files are real modules, which the JupyterLab extension loads as they are. Here comments and indentation go, since
a notebook may store the string with every widget.
"""

from __future__ import annotations

import base64
import gzip
import re
from functools import lru_cache
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "static" / "src"

ENTRY = "mount"

EXPORTS = "export {mount, render};\nexport default {render};"

_IMPORT = re.compile(r'^import \{([\w\s,]*)\} from "\./(\w+)\.js";$', re.M)
_EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.M)


def kinds() -> list[str]:
    """The kinds of payload for which there is a module."""
    return sorted(path.stem for path in SOURCES.glob("*.js") if "\nregister(" in path.read_text(encoding="utf-8"))


@lru_cache(maxsize=32)
def source(kind: str) -> str:
    """The module that draws payloads of a kind: exports `mount`, and `render` as anywidget wants it.

    Raises ValueError for a kind that nothing draws.
    """
    if kind not in kinds():
        raise ValueError(f"There is no module for a view of kind {kind!r}; there are {', '.join(kinds())}.")
    order: list[str] = []
    _visit(kind, order, ())
    _visit(ENTRY, order, ())
    parts = [_wrapped(name) for name in order]
    return "\n".join([*parts, f"const {{mount, render}} = ${ENTRY};", EXPORTS, ""])


_LOADER = """const packed = "%s";
const digits = "%s";
const bytes = new Uint8Array(packed.length / 5 * 4), view = new DataView(bytes.buffer);
for (let i = 0; i < packed.length; i += 5) {
  let word = 0;
  for (let k = i; k < i + 5; k++) word = word * 85 + digits.indexOf(packed[k]);
  view.setUint32(i / 5 * 4, word);
}
const stream = new Blob([bytes.subarray(0, %d)]).stream().pipeThrough(new DecompressionStream("gzip"));
const url = URL.createObjectURL(new Blob([await new Response(stream).text()], {type: "text/javascript"}));
const {mount, render} = await import(url);
URL.revokeObjectURL(url);
""" + EXPORTS + "\n"

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
"""Those of `base64.b85encode`: none of them ends or escapes in a JavaScript string."""


@lru_cache(maxsize=32)
def packed(kind: str) -> str:
    """A module that unpacks `source(kind)`: a quarter of its size, for where it is stored with every widget."""
    # mtime=0: the same source gives the same text.
    small = gzip.compress(source(kind).encode("utf-8"), mtime=0)
    return _LOADER % (base64.b85encode(small, pad=True).decode("ascii"), _DIGITS, len(small))


def _visit(name: str, order: list[str], around: tuple[str, ...]) -> None:
    """Put a file after all that it imports. Raises ValueError for files that import each other in a circle."""
    if name in around:
        raise ValueError(f"{' imports '.join([*around, name])}: a circle.")
    if name in order:
        return
    for imported in _IMPORT.finditer(_text(name)):
        _visit(imported.group(2), order, (*around, name))
    order.append(name)


def _text(name: str) -> str:
    return (SOURCES / f"{name}.js").read_text(encoding="utf-8")


def _wrapped(name: str) -> str:
    """A file as a function that gives what it exports; what it imports are that function's constants."""
    text = _IMPORT.sub(lambda found: f"const {{{found.group(1)}}} = ${found.group(2)};", _text(name))
    exported = _EXPORT.findall(text)
    text = re.sub(r"^export ", "", text, flags=re.M)
    lines = [line.strip() for line in text.splitlines()]
    body = "\n".join(line for line in lines if line and not line.startswith("//"))
    return f"const ${name} = (() => {{\n{body}\nreturn {{{', '.join(exported)}}};\n}})();"
