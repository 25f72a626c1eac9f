// Keyboard shortcuts; they are off while an input has the focus.
const KEYS = [
  ["/", "focus the filter, or the search in a case"], ["[ and ]", "previous page, next page"],
  ["j and k", "next row, previous row; in a case, the next and the previous case"], ["n and p", "next case, previous case"],
  ["← and →", "step back and forward in a case"], ["d", "step to the first divergence"],
  ["c", "copy the case, or the first table, as Markdown"], ["t", "change the theme"], ["?", "show these keys"],
];
let dialog;
const showKeys = () => {
  if (!dialog) {
    const list = make("dl", { className: "facts" });
    for (const [key, does] of KEYS) list.append(make("dt", {}, make("kbd", {}, key)), make("dd", {}, does));
    dialog = make("dialog", {}, make("h2", { id: "keys-title" }, "Keyboard shortcuts"), list, button("Close", () => dialog.close()));
    dialog.setAttribute("aria-labelledby", "keys-title");
    document.body.append(dialog);
  }
  dialog.showModal();
};
const here = () => document.querySelector("main > section.here");
const neighbour = (list, current, way) => list[list.indexOf(current) + way];
const turnPage = (way) => {
  const links = all("nav[aria-label=Pages] a");
  neighbour(links, links.find((each) => each.hasAttribute("aria-current")), way)?.click();
};
const inCase = () => /^(case|input)\//.test(read().route);
// Rows and entries of the shown page that lead somewhere.
const ENTRIES = "tbody tr, .client, .causes li, .outcomes li";
const turnRow = (way) => {
  if (inCase()) { turnCase(way); return; }
  const entries = all(ENTRIES, here() ?? document).filter((each) => each.querySelector("a[href]") && each.checkVisibility());
  const at = entries.indexOf(document.activeElement?.closest(ENTRIES));
  const next = entries[at < 0 ? (way > 0 ? 0 : entries.length - 1) : at + way];
  if (next) { next.querySelector("a[href]").focus(); return; }
  const turn = here()?.querySelector(way > 0 ? ".pager button:last-child:enabled" : ".pager button:first-child:enabled");
  if (!turn || !entries.length) return;
  turn.click();
  document.activeElement?.blur();
  turnRow(way);
};
const steps = () => (shownCase ? stepper(shownCase.querySelector(".body")) : null);
const ACTS = {
  "/": () => (shownCase ?? here())?.querySelector("input[type=search]")?.focus(),
  "[": () => turnPage(-1), "]": () => turnPage(1),
  n: () => turnCase(1), p: () => turnCase(-1), j: () => turnRow(1), k: () => turnRow(-1),
  ArrowRight: () => steps()?.step(1), ArrowLeft: () => steps()?.step(-1),
  d: () => steps()?.diverge(), t: () => turnTheme(), "?": () => showKeys(),
  c: () => all("button.copy", shownCase ?? here()).find((each) => each.textContent === "Copy as Markdown")?.click(),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog?.open) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const act = ACTS[event.key];
  const scrolls = event.key.startsWith("Arrow") && (!shownCase || event.target.closest?.(".scroll"));
  if (!act || scrolls) return;
  event.preventDefault();
  act();
});
