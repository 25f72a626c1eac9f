// The filter language: text, field:value, field:a,b, field:glo*, field:>3, -not:this, "quoted words".
const TOKEN = /(-?)(?:([a-z_]+):)?(?:"([^"]*)"|(\S+))/g;
const glob = (text) => new RegExp("^" + text.split(/([*?])/).map((part) =>
  part === "*" ? ".*" : part === "?" ? "." : part.replace(/[\\^$.|+()[\]{}/]/g, "\\$&")).join("") + "$", "isu");
const NUMBER = /^(>=|<=|>|<|=)?(\d+)$/;
const COMPARE = { ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "=": (a, b) => a === b };
const tester = (values, text) => {
  if (typeof values[0] === "number") {
    const [, sign, number] = NUMBER.exec(text) ?? [];
    return number === undefined ? () => false : (value) => COMPARE[sign ?? "="](value, Number(number));
  }
  const pattern = glob(text);
  return (value) => (Array.isArray(value) ? value.some((each) => pattern.test(each)) : pattern.test(value));
};
// Tests each different value once; a row then costs one look-up.
const hits = ({ values, codes }, test) => {
  const flags = Uint8Array.from(values, (value) => (test(value) ? 1 : 0));
  return (row) => flags[codes[row]];
};
const WORDS_IN = ["scenario", "normalizer", "title", "cassette"];
// A cell as the tool prints it: an id, an item of pytest, or a link to its page.
const pastedCell = (text) => {
  const bare = text.trim().replace(/^.*#?case\//, "").replace(/@\d+$/, "").replace(/::(?=[^:/]+$)/, "/");
  try { return decodeURIComponent(bare); } catch { return bare; }
};
const matcher = (data, text) => {
  const cell = text.includes("/") && !/\s/.test(text.trim()) ? findRow(data, pastedCell(text)) : -1;
  if (cell >= 0) return { unknown: [], matches: (row) => row === cell };
  const terms = [];
  const unknown = [];
  for (const [, not, field, quoted, bare] of text.matchAll(TOKEN)) {
    const value = quoted ?? bare;
    let term;
    if (field && data.columns[field]) {
      const column = data.columns[field];
      const any = (quoted === undefined ? value.split(",") : [value]).filter(Boolean).map((each) => tester(column.values, each));
      term = hits(column, (each) => any.some((test) => test(each)));
    } else {
      if (field) unknown.push(field);
      const word = ((field ? field + ":" : "") + value).toLowerCase();
      const looks = WORDS_IN.map((name) => hits(data.columns[name], (each) => each.toLowerCase().includes(word)));
      term = (row) => looks.some((look) => look(row));
    }
    terms.push(not ? (row) => !term(row) : term);
  }
  return { unknown, matches: (row) => terms.every((term) => term(row)) };
};
const select = (data, text, column, down) => {
  const { unknown, matches } = matcher(data, text);
  const found = [];
  for (let row = 0; row < data.count; row += 1) if (matches(row)) found.push(row);
  return { unknown, found: ordered(data, found, column, down) };
};
// A stable sort by code: values are sorted already, so codes are ranks.
const ordered = (data, found, column, down) => {
  const { values, codes } = data.columns[column];
  const starts = new Uint32Array(values.length + 1);
  const rank = down ? (code) => values.length - 1 - code : (code) => code;
  for (const row of found) starts[rank(codes[row]) + 1] += 1;
  for (let at = 1; at < starts.length; at += 1) starts[at] += starts[at - 1];
  const out = new Uint32Array(found.length);
  for (const row of found) out[starts[rank(codes[row])]++] = row;
  return out;
};
