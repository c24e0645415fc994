// The pruning view: nodes fade out rule by rule; why each goes, what that saves, and the proof that nothing else changes.

import {ask, bytes, figure, h, register, shapeText} from "./core.js";
import {button, choice, progress, setPressed, stepper} from "./controls.js";
import {GraphView} from "./graph.js";
import {linkList, section} from "./panel.js";

const PRUNE_CSS = `
.tfs-kind-prune .tfs-panel table{border-collapse:collapse;width:100%;margin:2px 0;font-size:12px;font-variant-numeric:tabular-nums}
.tfs-kind-prune .tfs-panel th,.tfs-kind-prune .tfs-panel td{padding:2px 4px;text-align:right;font-weight:400;vertical-align:top;
 border-bottom:1px solid var(--tfs-frame);background:none;color:var(--tfs-ink);white-space:nowrap}
.tfs-kind-prune .tfs-panel thead th{color:var(--tfs-muted)}
.tfs-kind-prune .tfs-panel tr>:first-child{text-align:left;padding-left:0;color:var(--tfs-muted);white-space:normal}
.tfs-kind-prune .tfs-panel td.tfs-wide{white-space:normal;overflow-wrap:anywhere;text-align:left}
.tfs-rule{display:grid;grid-template-columns:20px 1fr auto;gap:2px 6px;width:100%;text-align:left;font:inherit;font-size:12px;
 color:var(--tfs-ink);background:none;border:0;border-radius:3px;padding:3px 2px;cursor:pointer}
.tfs-rule:hover,.tfs-rule[aria-pressed="true"]{background:color-mix(in srgb,var(--tfs-accent) 14%,transparent)}
.tfs-rule small{grid-column:2/4;color:var(--tfs-muted);font-size:11.5px;line-height:1.3}
.tfs-rule.tfs-past b{text-decoration:line-through}
.tfs-letter{border:1px solid var(--tfs-muted);border-radius:8px;font-size:10px;font-weight:700;text-align:center;height:16px;
 line-height:14px;color:var(--tfs-ink)}
.tfs-fate{margin:4px 0 8px;padding:5px 8px;border-left:3px solid var(--tfs-line);background:color-mix(in srgb,var(--tfs-ink) 5%,transparent);
 font-size:12px}
.tfs-fate.tfs-goes{border-color:var(--tfs-optimizer)}
.tfs-fate.tfs-stays{border-color:var(--tfs-input)}
.tfs-fate .tfs-button{margin-top:5px}
.tfs-yes{color:var(--tfs-input);font-weight:600}
.tfs-no{color:var(--tfs-optimizer);font-weight:600}
.tfs-kind-prune .tfs-canvas.tfs-protecting .tfs-n{cursor:copy}
.tfs-kind-prune .tfs-canvas .tfs-is-going>.tfs-ring{stroke:var(--tfs-optimizer);stroke-width:1.5;stroke-dasharray:2 4}
`;

const SIGNS = {optimizer: "O", slot: "S", gradient: "G", check: "C", identity: "I", dropout: "D"};
const GOING = 0.4, GONE = 0.68, MEASURED = 1.2;

// Seconds with the unit that fits.
function duration(seconds) {
  const [unit, factor] = seconds < 1e-3 ? ["µs", 1e6] : seconds < 1 ? ["ms", 1e3] : ["s", 1];
  return `${Number((seconds * factor).toPrecision(3))} ${unit}`;
}

export class PruneView extends GraphView {
  // The constructor of GraphView draws at once: what it asks for is made when it is first asked for.
  get plan() { return (this.current ||= this.payload.prune); }

  get byTensorFlow() { return this.who === "tensorflow"; }

  get reached() { return this.stepAt ?? this.plan.rules.length; }

