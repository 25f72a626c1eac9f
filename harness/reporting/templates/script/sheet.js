// The page of a cell whose bytes are not part of this file: its facts, and the replay command.
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\"'\"'") + "'");
const sheet = (section, route) => {
  const { data } = replays;
  const name = nameOf(route);
  const row = data ? findRow(data, name) : -1;
  section.replaceChildren(make("h2", {}, plain(name)));
  if (row < 0) {
    section.append(make("p", { className: "empty" }, data ? missingCell(data) : "Loading."));
    if (data) section.append(make("p", {}, make("a", { href: "#replays?q=" + encodeURIComponent(nameOf("x/" + name.split(/[/:]+/).at(-2)) || name) }, "Search the results"), "."));
    return;
  }
  const of = (column) => data.of(column, row);
  const command = ["harness replay", quoted(name), section.dataset.suffix].filter(Boolean).join(" ");
  const facts = make("dl", { className: "facts" });
  const fact = (term, ...value) => facts.append(make("dt", {}, term), make("dd", {}, ...value));
  fact("Outcome", ...outcomeOf(of));
  fact(of("kind") === "conversation" ? "Agent" : "Normalizer", plain(of("normalizer")));
  if (of("success") === "no") fact("Turn", make("strong", {}, "failed"), `, blame ${of("failed").join(", ") || "none"}: ${of("why").map(plain).join("; ")}`);
  fact("Blame", of("blame") || of("failed").join(", ") || "none");
  if (of("cause")) fact("Cause", plain(of("cause")));
  fact("Violated rules", of("rule").map(plain).join(", ") || "none");
  fact("Not judged", of("unjudged").map(plain).join(", ") || "nothing");
  fact("Cassette", make("code", {}, plain(of("cassette"))), ` ${of("origin")}`);
  fact("Model, prompt", plain(`${of("provider")} / ${of("model")}, ${of("prompt")}, ${of("dialect")}`));
  fact("Quirks", of("quirk").map(plain).join(", ") || "none cited");
  fact("Replays", grouped(of("replays")));
  fact("Replay command", make("code", { className: "command" }, command));
  const same = keptCase(data, row);
  if (same) fact("Expected and actual", "of the same cause, with bytes: ", make("a", { href: "#" + anchor(same), className: "cell" }, plain(same)));
  section.append(make("p", { className: "lead" }, plain(of("title"))), facts,
    make("p", { className: "notice" }, "This file has the bytes of the first cells of each cause and of each reason for a failed turn only. The replay command shows the bytes of this cell."));
  section.append(make("div", { className: "tools" }, copyButton(() => caseAsMarkdown(section))));
};
// A cell of the same client and cause whose bytes are part of this file; "" if there is none.
const keptCase = (data, row) => {
  const cause = data.of("cause", row);
  const alike = (other) => data.of("cause", other) === cause && data.of("normalizer", other) === data.of("normalizer", row);
  for (let other = 0; cause && other < data.count; other += 1) {
    if (alike(other) && document.getElementById(anchor(data.cell(other)))) return data.cell(other);
  }
  return "";
};
const missingCell = (data) => (data.leftOut
  ? "This file has no cell with this name: it leaves out the cells of this large run that did not fail. "
  : "This run has no cell with this name. The link may be of another run. ");
const findRow = (data, name) => {
  for (let row = 0; row < data.count; row += 1) if (data.cell(row) === name) return row;
  return -1;
};
