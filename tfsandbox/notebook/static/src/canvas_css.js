// The look of a drawing. Every rule is under `.tfs-canvas`, so that a saved SVG can carry them along.

export const CANVAS_CSS = `
.tfs-canvas{display:block;width:100%;height:100%;touch-action:pan-y;cursor:grab;user-select:none;-webkit-user-select:none;
 background:var(--jp-layout-color0,var(--tfs-ground))}
.tfs-canvas.tfs-drag{cursor:grabbing}
.tfs-view:fullscreen .tfs-canvas{touch-action:none}
.tfs-canvas text{font-family:var(--jp-ui-font-family,system-ui),-apple-system,"Segoe UI","Helvetica Neue",Arial,"Noto Sans",
 "DejaVu Sans",sans-serif;fill:var(--tfs-ink);pointer-events:none}
.tfs-canvas .tfs-n{cursor:pointer}
.tfs-canvas .tfs-b{fill:var(--c);fill-opacity:var(--tfs-tint);stroke:var(--c);stroke-width:1.4}
.tfs-canvas .tfs-thin{stroke-width:1;fill:none}
.tfs-canvas .tfs-p{fill:var(--jp-layout-color0,var(--tfs-ground));stroke:none}
.tfs-canvas .tfs-dash{stroke-dasharray:5 3}
.tfs-canvas .tfs-l{font-size:12.5px;font-weight:600;text-anchor:middle}
.tfs-canvas .tfs-s{font-size:10.5px;text-anchor:middle;fill:var(--tfs-muted)}
.tfs-canvas .tfs-o{fill:var(--c);fill-opacity:.045;stroke:var(--tfs-frame);stroke-width:1}
.tfs-canvas .tfs-t{font-size:11.5px;font-weight:600;fill:var(--c)}
.tfs-canvas .tfs-far-off{fill:var(--c);fill-opacity:.3;stroke:var(--c);stroke-width:1;vector-effect:non-scaling-stroke}
.tfs-canvas .tfs-far-label{font-weight:600;text-anchor:middle;display:inline!important}
.tfs-canvas .tfs-e{fill:none;stroke:var(--tfs-line);pointer-events:none}
.tfs-canvas .tfs-a{fill:var(--tfs-line);pointer-events:none}
.tfs-canvas .tfs-hit{fill:none;stroke:transparent;stroke-width:10;pointer-events:stroke;cursor:help}
.tfs-canvas .tfs-back>.tfs-e{stroke:var(--tfs-gradient)}
.tfs-canvas .tfs-back>.tfs-a,.tfs-canvas .tfs-back>text{fill:var(--tfs-gradient)}
.tfs-canvas .tfs-control>.tfs-e{stroke-dasharray:4 3}
.tfs-canvas .tfs-line>text{font-size:10px;fill:var(--tfs-muted)}
.tfs-canvas .tfs-direct{opacity:.4}
.tfs-canvas .tfs-sign{cursor:pointer}
.tfs-canvas .tfs-sign circle{fill:var(--jp-layout-color0,var(--tfs-ground));stroke:var(--c);stroke-width:1.2}
.tfs-canvas .tfs-sign path{stroke:var(--c);stroke-width:1.8;fill:none}
.tfs-canvas .tfs-sign:hover circle{fill:var(--c)}
.tfs-canvas .tfs-sign:hover path{stroke:var(--jp-layout-color0,var(--tfs-ground))}
.tfs-canvas .tfs-badge rect{fill:var(--jp-layout-color0,var(--tfs-ground));stroke:var(--tfs-muted);stroke-width:1.1}
.tfs-canvas .tfs-badge text{font-size:10px;font-weight:700;text-anchor:middle}
.tfs-canvas .tfs-n:hover>.tfs-b,.tfs-canvas .tfs-comp:hover>.tfs-b{stroke-width:2.4}
.tfs-canvas .tfs-n:hover>.tfs-o{stroke:var(--c)}
.tfs-canvas .tfs-ring{fill:none;stroke:none;pointer-events:none;vector-effect:non-scaling-stroke}
.tfs-canvas:focus-visible .tfs-is-active>.tfs-ring{stroke:var(--tfs-accent);stroke-width:3;stroke-dasharray:6 3}
.tfs-canvas:focus-visible{outline-offset:-2px!important}
.tfs-canvas .tfs-is-hit>.tfs-ring{stroke:var(--tfs-hit);stroke-width:2.5}
.tfs-canvas .tfs-is-selected>.tfs-ring{stroke:var(--tfs-accent);stroke-width:3}
.tfs-canvas .tfs-is-hit.tfs-is-selected>.tfs-ring{stroke-width:4.5}
.tfs-canvas .tfs-is-dim>.tfs-skin,.tfs-canvas .tfs-line.tfs-is-dim{opacity:.22}
.tfs-canvas .tfs-is-in>.tfs-skin>.tfs-b{stroke-width:2.2}
.tfs-canvas .tfs-line.tfs-is-in>.tfs-e{stroke:var(--tfs-in);stroke-width:2.4}
.tfs-canvas .tfs-line.tfs-is-in>.tfs-a{fill:var(--tfs-in)}
.tfs-canvas .tfs-line.tfs-is-out>.tfs-e{stroke:var(--tfs-out);stroke-width:2.4}
.tfs-canvas .tfs-line.tfs-is-out>.tfs-a{fill:var(--tfs-out)}
.tfs-canvas .tfs-line.tfs-is-near>.tfs-e{stroke-width:3.4}
.tfs-canvas .tfs-is-gone>.tfs-skin{opacity:.25}
.tfs-canvas .tfs-is-gone>.tfs-skin>.tfs-b{stroke-dasharray:3 3}
.tfs-canvas .tfs-line.tfs-is-gone{opacity:.15}
.tfs-canvas .tfs-is-warn>.tfs-ring{stroke:var(--tfs-optimizer);stroke-width:2.5}
.tfs-canvas .tfs-is-new>.tfs-ring{stroke:var(--tfs-input);stroke-width:2.5}
.tfs-canvas .tfs-is-frozen>.tfs-skin>.tfs-b{stroke-dasharray:2 2}
.tfs-canvas.tfs-small text,.tfs-canvas.tfs-small .tfs-badge{display:none}
.tfs-canvas.tfs-small .tfs-b{fill-opacity:.35}
@media (prefers-reduced-motion:no-preference){
.tfs-canvas.tfs-moving .tfs-n,.tfs-canvas.tfs-moving .tfs-sign{transition:transform .24s ease-out}
.tfs-canvas.tfs-moving .tfs-n>.tfs-o,.tfs-canvas.tfs-moving .tfs-n>.tfs-ring{transition:width .24s ease-out,height .24s ease-out}
.tfs-canvas.tfs-moving .tfs-fresh{animation:tfs-appear .3s ease-out}
.tfs-canvas.tfs-gentle .tfs-skin,.tfs-canvas.tfs-gentle .tfs-line{transition:opacity .2s}
@keyframes tfs-appear{from{opacity:0}}}
.tfs-tools{position:absolute;left:8px;bottom:8px;display:flex;flex-direction:column;gap:3px}
.tfs-tools .tfs-button{background:var(--jp-layout-color0,var(--tfs-ground))}
.tfs-minimap{position:absolute;right:8px;bottom:8px;border:1px solid var(--tfs-frame);border-radius:4px;
 background:var(--jp-layout-color0,var(--tfs-ground));cursor:crosshair;touch-action:none;opacity:.95}
.tfs-minimap .tfs-m{fill:var(--c);fill-opacity:.5;stroke:none}
.tfs-minimap .tfs-mo{fill:var(--c);fill-opacity:.07;stroke:var(--tfs-frame)}
.tfs-minimap .tfs-window{fill:var(--tfs-accent);fill-opacity:.1;stroke:var(--tfs-accent);stroke-width:1.5}
.tfs-hint{position:absolute;left:50%;top:8px;transform:translateX(-50%);padding:3px 10px;border-radius:12px;font-size:12px;
 background:var(--tfs-ink);color:var(--jp-layout-color0,var(--tfs-ground));opacity:0;transition:opacity .2s;pointer-events:none}
.tfs-hint.tfs-on{opacity:.92}
.tfs-card{position:absolute;z-index:5;max-width:min(380px,calc(100% - 16px));padding:7px 10px;border-radius:5px;font-size:12px;
 background:var(--jp-layout-color0,var(--tfs-ground));color:var(--tfs-ink);border:1px solid var(--tfs-line);
 box-shadow:0 3px 12px var(--tfs-shade);pointer-events:none;overflow-wrap:anywhere}
.tfs-card b{font-size:12.5px}
.tfs-card dl{display:grid;grid-template-columns:max-content 1fr;gap:1px 9px;margin:3px 0 0}
.tfs-card dd{font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:11.5px}
@media (forced-colors:active){.tfs-canvas .tfs-b,.tfs-canvas .tfs-o{stroke:CanvasText}.tfs-canvas text{fill:CanvasText}}
`;
