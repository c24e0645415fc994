// The controls that views put into their toolbars. Each is an element; what is said to set can be set.

import {figure, h, s} from "./core.js";

// Pictures for buttons whose sign not every font has: paths on 16 by 16.
const ICONS = {
  fit: "M2 6V2H6M10 2H14V6M14 10V14H10M6 14H2V10", full: "M9 7L14 2M10 2H14V6M7 9L2 14M6 14H2V10", in: "M8 3V13M3 8H13", out: "M3 8H13",
  first: "M4 3V13M13 3L6 8L13 13Z", back: "M11 3L4 8L11 13Z", play: "M5 3L13 8L5 13Z", pause: "M5 3V13M11 3V13", on: "M5 3L12 8L5 13Z",
  last: "M3 3L10 8L3 13ZM12 3V13", open: "M2 2H14V14H2ZM8 5V11M5 8H11", close: "M2 2H14V14H2ZM5 8H11",
  text: "M2 3H14M2 6.3H14M2 9.6H14M2 13H9", save: "M8 2V10M4.5 6.5L8 10L11.5 6.5M2.5 13.5H13.5", help: "M5.5 6A2.5 2.5 0 1 1 8 8.5V10M8 12.5V13.2",
};

function picture(name) {
  return s("svg", {width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": true},
           s("path", {d: ICONS[name], fill: "none", stroke: "currentColor", "stroke-width": 1.7, "stroke-linejoin": "round"}));
}

// Shows another picture, under another name.
export function setIcon(control, icon, name) {
  control.replaceChildren(picture(icon));
  control.title = name;
  control.setAttribute("aria-label", name);
}

// A button with a word (`t(key)`) or an icon and the word as its name; `short` is an icon for narrow windows.
export function button(t, key, act, {icon = "", short = "", pressed = null, primary = false} = {}) {
  const name = t(key);
  const classes = ["tfs-button", icon && "tfs-icon", primary && "tfs-primary"].filter(Boolean).join(" ");
  return h("button", {class: classes, type: "button", title: icon || short ? name : null, "aria-label": icon || short ? name : null,
                      "aria-pressed": pressed === null ? null : String(pressed), on: {click: act}}, ICONS[icon] ? picture(icon) : icon || null,
           short ? [h("span", {class: "tfs-short"}, picture(short)), h("span", {class: "tfs-word"}, name)] : icon ? null : name);
}

export function setPressed(control, pressed) { control.setAttribute("aria-pressed", String(pressed)); }

// One of a few: [[value, text, title]]. Arrow keys go from one to the next. `.value` can be set.
export function choice(label, options, value, act) {
  const buttons = options.map(([name, text, title]) => h("button", {
    type: "button", role: "radio", title: title || null, on: {click: () => pick(name, true)}}, text));
  const element = h("span", {class: "tfs-choice", role: "radiogroup", "aria-label": label, on: {keydown(event) {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    const enabled = buttons.map((_, i) => i).filter((i) => !buttons[i].disabled);
    const at = enabled.indexOf(options.findIndex(([name]) => name === current));
    const next = enabled[(at + step + enabled.length) % enabled.length];
    pick(options[next][0], true);
    buttons[next].focus();
  }}}, buttons);
  let current;
  function pick(name, tell) {
    current = name;
    options.forEach(([other], i) => {
      buttons[i].setAttribute("aria-checked", String(other === name));
      buttons[i].tabIndex = other === name ? 0 : -1;
    });
    if (tell) act(name);
  }
  pick(value, false);
  Object.defineProperty(element, "value", {get: () => current, set: (name) => pick(name, false)});
  element.buttons = buttons;
  return element;
}

// A drop-down: [[value, text]]. `.value` can be set.
export function menu(label, options, value, act) {
  const select = h("select", {"aria-label": label, on: {change: () => act(select.value)}},
                   options.map(([name, text]) => h("option", {value: name}, text)));
  select.value = value;
  const element = h("label", {class: "tfs-menu"}, h("span", {class: "tfs-label"}, label), select);
  Object.defineProperty(element, "value", {get: () => select.value, set: (name) => { select.value = name; }});
  element.select = select;
  return element;
}

// A slider with its number beside it; on a logarithmic scale with `log`. `.value` can be set.
export function slider(label, {low, high, step, value, log = false, format = figure}, act) {
  const out = (x) => (log ? Math.exp(x) : x), into = (x) => (log ? Math.log(x) : x);
  const range = h("input", {type: "range", min: into(low), max: into(high), "aria-label": label,
                            step: log ? (into(high) - into(low)) / 100 : step ?? (high - low) / 100});
  const number = h("output", {});
  const show = () => {
    number.textContent = format(out(Number(range.value)));
    range.setAttribute("aria-valuetext", number.textContent);
  };
  range.addEventListener("input", () => {
    show();
    act(out(Number(range.value)));
  });
  const element = h("label", {class: "tfs-slider"}, label, range, number);
  Object.defineProperty(element, "value", {get: () => out(Number(range.value)), set: (x) => {
    range.value = into(x);
    show();
  }});
  element.value = value;
  element.input = range;
  return element;
}

// Steps to go through: to the first, back, play, on, to the last, and a slider. `describe(i)` is what step i says.
// `.value` can be set; `.stop()` stops playing.
export function stepper(t, {count, value = 0, describe = () => "", act, delay = 900}) {
  const range = h("input", {type: "range", min: 0, max: Math.max(0, count - 1), step: 1, "aria-label": t("steps")});
  const words = h("output", {"aria-live": "polite"});
  let at = value, timer = null;
  const go = (next, tell = true) => {
    at = Math.min(Math.max(next, 0), Math.max(0, count - 1));
    range.value = at;
    words.textContent = `${t("steps.at", {step: at + 1, count})} ${describe(at)}`;
    range.setAttribute("aria-valuetext", words.textContent);
    back.disabled = first.disabled = at === 0;
    on.disabled = last.disabled = at >= count - 1;
    if (tell) act(at);
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    setIcon(play, "play", t("steps.play"));
  };
  const start = () => {
    if (at >= count - 1) go(0);
    timer = setInterval(() => (at >= count - 1 ? stop() : go(at + 1)), delay);
    setIcon(play, "pause", t("steps.pause"));
  };
  const move = (next) => () => {
    stop();
    go(next());
  };
  const first = button(t, "steps.first", move(() => 0), {icon: "first"});
  const back = button(t, "steps.back", move(() => at - 1), {icon: "back"});
  const play = button(t, "steps.play", () => (timer === null ? start() : stop()), {icon: "play"});
  const on = button(t, "steps.on", move(() => at + 1), {icon: "on"});
  const last = button(t, "steps.last", move(() => count - 1), {icon: "last"});
  range.addEventListener("input", move(() => Number(range.value)));
  const element = h("div", {class: "tfs-stepper", role: "group", "aria-label": t("steps")},
                    first, back, play, on, last, range, words);
  Object.defineProperty(element, "value", {get: () => at, set: (step) => go(step, false)});
  element.stop = stop;
  go(at, false);
  return element;
}

// How far something is: `.value` from 0 to 1, null while nobody knows.
export function progress(label) {
  const bar = h("progress", {max: 1, "aria-label": label});
  const element = h("span", {class: "tfs-progress"}, label, bar);
  Object.defineProperty(element, "value", {set: (share) => {
    if (share === null) bar.removeAttribute("value"); else bar.value = share;
  }});
  return element;
}
