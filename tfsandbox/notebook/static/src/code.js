// The code view: the numpy program beside its graph. Pointing at a line lights its nodes, at a node its lines.

import {h, register} from "./core.js";
import {GraphView} from "./graph.js";

const CODE_CSS = `
.tfs-kind-code .tfs-source{flex:0 1 46%;min-width:0;max-height:620px;display:flex;flex-direction:column;border-right:1px solid var(--tfs-frame)}
.tfs-kind-code.tfs-narrow .tfs-source{flex:none;width:100%;max-height:300px;border-right:0;border-bottom:1px solid var(--tfs-frame)}
.tfs-program{flex:1;min-height:0;overflow:auto;padding:6px 0;font:12px/1.5 var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace)}
.tfs-program>div{width:max-content;min-width:100%}
.tfs-row{display:flex;white-space:pre;cursor:pointer;padding-right:10px;border-left:3px solid transparent}
.tfs-row>span:first-child{flex:none;width:3.4em;padding-right:1em;text-align:right;color:var(--tfs-muted);user-select:none}
.tfs-row:hover{background:color-mix(in srgb,var(--tfs-ink) 7%,transparent)}
.tfs-row.tfs-on-line{background:color-mix(in srgb,var(--tfs-accent) 17%,transparent);border-left-color:var(--tfs-accent)}
.tfs-kind-code .tfs-row:focus-visible{outline-offset:-2px}
.tfs-tk{font-weight:600;color:var(--tfs-forward)}
.tfs-tb{color:var(--tfs-input)}
.tfs-ts{color:var(--tfs-optimizer)}
.tfs-tm{color:var(--tfs-init)}
.tfs-tc{color:var(--tfs-muted);font-style:italic}
.tfs-said{flex:none;border-top:1px solid var(--tfs-frame);padding:5px 10px;min-height:3.9em;max-height:8em;overflow:auto;font-size:12px;overflow-wrap:anywhere}
`;

const SHOWN_NODES = 6, SHOWN_LINES = 8, ELIDED = 0.35;

export class CodeView extends GraphView {
  makeToolbar() {
    super.makeToolbar();
    const {t, frame} = this;
    frame.addStyle("code", CODE_CSS);
    this.readCode(this.payload);
    this.said = h("div", {class: "tfs-said", role: "status"}, t("hint"));
    this.program = h("div", {class: "tfs-program", role: "region", "aria-label": t("program"), tabindex: "-1"});
    this.makeRows();
    frame.stage.before(h("div", {class: "tfs-source"}, this.program, this.said));
    this.program.addEventListener("keydown", (event) => this.rowKey(event));
    for (const event of ["pointerleave", "focusout"]) this.program.addEventListener(event, () => this.point(null));
    frame.own(this.canvas.on("hover", (box) => this.point(box && {box})));
  }

  readCode({code}) {
    this.code = code;
    this.linesOf = new Map();
    code.lines.forEach(([, nodes], i) => nodes.forEach((number) => {
      if (!this.linesOf.has(number)) this.linesOf.set(number, []);
      this.linesOf.get(number).push(i);
    }));
  }

  makeRows() {
    this.rows = this.code.lines.map(([tokens], i) => {
      const parts = [];
      for (let k = 0; k < tokens.length; k += 2) parts.push(tokens[k] ? h("span", {class: `tfs-t${tokens[k]}`}, tokens[k + 1]) : tokens[k + 1]);
      return h("div", {class: "tfs-row", role: "button", tabindex: i ? "-1" : "0", "data-number": i + 1, on: {
        pointerenter: () => this.point({line: i}), focus: () => this.point({line: i}), click: () => this.keep(i)}},
      h("span", {"aria-hidden": true}, i + 1), h("code", {style: {background: "none", padding: "0", font: "inherit", color: "inherit"}}, parts));
    });
    this.program.replaceChildren(h("div", {}, this.rows));
  }

  rowKey(event) {
    const at = this.rows.indexOf(event.target), step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (at < 0) return;
    if (step && this.rows[at + step]) {
      event.preventDefault();
      this.rows[at].tabIndex = -1;
      this.rows[at + step].tabIndex = 0;
      this.rows[at + step].focus();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.keep(at);
    } else if (event.key === "Escape") {
      this.keep(null);
    }
  }

  // ---- What belongs to what

  // A line, or a box, that the reader points at: {line} or {box}; null for none.
  point(what) {
    this.pointed = what;
    this.relight();
  }

