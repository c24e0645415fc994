// The elements of boxes and lines. A record remembers what it shows, so that only what changed is touched.

import {s} from "./core.js";
import {ROLES} from "./palette.js";
import {COMPANION_GAP} from "./place.js";
import {arrowHead, detailLine, edgePath, outline} from "./shapes.js";

export const move = (element, x, y) => { element.style.transform = `translate(${x.toFixed(1)}px,${y.toFixed(1)}px)`; };

function colourOf(role) { return ROLES[role] ? `var(--tfs-${role})` : role; }

// "in near" and "hit" as classes of the page.
function classNames(names) { return names.join(" ").split(" ").filter(Boolean).map((name) => `tfs-is-${name}`); }

// A sign that opens (plus) or closes (minus) a scope.
function sign(open) {
  return s("g", {class: "tfs-sign", "data-sign": true},
           s("circle", {r: 8}), s("path", {d: open ? "M-4 0H4" : "M-4 0H4M0 -4V4"}));
}

// One box: `kind` is "open" for a frame with other boxes in it, "closed", or "far" for what is too small to show more.
export class BoxRecord {
  constructor(box, kind, id) {
    this.box = box;
    this.kind = kind;
    this.kids = new Map();
    this.lines = new Map();
    this.edges = null;
    this.g = s("g", {class: "tfs-n", "data-box": box.number, id, role: "treeitem", "aria-level": box.depth});
    this.skin = s("g", {class: "tfs-skin"});
    if (kind === "open") this.makeFrame(); else if (kind === "far") this.makeFar(); else this.makeClosed();
    this.ring = s("rect", {class: "tfs-ring", x: -3.5, y: -3.5, rx: kind === "open" ? 12 : 9});
    this.g.append(this.ring);
  }

  makeFrame() {
    this.frame = s("rect", {class: "tfs-o", rx: 10});
    this.title = s("text", {class: "tfs-t", x: 30, y: 17.5, text: this.box.label});
    this.sign = sign(true);
    move(this.sign, 16, 13.5);
    this.skin.append(this.title, this.sign);
    this.lineHome = s("g", {class: "tfs-lines"});
    this.kidHome = s("g", {role: "group"});
    this.g.append(this.frame, this.skin, this.lineHome, this.kidHome);
  }

  makeFar() {
    this.frame = s("rect", {class: "tfs-far-off", rx: 4});
    this.far = s("text", {class: "tfs-far-label", text: this.box.label});
    this.skin.append(this.frame, this.far);
    this.g.append(this.skin);
  }

  // From afar a scope says its name in letters of one size, where there is room for them.
  scale(k) {
    if (!this.far) return;
    const size = 10 / k, room = this.width * k > 6 * this.box.label.length + 4 && this.height * k > 13;
    this.far.setAttribute("visibility", room ? "visible" : "hidden");
    if (!room) return;
    this.far.setAttribute("font-size", size.toFixed(1));
    this.far.setAttribute("x", (this.width / 2).toFixed(1));
    this.far.setAttribute("y", (this.height / 2 + size * 0.36).toFixed(1));
  }

  makeClosed() {
    const {box} = this, {width, height} = box, style = ROLES[box.role] || ROLES.forward;
    let shape = style.shape, top = 0, wide = width, tall = height;
    const dash = style.dashed ? " tfs-dash" : "";
    if (box.isScope) {
      this.skin.append(s("path", {class: "tfs-b tfs-thin", d: outline("box", width - 5, height - 5), transform: "translate(5 0)"}));
      top = 5;
      wide -= 5;
      tall -= 5;
      if (shape === "pill" || shape === "hexagon" || shape === "note") shape = "box";
    }
    const d = outline(shape, wide, tall), at = top ? `translate(0 ${top})` : null, inner = detailLine(shape, wide);
    this.skin.append(s("path", {class: "tfs-p", d, transform: at}), s("path", {class: `tfs-b${dash}`, d, transform: at}));
    if (inner) this.skin.append(s("path", {class: "tfs-b tfs-thin", d: inner, transform: at}));
    const down = top + (shape === "cylinder" ? 4 : 0), middle = tall / 2 + down;
    this.label = s("text", {class: "tfs-l", x: wide / 2, text: box.text});
    this.sub = s("text", {class: "tfs-s", x: wide / 2, y: middle + 12});
    this.middle = middle;
    this.skin.append(this.label, this.sub);
    if (box.isScope) {
      this.sign = sign(false);
      move(this.sign, wide - 2, top + tall);
      this.skin.append(this.sign);
    }
    this.g.append(this.skin);
    if (box.companion) this.makeCompanion(box.companion);
    this.write(box.sub);
  }

  makeCompanion({label, sub, role, width}) {
    const {box} = this, style = ROLES[role] || ROLES.gradient;
    const top = box.isScope ? 5 : 0, tall = box.height - top;
    const d = outline(style.shape, width, tall);
    this.companion = s("g", {class: "tfs-comp", "data-companion": true},
                       s("path", {class: "tfs-p", d}), s("path", {class: `tfs-b${style.dashed ? " tfs-dash" : ""}`, d}),
                       s("text", {class: "tfs-l", x: width / 2, y: sub ? tall / 2 - 1.5 : tall / 2 + 4.4, text: label}),
                       sub ? s("text", {class: "tfs-s", x: width / 2, y: tall / 2 + 12, text: sub}) : null);
    this.companion.style.setProperty("--c", colourOf(role));
    this.companion.style.transform = `translate(${(box.width + COMPANION_GAP).toFixed(1)}px,${top}px)`;
    this.skin.append(this.companion);
  }

