// What a node depends on and what depends on it.

import {edgesOf} from "./keys.js";

// {boxes, edges, counts} for `canvas.light`: boxes and edges to classes ("in", "out", and "near" for direct neighbours).
export function traceOf(canvas, box, all) {
  const {scene} = canvas, boxes = new Map(), edges = new Map();
  const start = box.isScope ? scene.leaves(box.number).map((leaf) => leaf.number) : [box.number];
  for (const number of start) boxes.set(number, "lit");
  const inside = new Set(start), counts = {};
  for (const [side, far, name] of [["inputs", "tail", "in"], ["outputs", "head", "out"]]) {
    const first = edgesOf(canvas, box, side), seen = new Set(), waiting = [];
    const take = (edge, near) => {
      edges.set(edge, near ? `${name} near` : name);
      const other = edge[far];
      if (seen.has(other) || inside.has(other)) return;
      seen.add(other);
      boxes.set(other, near ? `${name} near` : name);
      waiting.push(other);
    };
    for (const edge of first) take(edge, true);
    counts[`${name}Near`] = seen.size;
    while (all && waiting.length) for (const edge of scene[side](waiting.pop())) take(edge, false);
    counts[name] = seen.size;
  }
  return {boxes, edges, counts};
}
