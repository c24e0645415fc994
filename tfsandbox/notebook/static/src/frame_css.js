// The look of the frame and its controls. Colours are JupyterLab's where it has them.

export const FRAME_CSS = `
.tfs-view{box-sizing:border-box;position:relative;width:100%;min-width:0;max-width:100%;margin:4px 0;padding:0;
 background:var(--jp-layout-color0,var(--tfs-ground));color:var(--tfs-ink);border:1px solid var(--tfs-frame);
 border-radius:6px;font:13px/1.4 var(--jp-ui-font-family,system-ui),-apple-system,"Segoe UI","Helvetica Neue",Arial,
 "Noto Sans","DejaVu Sans",sans-serif;overflow:hidden;text-align:left}
.tfs-view *{box-sizing:border-box}
.tfs-view:fullscreen{border:0;border-radius:0;display:flex;flex-direction:column}
.tfs-view:fullscreen .tfs-body{flex:1;min-height:0}
.tfs-view:fullscreen .tfs-stage{height:auto!important;resize:none}
.tfs-toolbar,.tfs-bar{display:flex;flex-wrap:wrap;align-items:center;gap:6px 10px;padding:6px 8px;
 border-bottom:1px solid var(--tfs-frame)}
.tfs-toolbar:empty,.tfs-bar:empty{display:none}
.tfs-body{display:flex;min-height:0}
.tfs-stage{position:relative;flex:1;min-width:0;min-height:120px;overflow:hidden}
.tfs-panel{flex:0 0 290px;contain:size;overflow:auto;border-left:1px solid var(--tfs-frame);padding:8px 12px;
 overflow-wrap:anywhere}
.tfs-narrow .tfs-body{flex-direction:column}
.tfs-narrow .tfs-stage{flex:none}
.tfs-narrow .tfs-panel{flex:none;contain:none;width:100%;max-height:320px;border-left:0;border-top:1px solid var(--tfs-frame)}
.tfs-panel[hidden],.tfs-view [hidden]{display:none!important}
.tfs-foot{display:flex;flex-wrap:wrap;gap:4px 14px;padding:5px 10px;border-top:1px solid var(--tfs-frame);
 color:var(--tfs-muted);font-size:11.5px}
.tfs-foot:empty{display:none}
.tfs-status{padding:3px 10px 5px;color:var(--tfs-muted);font-size:11.5px;min-height:21px}
.tfs-status.tfs-trouble{color:var(--tfs-optimizer)}
.tfs-unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.tfs-button,.tfs-choice button,.tfs-menu select,.tfs-field{font:inherit;font-size:12px;line-height:18px;color:var(--tfs-ink);
 background:var(--jp-layout-color1,var(--tfs-ground));border:1px solid var(--tfs-line);border-radius:4px;padding:3px 8px;
 margin:0;min-height:26px;cursor:pointer}
.tfs-button:hover:not(:disabled,[aria-pressed="true"]),.tfs-choice button:hover:not(:disabled,[aria-checked="true"]){background:var(--jp-layout-color2,
 color-mix(in srgb,var(--tfs-ink) 8%,var(--tfs-ground)))}
.tfs-button:disabled,.tfs-choice button:disabled{opacity:.55;cursor:not-allowed}
.tfs-button.tfs-icon{min-width:28px;padding:3px 6px;text-align:center}
.tfs-button svg{display:block;margin:1px auto}
.tfs-short,.tfs-narrow .tfs-word,.tfs-narrow .tfs-label{display:none}
.tfs-narrow .tfs-short{display:block}
.tfs-narrow .tfs-toolbar{gap:6px}
.tfs-narrow .tfs-button,.tfs-narrow .tfs-choice button{padding:3px 6px}
.tfs-button[aria-pressed="true"],.tfs-choice button[aria-checked="true"]{background:var(--tfs-ink);
 color:var(--jp-layout-color0,var(--tfs-ground));border-color:var(--tfs-ink)}
.tfs-button.tfs-primary{border-color:var(--tfs-accent);color:var(--tfs-accent);font-weight:600}
.tfs-view :focus{outline:none}
.tfs-view :focus-visible{outline:2px solid var(--tfs-accent);outline-offset:1px}
.tfs-choice{display:inline-flex}
.tfs-choice button{border-radius:0;margin-left:-1px}
.tfs-choice button:first-of-type{border-radius:4px 0 0 4px;margin-left:0}
.tfs-choice button:last-of-type{border-radius:0 4px 4px 0}
.tfs-menu,.tfs-slider{display:inline-flex;align-items:center;gap:5px;color:var(--tfs-muted);font-size:12px}
.tfs-menu select{padding:3px 4px}
.tfs-field{cursor:text;width:12.5em;max-width:100%}
.tfs-field::placeholder{color:var(--tfs-muted);opacity:1}
.tfs-slider input{width:110px;accent-color:var(--tfs-accent)}
.tfs-slider output{min-width:3.2em;color:var(--tfs-ink);font-variant-numeric:tabular-nums}
.tfs-stepper{display:flex;flex-wrap:wrap;align-items:center;gap:4px 6px;flex:1 1 100%}
.tfs-stepper input{flex:1;min-width:90px;accent-color:var(--tfs-accent)}
.tfs-stepper output{flex:1 1 100%;min-height:1.4em}
.tfs-progress{display:inline-flex;align-items:center;gap:6px;font-size:12px;color:var(--tfs-muted)}
.tfs-progress progress{width:120px;height:8px;accent-color:var(--tfs-accent)}
.tfs-panel h4{margin:0 0 2px;font-size:14px;line-height:1.3;font-weight:600;color:var(--tfs-ink)}
.tfs-panel h5{margin:12px 0 3px;font-size:11px;font-weight:600;letter-spacing:.04em;text-transform:uppercase;
 color:var(--tfs-muted)}
.tfs-panel p{margin:2px 0}
.tfs-panel dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 10px;margin:2px 0;font-size:12px}
.tfs-view dt{float:none;width:auto;margin:0;padding:0;font-weight:400;color:var(--tfs-muted);overflow-wrap:normal}
.tfs-view dd{float:none;width:auto;margin:0;padding:0;min-width:0}
.tfs-panel dd{font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace)}
.tfs-panel ul{list-style:none;margin:0;padding:0}
.tfs-panel li{margin:0;padding:0}
.tfs-panel pre,.tfs-card pre{margin:2px 0;padding:4px 6px;background:color-mix(in srgb,var(--tfs-ink) 6%,transparent);border-radius:3px;
 font:12px/1.45 var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);color:var(--tfs-ink);white-space:pre-wrap}
.tfs-link{font:12px/1.5 var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);color:var(--tfs-accent);
 background:none;border:0;padding:1px 2px;margin:0;cursor:pointer;text-align:left;border-radius:2px;overflow-wrap:anywhere}
.tfs-link:hover{text-decoration:underline}
.tfs-close{float:right;border:0;background:none;color:var(--tfs-muted);font-size:15px;line-height:1;padding:4px 6px;
 cursor:pointer;border-radius:3px}
.tfs-chip{display:inline-block;padding:0 7px;border-radius:9px;border:1px solid currentColor;font-size:11px;line-height:17px}
.tfs-quiet{color:var(--tfs-muted)}
@media (forced-colors:active){.tfs-button[aria-pressed="true"],.tfs-choice button[aria-checked="true"]{
 background:Highlight;color:HighlightText}}
`;
