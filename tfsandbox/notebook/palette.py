"""Colours and shapes of roles, and the style sheet that every drawing carries.

The hues are those of Okabe and Ito's palette for colour-blind readers, darkened on white and lightened on black until
each has a contrast of at least 4.5 with its ground; shape and label say the same again without colour. JupyterLab's
CSS variables decide where they are defined, the values here elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RoleStyle:
    """How a role looks: its colour on light and on dark ground, and the outline of its boxes."""

    light: str
    dark: str
    shape: str
    dashed: bool = False


ROLE_STYLES: dict[str, RoleStyle] = {
    "input": RoleStyle("#007a5a", "#2fc79c", "pill"),
    "variable": RoleStyle("#9a5b00", "#f0b03c", "cylinder"),
    "forward": RoleStyle("#0a62a0", "#6bb5ea", "box"),
    "constant": RoleStyle("#5f6672", "#aab2bf", "note"),
    "gradient": RoleStyle("#a03b78", "#e493c2", "hexagon"),
    "optimizer": RoleStyle("#b84300", "#ff9860", "octagon"),
    "slot": RoleStyle("#9a5b00", "#f0b03c", "cylinder", dashed=True),
    "init": RoleStyle("#1b6f93", "#7cc8e6", "box", dashed=True),
    "saver": RoleStyle("#5f6672", "#aab2bf", "note", dashed=True),
    "summary": RoleStyle("#5f6672", "#aab2bf", "pill", dashed=True),
    "check": RoleStyle("#5f6672", "#aab2bf", "hexagon", dashed=True),
    "plumbing": RoleStyle("#6b7280", "#9aa3b1", "box"),
}

INK = ("#1d2430", "#e8ebf0")
MUTED = ("#5a6372", "#a9b2c0")
GROUND = ("#ffffff", "#111418")
LINE = ("#7b8594", "#8b95a5")
FRAME = ("#c3cad4", "#434b57")

FONT = ('var(--jp-ui-font-family, system-ui), -apple-system, "Segoe UI", "Helvetica Neue", Arial, "Noto Sans", '
        '"DejaVu Sans", sans-serif')


def role_style(role: str) -> RoleStyle:
    """The style of a role; an unknown one looks like a forward op."""
    return ROLE_STYLES.get(role, ROLE_STYLES["forward"])


def _variables(dark: bool) -> str:
    which = 1 if dark else 0
    own = [f"--tfs-{role}:{style.dark if dark else style.light}" for role, style in ROLE_STYLES.items()]
    return ";".join([
        f"--tfs-ink:{INK[which]}", f"--tfs-muted:{MUTED[which]}", f"--tfs-ground:{GROUND[which]}",
        f"--tfs-line:{LINE[which]}", f"--tfs-frame:{FRAME[which]}", f"--tfs-tint:{'.2' if dark else '.11'}", *own])


def variables_css() -> str:
    """The colours as CSS variables: light, and dark where the page says that it is."""
    dark = _variables(dark=True)
    return (
        f".tfs{{{_variables(dark=False)}}}"
        f'[data-jp-theme-light="false"] .tfs,.vscode-dark .tfs,.theme-dark .tfs,.tfs.tfs-dark{{{dark}}}'
        f"@media (prefers-color-scheme:dark){{.tfs-page .tfs{{{dark}}}}}"
    )


def drawing_css() -> str:
    """The style sheet of an SVG drawing. Elements carry plain attributes too, for readers without CSS variables."""
    roles = "".join(f".tfs-{role}{{--c:var(--tfs-{role})}}" for role in ROLE_STYLES)
    return variables_css() + roles + (
        f".tfs text{{font-family:{FONT};fill:var(--tfs-ink)}}"
        ".tfs .tfs-bg{fill:var(--jp-layout-color0,var(--tfs-ground));stroke:none}"
        ".tfs .tfs-b{fill:var(--c);fill-opacity:var(--tfs-tint);stroke:var(--c)}"
        ".tfs .tfs-p{fill:var(--jp-layout-color0,var(--tfs-ground));stroke:none}"
        ".tfs .tfs-l{font-weight:600}"
        ".tfs .tfs-s,.tfs .tfs-m{fill:var(--tfs-muted)}"
        ".tfs .tfs-o{fill:var(--c);fill-opacity:.045;stroke:var(--tfs-frame)}"
        ".tfs .tfs-t{fill:var(--c);font-weight:600}"
        ".tfs .tfs-e{fill:none;stroke:var(--tfs-line)}"
        ".tfs .tfs-a{fill:var(--tfs-line)}"
        ".tfs .tfs-g{fill:none;stroke:var(--tfs-gradient)}"
        ".tfs .tfs-ga{fill:var(--tfs-gradient)}"
        ".tfs .tfs-gt{fill:var(--tfs-gradient)}"
        ".tfs .tfs-n:hover .tfs-b{stroke-width:2.6}"
    )
