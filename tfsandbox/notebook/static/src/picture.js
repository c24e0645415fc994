// The drawing as a picture that stands on its own: SVG text, or PNG.

import {s} from "./core.js";
import {BoxRecord, LineRecord} from "./boxes.js";
import {CANVAS_CSS} from "./canvas_css.js";
import {INKS, ROLES, inks} from "./palette.js";

const MARGIN = 16;

// All of the drawing with its scopes as they are open now, whatever part of it is in sight.
export function pictureOf(canvas, {dark = false} = {}) {
  const {root} = canvas, width = root.width + 2 * MARGIN, height = root.height + 2 * MARGIN;
  const world = s("g", {transform: `translate(${MARGIN} ${MARGIN})`});
  const draw = (placed, lineHome, kidHome) => {
    for (const edge of canvas.placement.edges(placed.box.number)) {
      const line = new LineRecord(edge, edge.head !== edge.scope && !canvas.isOpen(edge.head), "");
      canvas.lookLine(line);
      line.hit.remove();
      line.g.removeAttribute("data-line");
      if (edge.direct) lineHome.prepend(line.g); else lineHome.append(line.g);
    }
    for (const child of placed.children) {
      const record = new BoxRecord(child.box, child.open ? "open" : "closed", "");
      record.place(child);
      canvas.lookBox(record);
      record.ring.remove();
      record.sign?.remove();
      for (const name of ["id", "role", "data-box", "aria-label", "aria-level", "aria-selected", "aria-expanded"]) {
        record.g.removeAttribute(name);
      }
      if (child.box.node) record.g.prepend(s("title", {text: `${child.box.id} (${child.box.node.op})`}));
      kidHome.append(record.g);
      if (child.open) draw(child, record.lineHome, record.kidHome);
    }
  };
  const lines = s("g"), kids = s("g");
  draw(root, lines, kids);
  world.append(lines, kids);
  // SVG readers other than browsers know transforms and sizes as attributes only.
  for (const element of world.querySelectorAll("[style]")) {
    const {transform} = element.style;
    if (transform) element.setAttribute("transform", transform.replace(/px/g, "").replace(",", " "));
    for (const name of ["transform", "width", "height"]) element.style.removeProperty(name);
    if (!element.getAttribute("style")) element.removeAttribute("style");
  }
  plainColours(world, dark);
  const css = `.tfs-canvas{${inks(dark)}}${CANVAS_CSS.split("\n.tfs-tools")[0].replace(/var\(--jp-layout-color0,var\(--tfs-ground\)\)/g, "var(--tfs-ground)")}`;
  const svg = s("svg", {xmlns: "http://www.w3.org/2000/svg", class: "tfs-canvas", viewBox: `0 0 ${width.toFixed(0)} ${height.toFixed(0)}`,
                        width: width.toFixed(0), height: height.toFixed(0), role: "img"},
                s("title", {text: canvas.drawing.title}), s("style", {text: css}),
                s("rect", {width: "100%", height: "100%", fill: INKS.ground[dark ? 1 : 0]}), world);
  return new XMLSerializer().serializeToString(svg);
}

// The same colours as attributes, for readers of SVG that know no CSS variables.
function plainColours(world, dark) {
  const which = dark ? 1 : 0, ink = (name) => INKS[name][which];
  const resolve = (text) => {
    const [, name] = /^var\(--tfs-([\w-]+)\)$/.exec(text.trim()) || [];
    return ROLES[name] ? ROLES[name][dark ? "dark" : "light"] : INKS[name] ? ink(name) : name ? ink("line") : text.trim();
  };
  const colour = (element) => resolve(element.closest("[style*='--c']")?.style.getPropertyValue("--c") || "var(--tfs-line)");
  const set = (selector, make) => {
    for (const element of world.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(make(element))) element.setAttribute(name, value);
    }
  };
  set(".tfs-b", (element) => ({fill: element.classList.contains("tfs-thin") ? "none" : colour(element), "fill-opacity": dark ? 0.2 : 0.11,
                               stroke: colour(element)}));
  set(".tfs-p", () => ({fill: ink("ground")}));
  set(".tfs-o", (element) => ({fill: colour(element), "fill-opacity": 0.045, stroke: ink("frame")}));
  set(".tfs-e", (element) => ({fill: "none", stroke: element.closest(".tfs-back") ? ROLES.gradient[dark ? "dark" : "light"] : ink("line")}));
  set(".tfs-a", (element) => ({fill: element.closest(".tfs-back") ? ROLES.gradient[dark ? "dark" : "light"] : ink("line")}));
  set("text", () => ({fill: ink("ink"), "font-family": "sans-serif", "font-size": 11}));
  set(".tfs-l", () => ({"text-anchor": "middle", "font-weight": 600, "font-size": 12.5}));
  set(".tfs-s", () => ({"text-anchor": "middle", fill: ink("muted"), "font-size": 10.5}));
}

// A PNG of an SVG text, twice its size in pixels.
export function pngOf(svg) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => {
      const scale = Math.min(2, 8000 / Math.max(image.width, image.height));
      const surface = document.createElement("canvas");
      surface.width = Math.ceil(image.width * scale);
      surface.height = Math.ceil(image.height * scale);
      const ink = surface.getContext("2d");
      ink.scale(scale, scale);
      ink.drawImage(image, 0, 0);
      surface.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large for PNG."))), "image/png");
    };
    image.onerror = () => reject(new Error("The picture could not be drawn."));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
}
