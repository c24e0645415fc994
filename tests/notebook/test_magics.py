"""The magics, completion and pictures in a real IPython shell, on the real engine."""

import re
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("IPython")

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import tfsandbox as tf
from tfsandbox.framework import display
from tfsandbox.notebook import tensorflow_version
from tfsandbox.notebook.interactive.training_kinds import training_kinds
from tfsandbox.notebook.line_arguments import split_words
from tfsandbox.notebook.magics import MAGIC_NAMES
from tfsandbox.notebook.show import show_graph
from tfsandbox.notebook.views import CodeView, GradientView, GraphView, ScopeMaskView, VariablesView
from tfsandbox.notebook.views.view import MIME_TYPE
from tfsandbox.training.graph_manager import TrainingGraphManager
from tfsandbox.training.training_scope import training_scope


@pytest.fixture(scope="module")
def bare_shell():
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    yield shell
    shell.history_manager.end_session() if hasattr(shell.history_manager, "end_session") else None
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(bare_shell, capsys):
    bare_shell.run_line_magic("load_ext", "tfsandbox")
    capsys.readouterr()
    yield bare_shell
    if "tfsandbox" in bare_shell.extension_manager.loaded:
        bare_shell.run_line_magic("unload_ext", "tfsandbox")
    bare_shell.user_ns.clear()
    bare_shell.init_user_ns()


@pytest.fixture
def program(shell):
    """The second document's graph in the user's namespace, with a session."""
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, shape=(None, 10), name="x")
    y = tf.placeholder(tf.float32, shape=(None, 1), name="y")
    w = tf.Variable(tf.random_normal([10, 1]), name="w")
    b = tf.Variable(tf.constant(0.0, shape=[1]), name="b")
    output = tf.matmul(x, w) + b
    loss = tf.reduce_mean(tf.square(output - y))
    train = tf.train.GradientDescentOptimizer(learning_rate=0.1).minimize(loss)
    unused = tf.Variable(1.0, name="unused")
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    feeds = {x: np.ones((5, 10), np.float32), y: np.ones((5, 1), np.float32)}
    shell.user_ns.update(
        tf=tf, x=x, y=y, w=w, b=b, output=output, loss=loss, train=train, unused=unused, sess=sess, feeds=feeds, np=np
    )
    yield shell
    sess.close()
    tf.reset_default_graph()


def run(shell, line):
    name, _, rest = line.partition(" ")
    return shell.run_line_magic(name, rest)


def test_split_words():
    assert split_words("loss {x: np.ones((2, 3))} 'a b' f(1, [2, 3])") == [
        "loss",
        "{x: np.ones((2, 3))}",
        "'a b'",
        "f(1, [2, 3])",
    ]
    assert split_words("  ") == [] and split_words(r"'it\'s' x") == [r"'it\'s'", "x"]
    with pytest.raises(UsageError, match="ends too early"):
        split_words("f(1")


def test_tf_graph(program):
    view = run(program, "tf_graph")
    assert isinstance(view, GraphView) and view.title == "graph" and "MatMul" in view.model
    assert run(program, "tf_graph loss").focus == ["Mean"]
    assert run(program, "tf_graph MatMul").focus == ["MatMul"]
    assert run(program, "tf_graph MatMul:0 w").focus == ["MatMul", "w"]
    assert run(program, "tf_graph [loss, output]").focus == ["Mean", "add"]
    assert run(program, "tf_graph tf.get_default_graph()").focus == []
    assert run(program, "tf_graph sess").focus == []
    assert run(program, "tf_graph 'add'").focus == ["add"]
    assert run(program, "tf_graph --detail gradients").backward is not None
    assert "w/Assign" in run(program, "tf_graph -d full -e *").tree.boxes
    assert run(program, "tf_graph -d full -e gradients").expanded == {"gradients/"}
    assert run(program, "tf_graph gradients/MatMul_grad -d full").title == "gradients/MatMul_grad/"
    assert "MatMul" in run(program, "tf_graph tf.get_default_graph().as_graph_def()").model