  // It is no longer new.
  settle() {
    this.fresh = false;
    this.g.classList.remove("tfs-fresh");
    this.names = this.g.getAttribute("class");
  }

  // The second line of a closed box.
  write(text) {
    if (text === this.written) return;
    this.written = text;
    this.sub.textContent = text;
    this.label.setAttribute("y", text ? this.middle - 1.5 : this.middle + 4.4);
  }

  place({x, y, width, height}) {
    if (x !== this.x || y !== this.y) move(this.g, this.x = x, this.y = y);
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    if (this.frame) setSize(this.frame, width, height);
    setSize(this.ring, width + 7, height + 7);
  }

  // What a view says of the box: see the README.
  look({colour, badges = [], classes = [], note, faint = 0, dashed}, own) {
    this.g.style.setProperty("--c", colourOf(colour || this.box.role));
    if (this.kind === "closed") this.write(note ?? this.box.sub);
    this.skin.style.opacity = faint ? String(1 - faint) : "";
    const list = ["tfs-n", ...classNames([...own, ...classes])];
    if (this.fresh) list.push("tfs-fresh");
    const names = list.join(" ");
    if (names !== this.names) this.g.setAttribute("class", this.names = names);
    if (dashed !== undefined) this.skin.querySelector(".tfs-b:not(.tfs-thin)")?.classList.toggle("tfs-dash", dashed);
    const key = badges.map((badge) => badge.sign).join("\n");
    if (key === (this.badgeKey || "")) return;
    this.badgeKey = key;
    this.badges?.remove();
    this.badges = s("g", {class: "tfs-badges"});
    const right = this.kind === "closed" ? this.box.width : this.width;
    badges.forEach(({sign: text, label}, i) => {
      const wide = 15 + Math.max(0, [...String(text)].length - 1) * 6;
      const before = badges.slice(0, i).reduce((sum, {sign: other}) => sum + 17 + ([...String(other)].length - 1) * 6, 0);
      this.badges.append(s("g", {class: "tfs-badge", transform: `translate(${(right - wide + 5 - before).toFixed(1)} -6)`},
                           s("title", {text: label || ""}), s("rect", {width: wide, height: 15, rx: 7.5}),
                           s("text", {x: wide / 2, y: 11.2, text})));
    });
    if (badges.length) this.skin.append(this.badges);
  }
}

function setSize(rect, width, height) {
  rect.style.width = `${width.toFixed(1)}px`;
  rect.style.height = `${height.toFixed(1)}px`;
  rect.setAttribute("width", width.toFixed(1));
  rect.setAttribute("height", height.toFixed(1));
}

// One line of a scope. At an open scope's border the line goes on: no arrow there.
export class LineRecord {
  constructor(edge, arrow, key) {
    this.edge = edge;
    this.arrow = arrow;
    this.path = s("path", {class: "tfs-e", d: edgePath(edge.points, arrow)});
    this.hit = s("path", {class: "tfs-hit", d: edgePath(edge.points, false)});
    this.g = s("g", {"data-line": key}, this.path, this.hit);
    this.base = ["tfs-line", edge.lane && "tfs-back", !edge.data && "tfs-control", edge.direct && "tfs-direct"]
      .filter(Boolean).join(" ");
  }

  settle() {
    this.fresh = false;
    this.g.classList.remove("tfs-fresh");
    this.names = this.g.getAttribute("class");
  }

  look({classes = [], width, note, faint = 0}, own) {
    const {edge, g} = this;
    const names = [this.base, ...classNames([...own, ...classes]), this.fresh && "tfs-fresh"]
      .filter(Boolean).join(" ");
    if (names !== this.names) g.setAttribute("class", this.names = names);
    const wide = width ?? (edge.data ? Math.min(3, 1.3 + 0.35 * Math.log2(edge.data)) : 1.1);
    if (wide !== this.wide) {
      this.wide = wide;
      this.path.setAttribute("stroke-width", wide.toFixed(2));
      if (this.arrow) {
        this.head?.remove();
        this.head = s("path", {class: "tfs-a", d: arrowHead(edge.points, 5.5 + 0.7 * Math.min(4, wide))});
        g.append(this.head);
      }
    }
    g.style.opacity = faint ? String(1 - faint) : "";
    if ((note || "") === (this.noted || "")) return;
    this.noted = note;
    this.text?.remove();
    if (!note || !this.arrow) return;
    const {points} = edge, [x, y] = points[points.length - 1], before = points[points.length - 2][1];
    const left = points[0][0] > x + 3;
    this.text = s("text", {x: (left ? x - 8 : x + 8).toFixed(1), y: (y > before ? y - 9 : y + 16).toFixed(1),
                           "text-anchor": left ? "end" : null, text: note});
    g.append(this.text);
  }
}
