// Patience with the server: who finds it gone or busy, or is asked for a key, waits here, and the reader is told why.
import {Problem, listModels, pause, useKey} from "./api.js";

const byId = id => document.getElementById(id);
const notice = byId("notice");
const skipping = new EventTarget();  // "skip" ends the waits that are counted down
let shown = null;  // the problem on show

function show(problem, text = problem.message) {
  shown = problem;
  notice.dataset.kind = problem.kind;
  if (byId("notice-text").textContent !== text) byId("notice-text").textContent = text;
  byId("notice-wait").textContent = "";
  byId("notice-retry").hidden = problem.kind !== "gone";
  byId("key-form").hidden = problem.kind !== "key";
  notice.hidden = false;
}

function hide(problem = shown) {
  if (problem !== shown) return;
  shown = null;
  notice.hidden = true;
  byId("notice-text").textContent = "";
}

// A text that can't be what was asked: translated, or another thing.
export function showRefusal(problem, what = "translated") {
  if (!(problem instanceof Problem)) throw problem;
  show(problem, `This can't be ${what}: ${problem.message}.`);
}

export function hideRefusal() {
  if (shown?.kind === "refused") hide();
}

// Resolves at the next event of this name; rejects where `signal` aborts.
const next = (target, name, signal) => new Promise((resolve, reject) => {
  target.addEventListener(name, resolve, {once: true, signal});
  signal?.addEventListener("abort", () => reject(signal.reason), {once: true});
});

const aborted = signal => new Promise((_, reject) => {
  signal.addEventListener("abort", () => reject(signal.reason), {once: true});
});

// `seconds`, counted down in the notice; less where "Try now" is pressed.
async function countDown(seconds, signal) {
  const end = performance.now() + 1000 * seconds;
  let skipped = false;
  skipping.addEventListener("skip", () => { skipped = true; }, {once: true});
  while (!skipped && performance.now() < end) {
    byId("notice-wait").textContent = `Next try in ${Math.ceil((end - performance.now()) / 1000)} s.`;
    await pause(100, signal);
  }
  byId("notice-wait").textContent = "";
}
byId("notice-retry").addEventListener("click", () => skipping.dispatchEvent(new Event("skip")));

let returning = null;
const listeners = [];
export function onReturn(listener) { listeners.push(listener); }

// Resolves when the server answers again; all who wait share one watch. Rejects where `signal` aborts.
function untilBack(problem, signal) {
  returning ??= watch(problem).finally(() => { returning = null; });
  return Promise.race([returning, aborted(signal)]);
}
async function watch(problem) {
  for (let seconds = 1; ; seconds = Math.min(2 * seconds, 8)) {
    show(problem, `${problem.message} Your text is kept; work goes on as soon as it is back.`);
    await countDown(seconds);
    try {
      await listModels();
    } catch (error) {
      if (error.kind === "gone") continue;
    }
    hide(problem);
    for (const listener of listeners) listener();
    return;
  }
}

// The result of `work`, tried again for as long as the server is gone or busy, or asks for a key.
export async function patiently(work, signal) {
  for (;;) {
    try {
      const result = await work();
      if (!returning) hide();
      return result;
    } catch (error) {
      if (signal.aborted || !(error instanceof Problem) || error.kind === "refused") throw error;
      if (error.kind === "gone") {
        await untilBack(error, signal);
        continue;
      }
      show(error);
      if (error.kind === "key") await next(byId("key-form"), "submit", signal);
      else await countDown(error.seconds, signal).finally(() => hide(error));
    }
  }
}

byId("key-form").addEventListener("submit", event => {
  event.preventDefault();
  useKey(byId("key").value);
  byId("key").value = "";
  hide();
});
