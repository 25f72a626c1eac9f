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
const copied = async (made, text) => {
  const title = made.textContent;
  const found = await text();
  const { content, note = "Copied" } = typeof found === "string" ? { content: found } : found;
  made.textContent = (await toClipboard(content)) ? note : "Not allowed here";
  setTimeout(() => { made.textContent = title; }, 1500);
};
const copyButton = (text, title = "Copy as Markdown") => {
  const made = button(title, () => copied(made, text), { className: "copy" });
  return made;
};
// As `markdown_escaped` does: no character of the text creates markup, a mention or a link.
const SIGNS = { "<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;", "#": "&#35;", "!": "&#33;", "$": "&#36;" };
const asCodes = (text) => Array.from(text, (char) => `&#${char.codePointAt(0)};`).join("");
const escaped = (text) => text
  .replace(/[\\`*_[\]|~<>&@#!$]/g, (char) => SIGNS[char] ?? "\\" + char)
  .replace(/:\/\/|www\./gi, asCodes)
  .replace(/^( +|[-+](?=\s|$)|[-=](?=[-=\s]*$)|\d{1,9}(?=[.)](\s|$)))/, asCodes);
const longestTicks = (text) => Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
const inCode = (text) => {
  const fence = "`".repeat(longestTicks(text) + 1);
  const pad = fence.length > 1 || !text || text.startsWith(" ") ? " " : "";
  return fence + pad + text + pad + fence;
};
const inBlock = (text, language = "text") => {
  const fence = "`".repeat(Math.max(3, longestTicks(text) + 1));
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
};
const flat = (node) => {
  const copy = node.cloneNode(true);
  for (const each of all(".vh, title", copy)) each.remove();
  for (const each of all("br, p, li, div, small, dt, dd", copy)) each.before(" ");
  return copy.textContent.replace(/\s+/g, " ").trim();
};
// The text of a stream as shown, without the marks of reads; a line end is one.
const wireText = (node) => {
  const copy = node.cloneNode(true);
  for (const each of all(".tick", copy)) each.remove();
  return copy.textContent.replaceAll("␊\n", "\n").trim();
};
const line = (cells) => "| " + cells.join(" | ") + " |";
const tableAsMarkdown = (table) => {
  const head = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const wide = (cell) => [escaped(flat(cell)), ...Array(cell.colSpan - 1).fill("")];
  return [
    line(head.map((cell) => escaped(flat(cell)))),
    line(head.map((cell) => (cell.classList.contains("n") ? "---:" : "---"))),
    ...rows.map((row) => line([...row.cells].flatMap(wide))),
  ].join("\n") + "\n";
};
