// A case: its neighbours in the list that led to it, and copies of its command, bytes and text.
const BYTES_IN_MARKDOWN = 6_000;
// The list that a case is part of: the rows of the filter in the link, else the cases of the page.
const listed = (route, params) => {
  const { data } = replays;
  if (data && (params.has("q") || params.has("sort"))) {
    const [named, way] = (params.get("sort") ?? "outcome:up").split(":");
    const column = data.columns[named] ? named : "outcome";
    const { found } = select(data, params.get("q") ?? "", column, way === "down");
    const name = nameOf(route);
    const at = found.findIndex((row) => data.cell(row) === name);
    if (at >= 0) return { at, total: found.length, link: (to) => anchor(data.cell(found[to])) };
  }
  const page = route.startsWith("input/") ? "inputs" : "cases";
  const cases = all(`#${page} > details.case > .body`).map((body) => body.id);
  return { at: cases.indexOf(route), total: cases.length, link: (to) => cases[to] };
};
const ofList = (params) => {
  const kept = new URLSearchParams();
  for (const key of ["q", "sort", "theme"]) if (params.get(key)) kept.set(key, params.get(key));
  return kept;
};
const turnCase = (way) => {
  const { route, params } = read();
  const { at, total, link } = listed(route, params);
  const to = at < 0 ? 0 : at + way;
  if (to >= 0 && to < total) location.hash = place(link(to), null, ofList(params));
};
const back = make("div", { className: "back" });
back.setAttribute("role", "navigation");
back.setAttribute("aria-label", "List of this case");
const showBack = (section, route, params) => {
  const { at, total } = listed(route, params);
  const list = make("a", { href: place("replays", null, ofList(params)) }, params.has("q") ? "← Filtered results" : "← Results");
  const move = (text, way, usable) => button(text, () => turnCase(way), { disabled: !usable });
  back.replaceChildren(list, make("a", { href: "#failures" }, "Failures"), make("a", { href: "#inputs" }, "Side by side"));
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
