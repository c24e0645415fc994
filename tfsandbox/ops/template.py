"""template."""

__all__: list[str] = []
