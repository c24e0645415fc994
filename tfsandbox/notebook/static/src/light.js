// Which boxes and lines stand out while everything else is dimmed.

const merged = new Map();

// Two lists of classes as one, each class once.
function join(a, b) {
  if (!a || a === b) return b;
  const key = `${a}|${b}`;
  if (!merged.has(key)) merged.set(key, [...new Set(`${a} ${b}`.split(" "))].join(" "));
  return merged.get(key);
}

export class Light {
  // `boxes` and `edges`: Sets, or Maps to classes, of names ("node", "tail>head"), box numbers, and edges of the scene.
  constructor(scene, {boxes = [], edges = []}) {
    this.scene = scene;
    this.boxes = new Map();
    this.edges = [];
    this.lines = null;
    const entries = (found) => (found instanceof Map ? found : new Map([...found].map((name) => [name, "lit"])));
    for (const [name, classes] of entries(boxes)) {
      const number = typeof name === "number" ? name : scene.box(name)?.number;
      if (number === undefined) continue;
      for (let i = number; i > 0; i = scene.boxes[i].parent) this.boxes.set(i, join(this.boxes.get(i), classes));
    }
    for (const [key, classes] of entries(edges)) {
      if (typeof key === "object") {
        this.edges.push([key.tail, key.head, classes]);
      } else {
        const [tail, head] = key.split(">").map((name) => scene.byName.get(name));
        if (tail !== undefined && head !== undefined) this.edges.push([tail, head, classes]);
      }
    }
  }

  // Other scopes are open now.
  moved() { this.lines = null; }

  line(scope, number, open) {
    if (!this.lines) {
      this.lines = new Map();
      for (const [tail, head, classes] of this.edges) {
        for (const lane of [0, 1]) {
          for (const line of this.scene.linesOf(tail, head, lane, open)) this.lines.set(line, join(this.lines.get(line), classes));
        }
      }
    }
    return this.lines.get(`${scope}:${number}`);
  }
}
