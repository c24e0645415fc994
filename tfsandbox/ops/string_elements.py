"""Ops on every string of a tensor: case, length, parts, patterns, hashes, base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import ShapeContext, broadcast_shapes, unchanged
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.lib import string_hashes
from tfsandbox.ops.kernel_values import as_array

__all__ = [
    "decode_base64", "encode_base64", "regex_replace", "string_strip", "string_to_hash_bucket",
    "string_to_hash_bucket_fast", "string_to_hash_bucket_strong", "substr",
]


def each(strings: Any, function: Callable[[bytes], Any], dtype: Any = object) -> Any:
    """`function` of every string, as an array of the same shape."""
    array = as_array(strings)
    result = np.empty(array.shape, dtype)
    flat = result.reshape(-1)
    for i, text in enumerate(array.ravel().tolist()):
        flat[i] = function(text)
    return result


_ENCODED = "encoding: string = ''"
lower_op = register_op("StringLower", "input: string -> output: string", _ENCODED)
upper_op = register_op("StringUpper", "input: string -> output: string", _ENCODED)
strip_op = register_op("StringStrip", "input: string -> output: string")
lower_op.shape(unchanged)
upper_op.shape(unchanged)
strip_op.shape(unchanged)


@lower_op.kernel
def _lower(input: Any, *, encoding: bytes) -> Any:
    if encoding.lower() == b"utf-8":
        return each(input, lambda text: text.decode("utf-8", "replace").lower().encode())
    return each(input, bytes.lower)


@upper_op.kernel
def _upper(input: Any, *, encoding: bytes) -> Any:
    if encoding.lower() == b"utf-8":
        return each(input, lambda text: text.decode("utf-8", "replace").upper().encode())
    return each(input, bytes.upper)


@strip_op.kernel
def _strip(input: Any) -> Any:
    return each(input, bytes.strip)


def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """The strings in lower case; of ASCII letters only, unless `encoding` is "utf-8"."""
    return apply_op("StringLower", input=input, encoding=encoding, name=name)


def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """The strings in upper case; of ASCII letters only, unless `encoding` is "utf-8"."""
    return apply_op("StringUpper", input=input, encoding=encoding, name=name)


def string_strip(input: Any, name: str | None = None) -> Tensor:
    """The strings without white space at their ends."""
    return apply_op("StringStrip", input=input, name=name)


# ------------------------------------------------------------ length and parts

_UNIT = "unit: string in {'BYTE', 'UTF8_CHAR'} = 'BYTE'"
length_op = register_op("StringLength", "input: string -> output: int32", _UNIT)
length_op.shape(unchanged)
substr_op = register_op("Substr", "input: string, pos: T, len: T -> output: string",
                        f"T: type in {{int32, int64}}; {_UNIT}")


def _characters(text: bytes) -> list[bytes]:
    """A string cut before every byte that begins a UTF-8 character."""
    starts = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80] or [0]
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)])] if text else []


@length_op.kernel
def _length(input: Any, *, unit: bytes) -> Any:
    return each(input, len if unit == b"BYTE" else lambda text: len(_characters(text)), np.int32)


@substr_op.shape
def _substr_shape(c: ShapeContext) -> TensorShape:
    pos, length = c.shape(1), c.shape(2)
    if pos.ndims is not None and length.ndims is not None and pos.ndims != length.ndims:
        raise ValueError(f"Shape must be rank {pos.ndims} but is rank {length.ndims}")
    return broadcast_shapes(c.shape(0), pos)


@substr_op.kernel
def _substr(input: Any, pos: Any, len: Any, *, unit: bytes) -> Any:  # noqa: A002
    strings, starts, counts = np.broadcast_arrays(as_array(input), np.asarray(pos), np.asarray(len))
    result = np.empty(strings.shape, object)
    flat = result.reshape(-1)
    for i, (text, start, count) in enumerate(zip(strings.ravel(), starts.ravel().tolist(), counts.ravel().tolist())):
        parts: Any = text if unit == b"BYTE" else _characters(text)
        size = parts.__len__()
        if not -size <= start <= size:
            raise errors.InvalidArgumentError(None, None, f"pos {start} out of range for string "
                                                          f"b'{text.decode(errors='replace')}' at index {i}")
        start += size if start < 0 else 0
        part = parts[start:start + count] if count >= 0 else parts[start:]
        flat[i] = part if unit == b"BYTE" else b"".join(part)
    return result


def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """int32: the lengths of the strings, in bytes or ("UTF8_CHAR") in characters."""
    return apply_op("StringLength", input=input, unit=unit, name=name)


def string_length_v2(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """`string_length` with TensorFlow 2's order of arguments."""
    return string_length(input, name, unit)


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """The `len` bytes (or characters) of every string from `pos` on; both may be one number, or one a string.

    A position outside a string raises `InvalidArgumentError` in a run.
    """
    return apply_op("Substr", input=input, pos=pos, len=len, unit=unit, name=name)


