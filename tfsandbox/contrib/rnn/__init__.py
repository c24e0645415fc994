"""The tf.contrib.rnn namespace: the cells of tf.nn.rnn_cell, more of them, and stacks of bidirectional layers."""

from __future__ import annotations

from tfsandbox.contrib.rnn.layer_norm_lstm import LayerNormBasicLSTMCell  # noqa: F401
from tfsandbox.contrib.rnn.projections import (  # noqa: F401
    EmbeddingWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from tfsandbox.contrib.rnn.stacks import stack_bidirectional_dynamic_rnn, stack_bidirectional_rnn  # noqa: F401
from tfsandbox.layers.rnn_cell import (  # noqa: F401
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LayerRNNCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    ResidualWrapper,
    RNNCell,
)
from tfsandbox.ops.rnn import _batch_size as best_effort_input_batch_size  # noqa: F401
from tfsandbox.ops.rnn import _transpose_batch_time as transpose_batch_time  # noqa: F401
from tfsandbox.ops.rnn import static_bidirectional_rnn, static_rnn, static_state_saving_rnn  # noqa: F401
