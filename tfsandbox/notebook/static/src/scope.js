// The scope mask: variables as a tree with check boxes, steps of training, and what they moved.

import {ask, bytes, figure, h, register, replace, shapeText} from "./core.js";
import {button, menu, progress, slider} from "./controls.js";
import {CURVE_CSS, Curve, numberOf} from "./curve.js";
import {HEAT_CSS, deltaBar, heat, largest} from "./heat.js";
import {SCOPE_CSS} from "./scope_css.js";

const MANY = 60, OFF = 1000, CLIP_LOW = 0.001;

class ScopeView {
  constructor(frame, payload, host) {
    Object.assign(this, {frame, host, t: frame.t});
    frame.addStyle("curve", CURVE_CSS);
    frame.addStyle("heat", HEAT_CSS);
    frame.addStyle("scope", SCOPE_CSS);
    this.busy = this.stopping = false;
    this.controls = [];
    this.read(payload);
    this.makeToolbar();
    this.makeSettings();
    this.body = h("tbody", {});
    const head = ["column.name", "column.shape", "column.size", "column.norm", "column.moved"];
    const classes = ["", "tfs-wide", "tfs-wide tfs-number", "tfs-wide tfs-number", ""];
    frame.stage.append(h("table", {class: "tfs-mask", role: "treegrid", "aria-label": this.t("table"),
                                   on: {keydown: (event) => this.key(event)}},
                         h("thead", {}, h("tr", {}, head.map((key, i) => h("th", {scope: "col", class: classes[i]}, this.t(key))))),
                         this.body));
    this.makePanel();
    frame.own(host.on("message", (message) => message.scope && this.take(message.scope)));
    frame.own(host.on("live", (live) => {
      this.enable();
      if (live) this.request("now");
    }));
    frame.own(host.on("selected", () => this.choose(host.get("selected")[0] || null, false)));
    frame.own(host.on("expanded", () => this.draw()));
    frame.own(frame.on("resize", () => this.curve.draw()));
    // Somebody may have trained in a cell since: what is shown is read again when the reader comes back to it.
    this.seen = Date.now();
    frame.root.addEventListener("pointerenter", () => {
      if (host.live && !this.busy && Date.now() - this.seen > 2000) this.request("now");
    });
    this.chosen = host.get("selected")[0] || null;
    this.draw();
    this.drawCurve();
    if (host.live) this.request("now");
  }

  read(payload) {
    this.rows = payload.rows;
    this.now = payload.now;
    this.scopes = this.rows.filter((row) => row.kind === "scope");
    this.trainable = this.rows.filter((row) => row.kind === "variable");
    this.fixed = new Set(this.now.fixed || []);
  }

  // ---- Asking Python

  async request(name, content = {}) {
    this.seen = Date.now();
    try {
      return await ask(this.host, name, content);
    } catch (error) {
      this.frame.say(error.message, true);
      return null;
    }
  }

  take(now) {
    this.now = now;
    this.seen = Date.now();
    this.fixed = new Set(now.fixed || []);
    this.draw();
    this.drawCurve();
    this.drawCode();
    this.setSettings();
    if (this.chosen && !this.busy) this.drawValue();
  }

  async switch(names, trains) {
    const open = names.filter((name) => !this.fixed.has(name));
    if (await this.request("switch", {names: open, trains})) {
      const {on, all} = this.counts();
      this.frame.say(this.t("switched", {trains: on, count: all}));
    } else {
      this.draw();
    }
  }

  async train(steps) {
    this.busy = true;
    this.stopping = false;
    this.enable();
    this.bar.hidden = this.stop.hidden = false;
    this.bar.value = 0;
    this.stop.focus();
    let done = 0, failed = false;
    while (done < steps && !this.stopping) {
      const answer = await this.request("train", {steps: steps - done});
      failed = !answer;
      if (failed || !answer.done) break;
      done += answer.done;
      this.bar.value = done / steps;
      this.now.runs[this.now.runs.length - 1].points.push(...answer.points);
      this.drawCurve();
    }
    this.busy = false;
    this.bar.hidden = this.stop.hidden = true;
    if (this.host.live) await (failed ? ask(this.host, "now").catch(() => null) : this.request("now"));
    this.enable();
    this.trainButtons[0].focus({preventScroll: true});
    if (failed) return;
    const moved = this.trainable.filter((row) => this.delta(row) > 0 || Number.isNaN(this.delta(row))).length;
    const words = this.t(done === 1 ? "train.done.one" : "train.done", {done, moved, held: this.trainable.length - moved});
    this.frame.say(done < steps ? `${this.t("train.stopped", {done, steps})} ${words}` : words);
  }

