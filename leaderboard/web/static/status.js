// Looks again at a run until it is scored, then, more slowly, until its intervals are there; loads the page anew each time.
// The site may keep an answer back until there is news: that time counts as the wait for it.
"use strict";
(() => {
  const part = document.querySelector("[data-progress]");
  if (!part) return;
  const awaited = part.querySelector("[data-awaits]").dataset.awaits;
  const [shortest, longest] = awaited === "scores" ? [1000, 10000] : [5000, 30000]; // milliseconds
  let wait = shortest;

  const look = async () => {
    const began = Date.now();
    // A browser has few connections to a site: pages in the background hold none.
    const waits = awaited === "scores" && !document.hidden ? "?wait=yes" : "";
    try {
      const answer = await fetch(part.dataset.progress + waits, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const html = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = html.querySelector("[data-state]");
      if (next.dataset.awaits !== awaited) { location.reload(); return; }
      const now = part.querySelector("[data-state]");
      if (now.textContent !== next.textContent) { // a screen reader speaks only of what changed
        now.replaceWith(next);
        wait = shortest;
      }
    } catch { /* the site may be restarting: look again later */ }
    const rest = wait - (Date.now() - began);
    if (rest > 0) wait = Math.min(wait * 1.3, longest);
    setTimeout(look, Math.max(500, rest));
  };
  look();
})();
