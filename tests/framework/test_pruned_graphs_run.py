"""The recorded graphs run before and after pruning, on one checkpoint: what remains is the same, bit for bit."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
import tfsandbox.train  # noqa: F401  (the optimizers' ops)
from tfsandbox.framework import graph_util
from tfsandbox.proto import graph_pb2

GRAPHS = Path(__file__).parent / "pruning" / "graphs"
CASES = json.loads((GRAPHS / "cases.json").read_text())

# What changes or reads outer state, hands it on by reference, or runs inside a loop.
NOT_FETCHED = re.compile(r"\w*(Queue|Accumulator|Save|Restore|Shard|Checkpoints|Stack|TensorArray)\w*|Enter|Exit|"
                         r"NextIteration|LoopCond|Placeholder|Variable\w*|Assign\w*|VarHandleOp|Switch|Merge")


def imported(graph_def: Any) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    return graph


def feeds(graph: Any) -> dict[str, Any]:
    draw = np.random.RandomState(0)
    found = {}
    for op in graph.get_operations():
        if op.type == "Placeholder":
            tensor = op.outputs[0]
            shape = [2 if size is None else size for size in tensor.shape.as_list()]
            if tensor.dtype == tf.bool:
                value = np.ones(shape)
            elif tensor.dtype.is_integer:
                value = draw.randint(0, 2, shape)
            else:
                value = draw.uniform(0.1, 0.9, shape)
            found[tensor.name] = value.astype(tensor.dtype.as_numpy_dtype)
    return found


@pytest.mark.parametrize("name", CASES)
def test_same_values(name: str, tmp_path: Path) -> None:
    graph_def = graph_pb2.GraphDef()
    graph_def.ParseFromString(gzip.decompress((GRAPHS / f"{name}.pb.gz").read_bytes()))
    try:
        whole = imported(graph_def)
    except tf.errors.NotFoundError as error:
        pytest.skip(str(error).splitlines()[0])
    pruned = imported(graph_util.remove_training_nodes(graph_def))
    names = {op.name for op in pruned.get_operations()}
    known = {op.name for op in whole.get_operations()}
    values = feeds(whole)
    fewer = {key: value for key, value in values.items() if key.partition(":")[0] in names}
    with tf.Session(graph=whole) as before, tf.Session(graph=pruned) as after:
        if "init" in names:
            before.run("init")
            after.run("init")
        if "save/restore_all" in names and "save/control_dependency" in names:
            path = before.run("save/control_dependency:0", {"save/Const:0": str(tmp_path / "model")})
            after.run("save/restore_all", {"save/Const:0": path})
        compared = 0
        for op in pruned.get_operations():
            if NOT_FETCHED.fullmatch(op.type) or "while/" in op.name or op.name not in known or "save" in op.name:
                continue
            for tensor in op.outputs:
                if op.name.startswith(("some", "sharded", "sequential", "reshaping", "first_version")):
                    continue
                compared += same(before, values, after, fewer, tensor.name)
    assert compared or not values


def same(before: Any, values: dict[str, Any], after: Any, fewer: dict[str, Any], tensor: str) -> int:
    """1 where both give the value, 0 where both fail: what stands in a branch not taken cannot be fetched."""
    try:
        expected = before.run(tensor, values)
    except tf.errors.InvalidArgumentError:
        return 0
    got = after.run(tensor, fewer)
    expected, got = np.asarray(expected), np.asarray(got)
    assert (expected.dtype, expected.shape) == (got.dtype, got.shape), tensor
    if expected.dtype == object:
        assert expected.tolist() == got.tolist(), tensor
    else:
        assert expected.tobytes() == got.tobytes(), tensor
    return 1
