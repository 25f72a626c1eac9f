// Two clients on the same bytes: chosen in the address (a, b), different outcomes first.
const MOST_PAIRS = 300;
const pair = {
  start(box) {
    this.names = JSON.parse(box.dataset.names);
    this.selects = ["a", "b"].map((key, at) => {
      const select = make("select", {}, ...this.names.map((name) => make("option", { value: name }, plain(name))));
      select.setAttribute("aria-label", at ? "Second client" : "First client");
      select.addEventListener("change", () => { write({ [key]: select.value }); this.show(read().params); });
      return select;
    });
    this.status = make("span", { className: "muted" });
    this.status.setAttribute("role", "status");
    box.append(this.selects[0], " and ", this.selects[1], " ", this.status);
  },
  show(params) {
    const box = document.getElementById("pair-choice");
    if (!box || !replays.data) return;
    if (!this.selects) this.start(box);
    const [a, b] = ["a", "b"].map((key, at) => (this.names.includes(params.get(key)) ? params.get(key) : this.names[at]));
    [a, b].forEach((name, at) => { this.selects[at].value = name; });
    const table = document.getElementById("pair-table");
    [a, b].forEach((name, at) => { table.tHead.rows[0].cells[at + 1].textContent = plain(name); });
    const { data } = replays;
    const found = new Map();
    for (let row = 0; row < data.count; row += 1) {
      const at = [a, b].indexOf(data.of("normalizer", row));
      if (at < 0 || data.of("outcome", row) === "unsupported") continue;
      const scenario = data.of("scenario", row);
      if (!found.has(scenario)) found.set(scenario, []);
      found.get(scenario)[at] = row;
      if (a === b) found.get(scenario)[1] = row;
    }
    const both = [...found].filter(([, rows]) => rows[0] !== undefined && rows[1] !== undefined);
    const differs = ([, [one, other]]) => (data.of("outcome", one) === data.of("outcome", other) ? 1 : 0);
    const worst = ([, rows]) => Math.min(...rows.map((row) => replays.rank(data.of("outcome", row))));
    both.sort((x, y) => differs(x) - differs(y) || worst(x) - worst(y));
    const apart = both.filter((each) => !differs(each)).length;
    this.status.textContent = `${grouped(apart)} of ${grouped(both.length)} with different outcomes`
      + (both.length > MOST_PAIRS ? `; the first ${MOST_PAIRS} are listed` : "");
    table.tBodies[0].replaceChildren(...both.slice(0, MOST_PAIRS).map(([scenario, rows]) => {
      const input = anchor(scenario).replace(/^case/, "input");
      const cells = rows.map((row) => "#" + anchor(data.cell(row)));
      const to = document.getElementById(input) ? "#" + input : cells[0];
      const ends = rows.map((row, at) => make("td", {}, make("a", { href: cells[at] }, chip(data.of("outcome", row)))));
      return make("tr", {}, make("th", { scope: "row" }, make("a", { href: to }, plain(scenario))), ...ends);
    }));
  },
};
