// The translation page: languages, typing, alternatives, aligned words, attention.
import {attentionOf, listModels, translate} from "./api.js";
import {AttentionView} from "./attention.js";
import {FileJob} from "./files.js";
import {hideProblem, onKey, onReturn, patiently, showProblem} from "./server.js";
import {Alignment, fillWords} from "./words.js";

const kTypingPause = 300, kSpokenPause = 1200, kMostCharacters = 5000, kAlternatives = 3;
const byId = id => document.getElementById(id);
const source = byId("source"), output = byId("output");
const alignment = new Alignment();

let speaking = 0;
// Tells a screen reader, after `pause` milliseconds without something newer to tell.
function say(text, pause = 0) {
  clearTimeout(speaking);
  speaking = setTimeout(() => { byId("live").textContent = text; }, pause);
}

// --- languages and models ---

let models = [];
const names = new Intl.DisplayNames(["en"], {type: "language", fallback: "code"});
function nameOf(language) {
  try { return language ? names.of(language) : "Any language"; } catch { return language; }
}

// Keeps what was chosen where it is still there.
function fill(select, values, label = nameOf, wanted = select.value) {
  select.replaceChildren(...values.map(value => new Option(label(value), value)));
  select.value = values.includes(wanted) ? wanted : values[0] ?? "";
}

const distinct = values => [...new Set(values)];
const modelsOf = (from, to) => models.filter(model => model.source === from && model.target === to).map(model => model.name);

function showChoice(from = byId("from").value, to = byId("to").value) {
  fill(byId("from"), distinct(models.map(model => model.source)), nameOf, from);
  from = byId("from").value;
  fill(byId("to"), distinct(models.filter(model => model.source === from).map(model => model.target)), nameOf, to);
  to = byId("to").value;
  fill(byId("model"), modelsOf(from, to), name => name);
  byId("model-choice").hidden = byId("model").length < 2;
  byId("swap").disabled = from === to || modelsOf(to, from).length === 0;
  source.lang = from;
  output.lang = to;
}

async function loadModels() {
  try {
    models = await patiently(() => listModels(), new AbortController().signal);
  } catch (error) {
    return showProblem(error);
  }
  const [from, to] = models.length && !byId("from").length ? (localStorage.getItem("pair") ?? "").split(" ") : [];
  showChoice(from, to);
  if (!models.length) byId("progress").textContent = "This server has no models.";
  retranslate();
}

function chosen() {
  showChoice();
  localStorage.setItem("pair", `${byId("from").value} ${byId("to").value}`);
  retranslate();
}

function swap() {
  const text = hypotheses[rank]?.text ?? "";
  showChoice(byId("to").value, byId("from").value);
  if (text) source.value = text;
  say(`From ${nameOf(byId("from").value)} to ${nameOf(byId("to").value)}`);
  chosen();
}

// --- translation while typing ---

let hypotheses = [], rank = 0, translated = "";
let running = null;  // of the request whose answer counts
let typing = 0;

function showCount() {
  const characters = Array.from(source.value).length, over = characters > kMostCharacters;
  byId("count").textContent = `${characters.toLocaleString("en")} / ${kMostCharacters.toLocaleString("en")}`
    + (over ? ": too long; shorten it, or translate it as a file" : "");
  byId("count").classList.toggle("over", over);
  source.setAttribute("aria-invalid", over);
  byId("clear").hidden = characters === 0;
  return !over;
}

function showHypothesis(index) {
  rank = index;
  const best = hypotheses[rank], spans = fillWords(output, best?.text ?? "");
  alignment.set(fillWords(byId("mirror"), source.value), spans, source.value === translated ? best?.links ?? [] : []);
  word = -1;
  byId("copy").disabled = !best?.text;
  byId("alternatives").hidden = hypotheses.length < 2;
  const others = [...hypotheses.keys()].filter(each => each !== rank);
  byId("alternatives").querySelector("ul").replaceChildren(...others.map(showAlternative));
}

function showAlternative(index) {
  const item = document.createElement("li"), button = document.createElement("button"), figure = document.createElement("span");
  const {text, score} = hypotheses[index];
  button.type = "button";
  button.dir = "auto";
  button.lang = output.lang;
  button.textContent = text;
  button.addEventListener("click", () => { showHypothesis(index); output.focus(); });
  figure.textContent = Number.isFinite(score) ? score.toFixed(2) : "";
  figure.title = "score";
  item.append(button, figure);
  return item;
}

function showResult(text, result) {
  translated = text;
  hypotheses = result?.hypotheses.filter((each, i, all) => all.findIndex(other => other.text === each.text) === i) ?? [];
  showHypothesis(0);
  showSentences(result?.sentences ?? []);
}

function busy(on) {
  output.setAttribute("aria-busy", on);
  byId("progress").textContent = on ? "Translating…" : "";
}

