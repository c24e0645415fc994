"""tf.io.gfile: files and directories, by the names of TensorFlow 2."""

from tfsandbox.lib.io.file_io import copy_v2 as copy  # noqa: F401
from tfsandbox.lib.io.file_io import create_dir_v2 as mkdir  # noqa: F401
from tfsandbox.lib.io.file_io import delete_file_v2 as remove  # noqa: F401
from tfsandbox.lib.io.file_io import delete_recursively_v2 as rmtree  # noqa: F401
from tfsandbox.lib.io.file_io import file_exists_v2 as exists  # noqa: F401
from tfsandbox.lib.io.file_io import get_matching_files_v2 as glob  # noqa: F401
from tfsandbox.lib.io.file_io import is_directory_v2 as isdir  # noqa: F401
from tfsandbox.lib.io.file_io import list_directory_v2 as listdir  # noqa: F401
from tfsandbox.lib.io.file_io import recursive_create_dir_v2 as makedirs  # noqa: F401
from tfsandbox.lib.io.file_io import rename_v2 as rename  # noqa: F401
from tfsandbox.lib.io.file_io import stat_v2 as stat  # noqa: F401
from tfsandbox.lib.io.file_io import walk_v2 as walk  # noqa: F401
from tfsandbox.platform.gfile import GFile  # noqa: F401
