"""gradients_impl."""

__all__: list[str] = []
