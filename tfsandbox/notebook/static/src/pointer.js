// Dragging, pinching, clicking and the wheel. The wheel alone scrolls the notebook, as everywhere on the page.

export function canvasPointer(canvas) {
  const {svg, frame} = canvas, pointers = new Map();
  const point = (event) => {
    const {left, top} = svg.getBoundingClientRect();
    return {x: event.clientX - left, y: event.clientY - top};
  };
  let start = null, apart = 0;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, point(event));
    start = {...point(event), view: {...canvas.view}, moved: false};
    if (pointers.size === 2) apart = distance(pointers);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const at = point(event);
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) {
      const now = distance(pointers), [a, b] = [...pointers.values()];
      if (apart) canvas.zoom(now / apart, {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2});
      apart = now;
      start.moved = true;
      return;
    }
    const dx = at.x - start.x, dy = at.y - start.y;
    if (!start.moved) {
      if (Math.hypot(dx, dy) < 4) return;
      start.moved = true;
      svg.setPointerCapture(event.pointerId);
      svg.classList.add("tfs-drag");
    }
    canvas.look({k: canvas.view.k, x: start.view.x + dx, y: start.view.y + dy});
  });
  const end = (event) => {
    pointers.delete(event.pointerId);
    svg.classList.remove("tfs-drag");
  };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
  svg.addEventListener("click", (event) => {
    if (start?.moved) return;
    const number = canvas.boxAt(event.target);
    if (number !== null && event.target.closest("[data-sign]")) {
      canvas.active = number;
      canvas.toggle(number);
    } else {
      canvas.select(number === canvas.selected ? null : number);
    }
  });
  svg.addEventListener("dblclick", (event) => {
    const number = canvas.boxAt(event.target);
    if (number === null || event.target.closest("[data-sign]") || !canvas.box(number).isScope) return;
    event.preventDefault();
    canvas.toggle(number);
  });
  svg.addEventListener("wheel", (event) => {
    const full = document.fullscreenElement === frame.root;
    if (!event.ctrlKey && !event.metaKey && !full) {
      canvas.tell(canvas.t("hint.wheel"));
      return;
    }
    event.preventDefault();
    canvas.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), point(event));
  }, {passive: false});
}

function distance(pointers) {
  const [a, b] = [...pointers.values()];
  return Math.hypot(a.x - b.x, a.y - b.y);
}
