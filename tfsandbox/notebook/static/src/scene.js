// A payload's graph as objects: its nodes, and for each level of detail the boxes of its scope tree.
// interactive/graph_payload.py writes what is read here. Nothing in this file touches the page.

// Names as the number of characters shared with the one before, and the rest.
function unfold(coded) {
  const names = [];
  let before = "";
  for (let i = 0; i < coded.length; i += 2) {
    before = before.slice(0, coded[i]) + coded[i + 1];
    names.push(before);
  }
  return names;
}

function column(table, name, missing) {
  const found = table[name];
  return found ? (i) => found.values[found.of[i]] : () => missing;
}

// Nodes with name, op, role, kind (what training does to it), outputs [[dtype, shape]], attrs, device, source, owner.
export function decodeNodes(table) {
  const op = column(table, "op", ""), role = column(table, "role", "forward"), kind = column(table, "kind", "");
  const outputs = column(table, "out", []), attrs = column(table, "attrs", {});
  const device = column(table, "device", ""), source = column(table, "source", "");
  const owner = table.owner || [];
  const nodes = unfold(table.names).map((name, number) => ({
    number, name, op: op(number), role: role(number), kind: kind(number), outputs: outputs(number),
    attrs: attrs(number), device: device(number), source: source(number), owner: null,
  }));
  owner.forEach((of, number) => { if (of >= 0) nodes[number].owner = nodes[of]; });
  return nodes;
}

// All levels of a payload, decoded when they are first looked at.
export class Drawing {
  constructor(payload) {
    this.title = payload.title;
    this.level = payload.level;
    this.focus = payload.focus || [];
    this.offered = payload.offered;
    this.records = {};
    this.scenes = {};
    this.add(payload);
  }

  // The levels of another payload of the same graph, such as one that the kernel sent later.
  add(payload) {
    const nodes = decodeNodes(payload.nodes);
    for (const level of Object.keys(payload.levels)) {
      this.records[level] = {record: payload.levels[level], nodes};
      delete this.scenes[level];
    }
    if (!this.nodes || nodes.length > this.nodes.length) this.nodes = nodes;
  }

  get levels() { return Object.keys(this.records); }

  scene(level) {
    if (!this.scenes[level]) {
      const {record, nodes} = this.records[level];
      this.scenes[level] = new Scene(level, record, nodes);
    }
    return this.scenes[level];
  }
}

export function decode(payload) { return new Drawing(payload); }

export class Scene {
  constructor(level, record, nodes) {
    this.level = level;
    this.record = record;
    this.nodes = nodes;
    this.caption = record.caption;
    this.boxes = [];
    this.scopes = [];
    this.byName = new Map();
    this.byNode = new Map();
    this.plans = new Map();
    this.shared = new Map();
    this.build();
    this.expanded = record.expanded;
  }

  build() {
    const {children, node, scopes, heading, face, faces, marks = {}, companions = {}} = this.record;
    const series = new Set(this.record.series);
    let scope = 0, leaf = 0, next = 1, parent = 0, left = 0;
    for (let i = 0; i < children.length; i++) {
      // The children of a box stand together, in the order of their parents.
      if (i === 1) left = children[0];
      while (i && !left) left = children[++parent];
      const size = children[i], isScope = i === 0 || size > 0, around = i ? this.boxes[parent] : null;
      const [text, sub, role, width, height] = faces[face[i]] || [0, "", "", 0, 0];
      const box = {number: i, parent: i ? parent : -1, isScope, series: false, depth: i ? around.depth + 1 : 0, first: next, size,
                   order: -1, leaf: -1, face: face[i], id: "", label: "", text: "", sub, role, width, height, node: null, count: isScope ? 0 : 1,
                   principal: null, mark: marks[i] || "", companion: null, heading: 0};
      next += size;
      if (i) {
        if (isScope) this.nameScope(box, scopes[scope], heading[scope++], series.has(i)); else this.nameLeaf(box, this.nodes[node[leaf]], leaf++);
        box.text = text || box.label;
        const beside = companions[i];
        if (beside) box.companion = {label: beside[0], sub: beside[1], role: beside[2], width: beside[3], tip: beside[4]};
        this.byName.set(box.id, i);
        left--;
      }
      if (isScope) {
        box.order = this.scopes.length;
        this.scopes.push(i);
      }
      this.boxes.push(box);
    }
    for (let i = this.boxes.length - 1; i > 0; i--) this.boxes[this.boxes[i].parent].count += this.boxes[i].count;
  }

