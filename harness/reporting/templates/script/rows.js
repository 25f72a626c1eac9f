// The columns that `harness.reporting.pages.replays` wrote: base64, deflated, dictionary-coded.
const ARRAYS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };
const unpack = async (text) => {
  const packed = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
};
const decode = (buffer) => {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const aligned = (place) => Math.ceil(place / 4) * 4;
  let at = aligned(4 + length);
  const columns = {};
  for (const { name, values, bytes } of head.columns) {
    columns[name] = { values, codes: new ARRAYS[bytes](buffer, at, head.count) };
    at = aligned(at + head.count * bytes);
  }
  const of = (name, row) => columns[name].values[columns[name].codes[row]];
  return {
    count: head.count,
    leftOut: head.total - head.count,
    columns,
    of,
    cell: (row) => head.odd[row] ?? of("scenario", row) + "/" + of("normalizer", row),
  };
};
