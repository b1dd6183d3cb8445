// What all pages share: the theme, forms that answer as their controls move,
// and the one place where failures are told.
"use strict";

/** Tells people, and screen readers, what happened; an empty text clears it. */
export function tell(text, wrong = false) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.toggle("wrong", wrong);
}

export const silent = "The server does not answer.";

/** Fetches from this server. A refusal is thrown as an Error with its detail. */
export async function ask(address, options = {}) {
  const headers = { Accept: "application/problem+json, text/html, application/json", ...options.headers };
  const answer = await fetch(address, { ...options, headers }).catch(() => { throw new Error(silent); });
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  if (answer.status === 401) location.assign("/lab/signin?next=" + encodeURIComponent(location.pathname + location.search));
  const where = (problem.errors ?? []).map((e) => (e.pointer ?? "").replace("#/", "") + (e.parameter ?? "")).join(", ");
  throw Object.assign(new Error([where, problem.detail ?? answer.statusText].filter(Boolean).join(": ")), { problem });
}

/** The values of a form as a query, without those that are empty. */
export function queryOf(form) {
  const query = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...query]) if (value === "") query.delete(name);
  return query;
}

/** Replaces what stands in an element by a part of a page that the server wrote. */
export function put(element, html) {
  element.innerHTML = html; // written by html/template; scripts in it never run
  element.dispatchEvent(new CustomEvent("put", { bubbles: true }));
}

// A form with data-live="ADDRESS" and data-into="ID" is sent as its controls
// move. Of answers that overtake each other only the last is shown, and the
// address of the page follows. Without this script its button does the same.
function enliven(form) {
  const target = document.getElementById(form.dataset.into);
  let pending = 0, last = 0;
  const send = async () => {
    const turn = ++last, query = queryOf(form);
    target.setAttribute("aria-busy", "true");
    try {
      const answer = form.method === "post"
        ? await ask(form.dataset.live, { method: "POST", body: query })
        : await ask(`${form.dataset.live}?${query}`);
      const html = await answer.text();
      if (turn !== last) return;
      put(target, html);
      target.classList.remove("stale");
      tell("");
      if (form.method !== "post") history.replaceState(null, "", `${location.pathname}?${query}`);
    } catch (error) {
      if (turn !== last) return;
      tell(error.message, true);
      target.classList.add("stale"); // what stands there is not what the form says
    } finally {
      if (turn === last) target.removeAttribute("aria-busy");
    }
  };
  const soon = () => { clearTimeout(pending); pending = setTimeout(send, 60); };
  form.addEventListener("input", (event) => { if (!event.target.closest("[data-reload]")) soon(); });
  form.addEventListener("submit", (event) => {
    if (event.submitter?.hasAttribute("formaction")) return;
    event.preventDefault();
    clearTimeout(pending);
    send();
  });
  for (const control of form.querySelectorAll("[data-reload]")) control.addEventListener("change", () => reload(form, control));
}

// A control with data-reload opens the page anew. What depends on it, marked
// data-of="ITS ID", is left out, since it has other values there.
function reload(form, control) {
  for (const other of form.querySelectorAll(`[data-of="${control.id}"]`)) other.disabled = true;
  form.submit();
}

function signed(value) {
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
}

function followSliders() {
  document.addEventListener("input", (event) => {
    if (event.target.type !== "range") return;
    const output = document.getElementById(event.target.id + "-value");
    const value = Number(event.target.value); // weights may take away, other numbers have no sign
    if (output) output.textContent = Number(event.target.min) < 0 ? signed(value) : value.toFixed(2);
  });
}

function themes() {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* not kept */ }
  });
}

// A button with data-copy="ID" copies the text of that element.
function copying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      tell("Copied.");
    } catch {
      getSelection().selectAllChildren(source);
      tell("The browser did not let the page copy; the text is selected.");
    }
  });
}

themes();
followSliders();
copying();
for (const form of document.querySelectorAll("form[data-live]")) enliven(form);
document.documentElement.dataset.ready = "true";
