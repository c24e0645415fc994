"""data_flow_ops."""

__all__: list[str] = []