async function retranslate() {
  clearTimeout(typing);
  running?.abort();
  running = null;
  const text = source.value, model = byId("model").value;
  if (!showCount() || !text.trim() || !model) {
    busy(false);
    return showResult(text, null);
  }
  const controller = running = new AbortController(), {signal} = controller;
  busy(true);
  try {
    const alternatives = Math.min(kAlternatives, models.find(each => each.name === model).beams - 1);
    const [result] = await patiently(() => translate([text], {model, alternatives}, signal), signal);
    if (signal.aborted) return;
    showResult(text, result);
    say(`Translation: ${result.hypotheses[0].text}`, kSpokenPause);
  } catch (error) {
    if (signal.aborted) return;
    showResult(text, null);
    showProblem(error);
  }
  busy(false);
}

source.addEventListener("input", () => {
  alignment.set(fillWords(byId("mirror"), source.value), [], []);
  clearTimeout(typing);
  running?.abort();
  if (showCount() && source.value.trim()) busy(true);
  typing = setTimeout(retranslate, source.value.trim() ? kTypingPause : 0);
});
byId("clear").addEventListener("click", () => { source.value = ""; source.focus(); retranslate(); });

// --- aligned words ---

let word = -1;  // of the output, where the keyboard stands

output.addEventListener("pointerover", event => { if (event.target.dataset.word) alignment.light("target", +event.target.dataset.word); });
output.addEventListener("pointerleave", () => alignment.clear());
// The words of the source lie under its text area.
source.addEventListener("pointermove", event => {
  const under = document.elementsFromPoint(event.clientX, event.clientY).find(each => each.dataset.word && each.parentNode.id === "mirror");
  if (under) alignment.light("source", +under.dataset.word); else alignment.clear();
});
source.addEventListener("pointerleave", () => alignment.clear());

output.addEventListener("keydown", event => {
  const words = output.querySelectorAll("[data-word]").length;
  const ahead = getComputedStyle(output).direction === "rtl" ? "ArrowLeft" : "ArrowRight", back = ahead === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
  if (!words || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.key === ahead || event.key === "ArrowDown") word = Math.min(word + 1, words - 1);
  else if (event.key === back || event.key === "ArrowUp") word = Math.max(word - 1, 0);
  else if (event.key === "Home") word = 0;
  else if (event.key === "End") word = words - 1;
  else if (event.key === "Escape") word = -1;
  else return;
  event.preventDefault();
  say(alignment.light("target", word));
});
output.addEventListener("blur", () => { word = -1; alignment.clear(); });

// The word at the caret, when the keyboard moves it.
source.addEventListener("keyup", event => {
  if (!/^(Arrow|Home|End)/.test(event.key)) return;
  const before = source.value.slice(0, source.selectionStart).split(/[ \t\r\n]+(?=[^ \t\r\n])/).filter(Boolean).length;
  alignment.light("source", Math.max(0, before - 1));
});
source.addEventListener("blur", () => alignment.clear());

// --- copying ---

async function copy() {
  const text = hypotheses[rank].text;
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // not a secure context
    getSelection().selectAllChildren(output);
    document.execCommand("copy");
    getSelection().removeAllRanges();
  }
  byId("copied").textContent = "Copied";
  say("Copied");
  setTimeout(() => { byId("copied").textContent = ""; }, 1500);
}
byId("copy").addEventListener("click", copy);

// --- attention ---

let view = null, sentences = [];
let looking = null;  // the request for the attention on its way

function showSentences(list) {
  sentences = list;
  byId("sentence-choice").hidden = list.length < 2;
  fill(byId("sentence"), list.map((_, i) => String(i)), i => `${+i + 1}: ${list[i].slice(0, 60)}`, "0");
  showAttention();
}

function attentionSays(text) {
  byId("attention-empty").textContent = text;
  byId("attention-empty").hidden = !text;
  byId("attention-view").hidden = !!text;
}

async function showAttention() {
  looking?.abort();
  if (!byId("attention").open) return;
  const sentence = sentences[byId("sentence").value];
  if (!sentence) return attentionSays("Translate a text to see what looks at what.");
  const {signal} = looking = new AbortController();
  try {
    const kinds = await patiently(() => attentionOf(sentence, byId("model").value, signal), signal);
    if (signal.aborted) return;
    attentionSays("");
    view ??= new AttentionView(byId("attention-view"));
    view.show(kinds);
  } catch (error) {
    if (!signal.aborted) attentionSays(error.message);
  }
}
byId("attention").addEventListener("toggle", showAttention);
byId("sentence").addEventListener("change", showAttention);

// --- the two tabs ---

const tabs = [byId("text-tab"), byId("file-tab")];
function choose(tab) {
  for (const each of tabs) {
    each.setAttribute("aria-selected", each === tab);
    each.tabIndex = each === tab ? 0 : -1;
    byId(each.getAttribute("aria-controls")).hidden = each !== tab;
  }
  byId("attention").hidden = tab !== tabs[0];
  hideProblem();
}
for (const tab of tabs) {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", event => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const other = tabs[1 - tabs.indexOf(tab)];
    choose(other);
    other.focus();
  });
}

byId("swap").addEventListener("click", swap);
for (const id of ["from", "to", "model"]) byId(id).addEventListener("change", chosen);
onReturn(loadModels);
onKey(loadModels);
new FileJob(() => ({model: byId("model").value, target: byId("to").value}), say);
showCount();
loadModels();
