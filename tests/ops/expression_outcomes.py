"""What TensorFlow and the sandbox make of expressions: the nodes, static shapes, values and errors, as JSON.

An expression may use `tf`, `np` and the names of a table of inputs, {name: (type, static shape, value)}, each of which
is a placeholder made when it is first used. It runs under TensorFlow 1.15 to be recorded and here to be compared.
"""

from __future__ import annotations

import re

import numpy as np


def split(groups):
    """(group, expression) for every expression of the groups [(name, lines)], which stand apart by ` | `."""
    return [(group, text.strip()) for group, block in groups
            for line in block.strip().splitlines() for text in line.split(" | ")]


class Names(dict):
    """The names an expression may use; makes the placeholders and remembers what to feed them."""

    def __init__(self, tf, inputs):
        super().__init__(tf=tf, np=np)
        self.inputs = inputs
        self.feed = {}

    def __missing__(self, name):
        if name not in self.inputs:
            raise KeyError(name)
        dtype, shape, value = self.inputs[name]
        tensor = self["tf"].placeholder(getattr(self["tf"], dtype), shape, name=name)
        self.feed[tensor] = np.array(value, object if dtype == "string" else dtype)
        self[name] = tensor
        return tensor


def outcome(tf, inputs, group, expression):
    """What building and running an expression gives; its gradients, for those of the group "gradients"."""
    graph = tf.Graph()
    with graph.as_default():
        names = Names(tf, inputs)
        try:
            result = eval(expression, {}, names)
            if group == "gradients":
                sources = [t for t in names.feed if t.dtype.is_floating]
                result = tf.gradients(result, sources)
        except Exception as error:
            return {"error": [type(error).__name__, without_help(error)]}
        found = {"nodes": [node_text(tf, op) for op in graph.get_operations()]}
        tensors = flat(tf, result)
        found["shapes"] = [str(t.shape) if hasattr(t, "dtype") else repr(t) for t in tensors]
        fetches = [t for t in tensors if isinstance(t, (tf.Tensor, tf.Operation))]
        tables = tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)
        with tf.Session() as sess:
            try:
                sess.run(tables)
                values = sess.run(fetches, names.feed)
            except Exception as error:
                found["run_error"] = [type(error).__name__, str(error).split("\n")[0]]
            else:
                found["values"] = [described(value) for value in values]
    return found


def node_text(tf, op):
    """Name, type and inputs of a node, the value of a small constant, attributes that are numbers or texts."""
    words = [op.name, op.type] + [t.name[:-2] if t.name.endswith(":0") else t.name for t in op.inputs]
    for name, value in sorted(op.node_def.attr.items()):
        kind = value.WhichOneof("value")
        if op.type == "Const" and name == "value":
            array = tf.make_ndarray(value.tensor)
            if array.size < 10 and array.dtype.kind != "V":
                words.append(str(array.tolist()))
        elif kind in ("i", "b", "s", "f") and name != "N" and getattr(value, kind):
            # Tables have names that differ each time.
            words.append(name + "=" + re.sub("[0-9a-f]{8}-[0-9a-f-]{27}", "UUID", str(getattr(value, kind))))
        elif kind == "list" and value.list.i:
            words.append(name + "=" + str(list(value.list.i)))
    return " ".join(words)


def flat(tf, result):
    """The tensors and operations of a result, and whatever else stands in it."""
    if isinstance(result, tf.SparseTensor):
        return [result.indices, result.values, result.dense_shape]
    if isinstance(result, tf.IndexedSlices):
        return [result.values, result.indices]
    if isinstance(result, dict):
        return [t for name in sorted(result) for t in flat(tf, result[name])]
    if isinstance(result, (list, tuple)):
        return [t for part in result for t in flat(tf, part)]
    return [result]


def without_help(error):
    """The message as far as TensorFlow wrote it: the sandbox may add a paragraph on what to do."""
    return str(error).split("\n")[0]


def described(value):
    """A value as JSON: its type, shape and elements; of many elements the first and sums of rows of ten of the rest."""
    if value is None:
        return None
    array = np.asarray(value)
    flat_values = array.ravel()
    if array.size > 80 and array.dtype.kind == "f":
        rest = flat_values[40:]
        sums = np.add.reduceat(rest.astype(np.float64), np.arange(0, rest.size, 10))
        flat_values = np.concatenate([flat_values[:40], sums])
    if array.dtype.kind == "c":
        elements = [[f"{float(x.real):.7g}", f"{float(x.imag):.7g}"] for x in flat_values]
    elif array.dtype.kind == "f":
        digits = 12 if array.dtype == np.float64 else 7
        elements = [f"{float(x):.{digits}g}" for x in flat_values]
    else:
        elements = [x.decode("latin1") if isinstance(x, bytes) else x for x in flat_values.tolist()]
    dtype = "object" if array.dtype.kind in "SU" else array.dtype.name
    return {"dtype": dtype, "shape": list(array.shape), "elements": elements}
