"""File names as TensorFlow takes them, the pattern language of its globs, and its errors for the system's."""
from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator

from tfsandbox.framework import errors

_KINDS: dict[int, type[errors.OpError]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EBUSY: errors.FailedPreconditionError,
    errno.ETXTBSY: errors.FailedPreconditionError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.ENFILE: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError,
    errno.EFBIG: errors.OutOfRangeError,
}


def error_of(problem: OSError, path: str) -> errors.OpError:
    """TensorFlow's error for one of the system: its kind by the error number, with "path; what went wrong"."""
    message = f"{path}; {problem.strerror}"
    kind = _KINDS.get(problem.errno or 0)
    return errors.UnknownError(None, None, message) if kind is None else kind(None, None, message)  # type: ignore[call-arg]


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise the system's errors in the block as TensorFlow's, about `path`."""
    try:
        yield
    except OSError as problem:
        raise error_of(problem, path) from None


def name_of(path: str | bytes) -> str:
    """A path given as text or UTF-8; TypeError if it is neither."""
    if isinstance(path, bytes):
        return path.decode("utf-8", "surrogateescape")
    if not isinstance(path, str):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return path


def local(path: str | bytes) -> str:
    """The path in the local file system; UnimplementedError for one of another scheme than file://."""
    name = name_of(path)
    scheme, mark, rest = name.partition("://")
    if not mark or not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9.]*", scheme):
        return name
    if scheme == "file":
        return rest
    message = f"File system scheme '{scheme}' not implemented (file: '{name}')"
    raise errors.UnimplementedError(None, None, message)


_TOKEN = re.compile(r"\\(?P<escaped>.)|(?P<star>\*+)|(?P<any>\?)|\[(?P<no>[!^]?)(?P<set>\]?[^]]*)\]|(?P<plain>.)", re.S)


def pattern_expression(pattern: str) -> re.Pattern[str]:
    """The regular expression of a glob pattern: `*`, `?`, `[a-z]`, `[!a-z]` and `\\` before a plain character.

    None of them matches a slash; all match a leading dot.
    """
    out = []
    for token in _TOKEN.finditer(pattern):
        if token["escaped"] is not None:
            out.append(re.escape(token["escaped"]))
        elif token["star"]:
            out.append("[^/]*")
        elif token["any"]:
            out.append("[^/]")
        elif token["set"] is not None:
            members = re.sub(r"([\\\[\]&~|^])", r"\\\1", token["set"])
            out.append(f"(?!/)[{'^' if token['no'] else ''}{members}]")
        else:
            out.append(re.escape(token["plain"]))
    try:
        return re.compile("".join(out), re.S)
    except re.error:  # such as a range that runs backwards: it matches nothing, as in the C library
        return re.compile(r"(?!)")
