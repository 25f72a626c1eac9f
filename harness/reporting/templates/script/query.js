// The filter language: text, field:value, field:a,b, field:glo*, field:>3, -not:this, "quoted words".
const TOKEN = /(-?)(?:([a-z_]+):)?((?:"[^"]*"|[^\s"])+)/g;
const PART = /"([^"]*)"|([^,"]+)/g;
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
  return (row) => flags[codes[row]] === 1;
};
const WORDS_IN = ["scenario", "normalizer", "title", "cassette"];
// A cell as the tool prints it: an id, an item of pytest, or a link to its page.
const pastedCell = (text) => {
  const bare = text.trim().replace(/^.*#?case\//, "").replace(/@\d+$/, "").replace(/::(?=[^:/]+$)/, "/");
  try { return decodeURIComponent(bare); } catch { return bare; }
};
const valuesOf = (text) => [...text.matchAll(PART)].map(([, quoted, bare]) => quoted ?? bare);
// Parses a query into terms: the text as written, its field and values, and which rows it matches.
const parseQuery = (data, text) => {
  const cell = text.includes("/") && !/\s/.test(text.trim()) ? findRow(data, pastedCell(text)) : -1;
  if (cell >= 0) return [{ text, field: "", values: [], matches: (row) => row === cell }];
  return [...text.matchAll(TOKEN)].map(([raw, not, field = "", value]) => {
    const column = Object.hasOwn(data.columns, field) ? data.columns[field] : null;
    const term = { text: raw, not: Boolean(not), field: column ? field : "", unknown: column ? "" : field, values: valuesOf(value) };
    let found;
    if (column) {
      const any = term.values.map((each) => tester(column.values, each));
      found = hits(column, (each) => any.some((test) => test(each)));
    } else {
      const word = ((field ? field + ":" : "") + value.replaceAll('"', "")).toLowerCase();
      const looks = WORDS_IN.map((name) => hits(data.columns[name], (each) => each.toLowerCase().includes(word)));
      found = (row) => looks.some((look) => look(row));
    }
    term.matches = not ? (row) => !found(row) : found;
    return term;
  });
};
const rowsOf = (data, terms) => {
  const found = [];
  for (let row = 0; row < data.count; row += 1) if (terms.every((term) => term.matches(row))) found.push(row);
  return found;
};
// The rows that the parameters of a link choose, in their order.
const chosenRows = (data, params) => {
  const [named, way] = (params.get("sort") ?? "outcome:up").split(":");
  const column = Object.hasOwn(data.columns, named) ? named : "outcome";
  const terms = parseQuery(data, params.get("q") ?? "");
  return { terms, column, down: way === "down", found: ordered(data, rowsOf(data, terms), column, way === "down") };
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
// How often each value of a field occurs in rows, the most frequent first.
const valueCounts = (data, field, rows) => {
  const { values, codes } = data.columns[field];
  const counts = new Map();
  const byCode = new Uint32Array(values.length);
  for (const row of rows) byCode[codes[row]] += 1;
  byCode.forEach((count, code) => {
    if (!count) return;
    for (const each of [values[code]].flat()) counts.set(each, (counts.get(each) ?? 0) + count);
  });
  return counts;
};
const asTerm = (field, values) => field + ":" + values.map((each) => (/[\s,"]/.test(each) ? `"${String(each).replaceAll('"', "?")}"` : each)).join(",");
// The query with `value` of `field` added to its alternatives, or removed from them.
const toggled = (terms, field, value) => {
  const own = terms.find((term) => term.field === field && !term.not);
  const values = own?.values ?? [];
  const next = values.includes(value) ? values.filter((each) => each !== value) : [...values, value];
  const others = terms.filter((term) => term !== own).map((term) => term.text);
  return [...others, ...(next.length ? [asTerm(field, next)] : [])].join(" ");
};
// The number of changed, added and removed characters between two words.
const distance = (one, other) => {
  let above = [...Array(other.length + 1).keys()];
  for (let i = 1; i <= one.length; i += 1) {
    const here = [i];
    for (let j = 1; j <= other.length; j += 1) {
      here.push(Math.min(above[j] + 1, here[j - 1] + 1, above[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)));
    }
    above = here;
  }
  return above[other.length];
};
const MOST_COMPARED = 2000;
const nearest = (text, names) => {
  const word = text.toLowerCase().replace(/[*?]/g, "").slice(0, 60);
  const scored = names.slice(0, MOST_COMPARED).map((name) => {
    const other = name.toLowerCase();
    return [word && (other.includes(word) || word.includes(other)) ? 0.5 : distance(word, other.slice(0, 60)), name];
  });
  scored.sort(([a], [b]) => a - b);
  return scored.filter(([score]) => score <= Math.max(3, word.length / 2)).slice(0, 3).map(([, name]) => name);
};
// Why a query matches no cell: [sentence, [query, label] that do match...] for each reason.
const explainEmpty = (data, terms) => {
  const without = (term) => terms.filter((each) => each !== term);
  const query = (list) => list.map((each) => each.text).join(" ");
  const replaced = (term, text) => query(terms.map((each) => (each === term ? { text } : each)));
  const dead = terms.filter((term) => !rowsOf(data, [term]).length);
  const reasons = dead.map((term) => {
    const sign = term.not ? "-" : "";
    if (term.unknown) {
      const names = nearest(term.unknown, Object.keys(data.columns));
      return [`“${term.unknown}” is not a field.`, ...names.map((name) => [replaced(term, sign + asTerm(name, term.values)), `${name}:`])];
    }
    if (!term.field) return [`No cell has the text “${term.text}” in its id, normalizer, title or cassette.`];
    const known = [...new Set(data.columns[term.field].values.flat())].map(String);
    const names = nearest(term.values[0] ?? "", known);
    return [`No cell has ${term.text}.`, ...(names.length ? names : known.slice(0, 3)).map((name) => [replaced(term, sign + asTerm(term.field, [name])), asTerm(term.field, [name])])];
  });
  if (dead.length) return [...reasons, ...dead.slice(0, 1).map((term) => ["", [query(without(term)), `without ${term.text}`]]).filter(() => terms.length > 1)];
  return terms.flatMap((term) => {
    const rest = rowsOf(data, without(term));
    if (!rest.length) return [];
    const others = term.field && !term.not ? [...valueCounts(data, term.field, rest)].sort(([, a], [, b]) => b - a).slice(0, 3) : [];
    return [[`${term.text} excludes all ${grouped(rest.length)} that match the rest:`, [query(without(term)), `without it, ${grouped(rest.length)}`],
      ...others.map(([value, count]) => [replaced(term, asTerm(term.field, [value])), `${asTerm(term.field, [value])}, ${grouped(count)}`])]];
  });
};
