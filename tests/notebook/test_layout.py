"""Layouts of hundreds of random graphs: nothing overlaps, nothing escapes, edges meet the right boxes."""

import json
import random

import pytest

from tfsandbox.notebook.graph_model import GraphModel, Node
from tfsandbox.notebook.layered import layer
from tfsandbox.notebook.layout import BACKWARD, FORWARD, HEADER, Size, lay_out, model_edges, spread
from tfsandbox.notebook.scope_tree import ROOT, ScopeTree

TOUCH = 0.51


def random_size(seed):
    def size(box):
        rng = random.Random(f"{seed}{box.id}")
        width, height = rng.uniform(20, 200), rng.uniform(15, 70)
        lanes = ((0.0, width / 2 - 5),) * 2
        if rng.random() < 0.3:
            lanes = ((-width / 4, width / 5), (width / 4, width / 5))
        return Size(width, height, lanes)

    return size


def inside(inner, outer, margin=0.0):
    return (
        inner.x >= outer.x + margin - TOUCH
        and inner.y >= outer.y + margin - TOUCH
        and inner.x + inner.width <= outer.x + outer.width - margin + TOUCH
        and inner.y + inner.height <= outer.y + outer.height - margin + TOUCH
    )


def apart(a, b, gap):
    return (
        a.x + a.width + gap <= b.x + TOUCH
        or b.x + b.width + gap <= a.x + TOUCH
        or a.y + a.height + gap <= b.y + TOUCH
        or b.y + b.height + gap <= a.y + TOUCH
    )


def on_edge(point, box):
    """Whether a point is on the upper or lower border of a box."""
    x, y = point
    return box.x - TOUCH <= x <= box.x + box.width + TOUCH and min(abs(y - box.y), abs(y - box.y - box.height)) <= TOUCH


def check(tree, layout):
    boxes = {box.id: box for box in layout.boxes}
    children = {}
    for box in layout.boxes:
        children.setdefault(box.parent, []).append(box)
        assert box.x >= -TOUCH and box.y >= -TOUCH
        assert box.x + box.width <= layout.width + TOUCH and box.y + box.height <= layout.height + TOUCH
        if box.parent != ROOT:
            outer = boxes[box.parent]
            assert outer.open
            assert inside(box, outer, 8), f"{box.id} escapes {outer.id}"
            assert box.y >= outer.y + HEADER - TOUCH, f"{box.id} covers the heading of {outer.id}"
    for siblings in children.values():
        for number, a in enumerate(siblings):
            for b in siblings[number + 1 :]:
                assert apart(a, b, 10), f"{a.id} overlaps {b.id}"
    # Every box of the tree is there when its parent is open, and no other.
    expected = {
        child for scope in {ROOT, *layout.expanded} if scope == ROOT or scope in boxes for child in tree[scope].children
    }
    assert set(boxes) == expected
    for edge in layout.edges:
        for end, point in ((edge.tail, edge.points[0]), (edge.head, edge.points[-1])):
            assert on_edge(point, boxes[end]), f"{edge.tail} -> {edge.head} does not touch {end}"
            assert end == edge.scope or boxes[end].parent == edge.scope
        if not edge.direct:
            check_route(edge, children.get(edge.scope, []))


def check_route(edge, siblings):
    """No piece of an edge runs over a box that is not one of its ends; curves stay within the box around their ends."""
    others = [box for box in siblings if box.id not in (edge.tail, edge.head)]
    for (x0, y0), (x1, y1) in zip(edge.points, edge.points[1:]):
        left, right, top, bottom = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
        for box in others:
            assert (
                right < box.x + TOUCH
                or left > box.x + box.width - TOUCH
                or bottom < box.y + TOUCH
                or top > box.y + box.height - TOUCH
            ), f"{edge.tail} -> {edge.head} runs over {box.id}"


def chosen_scopes(tree, seed):
    rng = random.Random(seed)
    kind = rng.random()
    if kind < 0.4:
        return frozenset(tree.scopes())
    return frozenset(scope for scope in tree.scopes() if rng.random() < 0.6)