  // ---- Toolbar

  makeToolbar() {
    const {t, frame} = this;
    this.summary = h("strong", {});
    this.trainButtons = [1, 10, 100].map((steps) => button(t, `train.${steps}`, () => this.train(steps), {primary: true}));
    this.stop = button(t, "train.stop", () => { this.stopping = true; });
    this.bar = progress(t("train.busy"));
    this.bar.hidden = this.stop.hidden = true;
    const all = button(t, "all", () => this.switch(this.trainable.map((row) => row.id), true));
    const none = button(t, "none", () => this.switch(this.trainable.map((row) => row.id), false));
    this.slots = button(t, "slots", () => {
      this.host.set("state", {...this.host.get("state"), slots: !this.showSlots});
      this.draw();
    }, {pressed: true});
    const act = (name) => {
      const control = button(t, name, async () => {
        if (await this.request(name)) frame.say(t(`${name}.done`));
      });
      control.title = t(`${name}.tip`);
      return control;
    };
    const rewind = act("rewind"), restart = act("restart");
    this.controls.push([all, false], [none, false], [rewind, true], [restart, true], ...this.trainButtons.map((one) => [one, true]));
    for (const [control] of this.controls) control.tip = control.title;
    frame.toolbar.append(this.summary, h("span", {class: "tfs-group"}, all, none, this.slots),
                         h("span", {class: "tfs-group", role: "group", "aria-label": t("train")}, h("span", {class: "tfs-quiet"}, t("train")),
                           this.trainButtons, this.bar, this.stop),
                         h("span", {class: "tfs-group"}, rewind, restart));
    frame.own(this.host.on("state", () => this.draw()));
  }

  get showSlots() { return this.host.get("state").slots ?? this.rows.length <= MANY; }

  // Which controls work now, and why the others do not.
  enable() {
    const {live} = this.host, {obstacle = ""} = this.now;
    for (const [control, step] of this.controls) {
      const why = !live ? this.t("needs.kernel") : step ? obstacle : "";
      control.disabled = Boolean(why) || this.busy;
      control.title = why || control.tip;
    }
    for (const control of this.sliders) {
      const fixed = this.now.settings?.fixed;
      const why = !live ? this.t("needs.kernel") : fixed ? this.t("in.graph") : "";
      (control.input || control.select).disabled = Boolean(why) || this.busy;
      control.title = why;
    }
    for (const box of this.body?.querySelectorAll("input") || []) {
      box.disabled = !live || this.busy || box.dataset.fixed === "1";
      box.title = live ? box.dataset.tip : this.t("needs.kernel");
    }
    this.note.textContent = live && obstacle ? obstacle : "";
    this.note.hidden = !this.note.textContent;
  }

  // ---- Settings

  makeSettings() {
    const {t} = this;
    this.sliders = [];
    this.note = h("p", {class: "tfs-settings-note", role: "note", hidden: true});
    if (!this.now.settings) return;
    const bar = this.frame.bar("settings"), settings = this.now.settings;
    // A slider is moved in many small steps: Python hears of it when it rests.
    const later = (act) => {
      let timer = null;
      return (value) => {
        clearTimeout(timer);
        timer = setTimeout(() => act(value), 150);
      };
    };
    const modifier = (name, range) => slider(t(range.key), {...range, log: true}, later(async (value) => {
      const off = range.high === OFF && value >= OFF * 0.99, rounded = Number(value.toPrecision(2));
      if (await this.request("set", {name, value: off ? null : rounded})) {
        this.frame.say(t("set", {what: `${t(range.key)} ${range.format(value)}`}));
      }
    }));
    const clip = (value) => (value >= OFF * 0.99 ? t("off") : figure(Number(value.toPrecision(2))));
    const plain = (value) => figure(Number(value.toPrecision(2)));
    this.rate = modifier("learning_rate_multiplier", {key: "rate", low: 0.01, high: 100, value: 1, format: plain});
    this.clipNorm = modifier("clip_norm", {key: "clip_norm", low: CLIP_LOW, high: OFF, value: OFF, format: clip});
    this.clipValue = modifier("clip_value", {key: "clip_value", low: CLIP_LOW, high: OFF, value: OFF, format: clip});
    const kinds = settings.own ? ["own", "none", "l2", "l1"] : ["none", "l2", "l1"];
    const penalise = async () => {
      const strength = Number(this.strength.value.toPrecision(2)), kind = this.penalty.value;
      this.strength.hidden = !["l1", "l2"].includes(kind);
      if (await this.request("penalty", {kind, strength})) {
        const text = this.penalty.select.selectedOptions[0].textContent;
        this.frame.say(t("set", {what: `${t("penalty")} ${text}${this.strength.hidden ? "" : ` ${plain(strength)}`}`}));
      }
    };
    this.penalty = menu(t("penalty"), kinds.map((kind) => [kind, t(`penalty.${kind}`, {name: settings.own})]), settings.penalty, penalise);
    this.strength = slider(t("strength"), {low: 1e-5, high: 10, log: true, value: 0.01, format: plain}, later(penalise));
    this.sliders = [this.rate, this.clipNorm, this.clipValue, this.penalty, this.strength];
    bar.append(...this.sliders);
    if (settings.transform) bar.append(h("span", {class: "tfs-quiet"}, t("transform", {name: settings.transform})));
    bar.append(this.note);
    this.setSettings();
  }

