// The keys of a drawing: a tree for the arrow keys, in the order in which the boxes stand, from the top.

// The visible boxes from top to bottom, each scope before what is in it.
export function readingOrder(canvas) {
  if (canvas.order) return canvas.order;
  const order = [];
  const walk = (placed) => {
    const rows = [...placed.children].sort((a, b) => a.y + a.height - b.y - b.height || a.x - b.x);
    for (const child of rows) {
      order.push(child.box.number);
      if (child.open) walk(child);
    }
  };
  walk(canvas.root);
  return (canvas.order = order);
}

export function canvasKeys(canvas) {
  const go = (number) => {
    if (number === undefined || number === null) return;
    canvas.active = number;
    canvas.reveal(number, {center: false});
    canvas.paint();
    canvas.emit("focus", canvas.box(number));
  };
  const along = (edges, end) => {
    const found = edges.map((edge) => canvas.visible(edge[end])).find((number) => number !== canvas.active);
    go(found);
  };
  const keys = {
    ArrowDown: (order, at) => go(order[Math.min(order.length - 1, at + 1)]),
    ArrowUp: (order, at) => go(order[Math.max(0, at - 1)]),
    Home: (order) => go(order[0]),
    End: (order) => go(order[order.length - 1]),
    ArrowRight: (order, at, box) => {
      if (!box?.isScope) return;
      if (canvas.isOpen(box.number)) go(order[at + 1]); else canvas.toggle(box);
    },
    ArrowLeft: (order, at, box) => {
      if (box?.isScope && canvas.isOpen(box.number)) canvas.toggle(box);
      else if (box && box.parent > 0) go(box.parent);
    },
    Enter: (order, at, box) => box && (box.isScope ? canvas.toggle(box) : canvas.select(box.number)),
    " ": (order, at, box) => box && canvas.select(box.number === canvas.selected ? null : box.number),
    i: (order, at, box) => box && along(edgesOf(canvas, box, "inputs"), "tail"),
    o: (order, at, box) => box && along(edgesOf(canvas, box, "outputs"), "head"),
    "+": () => canvas.zoom(1.4),
    "=": () => canvas.zoom(1.4),
    "-": () => canvas.zoom(1 / 1.4),
    0: () => canvas.fit(),
  };
  canvas.svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      canvas.hover.hide();
      if (canvas.selected !== null) canvas.select(null);
      canvas.emit("escape");
      return;
    }
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    const order = readingOrder(canvas), at = order.indexOf(canvas.active);
    act(order, at, canvas.box(canvas.active));
  });
  canvas.svg.addEventListener("focus", () => {
    if (canvas.active === null || !canvas.placement.locate(canvas.active)) {
      canvas.active = readingOrder(canvas)[0] ?? null;
      canvas.paint();
    }
  });
}

// The edges that go into or out of a box, those inside a scope left out.
export function edgesOf(canvas, box, side) {
  const {scene} = canvas;
  if (!box.isScope) return scene[side](box.number);
  const inside = new Set(scene.leaves(box.number).map((leaf) => leaf.number));
  const far = side === "inputs" ? "tail" : "head";
  return [...inside].flatMap((number) => scene[side](number)).filter((edge) => !inside.has(edge[far]));
}
