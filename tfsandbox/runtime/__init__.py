"""tfsandbox.runtime."""
