// The table of replays: filtered, sorted and paged from the columns, 100 rows at a time.
const PAGE = 100;
const FACETS = { outcome: "Outcome", normalizer: "Client", failed: "Failed turn by", origin: "Origin" };
const MOST_CHIPS = 10;
const chips = {};
const chip = (outcome) => (chips[outcome] ?? make("span", {}, outcome)).cloneNode(true);
const learnChips = () => {
  for (const each of all("#method .terms .chip")) chips[each.lastChild.textContent.trim()] = each;
};
const outcomeOf = (of) => {
  const partly = of("unjudged").length && of("outcome") !== "unjudged";
  return [chip(of("outcome")), ...(partly ? [" ", make("small", { className: "tag" }, "partly judged")] : [])];
};
const some = (names) => names.slice(0, 2).join(", ") + (names.length > 2 ? `, ${names.length - 2} more` : "");
const replays = {
  data: null,
  found: [],
  start() {
    this.table = document.getElementById("replays-table");
    this.input = make("input", { type: "search", placeholder: "model:qwen* outcome:lost_call -normalizer:naive" });
    this.input.setAttribute("aria-label", "Filter results");
    this.status = make("span", { className: "muted" });
    this.status.setAttribute("role", "status");
    this.facets = make("div", { className: "facets" });
    this.pager = make("nav", { className: "pager" });
    this.pager.setAttribute("aria-label", "Pages of rows");
    const help = make("details", { className: "help" }, make("summary", {}, "How to filter"), make("p", { className: "muted" },
      "Text, field:value with * and ?, field:a,b for a or b, replays:>99, -field:value to exclude. Fields: ",
      Object.keys(this.data.columns).join(", "), "."));
    tools(this.table).append(this.input, this.status);
    extras(this.table).append(help, csvButton("replays", () => this.csvRows()));
    this.table.closest(".list").append(this.facets, this.pager);
    this.input.addEventListener("input", () => this.ask(this.input.value));
    all("th[data-column]", this.table).forEach((head) => headButton(head, () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      write({ sort: `${head.dataset.column}:${down ? "down" : "up"}`, p: "" });
      this.show(read().params);
    }));
    rove(this.table);
  },
  ask(query) { write({ q: query, p: "" }); this.show(read().params); },
  show(params) {
    if (!this.data) return;
    if (!this.input) this.start();
    const text = params.get("q") ?? "";
    if (this.input.value !== text) this.input.value = text;
    const { terms, found, column, down } = chosenRows(this.data, params);
    this.found = found;
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    const page = Math.min(pages, Math.max(1, Number(params.get("p")) || 1));
    const first = (page - 1) * PAGE;
    const shown = [...found.slice(first, first + PAGE)].map((row) => this.row(row));
    this.table.tBodies[0].replaceChildren(...(shown.length ? shown : [this.empty(terms)]));
    label(this.table);
    hideColumns(this.table, params);
    markSorted(this.table, this.table.querySelector(`th[data-column="${column}"]`), down);
    const unknown = terms.map((term) => term.unknown).filter(Boolean);
    const noted = unknown.length ? `; unknown field ${unknown.join(", ")}` : "";
    const listed = this.data.leftOut ? "listed cells" : "cells";
    this.status.textContent = `${grouped(found.length)} of ${grouped(this.data.count)} ${listed}${noted}`;
    this.showPager(page, pages);
    this.showFacets(terms);
  },
  row(row) {
    const of = (name) => this.data.of(name, row);
    const cell = this.data.cell(row);
    const link = make("a", { href: place(anchor(cell), null, ofList(read().params)), className: "cell" }, plain(cell));
    const head = make("th", { scope: "row" }, link);
    const cells = [of("blame"), some(of("rule")), some(of("unjudged")), of("model"), of("prompt"), of("origin")];
    const made = make("tr", {}, make("td", {}, ...outcomeOf(of)), head,
      ...cells.map((text) => make("td", {}, plain(text))), make("td", { className: "n" }, grouped(of("replays"))));
    return made;
  },
  // A row that says which part of the query excludes everything, with the nearest that does not.
  empty(terms) {
    const box = make("td", { colSpan: this.table.tHead.rows[0].cells.length, className: "none-found" }, make("p", {}, make("strong", {}, "No cell matches.")));
    for (const [sentence, ...others] of this.data.count ? explainEmpty(this.data, terms) : []) {
      const links = others.flatMap(([query, text]) => [" ", button(plain(text), () => this.ask(query))]);
      box.append(make("p", {}, plain(sentence), ...links));
    }
    if (this.data.leftOut) box.append(make("p", {}, document.querySelector("#replays .left-out")?.textContent ?? ""));
    return make("tr", {}, box);
  },
  csvRows() {
    const names = Object.keys(this.data.columns);
    return [["cell", ...names], ...[...this.found].map((row) => [this.data.cell(row), ...names.map((name) => this.data.of(name, row))])];
  },
  showPager(page, pages) {
    const go = (to) => () => { write({ p: to > 1 ? String(to) : "" }); this.show(read().params); this.table.closest(".scroll").scrollIntoView({ block: "nearest" }); };
    const step = (text, to, usable) => button(text, go(to), { disabled: !usable });
    this.pager.hidden = pages < 2;
    this.pager.replaceChildren(step("← Previous", page - 1, page > 1), make("span", {}, `page ${grouped(page)} of ${grouped(pages)}`), step("Next →", page + 1, page < pages));
  },
  // The values of some fields; each count is of the rows that match the rest of the query.
  showFacets(terms) {
    this.facets.replaceChildren(...Object.entries(FACETS).flatMap(([field, title]) => {
      const own = terms.find((term) => term.field === field && !term.not);
      const chosen = own?.values ?? [];
      const counts = valueCounts(this.data, field, rowsOf(this.data, terms.filter((term) => term !== own)));
      const order = field === "outcome" ? (a, b) => this.rank(a[0]) - this.rank(b[0]) : (a, b) => b[1] - a[1];
      const listed = [...counts].sort(order).filter(([value], place) => place < MOST_CHIPS || chosen.includes(value));
      if (!chosen.length && listed.length < 2) return [];
      const made = listed.map(([value, count]) => {
        const each = button("", () => { this.ask(toggled(terms, field, value)); this.facets.querySelector(`[data-value="${CSS.escape(field + value)}"]`)?.focus(); });
        each.dataset.value = field + value;
        each.setAttribute("aria-pressed", String(chosen.includes(value)));
        each.append(field === "outcome" ? chip(value) : plain(value || "none"), " " + grouped(count));
        return each;
      });
      const group = make("div", {}, make("span", { className: "muted" }, title), " ", ...made);
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", title);
      return [group];
    }));
  },
  rank(outcome) { return this.data.columns.outcome.values.indexOf(outcome); },
};
