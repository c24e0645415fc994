"""Files and directories: results, errors and wording are TensorFlow 1.15's."""
import os

import pytest

from tfsandbox.framework import errors
from tfsandbox.lib.io import file_io
from tfsandbox.lib.io.file_io import FileIO
from tfsandbox.platform import gfile


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(b"one\ntwo\nthree")
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "x").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "u").write_bytes("\u00fc\n".encode())
    return tmp_path


def test_modes():
    for mode in ("r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab", "rb+", "r+b", "wb+", "ab+"):
        assert FileIO("m", mode).mode == mode
    for mode in ("q", "rw", "rt", "U", "x", ""):
        with pytest.raises(errors.InvalidArgumentError) as raised:
            FileIO("m", mode)
        assert str(raised.value) == "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
    assert FileIO(b"a", "r").name == b"a"
    assert not os.path.exists("m")


def test_reading():
    assert FileIO("a", "r").read() == "one\ntwo\nthree"
    assert FileIO(b"a", "rb").read() == b"one\ntwo\nthree"
    assert FileIO("a", "r").read(5) == "one\nt"
    assert FileIO("a", "r").readlines() == ["one\n", "two\n", "three"] == list(FileIO("a", "r"))
    assert FileIO("u", "r").read() == "\u00fc\n"
    assert FileIO("a", "r").size() == 13
    with open("crlf", "wb") as file:
        file.write(b"a\r\nb\r\n")
    assert FileIO("crlf", "r").readlines() == ["a\n", "b\n"]
    assert FileIO("crlf", "r").read() == "a\r\nb\r\n"


def test_places():
    file = FileIO("a", "r")
    assert (file.tell(), file.readline(), file.tell()) == (0, "one\n", 4)
    file.seek(4)
    assert file.read(3) == "two"
    file.seek(1, 1)
    assert (file.tell(), file.readline(), file.readline(), file.tell()) == (8, "three", "", 13)
    file.seek(-2, 2)
    assert file.read() == "ee"
    file.seek(position=0)
    assert file.read(1) == "o" and file.seekable()
    file.close()
    assert file.read(2) == "on"


def test_writing():
    file = FileIO("w", "w")
    file.write("h\u00e9y")
    file.write(b"b")
    assert (file.tell(), file.size()) == (5, 0)
    file.flush()
    assert FileIO("w", "rb").read() == b"h\xc3\xa9yb"
    file.close()
    file.close()
    with FileIO("w", "a") as file:
        file.write("!")
    assert FileIO("w", "r").read() == "h\u00e9yb!"
    with FileIO("w", "w+") as file:
        file.write("abc")
        assert file.read() == ""
        file.flush()
        assert file.read() == "abc"


@pytest.mark.parametrize("attempt, kind, message", [
    (lambda: FileIO("no", "r").read(), errors.NotFoundError, "no; No such file or directory"),
    (lambda: FileIO("no", "r").size(), errors.NotFoundError, "no; No such file or directory"),
    (lambda: FileIO("dir", "r").read(), errors.FailedPreconditionError, "dir; Is a directory"),
    (lambda: FileIO("no/x", "w").write("a"), errors.NotFoundError, "no/x; No such file or directory"),
    (lambda: FileIO("a", "r").write("x"), errors.PermissionDeniedError, "File isn't open for writing"),
    (lambda: FileIO("c", "w").read(), errors.PermissionDeniedError, "File isn't open for reading"),
    (lambda: FileIO("c", "w").seek(0), errors.PermissionDeniedError, "File isn't open for reading"),
    (lambda: FileIO("a", "r").seek(-1), errors.InvalidArgumentError, "Seeking to a negative position: -1"),
    (lambda: FileIO("a", "r").seek(100), errors.OutOfRangeError, "reached end of file"),
    (lambda: FileIO("a", "r").seek(0, 5), errors.InvalidArgumentError,
     "Invalid whence argument: 5. Valid values are 0, 1, or 2."),
    (lambda: FileIO("a", "r").seek(), TypeError, "seek(): offset argument required"),
    (lambda: FileIO("a", "r").seek(1, 0, 2), TypeError, "seek(): offset and position may not be set simultaneously."),
    (lambda: FileIO("w", "w").write(3), TypeError, "Expected binary or unicode string, got 3"),
    (lambda: file_io.file_exists(3), TypeError, "Expected binary or unicode string, got 3"),
    (lambda: file_io.delete_file("no"), errors.NotFoundError, "no; No such file or directory"),
    (lambda: file_io.delete_file("empty"), errors.FailedPreconditionError, "empty; Is a directory"),
    (lambda: file_io.get_matching_files("no/*"), errors.NotFoundError, "no; No such file or directory"),
    (lambda: file_io.list_directory("no"), errors.NotFoundError, "Could not find directory no"),
    (lambda: file_io.list_directory("a"), errors.NotFoundError, "Could not find directory a"),
    (lambda: file_io.create_dir("n2/n3"), errors.NotFoundError, "n2/n3; No such file or directory"),
    (lambda: file_io.recursive_create_dir("a/b"), errors.FailedPreconditionError, "a/b; Not a directory"),
    (lambda: file_io.copy("a", "u"), errors.AlreadyExistsError, "file already exists"),
    (lambda: file_io.copy("no", "a3"), errors.NotFoundError, "no; No such file or directory"),
    (lambda: file_io.copy("a", "zzz/a3"), errors.NotFoundError, "zzz/a3; No such file or directory"),
    (lambda: file_io.copy("a", "dir"), errors.AlreadyExistsError, "file already exists"),
    (lambda: file_io.rename("a", "u"), errors.AlreadyExistsError, "file already exists"),
    (lambda: file_io.rename("no", "a9"), errors.NotFoundError, "no; No such file or directory"),
    (lambda: file_io.rename("a", "zz9/a"), errors.NotFoundError, "a; No such file or directory"),
    (lambda: file_io.rename("a", "dir", True), errors.FailedPreconditionError, "a; Is a directory"),
    (lambda: file_io.delete_recursively("no"), errors.NotFoundError, "no not found"),
    (lambda: file_io.delete_recursively("a"), errors.FailedPreconditionError, "a; Not a directory"),
    (lambda: file_io.stat("no"), errors.NotFoundError, "no; No such file or directory"),
    (lambda: file_io.atomic_write_string_to_file("a", "y", overwrite=False), errors.AlreadyExistsError,
     "file already exists"),
    (lambda: file_io.file_exists("zzz://x/y"), errors.UnimplementedError,
     "File system scheme 'zzz' not implemented (file: 'zzz://x/y')"),
])
def test_errors(attempt, kind, message):
    with pytest.raises(kind) as raised:
        attempt()
    assert str(raised.value) == message


