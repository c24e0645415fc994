"""Losses over a few sampled classes instead of all of them: `nce_loss`, `sampled_softmax_loss`."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops.candidate_sampling_ops import compute_accidental_hits, log_uniform_candidate_sampler
from tfsandbox.ops.cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2
from tfsandbox.ops.embedding_ops import embedding_lookup
from tfsandbox.ops.partitioned_variables import PartitionedVariable
from tfsandbox.ops.sparse_ops import sparse_to_dense

__all__: list[str] = []


def _sum_rows(x: Tensor) -> Tensor:
    """The sum of each row of a matrix, as TensorFlow does it here: a product with ones."""
    ones = array_ops.ones(array_ops.stack([array_ops.shape(x)[1], 1]), x.dtype)
    return array_ops.reshape(math_ops.matmul(x, ones), [-1])


def _compute_sampled_logits(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
                            num_true: int = 1, sampled_values: Any = None, subtract_log_q: bool = True,
                            remove_accidental_hits: bool = False, partition_strategy: str = "mod",
                            name: str | None = None, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """(logits, labels), both [batch, num_true + num_sampled]: of the true classes, then of the sampled ones."""
    if isinstance(weights, PartitionedVariable):
        weights = list(weights)
    if not isinstance(weights, list):
        weights = [weights]
    with ops.name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        labels = ops.convert_to_tensor(labels)
        if labels.dtype != dtypes.int64:
            labels = math_ops.cast(labels, dtypes.int64)
        true_ids = array_ops.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(true_classes=labels, num_true=num_true,
                                                           num_sampled=num_sampled, unique=True,
                                                           range_max=num_classes, seed=seed)
        sampled, true_expected, sampled_expected = (array_ops.stop_gradient(part) for part in sampled_values)
        sampled = math_ops.cast(sampled, dtypes.int64)

        # One lookup for all classes: rows of the true ones come first.
        ids = array_ops.concat([true_ids, sampled], 0)
        rows = embedding_lookup(weights, ids, partition_strategy=partition_strategy)
        true_rows = array_ops.slice(rows, [0, 0], array_ops.stack([array_ops.shape(true_ids)[0], -1]))
        sampled_rows = array_ops.slice(rows, array_ops.stack([array_ops.shape(true_ids)[0], 0]), [-1, -1])
        sampled_logits = math_ops.matmul(inputs, sampled_rows, transpose_b=True)
        offsets = embedding_lookup(biases, ids, partition_strategy=partition_strategy)
        true_offsets = array_ops.slice(offsets, [0], array_ops.shape(true_ids))
        sampled_offsets = array_ops.slice(offsets, array_ops.shape(true_ids), [-1])

        width = array_ops.shape(true_rows)[1:2]
        grouped = array_ops.concat([[-1, num_true], width], 0)
        products = math_ops.multiply(array_ops.expand_dims(inputs, 1), array_ops.reshape(true_rows, grouped))
        products = array_ops.reshape(products, array_ops.concat([[-1], width], 0))
        true_logits = array_ops.reshape(_sum_rows(products), [-1, num_true])
        true_logits += array_ops.reshape(true_offsets, [-1, num_true])
        sampled_logits += sampled_offsets

        if remove_accidental_hits:
            sampled_logits += _lowest_at_hits(labels, sampled, num_true, num_sampled, sampled_logits.dtype)
        if subtract_log_q:
            true_logits -= math_ops.log(true_expected)
            sampled_logits -= math_ops.log(sampled_expected)
        logits = array_ops.concat([true_logits, sampled_logits], 1)
        targets = array_ops.concat([array_ops.ones_like(true_logits) / num_true,
                                    array_ops.zeros_like(sampled_logits)], 1)
        return logits, targets


def _lowest_at_hits(labels: Tensor, sampled: Tensor, num_true: int, num_sampled: int, dtype: Any) -> Tensor:
    """[batch, num_sampled]: the lowest float where a sampled class is a true one of the example, elsewhere 0."""
    rows, places, lowest = compute_accidental_hits(labels, sampled, num_true=num_true)
    row = array_ops.reshape(rows, [-1, 1])
    place = array_ops.reshape(math_ops.cast(places, dtypes.int32), [-1, 1])
    indices = array_ops.concat([row, place], 1, name="sparse_indices")
    shape = array_ops.concat([array_ops.shape(labels)[:1], array_ops.expand_dims(num_sampled, 0)], 0)
    if lowest.dtype != dtype:
        lowest = math_ops.cast(lowest, dtype)
    return sparse_to_dense(indices, shape, lowest, default_value=0.0, validate_indices=False)


def nce_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
             num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = False,
             partition_strategy: str = "mod", name: str = "nce_loss") -> Tensor:
    """Noise-contrastive estimation: float [batch], each true class against `num_sampled` others, all as yes or no.

    `weights` [num_classes, dim] (or a list of parts), `biases` [num_classes], `labels` int64 [batch, num_true],
    `inputs` [batch, dim]. `sampled_values`: what a candidate sampler gave, else log-uniform ones are drawn.
    """
    logits, targets = _compute_sampled_logits(
        weights=weights, biases=biases, labels=labels, inputs=inputs, num_sampled=num_sampled,
        num_classes=num_classes, num_true=num_true, sampled_values=sampled_values, subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits, partition_strategy=partition_strategy, name=name)
    return _sum_rows(sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses"))


def sampled_softmax_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
                         num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = True,
                         partition_strategy: str = "mod", name: str = "sampled_softmax_loss",
                         seed: int | None = None) -> Tensor:
    """Softmax cross entropy over the true and the sampled classes: float [batch]; arguments as for `nce_loss`."""
    logits, targets = _compute_sampled_logits(
        weights=weights, biases=biases, labels=labels, inputs=inputs, num_sampled=num_sampled,
        num_classes=num_classes, num_true=num_true, sampled_values=sampled_values, subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits, partition_strategy=partition_strategy, name=name, seed=seed)
    targets = array_ops.stop_gradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)
