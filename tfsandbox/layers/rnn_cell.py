"""The names of `tf.nn.rnn_cell`."""

from tfsandbox.layers.rnn_cell_base import LayerRNNCell, LSTMStateTuple, RNNCell  # noqa: F401
from tfsandbox.layers.rnn_cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell  # noqa: F401
from tfsandbox.layers.rnn_wrappers import (  # noqa: F401
    DeviceWrapper,
    DropoutWrapper,
    MultiRNNCell,
    ResidualWrapper,
)
from tfsandbox.ops.rnn_states import assert_like_rnncell  # noqa: F401
