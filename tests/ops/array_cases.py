"""Expressions on arrays for `record_expressions.py` and `test_expressions.py`; see `expression_outcomes.py`."""
# ruff: noqa: E501

from __future__ import annotations

import numpy as np

ROWS = [[1.5, -2.0, 3.0], [4.0, 5.5, -6.0]]

INPUTS = {
    # name: (type, static shape, value)
    "a": ("float32", [2, 3], ROWS),
    "rows": ("float32", [None, 3], ROWS),
    "any": ("float32", None, ROWS),
    "cube": ("float32", [2, 3, 4], np.arange(24).reshape(2, 3, 4) / 4 - 2),
    "some": ("float32", [None, 3, None], np.arange(24).reshape(2, 3, 4) / 4 - 2),
    "image": ("float32", [1, 4, 6, 2], np.arange(48).reshape(1, 4, 6, 2) % 11),
    "vector": ("float32", [4], [0.5, -1.0, 2.0, 8.0]),
    "scalar": ("float32", [], 2.5),
    "i": ("int32", [3], [2, 0, 1]),
    "j": ("int32", [None], [2, 0, 1]),
    "pairs": ("int32", [2, 2], [[0, 2], [1, 0]]),
    "n": ("int32", [], 2),
    "big": ("int64", [4], [3, 3, -7, 2 ** 40]),
    "mask": ("bool", [2, 3], [[True, False, True], [False, True, False]]),
    "keep": ("bool", [None], [True, False]),
    "words": ("string", [3], [b"one", b"", b"three four"]),
}

SHAPES = """
tf.shape(a) | tf.shape(rows) | tf.shape(any) | tf.shape(rows, out_type=tf.int64) | tf.size(a) | tf.size(rows)
tf.rank(rows) | tf.rank(any) | tf.shape(a, name='s')[1] | tf.shape_n([a, any]) | tf.shape(scalar)
tf.reshape(a, [3, -1]) | tf.reshape(rows, [-1]) | tf.reshape(rows, [3, -1]) | tf.reshape(any, [6]) | tf.reshape(a, [])
tf.reshape(a, [4, -1]) | tf.reshape(a, [-1, -1]) | tf.reshape(a, [7]) | tf.reshape(any, [7]) | tf.reshape(a, [[6]])
tf.reshape(any, tf.stack([n, 3])) | tf.reshape(any, [n, -1]) | tf.reshape(any, [-1, 4]) | tf.reshape(a, j)
tf.reshape(a, [-1, 0]) | tf.reshape(a[:0], [0, 3]) | tf.reshape(a[:0], [-1, 3]) | tf.reshape(rows, tf.shape(a))
tf.reshape(some, tf.concat([tf.shape(some)[:1], [-1]], 0)) | tf.reshape(some, [tf.shape(some)[0], 12])
tf.expand_dims(a, 0) | tf.expand_dims(a, -1) | tf.expand_dims(any, 1) | tf.expand_dims(a, 3) | tf.expand_dims(a, -4)
tf.expand_dims(a, dim=1) | tf.expand_dims(a) | tf.expand_dims(any, 5) | tf.expand_dims(rows, n)
tf.squeeze(a[:1]) | tf.squeeze(a, 0) | tf.squeeze(any, [0]) | tf.squeeze(a[:, :1], -1) | tf.squeeze(rows[:1], [0, 1])
tf.squeeze(tf.expand_dims(some, 0)) | tf.squeeze(a, [2]) | tf.squeeze(a[:1], squeeze_dims=[0])
tf.transpose(a) | tf.transpose(any) | tf.transpose(cube, [2, 0, 1]) | tf.transpose(some, [0, 2, 1])
tf.transpose(cube, [0, 1]) | tf.transpose(cube, [0, 1, 1]) | tf.transpose(cube, [0, 1, 3]) | tf.transpose(cube, i)
tf.transpose(a, conjugate=True) | tf.matrix_transpose(cube) | tf.linalg.transpose(any) | tf.transpose(vector)
tf.invert_permutation(i) | tf.invert_permutation([0, 0, 1]) | tf.invert_permutation([0, 3, 1])
tf.identity(a, name='same') | tf.stop_gradient(rows) | tf.ensure_shape(rows, [2, None])
tf.identity_n([a, i]) | tf.guarantee_const(a) | tf.bitcast(a, tf.int32) | tf.bitcast(a, tf.uint8)
tf.bitcast(tf.bitcast(a, tf.uint8), tf.float32) | tf.bitcast(a, tf.complex64) | tf.bitcast(big, tf.int32)
tf.placeholder_with_default([1, 2], [None]) + 1
tf.broadcast_dynamic_shape(tf.shape(a), [4, 1, 1]) | tf.broadcast_to(vector, [2, 4]) | tf.broadcast_to(a, [3, 3])
tf.broadcast_to(scalar, [2, 2]) | tf.broadcast_to(rows, [4, n, 3])
"""

PARTIAL_SHAPES = """
tf.reshape(any, tf.stack([n, 3])) | tf.reshape(any, tf.stack([3, tf.shape(rows)[0]])) | tf.reshape(any, tf.stack([tf.shape(rows)[1], 2]))
tf.reshape(any, tf.cast(tf.shape(rows), tf.int64)) | tf.reshape(any, tf.shape(rows, out_type=tf.int64)[1:] * 2) | tf.reshape(any, tf.shape_n([rows, any])[0])
tf.reshape(any, tf.concat([tf.shape(rows)[1:], [-1]], 0)) | tf.reshape(any, tf.concat([[-1], tf.shape(rows)[:-1]], 0))
tf.reshape(any, tf.concat([tf.concat([[6], tf.shape(rows)], 0)[1:], [1]], 0)) | tf.reshape(any, tf.concat([j[:2], [-1]], 0))
tf.zeros([tf.shape(rows)[0], 4]) | tf.fill(tf.stack([tf.shape(rows)[1], 4]), 1.0) | tf.reshape(any, tf.stack([tf.size(rows[0]), -1]))
tf.reshape(any, [-1, tf.reduce_prod(tf.shape(a)[1:])]) | tf.reshape(any, tf.gather(tf.shape(rows), [0, 1])) | tf.reshape(any, tf.shape(rows) + 0)
tf.tile(rows, tf.stack([n, 2])) | tf.slice(rows, [0, 0], tf.stack([n, 2])) | tf.slice(rows, [0, 0], tf.shape(rows)) | tf.broadcast_to(any, tf.stack([n, 3]))
tf.scatter_nd([[1]], [1.0], tf.stack([tf.shape(rows)[0]])) | tf.reshape(a, [-2, -3]) | tf.fill([-2], 1) | tf.reshape(any, tf.shape(any))
"""

FILLING = """
tf.fill([2, 3], 7) | tf.fill([n, 3], scalar) | tf.fill(j, 1.0) | tf.fill([-1], 0) | tf.fill([[1]], 0) | tf.fill([2], a)
tf.zeros([2, 3]) | tf.zeros([n, 3], tf.int64) | tf.zeros([]) | tf.zeros(2) | tf.zeros([2], tf.bool)
tf.zeros([2], tf.string) | tf.zeros(tf.shape(rows)) | tf.zeros([400, 3], tf.uint8)[:1] | tf.ones(tf.shape(a))
tf.ones([2, 2], tf.complex64) | tf.ones([n]) | tf.ones(3, tf.bool) | tf.zeros_like(a) | tf.zeros_like(rows)
tf.zeros_like(any, tf.int32) | tf.ones_like(a, tf.float64) | tf.ones_like(rows) | tf.ones_like(mask)
tf.zeros_like(words) | tf.zeros_like(a, optimize=False) | tf.zeros_like([1, 2]) | tf.ones_like(cube, optimize=False)
tf.one_hot(i, 3) | tf.one_hot(j, 2, axis=0) | tf.one_hot(i, n, on_value=5, off_value=-1) | tf.one_hot([[0, 2], [1, -1]], 3)
tf.one_hot(i, 3, 1.0, 0, dtype=tf.float64) | tf.one_hot(i, 3, 'yes', 'no') | tf.one_hot(i, 3, axis=2)
tf.one_hot(i, [3]) | tf.one_hot(1, 3) | tf.one_hot(i, 3, on_value=1, off_value=0.5) | tf.one_hot(a, 3)
"""

JOINING = """
tf.concat([a, a], 0) | tf.concat([a, rows], 1) | tf.concat([any, a], -1) | tf.concat([a, cube], 0)
tf.concat([a, a], 2) | tf.concat([a, a[:, :2]], 0) | tf.concat([a], 0) | tf.concat(a, 0) | tf.concat([scalar], 0)
tf.concat([vector, [1.0]], axis=0, name='all') | tf.concat([any, a], n - 1) | tf.concat([i, j], 0)
tf.concat([a, i], 0) | tf.concat([any, a[:, :2]], 0) | tf.concat([], 0) | tf.concat([words, [b'x']], 0)
tf.stack([a, a]) | tf.stack([a, rows], axis=1) | tf.stack([1, 2, n]) | tf.stack([n, n + 1], name='both')
tf.stack([a, a], -1) | tf.stack([a, a], 3) | tf.stack([a, cube]) | tf.stack([a, any[:1]]) | tf.stack([[n, 1], [2, 3]])
tf.stack([1.0, n]) | tf.stack([scalar, 2]) | tf.stack([]) | tf.parallel_stack([a, a]) | tf.stack([1, 2], axis=-1)
tf.convert_to_tensor([n, 4]) | tf.convert_to_tensor([[n, 4], [n, n]]) | tf.convert_to_tensor([scalar, 1])
tf.convert_to_tensor([n, 1.5]) | tf.convert_to_tensor([[n], [1, 2]]) | tf.convert_to_tensor([a, [[1.0] * 3] * 2])
tf.split(a, 3, axis=1) | tf.split(a, 2) | tf.split(cube, [1, 2], 1) | tf.split(cube, [1, -1, 1], -1)
tf.split(rows, 3, 1, name='parts') | tf.split(a, 4, 1) | tf.split(a, [1, 1], 1) | tf.split(any, 2, 0) | tf.split(a, 2, 2)
tf.split(a, [1, 4], 1) | tf.split(any, [1, 2], 1) | tf.split(any, 3, 1) | tf.split(a, n) | tf.split(a, [1, 1], num=2)
tf.split(a, j, 1, num=3) | tf.split(rows, [1, 1], 0) | tf.unstack(a) | tf.unstack(cube, axis=1) | tf.unstack(rows)
tf.unstack(rows, num=2) | tf.unstack(any, axis=-1) | tf.unstack(a, axis=2) | tf.unstack(a, num=3) | tf.unstack(any, num=2)
tf.unstack(vector, axis=-1)[3] | tf.unstack(any, num=3)
tf.tile(a, [2, 1]) | tf.tile(rows, [1, 2]) | tf.tile(a, [2]) | tf.tile(vector, [n]) | tf.tile(a, [0, 1])
tf.tile(a, [-1, 1]) | tf.tile(any, [1, n]) | tf.tile(any, [1]) | tf.tile(scalar, []) | tf.tile(mask, [1, 2])
tf.meshgrid([1, 2], [3, 4, 5]) | tf.meshgrid(i, [3, 4], indexing='ij') | tf.meshgrid(i, j, indexing='no')
tf.repeat(vector, 2) | tf.repeat(a, [1, 2], axis=0) | tf.repeat(a, 2, axis=-1) | tf.repeat(i, j) | tf.repeat(a, [1, 2, 3], axis=0)
"""

SLICING = """
a[0] | a[1, 2] | a[:, 1] | a[-1, -1] | a[:, ::-1] | a[::-1, 1:] | a[..., 0] | a[tf.newaxis] | a[:, tf.newaxis, 1:]
a[None, ..., None] | a[2] | a[-3] | a[0, 0, 0] | a[..., 0, ...] | a[0:0] | a[5:] | a[-5:1] | a[:, 2:0:-1] | a[::0]
any[0] | any[1:, 1] | any[..., 1] | rows[0] | rows[:1] | rows[:, 1:] | rows[n - 1] | rows[:n, 0] | rows[n:] | any[3]
cube[1, :, 1:3] | cube[:, 0, ::2] | some[:, 1] | some[..., 1:-1] | cube[n - 1, ..., n] | cube[:, None, :, ::3]
a['x'] | a[1.5] | a[[0]] | a[True] | a[scalar] | a[mask] | a[:, :, :] | scalar[...] | scalar[0] | words[1] | big[::2]
a[tf.constant(1)] | a[n:n + 1, -n] | vector[3:0:-n] | vector[big[1]:] | a[0:n, 0:big[0]] | a[np.int64(1)] | a[1:3][0]
tf.shape(rows)[0] | tf.shape(rows)[1:] | tf.shape(some)[::2] | vector[:-1] - vector[1:]
tf.slice(a, [0, 1], [2, -1]) | tf.slice(a, [1, 0], [1, 2]) | tf.slice(rows, [0, n - 1], [-1, 1]) | tf.slice(a, [0], [1])
tf.slice(a, [0, 2], [1, 2]) | tf.slice(a, [0, 4], [1, 1]) | tf.slice(any, [0, 4], [1, 1]) | tf.slice(a, [-1, 0], [1, 1])
tf.slice(any, [1, 1], [n - 1, 2]) | tf.slice(a, [0, 0], [-2, 1]) | tf.slice(vector, [n], [1]) | tf.slice(any, [0], [1])
tf.strided_slice(a, [0], [1]) | tf.strided_slice(a, [0, 2], [2, -4], [1, -1]) | tf.strided_slice(a, [1], [0], end_mask=1)
tf.strided_slice(a, [0, 1], [2, 2], shrink_axis_mask=2) | tf.strided_slice(a, [0], [1, 1])
tf.strided_slice(cube, [0, 1], [2, 3], ellipsis_mask=1) | tf.strided_slice(a, [0], [1], new_axis_mask=1)
"""

GATHERING = """
tf.gather(a, [1, 0, 1]) | tf.gather(a, i, axis=1) | tf.gather(rows, 1) | tf.gather(any, [[0, 1]]) | tf.gather(a, [2])
tf.gather(a, i) | tf.gather(a, i, axis=2) | tf.gather(a, i, axis=-1) | tf.gather(cube, pairs, axis=1) | tf.gather(a, a)
tf.gather(cube, [[0], [2]], batch_dims=1, axis=1) | tf.gather(cube, pairs, axis=-1, batch_dims=1) | tf.gather(any, j, axis=n - 1)
tf.gather(vector, big[:2]) | tf.gather(scalar, 0) | tf.gather(a, -1) | tf.gather(words, [2, 0]) | tf.gather(a, [[[0]]], axis=1)
tf.batch_gather(cube, pairs) | tf.gather_nd(a, pairs) | tf.gather_nd(a, [[1], [0]]) | tf.gather_nd(a, [0, 2])
tf.gather_nd(any, [[1, 3]]) | tf.gather_nd(a, [[0, 0, 0]]) | tf.gather_nd(cube, [[[0, 1]], [[1, 2]]]) | tf.gather_nd(a, [[]])
tf.gather_nd(cube, [[[1]], [[0]]], batch_dims=1) | tf.gather_nd(rows, pairs) | tf.gather_nd(a, [[0, -1]])
tf.scatter_nd([[0], [2], [0]], [1.0, 2.0, 3.0], [4]) | tf.scatter_nd(pairs, [1, 2], [2, 3]) | tf.scatter_nd([[1]], a[:1], [3, 3])
tf.scatter_nd([[5]], [1.0], [4]) | tf.scatter_nd([[0]], [[1.0]], [4]) | tf.scatter_nd(pairs, [1, 2], [n, 3])
tf.scatter_nd([[0], [1]], [1.0], [4]) | tf.scatter_nd([[0]], [1.0], j) | tf.scatter_nd([[0, 0]], [1.0], [4])
tf.tensor_scatter_update(a, [[0]], [[7.0, 8.0, 9.0]]) | tf.tensor_scatter_add(a, pairs, [10.0, 20.0])
tf.tensor_scatter_sub(vector, [[0], [0]], [1.0, 1.0]) | tf.tensor_scatter_nd_update(rows, [[1, 1]], [0.0])
tf.tensor_scatter_nd_add(a, [[2, 0]], [1.0]) | tf.tensor_scatter_update(i, [[1]], [9]) | tf.tensor_scatter_nd_sub(a, [[0]], [[1.0]])
tf.where(mask) | tf.where([0.0, 2.0, 0.0]) | tf.where(mask, a, -a) | tf.where(keep, a, -a) | tf.where(mask, a, 0.0)
tf.where(mask, a) | tf.where(tf.equal(any, any), any, a) | tf.where(tf.constant(True), a, -a) | tf.where(keep, rows, rows)
tf.where([True, False, True], a, a) | tf.where(scalar > 1, any, any) | tf.where(mask, i, i) | tf.where(a > 0)
tf.boolean_mask(a, mask) | tf.boolean_mask(a, [True, False]) | tf.boolean_mask(rows, keep) | tf.boolean_mask(a, [False, True, True], axis=1)
tf.boolean_mask(a, [True]) | tf.boolean_mask(a, True) | tf.boolean_mask(any, mask) | tf.boolean_mask(cube, mask)
tf.boolean_mask(cube, [True, False, True], axis=-2) | tf.boolean_mask(i, tf.placeholder(tf.bool))
tf.sequence_mask([1, 3, 2]) | tf.sequence_mask(i, 4) | tf.sequence_mask(j, n, dtype=tf.float32) | tf.sequence_mask(n)
tf.sequence_mask([[1], [2]], 3, tf.int32) | tf.sequence_mask(i, maxlen=[2]) | tf.sequence_mask([])
tf.dynamic_partition(vector, [0, 1, 0, 2], 3) | tf.dynamic_partition(a, [1, 0], 2) | tf.dynamic_partition(a, pairs, 2)
tf.dynamic_partition(vector, [0, 1, 0, 5], 3) | tf.dynamic_partition(a, mask, 2) | tf.dynamic_partition(any, keep, 2)
tf.dynamic_stitch([[0, 2], [1]], [[1.0, 3.0], [2.0]]) | tf.dynamic_stitch([i, [3]], [a[0], [9.0]]) | tf.dynamic_stitch([0, [2, 1]], [a[0], a])
tf.dynamic_stitch([[0], [1]], [a]) | tf.dynamic_stitch([[0, -1]], [[1, 2]]) | tf.parallel_stack([n, n])
tf.unique([4, 4, 1, 2, 1]) | tf.unique(vector) | tf.unique(words) | tf.unique_with_counts(big) | tf.unique(a)
tf.unique_with_counts(i, out_idx=tf.int64) | tf.setdiff1d([1, 2, 3, 4], [2, 4]) | tf.setdiff1d(i, j) | tf.setdiff1d(a, a)
tf.searchsorted([1.0, 3.0, 5.0], [3.0, 0.0]) | tf.searchsorted([[1, 2]], [[2]], side='right') | tf.unravel_index(i, [2, 3])
tf.unravel_index([7], [2, 3]) | tf.searchsorted([1.0], [0.0], side='up')
"""

REARRANGING = """
tf.pad(a, [[1, 0], [0, 2]]) | tf.pad(a, [[1, 1], [1, 1]], 'REFLECT') | tf.pad(a, [[1, 1], [2, 1]], mode='symmetric')
tf.pad(a, [[0, 1], [1, 0]], constant_values=9) | tf.pad(a, [[2, 2], [0, 0]], 'REFLECT') | tf.pad(a, [[1, 1]]) | tf.pad(a, [[1], [1]])
tf.pad(rows, [[n, 0], [1, 1]]) | tf.pad(any, [[1, 1], [0, 0]]) | tf.pad(a, [[1, 1], [1, 1]], 'EDGE') | tf.pad(a, [[-1, 0], [0, 0]])
tf.pad(any, [[1, 1]]) | tf.pad(i, [[1, 1]], constant_values=n) | tf.pad(a, pairs) | tf.pad(words, [[1, 1]])
tf.reverse(a, [0]) | tf.reverse(a, [-1, 0]) | tf.reverse(cube, axis=[n]) | tf.reverse(a, [2]) | tf.reverse(a, [0, 0]) | tf.reverse(a, [])
tf.reverse(any, [1]) | tf.reverse(any, [4]) | tf.reverse(words, [0]) | tf.reverse_sequence(a, [2, 3], seq_axis=1, batch_axis=0)
tf.reverse_sequence(cube, [1, 3], seq_dim=1, batch_dim=0) | tf.reverse_sequence(a, [1, 2, 3], seq_axis=1) | tf.reverse_sequence(a, [2, 4], 1)
tf.reverse_sequence(a, [2, 2], seq_axis=0, batch_axis=0) | tf.roll(vector, 1, 0) | tf.roll(a, [1, -1], [0, 1]) | tf.roll(a, 1, [0, 1])
tf.roll(a, n, 1) | tf.roll(a, 1, 2) | tf.roll(scalar, 1, 0) | tf.roll(cube, [1, 1], [-1, -1])
tf.space_to_depth(image, 2) | tf.depth_to_space(image, 1) | tf.space_to_depth(image, 3)
tf.depth_to_space(tf.reshape(image, [1, 2, 3, 8]), 2) | tf.depth_to_space(image, 2) | tf.space_to_batch(image, [[0, 0], [0, 0]], 2)
tf.space_to_batch_nd(image, [2, 3], [[0, 0], [0, 0]]) | tf.space_to_batch_nd(image, [3], [[1, 1]]) | tf.space_to_batch_nd(image, [3], [[0, 0]])
tf.batch_to_space(tf.tile(image, [4, 1, 1, 1]), [[1, 0], [0, 1]], 2) | tf.batch_to_space(image, [[0, 0], [0, 0]], 2)
tf.batch_to_space_nd(tf.tile(image, [6, 1, 1, 1]), [2, 3], [[0, 1], [2, 0]]) | tf.batch_to_space_nd(image, [2], [[0, 0]])
tf.required_space_to_batch_paddings([5, 7], [2, 3]) | tf.required_space_to_batch_paddings(j, [2, 3, 2])
tf.required_space_to_batch_paddings([5, 7], [2, 3], base_paddings=[[1, 0], [0, 2]])
tf.edit_distance(tf.SparseTensor([[0, 0]], ['a'], [1, 1]), tf.SparseTensor([[0, 0], [0, 1]], ['a', 'b'], [1, 2]))
"""

