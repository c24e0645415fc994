"""The `%tf_...` magics and `%tensorflow_version`: each shows a view, or says in one line why it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfsandbox.notebook import engine_records, tensorflow_version
from tfsandbox.notebook.detail import LEVELS, RULES
from tfsandbox.notebook.graph_model import GraphModel, closest
from tfsandbox.notebook.line_arguments import GraphName, evaluated, graph_name, meaning, operations, split_words
from tfsandbox.notebook.lost_values import show_if_lost
from tfsandbox.notebook.show import scene_of
from tfsandbox.notebook.views import GraphView, View


def _view_options(magic: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every view has."""
    for option in (argument("--save", metavar="FILE", help="also write it to a file: .svg, .html, .json or .txt"),
                   argument("--text", action="store_true", help="as plain text"),
                   argument("--static", action="store_true", help="as a still picture, the one that GitHub shows"),
                   argument("--widget", action="store_true",
                            help="as a widget, where the front end has no extension of JupyterLab")):
        magic = option(magic)
    return magic


@magics_class
class TensorFlowMagics(Magics):
    """The magics of the sandbox."""

    # What the words of a line mean

    def _parsed(self, magic: Callable[..., Any], line: str) -> Any:
        return magic.parser.parse_args(split_words(line))  # type: ignore[attr-defined]

    def _default_graph(self) -> Any:
        from tfsandbox.framework.graph import get_default_graph

        return get_default_graph()

    def _meanings(self, words: list[str], graph: Any = None) -> list[Any]:
        return operations(meaning(self.shell, word, graph or self._default_graph()) for word in words)

    def _session(self, expression: str | None, graph: Any) -> Any:
        """The session asked for, else the default one, else the notebook's only open one of this graph."""
        from tfsandbox.framework.stacks import default_session
        from tfsandbox.runtime.session import BaseSession

        chosen = evaluated(self.shell, expression, "--session")
        if chosen is not None:
            if not hasattr(chosen, "run"):
                raise UsageError(f"--session {expression} is no session but a {type(chosen).__name__}.")
            if chosen.graph is not graph:
                raise UsageError(f"--session {expression} runs another graph than the one shown.")
            return chosen
        current = default_session()
        if current is not None and current.graph is graph:
            return current
        found = {id(value): value for value in list(self.shell.user_ns.values()) if isinstance(value, BaseSession)
                 and value.graph is graph and not getattr(value, "_closed", False)}
        return next(iter(found.values())) if len(found) == 1 else None

    def _shown(self, view: View, arguments: Any) -> Any:
        view.interactive = view.interactive and not arguments.static
        if arguments.save:
            try:
                path = view.save(arguments.save)
            except (OSError, ValueError) as error:
                raise UsageError(str(error)) from None
            print(f"Saved to {path}.")
        if arguments.text:
            print(view.text())
            return None
        return show_if_lost(self.shell, view.explore() if arguments.widget else view)

    @staticmethod
    def _usage(work: Callable[[], Any]) -> Any:
        """Errors that name what the user typed, as one line instead of a traceback."""
        from tfsandbox.framework.errors_impl import OpError

        try:
            return work()
        except OpError as error:
            raise UsageError(f"{type(error).__name__}: {str(error.message).splitlines()[0]}") from None
        except (KeyError, ValueError, TypeError) as error:
            # A KeyError's own text is in quotes.
            raise UsageError(str(error.args[0]) if error.args else str(error)) from None

    # The views

    @magic_arguments()
    @argument("what", nargs="*", help="tensors, operations, variables, a graph, a session, a GraphDef, or the name of "
                                      "a node or name scope; nothing means the default graph")
    @argument("--detail", "-d", metavar="LEVEL", default="ideas",
              help="ideas (the forward pass), gradients (with the backward pass beside it) or full (every node)")
    @argument("--expand", "-e", metavar="SCOPE", action="append",
              help="a name scope to open, * for all; may be repeated")
    @argument("--collapse", "-c", metavar="SCOPE", action="append", default=[], help="a name scope to keep closed")
    @argument("--hide", metavar="RULE", action="append", default=[],
              help=f"also leave out nodes by a rule: {', '.join(RULES)}; may be repeated")
    @argument("--show", metavar="RULE", action="append", default=[], help="do not leave out the nodes of a rule")
    @argument("--ungrouped", action="store_true", help="long series (MatMul, MatMul_1, ...) box by box")
    @argument("--dot", action="store_true", help="print it as Graphviz source; view.digraph() gives a graphviz.Digraph")
    @_view_options
    @line_magic
    def tf_graph(self, line: str) -> Any:
        """Show a graph, or what some tensors depend on.

        Examples::

            %tf_graph
            %tf_graph loss --detail gradients
            %tf_graph fully_connected --expand fully_connected/batch_normalization
            %tf_graph --detail full --hide optimizer --hide slot
            %tf_graph --save graph.html

        In JupyterLab and Notebook 7 the picture is live: open scopes, search, click to trace. `view = %tf_graph` keeps
        it: `view.selected` are the nodes chosen in the page, `with view.watch(sess):` shows the values of runs.
        """
        arguments = self._parsed(self.tf_graph, line)
        return self._usage(lambda: self._graph(arguments))

    def _graph(self, arguments: Any) -> Any:
        model, focus = scene_of(self._meanings(arguments.what), self._default_graph())
        view = GraphView(model, arguments.detail, arguments.expand, arguments.collapse, arguments.hide, arguments.show,
                         focus, group_series=not arguments.ungrouped)
        if arguments.dot:
            print(view.digraph().source)
            return None
        return self._shown(view, arguments)

    @magic_arguments()
    @argument("loss", help="the scalar tensor to differentiate: an expression or a node's name")
    @argument("variables", nargs="*", default=[], help="with respect to these; nothing means all that train")
    @argument("--feed", "-f", metavar="EXPR", help="a feed_dict; with it the picture has the norms of the gradients")
    @argument("--session", "-s", metavar="EXPR",
              help="the session to ask; the default or the notebook's only one if not given")
    @argument("--expand", "-e", metavar="SCOPE", action="append",
              help="a name scope to open, * for all; may be repeated")
    @argument("--steps", action="store_true", help="the backward pass op by op, as text")
    @_view_options
    @line_magic
    def tf_gradients(self, line: str) -> Any:
        """Show how gradients flow from a loss to variables, and how large they are.

        Examples::

            %tf_gradients loss
            %tf_gradients loss w b --feed {x: batch_x, y: batch_y}
            %tf_gradients loss --steps
        """
        arguments = self._parsed(self.tf_gradients, line)
        arguments.text = arguments.text or arguments.steps
        return self._usage(lambda: self._gradients(arguments))

    def _gradients(self, arguments: Any) -> Any:
        from tfsandbox.training.loss_gradients import Gradients

        loss, = self._meanings([arguments.loss])
        graph = getattr(loss, "graph", None)
        if isinstance(loss, GraphName):
            graph = self._default_graph()
            loss = self._tensor(graph, loss, "a loss")
        feeds = evaluated(self.shell, arguments.feed, "--feed")
        if isinstance(loss, Gradients):
            session = self._session(arguments.session, loss.loss.graph)
            view = engine_records.view_of_gradients(loss, session, feeds, expand=arguments.expand)
            return self._shown(view, arguments)
        if graph is None:
            raise TypeError(f"%tf_gradients needs a scalar tensor of a graph, not a {type(loss).__name__}.")
        variables = [self._variable(graph, thing) for thing in self._meanings(arguments.variables, graph)]
        session = self._session(arguments.session, graph)
        before = len(graph.get_operations())
        view = engine_records.gradient_view(loss, variables, session, feeds, expand=arguments.expand)
        added = len(graph.get_operations()) - before
        if added:
            print(f"The graph had no such gradients of {loss.op.name} yet: {added} nodes were added to it.")
        return self._shown(view, arguments)

    @staticmethod
    def _tensor(graph: Any, name: GraphName, what: str) -> Any:
        if name.scope:
            raise ValueError(f"{name.name!r} is a name scope, not {what}.")
        outputs = graph.get_operation_by_name(name.name).outputs
        if not outputs:
            raise ValueError(f"{name.name!r} has no output, so it is not {what}.")
        return outputs[0]

    @staticmethod
    def _variable(graph: Any, thing: Any) -> Any:
        if not isinstance(thing, GraphName):
            return thing
        there = {variable.op.name: variable for variable in engine_records.graph_variables(graph)}
        if thing.name not in there:
            near = closest(thing.name, there)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise ValueError(f"{thing.name!r} is not a variable.{hint}")
        return there[thing.name]

    @magic_arguments()
    @argument("scope", nargs="?", help="a TrainingScope; nothing means the active one")
    @argument("--session", "-s", metavar="EXPR",
              help="the session to ask for values and to train in; the one that the scope ran in if not given")
    @argument("--train", "-t", metavar="EXPR", help="the op that trains; the graph's only one if not given")
    @argument("--loss", "-l", metavar="EXPR", help="the loss to draw; what the train op minimises if not given")
    @argument("--feed", "-f", metavar="EXPR",
              help="a feed_dict, evaluated again for every step, or a function that gives one")
    @_view_options
    @line_magic
    def tf_scope(self, line: str) -> Any:
        """Show which variables train and which are frozen, with their slots, and what has moved; switch and train.

        Examples::

            %tf_scope
            %tf_scope scope --session sess
            %tf_scope scope --train train_op --feed {x: batch_x, y: batch_y}
            %tf_scope scope --feed next_batch()
        """
        arguments = self._parsed(self.tf_scope, line)
        return self._usage(lambda: self._scope(arguments))

    def _scope(self, arguments: Any) -> Any:
        from tfsandbox.training.training_scope import TrainingScope, current_scope

        scope = self._meanings([arguments.scope])[0] if arguments.scope else current_scope()
        if scope is not None and not isinstance(scope, TrainingScope):
            raise TypeError(f"%tf_scope shows what `with tf.contrib.framework.training_scope(...) as scope:` gives, "
                            f"not a {type(scope).__name__}.")
        graph = scope.graph if scope is not None else self._default_graph()
        session = self._session(arguments.session, graph)
        train_op, loss = (self._to_run(word, graph) for word in (arguments.train, arguments.loss))
        view = engine_records.scope_view(scope, session, graph, train_op=train_op, loss=loss,
                                         feeds=self._feeds(arguments.feed))
        return self._shown(view, arguments)

    def _to_run(self, word: str | None, graph: Any) -> Any:
        """What an option says to fetch: a tensor or an operation of the graph; None where it is not given."""
        if word is None:
            return None
        thing = self._meanings([word], graph)[0]
        if isinstance(thing, GraphName):
            if thing.scope:
                raise ValueError(f"{thing.name!r} is a name scope; what runs is an operation or a tensor.")
            thing = graph.get_operation_by_name(thing.name)
            return thing.outputs[0] if len(thing.outputs) == 1 and not thing.outputs[0].dtype._is_ref_dtype else thing
        return graph.as_graph_element(thing)

    def _feeds(self, expression: str | None) -> Any:
        """A function that evaluates `--feed` for one step: batches differ."""
        if expression is None:
            return None

        def feeds() -> Any:
            value = evaluated(self.shell, expression, "--feed")
            value = value() if callable(value) else value
            if value is not None and not hasattr(value, "items"):
                raise TypeError(f"--feed {expression} is no feed_dict but a {type(value).__name__}.")
            return value

        return feeds

    @magic_arguments()
    @argument("protected", nargs="*", help="tensors, operations or node names that must stay")
    @argument("--graph", "-g", metavar="EXPR", help="a Graph or GraphDef; the default graph if not given")
    @_view_options
    @line_magic
    def tf_prune(self, line: str) -> Any:
        """Show what `tf.graph_util.remove_training_nodes` removes, rule by rule, and why.

        Examples::

            %tf_prune
            %tf_prune output --graph optimized_graph_def
        """
        arguments = self._parsed(self.tf_prune, line)
        return self._usage(lambda: self._prune(arguments))

    def _prune(self, arguments: Any) -> Any:
        graph = evaluated(self.shell, arguments.graph, "--graph")
        if graph is None:
            graph = self._default_graph()
        graph_def = graph.as_graph_def() if hasattr(graph, "as_graph_def") else graph
        names = []
        for word in arguments.protected:
            if hasattr(graph, "get_operations"):
                thing = meaning(self.shell, word, graph)
            else:
                thing = graph_name(GraphModel.from_graph_def(graph_def), word)
                thing = thing or meaning(self.shell, word, self._default_graph())
            names += [getattr(getattr(item, "op", item), "name", item) for item in operations([thing])]
        session = self._session(None, graph) if hasattr(graph, "get_operations") else None
        view = engine_records.prune_view(graph_def, names, session)
        if arguments.graph:
            view.subject = arguments.graph + (".as_graph_def()" if graph_def is not graph else "")
        return self._shown(view, arguments)

    @magic_arguments()
    @argument("fetches", nargs="+", help="what `sess.run` would be asked for: expressions or node names")
    @argument("--feed", "-f", metavar="EXPR", help="a feed_dict; its shapes make the program more particular")
    @argument("--session", "-s", metavar="EXPR", help="the session whose plan to show")
    @_view_options
    @line_magic
    def tf_code(self, line: str) -> Any:
        """Show the numpy program that `sess.run` executes for some fetches.

        Examples::

            %tf_code loss
            %tf_code train_op loss --feed {x: batch_x, y: batch_y}
        """
        arguments = self._parsed(self.tf_code, line)
        return self._usage(lambda: self._code(arguments))

    def _code(self, arguments: Any) -> Any:
        graph = self._default_graph()
        fetches = []
        for thing in self._meanings(arguments.fetches):
            if isinstance(thing, GraphName):
                if thing.scope:
                    raise ValueError(f"{thing.name!r} is a name scope; a run fetches tensors and operations.")
                operation = graph.get_operation_by_name(thing.name)
                thing = operation.outputs[0] if operation.outputs else operation
            fetches.append(thing)
        owner = next((getattr(thing, "graph", None) for thing in fetches), None) or graph
        session = self._session(arguments.session, owner)
        feeds = evaluated(self.shell, arguments.feed, "--feed")
        return self._shown(engine_records.code_view(fetches, feeds, session), arguments)

    @magic_arguments()
    @argument("pattern", nargs="?", default="", help="a regular expression for the start of the names")
    @argument("--graph", "-g", metavar="EXPR", help="a Graph; the default graph if not given")
    @argument("--session", "-s", metavar="EXPR", help="the session to ask for values")
    @_view_options
    @line_magic
    def tf_vars(self, line: str) -> Any:
        """Show a table of the variables: name, shape, dtype, size, and with a session their norms.

        Examples::

            %tf_vars
            %tf_vars fully_connected --session sess
        """
        arguments = self._parsed(self.tf_vars, line)
        return self._usage(lambda: self._vars(arguments))

    def _vars(self, arguments: Any) -> Any:
        graph = evaluated(self.shell, arguments.graph, "--graph") or self._default_graph()
        if not hasattr(graph, "get_collection"):
            raise TypeError(f"--graph {arguments.graph} is no Graph but a {type(graph).__name__}.")
        session = self._session(arguments.session, graph)
        return self._shown(engine_records.variables_view(graph, session, arguments.pattern.strip("'\"")), arguments)

    # Without a view

    @magic_arguments()
    @line_magic
    def tf_reset(self, line: str) -> None:
        """Start over with an empty default graph.

        Examples::

            %tf_reset
        """
        from tfsandbox.framework.graph import reset_default_graph

        self._parsed(self.tf_reset, line)
        before = self._default_graph()
        stale = [name for name, value in list(self.shell.user_ns.items())
                 if not name.startswith("_") and getattr(value, "graph", None) is before]
        count = len(before.get_operations())
        try:
            reset_default_graph()
        except AssertionError as error:
            raise UsageError(str(error)) from None
        words = f"The default graph is empty now; it had {count} node{'' if count == 1 else 's'}."
        if stale:
            shown = ", ".join(stale[:8]) + (", …" if len(stale) > 8 else "")
            words += f" Of the old graph still: {shown}."
        print(words)

    @magic_arguments()
    @argument("version", nargs="?", help="1.x makes `import tensorflow` mean the sandbox, 2.x undoes it")
    @line_magic
    def tensorflow_version(self, line: str) -> None:
        """Say which TensorFlow `import tensorflow` gives, as old Colab notebooks do.

        Examples::

            %tensorflow_version 1.x
        """
        arguments = self._parsed(self.tensorflow_version, line)
        try:
            print(tensorflow_version.select(arguments.version) if arguments.version else tensorflow_version.status())
        except (RuntimeError, ValueError) as error:
            raise UsageError(str(error)) from None


MAGIC_NAMES = ("tf_graph", "tf_gradients", "tf_scope", "tf_prune", "tf_code", "tf_vars", "tf_reset",
               "tensorflow_version")

OPTION_VALUES = {"--detail": LEVELS, "-d": LEVELS, "--hide": tuple(RULES), "--show": tuple(RULES)}
"""The words that an option takes, for completion."""
