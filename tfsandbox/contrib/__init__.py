"""tfsandbox.contrib."""
