"""tf.strings: operations on string tensors."""

# ruff: noqa: F401

from tfsandbox.ops.string_ops import (
    as_string,
    reduce_join,
    regex_full_match,
    regex_replace,
    substr,
    unsorted_segment_join,
)
from tfsandbox.ops.string_ops import string_format as format
from tfsandbox.ops.string_ops import string_join as join
from tfsandbox.ops.string_ops import string_length as length
from tfsandbox.ops.string_ops import string_lower as lower
from tfsandbox.ops.string_ops import string_strip as strip
from tfsandbox.ops.string_ops import string_to_hash_bucket as to_hash_bucket
from tfsandbox.ops.string_ops import string_to_hash_bucket_fast as to_hash_bucket_fast
from tfsandbox.ops.string_ops import string_to_hash_bucket_strong as to_hash_bucket_strong
from tfsandbox.ops.string_ops import string_to_number as to_number
from tfsandbox.ops.string_ops import string_upper as upper
from tfsandbox.ops.string_ops import strings_split as split
