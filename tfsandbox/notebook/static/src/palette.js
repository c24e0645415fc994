// Colours of roles on light and on dark ground, and the shapes of their boxes: palette.py's, which a test compares.

export const ROLES = {
  input: {light: "#007a5a", dark: "#2fc79c", shape: "pill", dashed: false},
  variable: {light: "#9a5b00", dark: "#f0b03c", shape: "cylinder", dashed: false},
  forward: {light: "#0a62a0", dark: "#6bb5ea", shape: "box", dashed: false},
  constant: {light: "#5f6672", dark: "#aab2bf", shape: "note", dashed: false},
  gradient: {light: "#a03b78", dark: "#e493c2", shape: "hexagon", dashed: false},
  optimizer: {light: "#b84300", dark: "#ff9860", shape: "octagon", dashed: false},
  slot: {light: "#9a5b00", dark: "#f0b03c", shape: "cylinder", dashed: true},
  init: {light: "#1b6f93", dark: "#7cc8e6", shape: "box", dashed: true},
  saver: {light: "#5f6672", dark: "#aab2bf", shape: "note", dashed: true},
  summary: {light: "#5f6672", dark: "#aab2bf", shape: "pill", dashed: true},
  check: {light: "#5f6672", dark: "#aab2bf", shape: "hexagon", dashed: true},
  plumbing: {light: "#6b7280", dark: "#9aa3b1", shape: "box", dashed: false},
};

export const INKS = {
  ink: ["#1d2430", "#e8ebf0"], muted: ["#5a6372", "#a9b2c0"], ground: ["#ffffff", "#111418"],
  line: ["#7b8594", "#8b95a5"], frame: ["#c3cad4", "#434b57"],
};

// Groups that are told apart by number and name first, by hue second: [light, dark], after Okabe and Ito.
export const GROUPS = [
  ["#0a62a0", "#6bb5ea"], ["#b84300", "#ff9860"], ["#007a5a", "#2fc79c"], ["#a03b78", "#e493c2"],
  ["#806600", "#e3c63a"], ["#1b6f93", "#7cc8e6"], ["#7a4fb5", "#bda2ee"], ["#5f6672", "#aab2bf"],
];

function variables(which) {
  const list = Object.entries(INKS).map(([name, pair]) => `--tfs-${name}:${pair[which]}`);
  for (const [role, look] of Object.entries(ROLES)) list.push(`--tfs-${role}:${which ? look.dark : look.light}`);
  GROUPS.forEach((pair, i) => list.push(`--tfs-group${i + 1}:${pair[which]}`));
  list.push(`--tfs-tint:${which ? ".2" : ".11"}`, `--tfs-shade:${which ? "rgba(0,0,0,.6)" : "rgba(20,30,50,.2)"}`);
  list.push(`--tfs-in:${which ? "#6bb5ea" : "#0a62a0"}`, `--tfs-out:${which ? "#ff9860" : "#b84300"}`);
  list.push(`--tfs-accent:${which ? "#82b8ff" : "#0b57d0"}`, `--tfs-hit:${which ? "#f0b03c" : "#8a5200"}`);
  return list.join(";");
}

// The variables of a drawing in one theme, as declarations.
export function inks(dark) { return variables(dark ? 1 : 0); }

// The variables under `.tfs-view`: light, and dark where the front end, or the reader's system for a saved page, says so.
export function paletteCss() {
  const dark = variables(1);
  return `.tfs-view{${variables(0)}}
[data-jp-theme-light="false"] .tfs-view,.vscode-dark .tfs-view,html[theme="dark"] .tfs-view,.tfs-view.tfs-dark{${dark}}
@media (prefers-color-scheme:dark){.tfs-page .tfs-view{${dark}}}
`;
}
