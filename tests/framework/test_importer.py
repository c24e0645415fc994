"""import_graph_def: what comes in, and what is refused, quickly and with the reason."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pytest
from google.protobuf import text_format

import tfsandbox as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


PLACEHOLDER = 'node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'


def node(name: str, op: str, *inputs: str, dtype: str = "DT_FLOAT") -> str:
    listed = " ".join(f'input: "{i}"' for i in inputs)
    return f'node {{ name: "{name}" op: "{op}" {listed} attr {{ key: "T" value {{ type: {dtype} }} }} }}'


def parsed(*texts: str) -> tf.GraphDef:
    return text_format.Parse(" ".join(texts), tf.GraphDef())


HOSTILE = {
    "a missing input": ([node("a", "Neg", "b")], ValueError, "Node 'a': Unknown input node 'b'"),
    "a cycle": ([node("a", "Neg", "b"), node("b", "Neg", "a")], ValueError, "2 nodes in a cycle: a, b"),
    "itself": ([node("a", "Neg", "a")], ValueError, "1 nodes in a cycle: a"),
    "an unknown op": (['node { name: "a" op: "MatMull" }'], tf.errors.NotFoundError, "'MatMull'.*nearest.*MatMul"),
    "a name twice": ([PLACEHOLDER, PLACEHOLDER], ValueError, "Node 'p' is not unique"),
    "a bad name": (['node { name: "b b" op: "NoOp" }'], ValueError, "invalid characters"),
    "an output too many": ([PLACEHOLDER, node("a", "Neg", "p:1")], ValueError, "invalid output 1 of source node p"),
    "another type": ([PLACEHOLDER, node("a", "Neg", "p", dtype="DT_INT32")], ValueError,
                     "was passed float from import/p:0 incompatible with expected int32"),
    "a missing attribute": ([PLACEHOLDER, 'node { name: "a" op: "Neg" input: "p" }'], ValueError, "missing attr 'T'"),
    "an attribute too many": (['node { name: "n" op: "NoOp" attr { key: "zip" value { i: 3 } } }'], ValueError,
                              "mentions attr 'zip'"),
    "an input too many": ([PLACEHOLDER, node("a", "Neg", "p", "p")], ValueError, "expected 1 inputs, but it has 2"),
    # ruff: noqa: E501
    "a negative count": (['node { name: "a" op: "AddN" attr { key: "N" value { i: -5 } } attr { key: "T" value '
                          '{ type: DT_FLOAT } } }'], ValueError, "'N'"),
    "two gigabytes": (['node { name: "b" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" '
                       'value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 536870912 } } float_val: 1 } } } }'],
                      ValueError, "Node 'b': attr 'value'"),
    "content too short": (['node { name: "b" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: '
                           '"value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1000000000000 } } '
                           'tensor_content: "abc" } } } }'], ValueError, "Node 'b'"),
    "a negative size": (['node { name: "b" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: '
                         '"value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: -7 } } float_val: 1 } } } }'],
                        ValueError, "Node 'b'"),
    "a name with a line break at its end": (['node { name: "b\\n" op: "NoOp" }'], ValueError, "invalid characters"),
    "two billion outputs": ([PLACEHOLDER, 'node { name: "a" op: "Unpack" input: "p" attr { key: "num" value { i: '
                             '2147483647 } } attr { key: "T" value { type: DT_FLOAT } } }'], ValueError,
                            "Node 'a': attr 'num' is 2147483647"),
    "many times many outputs": ([PLACEHOLDER, *(f'node {{ name: "a{i}" op: "Unpack" input: "p" attr {{ key: "num" '
                                                'value { i: 15000 } } attr { key: "T" value { type: DT_FLOAT } } }'
                                                for i in range(50))], ValueError, "Node 'a1': attr 'num' is 15000"),
    "fewer than no outputs": ([PLACEHOLDER, 'node { name: "a" op: "Unpack" input: "p" attr { key: "num" value { i: -1 } } '
                               'attr { key: "T" value { type: DT_FLOAT } } }'], ValueError, "Node 'a': attr 'num' is -1"),
    "a colocation group that is no list": (['node { name: "a" op: "NoOp" attr { key: "_class" value { s: "loc:@a" } } }'],
                                           ValueError, "Node 'a': attr '_class' must be a list of strings"),
    "a constant of two types": (['node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: '
                                 '"value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } }'],
                                ValueError, "Node 'c': attr 'value' is not of the type"),
    "a type that is none": (['node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: 77 } } }'], ValueError,
                            "Node 'p'"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_wrong_with_a_graph_def_is_said_quickly(name: str, graph: tf.Graph) -> None:
    texts, error, message = HOSTILE[name]
    definition = parsed(*texts)
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(error, match=message):
        tf.import_graph_def(definition)
    assert time.process_time() - start < 1.0
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert graph.get_operations() == [], "a refused import leaves nothing behind"


@pytest.mark.parametrize("what", [3, None, "graph.pb", tf.Graph()])
def test_what_is_no_graph_def(what) -> None:
    with pytest.raises(TypeError, match="graph_def must be a GraphDef proto"):
        tf.import_graph_def(what)


def test_nodes_come_in_any_order_and_keep_their_meaning() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.nn.relu(tf.matmul(x, tf.constant([[1.0], [-1.0]])) + 1.0, name="y")
    definition = tf.get_default_graph().as_graph_def()
    backwards = tf.GraphDef()
    for n in reversed(definition.node):
        backwards.node.add().CopyFrom(n)
    with tf.Graph().as_default(), tf.Session() as sess:
        z, = tf.import_graph_def(backwards, return_elements=["y:0"], name="")
        assert z.shape.as_list() == [None, 1] and z.name == "y:0"
        np.testing.assert_array_equal(sess.run(z, {"x:0": [[1, 2], [5, 1]]}), [[0], [5]])
    del y


def test_a_mapped_input_replaces_the_node_and_gradients_flow() -> None:
    x = tf.placeholder(tf.float32, name="x")
    tf.square(x, name="y")
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default(), tf.Session() as sess:
        mine = tf.constant([3.0, 4.0])
        y, = tf.import_graph_def(definition, input_map={"x:0": mine}, return_elements=["y:0"])
        np.testing.assert_array_equal(sess.run(tf.gradients(y, mine)[0]), [6, 8])


def test_ten_thousand_nodes_come_in_quickly() -> None:
    texts = [PLACEHOLDER] + [node(f"n{i}", "Neg", f"n{i - 1}" if i else "p") for i in range(10000)]
    definition = parsed(*texts)
    start = time.process_time()
    tf.import_graph_def(definition, name="")
    assert time.process_time() - start < 5
    assert len(tf.get_default_graph().get_operations()) == 10001


def test_groups_that_refer_to_each_other_or_to_nothing(graph: tf.Graph) -> None:
    group = 'node {{ name: "{0}" op: "NoOp" attr {{ key: "_class" value {{ list {{ s: "loc:@{1}" }} }} }} }}'
    tf.import_graph_def(parsed(group.format("a", "b"), group.format("b", "a"), group.format("c", "gone")), name="")
    assert len(graph.as_graph_def().node) == 3


def test_a_function_named_in_a_file_is_not_called(graph: tf.Graph) -> None:
    tf.import_graph_def(parsed(
        'node { name: "a" op: "PyFunc" attr { key: "token" value { s: "os.system" } } attr { key: "Tin" value { list { } '
        '} } attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "_f" value { func { name: "os.system" } '
        '} } }'), name="")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="os.system is not found"):
        sess.run("a:0")


def test_thousands_of_inputs_of_one_node(graph: tf.Graph) -> None:
    many = 'node { name: "all" op: "NoOp" ' + " ".join(f'input: "^n{i}"' for i in range(10000)) + " }"
    start = time.process_time()
    tf.import_graph_def(parsed(many, *(f'node {{ name: "n{i}" op: "NoOp" }}' for i in range(10000))), name="")
    assert time.process_time() - start < 5
    assert len(graph.get_operation_by_name("all").control_inputs) == 10000


def test_scopes_end_where_they_end() -> None:
    with pytest.raises(ValueError, match="not a valid scope name"):
        tf.import_graph_def(parsed(PLACEHOLDER), name="a\n")
