"""Branches and loops through a MetaGraphDef; fields as TensorFlow 1.15.5 writes them."""

import warnings
from typing import Any

import pytest

import tfsandbox as tf
from tfsandbox.proto import control_flow_pb2


def build() -> None:
    p, a, v = tf.placeholder(tf.bool, name="p"), tf.constant(1.0, name="a"), tf.Variable(2.0)
    with tf.name_scope("sc"):
        tf.cond(p, lambda: a + 1, lambda: tf.cond(p, lambda: v * 1.0, lambda: tf.constant(3.0)))
    tf.while_loop(lambda i: i < 3, lambda i: i + tf.cast(a, tf.int32), [0])


@pytest.fixture
def meta() -> Any:
    with tf.Graph().as_default(), warnings.catch_warnings():
        warnings.simplefilter("error")
        build()
        return tf.train.export_meta_graph()


def test_fields(meta: Any) -> None:
    branches = [control_flow_pb2.CondContextDef.FromString(b)
                for b in meta.collection_def["cond_context"].bytes_list.value]
    assert [b.context_name for b in branches] == ["sc/cond/cond_text", "sc/cond/cond_text_1"]
    first, second = branches
    assert (first.pred_name, first.pivot_name, first.branch) == ("sc/cond/pred_id:0", "sc/cond/switch_t:0", 1)
    assert list(first.values_def.values) == ["a:0", "sc/cond/add/Switch:1", "sc/cond/add/y:0", "sc/cond/add:0",
                                             "sc/cond/pred_id:0", "sc/cond/switch_t:0"]
    assert dict(first.values_def.external_values) == {"a:0": "sc/cond/add/Switch:1",
                                                      "sc/cond/pred_id:0": "sc/cond/pred_id:0"}
    assert [n.cond_ctxt.context_name for n in second.nested_contexts] == ["sc/cond/cond/cond_text",
                                                                          "sc/cond/cond/cond_text_1"]
    loop = control_flow_pb2.WhileContextDef.FromString(meta.collection_def["while_context"].bytes_list.value[0])
    assert (loop.context_name, loop.parallel_iterations, loop.back_prop) == ("while/while_context", 10, True)
    assert (loop.pivot_name, loop.pivot_for_pred_name, loop.pivot_for_body_name) == (
        "while/LoopCond:0", "while/Merge:0", "while/Identity:0")
    assert (list(loop.loop_enter_names), list(loop.loop_exit_names)) == (["while/Enter:0"], ["while/Exit:0"])


@pytest.mark.parametrize("scope", ["", "again"])
def test_round_trip(meta: Any, scope: str) -> None:
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta, import_scope=scope or None)
        prefix = scope + "/" if scope else ""
        branch, other = tf.get_collection("cond_context")
        assert branch.name == prefix + "sc/cond/cond_text" and branch.branch == 1
        inner = graph.get_operation_by_name(prefix + "sc/cond/cond/mul")._get_control_flow_context()
        assert inner.outer_context is other and other.outer_context is None
        assert graph.get_operation_by_name(prefix + "a")._get_control_flow_context() is None
        loop, = tf.get_collection("while_context")
        assert loop.is_while() and loop.loop_exits[0].name == prefix + "while/Exit:0"
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for pred, expected in [(True, 2.0), (False, 3.0)]:
                assert session.run(prefix + "sc/cond/Merge:0", {prefix + "p:0": pred}) == expected
        if not scope:
            assert tf.train.export_meta_graph().collection_def["cond_context"] == meta.collection_def["cond_context"]