CHECKING = """
tf.assert_equal(a, a) | tf.assert_equal(1, 2) | tf.assert_equal(i, [2, 0, 1]) | tf.assert_less(n, 3, message='few')
tf.assert_equal(n, 3) | tf.assert_rank(a, 2) | tf.assert_rank(a, 3) | tf.assert_rank(any, 2) | tf.assert_rank(any, 3)
tf.assert_rank_at_least(a, 1) | tf.assert_rank_in(a, [0, 1]) | tf.assert_rank_in(any, (2, n)) | tf.assert_positive(a)
tf.assert_non_negative(1) | tf.assert_negative(-1) | tf.assert_none_equal([1], [1]) | tf.assert_greater(a, rows) | tf.assert_near(a, a)
tf.assert_near(1.0, 1.1) | tf.assert_near(a, any + 1) | tf.assert_type(a, tf.int32) | tf.assert_integer(i) | tf.assert_integer(a)
tf.assert_scalar(n) | tf.assert_scalar(a) | tf.assert_same_float_dtype([a, scalar]) | tf.assert_same_float_dtype([a], tf.float64)
tf.is_non_decreasing(vector) | tf.is_strictly_increasing(i) | tf.is_numeric_tensor(words) | tf.check_numerics(a, 'bad')
tf.check_numerics(a / 0, 'bad') | tf.verify_tensor_all_finite(vector, 'no') | tf.verify_tensor_all_finite(vector - np.inf, 'no')
tf.is_strictly_increasing([1, 1]) | tf.is_non_decreasing([]) | tf.debugging.assert_all_finite(a, 'x')
tf.ensure_shape(a, [2, 2]) | tf.assert_less_equal(a, 3.0, data=[a], summarize=2)
"""

