// Pages: the hash names a section, something inside one, or a cell.
let shownCase = null;
let ownTitle = "";
const readied = new WeakSet();
// A page gets its buttons when it is first shown, so that the file opens fast.
const ready = (section) => {
  if (readied.has(section)) return;
  readied.add(section);
  for (const table of all("table[data-table]", section)) {
    if (table.closest("details.case")) continue;
    sortable(table);
    if (table.dataset.filter) filterable(table);
  }
  for (const table of all("table[data-copy]", section)) {
    if (table.closest("details.case")) continue;
    const bar = tools(table);
    bar.append(copyButton(() => tableAsMarkdown(table)));
    bar.classList.toggle("bare", bar.childElementCount === 1 && /^[HP]/.test(bar.previousElementSibling?.tagName));
  }
};
const show = () => {
  const { route, byte, params } = read();
  const target = document.getElementById(route);
  const isCell = route.startsWith("case/");
  // An input that this page does not show: the table lists what each client made of it.
  if (route.startsWith("input/") && !target) { location.replace(place("replays", null, new URLSearchParams({ q: `scenario:"${nameOf(route)}"` }))); return; }
  const fallback = document.getElementById(isCell ? "sheet" : "overview");
  const section = target?.closest("section") ?? fallback;
  const opened = isCell || route.startsWith("input/") ? target?.closest("details.case") : null;
  paintFrom(params);
  if (section.id === "sheet") { section.hidden = false; sheet(section, route); }
  for (const each of all("main > section")) each.classList.toggle("here", each === section);
  for (const each of all("details.case.here")) each.classList.remove("here");
  for (const each of all(".aimed")) each.classList.remove("aimed");
  section.classList.toggle("one", Boolean(opened));
  back.remove();
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
  document.querySelector("nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const title = isCell || opened ? nameOf(route) : section.querySelector("h1, h2").textContent;
  document.title = `${plain(title)}: ${ownTitle}`;
  ready(section);
  restoreTables(section, params);
  if (section.id === "replays") replays.show(params);
  if (!target || target === section || opened) scrollTo(0, 0);
  else { target.classList.add("aimed"); target.scrollIntoView({ block: "center" }); }
};
const begin = async () => {
  const bar = document.getElementById("theme");
  bar.append(themeButton, button("Keys", showKeys));
  bar.hidden = false;
  ownTitle = document.title;
  learnChips();
  ages();
  addEventListener("hashchange", show);
  show();
  try {
    replays.data = decode(await unpack(document.getElementById("rows").textContent));
  } catch {
    // A browser without DecompressionStream: the table stays unchanged.
    for (const each of all(".noscript")) each.classList.remove("noscript");
  }
  const { route } = read();
  if (route === "replays" || /^(case|input)\//.test(route)) show();
  root.dataset.ready = "yes";
  performance.mark("ready");
  watch();
};
addEventListener("DOMContentLoaded", begin);
