// A graph in the page: boxes that open and close in place, zoom and pan, focus, light. Only what can be seen is drawn.

import {Signals, h, reducedMotion, s} from "./core.js";
import {BoxRecord, LineRecord} from "./boxes.js";
import {CANVAS_CSS} from "./canvas_css.js";
import {HoverCard} from "./card.js";
import {button} from "./controls.js";
import {canvasKeys} from "./keys.js";
import {Light} from "./light.js";
import {Minimap} from "./minimap.js";
import {Placement} from "./place.js";
import {canvasPointer} from "./pointer.js";

const MARGIN = 14, SMALLEST = 0.02, LARGEST = 3, READABLE = 0.72, LEGIBLE = 0.5, BESIDE = 250;
const FAR_WIDTH = 44, FAR_HEIGHT = 26, SMALL_TEXT = 0.38, LINE_HITS = 0.4;
const TALLEST = 620, LOWEST = 240;
let count = 0;

export class Canvas extends Signals {
  constructor(frame, drawing, {look = () => ({}), edgeLook = () => ({})} = {}) {
    super();
    Object.assign(this, {frame, drawing, t: frame.t, lookOf: look, edgeLookOf: edgeLook});
    this.id = `tfs${++count}-${Date.now().toString(36)}`;
    this.view = {x: 0, y: 0, k: 1};
    this.selected = this.active = null;
    this.lit = null;
    this.hits = new Set();
    this.openNames = null;
    this.records = new Map();
    this.world = s("g", {class: "tfs-world"});
    this.svg = s("svg", {class: "tfs-canvas", role: "tree", tabindex: "0", "aria-label": this.t("canvas", {title: drawing.title})},
                 this.world);
    this.hint = h("div", {class: "tfs-hint", "aria-hidden": true});
    this.tools = h("div", {class: "tfs-tools"},
                   button(this.t, "zoom.in", () => this.zoom(1.4), {icon: "in"}),
                   button(this.t, "zoom.out", () => this.zoom(1 / 1.4), {icon: "out"}),
                   button(this.t, "zoom.fit", () => this.fit(), {icon: "fit"}));
    frame.stage.append(this.svg, this.tools, this.hint);
    frame.stage.style.resize = "vertical";
    frame.addStyle("canvas", CANVAS_CSS);
    this.minimap = new Minimap(this);
    this.hover = new HoverCard(this);
    canvasPointer(this);
    canvasKeys(this);
    frame.own(frame.on("resize", () => this.resized()));
    if (typeof ResizeObserver === "function") {
      const watch = new ResizeObserver(() => this.resized());
      watch.observe(frame.stage);
      frame.own(() => watch.disconnect());
    }
  }

  // ---- What is shown

  // Shows a level. Scopes that were open stay open; at first those of the payload are, as far as there is room.
  show(level) {
    const before = this.scene && this.box(this.selected)?.id;
    this.scene = this.drawing.scene(level);
    this.level = level;
    this.placement = new Placement(this.scene);
    const wanted = this.openNames ? [...this.openNames].map((name) => this.scene.byName.get(name))
      : this.scene.expanded;
    for (const number of wanted) if (number !== undefined) this.placement.setOpen(number, true);
    this.world.replaceChildren();
    this.records.clear();
    this.home = {kids: new Map(), lines: new Map(), edges: null, lineHome: s("g"), kidHome: s("g", {role: "group"})};
    this.world.append(this.home.lineHome, this.home.kidHome);
    this.order = null;
    this.selected = before ? this.scene.byName.get(before) ?? null : null;
    this.active = this.selected;
    if (!this.openNames && !this.drawing.asked) this.closeWhatDoesNotFit();
    this.layout();
    this.setHeight();
    this.begin(false);
    this.emit("layout");
  }

  closeWhatDoesNotFit() {
    const {width} = this.area(), {boxes} = this.scene;
    const opened = [...this.placement.open].filter((number) => number)
      .sort((a, b) => boxes[b].depth - boxes[a].depth || boxes[b].count - boxes[a].count || b - a);
    for (const number of opened) {
      const root = this.placement.run();
      if (Math.min((width - 2 * MARGIN) / root.width, (TALLEST - 2 * MARGIN) / root.height) >= READABLE) break;
      this.placement.setOpen(number, false);
    }
  }

  setHeight() {
    const {width} = this.area(), {root} = this;
    if (this.frame.root.ownerDocument.fullscreenElement === this.frame.root) return;
    const scale = Math.min(1, Math.max(READABLE, (width - 2 * MARGIN) / root.width));
    const wanted = Math.min(TALLEST, Math.max(LOWEST, root.height * scale + 2 * MARGIN));
    if (wanted > (this.tall || 0)) this.frame.stage.style.height = `${Math.round(this.tall = wanted)}px`;
  }

