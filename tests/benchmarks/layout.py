"""How long a picture takes: synthetic training graphs of 80 to 10,000 nodes, in milliseconds of CPU time.

Run with `python tests/benchmarks/layout.py`. `layout` opens every scope there is, which no reader does; `first picture`
is what a notebook shows: roles, level of detail, tree, layout and SVG of a `GraphView`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tfsandbox.notebook.graph_model import GraphModel, Node, Output  # noqa: E402
from tfsandbox.notebook.layout import lay_out  # noqa: E402
from tfsandbox.notebook.roles import assign_roles  # noqa: E402
from tfsandbox.notebook.scope_tree import ScopeTree  # noqa: E402
from tfsandbox.notebook.views.graph import GraphView  # noqa: E402

SIZES = (80, 500, 2_000, 10_000)


def training_graph(size: int) -> GraphModel:
    """Dense layers with initialisers, their backward pass, and Adam with its slots: about 60 nodes a layer."""
    nodes: list[Node] = [Node("x", "Placeholder", outputs=[Output("float32", (None, 64))])]
    backward: list[Node] = []
    updates: list[Node] = []
    last, grad = "x", "gradients/Fill"
    layer = 0
    while len(nodes) + len(backward) + len(updates) < size:
        scope = f"block_{layer // 8}/dense_{layer}"
        read = []
        for kind in ("kernel", "bias"):
            name = f"{scope}/{kind}"
            nodes += _variable(name)
            read.append(f"{name}/read")
            for slot in ("Adam", "Adam_1"):
                updates += _variable(f"{name}/{slot}")
        nodes += [
            _op(f"{scope}/MatMul", "MatMul", last, read[0]),
            _op(f"{scope}/BiasAdd", "BiasAdd", f"{scope}/MatMul", read[1]),
            _op(f"{scope}/Relu", "Relu", f"{scope}/BiasAdd"),
        ]
        g = f"gradients/{scope}"
        block = [
            _op(f"{g}/Relu_grad/ReluGrad", "ReluGrad", grad, f"{scope}/Relu"),
            _op(f"{g}/BiasAdd_grad/BiasAddGrad", "BiasAddGrad", f"{g}/Relu_grad/ReluGrad"),
            *_tuple(f"{g}/BiasAdd_grad", f"{g}/Relu_grad/ReluGrad", f"{g}/BiasAdd_grad/BiasAddGrad"),
        ]
        above = f"{g}/BiasAdd_grad/tuple/control_dependency"
        block += [
            _op(f"{g}/MatMul_grad/MatMul", "MatMul", above, read[0]),
            _op(f"{g}/MatMul_grad/MatMul_1", "MatMul", last, above),
            *_tuple(f"{g}/MatMul_grad", f"{g}/MatMul_grad/MatMul", f"{g}/MatMul_grad/MatMul_1"),
        ]
        backward += block
        for kind, source in (("kernel", f"{g}/MatMul_grad"), ("bias", f"{g}/BiasAdd_grad")):
            name = f"{scope}/{kind}"
            updates.append(
                _op(
                    f"Adam/update_{name}/ApplyAdam",
                    "ApplyAdam",
                    name,
                    f"{name}/Adam",
                    f"{name}/Adam_1",
                    "beta1_power/read",
                    "beta2_power/read",
                    "Adam/learning_rate",
                    "Adam/beta1",
                    "Adam/beta2",
                    "Adam/epsilon",
                    f"{source}/tuple/control_dependency_1",
                )
            )
        last, grad = f"{scope}/Relu", f"{g}/MatMul_grad/tuple/control_dependency"
        layer += 1
    nodes += [_op("loss", "Mean", last), _op("gradients/Fill", "Fill")]
    updates += [*_variable("beta1_power"), *_variable("beta2_power")]
    updates += [_op(f"Adam/{name}", "Const") for name in ("learning_rate", "beta1", "beta2", "epsilon")]
    every = [*nodes, *backward, *updates]
    every.append(Node("Adam", "NoOp", [], [node.name for node in updates if node.op == "ApplyAdam"]))
    return GraphModel(every[: max(size, 1)] if len(every) > size else every, f"{size} nodes")


def _op(name: str, op: str, *inputs: str) -> Node:
    return Node(name, op, list(inputs), outputs=[Output("float32", (None, 64))])


def _variable(name: str) -> list[Node]:
    return [
        _op(f"{name}/Initializer/shape", "Const"),
        _op(f"{name}/Initializer/uniform", "RandomUniform", f"{name}/Initializer/shape"),
        _op(name, "VariableV2"),
        _op(f"{name}/Assign", "Assign", name, f"{name}/Initializer/uniform"),
        _op(f"{name}/read", "Identity", name),
    ]


def _tuple(scope: str, *sources: str) -> list[Node]:
    group = f"{scope}/tuple/group_deps"
    ends = [
        Node(
            f"{scope}/tuple/control_dependency{f'_{i}' if i else ''}",
            "Identity",
            [source],
            [group],
            [Output("float32", (None, 64))],
        )
        for i, source in enumerate(sources)
    ]
    return [Node(group, "NoOp", [], list(sources)), *ends]


def best(work: Callable[[], object], rounds: int = 3) -> float:
    """The least CPU time of some rounds, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * 1000


def measure(size: int) -> tuple[int, float, float, float, float, int]:
    """(nodes, roles, layout with all open, layout as first seen, first picture, bytes of its SVG)."""
    model = training_graph(size)
    roles = best(lambda: assign_roles(model))
    tree = ScopeTree(model)
    everything = tree.scopes()
    opened = tree.sensible_expansion()
    whole = best(lambda: lay_out(tree, everything))
    seen = best(lambda: lay_out(tree, opened))

    def picture() -> str:
        assign_roles(model)
        return GraphView(model, "full").svg()

    return len(model), roles, whole, seen, best(picture), len(picture())


def main() -> None:
    """Print the table."""
    print("| nodes | roles | layout, all scopes open | layout, as first seen | first picture | SVG bytes |")
    print("|---|---|---|---|---|---|")
    for size in SIZES:
        nodes, roles, whole, seen, picture, count = measure(size)
        print(f"| {nodes:,} | {roles:.0f} | {whole:.0f} | {seen:.1f} | {picture:.0f} | {count:,} |")


if __name__ == "__main__":
    main()
