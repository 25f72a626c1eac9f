// Pages: the hash names a section, something inside one, or a cell.
let shownCase = null;
let ownTitle = "";
// The page on which the names of a kind of link are.
const PAGE_OF = {
  failure: "failures", model: "models", prompt: "models", pair: "models", normalizer: "clients", peer: "clients",
  agent: "clients", quirk: "quirks", cassette: "cassettes", input: "clients", rule: "method",
};
// Where the pages of older reports are now, if the part itself is not in this report.
const MOVED = {
  normalizers: "clients", agents: "clients", peers: "clients", inputs: "clients", prompts: "models", matrix: "models",
  compare: "changes", trends: "changes", cases: "failures",
};
const missing = make("p", { className: "notice missing" });
missing.setAttribute("role", "status");
// Says that the report does not have what a link names, and where to look for it.
const tellMissing = (section, route) => {
  const [kind, ...rest] = route.split("/");
  const name = rest.length ? nameOf(route) : kind;
  const about = PAGE_OF[kind] ? `${kind} “${plain(name)}”` : `part “${plain(route)}”`;
  missing.replaceChildren(`This report has no ${about}. The link may be of another run, or of a row that is not listed here. `);
  const found = PAGE_OF[kind] && !["failure", "pair"].includes(kind);
  const query = found ? asTerm({ peer: "normalizer", agent: "normalizer", input: "scenario" }[kind] ?? kind, [name]) : name;
  missing.append(make("a", { href: "#replays?q=" + encodeURIComponent(query.toWellFormed?.() ?? query) }, "Search the results for it"), ".");
  section.querySelector("h1, h2").after(missing);
};
const readied = new WeakSet();
// A page gets its buttons when it is first shown, so that the file opens fast.
const ready = (section) => {
  if (readied.has(section)) return;
  readied.add(section);
  for (const table of all("table[data-table]", section)) {
    if (table.closest("details.case")) continue;
    label(table);
    sortable(table);
    if (table.dataset.filter) filterable(table);
  }
  for (const table of all("table[data-copy]", section)) {
    if (table.closest("details.case")) continue;
    columnChooser(table);
    if (table.dataset.table) extras(table).append(csvButton(table.dataset.table, () => csvOfTable(table)));
    extras(table).append(copyButton(() => tableAsMarkdown(table)));
  }
};
NARROW.addEventListener("change", () => { for (const list of all(".list")) label(list.querySelector("table")); });
const show = () => {
  const { route, byte, params } = read();
  const target = document.getElementById(route);
  const isCell = route.startsWith("case/");
  const kind = route.split("/")[0];
  const fallback = document.getElementById(isCell ? "sheet" : PAGE_OF[kind] ?? MOVED[kind] ?? kind)?.closest("main > section") ?? document.getElementById("overview");
  const section = target?.closest("section") ?? fallback;
  const opened = isCell || route.startsWith("input/") ? target?.closest("details.case") : null;
  paintFrom(params);
  if (section.id === "sheet") { section.hidden = false; sheet(section, route); }
  for (const each of all("main > section")) each.classList.toggle("here", each === section);
  for (const each of all("details.case.here")) each.classList.remove("here");
  for (const each of all(".aimed")) each.classList.remove("aimed");
  section.classList.toggle("one", Boolean(opened));
  root.classList.toggle("one-cell", isCell || Boolean(opened));
  back.remove();
  missing.remove();
  if (!target && section.id !== "sheet") tellMissing(section, route);
  shownCase = opened;
  if (opened || section.id === "sheet") showBack(section, route, params);
  if (opened) {
    opened.open = true;
    opened.classList.add("here");
    readyCase(target);
    finders.get(target)(params.get("find") ?? "");
    const steps = stepper(target);
    if (steps && byte !== null) steps.to(byte, false);
  }
  const page = section.id === "sheet" ? "replays" : section.id;
  for (const each of all("nav a")) {
    if (each.hash === "#" + page) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  const menu = document.querySelector("nav details");
  menu.open = Boolean(menu.querySelector("[aria-current]"));
  document.querySelector("nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const query = section.id === "replays" ? params.get("q") : "";
  const title = isCell || opened ? nameOf(route) : section.querySelector("h1, h2").textContent + (query ? ` ${query}` : "");
  document.title = `${plain(title)}: ${ownTitle}`;
  ready(section);
  restoreTables(section, params);
  if (section.id === "replays") replays.show(params);
  if (section.id === "clients") pair.show(params);
  if (target && target !== section && !opened) target.classList.add("aimed");
  if (history.state) { goBack(section); return; }
  if (target && target !== section && !opened) target.scrollIntoView({ block: "center" });
  else scrollTo(0, 0);
  if (location.hash) startOf(section).focus({ preventScroll: true });
};
// Tab starts at the first list of the page.
const startOf = (section) => {
  section.tabIndex = -1;
  const inCase = section.classList.contains("one") || section.id === "sheet";
  return (inCase ? null : section.querySelector(".list")) ?? section;
};
const goBack = (section) => {
  const { y, left } = history.state;
  const link = left && section.querySelector(`a[href="${CSS.escape(left)}"]`);
  (link || startOf(section)).focus({ preventScroll: true });
  scrollTo(0, y);
};
const watchSteps = () => {
  let timer = 0;
  addEventListener("scroll", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (root.dataset.ready) remember(); }, 120);
  }, { passive: true });
  addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (link && link.hash !== location.hash) { clearTimeout(timer); remember(link.getAttribute("href")); }
  }, { capture: true });
  addEventListener("hashchange", () => clearTimeout(timer), { capture: true });
};
const begin = async () => {
  const bar = document.getElementById("theme");
  bar.append(themeButton, button("Keys", showKeys));
  bar.hidden = false;
  for (const each of all("button[data-text]")) each.addEventListener("click", () => copied(each, () => each.dataset.text));
  ownTitle = document.title;
  learnChips();
  ages();
  watchSteps();
  addEventListener("hashchange", show);
  show();
  try {
    replays.data = decode(await unpack(document.getElementById("rows").textContent));
  } catch {
    // A browser without DecompressionStream: the table stays unchanged.
    for (const each of all(".noscript")) each.classList.remove("noscript");
  }
  const { route } = read();
  if (document.querySelector("main > section.here").id === "clients" || route === "replays" || /^(case|input)\//.test(route)) show();
  root.dataset.ready = "yes";
  performance.mark("ready");
  watch();
};
addEventListener("DOMContentLoaded", begin);
