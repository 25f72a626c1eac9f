// The table of replays: filtered, sorted and paged from the columns, 100 rows at a time.
const PAGE = 100;
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
  start() {
    this.table = document.getElementById("replays-table");
    this.input = make("input", { type: "search", placeholder: "model:qwen* outcome:lost_call -normalizer:naive" });
    this.input.setAttribute("aria-label", "Filter replays");
    this.status = make("span", { className: "muted" });
    this.status.setAttribute("role", "status");
    this.facets = make("div", { className: "facets" });
    this.pager = make("nav", { className: "pager" });
    this.pager.setAttribute("aria-label", "Pages of rows");
    const help = make("details", {}, make("summary", {}, "How to filter"), make("p", { className: "muted" },
      "Text, field:value with * and ?, field:a,b for a or b, replays:>99, -field:value to exclude. Fields: ",
      Object.keys(this.data.columns).join(", "), "."));
    document.getElementById("replays-tools").append(help, this.facets);
    const bar = tools(this.table);
    bar.classList.remove("bare");
    bar.append(this.input, this.status);
    this.table.closest(".scroll").after(this.pager);
    this.input.addEventListener("input", () => { write({ q: this.input.value, p: "" }); this.show(read().params); });
    all("th[data-column]", this.table).forEach((head) => headButton(head, () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      write({ sort: `${head.dataset.column}:${down ? "down" : "up"}`, p: "" });
      this.show(read().params);
    }));
  },
  show(params) {
    if (!this.data) return;
    if (!this.input) this.start();
    const text = params.get("q") ?? "";
    if (this.input.value !== text) this.input.value = text;
    const [named, way] = (params.get("sort") ?? "outcome:up").split(":");
    const column = this.data.columns[named] ? named : "outcome";
    const { unknown, found } = select(this.data, text, column, way === "down");
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    const page = Math.min(pages, Math.max(1, Number(params.get("p")) || 1));
    const first = (page - 1) * PAGE;
    this.table.tBodies[0].replaceChildren(...[...found.slice(first, first + PAGE)].map((row) => this.row(row)));
    markSorted(this.table, this.table.querySelector(`th[data-column="${column}"]`), way === "down");
    const noted = unknown.length ? `; unknown field ${unknown.join(", ")}` : "";
    this.status.textContent = `${grouped(found.length)} of ${grouped(this.data.count)} cells${noted}`;
    this.showPager(page, pages);
    this.showFacets(found, text);
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
  showPager(page, pages) {
    const go = (to) => () => { write({ p: to > 1 ? String(to) : "" }); this.show(read().params); this.table.closest(".scroll").scrollIntoView({ block: "nearest" }); };
    const step = (text, to, usable) => button(text, go(to), { disabled: !usable });
    this.pager.hidden = pages < 2;
    this.pager.replaceChildren(step("← Previous", page - 1, page > 1), make("span", {}, `page ${grouped(page)} of ${grouped(pages)}`), step("Next →", page + 1, page < pages));
  },
  showFacets(found, text) {
    const { values, codes } = this.data.columns.outcome;
    const counts = new Uint32Array(values.length);
    for (const row of found) counts[codes[row]] += 1;
    this.facets.replaceChildren(...values.flatMap((value, place) => {
      const term = "outcome:" + value;
      const on = text.split(/\s+/).includes(term);
      if (!counts[place] && !on) return [];
      const next = on ? text.split(/\s+/).filter((each) => each !== term).join(" ") : (text + " " + term).trim();
      const made = button("", () => { write({ q: next, p: "" }); this.show(read().params); });
      made.setAttribute("aria-pressed", String(on));
      made.append(chip(value), " " + grouped(counts[place]));
      return [made];
    }));
  },
};
