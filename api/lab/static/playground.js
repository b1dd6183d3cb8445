// The playground: faults beside their fields, the attacks, and examples that
// keep the weights.
"use strict";

import { ask, put, tell } from "./lab.js";

const form = document.getElementById("play");
const outcome = document.getElementById("outcome");
const attacks = document.getElementById("attacks");
const button = document.getElementById("audit");

/** Tells what is wrong beside the field that it is about. */
function placeFaults() {
  const said = new Map([...outcome.querySelectorAll("[data-fault]")].map((p) => [p.dataset.fault, p]));
  for (const slot of form.querySelectorAll(".fault")) {
    const name = slot.id.replace("-wrong", ""), fault = said.get(name);
    slot.textContent = fault ? fault.lastChild.textContent.trim() : "";
    slot.hidden = !fault;
    form.elements[name].setAttribute("aria-invalid", String(Boolean(fault)));
  }
}

const weights = () => {
  const query = new URLSearchParams();
  for (const slider of form.querySelectorAll('input[type="range"]')) query.set(slider.name, slider.value);
  return query;
};

let turn = 0;
async function audit() {
  const mine = ++turn;
  attacks.setAttribute("aria-busy", "true");
  try {
    const answer = await ask("/lab/playground/audit", { method: "POST", body: weights() });
    const html = await answer.text();
    if (mine !== turn) return;
    put(attacks, html);
    document.getElementById("attacks-said").textContent = attacks.querySelector(".verdict, .alert").textContent;
  } catch (error) {
    if (mine === turn) tell(error.message, true);
  } finally {
    if (mine === turn) attacks.removeAttribute("aria-busy");
  }
}

// What is in the form stays with its page of the history, so that a user who looks
// at another page and comes back finds it. It is too long for the address.
let keeping = 0;
function keep() {
  clearTimeout(keeping);
  try { history.replaceState({ draft: Object.fromEntries(new FormData(form)) }, ""); } catch { /* longer than the browser keeps */ }
}
function restore(draft) {
  for (const [name, value] of Object.entries(draft)) {
    const control = form.elements.namedItem(name); // elements.length is none of them
    if (!control || control.value === value) continue;
    control.value = value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
form.addEventListener("input", () => { clearTimeout(keeping); keeping = setTimeout(keep, 300); });
addEventListener("pagehide", () => { if (keeping) keep(); });

let pending = 0;
form.addEventListener("input", (event) => {
  if (event.target.type !== "range") return;
  const query = weights();
  for (const link of document.querySelectorAll("[data-specimen]")) link.href = `/lab/playground?example=${link.dataset.specimen}&${query}`;
  history.replaceState(history.state, "", `/lab/playground?example=${form.elements.example.value}&${query}`);
  if (attacks.childElementCount === 0) return;
  clearTimeout(pending);
  pending = setTimeout(audit, 250);
});
button.addEventListener("click", (event) => {
  event.preventDefault();
  audit();
});
outcome.addEventListener("put", placeFaults);
placeFaults();
if (history.state?.draft) restore(history.state.draft);
document.documentElement.dataset.playground = "true";