  makeToolbar() {
    super.makeToolbar();
    const {t, frame, host} = this, state = host.get("state") || {};
    frame.addStyle("prune", PRUNE_CSS);
    this.who = this.plan.tensorflow && state.who === "tensorflow" ? "tensorflow" : "full";
    if (Number.isInteger(state.step)) this.stepAt = Math.max(0, Math.min(state.step, this.plan.rules.length));
    this.whoChoice = choice(t("who"), [["full", t("who.full")], ["tensorflow", t("who.tensorflow")]], this.who, (who) => this.goTo({who}));
    this.whoChoice.hidden = !this.plan.tensorflow;
    this.protectButton = frame.needsKernel(button(t, "protect.mode", () => this.setProtecting(!this.protecting), {pressed: false}));
    this.proveButton = frame.needsKernel(button(t, "prove", () => this.prove(), {primary: true}));
    this.measureButton = frame.needsKernel(button(t, "measure", () => this.measure()));
    frame.bar("prune").append(this.whoChoice, this.protectButton, this.proveButton, this.measureButton);
    this.stepBar = frame.bar("steps");
    this.makeStepper();
    frame.showPanel(h("h4", {}, t("summary")));  // it takes its place before the graph is fitted into what is left
    frame.own(() => {
      this.steps.stop();
      this.measuring = false;
    });
  }

  makeStepper() {
    const {rules} = this.plan;
    this.steps?.stop();
    this.steps = stepper(this.t, {count: rules.length + 1, value: this.reached, describe: (step) => this.describeStep(step),
                                  act: (step) => this.goTo({step})});
    this.stepBar.replaceChildren(this.steps);
    this.stepBar.hidden = this.byTensorFlow;
  }

  describeStep(step) {
    const {rules, rule} = this.plan;
    const left = this.t("step.left", {count: rule.filter((one) => one < 0 || one >= step).length, total: rule.length});
    if (!step) return `${this.t("step.none")} · ${left}`;
    const name = rules[step - 1];
    const count = rule.filter((one) => one === step - 1).length;
    return `${this.t("step.rule", {rule: name, count, title: this.titleOf(name)})} · ${left}`;
  }

  titleOf(rule) { return this.payload.labels[`rule.${rule}`] || ""; }

  // To a step, or to one who removes.
  goTo(fresh) {
    const before = {step: this.reached, who: this.who};
    this.host.set("state", {...this.host.get("state"), ...before, ...fresh});
    this.restate({...before, ...fresh});
  }

  restate(state) {
    super.restate(state);
    const {step, who} = state;
    let changed = false;
    if (Number.isInteger(step) && step !== this.reached && step >= 0 && step <= this.plan.rules.length) {
      this.stepAt = step;
      if (this.steps.value !== step) this.steps.value = step;
      changed = true;
    }
    if (who && who !== this.who && (who === "full" || this.plan.tensorflow)) {
      this.who = this.whoChoice.value = who;
      this.steps.stop();
      this.stepBar.hidden = this.byTensorFlow;
      changed = true;
    }
    if (!changed) return;
    this.canvas.paint();
    this.refresh();
  }

  // ---- What goes

  // For each box of a scene how many of its nodes each rule takes, and in the last place TensorFlow.
  get tallies() {
    const {scene} = this.canvas;
    if (this.tallied?.scene === scene && this.tallied.plan === this.plan) return this.tallied.counts;
    const wide = this.plan.rules.length + 1, counts = scene.boxes.map(() => new Array(wide).fill(0));
    const others = new Set(this.plan.tensorflow?.removed || []);
    for (let i = scene.boxes.length - 1; i > 0; i--) {
      const {node, parent} = scene.boxes[i], own = counts[i];
      if (node) {
        const rule = this.plan.rule[node.number];
        if (rule >= 0) own[rule]++;
        if (others.has(node.number)) own[wide - 1]++;
      }
      for (let k = 0; k < wide; k++) counts[parent][k] += own[k];
    }
    this.tallied = {scene, plan: this.plan, counts};
    return counts;
  }

  goneIn(number) {
    const own = this.tallies[number];
    if (this.byTensorFlow) return own[own.length - 1];
    let sum = 0;
    for (let k = 0; k < this.reached; k++) sum += own[k];
    return sum;
  }