  // A line that stays lit, and its first node in sight.
  keep(line) {
    this.kept = line === null || this.kept?.line === line ? null : {line};
    const nodes = line === null ? [] : this.code.lines[line][1];
    if (this.canvas.selected !== null) this.canvas.select(null);
    if (this.kept && nodes.length) this.canvas.reveal(this.canvas.scene.nodes[nodes[0]].name, {focus: false});
    this.host.set("state", {...this.host.get("state"), line: this.kept ? line + 1 : null});
    this.relight();
  }

  nodesOf(box) { return box.node ? [box.node] : this.canvas.scene.leaves(box.number).map((leaf) => leaf.node); }

  linesIn(box) { return [...new Set(this.nodesOf(box).flatMap((node) => this.linesOf.get(node.number) || []))].sort((a, b) => a - b); }

  // Why a node has no line; an empty text for one that has.
  whyNot(node) {
    if (this.linesOf.has(node.number)) return "";
    return this.code.reasons[this.code.folded[node.number]] ?? this.t("node.outside");
  }

  relight() {
    const {canvas, t} = this, chosen = canvas.box(canvas.selected);
    const what = this.pointed || (chosen ? {box: chosen} : this.kept);
    let lines = [];
    if (!what) {
      canvas.light(null);
      this.said.textContent = t("hint");
    } else if (what.line !== undefined) {
      lines = [what.line];
      const names = this.code.lines[what.line][1].map((number) => canvas.scene.nodes[number].name);
      canvas.light(names.length ? {boxes: new Set(names)} : null);
      this.said.textContent = this.sayLine(what.line, names);
    } else {
      lines = this.linesIn(what.box);
      // Only what is chosen dims the rest of the picture: it would flicker under the pointer.
      canvas.light(what.box === chosen ? {boxes: new Set(this.nodesOf(what.box).map((node) => node.name))} : null);
      this.said.textContent = this.sayBox(what.box, lines);
    }
    const on = new Set(lines);
    this.rows.forEach((row, i) => row.classList.toggle("tfs-on-line", on.has(i)));
    if (what?.box && lines.length) this.bringIntoSight(this.rows[lines[0]]);
  }

  bringIntoSight(row) {
    const {program} = this, top = row.offsetTop - program.offsetTop;
    if (top < program.scrollTop || top + row.offsetHeight > program.scrollTop + program.clientHeight) {
      program.scrollTop = Math.max(0, top - program.clientHeight / 2);
    }
  }

  sayLine(line, names) {
    if (!names.length) return this.t("line.none", {number: line + 1});
    const more = names.length > SHOWN_NODES ? ` … ${this.t("more", {count: names.length - SHOWN_NODES})}` : "";
    return this.t("line.nodes", {number: line + 1, nodes: names.slice(0, SHOWN_NODES).join(", ") + more});
  }

  lineWords(lines) {
    if (lines.length === 1) return this.t("line", {number: lines[0] + 1});
    return this.t("lines", {numbers: lines.slice(0, SHOWN_LINES).map((line) => line + 1).join(", ") + (lines.length > SHOWN_LINES ? ", …" : "")});
  }

  sayBox(box, lines) {
    if (box.isScope) {
      const nodes = this.nodesOf(box), folded = nodes.filter((node) => this.whyNot(node)).length;
      return this.t("scope.lines", {name: box.id, lines: lines.length, folded, count: nodes.length});
    }
    const why = this.whyNot(box.node);
    return why ? this.t("node.folded", {name: box.id, why}) : this.t("node.lines", {name: box.id, lines: this.lineWords(lines)});
  }

  // ---- What GraphView asks

  look(box) {
    const found = super.look(box);
    if (!box.node) return found;
    const lines = this.linesIn(box), why = this.whyNot(box.node);
    const said = why || this.lineWords(lines);
    const badges = why ? found.badges : [...found.badges, {sign: String(lines[0] + 1) + (lines.length > 1 ? "…" : ""), label: said}];
    return {...found, badges, faint: why && !this.canvas.lit ? ELIDED : 0, title: [found.title, said].filter(Boolean).join("\n")};
  }

  // The space beside the graph is the program's: what is chosen is told under it.
  selected(box) {
    this.host.set("selected", box ? [box.id.replace(/\/$/, "")] : []);
    this.press(null);
    this.frame.showPanel();
    this.pointed = null;
    if (box) this.kept = null;
    this.relight();
  }

  retrace() { this.relight(); }

  update(payload) {
    this.payload = payload;
    this.readCode(payload);
    this.kept = this.pointed = null;
    this.makeRows();
    super.update(payload);
  }
}

register("code", (frame, payload, host) => new CodeView(frame, payload, host));
