"""tf.app: run a program's `main` with its command line read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tfsandbox.platform import flags  # noqa: F401
from tfsandbox.platform.flag_types import Error

__all__ = ["run"]

_HELP = ("help", "helpshort", "helpfull", "?")


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Read the flags of `argv` (by default `sys.argv`), call `main` with what is left, and exit with what it gives.

    `main` is by default the program's function of that name. Flags that are not defined are left to `main`.
    `--help` shows the flags.
    """
    arguments = list(sys.argv if argv is None else argv)
    if main is None:
        main = getattr(sys.modules["__main__"], "main", None)
        if main is None:
            raise AttributeError("tf.app.run() found no function `main` in the program: define one, or pass it as "
                                 "tf.app.run(main=...)")
    asked = next((a for a in arguments[1:] if a.lstrip("-") in _HELP and a.startswith("-")
                  and a.lstrip("-") not in flags.FLAGS), None)
    if asked is not None:
        print(_usage(everything=asked.lstrip("-") == "helpfull"))
        sys.exit(1)
    try:
        rest = flags.FLAGS(arguments, known_only=True)
    except Error as error:
        sys.stderr.write(f"FATAL Flags parsing error:\n  {error}\nPass --helpshort or --helpfull to see help on "
                         f"flags.\n")
        sys.exit(1)
    sys.exit(main(rest))


def _usage(everything: bool) -> str:
    described = sys.modules["__main__"].__doc__ or f"\nUSAGE: {sys.argv[0]} [flags]\n"
    text = flags.FLAGS.get_help() if everything else flags.FLAGS.main_module_help()
    more = "" if everything else "\n\nTry --helpfull to get a list of all flags."
    return f"{described.strip(chr(10))}\nflags:\n{text}{more}"
