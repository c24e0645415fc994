"""Reductions over segments: rows of one segment id are reduced together."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []
