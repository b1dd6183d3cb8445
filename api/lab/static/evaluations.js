// Evaluations that run are looked at again, once a second, until they end.
"use strict";

import { ask, put } from "./lab.js";

const pause = 1000;

/** Puts a part of the page again for as long as going says so. */
async function follow(element, address, going, ended) {
  while (going()) {
    await new Promise((done) => setTimeout(done, pause));
    if (document.hidden) continue;
    try {
      put(element, await (await ask(address)).text());
    } catch {
      continue; // a server that does not answer now may do so later
    }
  }
  ended();
}

const runs = document.getElementById("runs");
if (runs) follow(runs, "/lab/evaluations?part=runs", () => runs.querySelector("[data-busy]"), () => {});

const agents = document.getElementById("agents");
const pending = () => agents.querySelector("[data-pending]");
if (agents && pending()) follow(agents, `${location.pathname}?part=agents`, pending, () => {});

const standing = document.getElementById("standing");
const running = () => standing.querySelector('[data-state="running"]');
if (standing && running()) follow(standing, `${location.pathname}?part=standing`, running, () => location.reload());
