"""variable_scope."""

__all__: list[str] = []
