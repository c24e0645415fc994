// Coordinates: from the rows and orders of each scope, and from which scopes are open, to where everything is.
// The same arithmetic as layout.py and the last part of layered.py; tests compare the two on hundreds of graphs.

const PADDING = 16, HEADER = 26, GAP = 24, DUMMY_GAP = 13, ROW_GAP = 30, PORT_GAP = 12, DOCK_GAP = 16, SNAP = 14;
export const COMPANION_GAP = 8;
export const BACKWARD = 1;

// The places of one scene. Opening or closing a scope measures that scope again and those around it, no other; scopes
// that are built alike, with contents of the same sizes, are measured once.
export class Placement {
  constructor(scene) {
    this.scene = scene;
    this.open = new Set([0]);
    this.measured = new Map();
    this.closed = new Map();
    this.sizes = new Map();
    this.solved = new Map();
  }

  setOpen(number, open) {
    if (open === this.open.has(number) || !this.scene.boxes[number].isScope) return;
    if (open) this.open.add(number); else this.open.delete(number);
    for (let i = this.scene.boxes[number].parent; i >= 0 && this.measured.delete(i); i = this.scene.boxes[i].parent);
  }

  // The root as {box, x, y, width, height, open, children}; x and y are relative to the scope around.
  run() { return this.placed(0, 0, 0); }

  size(number) {
    if (this.open.has(number)) return this.measure(number).size;
    let size = this.closed.get(number);
    if (!size) {
      const {width, height, companion, face} = this.scene.boxes[number], key = companion ? `${face},${companion.width}` : face;
      size = this.sizes.get(key);
      if (!size) {
        const total = width + (companion ? companion.width + COMPANION_GAP : 0);
        const main = [width / 2 - total / 2, Math.max(4, width / 2 - 16)];
        const other = companion ? [total / 2 - companion.width / 2, Math.max(4, companion.width / 2 - 16)] : main;
        this.sizes.set(key, size = {id: this.sizes.size, width: total, height, lanes: [main, other]});
      }
      this.closed.set(number, size);
    }
    return size;
  }

  measure(number) {
    let found = this.measured.get(number);
    if (!found) {
      const plan = this.scene.plan(number);
      let key = `${plan.shape.number}|${number ? this.scene.boxes[number].heading : ""}`;
      for (let i = 0; i < plan.inside; i++) key += `|${this.size(plan.first + i).id}`;
      let solved = this.solved.get(key);
      if (!solved) this.solved.set(key, solved = this.solve(plan, number, `s${this.solved.size}`));
      this.measured.set(number, found = {plan, solved, size: solved.size});
    }
    return found;
  }

