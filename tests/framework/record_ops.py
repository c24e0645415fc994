"""Writes recorded/ops.txt: every op of TensorFlow 1.15.5 as `Name | inputs -> outputs | attributes | flags`.

Run it with an interpreter that has TensorFlow 1.15: python record_ops.py. The lines are in the language of
`tfsandbox.framework.op_registry`.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python import pywrap_tensorflow

FLAGS = ("is_stateful", "is_commutative", "is_aggregate", "allows_uninitialized_input")


def scalar(kind, value):
    if kind == "s":
        return repr(value.decode())
    if kind == "f":
        return str(np.float32(value))
    if kind == "b":
        return "true" if value else "false"
    if kind == "type":
        return tf.as_dtype(value).name
    if kind == "shape":
        if value.unknown_rank:
            return "unknown"
        return "[" + ", ".join("?" if d.size < 0 else str(d.size) for d in value.dim) + "]"
    if kind == "tensor":
        array = tf.make_ndarray(value)
        return "%s[%s]" % (array.dtype.name, ", ".join(map(str, array.ravel().tolist())))
    return str(value)


def attr_value(attr):
    kind = attr.WhichOneof("value")
    if kind != "list":
        return scalar(kind, getattr(attr, kind))
    for part in ("s", "i", "f", "b", "type", "shape"):
        values = getattr(attr.list, part)
        if len(values):
            return "[" + ", ".join(scalar(part, v) for v in values) + "]"
    return "[]"


def argument(arg):
    kind = arg.type_attr or arg.type_list_attr or tf.as_dtype(arg.type).name
    if arg.number_attr:
        kind = "%s*%s" % (arg.number_attr, kind)
    return "%s: %s" % (arg.name, "ref(%s)" % kind if arg.is_ref else kind)


def attribute(attr):
    text = "%s: %s" % (attr.name, attr.type)
    if attr.HasField("allowed_values"):
        text += " in {%s}" % attr_value(attr.allowed_values)[1:-1]
    if attr.has_minimum:
        text += " >= %d" % attr.minimum
    if attr.HasField("default_value"):
        text += " = " + attr_value(attr.default_value)
    return text


def main():
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tensorflow.TF_GetBuffer(pywrap_tensorflow.TF_GetAllOpList()))
    lines = []
    for op in sorted(ops.op, key=lambda op: op.name):
        signature = "%s -> %s" % (", ".join(map(argument, op.input_arg)), ", ".join(map(argument, op.output_arg)))
        lines.append(" | ".join([op.name, signature.strip(), "; ".join(map(attribute, op.attr)),
                                 " ".join(flag for flag in FLAGS if getattr(op, flag))]))
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "recorded", "ops.txt"), "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
