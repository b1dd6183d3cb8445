// The front page: stepping through both episodes, another task, and models that
// play when they are told to.
"use strict";
import { ask, queryOf, tell } from "./lab.js";

let at = null; // the step that is shown; null is the end

const box = () => document.getElementById("episodes");
const last = () => Number(box().dataset.steps);
const here = () => Math.min(at ?? last(), last());

// Both columns show the same step; the shorter one stays at its end.
function show() {
  for (const column of box().querySelectorAll(".column")) {
    const turns = [...column.querySelectorAll(".turns > li")];
    const step = Math.min(here(), turns.length);
    for (const turn of turns) {
      const own = Number(turn.dataset.step);
      turn.classList.toggle("later", own > step);
      turn.toggleAttribute("aria-current", at !== null && own === step);
      if (own === step && at !== null) turn.setAttribute("aria-current", "step");
    }
    const frames = [...column.querySelectorAll(".frame")];
    frames.forEach((frame, i) => frame.classList.toggle("now", i === Math.min(step, frames.length - 1)));
    for (const rest of column.querySelectorAll(".rest, .outcome")) rest.classList.toggle("later", step < turns.length);
    follow(column, turns[step - 1]);
  }
  box().querySelector(".at").textContent = `Step ${here()} of ${last()}`;
  for (const button of box().querySelectorAll("[data-go]")) {
    const done = ["first", "back"].includes(button.dataset.go) ? here() === 0 : here() === last();
    button.setAttribute("aria-disabled", String(done)); // stays in the order of focus
  }
}

function follow(column, turn) {
  const window = column.querySelector(".scroll-y");
  if (!window) return;
  if (at === null || !turn) window.scrollTop = 0;
  else if (turn.offsetTop + turn.offsetHeight > window.scrollTop + window.clientHeight || turn.offsetTop < window.scrollTop) window.scrollTop = turn.offsetTop;
}

// Says what one sees: each column's call and what came of it.
function say() {
  const parts = [`Step ${here()} of ${last()}.`];
  for (const column of box().querySelectorAll(".column")) {
    const turn = column.querySelector(".turns > li[aria-current]");
    if (turn) parts.push(`${column.dataset.side}: ${turn.innerText.replace(/\s+/g, " ").trim().replace(/\.$/, "")}.`);
  }
  document.getElementById("heard").textContent = parts.join(" ");
}

function go(where) {
  const to = { first: 0, back: here() - 1, next: here() + 1, last: last() }[where];
  at = Math.max(0, Math.min(to, last()));
  show();
  say();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-go], [data-another], [data-copy-address]");
  if (!button) return;
  if (button.dataset.go) return go(button.dataset.go);
  if (button.dataset.another) {
    const seed = document.getElementById(button.dataset.another);
    seed.value = String(Math.floor(Math.random() * 1e6));
    seed.dispatchEvent(new Event("input", { bubbles: true }));
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    tell("The link to this page, with its settings, is copied.");
  } catch {
    tell("The browser did not let the page copy; the link is in the address bar.");
  }
});

document.addEventListener("keydown", (event) => {
  const where = { ArrowLeft: "back", ArrowRight: "next" }[event.key];
  if (!where || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  go(where);
});

const form = document.getElementById("settings");
form.addEventListener("submit", async (event) => {
  const button = event.submitter;
  if (button?.name !== "play") return;
  event.preventDefault();
  const body = queryOf(form);
  body.set("play", button.value);
  body.set("script", "yes");
  button.disabled = true;
  tell("The model plays. This may take a while.");
  try {
    await ask("/lab/play", { method: "POST", body });
    form.requestSubmit(); // shows it under the settings of now
  } catch (error) {
    tell(error.message, true);
    button.disabled = false;
  }
});

document.getElementById("shown").addEventListener("put", show);
show();