  solve(plan, number, id) {
    const {shape} = plan, {rows, rank, lines} = shape;
    const total = rank.length, items = shape.count;
    const width = new Array(total).fill(0), height = new Array(total).fill(0);
    for (let i = 0; i < plan.inside; i++) {
      const size = this.size(plan.first + i);
      width[i] = size.width;
      height[i] = size.height;
    }
    const above = rank.map(() => []), below = rank.map(() => []);
    const linked = new Set();
    lines.forEach((line, i) => {
      const {chain, lane} = line;
      for (let k = 1; k < chain.length; k++) {
        const a = chain[k - 1], b = chain[k], key = (a * total + b) * 2 + lane;
        if (linked.has(key)) continue;
        linked.add(key);
        const out = this.dock(plan, i, a), into = this.dock(plan, i, b);
        above[a].push([b, out, into]);
        below[b].push([a, into, out]);
      }
    });
    let x = centres(shape, width, above, below);
    let right = null;
    for (const row of rows) for (const item of row) right = Math.max(right ?? -Infinity, x[item] + width[item] / 2);
    right = right ?? 0;
    const low = items && rows[0].some((i) => i >= plan.inside && i < items);
    let tops = [], bottoms = [], y = 0;
    for (let level = rows.length - 1; level >= 0; level--) {
      let tall = 0;
      for (const item of rows[level]) tall = Math.max(tall, height[item]);
      tops.push(y);
      bottoms.push(y + tall);
      y += tall;
      if (level) y += rowGap(shape, x, level, tall === 0 || (level === 1 && low));
    }
    const root = number === 0;
    const label = root ? 0 : this.scene.boxes[number].heading;
    const margin = root ? 0 : PADDING, header = root ? 0 : HEADER;
    const inner = Math.max(right, label - 2 * margin);
    const shift = margin + (inner - right) / 2;
    x = x.map((value) => value + shift);
    tops = tops.reverse().map((top) => top + header);
    bottoms = bottoms.reverse().map((bottom) => bottom + header);
    const fullWidth = inner + 2 * margin, fullHeight = y + header + margin, lane = [0, fullWidth / 2 - PADDING];
    const ys = [];
    for (let i = 0; i < plan.inside; i++) {
      const level = rank[i], spare = bottoms[level] - tops[level] - height[i];
      // In a tall row what only gives stands close to its readers, what only takes close to its inputs.
      const share = !shape.below[i].length ? (shape.above[i].length ? 0 : 0.5) : !shape.above[i].length ? 1 : 0.5;
      ys.push(tops[level] + spare * share);
    }
    return {x, y: ys, tops, bottoms, width, height, offsets: x.slice(plan.inside, items).map((at) => at - fullWidth / 2),
            size: {id, width: fullWidth, height: fullHeight, lanes: [lane, lane]}, routes: null};
  }

  // Where a line meets an item, as an offset from its centre.
  dock(plan, number, item) {
    if (item >= plan.inside) return 0;
    const child = plan.first + item, line = plan.shape.lines[number];
    if (!this.open.has(child)) return this.size(child).lanes[line.lane][0];
    return this.measure(child).solved.offsets[plan.shape.ports[2 * number + (item === line.tail ? 0 : 1)]] ?? 0;
  }

  placed(number, left, top) {
    const {width, height} = this.size(number);
    return new Placed(this, this.scene.boxes[number], left, top, width, height, this.open.has(number));
  }

  // The boxes in an open scope.
  inside(number) {
    const inner = this.measure(number);
    if (!inner.children) {
      const {plan, solved: {x, y, width: widths}} = inner;
      inner.children = y.map((at, i) => this.placed(plan.first + i, x[i] - widths[i] / 2, at));
    }
    return inner.children;
  }

  // Where a box stands in the whole drawing: {placed, x, y}; undefined for one that is in a closed scope.
  locate(number) {
    let placed, x = 0, y = 0;
    for (const step of this.scene.path(number)) {
      const {parent} = this.scene.boxes[step];
      if (!this.open.has(parent)) return undefined;
      placed = this.inside(parent)[step - this.scene.boxes[parent].first];
      x += placed.x;
      y += placed.y;
    }
    return placed && {placed, x, y};
  }

  // The lines of an open scope with their points, in the scope's own coordinates; the same array until it is measured again.
  edges(number) {
    const inner = this.measure(number);
    if (!inner.edges) {
      const {plan, solved} = inner;
      if (!solved.routes) solved.routes = this.route(plan, solved);
      const name = (item) => (item < plan.inside ? plan.first + item : plan.number);
      const weights = this.scene.weightsOf(plan);
      inner.edges = plan.shape.lines.map((line, i) => {
        const [tail, head] = line.lane === BACKWARD ? [name(line.head), name(line.tail)] : [name(line.tail), name(line.head)];
        const [data, control] = weights.get(i) || [1, 0];
        return {scope: number, number: i, tail, head, lane: line.lane, data, control, ...solved.routes[i]};
      });
    }
    return inner.edges;
  }

