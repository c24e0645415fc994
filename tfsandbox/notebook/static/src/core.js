// What every view uses: elements, words, the link to Python. Text from a graph becomes text nodes and attributes only.

const SVG = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    } else if (name === "style") {
      for (const [property, setting] of Object.entries(value)) element.style.setProperty(property, setting);
    } else if (name === "text") {
      element.append(plain(value));
    } else {
      element.setAttribute(name, value === true ? "" : plain(value));
    }
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : plain(child));
    }
  }
}

// Text without the characters that turn the direction of writing: a name must not reorder what stands around it.
function plain(value) { return String(value).replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd"); }

// An HTML element: h("button", {class: "tfs-b", on: {click: act}, "aria-label": name}, "text", other).
export function h(tag, attributes, ...children) { return build(document.createElement(tag), attributes, children); }

// The same for SVG.
export function s(tag, attributes, ...children) { return build(document.createElementNS(SVG, tag), attributes, children); }

// Empties an element and fills it again.
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

// t("search.none", {query: "x"}): the payload's label with its values filled in; the key where there is no label.
export function words(payload) {
  const labels = payload.labels || {};
  return (key, values = {}) => (labels[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// Adds rules to the page that the element is in, once for each name.
export function style(element, name, css) {
  const root = element.getRootNode();
  const home = root instanceof ShadowRoot ? root : document.head;
  const known = [...home.querySelectorAll("style[data-tfs]")].find((found) => found.dataset.tfs === name);
  if (known) {
    if (known.textContent !== css) known.textContent = css;
  } else {
    home.append(h("style", {"data-tfs": name, text: css}));
  }
}

// Numbers as a person reads them: four digits.
export function figure(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Inf" : "-Inf";
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e16)) return value.toExponential(3).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(4)));
}

export function bytes(count) {
  if (count === null || count === undefined) return "–";
  let size = count;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (size < 1000 || unit === "GB") return unit === "B" ? `${size} B` : `${size.toFixed(1)} ${unit}`;
    size /= 1000;
  }
  return "";
}

// A static shape as TensorFlow prints it.
export function shapeText(shape) {
  if (!shape) return "<unknown>";
  const parts = shape.map((size) => (size === null ? "?" : String(size)));
  return parts.length === 1 ? `(${parts[0]},)` : `(${parts.join(", ")})`;
}

export function reducedMotion() {
  return typeof matchMedia === "function" && matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// Offers a text or a blob as a file.
export function save(name, type, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
  const link = h("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Listeners by event name.
export class Signals {
  constructor() { this.table = new Map(); }

  on(event, act) {
    if (!this.table.has(event)) this.table.set(event, new Set());
    this.table.get(event).add(act);
    return () => this.table.get(event).delete(act);
  }

  emit(event, ...values) {
    for (const act of [...(this.table.get(event) || [])]) act(...values);
  }
}

// What a view shares with Python: named values, messages, requests. Without a kernel the values live in the page;
// a kernel may come later (`attach`) and go again (`detach`).
export class Host extends Signals {
  constructor(values = {}) {
    super();
    this.values = {selected: [], expanded: [], state: {}, ...values};
    this.port = null;
    this.waiting = new Map();
    this.number = 0;
  }

  get live() { return this.port !== null; }

  get(name) { return this.values[name]; }

  set(name, value) {
    if (same(this.values[name], value)) return;
    this.values[name] = value;
    if (this.port) this.port.set(name, value);
    this.emit(name, value);
  }

  // A value that came from Python.
  receive(name, value) {
    if (same(this.values[name], value)) return;
    this.values[name] = value;
    this.emit(name, value);
  }

  send(message) { if (this.port) this.port.send(message); }

  // A message that came from Python: the answer to a request, or news for the view.
  take(message) {
    const waiting = message && this.waiting.get(message.answer);
    if (!waiting) {
      this.emit("message", message);
      return;
    }
    this.waiting.delete(message.answer);
    if (message.error) waiting.reject(new Error(message.error)); else waiting.resolve(message.content);
  }

  attach(port) {
    this.port = port;
    this.emit("live", true);
  }

  detach() {
    if (!this.port) return;
    this.port = null;
    for (const {reject} of this.waiting.values()) reject(new Error("The kernel is gone."));
    this.waiting.clear();
    this.emit("live", false);
  }
}

function same(a, b) { return JSON.stringify(a) === JSON.stringify(b); }

// Asks Python (`request_<type>` of the view's Live); a promise of what it answers.
export function ask(host, type, content = {}) {
  if (!host.live) return Promise.reject(new Error("This needs the notebook's kernel."));
  const id = `${Date.now().toString(36)}-${host.number++}`;
  return new Promise((resolve, reject) => {
    host.waiting.set(id, {resolve, reject});
    host.send({ask: type, id, content});
  });
}

const views = new Map();

// Makes `mount(frame, payload, host)` draw the payloads of a kind.
export function register(kind, mount) { views.set(kind, mount); }

export function viewOf(kind) { return views.get(kind); }
