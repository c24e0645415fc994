"""What all views share: one MIME bundle, text, JSON, and saving to a file."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfsandbox.notebook import palette
from tfsandbox.notebook.markup import escape

if TYPE_CHECKING:
    from tfsandbox.notebook.interactive.live import Live
    from tfsandbox.notebook.interactive.widget import ViewWidget

MIME_TYPE = "application/vnd.tfsandbox.graph+json"
"""The type under which a view's JSON travels to a front end that can draw it itself."""

TEXT_LINES = 60
"""The plain text of a notebook's output stays within this many lines; `view.text()` gives all of them."""


class View:
    """A plain-data model that can show itself.

    A subclass gives `to_json` and `text`, and `svg`, `html` or both; one that is an instrument too gives `payload`
    and `_make_live`. With `interactive` off it is displayed as a still picture everywhere.
    """

    kind = "view"
    title = ""
    interactive = True

    def to_json(self) -> dict[str, Any]:
        """The whole model as plain data."""
        raise NotImplementedError

    def text(self, limit: int | None = None) -> str:
        """The model as plain text, at most `limit` lines of it."""
        raise NotImplementedError

    def svg(self) -> str | None:
        """One SVG document; None for a view that is no picture."""
        return None

    def html(self) -> str | None:
        """A fragment of HTML; None for a view that is a picture only."""
        return None

    # As an instrument

    def payload(self) -> dict[str, Any] | None:
        """What the page draws from; None for a view that is only looked at."""
        return None

    def has_payload(self) -> bool:
        """Whether the view can be an instrument."""
        return type(self).payload is not View.payload

    def _make_live(self) -> Live:
        from tfsandbox.notebook.interactive.live import Live
        return Live(self)

    @cached_property
    def live(self) -> Live:
        """What the pages that show the view share with Python. Raises ValueError for a view without a payload."""
        payload = self.payload()
        if payload is None:
            raise ValueError(f"A {type(self).__name__} is a still picture: nothing in it can be chosen.")
        live = self._make_live()
        live.payload = payload
        return live

    @property
    def selected(self) -> list[str]:
        """The names of what is chosen in the page. Setting it chooses there."""
        return list(self.live.selected)

    @selected.setter
    def selected(self, names: str | list[str]) -> None:
        self.live.selected = [names] if isinstance(names, str) else list(names)

    def explore(self) -> ViewWidget:
        """The view as a widget, for front ends that have widgets and not the extension of JupyterLab."""
        from tfsandbox.notebook.interactive.widget import widget_of
        return widget_of(self.live)

    def show(self) -> None:
        """Display the view in the notebook, where it is not the last thing in its cell."""
        from IPython.display import display
        display(self)

    # As a file

    def page(self) -> str:
        """One HTML page that stands on its own, without network, light or dark as the reader's system is.

        A view with a payload is live in it.
        """
        payload = self.payload() if self.interactive else None
        still = self.html() or self.svg() or f"<pre>{escape(self.text())}</pre>"
        if payload is not None:
            from tfsandbox.notebook.interactive import export
            return export.page(payload, self.title or self.kind, still, self.text())
        return self._still_page(still)

    def _still_page(self, body: str) -> str:
        return (
            '<!DOCTYPE html>\n<html lang="en" class="tfs-page">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            f"<title>{escape(self.title or self.kind)}</title>\n<style>{fragment_css()}"
            ":root{color-scheme:light dark}body{margin:16px;background:#fff;color:#1d2430;"
            "font-family:system-ui,sans-serif}"
            "@media (prefers-color-scheme:dark){body{background:#111418;color:#e8ebf0}}"
            "summary{cursor:pointer;margin-top:16px}pre{overflow:auto}</style>\n</head>\n<body>\n"
            f"<main>{body}</main>\n<details><summary>As text</summary><pre>{escape(self.text())}</pre></details>\n"
            "</body>\n</html>\n")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the view to a file; the ending says how: `.svg`, `.html`, `.json` or `.txt`.

        Raises ValueError for another ending, and for `.svg` of a view that is no picture. The file appears whole or
        not at all.
        """
        target = Path(path)
        ending = target.suffix.lower()
        if ending == ".svg":
            content = self.svg()
            if content is None:
                raise ValueError(f"A {type(self).__name__} is a table, not a picture: save it as .html, .json or .txt.")
        elif ending in (".html", ".htm"):
            content = self.page()
        elif ending == ".json":
            content = json.dumps(self.to_json(), ensure_ascii=False, indent=1)
        elif ending == ".txt":
            content = self.text() + "\n"
        else:
            raise ValueError(f"Cannot tell from {target.name!r} how to save a view: "
                             "the name must end in .svg, .html, .json or .txt.")
        if not target.parent.is_dir():
            raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to save {target.name!r} in.")
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(content)
            # mkstemp makes private files; a drawing is as public as any other new file.
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
        return target

    def bundle(self) -> dict[str, Any]:
        """The view in every form that a front end may choose from."""
        bundle: dict[str, Any] = {"text/plain": self.text(limit=TEXT_LINES)}
        svg, html = self.svg(), self.html()
        if svg is not None:
            bundle["image/svg+xml"] = svg
        bundle["text/html"] = html or inline(svg or "", bundle["text/plain"])
        if self.interactive and self.has_payload():
            from tfsandbox.notebook.interactive import link
            bundle[MIME_TYPE] = link.offer(self.live)
        return bundle

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle = self.bundle()
        if MIME_TYPE in bundle and widgets_only():
            made = self.explore()._repr_mimebundle_()
            bundle = {**made[0]}
        if include:
            bundle = {kind: data for kind, data in bundle.items() if kind in include}
        if exclude:
            bundle = {kind: data for kind, data in bundle.items() if kind not in exclude}
        return bundle

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title}>" if self.title else f"<{type(self).__name__}>"


def widgets_only() -> bool:
    """Whether the notebook is shown by a front end that has widgets and no extensions of JupyterLab."""
    if "google.colab" in sys.modules:
        return True
    from IPython.core.getipython import get_ipython

    return "__vsc_ipynb_file__" in getattr(get_ipython(), "user_ns", {})


def inline(svg: str, text: str) -> str:
    """A picture inside the page: JupyterLab shows `image/svg+xml` as an image, where neither its theme nor a tooltip
    reaches. The text is what remains when a notebook from elsewhere is sanitised.
    """
    summary = '<summary style="cursor:pointer;font-size:11px;opacity:.75">text</summary>'
    return f'<div class="tfs-inline">{svg}<details>{summary}<pre>{escape(text)}</pre></details></div>'


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def fragment_css() -> str:
    """The style sheet of the HTML views; everything in it is under the class `tfs`."""
    return palette.variables_css() + (
        ".tfs{color:var(--jp-content-font-color1,var(--tfs-ink));font-family:" + palette.FONT + ";font-size:13px}"
        ".tfs h4{margin:4px 0 6px;font-size:14px;font-weight:600}"
        ".tfs p{margin:4px 0;color:var(--jp-content-font-color2,var(--tfs-muted))}"
        ".tfs .tfs-scroll{overflow-x:auto;max-width:100%}"
        ".tfs table{border-collapse:collapse;margin:4px 0;font-size:12.5px;font-variant-numeric:tabular-nums}"
        # JupyterLab aligns the cells of every table to the right, and stripes the rows.
        ".tfs table th,.tfs table td{padding:3px 10px;text-align:left!important;white-space:nowrap;"
        "border-bottom:1px solid var(--tfs-frame);"
        "vertical-align:middle;background:none}"
        ".tfs th{font-weight:600;color:var(--jp-content-font-color2,var(--tfs-muted))}"
        ".tfs table td.tfs-num,.tfs table th.tfs-num{text-align:right!important}"
        ".tfs table tbody tr{background:none!important}"
        ".tfs table td.tfs-wrap{white-space:normal;min-width:16em}"
        ".tfs td.tfs-name{font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px}"
        ".tfs tr.tfs-sum td{font-weight:600}"
        ".tfs .tfs-chip{display:inline-block;padding:0 7px;border-radius:9px;border:1px solid;font-size:11px;"
        "line-height:17px}"
        ".tfs .tfs-bar{display:inline-block;height:9px;border-radius:2px;vertical-align:middle;margin-left:6px}"
        ".tfs .tfs-off td{color:var(--jp-content-font-color2,var(--tfs-muted))}"
        ".tfs summary{cursor:pointer;margin:8px 0}"
    )


def fragment(body: str, title: str) -> str:
    """HTML with its style sheet, for a notebook's output."""
    return (f'<div class="tfs" role="group" aria-label="{escape(title)}"><style>{fragment_css()}</style>'
            f"<h4>{escape(title)}</h4>{body}</div>")


