// The card that appears over a box or an edge: what is known of it, in a few lines.

import {h, shapeText} from "./core.js";

const DELAY = 130;

export class HoverCard {
  constructor(canvas) {
    this.canvas = canvas;
    this.element = h("div", {class: "tfs-card", hidden: true, role: "tooltip"});
    canvas.frame.root.append(this.element);
    const {svg} = canvas;
    svg.addEventListener("pointermove", (event) => {
      if (event.buttons) return;
      const key = this.keyOf(event.target);
      if (key === this.key) return;
      this.hide();
      this.key = key;
      if (key === null) return;
      const {target} = event;
      this.timer = setTimeout(() => this.show(target, event), DELAY);
    });
    svg.addEventListener("pointerleave", () => this.hide());
    svg.addEventListener("pointerdown", () => this.hide());
    svg.addEventListener("focus", () => {});
  }

  keyOf(target) {
    const line = target.closest?.("[data-line]");
    if (line) return `line ${line.getAttribute("data-line")}`;
    const box = this.canvas.boxAt(target);
    return box === null ? null : `box ${box}${target.closest("[data-companion]") ? " companion" : ""}`;
  }

  show(target, event) {
    const {canvas} = this, line = target.closest("[data-line]");
    let content;
    if (line) {
      const [scope, number] = line.getAttribute("data-line").split(":").map(Number);
      content = edgeCard(canvas, scope, number);
    } else {
      const box = canvas.box(canvas.boxAt(target));
      if (!box) return;
      content = target.closest("[data-companion]") ? tipCard(box.companion.tip) : canvas.card ? canvas.card(box) : boxCard(canvas, box);
      canvas.emit("hover", box, event);
    }
    this.put(content, event.clientX, event.clientY);
  }

  // Shows content near a point of the window.
  put(content, clientX, clientY) {
    const {element, canvas} = this, home = canvas.frame.root.getBoundingClientRect();
    element.replaceChildren(...content.filter(Boolean));
    element.hidden = false;
    const {width, height} = element.getBoundingClientRect();
    let x = clientX - home.left + 14, y = clientY - home.top + 16;
    if (x + width > home.width - 8) x = Math.max(8, home.width - 8 - width);
    if (y + height > home.height - 8) y = clientY - home.top - height - 12;
    if (y < 4) y = 4;
    element.style.left = `${x.toFixed(0)}px`;
    element.style.top = `${y.toFixed(0)}px`;
  }

  hide() {
    clearTimeout(this.timer);
    this.key = undefined;
    if (!this.element.hidden) {
      this.element.hidden = true;
      this.canvas.emit("hover", null);
    }
  }
}

// Rows of a definition list, the empty ones left out.
export function facts(rows) {
  const kept = rows.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return kept.length ? h("dl", {}, kept.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])) : null;
}

export function outputText([dtype, shape]) { return [dtype, shape || dtype ? shapeText(shape) : ""].filter(Boolean).join(" "); }

// What the card says of a node or a scope.
export function boxCard(canvas, box) {
  const {t, scene} = canvas, node = box.node || box.principal?.node;
  const extra = canvas.lookOf(box)?.title;
  const more = extra ? String(extra).split("\n").map((line) => h("div", {}, line)) : [];
  if (!node || (box.isScope && !box.principal)) {
    const roles = Object.entries(scene.roles(box.number)).sort((a, b) => b[1] - a[1]);
    return [h("b", {}, box.id), facts([[t("nodes"), String(box.count)],
                                       ...roles.map(([role, number]) => [t(`role.${role}`), String(number)])]), ...more];
  }
  const rows = [[t("op"), node.op === box.label ? null : node.op], [t("role"), node.role === "forward" ? null : t(`role.${node.role}`)],
                [t("kind"), node.kind ? kindText(t, node.kind) : null]];
  node.outputs.forEach((output, i) => {
    if (i < 4) rows.push([node.outputs.length > 1 ? `${t("output")} ${i}` : t("output"), outputText(output)]);
  });
  for (const [name, value] of Object.entries(node.attrs).slice(0, 6)) rows.push([name, value]);
  rows.push([t("device"), node.device]);
  const folded = scene.record.folded?.[node.number];
  if (folded) rows.push([t("folded"), t("folded.count", {count: folded[0]})]);
  return [h("b", {}, node.name), node.op === box.label ? h("div", {class: "tfs-quiet"}, node.op) : null, facts(rows),
          node.source ? sourceLine(t, node.source) : null, ...more];
}

export function kindText(t, kind) {
  const [word, ...rest] = kind.split(" ");
  return rest.length ? `${t(`kind.${word}`)} (${rest.join(" ")})` : t(`kind.${word}`);
}

// Where a node was made: the place, and the line of the program.
export function sourceLine(t, source) {
  const [place, ...rest] = source.split("  ");
  return h("div", {}, h("span", {class: "tfs-quiet"}, t("made.at", {place})), rest.length ? h("pre", {}, rest.join("  ")) : null);
}

function tipCard(tip) {
  const [title, ...lines] = tip.split("\n");
  return [h("b", {}, title), ...lines.map((line) => h("div", {}, line || " "))];
}

function edgeCard(canvas, scope, number) {
  const {scene, t} = canvas, edges = scene.edgesOf(scope, number);
  const plan = scene.plan(scope), line = plan.shape.lines[number];
  if (line.lane === 1) {
    const name = (item) => (item < plan.inside ? scene.boxes[plan.first + item].id : scene.boxes[scene.farOf(plan, item)].id);
    const note = line.tail < plan.inside && scene.edgeNote(plan.first + line.tail, 1);
    return [h("b", {}, t("edge.gradient")), h("div", {}, `${name(line.head)} → ${name(line.tail)}`), note ? h("div", {}, note[4]) : null];
  }
  const shown = edges.slice(0, 6).map((edge) => {
    const tail = scene.boxes[edge.tail], head = scene.boxes[edge.head];
    const output = tail.node.outputs[edge.output];
    const tensor = edge.output ? `${tail.id}:${edge.output}` : tail.id;
    return h("div", {}, h("b", {}, tensor), ` → ${head.id}`,
             edge.control ? h("span", {class: "tfs-quiet"}, ` ${t("edge.control")}`)
               : output ? h("span", {class: "tfs-quiet"}, ` ${outputText(output)}`) : null);
  });
  if (edges.length > shown.length) shown.push(h("div", {class: "tfs-quiet"}, t("more", {count: edges.length - shown.length})));
  return shown;
}
