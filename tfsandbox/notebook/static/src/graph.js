// The graph view: levels of detail, colours, search, tracing, a panel for what is selected.

import {ask, h, register, save} from "./core.js";
import {Canvas} from "./canvas.js";
import {boxCard, facts} from "./card.js";
import {COLOURINGS, MARKS, colouring, legendOf} from "./colours.js";
import {button, choice, menu, setPressed} from "./controls.js";
import {outline} from "./outline.js";
import {nodePanel, section} from "./panel.js";
import {pictureOf, pngOf} from "./picture.js";
import {decode} from "./scene.js";
import {matches, searchField} from "./search.js";
import {traceOf} from "./trace.js";
import {VALUES_CSS, isBroken, magnitudes, valueNote, valueRows, valueSection} from "./values.js";

const GRAPH_CSS = `
.tfs-search{position:relative;display:inline-flex;align-items:center;gap:6px}
.tfs-tally{font-size:11.5px;min-width:3em}
.tfs-tally:empty{display:none}
.tfs-matches{position:absolute;z-index:6;left:0;top:calc(100% + 3px);width:max-content;min-width:220px;max-width:min(440px,86vw);
 max-height:260px;overflow:auto;background:var(--jp-layout-color0,var(--tfs-ground));border:1px solid var(--tfs-line);
 border-radius:4px;box-shadow:0 3px 12px var(--tfs-shade);padding:3px}
.tfs-match{display:block;width:100%;text-align:left;font:inherit;font-size:12px;color:var(--tfs-ink);background:none;border:0;
 border-radius:3px;padding:3px 6px;cursor:pointer;overflow-wrap:anywhere}
.tfs-match:hover,.tfs-match[aria-selected="true"]{background:color-mix(in srgb,var(--tfs-accent) 16%,transparent)}
.tfs-name{font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px}
.tfs-divider{padding:4px 6px;font-size:11px}
.tfs-legend{display:inline-flex;align-items:center;gap:5px;font:inherit;color:var(--tfs-muted);background:none;border:0;
 border-radius:3px;padding:1px 3px;cursor:pointer}
.tfs-legend:hover,.tfs-legend[aria-pressed="true"]{color:var(--tfs-ink);background:color-mix(in srgb,var(--tfs-ink) 9%,transparent)}
.tfs-swatch{flex:none}
.tfs-outline ul{list-style:none;margin:0 0 0 14px;padding:0}
.tfs-outline>ul{margin:0}
.tfs-outline summary{cursor:pointer;margin:0}
.tfs-grow{flex:1}
.tfs-keys{font-size:12px}
.tfs-keys kbd{font:11px var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);border:1px solid var(--tfs-line);
 border-radius:3px;padding:0 4px}
.tfs-narrow .tfs-search{flex:1 1 100%;order:-1}
.tfs-narrow .tfs-search .tfs-field{flex:1;width:auto;min-width:0}
.tfs-narrow .tfs-choice{order:-2}
.tfs-narrow .tfs-grow{flex:0 0 0;margin-left:-6px}
.tfs-save{position:relative}
`;

export class GraphView {
  constructor(frame, payload, host) {
    Object.assign(this, {frame, host, t: frame.t, payload});
    frame.addStyle("graph", GRAPH_CSS + VALUES_CSS);
    this.drawing = decode(payload);
    this.drawing.asked = payload.asked;
    const state = host.get("state") || {};
    this.level = this.drawing.offered.includes(state.level) ? state.level : payload.level;
    if (!this.drawing.levels.includes(this.level)) this.level = payload.level;
    this.colour = COLOURINGS.includes(state.colour) ? state.colour : "role";
    this.all = true;
    this.values = new Map();
    this.canvas = new Canvas(frame, this.drawing, {look: (box) => this.look(box), edgeLook: (edge) => this.edgeLook(edge)});
    this.canvas.card = (box) => {
      const record = box.node && this.values.get(box.node.name);
      return [...boxCard(this.canvas, box), record ? facts(valueRows(this.t, record)) : null];
    };
    this.makeToolbar();
    this.canvas.on("select", (box) => this.selected(box));
    this.canvas.on("layout", () => this.laidOut());
    this.canvas.on("focus", (box) => box && frame.say(this.canvas.describe(box, this.look(box))));
    const opened = host.get("expanded") || [];
    if (opened.length) this.canvas.openNames = new Set(opened);
    this.show(this.level);
    const chosen = (host.get("selected") || [])[0];
    if (chosen) this.go(chosen, false);
    frame.own(host.on("selected", ([name]) => this.follow(name)));
    frame.own(host.on("expanded", (names) => this.expandTo(names)));
    frame.own(host.on("state", (found) => this.restate(found || {})));
    frame.own(host.on("live", () => this.enableLevels()));
    frame.own(host.on("message", (message) => message.watched && this.setValues(message.watched)));
    frame.own(host.on("live", () => this.askValues()));
    this.askValues();
  }

