"""The tf.contrib.legacy_seq2seq namespace: sequences as lists of tensors, one for each step."""

from tfsandbox.contrib.legacy_seq2seq.seq2seq import (  # noqa: F401
    rnn_decoder,
    sequence_loss,
    sequence_loss_by_example,
)
