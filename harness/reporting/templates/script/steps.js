// Stepping through a case: one byte position, drawn across all lanes and marked in all tables.
const steppers = new WeakMap();
const stepper = (body) => {
  if (steppers.has(body)) return steppers.get(body);
  const axis = body.querySelector(".axis[data-size]");
  const made = axis ? makeStepper(body, axis) : null;
  steppers.set(body, made);
  return made;
};
const makeStepper = (body, axis) => {
  const size = Number(axis.dataset.size);
  const divergence = axis.dataset.divergence === undefined ? null : Number(axis.dataset.divergence);
  const reads = axis.dataset.reads.split(" ").filter(Boolean).map(Number);
  const frames = all("table.frames tr[data-start]", body);
  const sides = all("table.deltas", body).map((table) => all("tr[data-at]", table));
  const places = [0, size, ...reads, ...frames.map((row) => Number(row.dataset.start)), ...sides.flat().map((row) => Number(row.dataset.at))];
  const steps = [...new Set(places)].filter((each) => each <= size).sort((a, b) => a - b);
  const cursors = all("svg", axis).map((svg) => {
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
    cursor.setAttribute("class", "cursor");
    svg.append(cursor);
    return cursor;
  });
  const slider = make("input", { type: "range", min: 0, max: size, step: 1 });
  slider.setAttribute("aria-label", "Byte");
  const status = make("output", {});
  const self = { at: null, divergence, steps };
  const mark = (rows, found) => {
    for (const row of rows) row.classList.toggle("now", row === found);
    reveal(found);
  };
  const reveal = (found) => {
    const box = found?.closest(".scroll");
    if (!box) return;
    const above = found.offsetTop - box.scrollTop;
    const head = found.closest("table").tHead?.offsetHeight ?? 0;
    if (above < head + 24 || above + found.offsetHeight > box.clientHeight) box.scrollTop = found.offsetTop - head - 48;
  };
  self.to = (byte, tell = true) => {
    const at = Math.min(size, Math.max(0, byte));
    self.at = at;
    body.classList.add("stepped");
    const x = (at / Math.max(size, 1)) * 1000;
    for (const cursor of cursors) cursor.setAttribute("d", `M${x} -2V16`);
    slider.value = at;
    const frame = frames.findLast((row) => Number(row.dataset.start) <= at && (at < Number(row.dataset.end) || at === size));
    mark(frames, frame ?? null);
    const counts = sides.map((rows) => {
      mark(rows, rows.findLast((row) => Number(row.dataset.at) <= at) ?? null);
      return rows.filter((row) => Number(row.dataset.at) <= at).length;
    });
    const ended = reads.filter((each) => each <= at).length;
    status.textContent = `byte ${grouped(at)} of ${grouped(size)}` + (reads.length ? `, ${grouped(ended)} of ${grouped(reads.length + 1)} reads ended` : "") + `; deltas so far: ${counts.join(" and ")}`;
    if (tell) write({}, at);
  };
  self.step = (way) => {
    const here = self.at ?? (way > 0 ? -1 : size + 1);
    const next = way > 0 ? steps.find((each) => each > here) : steps.findLast((each) => each < here);
    if (next !== undefined) self.to(next);
  };
  self.diverge = () => { if (divergence !== null) self.to(divergence); };
  slider.addEventListener("input", () => self.to(Number(slider.value)));
  const controls = make("div", { className: "stepper" },
    button("← Step", () => self.step(-1)), button("Step →", () => self.step(1)),
    ...(divergence === null ? [] : [button("◆ First divergence", () => self.diverge())]),
    slider, status);
  controls.setAttribute("role", "group");
  controls.setAttribute("aria-label", "Step through the stream");
  axis.after(controls);
  // The panes begin at the failure.
  const failing = frames.find((row) => divergence !== null && divergence < Number(row.dataset.end));
  for (const pane of all(".panes > .stream", body)) reveal(pane.querySelector(".noted, .diverges") ?? (pane.contains(failing) ? failing : null));
  slider.value = 0;
  status.textContent = `${grouped(steps.length)} steps: ends of reads, starts of frames, deltas`;
  return self;
};
