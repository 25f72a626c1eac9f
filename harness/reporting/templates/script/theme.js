// Theme: the hash wins, then what was chosen before (where storage is allowed), then the system.
const THEMES = ["auto", "light", "dark"];
let theme = "auto";
const themeButton = button("", () => turnTheme());
const paint = (name) => {
  theme = THEMES.includes(name) ? name : "auto";
  root.dataset.theme = theme;
  themeButton.textContent = "Theme: " + theme;
};
const turnTheme = () => {
  paint(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
  memory.set("theme", theme);
  write({ theme: theme === "auto" ? "" : theme });
};
const paintFrom = (params) => paint(params.get("theme") ?? memory.get("theme") ?? theme);
paintFrom(read().params);
