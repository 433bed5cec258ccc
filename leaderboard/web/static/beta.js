// The form of a campaign: shows β's part once a detection measure is chosen, and works β out while its numbers are
// typed. Without this the form shows that part always.
"use strict";
(() => {
  const form = document.querySelector("[data-campaign]");
  const part = form?.querySelector("[data-detection]");
  if (!part) return;
  const detection = new Set(part.dataset.detection.toLowerCase().split(" "));
  const chosen = () => [form.elements.measures, form.elements.primary_measure].some((field) =>
    field.value.toLowerCase().split(/[\s,]+/).some((name) => detection.has(name.split(/[@(]/)[0])));
  const filled = () => [...part.querySelectorAll("input.short")].some((field) => field.value.trim());
  const show = () => { part.hidden = !(chosen() || filled() || part.querySelector(".field-bad")); };
  form.addEventListener("input", show);
  show();
})();
(() => {
  const form = document.querySelector("[data-campaign]");
  const shown = form?.querySelector("[data-beta]");
  if (!form?.elements.cost || !shown) return;
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const number = (name) => {
    const text = form.elements[name].value.trim();
    if (text === "") return null;
    const [above, below, ...more] = text.split("/").map((part) => part.trim());
    if (more.length || ![above, below ?? "1"].every((part) => NUMBER.test(part))) return NaN;
    const found = Number(above) / Number(below ?? "1");
    return Number.isFinite(found) ? found : NaN;
  };
  const short = (value) => String(Number(value.toPrecision(6)));
  const words = () => {
    const [cost, value, prior, beta] = ["cost", "value", "prior", "beta"].map(number);
    if ([cost, value, prior, beta].some(Number.isNaN)) return "No β: one of these is no number.";
    const given = [cost, value, prior].filter((one) => one !== null).length;
    if (given === 0) return beta === null ? "No β: give C, V and P, or β itself. Only detection measures such as AQWV need it." : `β = ${short(beta)}`;
    if (given < 3) return "Give C, V and P together, or none of them.";
    if (cost < 0 || value <= 0 || prior <= 0 || prior >= 1) return "C is not negative, V is above 0, and P lies between 0 and 1.";
    const worked = (cost / value) * (1 / prior - 1);
    return `β = (C / V) · (1 / P − 1) = (${short(cost)} / ${short(value)}) · (1 / ${short(prior)} − 1) = ${short(worked)}`;
  };
  const work = () => { shown.textContent = words(); };
  form.addEventListener("input", work);
  work();
})();