  // Whatever a view adds to the looks: a subclass overrides these two.
  look(box) {
    const found = {...this.colours.look(box)};
    const badges = [...(found.badges || [])];
    const record = box.node && this.values.get(box.node.name);
    if (record && !found.note) found.note = valueNote(record, box);
    if (this.broken?.has(box.number) && !(box.isScope && this.canvas.isOpen(box.number))) {
      badges.push({sign: "NaN", label: this.t("value.starts")});
      found.classes = ["warn"];
    } else if (isBroken(record)) {
      badges.push({sign: "!", label: this.t("value.broken")});
    }
    if (MARKS[box.mark]) badges.push({sign: MARKS[box.mark], label: this.t(`mark.${box.mark}`)});
    if (box.isScope && this.hitCounts?.has(box.number) && !this.canvas.isOpen(box.number)) {
      const count = this.hitCounts.get(box.number);
      badges.push({sign: String(count), label: this.t("search.count", {count})});
    }
    return {...found, badges, faint: box.mark === "removed" ? 0.55 : 0};
  }

  edgeLook() { return {}; }

  makeToolbar() {
    const {t, frame, drawing} = this;
    const names = {ideas: "level.ideas", gradients: "level.gradients", full: "level.full"};
    this.levels = choice(t("level"), drawing.offered.map((level) => [level, t(names[level]), t(`${names[level]}.tip`)]), this.level,
                         (level) => this.change({level}));
    if (drawing.offered.length < 2) this.levels.hidden = true;
    this.colourMenu = menu(t("colour"), COLOURINGS.map((name) => [name, t(`colour.${name}`)]), this.colour, (colour) => this.change({colour}));
    this.search = searchField(t, {
      find: (query) => matches(drawing, this.canvas.scene, query),
      found: (here) => here && this.setHits(here),
      pick: (match) => this.go(match.name, false),
    });
    this.textButton = button(t, "text", () => this.showText(), {pressed: false, short: "text"});
    this.helpButton = button(t, "keys", () => this.showHelp(), {icon: "help", pressed: false});
    this.saveButton = button(t, "save", () => this.showSave(), {pressed: false, short: "save"});
    this.fullButton = button(t, "fullscreen", () => this.fullscreen(), {icon: "full"});
    frame.toolbar.append(this.levels, this.search, this.colourMenu,
                         button(t, "open.all", () => this.canvas.openAll(), {short: "open"}),
                         button(t, "close.all", () => this.canvas.closeAll(), {short: "close"}),
                         h("span", {class: "tfs-grow"}), this.textButton, this.saveButton, this.fullButton, this.helpButton);
    this.enableLevels();
  }

  // A large graph travels without some of its levels: those need the kernel.
  enableLevels() {
    this.drawing.offered.forEach((level, i) => {
      const control = this.levels.buttons[i], there = this.drawing.levels.includes(level) || this.host.live;
      control.disabled = !there;
      control.title = this.t(there ? `level.${level}.tip` : "needs.kernel");
    });
  }

  change(fresh) {
    this.host.set("state", {...this.host.get("state"), ...fresh});
    this.restate({level: this.level, colour: this.colour, ...fresh});
  }

  restate({level, colour}) {
    if (colour && colour !== this.colour && [...COLOURINGS, ...(this.values.size ? ["memory", "time"] : [])].includes(colour)) {
      this.colour = this.colourMenu.value = colour;
      if (colour === "time") this.askTimes();
      this.recolour();
    }
    if (level && level !== this.level && this.drawing.offered.includes(level)) this.show(level);
  }

  async show(level) {
    if (!this.drawing.levels.includes(level)) {
      this.frame.say(this.t("loading"));
      try {
        const payload = await ask(this.host, "level", {level});
        this.drawing.add(payload);
      } catch (error) {
        this.levels.value = this.level;
        this.frame.say(error.message, true);
        return;
      }
    }
    const {canvas} = this, before = canvas.box(canvas.selected)?.id;
    this.level = this.levels.value = level;
    this.colours = this.colouring(this.drawing.scene(level));
    canvas.hits = new Set();
    this.hitCounts = null;
    canvas.lit = null;
    canvas.show(level);
    if (this.search.input.value) this.search.update();
    this.recolour();
    if (before && canvas.selected === null) this.follow(undefined);
    else if (canvas.selected !== null) this.selected(canvas.box(canvas.selected));
    this.frame.say(canvas.scene.caption);
  }