  route(plan, {x, y, tops, bottoms, height, size}) {
    const {lines, rank} = plan.shape, docks = this.spreadDocks(plan, x);
    const end = (item, at, upper) => {
      if (item >= plan.inside) return [[at, upper ? 0 : size.height]];
      const level = rank[item];
      const border = upper ? y[item] + height[item] : y[item];
      const reach = upper ? bottoms[level] : tops[level];
      const points = [[at, reach]];
      if (Math.abs(border - reach) > 0.5) points.push([at, border]);
      return points;
    };
    return lines.map((line, number) => {
      const {chain, lane} = line, lower = chain[0], upper = chain[chain.length - 1];
      let points = end(lower, docks.lower[number], false).reverse();
      for (let k = 1; k < chain.length - 1; k++) {
        const item = chain[k], level = rank[item];
        points.push([x[item], bottoms[level]]);
        if (bottoms[level] - tops[level] > 0.5) points.push([x[item], tops[level]]);
      }
      points = points.concat(end(upper, docks.upper[number], true));
      if ((lower === line.tail) !== (lane !== BACKWARD)) points.reverse();
      return {points, area: extent(points), direct: chain.length === 2 && rank[upper] - rank[lower] > 1};
    });
  }

  // The x at which each line meets its lower and its upper end: spread over the box, in order.
  spreadDocks(plan, x) {
    const {lines, above} = plan.shape;
    const lower = [], upper = [], arriving = new Map();
    lines.forEach((line, number) => {
      const {chain, lane} = line, last = chain.length - 1;
      for (const [side, item, neighbour] of [[lower, chain[0], chain[1]], [upper, chain[last], chain[last - 1]]]) {
        const at = x[item] + this.dock(plan, number, item);
        side[number] = at;
        if (item >= plan.inside || this.open.has(plan.first + item)) continue;
        const aim = x[neighbour] + (last === 1 ? this.dock(plan, number, neighbour) : 0);
        if (side === upper) {
          const key = item * 2 + lane;
          if (!arriving.has(key)) arriving.set(key, []);
          arriving.get(key).push([aim, neighbour, number]);
        } else if (above[item].length === 1) {
          const half = this.size(plan.first + item).lanes[lane][1];
          if (Math.abs(aim - at) <= Math.min(SNAP, half)) side[number] = aim;
        }
      }
    });
    for (const [key, found] of arriving) {
      const item = Math.floor(key / 2);
      const [offset, half] = this.size(plan.first + item).lanes[key % 2];
      found.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
      const aims = new Map();
      for (const [aim, neighbour] of found) if (!aims.has(neighbour)) aims.set(neighbour, aim);
      const places = spread([...aims.values()], x[item] + offset - half, x[item] + offset + half);
      const place = new Map([...aims.keys()].map((neighbour, i) => [neighbour, places[i]]));
      for (const [, neighbour, number] of found) upper[number] = place.get(neighbour);
    }
    return {lower, upper};
  }
}

// A box with its place in the scope around it. What is in it is placed when somebody looks.
class Placed {
  constructor(placement, box, x, y, width, height, open) {
    Object.assign(this, {placement, box, x, y, width, height, open});
  }

  get children() { return this.open ? this.placement.inside(this.box.number) : []; }
}

// [left, top, right, bottom] of some points.
function extent(points) {
  let [x0, y0] = points[0], [x1, y1] = points[0];
  for (const [x, y] of points) {
    x0 = Math.min(x0, x);
    x1 = Math.max(x1, x);
    y0 = Math.min(y0, y);
    y1 = Math.max(y1, y);
  }
  return [x0, y0, x1, y1];
}

function rowGap({rows, below}, x, level, atPorts) {
  let far = 0;
  for (const item of rows[level]) for (const other of below[item]) far = Math.max(far, Math.abs(x[item] - x[other]));
  return (atPorts ? PORT_GAP : ROW_GAP) + Math.min(26, far * 0.07);
}

function spread(aims, low, high) {
  const count = aims.length, places = [];
  const apart = count > 1 ? Math.min(DOCK_GAP, (high - low) / (count - 1)) : DOCK_GAP;
  aims.forEach((aim, i) => {
    const place = Math.min(Math.max(aim, low + i * apart), high - (count - 1 - i) * apart);
    places.push(i ? Math.max(place, places[i - 1] + apart) : place);
  });
  for (let i = count - 2; i >= 0; i--) places[i] = Math.min(places[i], places[i + 1] - apart);
  return places;
}

