"""tf.python_io: record files."""

from tfsandbox.lib.io.python_io import (  # noqa: F401
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)
