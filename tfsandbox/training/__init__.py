"""tfsandbox.training."""