  look(box) {
    const found = super.look(box), size = box.isScope ? box.count : 1;
    const gone = this.goneIn(box.number), classes = [], badges = [...found.badges], {plan} = this;
    const lines = found.title ? [found.title] : [];
    if (box.node) {
      const rule = plan.rules[plan.rule[box.node.number]];
      if (gone) badges.push({sign: this.byTensorFlow ? "TF" : SIGNS[rule] || "✕", label: this.fateOf(box.node)});
      lines.push(this.fateOf(box.node));
      if (plan.protected.includes(box.node.number)) {
        badges.push({sign: "★", label: this.t("fate.protected")});
        classes.push("new");
      }
    } else if (gone) {
      badges.push({sign: `−${gone}`, label: this.t("scope.goes", {gone, count: size})});
      lines.push(this.t("scope.goes", {gone, count: size}));
      if (plan.protected.some((number) => this.isInside(number, box.number))) badges.push({sign: "★", label: this.t("fate.protected")});
    }
    const whole = gone === size, now = whole && this.goesNow(box.number);
    if (whole) classes.push("gone");
    if (now) classes.push("going");
    const faint = whole ? (now ? GOING : GONE) : 0;
    return {...found, badges, classes: [...(found.classes || []), ...classes], faint, title: lines.join("\n")};
  }

  // Whether this step takes something of a box; the last step is the whole picture, where nothing stands out.
  goesNow(number) {
    const step = this.reached;
    return !this.byTensorFlow && step > 0 && step < this.plan.rules.length && this.tallies[number][step - 1] > 0;
  }

  isInside(number, scope) {
    const box = this.canvas.scene.byNode.get(number);
    return box !== undefined && this.canvas.scene.path(box).includes(scope);
  }

  edgeLook({tail, head}) {
    const {boxes} = this.canvas.scene;
    const whole = (number) => this.goneIn(number) === (boxes[number].isScope ? boxes[number].count : 1);
    return whole(tail) || whole(head) ? {classes: ["gone"]} : {};
  }

  // Why a node goes, or that it stays, in one line.
  fateOf({number}) {
    const {rules, rule, reason, reasons} = this.plan;
    const head = rule[number] >= 0 ? this.t("fate.goes", {rule: rules[rule[number]]}) : this.t("fate.stays");
    const why = reasons[reason[number]];
    return why ? `${head}: ${why}` : head;
  }

  // ---- Panels

  selected(box) {
    if (box && this.protecting) {
      if (box.node) this.protect(box.node, !this.plan.protected.includes(box.node.number));
      else this.frame.say(this.t("protect.open"));
    }
    super.selected(box);
    if (box) this.showFate(box); else this.overview();
  }

  open(control, title, ...content) {
    super.open(control, title, ...content);
    if (this.frame.panel.hidden) this.overview();
  }

  showFate(box) {
    const head = this.frame.panel.querySelector("h4");
    if (!box.node) {
      const gone = this.goneIn(box.number);
      head.after(h("div", {class: `tfs-fate ${gone ? "tfs-goes" : "tfs-stays"}`}, this.t("scope.goes", {gone, count: box.count})));
      return;
    }
    const {number} = box.node, {tensorflow} = this.plan;
    const on = this.plan.protected.includes(number), goes = this.plan.rule[number] >= 0;
    const control = goes || on
      ? this.frame.needsKernel(button(this.t, on ? "unprotect" : "protect", () => this.protect(box.node, !on), {primary: !on})) : null;
    const other = tensorflow ? this.t(`fate.tensorflow.${tensorflow.removed.includes(number) ? "goes" : "stays"}`) : null;
    head.after(h("div", {class: `tfs-fate ${goes ? "tfs-goes" : "tfs-stays"}`}, h("div", {class: "tfs-why"}, this.fateOf(box.node)),
                 other ? h("div", {class: "tfs-quiet"}, other) : null, control));
  }

  // The panel again, after a step or an answer.
  refresh() {
    const box = this.canvas.box(this.canvas.selected);
    if (box) {
      super.selected(box);
      this.showFate(box);
    } else {
      this.overview();
    }
  }

