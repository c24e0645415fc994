"""tf.contrib.lookup: lookup tables, by the names they had first."""

from tfsandbox.ops.lookup_ops import (  # noqa: F401
    FastHashSpec,
    HasherSpec,
    HashTable,
    IdTableWithHashBuckets,
    InitializableLookupTableBase,
    KeyValueTensorInitializer,
    LookupInterface,
    MutableDenseHashTable,
    MutableHashTable,
    StrongHashSpec,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
    index_table_from_file,
    index_table_from_tensor,
    index_to_string,
    index_to_string_table_from_file,
    index_to_string_table_from_tensor,
    string_to_index,
)
from tfsandbox.ops.lookup_ops import index_table_from_file as string_to_index_table_from_file  # noqa: F401
from tfsandbox.ops.lookup_ops import index_table_from_tensor as string_to_index_table_from_tensor  # noqa: F401
from tfsandbox.ops.table_initializers import TableInitializerBase  # noqa: F401
