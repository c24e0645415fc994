"""tf.flags and tf.app: parsing, errors and texts as absl's, which TensorFlow 1.15 uses."""

import enum
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tfsandbox as tf

flags = tf.flags


class Color(enum.Enum):
    R = 1
    G = 2


@pytest.fixture
def values() -> Any:
    own = flags.FlagValues()
    flags.DEFINE_string("s", "d", "a string", flag_values=own)
    flags.DEFINE_integer("i", 3, "an int", lower_bound=0, upper_bound=10, flag_values=own)
    flags.DEFINE_float("f", 0.5, "a float", lower_bound=-1, flag_values=own)
    flags.DEFINE_bool("b", False, "a bool", flag_values=own)
    flags.DEFINE_boolean("bb", True, "", flag_values=own)
    flags.DEFINE_enum("e", "x", ["x", "y"], "enum", flag_values=own)
    flags.DEFINE_list("l", "a,b", "list", flag_values=own)
    flags.DEFINE_spaceseplist("sp", "a b", "sp", flag_values=own)
    flags.DEFINE_multi_string("ms", None, "ms", flag_values=own)
    flags.DEFINE_multi_integer("mi", [1, 2], "mi", flag_values=own)
    flags.DEFINE_multi_float("mf", 1.5, "mf", flag_values=own)
    flags.DEFINE_multi_enum("me", ["x"], ["x", "y"], "me", flag_values=own)
    flags.DEFINE_enum_class("ec", Color.R, Color, "ec", flag_values=own)
    flags.DEFINE_alias("al", "s", flag_values=own)
    flags.DEFINE_string("none", None, "n", flag_values=own, short_name="n")
    return own


@pytest.mark.parametrize("arguments, rest, expected", [
    (["--s=1", "--i", "5", "-f", "2.5", "--b", "--nobb"], [], {"s": "1", "i": 5, "f": 2.5, "b": True, "bb": False}),
    (["--s=", "--b=true", "--bb=False", "--e=y", "--l=", "--sp=x  y"], [],
     {"s": "", "b": True, "bb": False, "e": "y", "l": [], "sp": ["x", "y"]}),
    (["--ms=1", "--ms=2", "--mi=4", "--me=y", "--ec=G"], [],
     {"ms": ["1", "2"], "mi": [4], "mf": [1.5], "me": ["y"], "ec": Color.G}),
    (["--b", "false", "rest"], ["false", "rest"], {"b": True}),
    (["pos", "--s=after"], ["pos"], {"s": "after", "al": "after"}),
    (["--s=a", "--", "--i=4"], ["--i=4"], {"s": "a", "i": 3}),
    (["--al=via", "-"], ["-"], {"s": "via"}),
    (['--l="a,b", c'], [], {"l": ["a,b", "c"]}),
    (["--i=0x5", "--f=1e3"], [], {"i": 5, "f": 1000.0}),
    (["--s", "-x", "-n", "q"], [], {"s": "-x", "none": "q"}),
    (["--undefok=unknown", "--unknown=3", "a"], ["a"], {"s": "d"}),
])
def test_command_lines(values: Any, arguments: list[str], rest: list[str], expected: dict[str, Any]) -> None:
    assert values(["prog", *arguments]) == ["prog", *rest]
    assert {name: getattr(values, name) for name in expected} == expected


@pytest.mark.parametrize("arguments, kind, text", [
    (["--b=maybe"], flags.IllegalFlagValueError, "flag --b=maybe: ('Non-boolean argument to boolean flag', 'maybe')"),
    (["--s"], flags.Error, "Missing value for flag --s"),
    (["--i=x"], flags.IllegalFlagValueError, "flag --i=x: invalid literal for int() with base 10: 'x'"),
    (["--i=11"], flags.IllegalFlagValueError, "flag --i=11: 11 is not an integer in the range [0, 10]"),
    (["--f=-2"], flags.IllegalFlagValueError, "flag --f=-2: -2.0 is not number >= -1"),
    (["--e=z"], flags.IllegalFlagValueError, "flag --e=z: value should be one of <x|y>"),
    (["--ec=Z"], flags.IllegalFlagValueError, "flag --ec=Z: value should be one of <r|g>"),
    (["--unknown=3"], flags.UnrecognizedFlagError, "Unknown command line flag 'unknown'"),
    (["--nob=1"], ValueError, "--nob=1 does not take an argument"),
])
def test_command_lines_refused(values: Any, arguments: list[str], kind: type, text: str) -> None:
    with pytest.raises(kind) as caught:
        values(["prog", *arguments])
    assert str(caught.value) == text


def test_reading_and_setting(values: Any) -> None:
    with pytest.raises(flags.UnparsedFlagAccessError, match="Trying to access flag --s before flags were parsed."):
        assert values.s
    assert values(["prog", "--none=v", "--left=1"], known_only=True) == ["prog", "--left=1"]
    values.s = "set"
    assert (values.s, values["s"].value, values["s"].default, values["s"].present) == ("set", "set", "d", 0)
    with pytest.raises(flags.IllegalFlagValueError, match="99 is not an integer in the range"):
        values.i = 99
    assert values.i == 3 and values["none"].present == 1 and "s" in values and "zz" not in values
    with pytest.raises(flags.UnrecognizedFlagError):
        values.zzz = 1
    with pytest.raises(AttributeError):
        assert values.zzz
    values.unparse_flags()
    assert not values.is_parsed() and values["s"].value == "d"
    del values.s
    assert "s" not in values


