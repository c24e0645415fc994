"""tfsandbox.training.saving."""
