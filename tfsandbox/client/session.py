"""The names of `tensorflow.python.client.session`."""

from tfsandbox.runtime.session import BaseSession, InteractiveSession, Session  # noqa: F401
