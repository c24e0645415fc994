// Curves over steps: axes, lines told apart by colour and dash, marks at a step, and what is under the pointer.

import {figure, h, replace, s} from "./core.js";

export const CURVE_CSS = `
.tfs-curve{position:relative;margin:2px 0}
.tfs-curve svg{display:block;width:100%;touch-action:pan-y}
.tfs-curve .tfs-grid{stroke:var(--tfs-frame);stroke-width:1;shape-rendering:crispEdges}
.tfs-curve text{fill:var(--tfs-muted);font-size:11px;font-variant-numeric:tabular-nums}
.tfs-curve .tfs-c{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke:var(--c)}
.tfs-curve .tfs-c.tfs-old{stroke-width:1.3;opacity:.6}
.tfs-curve .tfs-dot{fill:var(--c)}
.tfs-curve .tfs-mark{stroke:var(--tfs-muted);stroke-dasharray:2 3}
.tfs-curve .tfs-flag{fill:var(--tfs-ink);font-size:10.5px}
.tfs-curve .tfs-cross{stroke:var(--tfs-ink);stroke-width:1;opacity:.5}
.tfs-keys{display:flex;flex-wrap:wrap;gap:1px 12px;font-size:11.5px;color:var(--tfs-muted);font-variant-numeric:tabular-nums}
.tfs-keys svg{width:22px;height:8px;margin-right:4px;vertical-align:middle;display:inline-block}
.tfs-keys b{font-weight:600;color:var(--tfs-ink)}
`;

const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 3", "12 4"];
const LEFT = 46, RIGHT = 8, TOP = 16, BOTTOM = 20;

// A number out of JSON, where NaN and infinities are words.
export function numberOf(value) { return value === null || value === undefined ? null : Number(value); }

// Round steps for an axis.
export function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) {
    found.push(Number(value.toPrecision(12)));
  }
  return found;
}

// A chart: `.draw(lines, marks)` with lines [{name, points: [[step, value]], old, group}] and marks [[step, text]].
export class Curve {
  constructor({label, empty = "", height = 150, describe = () => ""}) {
    Object.assign(this, {label, empty, height, describe, log: false, lines: [], marks: []});
    this.svg = s("svg", {role: "img", "aria-label": label, height});
    this.keys = h("div", {class: "tfs-keys"});
    this.element = h("div", {class: "tfs-curve"}, this.svg, this.keys);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => {
      this.cross?.remove();
      this.writeKeys(null);
    });
  }

  draw(lines = this.lines, marks = this.marks) {
    this.lines = lines.map((line, i) => ({...line, colour: `var(--tfs-group${(line.group ?? i) % 8 + 1})`,
                                          dash: DASHES[(line.group ?? i) % DASHES.length]}));
    this.marks = marks;
    const width = this.width = this.element.clientWidth || 260, {height} = this;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const fits = (value) => Number.isFinite(value) && (!this.log || value > 0);
    let low = Infinity, high = -Infinity, first = Infinity, last = -Infinity;
    for (const {points} of this.lines) {
      for (const [step, value] of points) {
        first = Math.min(first, step);
        last = Math.max(last, step);
        if (fits(value)) {
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
    }
    replace(this.svg);
    this.writeKeys(null);
    this.svg.style.display = last < first ? "none" : "";
    if (last < first) {
      replace(this.keys, this.empty);
      return;
    }
    if (low > high) [low, high] = this.log ? [0.1, 1] : [0, 1];
    if (low === high) [low, high] = this.log ? [low / 2, high * 2] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
    if (first === last) last = first + 1;
    const into = this.log ? Math.log10 : (value) => value;
    const x = this.x = (step) => LEFT + (step - first) / (last - first) * (width - LEFT - RIGHT);
    const y = this.y = (value) => TOP + (into(high) - into(value)) / (into(high) - into(low)) * (height - TOP - BOTTOM);
    for (const value of this.log ? decades(low, high) : ticks(low, high, 4)) {
      this.svg.append(s("line", {class: "tfs-grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value)}),
                      s("text", {x: LEFT - 5, y: y(value) + 4, "text-anchor": "end", text: figure(value)}));
    }
    for (const step of ticks(first, last, Math.max(2, Math.floor(width / 90))).filter(Number.isInteger)) {
      this.svg.append(s("text", {x: x(step), y: height - 5, "text-anchor": step === last ? "end" : "middle", text: step}));
    }
    this.drawMarks(x, first, last);
    for (const line of this.lines) this.drawLine(line, x, y, fits);
    this.svg.setAttribute("aria-label", `${this.label}: ${this.describe(this.lines)}`);
  }

  // Marks that stand too close for their words are told by the pointer.
  drawMarks(x, first, last) {
    let free = 0;
    for (const [step, text] of this.marks) {
      if (step < first || step > last) continue;
      const at = x(step), wide = text.length * 5.6 + 10;
      this.svg.append(s("line", {class: "tfs-mark", x1: at, x2: at, y1: TOP - 4, y2: this.height - BOTTOM},
                        s("title", {text})));
      const start = at + wide > this.width ? at - wide : at;
      if (start < free) continue;
      free = start + wide;
      this.svg.append(s("text", {class: "tfs-flag", x: start === at ? at + 2 : at - 2, y: TOP - 5, text,
                                 "text-anchor": start === at ? null : "end"}));
    }
  }

  drawLine({points, colour, dash, old}, x, y, fits) {
    let d = "", down = false;
    for (const [step, value] of points) {
      const good = fits(value);
      if (good) d += `${down ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`;
      else this.svg.append(s("text", {x: x(step), y: TOP + 8, "text-anchor": "middle", text: "×"}));
      down = good;
    }
    const style = {"--c": colour};
    if (points.length === 1 && fits(points[0][1])) {
      this.svg.append(s("circle", {class: "tfs-dot", style, r: 2.5, cx: x(points[0][0]), cy: y(points[0][1])}));
    }
    this.svg.append(s("path", {class: old ? "tfs-c tfs-old" : "tfs-c", style, d, "stroke-dasharray": dash || null}));
  }

  point(event) {
    if (!this.x || !this.lines.length) return;
    const box = this.svg.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * this.width;
    let best = null;
    for (const {points} of this.lines) {
      for (const [step] of points) {
        if (best === null || Math.abs(this.x(step) - at) < Math.abs(this.x(best) - at)) best = step;
      }
    }
    if (best === null) return;
    this.cross?.remove();
    this.cross = s("line", {class: "tfs-cross", x1: this.x(best), x2: this.x(best), y1: TOP, y2: this.height - BOTTOM});
    this.svg.append(this.cross);
    this.writeKeys(best);
  }

  // What each line is, with its value at a step, or its newest.
  writeKeys(step) {
    const value = ({points}) => (step === null ? points[points.length - 1] : points.find((point) => point[0] === step))?.[1];
    const mark = step === null ? null : this.marks.filter(([at]) => at <= step).pop();
    replace(this.keys, step === null ? null : h("span", {}, `${step}:`),
            this.lines.filter(({points}) => points.length).map((line) => h("span", {},
              s("svg", {viewBox: "0 0 22 8", "aria-hidden": true},
                s("path", {class: "tfs-c", d: "M0 4H22", style: {"--c": line.colour}, fill: "none", stroke: line.colour,
                           "stroke-width": 2, "stroke-dasharray": line.dash || null})),
              `${line.name} `, h("b", {}, figure(value(line))))),
            mark ? h("span", {}, mark[1]) : null);
  }
}

function decades(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    const value = 10 ** power;
    if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
  }
  return found.length ? found : [low, high];
}
