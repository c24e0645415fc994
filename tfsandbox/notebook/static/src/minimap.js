// The whole picture in a corner, with a window where the view is. It goes away when everything is in sight.

import {h, s} from "./core.js";
import {ROLES} from "./palette.js";

const WIDE = 150, TALL = 110, MOST = 600;

export class Minimap {
  constructor(canvas) {
    this.canvas = canvas;
    this.shapes = s("g");
    this.window = s("rect", {class: "tfs-window"});
    this.svg = s("svg", {"aria-hidden": true}, this.shapes, this.window);
    this.element = h("div", {class: "tfs-minimap", hidden: true, "aria-hidden": true}, this.svg);
    canvas.frame.stage.append(this.element);
    const move = (event) => {
      if (!event.buttons) return;
      const {left, top} = this.svg.getBoundingClientRect(), {width, height} = canvas.area(), {k} = canvas.view;
      canvas.look({k, x: width / 2 - ((event.clientX - left) / this.scale) * k, y: height / 2 - ((event.clientY - top) / this.scale) * k});
    };
    this.element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.element.setPointerCapture(event.pointerId);
      move(event);
    });
    this.element.addEventListener("pointermove", move);
  }

  draw() { this.stale = true; }

  build() {
    const {root, frame} = this.canvas, small = frame.narrow ? 0.66 : 1;
    this.scale = Math.min(WIDE * small / root.width, TALL * small / root.height);
    this.svg.setAttribute("width", Math.max(24, root.width * this.scale).toFixed(0));
    this.svg.setAttribute("height", Math.max(24, root.height * this.scale).toFixed(0));
    const rects = [];
    const waiting = [{placed: root, x: 0, y: 0}];
    for (const around of waiting) {
      for (const placed of around.placed.children) {
        if (rects.length >= MOST) break;
        const x = around.x + placed.x, y = around.y + placed.y;
        if (placed.width * this.scale < 1) continue;
        if (placed.open && placed.box.depth < 3) waiting.push({placed, x, y});
        rects.push(s("rect", {class: placed.open ? "tfs-mo" : "tfs-m", x: (x * this.scale).toFixed(1), y: (y * this.scale).toFixed(1),
                            width: (placed.width * this.scale).toFixed(1),
                            height: Math.max(1.2, placed.height * this.scale).toFixed(1),
                            style: {"--c": `var(--tfs-${ROLES[placed.box.role] ? placed.box.role : "forward"})`}}));
      }
    }
    this.shapes.replaceChildren(...rects);
    this.stale = false;
  }

  follow() {
    const {view: {x, y, k}, root} = this.canvas, {width, height} = this.canvas.area();
    const all = x >= -1 && y >= -1 && x + root.width * k <= width + 1 && y + root.height * k <= height + 1;
    this.element.hidden = all;
    if (all) return;
    if (this.stale) this.build();
    const set = (name, value) => this.window.setAttribute(name, value.toFixed(1));
    set("x", (-x / k) * this.scale);
    set("y", (-y / k) * this.scale);
    set("width", Math.max(3, (width / k) * this.scale));
    set("height", Math.max(3, (height / k) * this.scale));
  }
}
