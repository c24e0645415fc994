// The graph as text: its scopes as lists that open, each node with op, type, shape and inputs. What a screen reader
// reads, and a way through the graph without the picture.

import {h} from "./core.js";
import {outputText} from "./card.js";

export function outline(canvas, go) {
  const {scene, t} = canvas;
  const list = (number) => h("ul", {}, scene.children(number).map((box) => h("li", {}, box.isScope ? scope(box) : leaf(box))));
  const scope = (box) => {
    const details = h("details", {open: canvas.isOpen(box.number)}, h("summary", {}, h("span", {class: "tfs-name"}, `${box.label}/`),
                                              h("span", {class: "tfs-quiet"}, ` ${t("scope.of", {count: box.count})}`)));
    const fill = () => {
      if (details.open && details.children.length === 1) details.append(list(box.number));
    };
    details.addEventListener("toggle", fill);
    fill();
    return details;
  };
  const leaf = (box) => {
    const {node} = box, inputs = scene.inputs(box.number);
    const shown = inputs.slice(0, 4).map((edge) => (edge.control ? "^" : "") + scene.boxes[edge.tail].id + (edge.output ? `:${edge.output}` : ""));
    if (inputs.length > 4) shown.push("…");
    const text = [node.op, node.outputs.map(outputText).join(", ")].filter(Boolean).join(" · ");
    return [h("button", {class: "tfs-link", type: "button", on: {click: () => go(node.name)}}, box.label),
            h("span", {class: "tfs-quiet"}, ` ${text}`), shown.length ? h("span", {class: "tfs-quiet"}, ` ← ${shown.join(", ")}`) : null];
  };
  return h("div", {class: "tfs-outline"}, list(0));
}
