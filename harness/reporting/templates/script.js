// Adds to a page that already reads without it: pages by hash, sorting, filters, theme.
// The whole state stands in the hash: #page?q=text&sort=table:column:down&theme=dark
"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const THEMES = ["auto", "light", "dark"];

  const read = () => {
    const [route, query] = location.hash.slice(1).split("?");
    return { route: route || "overview", params: new URLSearchParams(query || "") };
  };
  const write = (change) => {
    const { route, params } = read();
    for (const [key, value] of Object.entries(change)) {
      if (value) params.set(key, value); else params.delete(key);
    }
    const query = params.toString();
    history.replaceState(null, "", "#" + route + (query ? "?" + query : ""));
  };

  // Theme: the hash wins, then what was chosen before (where storage is allowed), then the system.
  const remembered = () => { try { return localStorage.getItem("harness-theme"); } catch { return null; } };
  const remember = (name) => { try { localStorage.setItem("harness-theme", name); } catch { /* not allowed here */ } };
  const button = document.createElement("button");
  button.type = "button";
  let theme = "auto";
  const paint = (name) => {
    theme = THEMES.includes(name) ? name : "auto";
    root.dataset.theme = theme;
    button.textContent = "Theme: " + theme;
  };
  button.addEventListener("click", () => {
    paint(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
    remember(theme);
    write({ theme: theme === "auto" ? "" : theme });
  });
  const place = document.getElementById("theme");
  place.append(button);
  place.hidden = false;

  // Sorting: each heading that names a kind becomes a button.
  const value = (row, column, kind) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    return kind === "number" || cell.dataset.value !== undefined ? Number(text.replaceAll(",", "")) : text;
  };
  const sort = (table, column, down) => {
    const head = table.tHead.rows[0].cells[column];
    if (!head) return;
    const body = table.tBodies[0];
    const sign = down ? -1 : 1;
    const rows = [...body.rows].map((row) => [value(row, column, head.dataset.sort), row]);
    rows.sort(([a], [b]) => sign * (typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0));
    body.append(...rows.map(([, row]) => row));
    for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  for (const table of all("table[data-table]")) {
    all("th[data-sort]", table).forEach((head) => {
      const control = document.createElement("button");
      control.type = "button";
      control.append(...head.childNodes);
      head.append(control);
      control.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        sort(table, head.cellIndex, down);
        write({ sort: [table.dataset.table, head.cellIndex, down ? "down" : "up"].join(":") });
      });
    });
  }

  // Filters: every word must stand in the row.
  const filters = all("table[data-filter]").map((table) => {
    const box = document.createElement("p");
    const input = document.createElement("input");
    const count = document.createElement("span");
    box.className = "filter";
    count.className = "muted";
    count.setAttribute("role", "status");
    input.type = "search";
    input.placeholder = table.dataset.filter;
    input.setAttribute("aria-label", table.dataset.filter);
    box.append(input, count);
    table.parentElement.before(box);
    const rows = [...table.tBodies[0].rows].map((row) => [row.textContent.toLowerCase(), row]);
    const apply = (text) => {
      const words = text.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const [content, row] of rows) {
        row.hidden = !words.every((word) => content.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = words.length ? shown + " of " + rows.length + " rows" : "";
    };
    input.addEventListener("input", () => { apply(input.value); write({ q: input.value }); });
    return { page: table.closest("section").id, input, apply };
  });

  // Pages: the hash names a section, or an element inside one.
  const back = document.createElement("p");
  const link = document.createElement("a");
  link.href = "#cases";
  link.textContent = "← all cases";
  back.className = "back";
  back.append(link);
  const show = () => {
    const { route, params } = read();
    const target = document.getElementById(route) ?? document.getElementById("overview");
    const section = target.closest("section") ?? document.getElementById("overview");
    const opened = target.closest("details.case");
    for (const each of all("section[data-page]")) each.classList.toggle("here", each === section);
    for (const each of all("details.case.here")) each.classList.remove("here");
    section.classList.toggle("one", Boolean(opened));
    back.remove();
    if (opened) {
      opened.open = true;
      opened.classList.add("here");
      section.prepend(back);
    }
    for (const each of all("nav a")) {
      if (each.hash === "#" + section.id) each.setAttribute("aria-current", "page");
      else each.removeAttribute("aria-current");
    }
    paint(params.get("theme") ?? remembered() ?? theme);
    for (const { page, input, apply } of filters) {
      const text = page === section.id ? params.get("q") ?? "" : "";
      if (input.value !== text) { input.value = text; }
      apply(text);
    }
    const [name, column, way] = (params.get("sort") ?? "").split(":");
    const table = all("table[data-table]", section).find((each) => each.dataset.table === name);
    if (table && column) sort(table, Number(column), way === "down");
    if (target === section || opened) scrollTo(0, 0); else target.scrollIntoView();
  };
  root.classList.add("js");
  addEventListener("hashchange", show);
  show();
})();