LOOKUPS = """
tf.nn.embedding_lookup(a, [1, 0, 1]) | tf.nn.embedding_lookup([a, a], [0, 3, 2]) | tf.nn.embedding_lookup([a, a], i, 'div')
tf.nn.embedding_lookup([a, rows, a], [5, 4, 3, 0], partition_strategy='div') | tf.nn.embedding_lookup(a, [0], max_norm=1.0)
tf.nn.embedding_lookup([a, a], i, 'other') | tf.nn.embedding_lookup(a, [7]) | tf.nn.embedding_lookup([], [1])
tf.nn.embedding_lookup_sparse(a, tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [0, 1, 0], [2, 2]), None, combiner='sum')
tf.nn.embedding_lookup_sparse(a, tf.SparseTensor([[0, 0], [1, 0]], [0, 1], [2, 2]), tf.SparseTensor([[0, 0], [1, 0]], [2.0, 0.5], [2, 2]), combiner='mean')
tf.nn.safe_embedding_lookup_sparse([a], tf.SparseTensor([[0, 0], [2, 0]], tf.constant([0, 1], tf.int64), [3, 2]))
tf.sparse.to_dense(tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 2])) | tf.sparse.to_dense(tf.SparseTensor([[1, 1], [0, 1]], [1, 2], [2, 2]))
tf.sparse.add(tf.SparseTensor([[0]], [1.0], [2]), tf.SparseTensor([[1]], [2.0], [2])) | tf.sparse.reduce_sum(tf.SparseTensor([[0, 1]], [3.0], [2, 2]), 1)
tf.sparse.reshape(tf.SparseTensor([[0, 1]], [3.0], [2, 2]), [4, -1]) | tf.sparse.reshape(tf.SparseTensor([[0, 1]], [3.0], [2, 2]), [3, -1])
tf.sparse.concat(1, [tf.SparseTensor([[0, 1]], [3.0], [2, 2]), tf.SparseTensor([[1, 0]], [4.0], [2, 3])])
tf.sparse.transpose(tf.SparseTensor([[0, 1]], [3.0], [2, 3])) | tf.sparse.slice(tf.SparseTensor([[0, 1], [1, 2]], [3.0, 4.0], [2, 3]), [0, 1], [2, 2])
tf.sparse.split(sp_input=tf.SparseTensor([[0, 1], [1, 2]], [3.0, 4.0], [2, 3]), num_split=2, axis=1)
tf.sparse.matmul(tf.SparseTensor([[0, 1], [1, 0]], [3.0, 4.0], [2, 2]), a) | tf.sparse.matmul(tf.SparseTensor([[0, 1]], [3.0], [2, 3]), a)
tf.sparse.softmax(tf.SparseTensor([[0, 0], [0, 1]], [1.0, 2.0], [1, 3])) | tf.sparse.mask(tf.IndexedSlices(a, tf.constant([3, 5])), [5])
tf.sparse.retain(tf.SparseTensor([[0, 0], [0, 1]], [1.0, 2.0], [1, 3]), [True, False]) | tf.sparse.eye(2, 3) | tf.sparse.from_dense(a)
tf.sparse.fill_empty_rows(tf.SparseTensor([[0, 0]], [1], [2, 2]), 7) | tf.sparse.reset_shape(tf.SparseTensor([[0, 0]], [1], [2, 2]))
tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 2]), 3) | tf.sparse.reorder(tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2]))
tf.sparse.maximum(tf.SparseTensor([[0]], [-1.0], [2]), tf.SparseTensor([[1]], [2.0], [2])) | tf.sparse_placeholder(tf.float32, [2, 3]).dense_shape
tf.sets.intersection([[1, 2]], [[2, 3]]) | tf.sets.union([[1, 2]], [[2, 3]]) | tf.sets.difference([[1, 2]], [[2, 3]]) | tf.sets.size(tf.sparse.from_dense([[1, 2]]))
tf.sets.intersection([1], [2]) | tf.sets.difference([[1, 2]], [[2, 3]], aminusb=False)
"""

STRINGS = """
tf.strings.join([words, 'x'], '-') | tf.strings.length(words) | tf.strings.length([u'\\u00e9'], unit='UTF8_CHAR') | tf.strings.upper(words)
tf.strings.lower(['ABC', 'D']) | tf.strings.strip([' a ', 'b\\n']) | tf.strings.substr(words, 0, 1) | tf.strings.substr(['hello', 'world'], [1, 2], [2, 3])
tf.strings.substr(['hello'], -3, 2) | tf.strings.regex_replace(words, 'e+', 'E') | tf.strings.regex_full_match(words, 'o.*')
tf.strings.regex_replace(words, '(', 'E') | tf.strings.to_number(['1.5', '-2e3']) | tf.strings.to_number(['x']) | tf.string_to_number(['7'], tf.int64)
tf.strings.as_string([1, 20]) | tf.strings.as_string([1.5, 2.25], precision=2) | tf.strings.as_string([7], width=4, fill='0') | tf.as_string(mask)
tf.strings.split(['a b', 'c']).values | tf.string_split(['a,b,,c', ''], ',') | tf.string_split(['a,b,,c'], ',', skip_empty=False) | tf.string_split(words)
tf.strings.to_hash_bucket_fast(words, 100) | tf.strings.to_hash_bucket_strong(words, 100, [1, 2]) | tf.strings.to_hash_bucket(words, 100)
tf.strings.format('{} and {}', (i, n)) | tf.strings.format('x {}', a) | tf.reduce_join([['a', 'b'], ['c', 'd']], 0) | tf.reduce_join(words, 0, separator='+')
tf.reduce_join([['a', 'b']], [1, 0], keep_dims=True) | tf.encode_base64(words) | tf.decode_base64(['b25l', 'x'])
tf.strings.to_hash_bucket_fast(['ab' * k + 'c' * (k % 3) for k in range(0, 130, 3)], 10 ** 15) | tf.strings.to_hash_bucket_strong(['ab' * k for k in range(0, 40, 3)], 10 ** 15, [7, 9]) | tf.strings.to_hash_bucket(['ab' * k + 'c' for k in range(0, 40, 3)], 10 ** 15)
words + '!' | tf.equal(words, 'one') | tf.not_equal(words, words[::-1]) | tf.strings.substr(words, 4, 1)
"""

