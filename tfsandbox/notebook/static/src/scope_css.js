// The look of the scope mask view.

export const SCOPE_CSS = `
.tfs-kind-scope .tfs-stage{overflow:auto;max-height:660px}
.tfs-kind-scope .tfs-panel{flex-basis:330px;max-height:660px;contain:none}
.tfs-kind-scope .tfs-toolbar .tfs-group{display:inline-flex;flex-wrap:wrap;align-items:center;gap:4px 6px}
.tfs-mask{border-collapse:collapse;width:100%;font-size:12.5px;font-variant-numeric:tabular-nums;margin:0}
.tfs-view table.tfs-mask th,.tfs-view table.tfs-mask td{padding:2px 8px;text-align:left;white-space:nowrap;
 border:0;border-bottom:1px solid color-mix(in srgb,var(--tfs-frame) 55%,transparent);background:none;color:inherit;
 vertical-align:middle;max-width:none}
.tfs-view table.tfs-mask th{font-weight:600;color:var(--tfs-muted);position:sticky;top:0;z-index:1;
 background:var(--jp-layout-color0,var(--tfs-ground))}
.tfs-view table.tfs-mask td.tfs-number,.tfs-view table.tfs-mask th.tfs-number{text-align:right}
.tfs-view table.tfs-mask tbody tr{background:none}
.tfs-view table.tfs-mask tbody tr:hover{background:color-mix(in srgb,var(--tfs-ink) 5%,transparent)}
.tfs-view table.tfs-mask tbody tr[aria-selected="true"]{background:color-mix(in srgb,var(--tfs-accent) 14%,transparent)}
.tfs-mask .tfs-first{display:flex;align-items:center;gap:5px;min-height:22px}
.tfs-mask input{margin:0;width:15px;height:15px;accent-color:var(--tfs-input);cursor:pointer;flex:none}
.tfs-mask input:disabled{cursor:not-allowed}
.tfs-mask .tfs-twist{width:20px;height:20px;padding:0;border:0;background:none;color:var(--tfs-muted);cursor:pointer;
 border-radius:3px;font-size:11px;flex:none}
.tfs-mask .tfs-gap{width:20px;flex:none}
.tfs-mask .tfs-box{width:15px;flex:none}
.tfs-mask .tfs-link{white-space:normal;color:var(--tfs-ink);text-align:left}
.tfs-mask .tfs-scope-row .tfs-link{font-weight:600}
.tfs-mask .tfs-still,.tfs-mask .tfs-slot-row .tfs-link,.tfs-mask .tfs-frozen .tfs-link{color:var(--tfs-muted)}
.tfs-mask .tfs-state-trains{color:var(--tfs-input)}
.tfs-mask .tfs-state-frozen{color:var(--tfs-forward)}
.tfs-mask .tfs-state-slot,.tfs-mask .tfs-state-other{color:var(--tfs-muted)}
.tfs-delta{display:inline-block;vertical-align:middle;margin-right:6px}
.tfs-delta rect{fill:var(--tfs-optimizer)}
.tfs-slot-row .tfs-delta rect{fill:var(--tfs-slot);opacity:.75}
.tfs-narrow .tfs-mask .tfs-wide{display:none}
.tfs-view.tfs-narrow table.tfs-mask td,.tfs-view.tfs-narrow table.tfs-mask th{padding:2px 4px;overflow-wrap:break-word}
.tfs-narrow .tfs-mask .tfs-link{overflow-wrap:break-word}
.tfs-narrow.tfs-kind-scope .tfs-panel{max-height:none;flex-basis:auto}
.tfs-narrow.tfs-kind-scope .tfs-stage{max-height:420px}
.tfs-narrow .tfs-delta{width:30px}
.tfs-settings-note{font-size:11.5px;color:var(--tfs-muted)}
.tfs-code-head{display:flex;align-items:baseline;justify-content:space-between;gap:8px}
.tfs-kind-scope .tfs-panel pre{font-size:11.5px}
`;
