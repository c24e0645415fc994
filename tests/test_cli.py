"""`python -m tfsandbox`: programs run as with `python`, on the sandbox."""

import multiprocessing
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tfsandbox._version import __version__

TFSANDBOX = ["-m", "tfsandbox"]


def run(arguments: list[str], folder: Path, **kwargs: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, **kwargs)  # type: ignore[call-overload]


def same_as_python(arguments: list[str], folder: Path, **kwargs: object) -> subprocess.CompletedProcess[str]:
    """Run with `python` and on the sandbox; both must show the same and end the same way."""
    expected = run(arguments, folder, **kwargs)
    actual = run([*TFSANDBOX, *arguments], folder, **kwargs)
    assert actual.stdout == expected.stdout
    assert actual.stderr == expected.stderr
    assert actual.returncode == expected.returncode
    return actual


def test_tensorflow_is_the_sandbox(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import tensorflow as tf\n"
        "from tensorflow.python.framework import ops\n"
        "with tf.Session() as sess:\n"
        "    print(tf.__name__, ops.__name__, sess.run(tf.constant(2.0) * 3.0))\n"
    )
    done = run([*TFSANDBOX, "program.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "tfsandbox tfsandbox.framework.ops 6.0\n"


def test_a_program_sees_what_python_shows_it(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "beside.py").write_text("VALUE = 7\n")
    (inner / "program.py").write_text(
        "import sys, beside\n"
        "print(__name__, __file__, __spec__, __doc__, sys.argv, sys.path[0], beside.VALUE)\n"
        "print(sys.modules['__main__'].__dict__ is globals(), sorted(dir()), type(__loader__).__name__)\n"
        "class C: pass\n"
        "print(C, C.__module__)\n"
    )
    same_as_python(["inner/program.py", "--flag", "a b"], tmp_path)


@pytest.mark.parametrize(
    "program",
    [
        "def f():\n    return 1 / 0\nf()\n",
        "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('b') from error\n",
        "x = = 1\n",
        "raise KeyboardInterrupt\n",
        "import sys\nsys.exit(7)\n",
        "import sys\nsys.exit('said at the end')\n",
        "import sys\nprint('to stderr', file=sys.stderr)\nsys.exit()\n",
        "import atexit\natexit.register(print, 'at exit')\nimport threading\n"
        "threading.Timer(0.1, print, ['later']).start()\n",
        "import sys\nsys.excepthook = lambda *args: print('own hook', args[0].__name__)\n1 / 0\n",
    ],
)
def test_ends_as_with_python(tmp_path: Path, program: str) -> None:
    (tmp_path / "program.py").write_text(program)
    same_as_python(["program.py"], tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_ends_it_as_with_python(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    assert same_as_python(["program.py"], tmp_path).returncode == -signal.SIGTERM


def test_code_and_standard_input(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv, __name__, repr(sys.path[0]), '__file__' in globals())"
    same_as_python(["-c", code, "one", "-x"], tmp_path)
    same_as_python(["-", "one"], tmp_path, input=code + "\nraise SystemExit(4)\n")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = run([*TFSANDBOX, "nothing.py"], tmp_path)
    assert done.returncode == run(["nothing.py"], tmp_path).returncode == 2
    assert "can't open file" in done.stderr and "nothing.py" in done.stderr


def test_help_and_version(tmp_path: Path) -> None:
    for arguments in ([], ["--help"], ["-h"]):
        done = run([*TFSANDBOX, *arguments], tmp_path)
        assert done.returncode == 0
        assert "tfsandbox program.py" in done.stdout and "tfsandbox lab" in done.stdout
    assert run([*TFSANDBOX, "--version"], tmp_path).stdout == f"tfsandbox {__version__}\n"


@pytest.mark.parametrize("arguments", [["--unknown"], ["-c"]])
def test_a_wrong_option(tmp_path: Path, arguments: list[str]) -> None:
    done = run([*TFSANDBOX, *arguments], tmp_path)
    assert done.returncode == 2
    assert "usage:" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_a_program_spawns(tmp_path: Path, method: str) -> None:
    """They run the program's file again, where `import tensorflow` must give the sandbox too."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    (tmp_path / "program.py").write_text(
        "import multiprocessing\n"
        "import tensorflow as tf\n"
        "def work(number):\n"
        "    with tf.Graph().as_default(), tf.Session() as sess:\n"
        "        name = multiprocessing.current_process().name\n"
        "        return float(sess.run(tf.constant(number) * 2.0)), type(name).__name__\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context('{method}').Pool(1) as pool:\n"
        "        print(pool.map(work, [1.0, 2.0]))\n"
    )
    done = run([*TFSANDBOX, "program.py"], tmp_path, timeout=60)
    assert (done.stdout, done.stderr) == ("[(2.0, 'str'), (4.0, 'str')]\n", "")
