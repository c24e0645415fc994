"""tfsandbox.ops.linalg."""
