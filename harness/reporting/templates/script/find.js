// Search inside a case: matches are marked, Enter goes to the next, Shift and Enter to the one before.
const MOST_FOUND = 1_000;
const BLOCKS = "td, th, dd, dt, p, li, h4, summary, .trace";
const NOT_SEARCHED = ".tools, .tick, .gap, .vh, .stepper, svg";
// The text of each block with its nodes, so that a match may cross the marks inside a block.
const searched = (body) => {
  const blocks = new Map();
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest(NOT_SEARCHED)) continue;
    const key = node.parentElement.closest(BLOCKS) ?? body;
    if (!blocks.has(key)) blocks.set(key, []);
    blocks.get(key).push(node);
  }
  return blocks.values();
};
const pointAt = (nodes, offset, isEnd) => {
  let start = 0;
  for (const node of nodes) {
    const end = start + node.length;
    if (offset < end || (isEnd && offset === end)) return [node, offset - start];
    start = end;
  }
  return [nodes.at(-1), nodes.at(-1).length];
};
const findIn = (body, text) => {
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace(/\s+/g, "\\s+"), "gi");
  const found = [];
  for (const nodes of text ? searched(body) : []) {
    const whole = nodes.map((node) => node.data).join("");
    for (const match of whole.matchAll(pattern)) {
      if (found.length >= MOST_FOUND) return found;
      const range = document.createRange();
      range.setStart(...pointAt(nodes, match.index, false));
      range.setEnd(...pointAt(nodes, match.index + match[0].length, true));
      found.push(range);
    }
  }
  return found;
};
const marks = (name, ranges) => {
  if (typeof Highlight === "undefined") {
    if (name === "current") { getSelection().removeAllRanges(); for (const range of ranges) getSelection().addRange(range); }
    return;
  }
  if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges)); else CSS.highlights.delete(name);
};
const finders = new WeakMap();
const finder = (body) => {
  const input = make("input", { type: "search", placeholder: "Find in this case" });
  input.setAttribute("aria-label", "Find in this case");
  const status = make("span", { className: "muted" });
  status.setAttribute("role", "status");
  let found = [];
  let at = 0;
  const go = (to) => {
    if (!found.length) return;
    at = (to + found.length) % found.length;
    const parent = found[at].startContainer.parentElement;
    for (let each = parent.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
    parent.scrollIntoView({ block: "center" });
    marks("current", [found[at]]);
    status.textContent = `${grouped(at + 1)} of ${grouped(found.length)}${found.length === MOST_FOUND ? " or more" : ""}`;
  };
  const look = (text) => {
    input.value = text;
    found = findIn(body, text.trim());
    marks("found", found);
    marks("current", []);
    status.textContent = text.trim() ? "no match" : "";
    go(0);
  };
  input.addEventListener("input", () => { look(input.value); write({ find: input.value }); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); go(at + (event.shiftKey ? -1 : 1)); }
    if (event.key === "Escape") { look(""); write({ find: "" }); input.blur(); }
  });
  finders.set(body, look);
  return [input, status];
};