  setSettings() {
    const {settings} = this.now;
    if (!settings || !this.rate) return;
    const set = (control, value) => {
      if (!control.contains(document.activeElement)) control.value = value;
    };
    set(this.rate, settings.learning_rate_multiplier);
    if (settings.each) this.rate.querySelector("output").textContent = this.t("each");
    set(this.clipNorm, settings.clip_norm ?? OFF);
    set(this.clipValue, settings.clip_value ?? OFF);
    this.penalty.value = settings.penalty;
    set(this.strength, settings.strength);
    this.strength.hidden = !["l1", "l2"].includes(settings.penalty);
  }

  // ---- The tree

  trains(name) { return Boolean(this.now.variables[name]?.[0]); }

  delta(row) { return numberOf(this.now.variables[row.id]?.[2]); }

  counts() {
    const on = this.trainable.filter((row) => this.trains(row.id));
    const size = (rows) => rows.reduce((sum, row) => sum + (row.elements || 0), 0);
    return {on: on.length, all: this.trainable.length, size: size(on), whole: size(this.trainable)};
  }

  // Open scopes: those that somebody opened, else all of a small tree and the outermost of a large one.
  get open() {
    const said = this.host.get("expanded");
    if (said.length) return new Set(said);
    return new Set(this.rows.length <= MANY ? this.scopes.map((row) => row.id) : []);
  }

  toggle(row) {
    const open = this.open;
    if (open.has(row.id)) open.delete(row.id); else open.add(row.id);
    // An empty list means that nobody has said anything.
    this.host.set("expanded", open.size ? [...open] : [""]);
    this.draw();
  }

  draw() {
    const {t} = this, open = this.open, held = this.focused();
    const {on, all, size, whole} = this.counts();
    replace(this.summary, t("summary", {trains: on, count: all}));
    this.summary.title = t("summary.size", {trains: size.toLocaleString(), count: whole.toLocaleString()});
    this.slots.setAttribute("aria-pressed", String(this.showSlots));
    this.slots.hidden = !this.rows.some((row) => row.kind === "slot");
    const moved = this.rows.map((row) => (row.kind === "slot" ? 0 : this.delta(row))).filter(Number.isFinite);
    this.most = Math.max(0, ...moved);
    this.mostSlot = Math.max(0, ...this.rows.map((row) => (row.kind === "slot" ? this.delta(row) : 0)).filter(Number.isFinite));
    const shown = [];
    let hidden = Infinity;
    for (const row of this.rows) {
      if (row.depth > hidden) continue;
      hidden = Infinity;
      if (row.kind === "slot" && !this.showSlots) continue;
      shown.push(row);
      if (row.kind === "scope" && !open.has(row.id)) hidden = row.depth;
    }
    replace(this.body, shown.map((row) => (row.kind === "scope" ? this.scopeRow(row, open.has(row.id)) : this.variableRow(row))));
    this.enable();
    if (held) [...this.body.querySelectorAll(held.tag)].find((one) => one.dataset.id === held.id)?.focus({preventScroll: true});
  }

