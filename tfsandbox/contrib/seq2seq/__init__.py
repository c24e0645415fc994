"""The tf.contrib.seq2seq namespace: the loss of sequences."""

from tfsandbox.contrib.seq2seq.loss import sequence_loss  # noqa: F401
