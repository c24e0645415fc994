"""The command line: run a TensorFlow 1 program on the sandbox, or open the lessons."""

from __future__ import annotations

import os
import sys
import tokenize
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

HELP = """\
usage: tfsandbox program.py [arguments...]    run a TensorFlow 1 program on the sandbox
       tfsandbox -c 'code' [arguments...]     run code given here
       tfsandbox - [arguments...]             run a program from the standard input
       tfsandbox lab [FOLDER] [options...]    copy the lessons to FOLDER (./tfsandbox-lessons) and
                                              start JupyterLab there, with JupyterLab's own options
       tfsandbox --version

`python -m tfsandbox` is the same command. In a program that runs this way `import tensorflow` gives
the sandbox; in a notebook `%load_ext tfsandbox` does that.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    first = words[0] if words else "--help"
    if first in ("-h", "--help"):
        print(HELP, end="")
        return 0
    if first in ("-V", "--version"):
        from tfsandbox._version import __version__

        print(f"tfsandbox {__version__}")
        return 0
    if first == "lab":
        from tfsandbox._lessons import lab

        return lab(words[1:])
    if first == "-c":
        if len(words) < 2:
            return _refuse("-c needs the code to run")
        return run_program(words[1].encode(), "<string>", ["-c", *words[2:]], "")
    if first == "-":
        return run_program(sys.stdin.buffer.read(), "<stdin>", words, "")
    if first.startswith("-"):
        return _refuse(f"unknown option {first}")
    return run_file(first, words)


def run_file(path: str, arguments: list[str]) -> int:
    """Run the program in a file as `python path` would; status 2 if it cannot be read, as Python's."""
    try:
        with open(path, "rb") as source:
            text = source.read()
    except OSError as error:
        print(f"tfsandbox: can't open file {os.path.abspath(path)!r}: [Errno {error.errno}] {error.strerror}",
              file=sys.stderr)
        return 2
    return run_program(text, os.path.abspath(path), arguments, os.path.dirname(os.path.realpath(path)))


def run_program(source: bytes, filename: str, arguments: list[str], folder: str) -> int:
    """Run source text as the main module with `tensorflow` being the sandbox.

    `filename` is absolute, or "<...>" for what is no file; `arguments` become `sys.argv` and `folder` the first
    entry of `sys.path`. Exceptions leave as from any program, with a traceback that begins in it.
    """
    import tfsandbox._alias

    tfsandbox._alias.install_as_tensorflow()
    module = ModuleType("__main__")
    space = vars(module)
    space["__builtins__"] = sys.modules["builtins"]
    space["__annotations__"] = {}
    if filename != "<string>":
        space["__file__"] = filename
        space["__cached__"] = None
    if not filename.startswith("<"):
        space["__loader__"] = SourceFileLoader("__main__", filename)
    sys.argv[:] = arguments
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder
    # The frames of this file, and of `python -m` below it, are no part of the program's traceback.
    sys.excepthook = _without_own_frames
    code = _compile(source, filename)
    sys.modules["__main__"] = module
    exec(code, space)
    return 0


def _compile(source: bytes, filename: str) -> CodeType:
    """The program's code object; of a program that is no file the lines are kept for tracebacks."""
    if filename.startswith("<"):
        import io
        import linecache

        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        lines = source.decode(encoding, "replace").splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
    return compile(source, filename, "exec", dont_inherit=True)


def _without_own_frames(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> Any:
    """Show an exception as `python program.py` does: from the program's first frame on."""
    own = sys.modules[__name__].__file__
    inner = traceback
    while inner is not None:
        inside = inner.tb_frame.f_code.co_filename == own
        inner = inner.tb_next
        if inside and (inner is None or inner.tb_frame.f_code.co_filename != own):
            traceback = inner
            break
    error.__traceback__ = traceback
    sys.__excepthook__(kind, error, traceback)


def _refuse(message: str) -> int:
    print(f"tfsandbox: {message}\n\n{HELP}", end="", file=sys.stderr)
    return 2