@pytest.mark.parametrize("start", range(0, 400, 40))
def test_random_graphs(start, random_graph):
    for seed in range(start, start + 40):
        model = random_graph(seed)
        tree = ScopeTree(model, group_series=seed % 2 == 0)
        opened = chosen_scopes(tree, seed)
        # A scope inside a closed one cannot be seen.
        opened = frozenset(scope for scope in opened if all(outer in opened for outer in tree.path(scope)[1:-1]))
        edges = [
            *model_edges(model),
            *((head, tail, BACKWARD, False, "") for tail, head, _, _, _ in list(model_edges(model))[: seed % 7]),
        ]
        layout = lay_out(tree, opened, random_size(seed), edges=edges)
        check(tree, layout)
        check_completeness(tree, layout, edges)


def check_completeness(tree, layout, edges):
    """Every edge between two visible boxes is drawn where they part, and inside each open scope on the way."""
    drawn = {(edge.scope, frozenset((edge.tail, edge.head)), edge.lane) for edge in layout.edges}
    open_boxes = {ROOT, *layout.expanded}

    def path(name):
        full = tree.path(name)
        return full[: next((i for i, box in enumerate(full) if box not in open_boxes), len(full) - 1) + 1]

    for tail, head, lane, _, _ in edges:
        a, b = path(tail), path(head)
        split = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), None)
        if split is None:
            continue
        assert (a[split - 1], frozenset((a[split], b[split])), lane) in drawn
        for chain in (a, b):
            for scope, child in zip(chain[split:], chain[split + 1 :]):
                assert (scope, frozenset((scope, child)), lane) in drawn


def test_same_graph_same_layout(random_graph):
    for seed in range(0, 60, 7):
        texts = set()
        for _ in range(2):
            tree = ScopeTree(random_graph(seed))
            texts.add(json.dumps(lay_out(tree, tree.scopes()).to_json()))
        assert len(texts) == 1


@pytest.mark.parametrize("name", ["linear_regression", "arg_scope_adam", "convnet", "dynamic_rnn"])
def test_recorded_graphs(name, model):
    tree = ScopeTree(model(name))
    for opened in (frozenset(), frozenset(tree.scopes()), tree.sensible_expansion()):
        check(tree, lay_out(tree, opened))


def test_opening_a_scope_keeps_rows_and_orders(model):
    tree = ScopeTree(model("arg_scope_adam"))
    closed = lay_out(tree, [])
    scope = "fully_connected/"
    opened = lay_out(tree, [scope])

    def order(layout):
        return sorted(((box.y, box.x), box.id) for box in layout.boxes if box.parent == ROOT)

    rows = [[box for _, box in order(layout)] for layout in (closed, opened)]
    assert sorted(rows[0]) == sorted(rows[1])
    for a in closed.boxes:
        for b in closed.boxes:
            if a.y + a.height <= b.y and a.parent == b.parent == ROOT:
                other_a, other_b = opened.box(a.id), opened.box(b.id)
                assert other_a.y + other_a.height / 2 < other_b.y + other_b.height


def chain(count):
    return GraphModel([Node(f"n{i}", "Op", [f"n{i - 1}"] if i else []) for i in range(count)])


def test_inputs_below_outputs_and_chains_are_straight():
    layout = lay_out(ScopeTree(chain(12)))
    tops = [layout.box(f"n{i}").y for i in range(12)]
    assert tops == sorted(tops, reverse=True)
    assert len({round(box.x + box.width / 2, 3) for box in layout.boxes}) == 1
    assert all(len({x for x, _ in edge.points}) == 1 for edge in layout.edges)


