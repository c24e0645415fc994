"""tfsandbox.ops."""
