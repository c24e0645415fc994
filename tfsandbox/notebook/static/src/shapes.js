// Outlines of boxes and paths of edges, as in svg_shapes.py.

const round = (value) => Math.round(value * 10) / 10;

// The `d` of a closed outline that fills a rectangle at the origin.
export function outline(shape, width, height) {
  const w = round(width), b = round(height);
  if (shape === "pill") {
    const r = round(height / 2);
    return `M${r} 0H${round(w - r)}A${r} ${r} 0 0 1 ${round(w - r)} ${b}H${r}A${r} ${r} 0 0 1 ${r} 0Z`;
  }
  if (shape === "cylinder") {
    const rx = round(width / 2);
    return `M0 4.5A${rx} 4.5 0 0 1 ${w} 4.5V${round(b - 4.5)}A${rx} 4.5 0 0 1 0 ${round(b - 4.5)}Z`;
  }
  if (shape === "hexagon") {
    const middle = round(height / 2);
    return `M10 0H${round(w - 10)}L${w} ${middle}L${round(w - 10)} ${b}H10L0 ${middle}Z`;
  }
  if (shape === "octagon") {
    return `M9 0H${round(w - 9)}L${w} 9V${round(b - 9)}L${round(w - 9)} ${b}H9L0 ${round(b - 9)}V9Z`;
  }
  if (shape === "note") return `M0 0H${round(w - 9)}L${w} 9V${b}H0Z`;
  return `M7 0H${round(w - 7)}Q${w} 0 ${w} 7V${round(b - 7)}Q${w} ${b} ${round(w - 7)} ${b}H7Q0 ${b} 0 ${round(b - 7)}`
    + "V7Q0 0 7 0Z";
}

// The inner line that makes an outline what it is: a cylinder's rim, a note's fold.
export function detailLine(shape, width) {
  const w = round(width);
  if (shape === "cylinder") return `M0 4.5A${round(width / 2)} 4.5 0 0 0 ${w} 4.5`;
  if (shape === "note") return `M${round(w - 9)} 0V9H${w}`;
  return "";
}

// A line through points: straight up and down, smooth in between. With an arrow the end stops short of its tip.
export function edgePath(points, arrow) {
  const last = points.length - 1;
  let [x, y] = points[0];
  let d = `M${round(x)} ${round(y)}`;
  for (let i = 1; i <= last; i++) {
    let [px, py] = points[i];
    if (arrow && i === last) py = py > y ? Math.max(y, py - 5) : py < y ? Math.min(y, py + 5) : py;
    if (Math.abs(px - x) < 0.6) {
      d += px === x ? `V${round(py)}` : `L${round(px)} ${round(py)}`;
    } else {
      const middle = round((y + py) / 2);
      d += `C${round(x)} ${middle} ${round(px)} ${middle} ${round(px)} ${round(py)}`;
    }
    [x, y] = [px, py];
  }
  return d;
}

// A triangle whose tip is the last point.
export function arrowHead(points, size) {
  const [x, y] = points[points.length - 1], before = points[points.length - 2][1];
  const back = round(before > y ? y + size * 1.25 : y - size * 1.25);
  return `M${round(x)} ${round(y)}L${round(x - size * 0.62)} ${back}H${round(x + size * 0.62)}Z`;
}
