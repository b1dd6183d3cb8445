// The page of trainings: its form, the buttons of runs, the stream that brings
// new figures, and reading values off the curves. The server has drawn and
// written all of it; here it is put in and looked up.
"use strict";
import { ask, put, silent, tell } from "./lab.js";

const view = document.getElementById("view");
const start = document.getElementById("start");
const runs = "/v1/policy/runs";

const selection = () => document.getElementById("selection");
const query = () => selection().dataset.query;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// --- what is shown -----------------------------------------------------------

/** Puts a part of the page in, and leaves the focus where it was. */
function replace(element, html) {
  const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
  put(element, html);
  if (focused) document.getElementById(focused)?.focus();
}

/** Shows other runs, and makes that the address of the page. */
async function show(wanted) {
  const answer = await ask(`/lab/training/view?${wanted}`);
  replace(view, await answer.text());
  history.replaceState(null, "", `/lab/training?${wanted}`);
  watch();
}

async function relist() {
  const list = document.getElementById("runs");
  const asked = query();
  const html = await (await ask(`/lab/training/runs?${asked}`)).text();
  if (list?.isConnected && asked === query()) replace(list, html);
}

function guarded(act) {
  return async (...values) => {
    try { await act(...values); tell(""); } catch (error) { tell(error.message, true); }
  };
}

view.addEventListener("change", guarded(async (event) => {
  const form = event.target.closest("#shown");
  if (!form) return;
  const wanted = new URLSearchParams(new FormData(form));
  if (!wanted.has("run")) { event.target.checked = true; return; } // one is always shown
  try {
    await show(wanted);
  } catch (error) {
    if (event.target.type === "checkbox") event.target.checked = !event.target.checked;
    throw error;
  }
}));
view.addEventListener("submit", (event) => event.preventDefault());

// --- the stream --------------------------------------------------------------

let source = null;
let frame = null; // the newest
let lost = false; // the stream, and people have been told

function watch() {
  source?.close();
  frame = null;
  if (!document.getElementById("runs")) return;
  source = new EventSource(`/lab/training/events?${query()}`);
  source.addEventListener("message", (event) => take(JSON.parse(event.data)));
  source.addEventListener("open", () => { if (lost) tell(""); lost = false; });
  source.addEventListener("end", () => source.close());
  const mine = source;
  source.addEventListener("error", () => {
    if (mine !== source) return;
    lost = true;
    if (source.readyState === EventSource.CLOSED) tell("The stream of figures has ended; load the page again.", true);
    else tell(`${silent} What is shown may be old; it goes on when the server is back.`, true);
  });
}

