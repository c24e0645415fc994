"""The tf.nn namespace: what neural networks are made of."""

from __future__ import annotations

from tfsandbox.layers import rnn_cell  # noqa: F401
from tfsandbox.ops.array_ops import depth_to_space, space_to_batch, space_to_depth  # noqa: F401
from tfsandbox.ops.candidate_sampling_ops import (  # noqa: F401
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from tfsandbox.ops.embedding_ops import (  # noqa: F401
    embedding_lookup,
    embedding_lookup_sparse,
    safe_embedding_lookup_sparse,
)
from tfsandbox.ops.math_ops import sigmoid, tanh  # noqa: F401
from tfsandbox.ops.nn_impl import (  # noqa: F401
    batch_norm_with_global_normalization,
    batch_normalization,
    depthwise_conv2d,
    fused_batch_norm,
    l2_normalize,
    log_poisson_loss,
    moments,
    nce_loss,
    normalize_moments,
    relu_layer,
    sampled_softmax_loss,
    separable_conv2d,
    sigmoid_cross_entropy_with_logits,
    sufficient_statistics,
    swish,
    weighted_cross_entropy_with_logits,
    weighted_moments,
    zero_fraction,
)
from tfsandbox.ops.nn_ops import (  # noqa: F401
    atrous_conv2d,
    atrous_conv2d_transpose,
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    avg_pool_v2,
    bias_add,
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
    crelu,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input,
    dilation2d,
    dropout,
    elu,
    erosion2d,
    in_top_k,
    l2_loss,
    leaky_relu,
    local_response_normalization,
    log_softmax,
    lrn,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_v2,
    max_pool_with_argmax,
    pool,
    relu,
    relu6,
    selu,
    softmax,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    softplus,
    softsign,
    sparse_softmax_cross_entropy_with_logits,
    top_k,
    with_space_to_batch,
    xw_plus_b,
)
from tfsandbox.ops.rnn import (  # noqa: F401
    bidirectional_dynamic_rnn,
    dynamic_rnn,
    raw_rnn,
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
)
from tfsandbox.util.arg_scoping import accept_arg_scopes as _accept_arg_scopes

# What the tf namespace has too stays the same function there and here.
_accept_arg_scopes(globals(), leave={"depth_to_space", "sigmoid", "space_to_batch", "space_to_depth", "tanh"})