  overview() {
    const {t, plan} = this, {scene} = this.canvas;
    const top = this.shownOverview ? this.frame.panel.scrollTop : 0;
    const parts = [h("h4", {}, t("summary")), this.figures()];
    if (plan.outputs.length) {
      parts.push(h("p", {class: "tfs-quiet"}, `${t("run.of", {outputs: plan.outputs.map((name) => name.replace(/:0$/, "")).join(", ")})} ${t("run.why")}`));
    }
    if (this.proof) parts.push(...this.proofSection());
    parts.push(...section(t("rules"), h("div", {}, plan.rules.map((rule, i) => this.ruleButton(rule, i)))));
    const names = plan.protected.map((number) => scene.nodes[number]);
    parts.push(...section(t("protected"), names.length
      ? linkList(t, names, (node) => h("button", {class: "tfs-link", type: "button", on: {click: () => this.go(node.name)}}, `★ ${node.name}`))
      : h("p", {class: "tfs-quiet"}, t("protected.none"))));
    if (plan.tensorflow) {
      const all = plan.rule.filter((rule) => rule >= 0).length;
      parts.push(...section(t("tensorflow"), h("p", {}, t("tensorflow.about", {gone: plan.tensorflow.removed.length, all}))));
    }
    parts.push(...section(t("code"), this.codeBlock()));
    this.frame.showPanel(...parts);
    this.frame.panel.scrollTop = top;
  }

  ruleButton(rule, i) {
    const here = !this.byTensorFlow && this.reached === i + 1, past = !this.byTensorFlow && this.reached > i;
    return h("button", {class: `tfs-rule${past ? " tfs-past" : ""}`, type: "button", "aria-pressed": String(here),
                        on: {click: () => this.goTo({who: "full", step: i + 1})}},
             h("span", {class: "tfs-letter", "aria-hidden": true}, SIGNS[rule] || "✕"), h("b", {}, rule),
             h("span", {}, this.plan.rule.filter((one) => one === i).length), h("small", {}, this.titleOf(rule)));
  }

  figures() {
    const {t, plan} = this, {sizes, tensorflow, rule} = plan, step = this.reached, all = step === plan.rules.length;
    const sum = (list) => list.slice(0, step).reduce((total, one) => total + one, 0);
    const left = (pair, by) => (all ? pair[1] : pair[0] - sum(by));
    const rows = [["row.nodes", rule.length, rule.filter((one) => one < 0 || one >= step).length,
                   tensorflow && rule.length - tensorflow.removed.length]];
    if (sizes) {
      rows.push(["row.bytes", bytes(sizes.bytes[0]), bytes(left(sizes.bytes, sizes.bytesByRule)), tensorflow && bytes(tensorflow.bytes)],
                ["row.variables", bytes(sizes.variables[0]), bytes(left(sizes.variables, sizes.variablesByRule)),
                 tensorflow && bytes(tensorflow.variables)]);
    }
    const kernels = this.proof?.kernels || plan.kernels, times = this.times;
    if (kernels) {
      rows.push(["row.visited", kernels[0][0], all ? kernels[1][0] : "", kernels[2]?.[0]],
                ["row.kernels", kernels[0][1], all ? kernels[1][1] : "", kernels[2]?.[1]]);
    }
    if (times) rows.push(["row.time", duration(times.before), all ? duration(times.after) : "", null]);
    const cells = (row, tag) => row.map((value, i) => (i < 3 || tensorflow ? h(tag, {}, value ?? "") : null));
    return h("table", {}, h("thead", {}, h("tr", {}, cells(["", t("before"), t(all ? "after" : "now"), "TF 1.15"], "th"))),
             h("tbody", {}, rows.map(([key, ...values]) => h("tr", {}, h("th", {scope: "row"}, t(key)), cells(["", ...values], "td").slice(1)))));
  }

  codeBlock() {
    const text = h("pre", {tabindex: "0"}, this.plan.code);
    return h("div", {}, text, button(this.t, "copy", async () => {
      try {
        await navigator.clipboard.writeText(this.plan.code);
        this.frame.say(this.t("copied"));
      } catch {
        getSelection().selectAllChildren(text);
        this.frame.say(this.t("copy.select"));
      }
    }));
  }

