// Heat maps of a table of numbers: orange above 0, blue below, nothing at 0; crossed out where there is no number.

import {figure, h, s} from "./core.js";

export const HEAT_CSS = `
.tfs-heats{display:flex;flex-wrap:wrap;gap:6px 10px;margin:4px 0}
.tfs-heat{margin:0;min-width:0}
.tfs-heat figcaption{font-size:11.5px;color:var(--tfs-muted)}
.tfs-heat canvas{display:block;image-rendering:pixelated;border:1px solid var(--tfs-line);max-width:100%;cursor:crosshair;
 background:var(--jp-layout-color0,var(--tfs-ground))}
`;

// Both are seen on light and on dark ground.
const ABOVE = [222, 112, 22], BELOW = [30, 126, 205], NONE = [128, 128, 128];
const WIDEST = 148, BIGGEST_CELL = 18;

export function largest(...tables) {
  let found = 0;
  for (const table of tables) {
    for (const row of table || []) for (const value of row) if (Number.isFinite(value)) found = Math.max(found, Math.abs(value));
  }
  return found;
}

// `bound` is the number with the full colour; `hover(row, column)` is called for the cell under the pointer.
export function heat(caption, table, bound, hover) {
  const rows = table.length, columns = table[0]?.length || 1;
  const canvas = h("canvas", {width: columns, height: rows, role: "img", "aria-label": `${caption}: ±${figure(bound)}`});
  const size = Math.max(1, Math.min(BIGGEST_CELL, Math.floor(WIDEST / columns), Math.max(2, Math.floor(WIDEST / rows))));
  canvas.style.width = `${columns * size}px`;
  canvas.style.height = `${rows * size}px`;
  const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
  table.forEach((row, i) => row.forEach((value, k) => {
    const known = Number.isFinite(value), colour = !known ? NONE : value >= 0 ? ABOVE : BELOW;
    image.data.set([...colour, known ? Math.round(255 * Math.min(1, Math.abs(value) / (bound || 1))) : 130], 4 * (i * columns + k));
  }));
  context.putImageData(image, 0, 0);
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const cell = (part, count) => Math.min(count - 1, Math.max(0, Math.floor(part * count)));
    hover(cell((event.clientY - box.top) / box.height, rows), cell((event.clientX - box.left) / box.width, columns));
  });
  return h("figure", {class: "tfs-heat"}, canvas, h("figcaption", {}, caption));
}

// A bar as wide as a share of 1.
export function deltaBar(share) {
  return s("svg", {class: "tfs-delta", viewBox: "0 0 64 9", width: 64, height: 9, "aria-hidden": true},
           s("rect", {width: Math.max(1.5, 64 * share).toFixed(1), height: 9, rx: 1.5}));
}