  layout() {
    this.root = this.placement.run();
    this.order = null;
    this.lit?.moved();
    this.minimap.draw();
  }

  box(number) { return number === null || number === undefined ? undefined : this.scene.boxes[number]; }

  isOpen(number) { return this.placement.open.has(number); }

  // The scopes that are open, by id, the closed ones around them left out.
  get expanded() {
    const {open} = this.placement, {boxes} = this.scene, shown = new Set([0]);
    // Boxes are numbered from the outside in.
    for (const number of [...open].sort((a, b) => a - b)) if (number && shown.has(boxes[number].parent)) shown.add(number);
    shown.delete(0);
    return [...shown].map((number) => boxes[number].id);
  }

  // The box that stands for a box in the picture: itself, or the closed scope that it is in.
  visible(number) {
    for (const step of this.scene.path(number)) if (!this.isOpen(step)) return step;
    return number;
  }

  // ---- Opening and closing. Numbers of boxes, or boxes.

  open(boxes) { this.change(boxes, true); }

  close(boxes) { this.change(boxes, false); }

  openAll() {
    this.change(this.scene.scopes.slice(1), true);
    this.begin();
  }

  closeAll() {
    this.change(this.scene.scopes.slice(1), false);
    this.begin();
  }

  toggle(box) {
    const number = box.number ?? box;
    if (!this.box(number)?.isScope) return;
    this.change([number], !this.isOpen(number), {anchor: number});
    this.emit("toggle", this.box(number));
  }

  change(boxes, open, {anchor = null} = {}) {
    const before = anchor !== null && this.placement.locate(anchor);
    for (const box of boxes) this.placement.setOpen(box.number ?? box, open);
    if (!open && anchor === null) this.active = this.active && this.visible(this.active);
    this.layout();
    this.openNames = new Set(this.expanded);
    this.setHeight();
    this.animate();
    if (before) {
      const after = this.placement.locate(anchor), {x, y, k} = this.view;
      // The box stays where it is on the screen, by the middle of its upper border.
      const target = {k, x: x + (before.x + before.placed.width / 2 - after.x - after.placed.width / 2) * k,
                      y: y + (before.y - after.y) * k};
      this.glide(this.brought(target, after));
    } else {
      this.sync();
    }
    this.emit("layout");
  }

  // The view moved, and made smaller where it must be, so that a placed box is in sight.
  brought(view, {x, y, placed}, least = 0.35) {
    const {width, height} = this.area();
    let {k} = view;
    const fits = Math.min((width - 2 * MARGIN) / placed.width, (height - 2 * MARGIN) / placed.height);
    if (fits < k) {
      const next = Math.max(Math.min(k, fits), Math.min(k, least));
      view = {k: next, x: view.x + (x + placed.width / 2) * (k - next), y: view.y + y * (k - next)};
      k = next;
    }
    const shift = (at, size, room) => (size + 2 * MARGIN > room ? (at > MARGIN ? MARGIN - at : Math.min(0, 0))
      : at < MARGIN ? MARGIN - at : at + size > room - MARGIN ? room - MARGIN - at - size : 0);
    return {k, x: view.x + shift(view.x + x * k, placed.width * k, width),
            y: view.y + shift(view.y + y * k, placed.height * k, height)};
  }

  // Opens what is around a node or scope and brings it into sight. Gives its box; undefined where this level has none.
  reveal(name, {focus = true, center = true} = {}) {
    const box = typeof name === "number" ? this.box(name) : this.scene.box(name);
    if (!box) return undefined;
    const around = this.scene.path(box.number).slice(0, -1).filter((number) => !this.isOpen(number));
    if (around.length) {
      for (const number of around) this.placement.setOpen(number, true);
      this.layout();
      this.openNames = new Set(this.expanded);
      this.setHeight();
      this.animate();
      this.emit("layout");
    }
    if (focus) this.active = box.number;
    const {x, y, placed} = this.placement.locate(box.number), {width, height} = this.area();
    let view = this.view;
    const at = {x: view.x + x * view.k, y: view.y + y * view.k};
    const inside = at.x > MARGIN && at.y > MARGIN && at.x + placed.width * view.k < width - MARGIN
      && at.y + placed.height * view.k < height - MARGIN;
    if (!inside || view.k < SMALL_TEXT || around.length) {
      const k = Math.max(view.k, READABLE);
      if (center) view = {k, x: width / 2 - (x + placed.width / 2) * k, y: height / 2 - (y + placed.height / 2) * k};
      view = this.brought(view, {x, y, placed});
    }
    this.glide(view);
    return box;
  }

  // ---- Light, selection, looks