  // Drawing again must not take the focus from who is using the keys.
  focused() {
    const at = document.activeElement;
    return at?.dataset.id !== undefined && this.body.contains(at) ? {tag: at.tagName, id: at.dataset.id} : null;
  }

  indent(row) { return {"padding-left": `${row.depth * (this.frame.narrow ? 9 : 16)}px`}; }

  scopeRow(row, open) {
    const {t} = this, on = row.members.filter((name) => this.trains(name)).length;
    const box = row.members.length ? h("input", {
      type: "checkbox", "data-id": row.id, "aria-label": t("switch", {name: row.id}), "data-tip": t("switch", {name: row.id}),
      on: {change: () => this.switch(row.members, box.checked)}}) : h("span", {class: "tfs-box"});
    box.checked = on > 0 && on === row.members.length;
    box.indeterminate = on > 0 && on < row.members.length;
    const label = t(open ? "close" : "open", {name: row.id});
    const twist = h("button", {class: "tfs-twist", type: "button", "data-id": row.id, title: label, "aria-label": label,
                               on: {click: () => this.toggle(row)}}, open ? "▼" : "▶");
    return h("tr", {class: "tfs-scope-row", "aria-level": row.depth + 1, "aria-expanded": String(open)},
             h("td", {}, h("div", {class: "tfs-first", style: this.indent(row)}, twist, box, h("span", {class: "tfs-link"}, row.label))),
             h("td", {class: "tfs-wide"}), h("td", {class: "tfs-wide"}), h("td", {class: "tfs-wide"}),
             h("td", {class: "tfs-still"}, row.members.length ? t("layer", {trains: on, count: row.members.length}) : ""));
  }

  variableRow(row) {
    const {t} = this, trains = this.trains(row.id), norm = numberOf(this.now.variables[row.id]?.[1]);
    const state = row.kind === "variable" ? (trains ? "trains" : "frozen") : row.kind;
    let box = h("span", {class: "tfs-box"});
    if (row.kind === "variable") {
      const fixed = this.fixed.has(row.id);
      box = h("input", {type: "checkbox", "data-id": row.id, "aria-label": t("switch", {name: row.id}),
                        "data-fixed": fixed ? "1" : null, "data-tip": t(fixed ? "fixed" : "switch", {name: row.id}),
                        on: {change: () => this.switch([row.id], box.checked)}});
      box.checked = trains;
    }
    const name = h("button", {class: "tfs-link", type: "button", "data-id": row.id, title: `${row.id} (${t(`state.${state}`)})`,
                              "aria-label": `${row.id}: ${t(`state.${state}`)}`, on: {click: () => this.choose(row.id, true)}}, row.label);
    const sign = {trains: "✓", frozen: "❄", slot: "◦", other: "·"}[state];
    return h("tr", {class: `tfs-${row.kind}-row tfs-${state}`, "aria-level": row.depth + 1, "data-name": row.id,
                    "aria-selected": String(row.id === this.chosen)},
             h("td", {}, h("div", {class: "tfs-first", style: this.indent(row)}, h("span", {class: "tfs-gap"}), box, name,
                           h("span", {class: `tfs-state-${state}`, title: t(`state.${state}`)}, sign))),
             h("td", {class: "tfs-wide"}, shapeText(row.shape)),
             h("td", {class: "tfs-wide tfs-number", title: row.elements === null ? null : row.elements.toLocaleString()}, bytes(row.bytes)),
             h("td", {class: "tfs-wide tfs-number"}, figure(norm)),
             h("td", {class: "tfs-moved"}, this.moved(row)));
  }

  moved(row) {
    const delta = this.delta(row), most = row.kind === "slot" ? this.mostSlot : this.most;
    if (delta === null) return null;
    if (delta === 0) return h("span", {class: "tfs-still"}, this.t("held"));
    return [deltaBar(Number.isFinite(delta) && most ? delta / most : 1), figure(delta)];
  }

  // Up and down go from row to row; right opens, left closes.
  key(event) {
    const at = event.target, row = at.closest("tr"), step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const scope = this.scopes.find((one) => one.id === at.dataset.id && row?.hasAttribute("aria-expanded"));
    if (step && row && at.tagName !== "TABLE") {
      event.preventDefault();
      let next = row;
      do next = step > 0 ? next.nextElementSibling : next.previousElementSibling;
      while (next && !next.querySelector("input,button"));
      (next?.querySelector(at.tagName === "INPUT" ? "input" : "button") || next?.querySelector("input,button"))?.focus();
    } else if (scope && (event.key === "ArrowRight") === !this.open.has(scope.id) && /^Arrow(Left|Right)$/.test(event.key)) {
      event.preventDefault();
      this.toggle(scope);
    }
  }

