"""tfsandbox.framework."""
