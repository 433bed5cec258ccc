// The submission form: asks for a name only when a system is new, says that a big file is under way, and checks the
// file in place, so that it need not be chosen again to be submitted.
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

  const check = form.querySelector("[data-check]");
  if (!check) return;
  const verdict = form.querySelector("[data-verdict]");
  const checked = ["threshold", "run"].map((field) => form.elements[field]).filter(Boolean);
  check.hidden = false;
  document.querySelector("[data-check-page]").hidden = true;
  for (const field of checked) field.addEventListener("input", () => verdict.replaceChildren()); // it is of another run
  check.addEventListener("click", async () => {
    const [file, sent] = [form.elements.run.files[0], new FormData()];
    sent.append("csrf_token", form.elements.csrf_token.value);
    for (const field of checked) sent.append(field.name, field === form.elements.run ? file ?? "" : field.value);
    const waits = document.createElement("p");
    waits.textContent = "Checking the file…";
    verdict.replaceChildren(waits);
    check.disabled = true;
    let part = null;
    try {
      const answer = await fetch(check.dataset.check, { method: "POST", body: sent, headers: { Accept: "text/html" } });
      const html = new DOMParser().parseFromString(await answer.text(), "text/html");
      part = html.querySelector("[data-found], .error-summary, main .prose");
    } catch { /* the site may be restarting, or the file was changed on the disk */ }
    check.disabled = false;
    if (waits.parentNode !== verdict) return; // another file was chosen meanwhile
    if (!part) { waits.textContent = "The check did not work. Try again, or submit the run: it is checked then too."; return; }
    document.getElementById("found")?.closest("section").remove(); // what was said of another file
    verdict.replaceChildren(part);
    const again = verdict.querySelector("[data-submit-again]");
    if (!again) return;
    const submit = document.createElement("button");
    Object.assign(submit, { type: "submit", name: "confirm", value: "yes", className: "btn btn-primary" });
    submit.textContent = "Submit this run";
    again.replaceChildren(submit);
  });
})();
