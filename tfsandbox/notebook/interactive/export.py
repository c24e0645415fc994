"""A view as one HTML file: payload and module inside, no network; without scripts a picture and its text."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from tfsandbox.notebook import palette
from tfsandbox.notebook.interactive import module
from tfsandbox.notebook.interactive.link import compact
from tfsandbox.notebook.markup import escape

_START = """
const payload = JSON.parse(document.getElementById("payload").textContent);
window.tfsandbox = mount(document.getElementById("view"), payload, null).view;
"""


def page(payload: dict[str, Any], title: str, still: str, text: str) -> str:
    """The file. `still` is what a reader without scripts sees, HTML made here; `text` is the view as text."""
    script = _script(payload["kind"])
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (f"default-src 'none'; script-src 'sha256-{allowed}'; style-src 'unsafe-inline'; "
              "img-src data: blob:; base-uri 'none'; form-action 'none'")
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(payload.get("language", "en"))}" class="tfs-page">\n<head>\n'
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(title)}</title>\n<style>:root{{color-scheme:light dark}}body{{margin:12px;"
        f"background:{palette.GROUND[0]};color:{palette.INK[0]};font-family:system-ui,sans-serif}}"
        f"@media (prefers-color-scheme:dark){{body{{background:{palette.GROUND[1]};color:{palette.INK[1]}}}}}"
        "summary{cursor:pointer;margin-top:12px}pre{overflow:auto}</style>\n</head>\n<body>\n"
        f'<main id="view"></main>\n<noscript>{still}</noscript>\n'
        f"<details><summary>As text</summary><pre>{escape(text)}</pre></details>\n"
        f'<script type="application/json" id="payload">{_json(payload)}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n')


def _script(kind: str) -> str:
    """The module of a kind with the call that draws the payload; it exports nothing in a page."""
    body = module.source(kind).partition(module.EXPORTS)[0]
    return f"{body}{_START}"


def _json(payload: dict[str, Any]) -> str:
    """JSON that cannot end its script element."""
    return compact(payload).replace("<", "\\u003c")
