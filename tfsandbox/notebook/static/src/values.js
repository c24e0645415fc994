// Values on the nodes: what the runs under `with view.watch(sess):` have computed, and how long and how large.

import {ask, bytes, figure, h, replace, s, shapeText} from "./core.js";
import {facts} from "./card.js";
import {HEAT_CSS, heat, largest} from "./heat.js";

export const VALUES_CSS = `${HEAT_CSS}
.tfs-histogram{display:block;margin:4px 0 2px;overflow:visible}
.tfs-histogram rect{fill:var(--tfs-forward);fill-opacity:.55}
.tfs-histogram text{font-size:10px;fill:var(--tfs-muted)}
`;

const SHADES = 5;

export function seconds(value) {
  return value < 1e-3 ? `${figure(Number((value * 1e6).toPrecision(3)))} µs` : `${figure(Number((value * 1e3).toPrecision(3)))} ms`;
}

// The second line of a box that has a value: its shape and mean, as far as there is room.
export function valueNote(record, box) {
  const shape = shapeText(record.shape);
  const scalar = !record.shape.length, number = record.mean === undefined ? "" : `${scalar ? "=" : "μ"} ${short(record.mean)}`;
  for (const text of [scalar ? number : `${shape} ${number}`, number || shape]) if (text.trim().length * 6 < box.width - 8) return text.trim();
  return undefined;
}

function short(value) { return figure(Number(value.toPrecision(3))); }

export function isBroken(record) { return Boolean(record && (record.nans || record.infs)); }

// Rows for the panel and the hover card.
export function valueRows(t, record) {
  const range = record.min === undefined ? "" : `${figure(record.min)} … ${figure(record.max)}`;
  return [[t("value.shape"), `${record.dtype} ${shapeText(record.shape)}`], [t("value.range"), range],
          [t("value.mean"), record.mean === undefined ? "" : `${figure(record.mean)} ± ${figure(record.std ?? null)}`],
          ["NaN", record.nans ? String(record.nans) : ""], ["Inf", record.infs ? String(record.infs) : ""],
          [t("value.bytes"), bytes(record.bytes)], [t("value.time"), record.seconds === undefined ? "" : seconds(record.seconds)]];
}

// The value of a node as a section of the panel: summary at once, histogram, heat map and elements when the kernel has answered.
export function valueSection(t, host, name, record, runs) {
  const more = h("div", {});
  ask(host, "value", {name}).then((found) => {
    const parts = [];
    if (found.histogram) parts.push(histogram(t, found.histogram));
    if (found.heat) {
      const where = h("div", {class: "tfs-quiet"}, "\u00a0");
      const show = (row, column) => { where.textContent = `[${row}, ${column}] ${figure(found.heat[row][column])}`; };
      parts.push(h("div", {class: "tfs-heats"}, heat(t("value.heat"), found.heat, largest(found.heat), show)), where);
    }
    if (found.elements) parts.push(h("pre", {}, found.elements));
    replace(more, parts);
  }, (error) => replace(more, h("p", {class: "tfs-quiet"}, error.message)));
  return [h("h5", {}, t("value.of", {run: runs})), record.starts ? h("p", {}, h("b", {}, t("value.starts"))) : null,
          facts(valueRows(t, record)), more].filter(Boolean);
}

function histogram(t, {low, high, counts}) {
  const most = Math.max(...counts), width = 9, tall = 46;
  const bars = counts.map((count, i) => s("rect", {x: i * width + 0.5, width: width - 1, y: (tall - tall * count / most).toFixed(1),
                                                    height: (tall * count / most).toFixed(1)}, s("title", {text: String(count)})));
  const wide = counts.length * width;
  return s("svg", {class: "tfs-histogram", viewBox: `0 0 ${wide} ${tall + 14}`, width: wide, height: tall + 14, role: "img",
                   "aria-label": t("value.histogram", {low: figure(low), high: figure(high)})},
           bars, s("text", {x: 0, y: tall + 12, text: figure(low)}),
           s("text", {x: wide, y: tall + 12, "text-anchor": "end", text: figure(high)}));
}

// Shades for bytes or seconds, on a logarithmic scale. A scope counts what is in it.
export function magnitudes(name, scene, values, t) {
  const of = (node) => values.get(node.name)?.[name === "memory" ? "bytes" : "seconds"] || 0;
  const text = name === "memory" ? bytes : seconds;
  const sums = new Float64Array(scene.boxes.length);
  for (let i = scene.boxes.length - 1; i > 0; i--) {
    const box = scene.boxes[i];
    if (box.node) sums[i] = of(box.node);
    sums[box.parent] += sums[i];
  }
  const found = scene.boxes.map((box) => sums[box.number]).filter((value) => value > 0);
  const low = Math.log(Math.min(...found.slice(1))), high = Math.log(Math.max(...found.slice(1)));
  const level = (value) => (high > low ? Math.min(SHADES - 1, Math.floor((Math.log(value) - low) / (high - low) * SHADES)) : SHADES - 1);
  const shade = (i) => `color-mix(in srgb, var(--tfs-optimizer) ${20 + Math.round(80 * i / (SHADES - 1))}%, var(--tfs-plumbing))`;
  const bound = (i) => Math.exp(low + (high - low) * i / SHADES);
  const legend = !found.length ? [] : Array.from({length: high > low ? SHADES : 1}, (_, i) => {
    const at = high > low ? i : SHADES - 1;
    return {text: high > low ? `${text(round(bound(i)))} – ${text(round(bound(i + 1)))}` : text(round(Math.exp(high))),
            colour: shade(at), sign: String(i + 1),
            has: (box) => Boolean(box.node) && sums[box.number] > 0 && level(sums[box.number]) === at};
  });
  return {legend, look(box) {
    const value = sums[box.number];
    if (!value) return {colour: "var(--tfs-plumbing)"};
    const at = level(value);
    return {colour: shade(at), note: text(round(value)), badges: [{sign: String(high > low ? at + 1 : 1), label: t(`colour.${name}`)}]};
  }};
}

function round(value) { return value > 1 ? Math.round(value) : Number(value.toPrecision(2)); }