  proofSection() {
    const {t, proof} = this, {rows} = proof;
    const verdict = (row) => (row.same ? h("span", {class: "tfs-yes"}, `✓ ${t("prove.same")}`)
      : h("span", {class: "tfs-no"}, `✕ ${t("prove.differs")}${row.difference === null ? "" : ` (${figure(row.difference)})`}`));
    return section(t("prove.title"),
      h("p", {class: proof.same === rows.length ? "tfs-yes" : "tfs-no"}, this.verdict()),
      h("table", {class: "tfs-proof"}, h("tbody", {}, rows.map((row) => [
        h("tr", {}, h("td", {class: "tfs-wide"}, row.name, " ", h("span", {class: "tfs-quiet"}, `${row.dtype} ${shapeText(row.shape)}`)),
          h("td", {}, verdict(row))),
        h("tr", {}, h("td", {class: "tfs-wide"}, row.sample[0]), h("td", {}, row.before)),
        h("tr", {}, h("td", {class: "tfs-wide"}, row.sample[1]), h("td", {}, row.after))]))),
      h("p", {class: "tfs-quiet"}, t("prove.about", {values: t(`prove.values.${proof.values}`)})));
  }

  verdict() {
    const {rows, same, seed} = this.proof;
    return this.t(same === rows.length ? "prove.yes" : "prove.no", {count: rows.length, same, seed});
  }

  // ---- What Python does

  setProtecting(on) {
    this.protecting = on;
    setPressed(this.protectButton, on);
    this.canvas.svg.classList.toggle("tfs-protecting", on);
  }

  async protect(node, on) {
    const before = this.plan.rule.filter((rule) => rule < 0).length;
    try {
      await ask(this.host, "protect", {name: node.name, on});
      const kept = this.plan.rule.filter((rule) => rule < 0).length;
      this.frame.say(this.t(on ? "protect.done" : "unprotect.done", {name: node.name, kept, more: Math.abs(kept - before)}));
    } catch (error) {
      this.frame.say(error.message, true);
    }
  }

  async prove() {
    this.frame.say(this.t("prove.busy"));
    try {
      this.proof = await ask(this.host, "prove");
    } catch (error) {
      this.frame.say(error.message, true);
      return;
    }
    this.proveButton.textContent = this.t("prove.again");
    this.canvas.select(null);
    this.overview();
    this.frame.panel.scrollTop = 0;
    this.frame.say(this.verdict(), this.proof.same !== this.proof.rows.length);
  }

  // Python runs for a tenth of a second at a time, so that the notebook can be used and this be stopped.
  async measure() {
    if (this.measuring) {
      this.measuring = false;
      return;
    }
    const {t} = this, bar = progress(t("measure.busy")), start = performance.now();
    this.measuring = true;
    this.measureButton.textContent = t("measure.stop");
    this.measureButton.after(bar);
    try {
      let begin = true, share = 0;
      while (this.measuring && share < 1) {
        this.times = await ask(this.host, "measure", {begin});
        begin = false;
        share = (performance.now() - start) / 1000 / MEASURED;
        bar.value = Math.min(1, share);
      }
      const {before, after, runs} = this.times;
      this.frame.say(t("measure.done", {runs, before: duration(before), after: duration(after)}));
    } catch (error) {
      this.frame.say(error.message, true);
    }
    this.measuring = false;
    bar.remove();
    this.measureButton.textContent = t("measure");
    this.refresh();
  }

  // The kernel has planned again: the graph is the same, the decisions are others.
  update(payload) {
    const same = JSON.stringify(payload.nodes) === JSON.stringify(this.payload.nodes);
    const wasLast = this.reached === this.plan.rules.length;
    this.payload = payload;
    this.current = payload.prune;
    this.proof = this.times = undefined;
    this.proveButton.textContent = this.t("prove");
    if (wasLast || this.stepAt > this.plan.rules.length) this.stepAt = this.plan.rules.length;
    this.makeStepper();
    if (!same) super.update(payload);
    this.canvas.paint();
    this.refresh();
  }
}

register("prune", (frame, payload, host) => {
  const view = new PruneView(frame, payload, host);
  if (view.canvas.selected === null) view.overview();
  return view;
});