def substr_v2(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:  # noqa: A002
    """`substr` with TensorFlow 2's order of arguments."""
    return substr(input, pos, len, name, unit)


# ------------------------------------------------------------ patterns

replace_op = register_op("RegexReplace", "input: string, pattern: string, rewrite: string -> output: string",
                         "replace_global: bool = true")
static_replace_op = register_op("StaticRegexReplace", "input: string -> output: string",
                                "pattern: string; rewrite: string; replace_global: bool = true")
match_op = register_op("RegexFullMatch", "input: string, pattern: string -> output: bool")
static_match_op = register_op("StaticRegexFullMatch", "input: string -> output: bool", "pattern: string")
static_replace_op.shape(unchanged)
static_match_op.shape(unchanged)


@replace_op.shape
@match_op.shape
def _regex_shape(c: ShapeContext) -> TensorShape:
    for i in range(1, c.num_inputs):
        with_rank(c.shape(i), 0)
    return c.shape(0)


def _compiled(pattern: Any) -> re.Pattern[bytes]:
    text = as_array(pattern).item() if not isinstance(pattern, bytes) else pattern
    try:
        # The syntax is that of RE2; what it shares with Python's reads the same.
        return re.compile(text)
    except re.error as error:
        shown = text.decode(errors="replace")
        reason = f"missing ): {shown}" if "missing )" in error.msg else str(error)
        raise errors.InvalidArgumentError(None, None, f"Invalid pattern: {shown}, error: {reason}") from None


def _rewriting(rewrite: Any) -> Callable[[re.Match[bytes]], bytes]:
    """A function of a match: the rewrite text with `\\0` to `\\9` and `\\\\` filled in."""
    text = as_array(rewrite).item() if not isinstance(rewrite, bytes) else rewrite
    pieces = re.split(rb"\\(.)", text)

    def rewritten(match: re.Match[bytes]) -> bytes:
        result = b""
        for i, piece in enumerate(pieces):
            if i % 2 == 0 or piece == b"\\":
                result += piece
            elif piece.isdigit():
                result += match.group(int(piece)) or b""
            else:
                raise errors.InvalidArgumentError(
                    None, None, f"invalid rewrite pattern: {text.decode(errors='replace')}")
        return result

    return rewritten


@replace_op.kernel
def _replace(input: Any, pattern: Any, rewrite: Any, *, replace_global: bool) -> Any:
    compiled, filled = _compiled(pattern), _rewriting(rewrite)
    return each(input, lambda text: compiled.sub(filled, text, 0 if replace_global else 1))


@static_replace_op.kernel
def _static_replace(input: Any, *, pattern: bytes, rewrite: bytes, replace_global: bool) -> Any:
    return _replace(input, pattern, rewrite, replace_global=replace_global)


@match_op.kernel
def _match(input: Any, pattern: Any) -> Any:
    compiled = _compiled(pattern)
    return each(input, lambda text: compiled.fullmatch(text) is not None, np.bool_)


@static_match_op.kernel
def _static_match(input: Any, *, pattern: bytes) -> Any:
    return _match(input, pattern)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True,
                  name: str | None = None) -> Tensor:
    r"""The strings with `rewrite` in place of what matches `pattern`, everywhere or once; `\1` is the first group."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return apply_op("StaticRegexReplace", input=input, pattern=pattern, rewrite=rewrite,
                        replace_global=replace_global, name=name)
    return apply_op(
        "RegexReplace", input=input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """bool: whether `pattern` matches the whole string."""
    if isinstance(pattern, (str, bytes)):
        return apply_op("StaticRegexFullMatch", input=input, pattern=pattern, name=name)
    return apply_op("RegexFullMatch", input=input, pattern=pattern, name=name)


# ------------------------------------------------------------ hashes

hash_op = register_op("StringToHashBucket", "string_tensor: string -> output: int64", "num_buckets: int >= 1")
fast_hash_op = register_op("StringToHashBucketFast", "input: string -> output: int64", "num_buckets: int >= 1")
strong_hash_op = register_op("StringToHashBucketStrong", "input: string -> output: int64",
                             "num_buckets: int >= 1; key: list(int)")
hash_op.shape(unchanged)
fast_hash_op.shape(unchanged)
strong_hash_op.shape(unchanged)


@hash_op.kernel
def _hash(string_tensor: Any, *, num_buckets: int) -> Any:
    return each(string_tensor, lambda text: string_hashes.murmurhash64a(text) % num_buckets, np.int64)


@fast_hash_op.kernel
def _fast_hash(input: Any, *, num_buckets: int) -> Any:
    return each(input, lambda text: string_hashes.fingerprint64(text) % num_buckets, np.int64)


@strong_hash_op.kernel
def _strong_hash(input: Any, *, num_buckets: int, key: list[int]) -> Any:
    if len(key) != 2:
        raise errors.InvalidArgumentError(None, None, "Key must have 2 elements")
    return each(input, lambda text: string_hashes.siphash(text, (key[0], key[1])) % num_buckets, np.int64)


def string_to_hash_bucket(string_tensor: Any = None, num_buckets: int | None = None, name: str | None = None,
                          input: Any = None) -> Tensor:
    """int64 in [0, num_buckets): a hash of every string (see `string_to_hash_bucket_fast` for new programs)."""
    strings = input if string_tensor is None else string_tensor
    return apply_op("StringToHashBucket", string_tensor=strings, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """int64 in [0, num_buckets): FarmHash's fingerprint of every string, modulo `num_buckets`."""
    return apply_op("StringToHashBucketFast", input=input, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_strong(input: Any, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """int64 in [0, num_buckets): SipHash of every string under a key of two numbers, modulo `num_buckets`."""
    return apply_op("StringToHashBucketStrong", input=input, num_buckets=num_buckets, key=key, name=name)


# ------------------------------------------------------------ base64

encode_op = register_op("EncodeBase64", "input: string -> output: string", "pad: bool = false")
decode_op = register_op("DecodeBase64", "input: string -> output: string")
encode_op.shape(unchanged)
decode_op.shape(unchanged)


@encode_op.kernel
def _encode(input: Any, *, pad: bool) -> Any:
    return each(input, lambda text: base64.urlsafe_b64encode(text) if pad else
                base64.urlsafe_b64encode(text).rstrip(b"="))


@decode_op.kernel
def _decode(input: Any) -> Any:
    def decoded(text: bytes) -> bytes:
        try:
            bare = text.rstrip(b"=")
            if len(bare) % 4 == 1:
                raise errors.InvalidArgumentError(None, None, "Base64 string length cannot be 1 modulo 4.")
            if not re.fullmatch(rb"[A-Za-z0-9_-]*", bare):
                raise binascii.Error
            return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))
        except binascii.Error:
            raise errors.InvalidArgumentError(None, None, "Invalid character found in base64.") from None
    return each(input, decoded)


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """The strings in the web-safe base64 alphabet; with `pad` filled up with `=`."""
    return apply_op("EncodeBase64", input=input, pad=pad, name=name)


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The strings behind web-safe base64."""
    return apply_op("DecodeBase64", input=input, name=name)