  // Dims everything but some nodes and edges: `boxes` a Set of node names or box numbers, or a Map from them to
  // classes; `edges` the same for "tail>head" or edges of the scene; null ends it.
  light(wanted) {
    this.lit = wanted ? new Light(this.scene, wanted) : null;
    this.paint();
  }

  select(number, tell = true) {
    this.selected = number;
    if (number !== null) this.active = number;
    this.paint();
    if (tell) this.emit("select", this.box(number) || null);
  }

  // Asks for the looks again; nothing moves.
  paint() {
    for (const record of this.records.values()) {
      this.lookBox(record);
      for (const line of record.lines.values()) this.lookLine(line);
    }
    if (this.home) for (const line of this.home.lines.values()) this.lookLine(line);
    const active = this.records.get(this.active);
    if (active) this.svg.setAttribute("aria-activedescendant", active.g.id);
    else this.svg.removeAttribute("aria-activedescendant");
  }

  lookBox(record) {
    const {box} = record, {number} = box, own = [];
    if (number === this.selected) own.push("selected");
    if (number === this.active) own.push("active");
    if (this.hits.has(number)) own.push("hit");
    if (this.lit) own.push(this.lit.boxes.get(number) || "dim");
    const found = this.lookOf(box) || {};
    record.look(found, own);
    record.g.setAttribute("aria-selected", String(number === this.selected));
    if (box.isScope) record.g.setAttribute("aria-expanded", String(this.isOpen(number)));
    record.g.setAttribute("aria-label", this.describe(box, found));
  }

  // What a screen reader says of a box.
  describe(box, {note, badges = [], title} = {}) {
    const parts = [box.label, note ?? box.sub, ...badges.map((badge) => badge.label), title];
    if (box.companion) parts.push(`${box.companion.label} ${box.companion.sub}`);
    return parts.filter(Boolean).join(", ");
  }

  lookLine(line) {
    const {edge} = line, own = [];
    if (this.lit) own.push(this.lit.line(edge.scope, edge.number, this.placement.open) || "dim");
    const [, , note, width] = this.scene.edgeNote(edge.head, edge.lane) || [];
    const found = this.edgeLookOf({...edge, from: this.scene.boxes[edge.tail], to: this.scene.boxes[edge.head]});
    line.look({note, width, ...found}, own);
  }

  // ---- The view

  area() {
    return {width: this.frame.stage.clientWidth || 800, height: this.frame.stage.clientHeight || this.tall || LOWEST};
  }

  resized() {
    // Out of the page for a while: nothing is to be fitted into nothing.
    if (!this.frame.stage.clientWidth) return;
    const {width, height} = this.area(), last = this.lastArea;
    this.lastArea = {width, height};
    if (!this.root) return;
    if (last && (last.width !== width || last.height !== height)) {
      if (this.fitted) this.fit(false);
      else {
        const from = this.goal || this.view, view = {...from, x: from.x + (width - last.width) / 2};
        const chosen = this.selected !== null && this.placement.locate(this.visible(this.selected));
        this.look(chosen ? this.brought(view, chosen) : view);
      }
    }
  }

  // The scale at which all of it is in sight.
  whole() {
    const {width, height} = this.area(), {root} = this;
    return Math.min((width - 2 * MARGIN) / root.width, (height - 2 * MARGIN) / root.height, 1.15);
  }

  // All of it, or where that would be too small to read its upper end, where the results are; the minimap has the rest.
  begin(animated = true) {
    if (this.whole() >= LEGIBLE) {
      this.fit(animated);
      return;
    }
    const view = {k: LEGIBLE, x: this.area().width / 2 - this.root.width / 2 * LEGIBLE, y: MARGIN};
    if (animated) this.glide(view); else this.look(view);
  }

  fit(animated = true) {
    const {width, height} = this.area(), {root} = this;
    const view = {k: this.whole()};
    view.x = (width - root.width * view.k) / 2;
    view.y = (height - root.height * view.k) / 2;
    if (animated) this.glide(view); else this.look(view);
    this.fitted = true;
  }

  zoom(factor, at) {
    const {width, height} = this.area(), {x, y, k} = this.view;
    const next = Math.min(LARGEST, Math.max(Math.min(SMALLEST, this.whole()), k * factor)), px = at ? at.x : width / 2, py = at ? at.y : height / 2;
    const view = {k: next, x: px - (px - x) * next / k, y: py - (py - y) * next / k};
    if (at) this.look(view); else this.glide(view);
  }

  // Sets the view at once.
  look(view) {
    cancelAnimationFrame(this.gliding);
    this.goal = null;
    this.view = {...view};
    this.fitted = false;
    this.sync();
  }

