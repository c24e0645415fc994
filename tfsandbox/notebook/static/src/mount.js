// The way in, for everyone who shows a view: anywidget, the MIME renderer and saved pages.

import {Host, h, replace, viewOf} from "./core.js";
import {Frame} from "./frame.js";

const VERSION = 1;

// Draws a payload into an element. `host` is a Host, or null where there is no kernel and never will be.
export function mount(el, payload, host) {
  const link = host || new Host();
  const draw = viewOf(payload.kind);
  if (!draw || payload.version > VERSION) {
    replace(el, h("p", {class: "tfs-unknown", text:
      `This view (${payload.kind}, format ${payload.version}) was made by a newer tfsandbox than the one installed here.`}));
    return {host: link, destroy() { el.replaceChildren(); }};
  }
  const frame = new Frame(el, payload, link);
  const view = draw(frame, payload, link) || {};
  frame.ready();
  const stop = link.on("payload", (fresh) => view.update && view.update(fresh));
  return {host: link, frame, view, destroy() {
    stop();
    if (view.destroy) view.destroy();
    frame.destroy();
  }};
}

// anywidget's way in.
export function render({model, el}) {
  const names = ["payload", "selected", "expanded", "state"];
  const host = new Host(Object.fromEntries(names.map((name) => [name, model.get(name)])));
  const view = mount(el, model.get("payload"), host);
  host.attach({
    set(name, value) {
      model.set(name, value);
      model.save_changes();
    },
    send(message) { model.send(message); },
  });
  const stops = names.map((name) => {
    const act = () => host.receive(name, model.get(name));
    model.on(`change:${name}`, act);
    return () => model.off(`change:${name}`, act);
  });
  const take = (message) => host.take(message);
  model.on("msg:custom", take);
  return () => {
    stops.forEach((stop) => stop());
    model.off("msg:custom", take);
    host.detach();
    view.destroy();
  };
}
