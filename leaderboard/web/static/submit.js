// The submission form: asks for a name only when a system is new, and says that a big file is under way.
"use strict";
(() => {
  const form = document.querySelector("[data-submit]");
  if (!form) return;
  const system = form.elements.system;
  const name = form.querySelector("[data-new-system]");
  const stand = form.querySelector("[data-stand]"); // not there where the campaign shows the best or the latest run
  const update = () => {
    name.hidden = !system.value.startsWith("new-");
    if (!stand) return;
    let chosen = null;
    for (const line of stand.querySelectorAll("[data-system]")) {
      line.hidden = line.dataset.system !== system.value;
      if (!line.hidden) chosen = line;
    }
    stand.hidden = !chosen; // a new system's first run stands for it by itself
    if (!chosen) return;
    stand.querySelector("[data-stand-name]").textContent = chosen.dataset.name;
    stand.querySelector("[data-stand-choice]").hidden = chosen.dataset.primary === "yes";
  };
  system.addEventListener("change", update);
  update();

  const button = form.querySelector("button[type=submit]");
  const sending = form.querySelector("[data-sending]");
  form.addEventListener("submit", () => {
    button.setAttribute("aria-disabled", "true");
    sending.hidden = false;
  });
  form.addEventListener("submit", (event) => { if (form.dataset.sent) event.preventDefault(); form.dataset.sent = "yes"; });
  addEventListener("pageshow", () => { // also after the browser's own "back"
    button.removeAttribute("aria-disabled");
    delete form.dataset.sent;
    sending.hidden = true;
  });
})();
