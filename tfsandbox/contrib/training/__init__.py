"""The tf.contrib.training namespace: train ops, gradients clipped and multiplied, the training loop."""

from __future__ import annotations

from tfsandbox.contrib.training.evaluation import (  # noqa: F401
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    checkpoints_iterator,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
    wait_for_new_checkpoint,
)
from tfsandbox.contrib.training.hparam import HParams, parse_values  # noqa: F401
from tfsandbox.contrib.training.training import (  # noqa: F401
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)
