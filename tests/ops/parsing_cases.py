"""Expressions on files and serialized examples for `record_expressions.py`; see `expression_outcomes.py`."""
# ruff: noqa: E501

from __future__ import annotations

FIRST = b'\nK\n\x0f\n\x04tags\x12\x07\x1a\x05\n\x03\x07\x08\t\n\x11\n\x04name\x12\t\n\x07\n\x05first\n\r\n\x04size\x12\x05\x1a\x03\n\x01\x03\n\x16\n\x06values\x12\x0c\x12\n\n\x08\x00\x00\x00?\x00\x00\xc0?'
SECOND = b'\nG\n\r\n\x04size\x12\x05\x1a\x03\n\x01\x04\n\x12\n\x04name\x12\n\n\x08\n\x06second\n\n\n\x04tags\x12\x02\x1a\x00\n\x16\n\x06values\x12\x0c\x12\n\n\x08\x00\x00 @\x00\x00\xc0\xbf'
THIRD = b'\n\x84\x01\n\r\n\x04size\x12\x05\x1a\x03\n\x01\x05\n\t\n\x05empty\x12\x00\n\r\n\x04tags\x12\x05\x1a\x03\n\x01\x01\n\x11\n\x04name\x12\t\n\x07\n\x05third\n\x17\n\x07weights\x12\x0c\x12\n\n\x08\x00\x00\x00?\x00\x00\x80>\n\x1c\n\x04grid\x12\x14\x12\x12\n\x10\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\n\x0f\n\x05index\x12\x06\x1a\x04\n\x02\x01\x04'
SEQUENCE = b"\n \n\r\n\x04size\x12\x05\x1a\x03\n\x01\x03\n\x0f\n\x04name\x12\x07\n\x05\n\x03seq\x12g\n\x1c\n\x05loose\x12\x13\n\x06\x1a\x04\n\x02\x01\x02\n\x02\x1a\x00\n\x05\x1a\x03\n\x01\x03\n'\n\x07vectors\x12\x1c\n\x0c\x12\n\n\x08\x00\x00\x80?\x00\x00\x00@\n\x0c\x12\n\n\x08\x00\x00@@\x00\x00\x80@\n\x1e\n\x05words\x12\x15\n\x05\x1a\x03\n\x01\x01\n\x05\x1a\x03\n\x01\x02\n\x05\x1a\x03\n\x01\x03"

INPUTS = {
    "one": ("string", [], FIRST),
    "any": ("string", None, FIRST),
    "third": ("string", [], THIRD),
    "two": ("string", [2], [FIRST, SECOND]),
    "some": ("string", [None], [FIRST, THIRD]),
    "sequence": ("string", [], SEQUENCE),
    "junk": ("string", [], b"\n\x05ab"),
    "lines": ("string", [None], [b"1,2.5,x", b"3,,y z"]),
    "quoted": ("string", [2], [b'1,"a ""b"", c"', b'2,d']),
    "raw": ("string", [2], [b"\x01\x00\x02\x00", b"\xff\xff\x00\x01"]),
    "floats": ("float32", [2, 3], [[1, 2, 3], [4, 5, 6]]),
}

DECODING = """
tf.decode_raw(raw, tf.int16) | tf.decode_raw(raw, tf.uint8) | tf.decode_raw(raw, tf.int16, little_endian=False) | tf.decode_raw(raw, tf.float32) | tf.decode_raw(raw, tf.int64) | tf.decode_raw(bytes=raw, out_type=tf.bool)
tf.decode_raw(raw[0], tf.int16) | tf.decode_raw(['abc', 'de'], tf.uint8) | tf.decode_raw(['abc'], tf.int16) | tf.decode_raw(raw, tf.string) | tf.decode_raw('', tf.int16) | tf.io.decode_raw(any, tf.uint8)[:3]
tf.decode_csv(lines, [[0], [1.0], ['']]) | tf.decode_csv(lines, [[0], [], ['']]) | tf.decode_csv(lines, [[0], [1.0]]) | tf.decode_csv(lines, [[0], [1.0], [0]]) | tf.decode_csv(lines, [[0], [0.0], ['']], select_cols=[0, 2])
tf.decode_csv(quoted, [[0], ['']]) | tf.decode_csv(quoted, [[0], ['']], use_quote_delim=False) | tf.decode_csv(['1;2'], [[0], [0]], field_delim=';') | tf.decode_csv(['1;2'], [[0], [0]], field_delim='ab') | tf.decode_csv('5,6', [[0], [0.5]])
tf.decode_csv(['NA,1'], [[3], [0]], na_value='NA') | tf.decode_csv(lines, [tf.constant([0], tf.int64), tf.constant([], tf.float32), ['']], select_cols=[0, 1, 2], name='csv') | tf.decode_csv(lines, [[0], [1.0]], select_cols=[0, 2])
tf.decode_csv(['1.5'], [[0]]) | tf.decode_csv(['x'], [[0.5]]) | tf.decode_csv(['1,"2'], [[0], ['']]) | tf.decode_csv(['1,a"b'], [[0], ['']]) | tf.decode_csv(['1,"a"b'], [[0], ['']]) | tf.decode_csv(['99999999999'], [[0]]) | tf.decode_csv([''], [[0]]) | tf.decode_csv([' 7 '], [[0]])
tf.decode_compressed(['ab']) | tf.decode_compressed([b'x'], 'GZIP') | tf.decode_compressed(['x'], 'LZ4') | tf.parse_tensor(tf.io.serialize_tensor(floats), tf.float32) | tf.parse_tensor('x', tf.float32) | tf.parse_tensor(tf.io.serialize_tensor(floats), tf.int32)
tf.parse_example(tf.decode_json_example(['{"features": {"feature": {"a": {"int64List": {"value": ["1"]}}}}}']), {'a': tf.FixedLenFeature([], tf.int64)})
tf.io.serialize_sparse(tf.SparseTensor([[0, 1]], [2.0], [2, 2])) | tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])), tf.float32)
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])), tf.float32, rank=1)
"""

