// Light or dark, as chosen here, else as the system says. Runs in the head, so that no page flashes in the wrong one.
// And the date on a printed page, which the server doesn't know.
"use strict";
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try { return localStorage.getItem("theme"); } catch { return null; } // storage may be switched off
  };
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

  if (["light", "dark"].includes(stored())) root.dataset.theme = stored();

  addEventListener("beforeprint", () => {
    const today = new Date().toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
    for (const place of document.querySelectorAll("[data-printed]")) place.textContent = `, printed on ${today}`;
  });

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector(".theme-switch");
    const label = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* then for this page only */ }
      label();
    });
    system.addEventListener("change", label);
    label();
    button.hidden = false;
  });
})();
