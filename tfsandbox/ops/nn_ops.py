"""The names of `tensorflow.python.ops.nn_ops`, gathered from the files that each hold one subject."""

from __future__ import annotations

from tfsandbox.ops import candidate_sampling_ops, fused_batch_norm  # noqa: F401 - they register their ops
from tfsandbox.ops.activations import (  # noqa: F401
    crelu,
    elu,
    elu_grad,
    leaky_relu,
    leaky_relu_grad,
    log_softmax,
    relu,
    relu6,
    relu6_grad,
    relu_grad,
    selu,
    selu_grad,
    softmax,
    softplus,
    softplus_grad,
    softsign,
    softsign_grad,
)
from tfsandbox.ops.bias import bias_add, bias_add_grad, bias_add_v1, xw_plus_b, xw_plus_b_v1  # noqa: F401
from tfsandbox.ops.convolution import (  # noqa: F401
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
    conv3d,
    conv3d_backprop_filter,
    conv3d_backprop_filter_v2,
    conv3d_transpose,
    conv_transpose,
    convolution,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input,
)
from tfsandbox.ops.cross_entropy import (  # noqa: F401
    l2_loss,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from tfsandbox.ops.dropping import dropout, dropout_v2  # noqa: F401
from tfsandbox.ops.morphology import dilation2d, erosion2d  # noqa: F401
from tfsandbox.ops.normalization import local_response_normalization, lrn  # noqa: F401
from tfsandbox.ops.pooling import (  # noqa: F401
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    avg_pool_v2,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_v2,
    max_pool_with_argmax,
    pool,
)
from tfsandbox.ops.ranking import in_top_k, top_k  # noqa: F401
from tfsandbox.ops.space_to_batch import with_space_to_batch  # noqa: F401

__all__: list[str] = []
