// Patience with the server: who finds it gone or busy waits here, tells the reader why, and goes on by itself.
import {Problem, listModels, useKey} from "./api.js";

const byId = id => document.getElementById(id);
const notice = byId("notice");
let skip = null;  // ends the wait of the notice on show
let shown = null;  // the problem on show

function show(problem, advice = "") {
  shown = problem;
  notice.dataset.kind = problem.kind;
  const text = `${problem.message} ${advice}`.trim();
  if (byId("notice-text").textContent !== text) byId("notice-text").textContent = text;
  byId("notice-wait").textContent = "";
  byId("notice-retry").hidden = problem.kind !== "gone";
  byId("key-form").hidden = problem.kind !== "key";
  notice.hidden = false;
}

export function hideProblem(problem = shown) {
  if (problem !== shown) return;
  shown = null;
  notice.hidden = true;
  byId("notice-text").textContent = "";
}

export function showProblem(problem) {
  if (!(problem instanceof Problem)) throw problem;
  show(problem);
}

// `seconds`, counted down in the notice; less where "Try now" is pressed or `signal` aborts.
async function countDown(seconds, signal) {
  const end = performance.now() + 1000 * seconds;
  let ended = false;
  skip = () => { ended = true; };
  while (!ended && !signal?.aborted && performance.now() < end) {
    byId("notice-wait").textContent = `Next try in ${Math.ceil((end - performance.now()) / 1000)} s.`;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  byId("notice-wait").textContent = "";
}
byId("notice-retry").addEventListener("click", () => skip?.());

let returning = null;
const listeners = [];
export function onReturn(listener) { listeners.push(listener); }

// Resolves when the server answers again; all who wait share one watch.
function untilBack(problem) {
  returning ??= watch(problem).finally(() => { returning = null; });
  return returning;
}
async function watch(problem) {
  for (let seconds = 1; ; seconds = Math.min(2 * seconds, 8)) {
    show(problem, "Your text is kept; translation goes on as soon as it is back.");
    await countDown(seconds);
    try {
      await listModels();
    } catch (error) {
      if (error.kind === "gone") continue;
    }
    hideProblem(problem);
    for (const listener of listeners) listener();
    return;
  }
}

// The result of `work`, tried again for as long as the server is gone or busy.
export async function patiently(work, signal) {
  for (;;) {
    try {
      const result = await work();
      if (!returning) hideProblem();
      return result;
    } catch (error) {
      if (signal.aborted || !(error instanceof Problem)) throw error;
      if (error.kind === "gone") {
        await untilBack(error);
      } else if (error.kind === "busy") {
        show(error);
        await countDown(error.seconds, signal);
        hideProblem(error);
      } else {
        throw error;
      }
      signal.throwIfAborted();
    }
  }
}

// `listener` runs once the reader has given a key.
export function onKey(listener) {
  byId("key-form").addEventListener("submit", event => {
    event.preventDefault();
    useKey(byId("key").value);
    byId("key").value = "";
    hideProblem();
    listener();
  });
}
