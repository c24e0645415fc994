"""variables."""

__all__: list[str] = []