  nameScope(box, name, heading, series) {
    const base = this.base(box.parent);
    box.heading = heading;
    box.series = series;
    box.id = `${name[0] === "/" ? name.slice(1) : base + name}/`;
    box.label = (box.id.startsWith(base) ? box.id.slice(base.length) : lastPart(box.id)).replace(/\/+$/, "");
    if (series) [box.label] = box.label.split(" ");
  }

  nameLeaf(box, node, leaf) {
    const base = this.base(box.parent);
    box.node = node;
    box.leaf = leaf;
    box.id = node.name;
    box.label = (node.name.startsWith(base) ? node.name.slice(base.length) : "") || lastPart(node.name);
    this.byNode.set(node.number, box.number);
    const around = this.boxes[box.parent];
    if (box.parent > 0 && `${node.name}/` === around.id) around.principal = box;
  }

  // The id before the names of a scope's children: a numbered series adds nothing to them.
  base(number) {
    while (number > 0 && this.boxes[number].series) number = this.boxes[number].parent;
    return number > 0 ? this.boxes[number].id : "";
  }

  children(number) {
    const {first, size} = this.boxes[number];
    return this.boxes.slice(first, first + size);
  }

  // The box of an id or of a node's name; undefined when there is none. A folded node is found where it is folded.
  box(name) {
    const found = this.byName.get(name) ?? this.byName.get(name + "/");
    return found === undefined ? undefined : this.boxes[found];
  }

  // The boxes from the outermost down to this one.
  path(number) {
    const path = [];
    for (let i = number; i > 0; i = this.boxes[i].parent) path.push(i);
    return path.reverse();
  }

  // The boxes of the nodes in a box.
  leaves(number) {
    const found = [], waiting = [number];
    while (waiting.length) {
      const box = this.boxes[waiting.pop()];
      if (!box.isScope) found.push(box);
      for (let i = box.first + box.size - 1; i >= box.first; i--) waiting.push(i);
    }
    return found;
  }

  // What is inside a scope by role: {forward: 3, variable: 1}.
  roles(number) {
    const counts = {};
    for (const {node} of this.leaves(number)) counts[node.role] = (counts[node.role] || 0) + 1;
    return counts;
  }

  // Edges of the level as {tail, head, output, control} of box numbers, made once.
  get edges() {
    if (!this.allEdges) {
      this.allEdges = [];
      this.into = new Map();
      this.from = new Map();
      const leaves = this.boxes.filter((box) => box.node);
      leaves.forEach((box) => {
        for (const entry of this.record.inputs[box.leaf]) {
          const [number, output, control] = readInput(entry);
          const tail = this.byNode.get(number);
          if (tail === undefined || tail === box.number) continue;
          const edge = {tail, head: box.number, output, control};
          this.allEdges.push(edge);
          push(this.into, box.number, edge);
          push(this.from, tail, edge);
        }
      });
    }
    return this.allEdges;
  }

  inputs(number) { return this.edges && (this.into.get(number) || []); }

  outputs(number) { return this.edges && (this.from.get(number) || []); }

  // The scopes around a box and the box itself, the root first.
  around(number) {
    const box = this.boxes[number];
    return (box.around ??= [0, ...this.path(number)]);
  }

  // The lines along which an edge between two nodes' boxes is drawn, one in each scope that it passes, as
  // "scope:number". A gradient (lane 1) is listed like the edge that it goes against. Only in the scopes of `open`, if given.
  linesOf(tail, head, lane = 0, open = null) {
    const lower = this.around(tail), upper = this.around(head);
    if (lane && !this.record.flow) return [];
    let split = 1;
    while (split < lower.length && split < upper.length && lower[split] === upper[split]) {
      if (open && !open.has(lower[split])) return [];
      split++;
    }
    if (split >= lower.length || split >= upper.length) return [];
    const a = lower[split], b = upper[split], found = [];
    const add = (scope, from, to) => {
      const number = this.lineNumber(scope, from, to, lane);
      if (number !== undefined) found.push(`${scope}:${number}`);
    };
    const item = (scope, box) => box - this.boxes[scope].first;
    add(lower[split - 1], item(lower[split - 1], a), item(lower[split - 1], b));
    for (let i = split; i < lower.length - 1 && (!open || open.has(lower[i])); i++) {
      add(lower[i], item(lower[i], lower[i + 1]), this.port(lower[i], true, b, lane));
    }
    for (let i = split; i < upper.length - 1 && (!open || open.has(upper[i])); i++) {
      add(upper[i], this.port(upper[i], false, a, lane), item(upper[i], upper[i + 1]));
    }
    return found;
  }

