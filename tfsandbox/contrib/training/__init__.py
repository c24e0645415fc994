"""The tf.contrib.training namespace: train ops, gradients clipped and multiplied, the training loop."""

from __future__ import annotations

from tfsandbox.contrib.training.training import (  # noqa: F401
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)
from tfsandbox.training.checkpoint_utils import checkpoints_iterator, wait_for_new_checkpoint  # noqa: F401
