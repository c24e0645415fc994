"""make_template: a function that makes its variables on the first call and shares them on every later one."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.ops import variable_scope

__all__ = ["make_template"]


def make_template(name_: str, func_: Callable[..., Any], create_scope_now_: bool = False,
                  unique_name_: str | None = None, custom_getter_: Any = None, **kwargs: Any) -> Template:
    """Wrap `func_` so that every call uses the variables that the first call made with `tf.get_variable`.

    The variables live in a variable scope of its own, named after `name_` (made unique) or exactly `unique_name_`;
    it is fixed at the first call, or now with `create_scope_now_`. `kwargs` are passed to every call.

    Raises `ValueError` for a missing name, and in later calls for variables that the first call did not make.
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now=create_scope_now_, unique_name=unique_name_,
                    custom_getter=custom_getter_)


class Template:
    """A function with its own variable scope; see `make_template`."""

    def __init__(self, name: str, func: Callable[..., Any], create_scope_now: bool = False,
                 unique_name: str | None = None, custom_getter: Any = None) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._func, self._name, self._unique_name = func, name, unique_name
        self._custom_getter = custom_getter
        # The last frame is this one and the one before it make_template; a reader wants to see their caller.
        self._stacktrace = traceback.format_stack()[:-2]
        self._variables_created = False
        self._variable_scope: variable_scope.VariableScope | None = None
        if create_scope_now:
            with variable_scope.variable_scope(unique_name, name, custom_getter=custom_getter) as scope:
                self._variable_scope = scope

    def _call_func(self, args: Any, kwargs: Any) -> Any:
        try:
            trainable = len(ops.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES))
            before = len(ops.get_collection_ref(GraphKeys.GLOBAL_VARIABLES))
            result = self._func(*args, **kwargs)
            if self._variables_created:
                new = ops.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)[trainable:]
                if new:
                    raise ValueError("Trainable variable created when calling a template after the first time, perhaps "
                                     f"you used tf.Variable when you meant tf.get_variable: {new}")
                new = ops.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)[before:]
                if new:
                    from tfsandbox.platform.tf_logging import info
                    info("New variables created when calling a template after the first time, perhaps you used "
                         "tf.Variable when you meant tf.get_variable: %s", new)
            self._variables_created = True
            return result
        except Exception as error:
            trace = "".join(self._stacktrace)
            error.args = (f"{error.args[0] if error.args else error}\n\noriginally defined at:\n{trace}",
                          *error.args[1:])
            raise

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._variable_scope is not None:
            reuse = variable_scope.AUTO_REUSE if not self._variables_created else True
            with variable_scope.variable_scope(self._variable_scope, reuse=reuse):
                return self._call_func(args, kwargs)
        with variable_scope.variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter) as scope:
            self._variable_scope = scope
            return self._call_func(args, kwargs)

    @property
    def name(self) -> str:
        """The name given to the template."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        return self._func

    @property
    def variable_scope(self) -> Any:
        """The template's variable scope, None before there is one."""
        return self._variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        if self._variable_scope is None:
            return None
        return self._variable_scope.name

    @property
    def var_scope(self) -> Any:
        """Deprecated name of `variable_scope`."""
        return self._variable_scope

    def _collection(self, key: Any) -> list[Any]:
        if not self._variables_created or self._variable_scope is None:
            return []
        return self._variable_scope.get_collection(key)

    @property
    def variables(self) -> list[Any]:
        """The variables made so far, global and local."""
        return self.global_variables + self.local_variables

    @property
    def weights(self) -> list[Any]:
        return self.variables

    @property
    def trainable_variables(self) -> list[Any]:
        return self._collection(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def trainable_weights(self) -> list[Any]:
        return self.trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        trainable = self.trainable_variables
        return [v for v in self.variables if v not in trainable]

    @property
    def global_variables(self) -> list[Any]:
        return self._collection(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        return self._collection(GraphKeys.LOCAL_VARIABLES)
