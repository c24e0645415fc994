// What the colours of a graph say: its roles, or groups by op, name scope, device or training; with the legend.

import {h, s} from "./core.js";
import {kindText} from "./card.js";
import {GROUPS, ROLES} from "./palette.js";
import {detailLine, outline} from "./shapes.js";

export const COLOURINGS = ["role", "op", "scope", "device", "kind"];

const KIND_LOOKS = {
  trains: ["var(--tfs-input)", "✓"], frozen: ["var(--tfs-forward)", "❄"], state: ["var(--tfs-constant)", "#"],
  slot: ["var(--tfs-variable)", "▤"], gradient: ["var(--tfs-gradient)", "∂"], training: ["var(--tfs-optimizer)", "⟳"],
};
export const MARKS = {removed: "✕", protected: "★", trains: "✓", frozen: "❄", loss: "◎", blocked: "⊘"};

// The looks of a scene's boxes under one colouring: {look(box), legend: [{text, colour, sign, role, has(box)}]}.
export function colouring(name, scene, t) {
  if (name === "role") {
    const present = new Set(scene.boxes.filter((box) => box.number).map((box) => box.role));
    scene.boxes.forEach((box) => box.companion && present.add(box.companion.role));
    return {look: () => ({}), legend: Object.keys(ROLES).filter((role) => present.has(role)).map((role) => (
      {text: t(`role.${role}`), role, colour: `var(--tfs-${role})`, has: (box) => box.node?.role === role}))};
  }
  const key = keyOf(name, scene), counts = new Map();
  for (const box of scene.boxes) {
    if (!box.node) continue;
    const value = key(box.node);
    counts.set(value, (counts.get(value) || 0) + 1);
  }
  return name === "kind" ? byKind(key, scene, counts, t) : byGroup(key, scene, counts, t);
}

function keyOf(name, scene) {
  if (name === "op") return (node) => node.op;
  if (name === "device") return (node) => node.device || "";
  if (name === "kind") return (node) => node.kind || "";
  const top = new Map();
  return (node) => {
    if (!top.has(node.number)) {
      const [first] = scene.path(scene.byNode.get(node.number));
      top.set(node.number, scene.boxes[first].isScope ? scene.boxes[first].label : "");
    }
    return top.get(node.number);
  };
}

// The groups in a box: one for a node, of a scope the only one or several.
function groupsOf(box, scene, key) {
  if (box.node) return new Set([key(box.node)]);
  if (box.principal) return new Set([key(box.principal.node)]);
  return new Set(scene.leaves(box.number).map((leaf) => key(leaf.node)));
}

function byGroup(key, scene, counts, t) {
  const ranked = [...counts].filter(([value]) => value !== "").sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const named = ranked.length > GROUPS.length ? ranked.slice(0, GROUPS.length - 1) : ranked;
  const looks = new Map(named.map(([value, count], i) => [value, {text: value, sign: String(i + 1), count,
                                                                  colour: `var(--tfs-group${i + 1})`}]));
  const other = {text: t("colour.other"), sign: "", colour: "var(--tfs-plumbing)",
                 count: [...counts].reduce((sum, [value, count]) => sum + (looks.has(value) ? 0 : count), 0)};
  const of = memo((box) => {
    const groups = [...groupsOf(box, scene, key)];
    const found = groups.filter((value) => looks.has(value));
    if (groups.length === 1) return [looks.get(groups[0]) || other];
    return found.length === 1 && groups.length === 2 && groups.includes("") ? [looks.get(found[0])] : [];
  });
  const legend = [...looks.values(), ...(other.count ? [other] : [])];
  for (const entry of legend) {
    entry.has = (box) => Boolean(box.node) && (looks.get(key(box.node)) || other) === entry;
    entry.text = `${entry.text} (${entry.count})`;
  }
  return {legend, look(box) {
    const [found] = of(box);
    if (!found) return {colour: "var(--tfs-plumbing)", title: t("colour.mixed")};
    return {colour: found.colour, badges: found.sign ? [{sign: found.sign, label: found.text}] : []};
  }};
}

function byKind(key, scene, counts, t) {
  const values = [...counts.keys()].filter(Boolean);
  values.sort((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
  const many = values.filter((value) => value.startsWith("trains ")).length;
  const looks = new Map(values.map((value) => {
    const [word] = value.split(" "), [colour, sign] = KIND_LOOKS[word] || ["var(--tfs-plumbing)", ""];
    // Several optimizers: a tick and a number for each set of them.
    const number = word === "trains" && many > 1 ? values.indexOf(value) + 1 : "";
    return [value, {text: kindText(t, value), colour, sign: `${sign}${number}`}];
  }));
  const of = memo((box) => {
    const groups = groupsOf(box, scene, key);
    groups.delete("");
    return [...groups].sort((a, b) => rankOf(a) - rankOf(b)).map((value) => looks.get(value));
  });
  const legend = [...looks].map(([value, entry]) => ({...entry, text: `${entry.text} (${counts.get(value)})`,
                                                      has: (box) => Boolean(box.node) && key(box.node) === value}));
  if (counts.get("")) {
    legend.push({text: `${t("kind.none")} (${counts.get("")})`, colour: "var(--tfs-plumbing)", sign: "",
                 has: (box) => Boolean(box.node) && key(box.node) === ""});
  }
  return {legend, look(box) {
    const found = of(box);
    if (!found.length) return {colour: "var(--tfs-plumbing)"};
    return {colour: found.length === 1 ? found[0].colour : "var(--tfs-plumbing)",
            badges: found.map(({sign, text}) => ({sign, label: text}))};
  }};
}

function rankOf(value) { return Object.keys(KIND_LOOKS).indexOf(value.split(" ")[0]); }

function memo(make) {
  const known = new Map();
  return (box) => {
    if (!known.has(box.number)) known.set(box.number, make(box));
    return known.get(box.number);
  };
}

function swatch({role, colour, sign}) {
  const picture = s("svg", {width: 24, height: 15, viewBox: "-1 -1 24 15", "aria-hidden": true, class: "tfs-swatch"});
  const style = ROLES[role] || {shape: "box", dashed: false};
  if (role) {
    const scale = {hexagon: "scale(.55)", octagon: "scale(.55)", note: "scale(.6)"}[style.shape];
    const size = scale ? [22 / Number(scale.slice(6, -1)), 13 / Number(scale.slice(6, -1))] : [22, 13];
    const look = {fill: colour, "fill-opacity": 0.12, stroke: colour, "stroke-width": scale ? 2.2 : 1.3,
                  "stroke-dasharray": style.dashed ? "4 2" : null, transform: scale || null};
    picture.append(s("path", {...look, d: outline(style.shape, ...size)}));
    const inner = detailLine(style.shape, size[0]);
    if (inner) picture.append(s("path", {...look, fill: "none", d: inner}));
  } else {
    picture.append(s("rect", {width: 22, height: 13, rx: 3, fill: colour, "fill-opacity": 0.18, stroke: colour}));
    if (sign) picture.append(s("text", {x: 11, y: 10.3, "text-anchor": "middle", "font-size": 10, "font-weight": 700,
                                        fill: "currentColor", text: sign}));
  }
  return picture;
}

// The legend as buttons: pointing at an entry, or pressing it, lights its boxes.
export function legendOf(entries, point, press) {
  return entries.map((entry) => {
    const element = h("button", {class: "tfs-legend", type: "button", "aria-pressed": "false", on: {
      click() { press(entry, element); },
      pointerenter() { point(entry); },
      pointerleave() { point(null); },
    }}, swatch(entry), entry.text);
    return element;
  });
}
