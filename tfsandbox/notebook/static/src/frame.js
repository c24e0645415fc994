// What all views look like: toolbar, stage, side panel, status line; and who stops what when a view goes away.

import {Signals, h, style, words} from "./core.js";
import {FRAME_CSS} from "./frame_css.js";
import {paletteCss} from "./palette.js";

const NARROW = 620;

export class Frame extends Signals {
  constructor(el, payload, host) {
    super();
    this.payload = payload;
    this.host = host;
    this.t = words(payload);
    this.stops = [];
    this.toolbar = h("div", {class: "tfs-toolbar"});
    this.bars = h("div");
    this.stage = h("div", {class: "tfs-stage"});
    this.panel = h("aside", {class: "tfs-panel", hidden: true, "aria-label": this.t("panel")});
    this.foot = h("div", {class: "tfs-foot"});
    this.status = h("div", {class: "tfs-status", role: "status", "aria-live": "polite"});
    this.root = h("section", {class: `tfs-view tfs-kind-${payload.kind}`, "aria-label": payload.title || payload.kind,
                              lang: payload.language || "en"},
                  this.toolbar, this.bars, h("div", {class: "tfs-body"}, this.stage, this.panel), this.foot, this.status);
    // Keys and drags are for the view, not for the notebook around it.
    for (const event of ["keydown", "keyup", "keypress", "dblclick", "contextmenu"]) {
      this.root.addEventListener(event, (found) => found.stopPropagation());
    }
    this.root.setAttribute("data-lm-suppress-shortcuts", "true");
    el.replaceChildren(this.root);
    this.addStyle("frame", paletteCss() + FRAME_CSS);
    this.width = this.root.clientWidth;
    this.measure();
    if (typeof ResizeObserver === "function") {
      const watch = new ResizeObserver(() => this.measure());
      watch.observe(this.root);
      this.own(() => watch.disconnect());
    }
  }

  get narrow() { return this.width > 0 && this.width < NARROW; }

  measure() {
    const width = this.root.clientWidth;
    this.root.classList.toggle("tfs-narrow", width > 0 && width < NARROW);
    if (width === this.width && this.measured) return;
    this.measured = true;
    this.width = width;
    this.emit("resize", width);
  }

  // The rules are put in when the element is in the page, and again if that page is another one later.
  addStyle(name, css) {
    this.styles = this.styles || [];
    this.styles.push([name, css]);
    style(this.root, name, css);
  }

  ready() {
    for (const [name, css] of this.styles || []) style(this.root, name, css);
  }

  // A further row of controls under the toolbar.
  bar(name) {
    const row = h("div", {class: `tfs-bar tfs-bar-${name}`});
    this.bars.append(row);
    return row;
  }

  // Writes the status line. `trouble` colours it.
  say(text, trouble = false) {
    this.status.classList.toggle("tfs-trouble", trouble);
    this.status.textContent = text;
  }

  showPanel(...content) {
    this.panel.replaceChildren(...content);
    this.panel.hidden = content.length === 0;
    this.panel.scrollTop = 0;
  }

  // A control that works only while a kernel answers.
  needsKernel(control) {
    const title = control.getAttribute("title");
    const follow = () => {
      control.disabled = !this.host.live;
      if (this.host.live) {
        if (title === null) control.removeAttribute("title"); else control.setAttribute("title", title);
      } else {
        control.setAttribute("title", this.t("needs.kernel"));
      }
    };
    follow();
    this.own(this.host.on("live", follow));
    return control;
  }

  own(stop) { this.stops.push(stop); }

  destroy() {
    for (const stop of this.stops.splice(0)) stop();
    this.root.remove();
  }
}