  recolour() {
    this.colours = this.colouring(this.canvas.scene);
    this.findBroken();
    this.held = null;
    const point = (entry) => this.lightEntry(entry || this.held);
    this.frame.foot.replaceChildren(...legendOf(this.colours.legend, point, (entry, element) => {
      const on = this.held !== entry;
      this.held = on ? entry : null;
      for (const other of this.frame.foot.children) setPressed(other, on && other === element);
      this.lightEntry(this.held);
    }));
    this.canvas.paint();
  }

  colouring(scene) {
    if (this.colour === "memory" || this.colour === "time") return magnitudes(this.colour, scene, this.values, this.t);
    return colouring(this.colour, scene, this.t);
  }

  lightEntry(entry) {
    if (entry) this.canvas.light({boxes: new Set(this.canvas.scene.boxes.filter(entry.has).map((box) => box.number))});
    else this.retrace();
  }

  // ---- What is selected

  selected(box) {
    this.host.set("selected", box ? [box.isScope ? box.id.replace(/\/$/, "") : box.id] : []);
    this.press(null);
    if (!box) {
      this.frame.showPanel();
      this.retrace();
      return;
    }
    const all = choice(this.t("trace"), [["near", this.t("trace.near")], ["all", this.t("trace.all")]], this.all ? "all" : "near", (value) => {
      this.all = value === "all";
      this.retrace();
    });
    const context = {t: this.t, canvas: this.canvas, go: (name) => this.go(name), close: () => this.canvas.select(null),
                     before: section(this.t("trace"), all)};
    this.frame.showPanel(...nodePanel(context, box), ...this.panelMore(box));
    this.retrace();
  }

  // Sections that a view adds to the panel.
  panelMore(box) {
    const name = (box.node || box.principal?.node)?.name, record = this.values.get(name);
    return record ? valueSection(this.t, this.host, name, record, this.runs) : [];
  }

  // ---- Values of watched runs

  askValues() {
    if (!this.host.live) return;
    ask(this.host, "values").then((found) => found.runs && this.setValues(found), () => {});
  }

  setValues({values, runs}) {
    const first = !this.values.size;
    this.values = new Map(Object.entries(values));
    this.runs = runs;
    if (first) {
      for (const name of ["memory", "time"]) this.colourMenu.select.append(h("option", {value: name}, this.t(`colour.${name}`)));
      this.frame.own(this.host.on("live", (live) => live || this.values.clear()));
    }
    if (this.colour === "time") this.askTimes();
    this.recolour();
    this.retrace();
    const box = this.canvas.box(this.canvas.selected);
    if (box && !this.frame.panel.hidden) this.selected(box);
    const starts = [...this.values].filter(([, record]) => record.starts).map(([name]) => name);
    this.frame.say(starts.length ? this.t("value.starts.at", {names: starts.slice(0, 4).join(", ")}) : this.t("value.of", {run: runs}), starts.length > 0);
  }

  askTimes() {
    ask(this.host, "times").then((found) => {
      for (const [name, value] of Object.entries(found)) if (this.values.has(name)) this.values.get(name).seconds = value;
      this.recolour();
    }, (error) => this.frame.say(error.message, true));
  }

  findBroken() {
    this.broken = new Set();
    for (const [name, record] of this.values) {
      const number = record.starts ? this.canvas.scene.byName.get(name) : undefined;
      if (number !== undefined) for (const around of this.canvas.scene.path(number)) this.broken.add(around);
    }
  }

  retrace() {
    const box = this.canvas.box(this.canvas.selected);
    if (!box) {
      this.canvas.light(null);
      return;
    }
    const {boxes, edges, counts} = traceOf(this.canvas, box, this.all);
    this.canvas.light({boxes, edges});
    this.frame.say(this.t(this.all ? "trace.said" : "trace.said.near", {name: box.id, inputs: this.all ? counts.in : counts.inNear,
                                                                        outputs: this.all ? counts.out : counts.outNear}));
  }

  // To a node or scope by name, at another level where this one does not have it.
  async go(name, focus = true) {
    let box = this.canvas.reveal(name, {focus});
    if (!box) {
      const home = this.foldedIn(name);
      const other = this.drawing.levels.find((level) => this.drawing.scene(level).box(name));
      if (other && !(home && this.level === other)) {
        this.change({level: other});
        box = this.canvas.reveal(name, {focus});
      } else if (home) {
        box = this.canvas.reveal(home, {focus});
      }
    }
    if (!box) {
      this.frame.say(this.t("not.here", {name}), true);
      return;
    }
    this.canvas.select(box.number);
    if (focus) this.canvas.svg.focus({preventScroll: true});
  }

