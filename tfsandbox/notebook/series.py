"""A curve that grows while it is drawn, of bounded length."""

from __future__ import annotations

import math
from typing import Any

LONGEST = 1_000
"""From here on, a curve keeps every second of its points, then every fourth, and so on."""


class Series:
    """Points (step, value). Long curves are thinned out evenly; the newest point is always there."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._kept: list[tuple[int, float]] = []
        self._every = 1
        self._count = 0
        self._last: tuple[int, float] | None = None

    def add(self, step: int, value: float) -> None:
        """One more point."""
        self._last = (int(step), float(value))
        if self._count % self._every == 0:
            self._kept.append(self._last)
            if len(self._kept) >= LONGEST:
                self._kept = self._kept[::2]
                self._every *= 2
        self._count += 1

    @property
    def points(self) -> list[tuple[int, float]]:
        """What is kept of the curve, in order."""
        if self._last is not None and self._kept[-1] != self._last:
            return [*self._kept, self._last]
        return list(self._kept)

    @property
    def last(self) -> float | None:
        """The newest value."""
        return None if self._last is None else self._last[1]

    def __len__(self) -> int:
        return self._count

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "points": [[step, number(value)] for step, value in self.points]}


def number(value: float | None, digits: int = 7) -> float | str | None:
    """A number as JSON has it; what JSON has no number for as JavaScript's `Number` reads it."""
    if value is None or math.isfinite(value):
        return None if value is None else float(f"{value:.{digits}g}")
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
