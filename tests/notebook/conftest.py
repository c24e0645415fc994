"""Graphs recorded from TensorFlow 1.15, as models and as stand-ins with the public attributes of its objects."""

import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from tfsandbox.notebook.graph_model import GraphModel, Node

GRAPHS = Path(__file__).parent / "graphs"


def records(name):
    return json.loads((GRAPHS / f"{name}.json").read_text())


class Shape:
    def __init__(self, sizes):
        self.sizes = sizes

    @property
    def ndims(self):
        return None if self.sizes is None else len(self.sizes)

    def as_list(self):
        if self.sizes is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self.sizes)


class Attr:
    """A protobuf AttrValue, as far as it is read."""

    def __init__(self, record):
        ((self.kind, value),) = record.items()
        self.list = SimpleNamespace()
        if self.kind == "shape":
            self.shape = shape_message(value)
        elif self.kind == "tensor":
            self.tensor = SimpleNamespace(
                dtype=value["dtype"],
                tensor_shape=shape_message(value["shape"]),
                tensor_content=b"",
                float_val=value["values"],
            )
        elif self.kind == "list":
            self.list = SimpleNamespace(**value)
        elif self.kind == "s":
            self.s = value.encode("latin1")
        elif self.kind == "func":
            self.func = SimpleNamespace(name=value)
        else:
            setattr(self, self.kind, value)

    def WhichOneof(self, name):
        assert name == "value"
        return self.kind


def shape_message(sizes):
    if sizes is None:
        return SimpleNamespace(unknown_rank=True, dim=[])
    return SimpleNamespace(unknown_rank=False, dim=[SimpleNamespace(size=size) for size in sizes])


class Tensor:
    def __init__(self, op, index, dtype, shape):
        self.op, self.name = op, f"{op.name}:{index}"
        self.dtype, self.shape = SimpleNamespace(name=dtype), Shape(shape)


class Operation:
    def __init__(self, graph, record):
        self.graph, self.name, self.type, self.device = graph, record["name"], record["op"], ""
        self.outputs = [Tensor(self, i, dtype, shape) for i, (dtype, shape) in enumerate(record["outputs"])]
        self.node_def = SimpleNamespace(attr={name: Attr(value) for name, value in record["attr"].items()})
        self.inputs, self.control_inputs = [], []

    def get_attr(self, name):
        return self.node_def.attr[name]


class Graph:
    def __init__(self, rows):
        self.ops = {row["name"]: Operation(self, row) for row in rows}
        for row in rows:
            op = self.ops[row["name"]]
            for text in row["input"]:
                if text.startswith("^"):
                    op.control_inputs.append(self.ops[text[1:]])
                else:
                    name, _, index = text.partition(":")
                    op.inputs.append(self.ops[name].outputs[int(index or 0)])

    def get_operations(self):
        return list(self.ops.values())


def graph_def_of(rows, shapes=False):
    nodes = []
    for row in rows:
        attr = {name: Attr(value) for name, value in row["attr"].items() if shapes or name != "_output_shapes"}
        nodes.append(SimpleNamespace(name=row["name"], op=row["op"], input=row["input"], attr=attr, device=""))
    return SimpleNamespace(node=nodes)


@pytest.fixture
def stand_in():
    """A Graph by its name."""
    return lambda name: Graph(records(name))


@pytest.fixture
def graph_def():
    """A GraphDef by the graph's name."""
    return lambda name: graph_def_of(records(name))


@pytest.fixture(scope="session")
def model():
    """A model by the graph's name; the same object each time, so not to be changed."""
    made = {}

    def make(name):
        if name not in made:
            made[name] = GraphModel.from_graph(Graph(records(name)), name)
        return made[name]

    return make


def random_model(seed, size=None, title="random"):
    """A graph with scopes, long and short edges, cycles, nodes named like scopes, and loose nodes."""
    rng = random.Random(seed)
    count = size or rng.randint(1, 60)
    scopes = [""]
    for _ in range(rng.randint(0, 8)):
        scopes.append(f"{rng.choice(scopes)}{rng.choice('abcdefgh')}{rng.randint(0, 3)}/")
    names = {}
    for number in range(count):
        scope = rng.choice(scopes)
        name = scope[:-1] if scope and rng.random() < 0.1 else f"{scope}{rng.choice(['MatMul', 'x', 'Const'])}_{number}"
        names[name] = None
    names = list(names)
    ops = ["MatMul", "Const", "VariableV2", "Identity", "NoOp", "Placeholder"]
    nodes = []
    for place, name in enumerate(names):

        def pick(place=place):
            if rng.random() < 0.1:
                return rng.choice(names)
            low = 0 if rng.random() < 0.3 else max(0, place - 6)
            return names[rng.randint(low, max(low, place - 1))]

        inputs = [pick() for _ in range(rng.choice([0, 1, 1, 2, 3]))] if place else []
        control = [pick() for _ in range(rng.choice([0, 0, 0, 1, 2]))] if place else []
        nodes.append(Node(name, rng.choice(ops), inputs, control, role=rng.choice(["forward", "variable", "gradient"])))
    return GraphModel(nodes, title)


@pytest.fixture
def random_graph():
    return random_model
