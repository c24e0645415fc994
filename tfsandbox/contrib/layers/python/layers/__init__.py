"""The names of `tensorflow.contrib.layers.python.layers`."""

from __future__ import annotations

from tfsandbox.contrib import layers  # noqa: F401
from tfsandbox.contrib.layers import *  # noqa: F401, F403
from tfsandbox.contrib.layers import embeddings as embedding_ops  # noqa: F401
from tfsandbox.contrib.layers import embeddings as encoders  # noqa: F401
from tfsandbox.contrib.layers import (  # noqa: F401
    initializers,
    normalization,
    optimizers,
    regularizers,
    summaries,
    utils,
)
