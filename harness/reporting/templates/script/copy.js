// Copy as Markdown: the table as sorted and filtered, or a case with facts, findings and command.
const toClipboard = async (text) => {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* fall back to execCommand */ }
  const area = make("textarea", { value: text });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
};
const copyButton = (text) => {
  const made = button("Copy as Markdown", async () => {
    const done = await toClipboard(text());
    made.textContent = done ? "Copied" : "Not allowed here";
    setTimeout(() => { made.textContent = "Copy as Markdown"; }, 1500);
  }, { className: "copy" });
  return made;
};
const escaped = (text) => text.replace(/[\\`*_[\]|~<>&#]/g, (char) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;" })[char] ?? "\\" + char);
const flat = (node) => {
  const copy = node.cloneNode(true);
  for (const each of all(".vh, title", copy)) each.remove();
  for (const each of all("br, p, li, div, small", copy)) each.before(" ");
  return copy.textContent.replace(/\s+/g, " ").trim();
};
const line = (cells) => "| " + cells.join(" | ") + " |";
const tableAsMarkdown = (table) => {
  const head = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  return [
    line(head.map((cell) => escaped(flat(cell)))),
    line(head.map((cell) => (cell.classList.contains("n") ? "---:" : "---"))),
    ...rows.map((row) => line([...row.cells].map((cell) => escaped(flat(cell))))),
  ].join("\n") + "\n";
};
const caseAsMarkdown = (body) => {
  const facts = all(":scope > .facts > dt", body).map((dt) => {
    const value = flat(dt.nextElementSibling);
    return dt.nextElementSibling.querySelector(".command") ? `- ${flat(dt)}: \`${value}\`` : `- ${flat(dt)}: ${escaped(value)}`;
  });
  const findings = all(".finding", body).map((each) => "- " + escaped(flat(each)));
  const diff = body.querySelector("table.diff");
  const title = body.closest("details")?.querySelector("summary") ?? body.querySelector("h2");
  const parts = ["### " + escaped(flat(title)), escaped(flat(body.querySelector(".lead") ?? title)), facts.join("\n")];
  if (findings.length) parts.push("Findings:\n\n" + findings.join("\n"));
  if (diff) parts.push(tableAsMarkdown(diff));
  return parts.join("\n\n") + "\n";
};
