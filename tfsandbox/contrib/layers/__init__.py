"""The tf.contrib.layers namespace: layers that make their own variables, initializers, regularizers, summaries."""

from __future__ import annotations

from tfsandbox.contrib.layers import summaries  # noqa: F401
from tfsandbox.contrib.layers.batch_norm import batch_norm  # noqa: F401
from tfsandbox.contrib.layers.composition import repeat, stack  # noqa: F401
from tfsandbox.contrib.layers.convolutions import (  # noqa: F401
    conv1d,
    conv2d,
    conv2d_in_plane,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    convolution,
    convolution1d,
    convolution2d,
    convolution2d_in_plane,
    convolution2d_transpose,
    convolution3d,
    convolution3d_transpose,
    separable_conv2d,
    separable_convolution2d,
)
from tfsandbox.contrib.layers.embeddings import (  # noqa: F401
    bow_encoder,
    embed_sequence,
    embedding_lookup_unique,
    safe_embedding_lookup_sparse,
)
from tfsandbox.contrib.layers.fully_connected import (  # noqa: F401
    elu,
    fully_connected,
    legacy_fully_connected,
    legacy_linear,
    legacy_relu,
    linear,
    relu,
    relu6,
)
from tfsandbox.contrib.layers.initializers import (  # noqa: F401
    variance_scaling_initializer,
    xavier_initializer,
    xavier_initializer_conv2d,
)
from tfsandbox.contrib.layers.normalization import group_norm, instance_norm, layer_norm  # noqa: F401
from tfsandbox.contrib.layers.optimizers import (  # noqa: F401
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    optimize_loss,
)
from tfsandbox.contrib.layers.pooling import avg_pool2d, avg_pool3d, max_pool2d, max_pool3d  # noqa: F401
from tfsandbox.contrib.layers.regularizers import (  # noqa: F401
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
)
from tfsandbox.contrib.layers.reshaping import (  # noqa: F401
    bias_add,
    dropout,
    flatten,
    maxout,
    one_hot_encoding,
    softmax,
    unit_norm,
)
from tfsandbox.contrib.layers.sequences import (  # noqa: F401
    dense_to_sparse,
    images_to_sequence,
    sequence_to_images,
    spatial_softmax,
)
from tfsandbox.contrib.layers.summaries import (  # noqa: F401
    summarize_activation,
    summarize_activations,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
)
