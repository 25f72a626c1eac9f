// Tables of the page: a heading with data-sort sorts, an input filters, columns can be hidden.
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
// The filter comes before a table and its other controls after it, so that the first row is three
// tab stops away: the filter, the headings, the row. Both are drawn above the table.
const listOf = (table) => {
  const region = table.closest(".scroll");
  if (region.parentElement.classList.contains("list")) return region.parentElement;
  const made = make("div", { className: "list", tabIndex: -1 });
  region.replaceWith(made);
  made.append(region);
  return made;
};
const part = (table, name) => listOf(table).querySelector(`:scope > .${name}`);
const tools = (table) => {
  if (!part(table, "tools")) listOf(table).prepend(make("div", { className: "tools" }));
  return part(table, "tools");
};
const extras = (table) => {
  if (!part(table, "extras")) listOf(table).append(make("div", { className: "extras" }));
  return part(table, "extras");
};
// The headings are one tab stop; the arrow keys move between them.
const rove = (table) => {
  const buttons = all("thead button", table);
  if (!buttons.length) return;
  table.closest(".scroll").tabIndex = -1;
  for (const each of buttons.slice(1)) each.tabIndex = -1;
  table.tHead.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = way && buttons[buttons.indexOf(event.target) + way];
    if (!next) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
};
const sortable = (table) => {
  all("th[data-sort]", table).forEach((head) => headButton(head, () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    sort(table, head.cellIndex, down);
    write({ sort: [table.dataset.table, head.cellIndex, down ? "down" : "up"].join(":") });
  }));
  rove(table);
};
// On a narrow screen a row is a card whose values name their columns.
const NARROW = matchMedia("(max-width: 40rem)");
const headsOf = (table) => [...table.tHead.rows[0].cells].map(flat);
const label = (table) => {
  if (!NARROW.matches) return;
  const heads = headsOf(table);
  table.classList.add("cards-of-rows");
  for (const row of table.tBodies[0].rows) {
    if (row.cells.length === heads.length) [...row.cells].forEach((cell, place) => { cell.dataset.label = heads[place]; });
  }
};
// Which columns are hidden is part of the link.
const WIDE = 8;
const hiddenKey = (table) => "hide-" + (table.dataset.table ?? table.id);
const hideColumns = (table, params) => {
  const hidden = new Set((params.get(hiddenKey(table)) ?? "").split(".").filter(Boolean).map(Number));
  if (!hidden.size && !table.dataset.hides) return;
  table.dataset.hides = "yes";
  const count = table.tHead.rows[0].cells.length;
  for (const row of table.rows) {
    if (row.cells.length === count) [...row.cells].forEach((cell, place) => { cell.hidden = hidden.has(place); });
  }
  all(":scope > .extras .columns input", listOf(table)).forEach((input, place) => { input.checked = !hidden.has(place); });
};
const columnChooser = (table) => {
  const heads = headsOf(table);
  if (heads.length < WIDE) return;
  const list = make("div", { className: "choices" });
  heads.forEach((head) => {
    const input = make("input", { type: "checkbox", checked: true });
    input.addEventListener("change", () => {
      const hidden = all("input", list).flatMap((each, at) => (each.checked ? [] : [at]));
      write({ [hiddenKey(table)]: hidden.join(".") });
      hideColumns(table, read().params);
    });
    list.append(make("label", {}, input, " ", head));
  });
  extras(table).append(make("details", { className: "columns" }, make("summary", {}, "Columns"), list));
};
// CSV as `harness report` writes it: nothing that a terminal or a spreadsheet executes.
const csvText = (text) => {
  const shown = text.replace(UNSEEN, (char) => {
    const code = char.codePointAt(0);
    return code < 32 ? String.fromCodePoint(0x2400 + code) : code === 127 ? "␡" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
  const safe = /^[=+\-@]/.test(shown) ? "'" + shown : shown;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
const csvValue = (value) => (typeof value === "number" ? String(value) : csvText(Array.isArray(value) ? value.join("; ") : value));
const asCsv = (rows) => rows.map((row) => row.map(csvValue).join(",") + "\n").join("");
const csvButton = (name, rows) => button("CSV", () => {
  const link = make("a", { href: URL.createObjectURL(new Blob([asCsv(rows())], { type: "text/csv" })), download: `harness-${name}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}, { title: "Download the rows that the filter shows" });
const shownRows = (table) => [...table.tBodies[0].rows].filter((row) => !row.hidden);
const csvOfTable = (table) => [headsOf(table), ...shownRows(table).map((row) => [...row.cells].map(flat))];
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
    if (shown || !words.length) return;
    const dead = words.filter((word) => !rows.some(([content]) => content.includes(word)));
    const why = dead.length ? `none has “${plain(dead.join("” or “"))}”` : "none has all of these words";
    count.replaceChildren(`0 of ${rows.length} rows: ${why} `, button(dead.length && dead.length < words.length ? "Without it" : "Clear", () => {
      input.value = dead.length ? words.filter((word) => !dead.includes(word)).join(" ") : "";
      input.dispatchEvent(new Event("input"));
      input.focus();
    }));
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
  const tables = all("table[data-table]", section);
  const table = tables.find((each) => each.dataset.table === name);
  if (table && column) sort(table, Number(column), way === "down");
  for (const each of tables) if (each.closest(".list")) hideColumns(each, params);
};
// The script computes ages, because the page itself must not depend on a clock.
const ages = () => {
  for (const cell of all("[data-date]")) {
    const days = Math.floor((Date.now() - Date.parse(cell.dataset.date)) / 86_400_000);
    if (Number.isFinite(days) && days >= 0) cell.append(make("small", {}, days ? ` ${grouped(days)} ${days === 1 ? "day" : "days"} ago` : " today"));
  }
};