def test_what_there_is():
    assert [file_io.file_exists(name) for name in ("a", "dir", "no", "", b"a")] == [True, True, False, False, True]
    assert [file_io.is_directory(name) for name in ("a", "dir", "no", "")] == [False, True, False, False]
    found = file_io.stat("a")
    assert (found.length, found.is_directory, found.mtime_nsec > 10**18) == (13, False, True)
    assert file_io.stat("dir").is_directory


@pytest.mark.parametrize("pattern, matches", [
    ("*", ["./a", "./b", "./dir", "./empty", "./u"]),
    ("?", ["./a", "./b", "./u"]),
    ("[ab]", ["./a", "./b"]),
    ("[a-c]", ["./a", "./b"]),
    ("[!a]", ["./b", "./u"]),
    ("[^a]", ["./b", "./u"]),
    ("[c-a]", []),
    ("\\a", ["./a"]),
    ("./a", ["./a"]),
    ("dir", ["./dir"]),
    ("dir/", []),
    ("dir/*", ["dir/x"]),
    ("*/x", ["./dir/x"]),
    ("**/x", ["./dir/x"]),
    ("{a,u}", []),
    ("zzz*", []),
    ([], []),
    (["a", "d*", "a*"], ["./a", "./a", "./dir"]),
])
def test_patterns(pattern, matches):
    assert sorted(file_io.get_matching_files(pattern)) == matches


def test_patterns_of_whole_paths(folder):
    (folder / ".hidden").write_text("")
    assert "./.hidden" in file_io.get_matching_files("*")
    assert file_io.get_matching_files(f"{folder}/d*") == [f"{folder}/dir"]
    assert file_io.get_matching_files(f"file://{folder}/d*") == [f"file://{folder}/dir"]
    assert file_io.read_file_to_string(f"file://{folder}/a") == "one\ntwo\nthree"


def test_directories():
    file_io.create_dir("n1")
    file_io.create_dir("n1")
    file_io.recursive_create_dir("n4/n5/n6")
    file_io.recursive_create_dir("n4/n5/n6/")
    file_io.create_dir("a")  # no error in TensorFlow either
    assert file_io.list_directory("n4") == ["n5"]
    assert list(file_io.walk("n4")) == [("n4", ["n5"], []), ("n4/n5", ["n6"], []), ("n4/n5/n6", [], [])]
    assert list(file_io.walk("n4", in_order=False))[0] == ("n4/n5/n6", [], [])
    assert list(file_io.walk("dir/")) == [("dir/", [], ["x"])]
    assert list(file_io.walk("no")) == [] == list(file_io.walk("a"))
    seen = []
    assert list(file_io.walk_v2("no", onerror=seen.append)) == [] and isinstance(seen[0], errors.NotFoundError)
    file_io.delete_recursively("n4")
    assert not os.path.exists("n4")


def test_copies_and_renames():
    file_io.copy("a", "a2")
    assert file_io.filecmp("a", "a2") and not file_io.filecmp("a", "u")
    file_io.copy("u", "a2", overwrite=True)
    assert file_io.filecmp("u", "a2")
    file_io.rename("a2", "a3")
    file_io.rename("a3", "a", overwrite=True)
    assert file_io.filecmp("u", "a")
    file_io.delete_file("a")
    assert not file_io.file_exists("a")


def test_whole_files(folder):
    file_io.write_string_to_file("s", "\u00fc")
    assert file_io.read_file_to_string("s", binary_mode=True) == b"\xc3\xbc"
    file_io.atomic_write_string_to_file("s", b"x")
    file_io.atomic_write_string_to_file("s", "z")
    assert file_io.read_file_to_string("s") == "z"
    assert file_io.file_crc32("s") == "0x62d277af"
    assert sorted(os.listdir(folder)) == ["a", "b", "dir", "empty", "s", "u"]


def test_gfile():
    assert gfile.GFile("a").mode == "r"
    with gfile.Open("g", "w") as file:
        file.write("x")
    assert list(gfile.FastGFile("g")) == ["x"]
    gfile.MakeDirs("m/n")
    assert gfile.Exists("m/n") and gfile.IsDirectory("m") and gfile.ListDirectory("m") == ["n"]
    gfile.MkDir("k")
    gfile.Copy("g", "k/g")
    gfile.Rename("k/g", "k/h")
    assert gfile.Glob("k/*") == ["k/h"] and gfile.Stat("k/h").length == 1
    assert list(gfile.Walk("k")) == [("k", [], ["h"])]
    gfile.Remove("g")
    gfile.DeleteRecursively("k")
    assert not gfile.Exists("k") and not gfile.Exists("g")