  // Moves to a view in a quarter of a second.
  glide(view) {
    cancelAnimationFrame(this.gliding);
    this.fitted = false;
    const from = {...this.view}, start = performance.now();
    if (reducedMotion() || document.hidden) {
      this.look(view);
      return;
    }
    const far = Math.abs(view.x - from.x) + Math.abs(view.y - from.y) > 1 || Math.abs(view.k / from.k - 1) > 0.001;
    if (!far) {
      this.look(view);
      return;
    }
    this.goal = view;
    const step = (now) => {
      const share = Math.min(1, (now - start) / 240), eased = 1 - (1 - share) ** 3;
      this.view = {x: from.x + (view.x - from.x) * eased, y: from.y + (view.y - from.y) * eased,
                   k: from.k * (view.k / from.k) ** eased};
      this.sync();
      if (share < 1) this.gliding = requestAnimationFrame(step); else this.goal = null;
    };
    // What is there at once is drawn at once: a page in the background runs no frames.
    this.sync();
    this.gliding = requestAnimationFrame(step);
  }

  animate() {
    if (this.records.size > 500) return;
    this.svg.classList.add("tfs-moving");
    clearTimeout(this.moving);
    this.moving = setTimeout(() => {
      this.svg.classList.remove("tfs-moving");
      for (const record of [this.home, ...this.records.values()]) {
        for (const line of record.lines.values()) line.settle();
        record.fresh = false;
        record.settle?.();
      }
    }, 330);
  }

  // ---- Drawing

  sync() {
    const {x, y, k} = this.view, {width, height} = this.area();
    this.world.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${k.toFixed(4)})`);
    this.svg.classList.toggle("tfs-small", k < SMALL_TEXT);
    this.svg.classList.toggle("tfs-gentle", this.records.size < 250);
    const beside = BESIDE / k;
    this.window = {left: -x / k - beside, top: -y / k - beside, right: (width - x) / k + beside, bottom: (height - y) / k + beside};
    this.syncScope(this.root, this.home, 0, 0);
    this.minimap.follow();
    this.hover.hide();
  }

  syncScope(placed, home, x, y) {
    const {left, top, right, bottom} = this.window, {k} = this.view;
    for (const child of placed.children) {
      const {number} = child.box, cx = x + child.x, cy = y + child.y;
      let record = home.kids.get(number);
      if (cx > right || cy > bottom || cx + child.width < left || cy + child.height < top) {
        if (record) this.drop(home, number);
        continue;
      }
      const small = child.width * k < FAR_WIDTH || child.height * k < FAR_HEIGHT;
      const kind = child.open ? (small ? "far" : "open") : child.height * k < 5 ? "far" : "closed";
      if (record && record.kind !== kind) {
        this.drop(home, number);
        record = undefined;
      }
      if (!record) {
        record = new BoxRecord(child.box, kind, `${this.id}-${number}`);
        record.fresh = this.svg.classList.contains("tfs-moving");
        home.kids.set(number, record);
        this.records.set(number, record);
        home.kidHome.append(record.g);
        record.place(child);
        this.lookBox(record);
      } else {
        record.place(child);
      }
      record.scale(k);
      if (kind === "open") this.syncScope(child, record, cx, cy);
    }
    this.syncLines(placed, home, x, y);
  }

  syncLines(placed, home, x, y) {
    const {left, top, right, bottom} = this.window;
    const edges = this.placement.edges(placed.box.number);
    if (home.edges !== edges) {
      home.lineHome.replaceChildren();
      home.lines.clear();
      home.edges = edges;
      home.fresh = this.svg.classList.contains("tfs-moving");
    }
    for (const edge of edges) {
      const [x0, y0, x1, y1] = edge.area, record = home.lines.get(edge.number);
      const seen = x + x1 >= left && x + x0 <= right && y + y1 >= top && y + y0 <= bottom;
      if (!seen) {
        if (record) {
          record.g.remove();
          home.lines.delete(edge.number);
        }
      } else if (!record) {
        const arrow = edge.head !== edge.scope && !this.isOpen(edge.head);
        const line = new LineRecord(edge, arrow, `${edge.scope}:${edge.number}`);
        line.fresh = home.fresh;
        home.lines.set(edge.number, line);
        if (edge.direct) home.lineHome.prepend(line.g); else home.lineHome.append(line.g);
        this.lookLine(line);
      }
    }
  }

  drop(home, number) {
    const record = home.kids.get(number);
    if (!record) return;
    home.kids.delete(number);
    if (this.records.get(number) === record) this.records.delete(number);
    for (const inner of [...record.kids.keys()]) this.drop(record, inner);
    record.g.remove();
  }

  boxAt(target) {
    const found = target.closest?.("[data-box]");
    return found ? Number(found.getAttribute("data-box")) : null;
  }

  // A hint that goes away by itself.
  tell(text) {
    this.hint.textContent = text;
    this.hint.classList.add("tfs-on");
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.hint.classList.remove("tfs-on"), 1300);
  }
}
