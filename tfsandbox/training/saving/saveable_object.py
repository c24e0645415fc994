"""SaveableObject, where TensorFlow has it."""

from tfsandbox.framework.saveable_object import SaveableObject, SaveSpec  # noqa: F401
