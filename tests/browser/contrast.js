// Every text against the ground behind it: the nearest opaque background, or that of the drawing with a tint over it.
// Gives those with a contrast under 4.5: what it is, its classes, its words, the ratio.
(() => {
  const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const over = ([r, g, b, a = 1], under) => [r, g, b].map((v, i) => v * a + under[i] * (1 - a));
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const found = parse(getComputedStyle(e).backgroundColor);
      if (found.length >= 3 && (found[3] ?? 1) > 0) {
        return (found[3] ?? 1) < 1 ? over(found, ground(e.parentElement)) : found.slice(0, 3);
      }
    }
    return [255, 255, 255];
  };
  const faults = [];
  const texts = ["text", "button", "dt", "dd", "h4", "h5", "span", "label", "th", "td", "p", "pre", ".tfs-status"];
  for (const element of document.querySelectorAll(texts.map((name) => `.tfs-view ${name}`).join(","))) {
    if (!element.textContent.trim() || !element.getClientRects().length || element.disabled) continue;
    if (element.closest(".tfs-is-dim")) continue;
    const style = getComputedStyle(element), svg = element instanceof SVGElement;
    const ink = parse(svg ? style.fill : style.color);
    let under = ground(svg ? element.ownerSVGElement : element);
    const skin = svg && element.closest(".tfs-skin")?.querySelector(".tfs-b:not(.tfs-thin)");
    if (skin) {
      const tint = parse(getComputedStyle(skin).fill);
      under = over([...tint.slice(0, 3), Number(getComputedStyle(skin).fillOpacity)], under);
    }
    const [a, b] = [light(over(ink, under)), light(under)].sort((p, q) => q - p);
    const ratio = (a + 0.05) / (b + 0.05);
    const found = [element.tagName, element.getAttribute("class"), element.textContent.slice(0, 30), ratio.toFixed(2)];
    if (ratio < 4.5) faults.push(found);
  }
  return faults;
})()