  // What is said about the line of a lane that arrives at a box: [box, lane, text, width, tip].
  edgeNote(head, lane) {
    if (!this.notes) {
      this.notes = new Map((this.record.edgeNotes || []).map((note) => [note[0] * 2 + note[1], note]));
    }
    return this.notes.get(head * 2 + lane);
  }

  port(scope, out, far, lane) {
    const plan = this.plan(scope), {ports} = plan;
    if (!plan.index) {
      plan.index = new Map();
      for (let i = 0; i < ports.length; i += 3) plan.index.set(ports[i + 1] * 4 + ports[i + 2] * 2 + ports[i], i / 3);
    }
    return plan.inside + plan.index.get(far * 4 + lane * 2 + (out ? 1 : 0));
  }

  lineNumber(scope, tail, head, lane) {
    const {shape} = this.plan(scope);
    const key = (from, to, way) => (from * shape.rank.length + to) * 2 + way;
    if (!shape.index) shape.index = new Map(shape.lines.map((line, i) => [key(line.tail, line.head, line.lane), i]));
    return shape.index.get(key(tail, head, lane));
  }

  // The edges that a line stands for.
  edgesOf(scope, number) {
    if (!this.lineEdges) {
      this.lineEdges = new Map();
      for (const edge of this.edges) {
        for (const line of this.linesOf(edge.tail, edge.head)) push(this.lineEdges, line, edge);
      }
    }
    return this.lineEdges.get(`${scope}:${number}`) || [];
  }

  // A scope's own graph: its boxes from `first` on are items 0 to `inside`, its ports follow. Scopes that are built
  // alike share `shape`.
  plan(number) {
    let plan = this.plans.get(number);
    if (!plan) {
      const box = this.boxes[number], [shape, ports = [], weights = []] = this.record.plans[box.order];
      plan = {number, first: box.first, inside: box.size, ports, weights, shape: this.shapeOf(shape), index: null};
      this.plans.set(number, plan);
    }
    return plan;
  }

  // What is outside of a scope at one of its ports.
  farOf(plan, item) { return plan.ports[3 * (item - plan.inside) + 1]; }

  // How many tensors and how many control edges each line of a scope stands for.
  weightsOf(plan) {
    const found = new Map();
    for (let i = 0; i < plan.weights.length; i += 3) found.set(plan.weights[i], [plan.weights[i + 1], plan.weights[i + 2]]);
    return found;
  }

  shapeOf(number) {
    let shape = this.shared.get(number);
    if (!shape) this.shared.set(number, shape = {number, ...readShape(this.record.rows[number])});
    return shape;
  }
}

function lastPart(name) { return name.replace(/\/+$/, "").split("/").pop(); }

function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value); else map.set(key, [value]);
}

// [number of the node, output, is control] of an entry of `inputs`.
function readInput(entry) {
  if (typeof entry === "string") {
    const [number, output] = entry.split(":");
    return [Number(number), Number(output), false];
  }
  return entry < 0 ? [-1 - entry, 0, true] : [entry, 0, false];
}

// Rows, ranks, lines with their chains, the neighbours of each item, and the ports at which lines enter inner scopes: of
// the scope at a line's tail under twice the line's number, of the one at its head under the next.
function readShape({count, rows, lines = [], chains = [], ports = {}}) {
  const rank = [];
  rows.forEach((row, level) => row.forEach((item) => { rank[item] = level; }));
  const passed = new Map();
  for (let i = 0; i < chains.length; i += 2 + chains[i + 1]) {
    passed.set(chains[i], chains.slice(i + 2, i + 2 + chains[i + 1]));
  }
  const above = rank.map(() => []), below = rank.map(() => []);
  const found = [], known = new Set();
  for (let i = 0; i < lines.length; i += 3) {
    const [tail, head, lane] = lines.slice(i, i + 3);
    const [lower, upper] = rank[tail] < rank[head] ? [tail, head] : [head, tail];
    const chain = [lower, ...(passed.get(i / 3) || []), upper];
    found.push({tail, head, lane, chain});
    for (let k = 1; k < chain.length; k++) {
      const key = chain[k - 1] * rank.length + chain[k];
      if (!known.has(key)) {
        known.add(key);
        above[chain[k - 1]].push(chain[k]);
        below[chain[k]].push(chain[k - 1]);
      }
    }
  }
  return {count, rows, rank, lines: found, above, below, ports};
}
