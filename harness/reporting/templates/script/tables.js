// Tables of the page: a heading with data-sort sorts, and an input filters.
const cellValue = (row, column, kind) => {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  return kind === "number" || cell.dataset.value !== undefined ? Number(text.replaceAll(",", "")) : text;
};
const sort = (table, column, down) => {
  const head = table.tHead.rows[0].cells[column];
  if (!head?.dataset.sort) return;
  const body = table.tBodies[0];
  const sign = down ? -1 : 1;
  const rows = [...body.rows].map((row) => [cellValue(row, column, head.dataset.sort), row]);
  rows.sort(([a], [b]) => sign * (a < b ? -1 : a > b ? 1 : 0));
  body.append(...rows.map(([, row]) => row));
  markSorted(table, head, down);
};
const markSorted = (table, head, down) => {
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  head?.setAttribute("aria-sort", down ? "descending" : "ascending");
};
const headButton = (head, act) => {
  const control = button("", act);
  control.append(...head.childNodes);
  head.append(control);
};
const tools = (table) => {
  const region = table.closest(".scroll");
  const before = region.previousElementSibling;
  if (before?.classList.contains("tools")) return before;
  const made = make("div", { className: "tools" });
  region.before(made);
  return made;
};
const sortable = (table) => all("th[data-sort]", table).forEach((head) => headButton(head, () => {
  const down = head.getAttribute("aria-sort") === "ascending";
  sort(table, head.cellIndex, down);
  write({ sort: [table.dataset.table, head.cellIndex, down ? "down" : "up"].join(":") });
}));
const filters = [];
const filterable = (table) => {
  const input = make("input", { type: "search", placeholder: table.dataset.filter });
  const count = make("span", { className: "muted" });
  count.setAttribute("role", "status");
  input.setAttribute("aria-label", table.dataset.filter);
  tools(table).append(input, count);
  let rows;
  const apply = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length && !rows) return;
    rows ??= [...table.tBodies[0].rows].map((row) => [row.textContent.toLowerCase(), row]);
    let shown = 0;
    for (const [content, row] of rows) {
      row.hidden = !words.every((word) => content.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  };
  // A page may have several filters: each has a separate key.
  const key = "q-" + table.dataset.table;
  input.addEventListener("input", () => { apply(input.value); write({ [key]: input.value }); });
  filters.push({ section: table.closest("section"), key, input, apply });
};
const restoreTables = (section, params) => {
  for (const { section: own, key, input, apply } of filters) {
    if (own !== section) continue;
    input.value = params.get(key) ?? "";
    apply(input.value);
  }
  const [name, column, way] = (params.get("sort") ?? "").split(":");
  const table = all("table[data-table]", section).find((each) => each.dataset.table === name);
  if (table && column) sort(table, Number(column), way === "down");
};
// The script computes ages, because the page itself must not depend on a clock.
const ages = () => {
  for (const cell of all("[data-date]")) {
    const days = Math.floor((Date.now() - Date.parse(cell.dataset.date)) / 86_400_000);
    if (Number.isFinite(days) && days >= 0) cell.append(make("small", {}, days ? ` ${grouped(days)} ${days === 1 ? "day" : "days"} ago` : " today"));
  }
};