@pytest.mark.parametrize("define, kind, text", [
    (lambda own: flags.DEFINE_string("s", "d", "again", flag_values=own), flags.DuplicateFlagError, "defined twice"),
    (lambda own: flags.DEFINE_string("a b", "", "", flag_values=own), flags.Error, "cannot contain a space"),
    (lambda own: flags.DEFINE_string("", "", "", flag_values=own), flags.Error, "cannot be empty"),
    (lambda own: flags.DEFINE_string("mark_as_parsed", "", "", flag_values=own),
     flags.FlagNameConflictsWithMethodError, "conflicts with a method"),
    (lambda own: flags.DEFINE_integer("q", "x", "", flag_values=own), flags.IllegalFlagValueError, "invalid literal"),
    (lambda own: flags.DEFINE_integer("q", -5, "", lower_bound=0, flag_values=own), flags.IllegalFlagValueError,
     "-5 is not a non-negative integer"),
    (lambda own: flags.DEFINE_integer("q", 1.0, "", flag_values=own), flags.IllegalFlagValueError,
     "Expect argument to be a string or int"),
    (lambda own: flags.DEFINE_string("q", 1, "", flag_values=own), flags.IllegalFlagValueError, "must be a string"),
    (lambda own: flags.DEFINE_enum("q", "a", [], "", flag_values=own), ValueError, "enum_values cannot be empty"),
])
def test_definitions_refused(values: Any, define: Any, kind: type, text: str) -> None:
    with pytest.raises(kind, match=text):
        define(values)


def test_tensorflows_old_argument_names() -> None:
    own = flags.FlagValues()
    flags.DEFINE_integer(flag_name="o", default_value=2, docstring="text", flag_values=own)
    own(["prog"])
    assert own.o == 2 and own["o"].help == "text"


def test_validators(values: Any) -> None:
    flags.register_validator("i", lambda v: v != 7, message="not 7", flag_values=values)
    flags.mark_flag_as_required("none", flag_values=values)
    flags.mark_flags_as_mutual_exclusive(["none", "ms"], flag_values=values)
    for arguments, text in [
        ([], "flag --none=None: Flag --none must have a value other than None."),
        (["--none=1", "--i=7"], "flag --i=7: not 7"),
        (["--none=1", "--ms=2"],
         "flags none=1, ms=['2']: At most one of (none, ms) must have a value other than None."),
    ]:
        values.unparse_flags()
        with pytest.raises(flags.IllegalFlagValueError) as caught:
            values(["prog", *arguments])
        assert str(caught.value) == text
    values.unparse_flags()
    values(["prog", "--none=1"])
    with pytest.raises(flags.IllegalFlagValueError, match="not 7"):
        values.i = 7
    assert values.i == 3


def test_flagfile(values: Any, tmp_path: Path) -> None:
    file = tmp_path / "flags.txt"
    file.write_text("# comment\n--s=file\n\n--i=4\n")
    assert values(["prog", f"--flagfile={file}", "rest"]) == ["prog", "rest"]
    assert (values.s, values.i) == ("file", 4)
    assert "--s=file\n" in values.flags_into_string()
    with pytest.raises(flags.CantOpenFlagFileError):
        values(["prog", "--flagfile=/no/such/file"])


PROGRAM = '''"""A program with flags."""
import tensorflow as tf
tf.app.flags.DEFINE_integer("steps", 3, "How many steps.")
tf.flags.DEFINE_boolean("fast", False, "Whether to hurry.")
FLAGS = tf.app.flags.FLAGS
{before}
def main(argv):
    print("main", argv[1:], FLAGS.steps, FLAGS.fast)
    return 7
if __name__ == "__main__":
    tf.app.run({run})
'''


def run(folder: Path, *arguments: str, before: str = "", run: str = "") -> subprocess.CompletedProcess:
    program = folder / "program.py"
    program.write_text(PROGRAM.format(before=before, run=run))
    return subprocess.run([sys.executable, "-m", "tfsandbox", str(program), *arguments], capture_output=True, text=True)


def test_programs(tmp_path: Path) -> None:
    done = run(tmp_path, "--steps=5", "--other", "word", "--fast")
    assert (done.returncode, done.stdout) == (7, "main ['--other', 'word'] 5 True\n")
    # A value asked for before tf.app.run reads the command line at once.
    done = run(tmp_path, "--steps=5", before="print('early', FLAGS.steps)", run="main=main")
    assert done.stdout == "early 5\nmain [] 5 False\n"
    done = run(tmp_path, "--steps=many")
    assert done.returncode == 1 and "FATAL Flags parsing error:\n  flag --steps=many: invalid literal" in done.stderr
    done = run(tmp_path, "--help")
    assert done.returncode == 1 and done.stdout.startswith("A program with flags.\nflags:\n")
    assert "  --[no]fast: Whether to hurry.\n    (default: 'false')\n  --steps: How many steps.\n    (default: '3')\n" \
           "    (an integer)\n" in done.stdout


def test_run_without_a_main(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys.modules["__main__"], "main", raising=False)
    with pytest.raises(AttributeError, match="found no function `main` in the program"):
        tf.app.run(argv=["prog"])