// The x of each item's centre: near its neighbours, in the order of the rows, at least the gaps apart.
function centres(shape, width, linksAbove, linksBelow) {
  const {count, rows} = shape;
  const x = new Array(shape.rank.length).fill(0);
  const offsets = rows.map((row) => {
    const offset = new Array(row.length).fill(0);
    for (let i = 1; i < row.length; i++) {
      const a = row[i - 1], b = row[i];
      offset[i] = offset[i - 1] + (width[a] + width[b]) / 2 + (a >= count || b >= count ? DUMMY_GAP : GAP);
    }
    const middle = offset.length ? offset[offset.length - 1] / 2 : 0;
    row.forEach((item, i) => { x[item] = offset[i] - middle; });
    return offset;
  });
  const down = pulls(shape, linksBelow, linksAbove), up = pulls(shape, linksAbove, linksBelow);
  const rounds = shape.rank.length < 400 ? 6 : 3;
  for (let round = 0; round < rounds; round++) {
    let moved = 0;
    for (let i = 0; i < rows.length; i++) moved = Math.max(moved, settle(rows[i], offsets[i], x, down));
    for (let i = rows.length - 1; i >= 0; i--) moved = Math.max(moved, settle(rows[i], offsets[i], x, up));
    if (moved < 2) break;
  }
  const both = down.map((list, i) => list.concat(up[i]));
  for (let i = 0; i < rows.length; i++) settle(rows[i], offsets[i], x, both);
  for (let i = rows.length - 1; i >= 0; i--) settle(rows[i], offsets[i], x, both);
  let left = null;
  for (const row of rows) for (const item of row) left = Math.min(left ?? Infinity, x[item] - width[item] / 2);
  left = left ?? 0;
  return x.map((value) => value - left);
}

// [neighbour, where it would have me relative to its centre, how strongly]: long edges and chains should be straight.
function pulls({count}, near, back) {
  return near.map((links, item) => links.map(([neighbour, mine, theirs]) => {
    let weight = item >= count ? (neighbour >= count ? 8 : 2) : (neighbour >= count ? 2 : 1);
    if (links.length === 1 && back[neighbour].length === 1) weight *= 4;
    return [neighbour, theirs - mine, weight];
  }));
}

// Moves the items of a row to where their neighbours pull them, the distances of `offset` or more apart: an isotonic
// regression, by pooling adjacent violators. Gives the largest movement.
function settle(row, offset, x, pull) {
  if (row.length === 1) {
    const item = row[0], found = pull[item];
    if (!found.length) return 0;
    const [total, weight] = sum(found, x), before = x[item];
    x[item] = total / weight;
    return Math.abs(x[item] - before);
  }
  const blocks = [];
  for (let i = 0; i < row.length; i++) {
    const item = row[i], found = pull[item];
    let mean, weight, items = 1;
    if (found.length) {
      const [total, strength] = sum(found, x);
      mean = total / strength - offset[i];
      weight = strength;
    } else {
      mean = x[item] - offset[i];
      weight = 0.2;
    }
    while (blocks.length && blocks[blocks.length - 1][0] >= mean) {
      const [other, otherWeight, otherItems] = blocks.pop();
      const together = weight + otherWeight;
      mean = (mean * weight + other * otherWeight) / together;
      weight = together;
      items += otherItems;
    }
    blocks.push([mean, weight, items]);
  }
  let place = 0, moved = 0;
  for (const [mean, , items] of blocks) {
    for (let i = place; i < place + items; i++) {
      const value = mean + offset[i], change = Math.abs(value - x[row[i]]);
      if (change > moved) moved = change;
      x[row[i]] = value;
    }
    place += items;
  }
  return moved;
}

function sum(found, x) {
  let total = 0, weight = 0;
  for (const [neighbour, shift, strength] of found) {
    total += strength * (x[neighbour] + shift);
    weight += strength;
  }
  return [total, weight];
}