def test_show_graph(program):
    loss = program.user_ns["loss"]
    assert show_graph().focus == [] and show_graph(loss, "w").focus == ["Mean", "w"]
    assert show_graph([loss], detail="full").detail == "full"
    assert show_graph(program.user_ns["sess"]).title == "graph"
    assert show_graph("gradients/MatMul_grad", detail="full").title == "gradients/MatMul_grad/"
    assert "MatMul" in show_graph(tf.get_default_graph().as_graph_def()).model
    with pytest.raises(KeyError, match="Did you mean 'MatMul'"):
        show_graph("MatMull")
    with pytest.raises(TypeError, match="not a int"):
        show_graph(3)
    with pytest.raises(ValueError, match="different graphs"):
        show_graph(loss, tf.Graph())


def test_tf_graph_by_rules_still_and_as_a_widget(program):
    full = run(program, "tf_graph -d full --hide optimizer --hide gradient")
    assert not [node for node in full.model.nodes if node.role in ("optimizer", "gradient")]
    assert "w/read" in run(program, "tf_graph --show plumbing --show identity").model
    assert run(program, "tf_graph --ungrouped").group_series is False
    with pytest.raises(UsageError, match="no rule 'slots'; the rules are gradient"):
        run(program, "tf_graph --hide slots")
    assert MIME_TYPE in run(program, "tf_graph")._repr_mimebundle_()
    assert MIME_TYPE not in run(program, "tf_graph --static")._repr_mimebundle_()
    pytest.importorskip("anywidget")
    widget = run(program, "tf_graph --widget")
    widget.selected = ["MatMul"]
    assert widget.live.view.selected == ["MatMul"]
    with pytest.raises(UsageError, match="still picture"):
        run(program, "tf_vars --widget")


def test_colab_and_vs_code_get_the_widget(program, monkeypatch):
    pytest.importorskip("anywidget")
    kind = "application/vnd.jupyter.widget-view+json"
    assert kind not in run(program, "tf_graph")._repr_mimebundle_()
    program.user_ns["__vsc_ipynb_file__"] = "x.ipynb"
    assert kind in run(program, "tf_graph")._repr_mimebundle_()
    assert kind not in run(program, "tf_graph --static")._repr_mimebundle_()
    del program.user_ns["__vsc_ipynb_file__"]
    monkeypatch.setitem(sys.modules, "google.colab", object())
    assert kind in run(program, "tf_graph")._repr_mimebundle_()


def test_the_mask_of_a_scope_is_in_the_picture(program):
    def kinds():
        table = run(program, "tf_graph").payload()["nodes"]["kind"]
        return {table["values"][number] for number in table["of"]}

    assert "trains" in kinds() and "frozen" in kinds(), "nothing updates the variable `unused`"
    with training_scope([program.user_ns["b"]]):
        view = run(program, "tf_graph w")
        assert training_kinds(view.source)["w"] == "frozen"
    assert training_kinds(run(program, "tf_graph w").source)["w"] == "trains"


def test_a_name_of_the_users_comes_before_a_node_of_that_name(program):
    program.user_ns["MatMul"] = program.user_ns["loss"]
    assert run(program, "tf_graph MatMul").focus == ["Mean"]


def test_node_names_are_looked_up_and_never_evaluated(program):
    with tf.get_default_graph().as_default():
        tf.constant(1.0, name="np/sum")
    assert run(program, "tf_graph np/sum").focus == ["np/sum"], "not the quotient of two names"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("%tf_vars\n%tf_scope", ["VariablesView", "ScopeMaskView"]),
        ("with tf.contrib.framework.training_scope('w'):\n    %tf_scope", ["ScopeMaskView"]),
        ("def f():\n    %tf_vars\nf()", ["VariablesView"]),
        ("view = %tf_vars\n1", ["int"]),
        ("%tf_vars", ["VariablesView"]),
    ],
)
def test_a_view_is_shown_wherever_the_line_stands(program, cell, shown, monkeypatch):
    program.user_ns["tf"] = tf
    seen = []
    monkeypatch.setattr("IPython.display.display", lambda value: seen.append(type(value).__name__))
    monkeypatch.setattr(type(program.displayhook), "__call__",
                        lambda _, value=None: None if value is None else seen.append(type(value).__name__))
    assert program.run_cell(cell).success
    assert seen == shown


