"""The names of `tensorflow.python.ops.nn_impl`, gathered from the files that each hold one subject."""

from __future__ import annotations

from tfsandbox.ops.activations import swish  # noqa: F401
from tfsandbox.ops.bias import relu_layer  # noqa: F401
from tfsandbox.ops.convolution import depthwise_conv2d, separable_conv2d  # noqa: F401
from tfsandbox.ops.cross_entropy import (  # noqa: F401
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from tfsandbox.ops.fused_batch_norm import fused_batch_norm  # noqa: F401
from tfsandbox.ops.normalization import (  # noqa: F401
    batch_norm_with_global_normalization,
    batch_normalization,
    l2_normalize,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
)
from tfsandbox.ops.sampled_losses import _compute_sampled_logits, nce_loss, sampled_softmax_loss  # noqa: F401
from tfsandbox.ops.zero_fraction import zero_fraction  # noqa: F401

__all__: list[str] = []