  foldedIn(name) {
    const {scene} = this.canvas;
    for (const [number, [, ...names]] of Object.entries(scene.record.folded || {})) {
      if (names.some((inner) => scene.nodes[inner].name === name)) return scene.nodes[Number(number)].name;
    }
    return undefined;
  }

  // Python has chosen a node.
  follow(name) {
    const box = this.canvas.box(this.canvas.selected), shown = box && box.id.replace(/\/$/, "");
    if ((name || undefined) === shown) return;
    if (name) this.go(name, false); else this.canvas.select(null);
  }

  expandTo(names) {
    const {canvas} = this, wanted = new Set(names.map((name) => canvas.scene.box(name)?.number));
    if (JSON.stringify([...names].sort()) === JSON.stringify(canvas.expanded.sort())) return;
    const scopes = canvas.scene.scopes.slice(1);
    this.following = true;
    canvas.close(scopes.filter((number) => !wanted.has(number)));
    canvas.open(scopes.filter((number) => wanted.has(number)));
    this.following = false;
    canvas.fit();
  }

  // What another page has opened is not said back: it may show another level.
  laidOut() { if (!this.following) this.host.set("expanded", this.canvas.expanded); }

  // ---- Search

  setHits(here) {
    const {canvas} = this, {scene} = canvas, counts = new Map();
    canvas.hits = new Set(here.map((match) => match.number));
    for (const number of canvas.hits) {
      for (const around of scene.path(number).slice(0, -1)) counts.set(around, (counts.get(around) || 0) + 1);
    }
    this.hitCounts = counts.size ? counts : null;
    canvas.paint();
  }

  // ---- Panels of the toolbar

  press(control) {
    for (const other of [this.textButton, this.helpButton, this.saveButton]) setPressed(other, other === control);
  }

  open(control, title, ...content) {
    const shown = control.getAttribute("aria-pressed") === "true";
    if (shown) {
      const box = this.canvas.box(this.canvas.selected);
      if (box) this.selected(box); else { this.press(null); this.frame.showPanel(); }
      return;
    }
    this.press(control);
    const close = h("button", {class: "tfs-close", type: "button", "aria-label": this.t("close"), on: {click: () => this.open(control)}}, "×");
    this.frame.showPanel(close, h("h4", {}, title), ...content);
  }

  showText() { this.open(this.textButton, this.t("text"), outline(this.canvas, (name) => this.go(name))); }

  showHelp() {
    const rows = this.t("keys.list").split("\n").map((line) => line.split("\t"));
    this.open(this.helpButton, this.t("keys"), h("dl", {class: "tfs-keys"}, rows.map(([keys, text]) => [
      h("dt", {}, keys.split(" ").map((key) => [h("kbd", {}, key), " "])), h("dd", {style: {"font-family": "inherit"}}, text)])));
  }

  showSave() {
    const {t} = this, name = (this.drawing.title || "graph").replace(/[^\w.-]+/g, "_").slice(0, 60);
    const dark = () => getComputedStyle(this.frame.root).getPropertyValue("--tfs-ink").trim() === "#e8ebf0";
    const file = (key, act) => h("li", {}, button(t, key, () => Promise.resolve(act()).catch((error) => this.frame.say(error.message, true))));
    const page = file("save.html", async () => save(`${name}.html`, "text/html", (await ask(this.host, "page")).html));
    this.frame.needsKernel(page.firstChild);
    this.open(this.saveButton, t("save"), h("ul", {class: "tfs-save"},
      file("save.svg", () => save(`${name}.svg`, "image/svg+xml", pictureOf(this.canvas, {dark: dark()}))),
      file("save.png", async () => save(`${name}.png`, "image/png", await pngOf(pictureOf(this.canvas, {dark: dark()})))), page));
  }

  fullscreen() {
    const {root} = this.frame;
    if (document.fullscreenElement === root) document.exitFullscreen();
    else root.requestFullscreen?.().catch((error) => this.frame.say(error.message, true));
  }

  update(payload) {
    this.drawing = this.canvas.drawing = decode(payload);
    this.drawing.asked = payload.asked;
    this.show(this.drawing.levels.includes(this.level) ? this.level : payload.level);
  }
}

register("graph", (frame, payload, host) => new GraphView(frame, payload, host));