def test_text_and_save(program, capsys, tmp_path):
    assert run(program, "tf_graph --text") is None
    assert "MatMul  MatMul" in capsys.readouterr().out
    assert run(program, "tf_graph --dot") is None
    assert "digraph" in capsys.readouterr().out
    target = tmp_path / "graph.svg"
    assert run(program, f"tf_graph --save {target}") is not None
    ET.parse(target)
    with pytest.raises(UsageError, match=r"\.svg, \.html"):
        run(program, f"tf_graph --save {tmp_path / 'graph.png'}")
    with pytest.raises(UsageError, match=r"There is no folder .* to save 'graph.svg' in"):
        run(program, f"tf_graph --save {tmp_path / 'no' / 'graph.svg'}")


@pytest.mark.parametrize(
    "line, words",
    [
        ("tf_graph lss", "Did you mean .*loss"),
        ("tf_graph Matmull", "Did you mean .*MatMul"),
        ("tf_graph 'Matmull'", "no node or name scope 'Matmull'.*MatMul"),
        ("tf_graph --detail idea", "Did you mean 'ideas'"),
        ("tf_graph -d full --expand gradient", "gradients"),
        ("tf_graph 3", "not a int"),
        ("tf_graph 1/0", "ZeroDivisionError"),
        ("tf_graph --nonsense", "nonsense"),
        ("tf_gradients", "required: loss$"),
        ("tf_gradients gradients", "name scope"),
        ("tf_gradients loss MatMul", "'MatMul' is not a variable"),
        ("tf_gradients loss --feed {x: 3}", "Cannot feed value of shape"),
        ("tf_gradients loss --session 3", "no session"),
        ("tf_gradients 3", "scalar tensor"),
        ("tf_vars vv", "no variable named 'vv'.*There are: w, b"),
        ("tf_vars (", "ends too early"),
        ("tf_scope loss", "training_scope"),
        ("tf_code", "fetches"),
        ("tf_code gradients", "name scope"),
        ("tensorflow_version 3.x", "1.x or 2.x"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(program, line, words):
    with pytest.raises(UsageError, match=words):
        run(program, line)


def test_tf_gradients_uses_the_gradients_that_are_there(program, capsys):
    before = len(tf.get_default_graph().get_operations())
    view = run(program, "tf_gradients loss")
    assert isinstance(view, GradientView) and not view.norms
    assert len(tf.get_default_graph().get_operations()) == before
    view = run(program, "tf_gradients loss w b --feed feeds --session sess")
    expected = program.user_ns["sess"].run(
        tf.gradients(program.user_ns["loss"], program.user_ns["w"]), program.user_ns["feeds"]
    )
    assert view.norms["w"] == pytest.approx(float(np.linalg.norm(expected[0])), rel=1e-5)
    assert {"w", "b", "MatMul", "Mean"} <= set(view.norms)
    assert "|g| =" in view.text()
    assert run(program, "tf_gradients loss --feed feeds").norms, "the notebook's only session is asked"
    assert run(program, "tf_gradients loss --steps") is None
    assert "Square" in capsys.readouterr().out


def test_tf_gradients_builds_what_is_missing_once(program, capsys):
    graph = tf.get_default_graph()
    before = len(graph.get_operations())
    view = run(program, "tf_gradients loss w unused")
    assert {found.variable: found.state() for found in view.variables()} == {"w": "unknown", "unused": "unconnected"}
    assert "nodes were added" in capsys.readouterr().out
    after = len(graph.get_operations())
    run(program, "tf_gradients loss w unused")
    assert len(graph.get_operations()) == after > before and not capsys.readouterr().out


def test_tf_vars(program):
    view = run(program, "tf_vars")
    assert isinstance(view, VariablesView)
    assert [(r.name, r.shape, r.initialized) for r in view.records] == [
        ("w", (10, 1), True),
        ("b", (1,), True),
        ("unused", (), True),
    ]
    assert [record.name for record in run(program, "tf_vars w --session sess").records] == ["w"]
    other = tf.Session()
    program.user_ns["other"] = other
    assert run(program, "tf_vars").records[0].initialized is None, "of two sessions none is chosen"
    assert run(program, "tf_vars -s other").records[0].initialized is False


def test_tf_code(program, capsys):
    view = run(program, "tf_code loss")
    assert isinstance(view, CodeView) and "MatMul" in {name for line in view.lines for name in line.nodes}
    assert view.lines[view.lines_of("MatMul")[0] - 1].code.lstrip().startswith("matmul")
    assert view.folded["w/read"]
    shaped = run(program, "tf_code train loss --feed feeds")
    assert shaped.lines_of("GradientDescent/update_w/ApplyGradientDescent")
    assert run(program, "tf_code Mean").lines_of("MatMul")


def test_tf_scope(program):
    view = run(program, "tf_scope")
    assert isinstance(view, ScopeMaskView) and view.counts()["trains"] == 3
    with training_scope([program.user_ns["w"]], clip_norm=1.0) as scope:
        inside = run(program, "tf_scope")
        program.user_ns["sess"].run(program.user_ns["train"], program.user_ns["feeds"])
    assert inside.counts()["trains"] == 1 and inside.counts()["frozen"] == 2
    program.user_ns["scope"] = scope
    after = {record.name: record for record in run(program, "tf_scope scope").records}
    assert after["w"].delta > 0 and after["b"].delta == 0
    assert run(program, "tf_scope scope").modifiers == {"clip_norm": "1"}


def test_tf_prune(program):
    if getattr(tf.graph_util, "training_nodes", None) is None:
        pytest.skip("graph_util.training_nodes is not there yet")
    view = run(program, "tf_prune")
    gone = {step.name for step in view.removed()}
    assert "GradientDescent" in gone and "gradients/MatMul_grad/MatMul" in gone and "MatMul" not in gone
    assert all(step.reason for step in view.removed())
    assert run(program, "tf_prune output --text") is None
    assert run(program, "tf_prune output").protected == ["add"]


def test_tf_reset(program, capsys):
    count = len(tf.get_default_graph().get_operations())
    assert run(program, "tf_reset") is None
    words = capsys.readouterr().out
    assert f"it had {count} nodes" in words and "loss" in words
    assert not tf.get_default_graph().get_operations()
    with pytest.raises(UsageError, match="graph is empty"):
        run(program, "tf_graph")


def test_help_has_an_example(shell):
    for name in MAGIC_NAMES:
        text = shell.magics_manager.magics["line"][name].__doc__
        assert f"%{name}" in text and "Examples" in text, name


def test_results_are_displayed_as_pictures(program):
    data, _ = program.display_formatter.format(tf.get_default_graph())
    ET.fromstring(data["image/svg+xml"])
    assert data["text/plain"].startswith("graph: ") and "MatMul" in data["text/plain"]
    for name, words in (("loss", "<tf.Tensor 'Mean:0' shape=() dtype=float32>"), ("train", "<tf.Operation 'Grad")):
        data, _ = program.display_formatter.format(program.user_ns[name])
        assert data["text/plain"].startswith(words) and "<svg" in data["image/svg+xml"]
    data, _ = program.display_formatter.format(tf.get_default_graph().as_graph_def())
    assert "<svg" in data["image/svg+xml"] and "(10, 1)" in data["text/plain"]


def test_objects_with_a_bundle_of_their_own(program):
    from tfsandbox.training.training_util import Gradients

    gradients = Gradients(program.user_ns["loss"], [program.user_ns["w"]])
    with program.user_ns["sess"].as_default():
        data, _ = program.display_formatter.format(gradients)
    assert "<svg" in data["image/svg+xml"]
    assert "gradients of Mean" in gradients._repr_mimebundle_()["text/plain"]
    with training_scope([program.user_ns["w"]]) as scope:
        pass
    data, _ = program.display_formatter.format(scope)
    assert "1 of 3 trainable variables train" in data["text/plain"] and "<table" in data["text/html"]


def test_a_figure_that_is_none_of_pyplots(program):
    figure = TrainingGraphManager([program.user_ns["w"]]).plot()
    shown, _ = program.display_formatter.format(figure)
    assert shown["image/png"]
    program.run_line_magic("unload_ext", "tfsandbox")
    shown, _ = program.display_formatter.format(figure)
    assert "image/png" not in shown


def test_looking_never_fails(program, monkeypatch):
    from tfsandbox.notebook import engine_records

    monkeypatch.setattr(engine_records, "graph_view", lambda *_, **__: 1 / 0)
    data, _ = program.display_formatter.format(program.user_ns["loss"])
    assert data["text/plain"].startswith("<tf.Tensor 'Mean:0'")


def completions(shell, text):
    _, matches = shell.complete(text=None, line=text, cursor_pos=len(text))
    return matches


def test_completion(program):
    assert "loss" in completions(program, "%tf_graph lo")
    assert "MatMul" in completions(program, "%tf_graph MatM")
    assert "gradients/" in completions(program, "%tf_graph gradi")
    assert "gradients/MatMul_grad/" in completions(program, "%tf_graph gradients/MatM")
    assert "--detail" in completions(program, "%tf_graph --de")
    assert {word[:2] for word in completions(program, "%tf_graph --")} == {"--"}, "no Python names beside the options"
    assert completions(program, "%tf_graph --detail ") == ["ideas", "gradients", "full"]
    assert completions(program, "%tf_graph --detail id") == ["ideas"]
    expand = completions(program, "%tf_graph --expand ")
    assert "gradients/" in expand and "MatMul" not in expand and "loss" not in expand
    assert "sess" in completions(program, "%tf_vars --session s")
    assert "feeds" in completions(program, "%tf_code loss --feed f")
    assert completions(program, "%tensorflow_version ") == ["1.x", "2.x"]


def test_modules_of_the_alias_are_completed(shell):
    run(shell, "tensorflow_version 1.x")
    assert "tensorflow.python.training" in completions(shell, "from tensorflow.python.tr")


def test_loading_and_unloading_are_clean(bare_shell, capsys):
    formatter = bare_shell.display_formatter.mimebundle_formatter
    before = (
        set(bare_shell.magics_manager.magics["line"]),
        dict(formatter.type_printers),
        dict(bare_shell.strdispatchers.get("complete_command").strs),
        list(bare_shell.Completer.custom_matchers),
        "tensorflow" in sys.modules,
    )
    bare_shell.run_line_magic("load_ext", "tfsandbox")
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and "import tensorflow" in said
    assert set(MAGIC_NAMES) <= set(bare_shell.magics_manager.magics["line"])
    assert display.renderer is not None
    bare_shell.run_line_magic("reload_ext", "tfsandbox")
    assert set(MAGIC_NAMES) <= set(bare_shell.magics_manager.magics["line"])
    bare_shell.run_line_magic("unload_ext", "tfsandbox")
    after = (
        set(bare_shell.magics_manager.magics["line"]),
        dict(formatter.type_printers),
        dict(bare_shell.strdispatchers.get("complete_command").strs),
        list(bare_shell.Completer.custom_matchers),
        "tensorflow" in sys.modules,
    )
    assert after == before and display.renderer is None
    assert not completions(bare_shell, "%tf_graph --de")


def test_tensorflow_version(shell, capsys):
    run(shell, "tensorflow_version 1.x")
    assert "TensorFlow 1.x selected" in capsys.readouterr().out
    assert sys.modules["tensorflow"] is tf and tensorflow_version.alias_installed()
    run(shell, "tensorflow_version")
    assert "1.x (the sandbox)" in capsys.readouterr().out
    run(shell, "tensorflow_version 2.x")
    assert "no longer gives the sandbox" in capsys.readouterr().out or tensorflow_version.real_tensorflow_installed()
    assert not tensorflow_version.alias_installed()
    run(shell, "tensorflow_version 1.15.2")
    assert re.search("1.15.2 means 1.x", capsys.readouterr().out)
    run(shell, "tensorflow_version 2.x")


def test_an_installed_tensorflow_is_left_alone(bare_shell, capsys, monkeypatch, tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("raise ImportError('not to be imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    bare_shell.run_line_magic("load_ext", "tfsandbox")
    try:
        assert "still gives the installed TensorFlow" in capsys.readouterr().out
        assert not tensorflow_version.alias_installed()
    finally:
        bare_shell.run_line_magic("unload_ext", "tfsandbox")
