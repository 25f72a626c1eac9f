// A live page asks its server for a newer version, reloads, and keeps the scroll position.
const LIVE_SECONDS = 2;
const watch = () => {
  if (!("live" in root.dataset)) return;
  const kept = sessionStorage.getItem("harness-scroll");
  if (kept !== null) { sessionStorage.removeItem("harness-scroll"); scrollTo(0, Number(kept)); }
  const first = document.getElementById("live");
  let version = null;
  const ask = async () => {
    try {
      const answer = await fetch("/version", { cache: "no-store" });
      const now = await answer.text();
      if (version !== null && now !== version && !document.activeElement?.closest("input")) {
        sessionStorage.setItem("harness-scroll", String(scrollY));
        location.reload();
        return;
      }
      version ??= now;
    } catch { first.textContent = "The server of this page has stopped. The page is not updated any more."; return; }
    setTimeout(ask, LIVE_SECONDS * 1000);
  };
  ask();
};
