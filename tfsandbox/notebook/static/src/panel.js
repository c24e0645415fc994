// The side panel: everything that is known of a node or a scope, with its neighbours as buttons.

import {h, replace} from "./core.js";
import {facts, kindText, outputText, sourceLine} from "./card.js";
import {button} from "./controls.js";
import {edgesOf} from "./keys.js";

const FIRST = 8;

// A list of links that begins short.
export function linkList(t, entries, make) {
  const list = h("ul", {});
  const show = (all) => replace(list, (all ? entries : entries.slice(0, FIRST)).map((entry) => h("li", {}, make(entry))),
                                !all && entries.length > FIRST ? h("li", {}, h("button", {
                                  class: "tfs-link", type: "button", on: {click: () => show(true)}},
                                t("more", {count: entries.length - FIRST}))) : null);
  show(false);
  return list;
}

export function section(title, ...content) { return [h("h5", {}, title), ...content]; }

function head(context, title, sub) {
  const {t, close} = context;
  return [h("button", {class: "tfs-close", type: "button", "aria-label": t("close"), title: t("close"), on: {click: close}}, "×"),
          h("h4", {}, title), sub ? h("p", {class: "tfs-quiet"}, sub) : null];
}

// `context` has t, canvas, go(name), close(), and what is to stand before the neighbours.
export function nodePanel(context, box) {
  return box.isScope ? scopePanel(context, box) : leafPanel(context, box);
}

function leafPanel(context, box) {
  const {t, canvas, go} = context, {node} = box, {scene} = canvas;
  const rows = [[t("op"), node.op], [t("role"), node.role === "forward" ? "" : t(`role.${node.role}`)], [t("kind"), node.kind ? kindText(t, node.kind) : ""]];
  node.outputs.forEach((output, i) => rows.push([node.outputs.length > 1 ? `${t("output")} ${i}` : t("output"), outputText(output)]));
  rows.push([t("device"), node.device]);
  const attrs = Object.entries(node.attrs);
  const parts = [...head(context, node.name), facts(rows)];
  if (node.source) parts.push(sourceLine(t, node.source));
  if (node.owner) parts.push(...section(t("belongs"), link(go, node.owner.name)));
  parts.push(...context.before, ...neighbours(context, box));
  if (attrs.length) parts.push(...section(t("attrs"), facts(attrs)));
  const related = scene.nodes.filter((other) => other.owner === node);
  if (related.length) {
    const groups = new Map();
    for (const other of related) groups.set(other.role, [...(groups.get(other.role) || []), other]);
    for (const [role, list] of groups) {
      parts.push(...section(`${t(`role.${role}`)} (${list.length})`, linkList(t, list, (other) => link(go, other.name, other.op))));
    }
  }
  const folded = scene.record.folded?.[node.number];
  if (folded) {
    const names = folded.slice(1).map((number) => scene.nodes[number]);
    parts.push(...section(`${t("folded")} (${folded[0]})`, linkList(t, names, (other) => link(go, other.name, other.op))));
  }
  const beside = scene.record.backward?.[box.number];
  if (beside?.length) {
    const names = beside.map((number) => scene.nodes[number]);
    parts.push(...section(`${t("backward")} (${beside.length})`, linkList(t, names, (other) => link(go, other.name, other.op))));
  }
  return parts.filter(Boolean);
}

function scopePanel(context, box) {
  const {t, canvas} = context, {scene} = canvas;
  const roles = Object.entries(scene.roles(box.number)).sort((a, b) => b[1] - a[1]);
  const toggle = button(t, canvas.isOpen(box.number) ? "scope.close" : "scope.open", () => {
    canvas.toggle(box);
    toggle.textContent = t(canvas.isOpen(box.number) ? "scope.close" : "scope.open");
  });
  const parts = [...head(context, box.series ? box.label : box.id, t("scope.of", {count: box.count})), toggle,
                 facts(roles.map(([role, number]) => [t(`role.${role}`), String(number)]))];
  parts.push(...context.before, ...neighbours(context, box));
  return parts.filter(Boolean);
}

function neighbours(context, box) {
  const {t, canvas, go} = context, {scene} = canvas, parts = [];
  const list = (title, edges, end) => {
    const known = new Map();
    for (const edge of edges) {
      const other = scene.boxes[edge[end]], from = scene.boxes[edge.tail];
      const output = edge.control ? t("edge.control") : from.node.outputs[edge.output] && outputText(from.node.outputs[edge.output]);
      const name = end === "tail" && edge.output ? `${other.id}:${edge.output}` : other.id;
      if (!known.has(`${name} ${edge.control}`)) known.set(`${name} ${edge.control}`, [other.id, name, output]);
    }
    if (known.size) parts.push(...section(`${title} (${known.size})`, linkList(t, [...known.values()], ([id, name, output]) => link(go, id, output, name))));
  };
  list(t("inputs"), edgesOf(canvas, box, "inputs"), "tail");
  list(t("outputs"), edgesOf(canvas, box, "outputs"), "head");
  return parts;
}

function link(go, name, note = "", text = name) {
  return [h("button", {class: "tfs-link", type: "button", on: {click: () => go(name)}}, text),
          note ? h("span", {class: "tfs-quiet"}, ` ${note}`) : null];
}
