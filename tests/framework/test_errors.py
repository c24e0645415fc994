"""The text of an error that names an op (the rest is in test_recorded)."""

from types import SimpleNamespace

from tfsandbox.framework import errors, errors_impl


def test_the_text_ends_with_where_the_op_was_made() -> None:
    original = SimpleNamespace(name="a", traceback=[("first.py", 3, "build", "a = tf.add(x, y)")])
    op = SimpleNamespace(name="b", traceback=[("train.py", 12, "<module>", "b = f(a)")], _original_op=original)
    error = errors.InvalidArgumentError(None, op, "Incompatible shapes")
    assert str(error) == (
        "Incompatible shapes\n\nOriginal stack trace for 'b':\n"
        '  File "train.py", line 12, in <module>\n    b = f(a)\n\n'
        "\n...which was originally created as op 'a', defined at:\n"
        '  File "first.py", line 3, in build\n    a = tf.add(x, y)\n\n'
    )
    assert error.message == "Incompatible shapes"
    assert error.op is op


def test_an_op_without_a_stack_is_named() -> None:
    error = errors.NotFoundError(None, SimpleNamespace(name="read"), "Key w not found")
    assert str(error) == "Key w not found\n\nOriginal stack trace for 'read':\n"


def test_public_names_are_the_implementations() -> None:
    for name in errors.__all__:
        assert getattr(errors, name) is getattr(errors_impl, name)