function write(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

function take(next) {
  frame = next;
  for (const row of frame.rows) {
    for (const place of all(`[data-run="${CSS.escape(row.id)}"]`, view)) {
      write(place.querySelector("[data-iteration]"), row.iteration);
      write(place.querySelector("[data-speed]"), row.speed);
      const bar = place.querySelector("[data-updates]");
      if (bar) bar.value = row.updates;
    }
  }
  for (const figure of frame.figures) {
    const place = view.querySelector(`[data-figure="${figure.key}"]`);
    write(place.querySelector("[data-value]"), figure.value);
    write(place.querySelector("[data-note]"), figure.note);
    const badge = place.querySelector("[data-badge]");
    write(badge, figure.badge);
    badge.className = `badge ${figure.tone}`;
    badge.hidden = !figure.badge;
  }
  for (const chart of frame.charts) {
    const figure = view.querySelector(`[data-chart="${CSS.escape(chart.key)}"]`);
    figure.querySelector(".drawing").innerHTML = chart.svg; // written by the server's package chart
    read(figure);
  }
  document.getElementById("lasts").innerHTML = frame.table; // written by html/template
  if (document.getElementById("shown").dataset.list !== frame.list) guarded(relist)();
}

// --- reading values ----------------------------------------------------------

let at = null; // the update that is read, in all charts; null for the latest

/** The point of a run that stands for an update: the nearest that there is. */
function pointOf(run, update) {
  if (!run.to.length) return -1;
  const i = run.to.findIndex((to) => to >= update);
  return i < 0 ? run.to.length - 1 : i;
}

/** Writes what a chart has at the update that is read. */
function read(figure) {
  const chart = frame.charts.find((c) => c.key === figure.dataset.chart);
  if (!chart) return; // of a run that has gone
  const cursor = figure.querySelector(".cursor"), label = figure.querySelector("[data-at]");
  cursor.hidden = at === null;
  if (at === null) {
    write(label, "latest");
  } else {
    const spans = frame.runs.map((run) => [run, pointOf(run, at)]).filter(([, i]) => i >= 0).map(([run, i]) => [run.from[i], run.to[i]]);
    const [from, to] = spans.find(([a, b]) => a <= at && at <= b) ?? spans[0] ?? [at, at];
    write(label, from === to ? `update ${from}` : `mean of ${from}–${to}`);
    const share = ((from + to) / 2 - chart.first) / (chart.last - chart.first);
    cursor.style.left = `${100 * (chart.left + share * (chart.right - chart.left))}%`;
  }
  all("[data-reading]", figure).forEach((place, i) => {
    const texts = chart.texts[i] ?? [];
    const run = frame.runs[i], point = pointOf(run, at);
    const text = (at === null ? texts.findLast((t) => t) : texts[point]) || "–";
    write(place, text !== "–" && at > run.to[point] ? `${text} at ${run.to[point]}` : text); // of a run that is not there yet
  });
}

function readAt(update) {
  if (!frame) return;
  at = update;
  for (const figure of all(".chart", view)) read(figure);
}

const last = () => Math.max(1, ...frame.runs.map((run) => run.to.at(-1) ?? 1));

view.addEventListener("pointermove", (event) => {
  const plot = event.target.closest(".plot");
  if (!plot || !frame) return;
  const chart = frame.charts.find((c) => c.key === plot.closest(".chart").dataset.chart);
  if (!chart) return;
  const box = plot.getBoundingClientRect();
  const share = ((event.clientX - box.left) / box.width - chart.left) / (chart.right - chart.left);
  readAt(Math.min(last(), Math.max(1, Math.round(chart.first + share * (chart.last - chart.first)))));
});
view.addEventListener("pointerout", (event) => {
  if (event.target.closest(".plot") && !event.relatedTarget?.closest?.(".plot")) readAt(null);
});
view.addEventListener("focusout", (event) => {
  if (!event.target.matches(".plot")) return;
  event.target.nextElementSibling.removeAttribute("aria-live");
  readAt(null);
});
view.addEventListener("keydown", (event) => {
  if (!event.target.matches(".plot") || !frame) return;
  const longest = frame.runs.reduce((a, b) => (b.to.length > a.to.length ? b : a));
  const here = pointOf(longest, at ?? last());
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[event.key];
  if (event.key === "Escape") readAt(null);
  if (step === undefined || here < 0) return;
  event.preventDefault();
  event.target.nextElementSibling.setAttribute("aria-live", "polite"); // not before: the latest values change all the time
  readAt(longest.to[Math.min(longest.to.length - 1, Math.max(0, at === null && step === 1 ? here : here + step))]);
});

// --- the buttons of runs -----------------------------------------------------

view.addEventListener("click", guarded(async (event) => {
  const button = event.target.closest("[data-do]");
  if (!button || button.ariaBusy) return;
  const id = button.closest("[data-run]").dataset.run, action = button.dataset.do;
  if (action === "delete" && !button.dataset.sure) { // what is deleted cannot be had back
    button.dataset.sure = "true";
    write(button, "Really delete?");
    return;
  }
  button.ariaBusy = "true"; // one that is disabled would lose the focus
  try {
    if (action === "pause" || action === "resume") await ask(`${runs}/${id}/${action}`, { method: "POST" });
    else await ask(`${runs}/${id}`, { method: "DELETE" });
  } finally {
    button.ariaBusy = null;
  }
  if (action === "delete") {
    const wanted = new URLSearchParams(query());
    wanted.delete("run", id);
    await show(wanted);
    return;
  }
  await relist();
  watch();
}));

view.addEventListener("focusout", (event) => {
  const button = event.target.closest("[data-sure]");
  if (!button) return;
  delete button.dataset.sure;
  write(button, "Delete");
});

// --- a new training ----------------------------------------------------------

/** Starts a training and shows it, over what is shown where that is wished. */
async function begin(body, over) {
  const answer = await ask(runs, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  const wanted = new URLSearchParams({ run: (await answer.json()).id });
  for (const [name, value] of new URLSearchParams(query())) if (over || name !== "run") wanted.append(name, value);
  await show(wanted);
}

view.addEventListener("click", guarded(async (event) => {
  const button = event.target.closest("[data-start]");
  if (button) await begin(button.dataset.start, false);
}));

/** The form as a body. Numbers go as they are written, since seeds may be larger
    than numbers are here, and what is no number as a text, for the server to say
    what would be right. */
function bodyOf() {
  const body = {};
  for (const name of ["env", "algo", "rules", "curriculum", "pool"]) body[name] = start.elements[name].value;
  body.stages = all(`[data-env="${CSS.escape(body.env)}"] input:checked`, start).map((box) => box.value);
  if (!body.stages.length) throw Object.assign(new Error(), { problem: { errors: [{ pointer: "#/stages", detail: "no stage is ticked", want: "at least one" }] } });
  const fields = Object.entries(body).map(([name, value]) => [name, JSON.stringify(value)]);
  for (const name of ["seed", "updates", ...(body.algo === "grpo" ? ["beta", "epsilon"] : [])]) {
    const text = start.elements[name].value.trim();
    if (text) fields.push([name, /^(0|[1-9]\d*)(\.\d+)?$/.test(text) ? text : JSON.stringify(text)]);
  }
  return `{${fields.map(([name, value]) => `"${name}":${value}`)}}`;
}

function fill(preset) {
  const whole = { rules: "sound", curriculum: "mastery", pool: "ordered", seed: 0, updates: "", beta: 0.05, epsilon: 0.2, ...preset };
  for (const [name, value] of Object.entries(whole)) if (name !== "stages") start.elements[name].value = value;
  for (const box of all("[name=stages]", start)) box.checked = box.closest("[data-env]").dataset.env === whole.env && whole.stages.includes(box.value);
  for (const name of ["beta", "epsilon"]) start.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
  suit();
}

/** Shows the fields that the environment and the algorithm have. */
function suit() {
  for (const part of all("[data-env]", start)) part.hidden = part.dataset.env !== start.elements.env.value;
  document.getElementById("grpo").hidden = start.elements.algo.value !== "grpo";
}

const choice = document.getElementById("preset");
choice.addEventListener("change", () => {
  const option = choice.selectedOptions[0];
  write(document.getElementById("preset-help"), option.dataset.help ?? "whatever the form says");
  if (option.dataset.start) fill(JSON.parse(option.dataset.start));
  clear();
});
start.addEventListener("change", (event) => {
  if (event.target === choice || event.target.id === "over") return;
  choice.selectedIndex = choice.options.length - 1;
  write(document.getElementById("preset-help"), "whatever the form says");
  suit();
});

function clear() {
  for (const place of all(".wrong", start)) place.hidden = true;
  for (const field of all("[aria-invalid]", start)) { field.removeAttribute("aria-invalid"); field.removeAttribute("aria-describedby"); }
}

/** Says what was refused beside the field that it is about. */
function refuse(error) {
  const flaw = (error.problem?.errors ?? []).find((e) => document.getElementById(nameOf(e) + "-wrong"));
  const place = document.getElementById(flaw ? nameOf(flaw) + "-wrong" : "start-wrong");
  const field = flaw && document.getElementById(nameOf(flaw));
  place.textContent = flaw ? wordsOf(flaw, field) : error.message;
  place.hidden = false;
  if (!field) return;
  if (field.closest("#more")) document.getElementById("more").open = true;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", place.id);
  (field.matches("fieldset") ? field.querySelector("[data-env]:not([hidden]) input") : field).focus();
}

/** A flaw in words for people: those about JSON's types are for programs. */
function wordsOf(flaw, field) {
  const kind = { integer: "whole number", number: "number" }[/^got string, want (\w+)$/.exec(flaw.detail)?.[1]];
  if (kind) return `“${field.value}” is not a ${kind}`;
  return [flaw.detail, flaw.want && `expected ${flaw.want}`].filter(Boolean).join("; ");
}

const nameOf = (flaw) => (flaw.pointer ?? "").replace(/^#?\//, "").split("/")[0];

start.addEventListener("submit", async (event) => {
  event.preventDefault();
  clear();
  const button = document.getElementById("go");
  button.disabled = true;
  try { await begin(bodyOf(), document.getElementById("over").checked); tell("The training has begun."); } catch (error) { refuse(error); } finally { button.disabled = false; }
});

if (choice.selectedOptions[0]?.dataset.start) fill(JSON.parse(choice.selectedOptions[0].dataset.start));
watch();
document.addEventListener("visibilitychange", () => { if (document.hidden) source?.close(); else watch(); });