def table_html(head: list[tuple[str, str]], rows: list[str]) -> str:
    """A table from (heading, class) pairs and rows of ready cells."""
    cells = "".join(f'<th scope="col" class="{css}">{escape(words)}</th>' for words, css in head)
    return (f'<div class="tfs-scroll"><table><thead><tr>{cells}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div>")


def cell(content: object, css: str = "", raw: bool = False) -> str:
    """One cell; its text is escaped unless it is HTML made here."""
    return f'<td class="{css}">{content if raw else escape(content)}</td>'


def chip(words: str, role: str) -> str:
    """A small label in the colour of a role."""
    colour = f"var(--tfs-{role})"
    return f'<span class="tfs-chip" style="color:{colour};border-color:{colour}">{escape(words)}</span>'


def bar(share: float, role: str, tip: str = "") -> str:
    """A bar of up to 90 pixels for a share between 0 and 1."""
    width = max(0.0, min(1.0, share)) * 90
    title = f' title="{escape(tip)}"' if tip else ""
    return f'<span class="tfs-bar" style="width:{width:.0f}px;background:var(--tfs-{role})"{title}></span>'


def figure(value: float | None) -> str:
    """A number as a person reads it: four digits, `–` for none, NaN and Inf by name."""
    if value is None:
        return "–"
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Inf" if value > 0 else "-Inf"
    return f"{value:.4g}"


def byte_size(count: int | None) -> str:
    """Bytes with the unit that fits: `800 B`, `16.4 kB`."""
    if count is None:
        return "–"
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
