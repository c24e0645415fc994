"""The text file `checkpoint`, in which a directory names its checkpoints, oldest first, and the latest of them.

It is a CheckpointState message in the text format of protocol buffers.
"""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .atomic_file import replacing

DEFAULT_NAME = "checkpoint"


@dataclass
class CheckpointState:
    """The latest checkpoint, all that are kept, and when they were written (seconds since 1970)."""

    model_checkpoint_path: str = ""
    all_model_checkpoint_paths: list[str] = field(default_factory=list)
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0

    def __str__(self) -> str:
        """The text format, a line for each value."""
        lines = []
        if self.model_checkpoint_path:
            lines.append(f"model_checkpoint_path: {_quoted(self.model_checkpoint_path)}")
        lines += [f"all_model_checkpoint_paths: {_quoted(path)}" for path in self.all_model_checkpoint_paths]
        lines += [f"all_model_checkpoint_timestamps: {float(t)!r}" for t in self.all_model_checkpoint_timestamps]
        if self.last_preserved_timestamp:
            lines.append(f"last_preserved_timestamp: {float(self.last_preserved_timestamp)!r}")
        return "".join(line + "\n" for line in lines)


def state_of(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> CheckpointState:
    """The state to write to `save_dir`; where that is relative, relative paths become relative to it.

    The latest checkpoint is appended to all of them if it is not their last. Raises ValueError if there are
    timestamps, but not one for each path.
    """
    paths = list(all_model_checkpoint_paths or [])
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    if all_model_checkpoint_timestamps and len(all_model_checkpoint_timestamps) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {list(all_model_checkpoint_timestamps)})"
        )
    if not os.path.isabs(save_dir):
        paths = [path if os.path.isabs(path) else os.path.relpath(path, save_dir) for path in paths]
        model_checkpoint_path = paths[-1]
    return CheckpointState(
        model_checkpoint_path, paths, list(all_model_checkpoint_timestamps or []), last_preserved_timestamp or 0.0
    )


def write(save_dir: str, state: CheckpointState, latest_filename: str | None = None) -> None:
    """Write the state to its file in `save_dir`, which holds the old or the new one at any time."""
    with replacing(os.path.join(save_dir, latest_filename or DEFAULT_NAME)) as file:
        file.write(str(state).encode())


def read(checkpoint_dir: str, latest_filename: str | None = None) -> CheckpointState | None:
    """The state of a directory, its relative paths joined to the directory; None if there is no file.

    Raises ValueError if the file is malformed or names no latest checkpoint.
    """
    path = os.path.join(checkpoint_dir, latest_filename or DEFAULT_NAME)
    try:
        with open(path, "rb") as file:
            text = file.read().decode()
    except FileNotFoundError:
        return None
    state = parse(text)
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    state.all_model_checkpoint_paths = [os.path.join(checkpoint_dir, p) for p in state.all_model_checkpoint_paths]
    return state


# The text format --------------------------------------------------------------------------------------------------

_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "'": r"\'", "\\": r"\\"}
_UNESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}
_TOKEN = re.compile(
    r"""(?:\s|\#[^\n]*)*(?:
        (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
        | (?P<word>[-+.\w]+)
        | (?P<mark>[:;,\[\]])
        | (?P<end>\Z)
    )""",
    re.VERBOSE,
)


def _quoted(text: str) -> str:
    out = []
    for character in text:
        if character in _ESCAPES:
            out.append(_ESCAPES[character])
        elif " " <= character <= "~":
            out.append(character)
        else:
            out += [f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape")]
    return f'"{"".join(out)}"'


def _unquoted(literal: str) -> str:
    def replaced(found: re.Match[bytes]) -> bytes:
        code = found[1].decode("utf-8", "replace")
        if code[0] in "01234567":
            return bytes((int(code, 8) & 0xFF,))
        if code[0] in "xX":
            return bytes((int(code[1:], 16),))
        return _UNESCAPES.get(code, found[1])

    raw = literal[1:-1].encode("utf-8", "surrogateescape")
    plain = re.sub(rb"\\([0-7]{1,3}|[xX][0-9a-fA-F]{1,2}|.)", replaced, raw, flags=re.DOTALL)
    return plain.decode("utf-8", "surrogateescape")


class _Tokens:
    """The tokens of a text, one ahead."""

    def __init__(self, text: str) -> None:
        self._found = self._scan(text)
        self.kind, self.text = next(self._found)

    @staticmethod
    def _scan(text: str) -> Iterator[tuple[str, str]]:
        at = 0
        while True:
            token = _TOKEN.match(text, at)
            if token is None or token.lastgroup is None:
                raise ValueError(f"not a checkpoint state, at character {at}: {text[at : at + 30]!r}")
            yield token.lastgroup, token[token.lastgroup]
            at = token.end()

    def take(self, kind: str, text: str | None = None) -> str:
        """The present token, which must be of that kind (and text); ValueError if it is not."""
        if self.kind != kind or text not in (None, self.text):
            raise ValueError(f"not a checkpoint state: expected {text or kind}, got {self.text!r}")
        taken = self.text
        self.kind, self.text = next(self._found)
        return taken

    def take_if(self, text: str) -> bool:
        """Whether the present token is that mark, which is taken then."""
        if (self.kind, self.text) != ("mark", text):
            return False
        self.take("mark")
        return True


def _string(tokens: _Tokens) -> str:
    text = _unquoted(tokens.take("string"))
    while tokens.kind == "string":
        text += _unquoted(tokens.take("string"))
    return text


def _number(tokens: _Tokens) -> float:
    text = tokens.take("word")
    return float(text if text.lower().endswith("inf") else text.rstrip("fF"))


_FIELDS: dict[str, Callable[[_Tokens], Any]] = {
    "model_checkpoint_path": _string,
    "all_model_checkpoint_paths": _string,
    "all_model_checkpoint_timestamps": _number,
    "last_preserved_timestamp": _number,
}


def parse(text: str) -> CheckpointState:
    """The state that `text` describes; ValueError if it is malformed or has other fields."""
    state = CheckpointState()
    tokens = _Tokens(text)
    while tokens.kind != "end":
        name = tokens.take("word")
        if name not in _FIELDS:
            raise ValueError(f"a checkpoint state has no field {name!r}")
        tokens.take("mark", ":")
        values = []
        if tokens.take_if("["):
            while not tokens.take_if("]"):
                values.append(_FIELDS[name](tokens))
                tokens.take_if(",")
        else:
            values.append(_FIELDS[name](tokens))
        if name.startswith("all_"):
            getattr(state, name).extend(values)
        elif values:
            setattr(state, name, values[-1])
        if not tokens.take_if(";"):
            tokens.take_if(",")
    return state