GRADIENTS = """
tf.reshape(rows, [-1]) | tf.expand_dims(any, 0) | tf.squeeze(tf.expand_dims(rows, 0)) | tf.transpose(cube, [2, 0, 1]) | tf.transpose(any)
tf.concat([rows, a], 0) | tf.concat([rows, a], n - 1) | tf.stack([rows, a], 1) | tf.split(rows, 3, 1)[1] | tf.split(cube, [1, 2], 1)[0]
tf.unstack(cube, axis=1)[2] | rows[0] | a[:, ::-2] | cube[..., None, 1] | tf.slice(rows, [0, 1], [-1, 2]) | tf.gather(rows, [1, 1])
tf.gather(cube, i, axis=1) | tf.gather(any, 0) | tf.gather(cube, pairs, batch_dims=1, axis=1) | tf.gather_nd(a, pairs) | tf.scatter_nd([[1], [0]], rows, [4, 3])
tf.tile(rows, [2, 1]) | tf.pad(rows, [[1, 0], [0, 2]]) | tf.pad(a, [[1, 1], [1, 1]], 'SYMMETRIC') | tf.where(mask, a, a * 2) | tf.boolean_mask(a, mask)
tf.reverse(rows, [0]) | tf.reverse_sequence(a, [1, 3], 1) | tf.roll(a, 1, 0) | tf.fill([2], scalar) | tf.broadcast_to(vector, [3, 4])
tf.tensor_scatter_update(a, [[0]], [[1.0, 1.0, 1.0]]) | tf.tensor_scatter_add(a, pairs, vector[:2]) | tf.space_to_depth(image, 2)
tf.space_to_batch_nd(image, [2, 2], [[0, 0], [0, 0]]) | tf.batch_to_space_nd(tf.tile(image, [4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]])
tf.dynamic_partition(vector, [0, 1, 0, 1], 2)[1] | tf.dynamic_stitch([[0, 2], [1]], [vector[:2], vector[2:3]]) | tf.check_numerics(a, 'no')
tf.nn.embedding_lookup(a, [1, 0, 1]) | tf.nn.embedding_lookup([a, rows], [0, 3, 2]) | tf.repeat(vector, 2) | tf.meshgrid(vector, vector)[0]
tf.identity(a) | tf.stop_gradient(a) * a | tf.ensure_shape(rows, [2, 3]) | tf.one_hot(i, 3, on_value=scalar, off_value=0.0) | tf.convert_to_tensor([scalar, 1])
tf.sparse.matmul(tf.SparseTensor([[0, 1], [1, 0]], vector[:2], [2, 2]), a) | tf.sparse.to_dense(tf.SparseTensor([[0], [2]], vector[:2], [3]))
tf.sparse.reduce_sum(tf.SparseTensor([[0, 1], [1, 0]], vector[:2], [2, 2]), 1) | tf.sparse.add(tf.SparseTensor([[0]], vector[:1], [4]), vector)
tf.unique(vector)[0] | tf.bitcast(a, tf.float32) | tf.linalg.transpose(cube) | tf.identity_n([a, rows])[1] | tf.placeholder_with_default(a, [None, 3])
"""

GROUPS = [("shapes", SHAPES), ("partial shapes", PARTIAL_SHAPES), ("filling", FILLING), ("joining", JOINING),
          ("slicing", SLICING), ("gathering", GATHERING), ("rearranging", REARRANGING), ("checking", CHECKING),
          ("lookups", LOOKUPS), ("strings", STRINGS), ("gradients", GRADIENTS)]