  // ---- The panel

  makePanel() {
    const {t} = this;
    this.curve = new Curve({label: t("loss"), empty: t(this.now.loss === false && !this.now.obstacle ? "loss.unknown" : "loss.empty"), describe: ([...lines]) => {
      const {points} = lines[lines.length - 1];
      return points.length ? t("loss.text", {first: figure(points[0][1]), last: figure(points[points.length - 1][1]), count: points.length}) : "";
    }});
    this.value = h("div", {class: "tfs-value"}, h("p", {class: "tfs-quiet"}, t("value.pick")));
    this.code = h("pre", {tabindex: "0", "aria-label": t("code")});
    const copy = button(t, "copy", async () => {
      try {
        await navigator.clipboard.writeText(this.now.code);
        this.frame.say(t("copied"));
      } catch {
        getSelection().selectAllChildren(this.code);
        this.frame.say(t("copy.select"));
      }
    });
    this.frame.showPanel(h("h5", {}, t("loss")), this.curve.element, h("h5", {}, t("value")), this.value,
                         h("div", {class: "tfs-code-head"}, h("h5", {}, t("code")), copy), this.code);
    this.drawCode();
  }

  drawCode() { this.code.textContent = this.now.code; }

  drawCurve() {
    const runs = (this.now.runs || []).filter((run) => run.points.length);
    const lines = runs.map((run, i) => ({
      name: runs.length > 1 ? this.t("loss.run", {number: i + 1}) : this.t("loss"), old: i < runs.length - 1, group: i,
      points: run.points.map(([step, value]) => [step, numberOf(value)])}));
    this.curve.draw(lines, runs.length ? runs[runs.length - 1].marks : []);
  }

  choose(name, tell) {
    this.chosen = name === this.chosen && tell ? null : name;
    if (tell) this.host.set("selected", this.chosen ? [this.chosen] : []);
    for (const row of this.body.rows) row.setAttribute("aria-selected", String(row.dataset.name === this.chosen && this.chosen !== null));
    this.drawValue();
  }

  async drawValue() {
    const {t, chosen} = this;
    if (!chosen) {
      replace(this.value, h("p", {class: "tfs-quiet"}, t("value.pick")));
      return;
    }
    const row = this.rows.find((one) => one.id === chosen) || {};
    const head = [h("h4", {}, chosen), h("p", {class: "tfs-quiet"},
      [row.dtype, shapeText(row.shape), `${t("column.norm")} ${figure(numberOf(this.now.variables[chosen]?.[1]))}`].join(" · "))];
    if (!this.host.live) {
      replace(this.value, head, h("p", {class: "tfs-quiet"}, t("needs.kernel")));
      return;
    }
    let answer;
    try {
      answer = await ask(this.host, "value", {name: chosen});
    } catch (error) {
      if (chosen === this.chosen) replace(this.value, head, h("p", {class: "tfs-quiet"}, error.message));
      return;
    }
    if (chosen !== this.chosen) return;
    const table = (key) => answer[key]?.map((row) => row.map(numberOf));
    const before = table("before"), after = table("after"), change = table("change");
    const bound = largest(before, after), moved = largest(change);
    const hover = (row, column) => this.frame.say(t("value.cell", {
      row, column, before: figure(before?.[row][column]), after: figure(after[row][column]), change: figure(change?.[row][column])}));
    const range = (high) => t("value.range", {high: figure(high), low: figure(-high)});
    replace(this.value, head, h("div", {class: "tfs-heats"},
                                before ? heat(t("value.before"), before, bound, hover) : null,
                                heat(t("value.after"), after, bound, hover),
                                change ? heat(`${t("value.change")} (±${figure(moved)})`, change, moved, hover) : null),
            h("p", {class: "tfs-quiet"}, before ? "" : `${t("value.new")} `, range(bound),
              answer.block > 1 ? `; ${t("value.mean", {count: answer.block})}` : ""));
  }

  update(payload) {
    this.read(payload);
    this.take(payload.now);
  }
}

function mountScope(frame, payload, host) {
  const view = new ScopeView(frame, payload, host);
  return {update: (fresh) => view.update(fresh)};
}

register("scope", mountScope);
