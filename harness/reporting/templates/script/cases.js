// A case: its neighbours in the list that led to it, and copies of its command, bytes and text.
const BYTES_IN_MARKDOWN = 6_000;
// The list that a case is part of: the rows of a table, the results of a filter, or all cases.
const linksOf = (table, params) => {
  const words = (params.get("q-" + table.dataset.table) ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...table.tBodies[0].rows].filter((row) => words.every((word) => row.textContent.toLowerCase().includes(word)));
  return [...new Set(rows.flatMap((row) => all(CASE_LINK, row).map(routeOf)))];
};
const CASE_LINK = 'a[href^="#case/"]';
const routeOf = (link) => link.hash.slice(1).split(/[?@]/)[0];
const tableOf = (params) => all(`table[data-table="${CSS.escape(params.get("list") ?? "")}"]`).find((each) => !each.closest("details.case"));
const filtered = (data, route, params) => {
  const { found } = chosenRows(data, params);
  const name = nameOf(route);
  return { at: found.findIndex((row) => data.cell(row) === name), total: found.length, link: (to) => anchor(data.cell(found[to])) };
};
const listed = (route, params) => {
  const table = tableOf(params);
  if (!table && replays.data && (params.has("q") || params.has("sort"))) {
    const list = filtered(replays.data, route, params);
    if (list.at >= 0) return list;
  }
  const kind = route.startsWith("input/") ? ".input" : ":not(.input)";
  const links = table ? linksOf(table, params) : all(`section > details.case${kind} > .body`).map((body) => body.id);
  return { at: links.indexOf(route), total: links.length, link: (to) => links[to] };
};
const ofList = (params) => {
  const kept = new URLSearchParams();
  for (const key of ["q", "list", "q-" + params.get("list"), "sort", "theme"]) if (params.get(key)) kept.set(key, params.get(key));
  return kept;
};
// A case that is opened from a table keeps the rows of that table as its list.
const openFromTable = (event) => {
  const link = event.target.closest?.(CASE_LINK);
  const table = link?.closest("table[data-table]");
  if (!table || table.closest("details.case") || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const { params } = read();
  params.set("list", table.dataset.table);
  location.hash = place(link.hash.slice(1), null, ofList(params));
};
addEventListener("click", openFromTable);
// A row of the failures opens its case, wherever it is clicked.
addEventListener("click", (event) => {
  const row = event.target.closest?.("table.opens tbody tr");
  if (row && !event.target.closest("a, button") && !getSelection().toString()) row.querySelector(CASE_LINK)?.click();
});
const turnCase = (way) => {
  const { route, params } = read();
  const { at, total, link } = listed(route, params);
  const to = at < 0 ? 0 : at + way;
  if (to >= 0 && to < total) leave(place(link(to), null, ofList(params)));
};
const back = make("div", { className: "back" });
back.setAttribute("role", "navigation");
back.setAttribute("aria-label", "List of this case");
const showBack = (section, route, params) => {
  const { at, total } = listed(route, params);
  const page = tableOf(params)?.closest("main > section");
  const title = page?.querySelector("h1, h2").textContent ?? (params.has("q") ? "Filtered results" : "Results");
  const list = make("a", { href: place(page?.id ?? "replays", null, ofList(params)) }, "← " + title);
  const move = (text, way, usable) => button(text, () => turnCase(way), { disabled: !usable });
  back.replaceChildren(list, ...(page?.id === "failures" ? [] : [make("a", { href: "#failures" }, "Failures")]), make("a", { href: "#clients" }, "Compare clients"));
  if (at >= 0 && total > 1) {
    back.append(move("← Previous", -1, at > 0), make("span", {}, `${grouped(at + 1)} of ${grouped(total)}`), move("Next →", 1, at + 1 < total));
  }
  section.prepend(back);
};
const packedBytes = async (body) => {
  const packed = body.querySelector(".axis")?.dataset.body;
  return packed ? new Uint8Array(await unpack(packed)) : null;
};
// Text is copied as it is. Bytes that a clipboard would change are copied in base64.
const copiedBytes = async (body) => {
  const bytes = await packedBytes(body);
  try {
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!content.includes("\0")) return { content };
  } catch { /* not UTF-8 */ }
  return { content: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")), note: "Copied as base64" };
};
const sourceLinks = (finding) => all("a[rel=noreferrer]", finding).map((link) => link.href)
  .filter((href) => /^https:\/\/[^\s<>]+$/.test(href)).map((href) => `<${href}>`).join(" ");
const findingAsMarkdown = (finding) => {
  const [rule, path] = all("p code", finding).map((code) => inCode(flat(code)));
  const values = Object.fromEntries(all("dt", finding).map((dt) => [flat(dt), dt.nextElementSibling]));
  const duty = values.duty ? escaped(flat(values.duty)) + "\n\n" : "";
  const links = sourceLinks(finding);
  return `${rule} ${flat(finding.querySelector(".tag"))} at ${path}\n\n${duty}${links ? `Sources: ${links}\n\n` : ""}`
    + `Expected:\n\n${inBlock(wireText(values.expected))}\n\nActual:\n\n${inBlock(wireText(values.actual))}`;
};
const caseAsMarkdown = async (body) => {
  const title = body.closest("details")?.querySelector("summary") ?? body.querySelector("h2");
  const name = title.querySelector(".cell") ?? title;
  const chip = title.querySelector(".chip");
  const parts = [`### ${chip ? escaped(flat(chip)) + " " : ""}${inCode(flat(name))}`];
  for (const each of all(":scope > .lead, :scope > .reason", body)) if (flat(each)) parts.push(escaped(flat(each)));
  const command = body.querySelector(".command");
  if (command) parts.push("**Reproduce**", inBlock(command.textContent, "sh"));
  const facts = all(":scope > .facts > dt", body).filter((dt) => !dt.nextElementSibling.querySelector(".command"));
  if (facts.length) parts.push(facts.map((dt) => `- ${escaped(flat(dt))}: ${escaped(flat(dt.nextElementSibling))}`).join("\n"));
  const findings = all(".finding", body);
  if (findings.length) parts.push("**Findings**", ...findings.map(findingAsMarkdown));
  const turn = body.querySelector("table.diff");
  if (turn) parts.push("**Expected and actual**", tableAsMarkdown(turn));
  for (const each of all(".trace", body)) parts.push(`**${escaped(flat(each.previousElementSibling))}**`, inBlock(wireText(each)));
  const bytes = await packedBytes(body);
  if (bytes) {
    const text = new TextDecoder().decode(bytes.subarray(0, BYTES_IN_MARKDOWN));
    const most = bytes.length > BYTES_IN_MARKDOWN ? `, the first ${grouped(BYTES_IN_MARKDOWN)}` : "";
    parts.push(`**${grouped(bytes.length)} bytes**${most}`, inBlock(text.split("\n").map(plain).join("\n")));
  }
  return parts.join("\n\n") + "\n";
};
const readyCase = (body) => {
  if (readied.has(body)) return;
  readied.add(body);
  const bar = make("div", { className: "tools" }, ...finder(body));
  const command = body.querySelector(".command");
  if (command) bar.append(copyButton(() => command.textContent, "Copy command"));
  if (body.id.startsWith("case/")) bar.append(copyButton(() => caseAsMarkdown(body)));
  if (body.querySelector(".axis")?.dataset.body) bar.append(copyButton(() => copiedBytes(body), "Copy bytes"));
  body.prepend(bar);
};