PARSING = """
tf.parse_single_example(one, {'size': tf.FixedLenFeature([], tf.int64), 'values': tf.FixedLenFeature([2], tf.float32), 'name': tf.FixedLenFeature([], tf.string)})
tf.parse_single_example(one, {'absent': tf.FixedLenFeature([], tf.float32, default_value=7.5), 'tags': tf.VarLenFeature(tf.int64), 'none': tf.VarLenFeature(tf.float32)})
tf.parse_single_example(third, {'weights': tf.SparseFeature('index', 'weights', tf.float32, 6), 'grid': tf.FixedLenFeature([2, 2], tf.float32), 'empty': tf.FixedLenFeature([1], tf.int64, [3])})
tf.parse_single_example(one, {'size': tf.FixedLenFeature([], tf.float32)}) | tf.parse_single_example(one, {'size': tf.FixedLenFeature([2], tf.int64)}) | tf.parse_single_example(one, {'absent': tf.FixedLenFeature([], tf.int64)}) | tf.parse_single_example(one, {})
tf.parse_single_example(junk, {'size': tf.FixedLenFeature([], tf.int64)}) | tf.parse_single_example(any, {'size': tf.FixedLenFeature([], tf.int64)}, name='p') | tf.parse_single_example(two, {'size': tf.FixedLenFeature([], tf.int64)}) | tf.parse_single_example(one, None)
tf.parse_single_example(one, {'size': tf.VarLenFeature(tf.float32)}) | tf.parse_single_example(one, {'size': tf.VarLenFeature(None)}) | tf.parse_single_example(one, {'size': 3}) | tf.parse_single_example(one, {'tags': tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)})
tf.parse_single_example(one, {'size': tf.FixedLenFeature(None, tf.int64)}) | tf.parse_single_example(one, {'size': tf.FixedLenFeature([None], tf.int64)}) | tf.parse_single_example(one, {'size': tf.FixedLenFeature([], tf.int64)}, example_names='e') | tf.parse_single_example(one, {'tags': tf.FixedLenSequenceFeature([], tf.int64)})
tf.parse_example(two, {'size': tf.FixedLenFeature([], tf.int64), 'values': tf.FixedLenFeature([2], tf.float32), 'name': tf.FixedLenFeature([], tf.string)})
tf.parse_example(some, {'absent': tf.FixedLenFeature([2], tf.float32, default_value=[7.5, 1.0]), 'tags': tf.VarLenFeature(tf.int64), 'weights': tf.SparseFeature('index', 'weights', tf.float32, 6)})
tf.parse_example(two, {'tags': tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)}) | tf.parse_example(some, {'tags': tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}) | tf.parse_example(two, {'tags': tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)})
tf.parse_example(two, {'size': tf.FixedLenFeature([], tf.int64)}, name='p', example_names=['a', 'b']) | tf.parse_example(two, {'size': tf.FixedLenFeature([2], tf.int64)}) | tf.parse_example(two, {'absent': tf.FixedLenFeature([], tf.int64)}) | tf.parse_example(one, {'size': tf.FixedLenFeature([], tf.int64)})
tf.parse_example(two, {'size': tf.FixedLenFeature([], tf.string)}) | tf.parse_example([junk], {'size': tf.FixedLenFeature([], tf.int64)}) | tf.parse_example(two, {}) | tf.parse_example(some, {'weights': tf.SparseFeature(['index', 'tags'], 'weights', tf.float32, [6, 10])})
tf.parse_example(two, {'size': tf.FixedLenFeature([], tf.int64, default_value=[1, 2])}) | tf.parse_example(two, {'values': tf.VarLenFeature(tf.string)})
"""

SEQUENCES = """
tf.parse_single_sequence_example(sequence, {'size': tf.FixedLenFeature([], tf.int64), 'name': tf.VarLenFeature(tf.string)}, {'words': tf.FixedLenSequenceFeature([], tf.int64), 'vectors': tf.FixedLenSequenceFeature([2], tf.float32), 'loose': tf.VarLenFeature(tf.int64)})
tf.parse_single_sequence_example(sequence, sequence_features={'words': tf.FixedLenSequenceFeature([], tf.int64)}) | tf.parse_single_sequence_example(sequence, {'size': tf.FixedLenFeature([], tf.int64)}) | tf.parse_single_sequence_example(sequence, sequence_features={'absent': tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)})
tf.parse_single_sequence_example(sequence, sequence_features={'absent': tf.FixedLenSequenceFeature([], tf.int64)}) | tf.parse_single_sequence_example(sequence, sequence_features={'vectors': tf.FixedLenSequenceFeature([3], tf.float32)}) | tf.parse_single_sequence_example(sequence)
tf.parse_single_sequence_example(sequence, {'size': tf.FixedLenFeature([], tf.int64, 9), 'other': tf.FixedLenFeature([1], tf.float32, 2.5)}, {'loose': tf.VarLenFeature(tf.int64), 'gone': tf.VarLenFeature(tf.string)}, example_name='e', name='s')
"""

GROUPS = [("decoding", DECODING), ("parsing", PARSING), ("sequences", SEQUENCES)]
