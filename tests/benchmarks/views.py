"""How long the interactive graph takes, in Python and in the page: synthetic training graphs of 80 to 10,000 nodes.

Run with `python tests/benchmarks/views.py`; it needs Chromium and playwright. Times of Python are CPU milliseconds,
times of the page milliseconds until the next frame, each the least of some rounds. `rows` ranks and orders every scope
there is; `payload` is everything from a GraphModel to the JSON text, for the level "full" (and "ideas", which travels
with it); `ideas` the same for what a notebook shows first. `first paint` is from the start of the page, with its module
and payload in the file, to the frame with the boxes; `expand` opens the largest outer scope, `expand all` every scope.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.layout import SIZES, best, training_graph  # noqa: E402
from tfsandbox.notebook.interactive.link import compact  # noqa: E402
from tfsandbox.notebook.layout_plan import model_edges, plan_scopes  # noqa: E402
from tfsandbox.notebook.roles import assign_roles  # noqa: E402
from tfsandbox.notebook.scope_tree import ScopeTree  # noqa: E402
from tfsandbox.notebook.views.graph import GraphView  # noqa: E402

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]

FIRST_BOX = """
const look = () => {
  if (document.querySelector(".tfs-view [data-box]")) setTimeout(() => { window.firstBox = performance.now(); });
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""

ACTIONS = """
async () => {
  const {canvas, search} = window.tfsandbox, view = window.tfsandbox, out = {};
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const rest = () => new Promise((done) => setTimeout(done, 450));
  const time = async (name, act) => {
    const start = performance.now();
    act();
    await frame();
    out[name] = Math.min(out[name] ?? Infinity, performance.now() - start);
    await rest();
  };
  const scopes = canvas.scene.boxes.filter((box) => box.isScope && box.parent === 0 && box.number);
  const largest = scopes.sort((a, b) => b.count - a.count)[0];
  const leaf = canvas.scene.boxes.find((box) => box.node && box.node.op === "MatMul");
  canvas.closeAll();
  await rest();
  for (let round = 0; round < 3; round++) {
    await time("expand", () => canvas.toggle(largest));
    await time("collapse", () => canvas.toggle(largest));
    await time("search", () => { search.input.value = "matmul grad"; search.update(); });
    await time("reveal", () => view.go(leaf.id));
    await time("choose nothing", () => canvas.select(null));
    await time("expand all", () => canvas.openAll());
    await time("pan", () => canvas.look({...canvas.view, x: canvas.view.x - 300}));
    await time("choose", () => canvas.select(leaf.number));
    canvas.select(null);
    await time("collapse all", () => canvas.closeAll());
  }
  return out;
}
"""


def in_python(size: int) -> dict[str, Any]:
    """Times and sizes that need no browser."""
    model = training_graph(size)
    assign_roles(model)
    tree = ScopeTree(model)
    scopes = tree.scopes()

    def text(detail: str) -> str:
        assign_roles(model)
        return compact(GraphView(model, detail).payload() or {})

    return {"nodes": len(model), "rows": best(lambda: plan_scopes(tree, scopes, model_edges(model))),
            "payload": best(lambda: text("full")), "bytes": len(text("full").encode()),
            "ideas": best(lambda: text("ideas")), "ideas bytes": len(text("ideas").encode())}


def in_page(browser: Any, size: int, folder: Path) -> dict[str, float]:
    """Times of the page."""
    model = training_graph(size)
    assign_roles(model)
    path = GraphView(model, "full").save(folder / f"{size}.html")
    paints = []
    for _ in range(3):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(FIRST_BOX)
        page.goto(path.as_uri())
        page.wait_for_function("window.firstBox")
        paints.append(page.evaluate("window.firstBox"))
        if len(paints) < 3:
            page.close()
    times = page.evaluate(ACTIONS)
    page.close()
    return {"first paint": min(paints), **times}


def main() -> None:
    """Print the tables."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("There is no Chromium on PATH.")
    rows = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for size in SIZES:
            rows.append({**in_python(size), **in_page(browser, size, Path(folder))})
        browser.close()
    for names in (["nodes", "rows", "payload", "bytes", "ideas", "ideas bytes", "first paint"],
                  ["nodes", "expand", "collapse", "expand all", "collapse all", "choose", "reveal", "search", "pan"]):
        print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")
        for row in rows:
            print("| " + " | ".join(f"{row[name]:,.0f}" for name in names) + " |")
        print()


if __name__ == "__main__":
    main()
