"""The page places boxes and edges exactly where Python does, whatever is open: random graphs, compared."""

import json
import random

import pytest

from tests.notebook.conftest import Graph, random_model, records
from tfsandbox.notebook.graph_model import GraphModel
from tfsandbox.notebook.interactive import graph_payload, module
from tfsandbox.notebook.views import GraphView

pytestmark = pytest.mark.browser

PLACE = """
(cases) => cases.map(({payload, level, open}) => {
  const scene = parts.decode(payload).scene(level), placement = new parts.Placement(scene);
  // Opened in another order, closed and opened again: what is remembered between is right, too.
  for (const id of [...open].reverse()) placement.setOpen(scene.byName.get(id), true);
  placement.run();
  for (const id of open.slice(0, 2)) for (const yes of [false, true]) {
    placement.setOpen(scene.byName.get(id), yes);
    placement.run();
  }
  const boxes = {}, edges = [];
  const walk = (placed, x, y) => {
    if (!placed.open) return;
    for (const edge of placement.edges(placed.box.number)) {
      const name = (number) => scene.boxes[number].id;
      edges.push([name(edge.scope), name(edge.tail), name(edge.head), edge.lane, edge.data, edge.control, edge.direct,
                  edge.points.map(([px, py]) => [px + x, py + y])]);
    }
    for (const child of placed.children) {
      boxes[child.box.id] = [child.x + x, child.y + y, child.width, child.height, child.box.label, child.box.count];
      walk(child, child.x + x, child.y + y);
    }
  };
  walk(placement.run(), 0, 0);
  return {boxes, edges};
})
"""


def cases(view, levels):
    """Each level of a view with everything open, and with some of it: (question, Python's layout, the tree)."""
    payload = json.loads(json.dumps(graph_payload.drawing(view, levels)))
    for level in levels:
        seen = view if level == view.detail else view.at(level)
        scopes = seen.tree.scopes()
        for opened in (scopes, random.Random(view.title).sample(scopes, len(scopes) // 2)):
            layout = seen._placed(frozenset(opened))
            yield {"payload": payload, "level": level, "open": sorted(opened)}, layout, seen.tree


def rounded(edge):
    """An edge in a form that can be sorted and compared."""
    *rest, points = edge
    return json.dumps([*rest, [[round(x, 3) + 0.0, round(y, 3) + 0.0] for x, y in points]])


def test_places_are_pythons(contexts):
    window = contexts().new_page()
    code = module.source("graph").replace(module.EXPORTS, "")
    window.set_content("<p>places</p>")
    window.add_script_tag(content=f"{code}\nwindow.parts = {{...$scene, ...$place}};", type="module")
    window.wait_for_function("window.parts")
    views = [(GraphView(random_model(seed, title=str(seed)), "full", expand=[]), ["full"]) for seed in range(150)]
    views += [(GraphView(GraphModel.from_graph(Graph(records(name)), name)), ["ideas", "gradients", "full"])
              for name in ("arg_scope_adam", "convnet", "dynamic_rnn", "linear_regression")]
    for start in range(0, len(views), 50):
        found = [case for view, levels in views[start:start + 50] for case in cases(view, levels)]
        answers = window.evaluate(PLACE, [question for question, _, _ in found])
        for (question, layout, tree), answer in zip(found, answers):
            where = f"{question['payload']['title']} {question['level']} {question['open']}"
            assert set(answer["boxes"]) == {box.id for box in layout.boxes}, where
            for box in layout.boxes:
                *place, label, count = answer["boxes"][box.id]
                assert place == pytest.approx([box.x, box.y, box.width, box.height], abs=1e-6), f"{where} {box.id}"
                assert (label, count) == (tree[box.id].label, box.count)
            mine = sorted(rounded([e.scope, e.tail, e.head, e.lane, e.data, e.control, e.direct, e.points])
                          for e in layout.edges)
            assert sorted(rounded(edge) for edge in answer["edges"]) == mine, where