def test_cycle_between_scopes():
    nodes = [
        Node("a/one", "Op"),
        Node("b/two", "Op", ["a/one"]),
        Node("a/three", "Op", ["b/two"]),
        Node("b/four", "Op", ["a/three"]),
    ]
    tree = ScopeTree(GraphModel(nodes))
    for opened in ([], ["a/"], ["b/"], ["a/", "b/"]):
        layout = lay_out(tree, opened)
        check(tree, layout)
        at_top = {(edge.tail, edge.head) for edge in layout.edges if edge.scope == ROOT}
        assert at_top == {("a/", "b/"), ("b/", "a/")}
    up, down = sorted((edge for edge in lay_out(tree).edges), key=lambda edge: edge.tail)
    assert up.points[0][1] > up.points[-1][1], "data flows upwards"
    assert down.points[0][1] < down.points[-1][1], "the edge that closes the cycle runs down"


def test_gradients_run_against_the_edges():
    tree = ScopeTree(chain(2))
    edges = [("n0", "n1", FORWARD, False, "n0"), ("n0", "n1", BACKWARD, False, "")]
    layout = lay_out(tree, edges=edges)
    forward, backward = layout.edges
    assert (forward.tail, forward.head) == ("n0", "n1") and forward.points[0][1] > forward.points[-1][1]
    assert (backward.tail, backward.head) == ("n1", "n0") and backward.points[0][1] < backward.points[-1][1]


def test_edges_are_counted_and_control_told_apart():
    nodes = [
        Node("a/x", "Op"),
        Node("a/y", "Op"),
        Node("b/z", "Op", ["a/x", "a/y"], ["a/x"]),
        Node("c/w", "NoOp", [], ["b/z"]),
        Node("c/v", "NoOp"),
    ]
    tree = ScopeTree(GraphModel(nodes))
    edges = {(edge.tail, edge.head): edge for edge in lay_out(tree).edges}
    assert (edges["a/", "b/z"].data, edges["a/", "b/z"].control) == (2, 1)
    assert (edges["b/z", "c/"].data, edges["b/z", "c/"].control) == (0, 1)


def test_nothing_and_one():
    for nodes in ([], [Node("x", "Op")], [Node("x", "Op", ["x"], ["x"])]):
        tree = ScopeTree(GraphModel(nodes))
        layout = lay_out(tree)
        assert len(layout.boxes) == len(nodes) and not layout.edges


def test_wide_ranks_are_wrapped():
    nodes = [Node("x", "Placeholder")] + [Node(f"y{i}", "Op", ["x"]) for i in range(40)]
    layout = lay_out(ScopeTree(GraphModel(nodes), group_series=False))
    assert layout.width < 2000
    check(ScopeTree(GraphModel(nodes), group_series=False), layout)


def test_flat_graph_of_thousands_stays_small():
    """Many long edges beside a long chain: dummies must not grow with nodes times length."""
    nodes = [Node(f"op{i}", "Add", [f"op{i - 1}", f"op{i // 2}"] if i else []) for i in range(3001)]
    tree = ScopeTree(GraphModel(nodes), group_series=False)
    layout = lay_out(tree)
    assert len(layout.boxes) == 3001
    assert sum(len(edge.points) for edge in layout.edges if edge.direct) > 0


def test_layer_flips_the_fewest_back_edges():
    layers = layer(4, [(0, 1), (1, 2), (2, 3), (3, 1)])
    assert layers.flipped == [False, False, False, True]
    assert layers.rank[:4] == [0, 1, 2, 3]


def test_layer_shares_a_trunk():
    layers = layer(5, [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (0, 4)])
    assert layers.chains[5][:3] == layers.chains[3][:3]


def test_spread_keeps_order_distance_and_bounds():
    assert spread([5.0], 0, 10, 4) == [5.0]
    places = spread([1.0, 1.0, 9.0], 0, 10, 4)
    assert places == sorted(places) and places[0] >= 0 and places[-1] <= 10
    assert all(b - a >= 4 - 1e-9 for a, b in zip(places, places[1:]))
    assert spread([2.0, 2.0, 2.0], 0, 2, 16) == [0.0, 1.0, 2.0]
