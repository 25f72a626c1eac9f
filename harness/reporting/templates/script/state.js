// The hash has the entire state: #page, #case/CELL, #case/CELL@BYTE, then ?key=value&...
const root = document.documentElement;
root.classList.add("js");
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const make = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const button = (text, act, properties = {}) => {
  const made = make("button", { type: "button", ...properties }, text);
  made.addEventListener("click", act);
  return made;
};
const grouped = (number) => number.toLocaleString("en-US");

const read = () => {
  const hash = location.hash.slice(1);
  const mark = hash.indexOf("?");
  const place = mark < 0 ? hash : hash.slice(0, mark);
  const at = /@(\d{1,15})$/.exec(place);
  return {
    route: (at ? place.slice(0, at.index) : place) || "overview",
    byte: at ? Number(at[1]) : null,
    params: new URLSearchParams(mark < 0 ? "" : hash.slice(mark + 1)),
  };
};
const place = (route, byte, params) => {
  const query = params.toString().replaceAll("+", "%20");
  return "#" + route + (byte === null ? "" : "@" + byte) + (query ? "?" + query : "");
};
// Changes the address without a step in the history: nothing was visited.
const write = (change, byte = read().byte) => {
  const { route, params } = read();
  for (const [key, value] of Object.entries(change)) {
    if (value) params.set(key, value); else params.delete(key);
  }
  history.replaceState(history.state, "", place(route, byte, params));
};
// Each step of the history keeps how far it was scrolled and which link was left, for the way back.
history.scrollRestoration = "manual";
const remember = (left = history.state?.left ?? "") => history.replaceState({ y: scrollY, left }, "");
const leave = (hash) => { remember(hash); location.hash = hash; };
const memory = {
  get: (key) => { try { return localStorage.getItem("harness-" + key); } catch { return null; } },
  set: (key, value) => { try { localStorage.setItem("harness-" + key, value); } catch { /* not allowed here */ } },
};

// Invisible characters are shown by their code, as on the rest of the page.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufe00-\ufe0f]/gu;
const plain = (text) => text.replace(UNSEEN, (char) => {
  const code = char.codePointAt(0);
  return code < 32 || code === 127
    ? "\\x" + code.toString(16).toUpperCase().padStart(2, "0")
    : "U+" + code.toString(16).toUpperCase().padStart(4, "0");
});
// The same links as `harness.reporting.report.anchor` returns.
const SAFE = { "%2F": "/", "%3A": ":", "%24": "$", "%2C": ",", "%3B": ";" };
const anchor = (cell) => "case/" + encodeURIComponent(cell.toWellFormed?.() ?? cell)
  .replace(/%(2F|3A|24|2C|3B)/g, (code) => SAFE[code])
  .replace(/['()]/g, (char) => "%" + char.charCodeAt(0).toString(16).toUpperCase());
const nameOf = (route) => { try { return decodeURIComponent(route.slice(route.indexOf("/") + 1)); } catch { return ""; } };
