// Search: a field, the list of what matches, and Enter to go from one match to the next.

import {h, replace} from "./core.js";

const SHOWN = 100;

// Nodes and scopes whose name or op has every word of the query, those whose last part begins with it first.
export function matches(drawing, scene, query) {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return {here: [], elsewhere: []};
  const fits = (text) => wanted.every((word) => text.includes(word));
  const first = (name) => (name.toLowerCase().replace(/\/$/, "").split("/").pop().startsWith(wanted[0]) ? 0 : 1);
  const here = [], elsewhere = [];
  for (const box of scene.boxes) {
    if (!box.number || box.series) continue;
    const text = (box.isScope ? box.id : `${box.id} ${box.node.op}`).toLowerCase();
    if (fits(text)) here.push({name: box.id, number: box.number, note: box.isScope ? "" : box.node.op, rank: first(box.id)});
  }
  const known = new Set(scene.byName.keys());
  for (const node of drawing.nodes) {
    if (!known.has(node.name) && fits(`${node.name} ${node.op}`.toLowerCase())) {
      elsewhere.push({name: node.name, note: node.op, rank: first(node.name)});
    }
  }
  here.sort((a, b) => a.rank - b.rank);
  elsewhere.sort((a, b) => a.rank - b.rank);
  return {here, elsewhere};
}

// `found(matches, at)` hears what matches and which is the current one (-1 for none); `pick(match)` goes to one.
export function searchField(t, {find, found, pick}) {
  const input = h("input", {class: "tfs-field", type: "search", placeholder: t("search"), "aria-label": t("search"),
                            role: "combobox", "aria-expanded": "false", autocomplete: "off", spellcheck: "false"});
  const tally = h("span", {class: "tfs-quiet tfs-tally", role: "status"});
  const list = h("div", {class: "tfs-matches", role: "listbox", hidden: true, "aria-label": t("search.matches")});
  let all = [], at = -1;
  const update = () => {
    const {here, elsewhere} = find(input.value);
    all = [...here, ...elsewhere];
    at = -1;
    const count = all.length;
    tally.textContent = input.value.trim() ? (count ? t("search.count", {count}) : t("search.none")) : "";
    const row = (match, i) => h("button", {class: "tfs-match", type: "button", role: "option", tabindex: "-1",
                                           "aria-selected": "false", on: {click: () => go(i)}},
                                h("span", {class: "tfs-name"}, match.name), h("span", {class: "tfs-quiet"}, ` ${match.note}`));
    const rows = here.slice(0, SHOWN).map(row);
    const others = elsewhere.slice(0, Math.max(0, SHOWN - here.length)).map((match, i) => row(match, here.length + i));
    replace(list, rows, others.length ? h("div", {class: "tfs-quiet tfs-divider"}, t("search.elsewhere")) : null, others,
            count > rows.length + others.length ? h("div", {class: "tfs-quiet tfs-divider"}, t("more", {count: count - rows.length - others.length})) : null);
    show(count > 0);
    found(here, -1);
  };
  const show = (open) => {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
  };
  const options = () => [...list.querySelectorAll(".tfs-match")];
  const go = (i) => {
    at = (i + all.length) % all.length;
    options().forEach((option, k) => option.setAttribute("aria-selected", String(k === at)));
    options()[at]?.scrollIntoView({block: "nearest"});
    tally.textContent = t("search.at", {at: at + 1, count: all.length});
    pick(all[at]);
    found(null, at);
  };
  input.addEventListener("input", update);
  input.addEventListener("focus", () => show(all.length > 0));
  const element = h("span", {class: "tfs-search"}, input, tally, list);
  element.addEventListener("keydown", (event) => {
    const focused = options().indexOf(document.activeElement);
    if (event.key === "Enter" && event.target === input && all.length) {
      event.preventDefault();
      go(at + (event.shiftKey ? -1 : 1));
      show(false);
    } else if (event.key === "ArrowDown" && all.length) {
      event.preventDefault();
      show(true);
      options()[Math.min(options().length - 1, focused + 1)]?.focus();
    } else if (event.key === "ArrowUp" && focused >= 0) {
      event.preventDefault();
      (focused ? options()[focused - 1] : input).focus();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (list.hidden || !all.length) input.value = "";
      show(false);
      if (!input.value) update();
      input.focus();
    }
  });
  element.addEventListener("focusout", (event) => {
    if (!element.contains(event.relatedTarget)) show(false);
  });
  element.input = input;
  element.update = update;
  return element;
}
