// The translation page: typing, alternatives, copying, and what ties its parts together.
import {listModels, translate} from "./api.js";
import {AttentionPanel} from "./attention_panel.js";
import {FileJob} from "./files.js";
import {Languages, nameOf} from "./languages.js";
import {hideRefusal, onReturn, patiently, showRefusal} from "./server.js";
import {Alignment, appendDifference} from "./words.js";

const kTypingPause = 300, kSpokenPause = 1200, kMostCharacters = 5000, kAlternatives = 3;
const byId = id => document.getElementById(id);
const source = byId("source"), output = byId("output");

let speaking = 0;
// Tells a screen reader, after `wait` milliseconds without something newer to tell.
function say(text, wait = 0) {
  clearTimeout(speaking);
  speaking = setTimeout(() => { byId("live").textContent = text; }, wait);
}

const alignment = new Alignment({source, mirror: byId("mirror"), output, say});
const languages = new Languages(retranslate);
const attention = new AttentionPanel(() => languages.model.name);
const fileJob = new FileJob(() => ({model: languages.model?.name, target: languages.to}), say);

async function loadModels() {
  languages.set(await patiently(() => listModels(), new AbortController().signal));
  retranslate();
}

function swap() {
  const text = hypotheses[rank]?.text;
  if (text) source.value = text;
  languages.swap();
  say(`From ${nameOf(languages.from)} to ${nameOf(languages.to)}`);
}
byId("swap").addEventListener("click", swap);

// --- translation while typing ---

let hypotheses = [], rank = 0, translated = "";
let running = null;  // the request whose answer counts
let typing = 0;

// Whether the text may be sent.
function showCount() {
  const count = Array.from(source.value).length, over = count > kMostCharacters;
  byId("count").textContent = `${count.toLocaleString("en")} / ${kMostCharacters.toLocaleString("en")}${over ? ": too long to translate while typing" : ""}`;
  byId("count").classList.toggle("over", over);
  byId("as-file").hidden = !over;
  source.setAttribute("aria-invalid", over);
  byId("clear").hidden = count === 0;
  return !over;
}
byId("as-file").addEventListener("click", () => {
  choose(tabs[1]);
  tabs[1].focus();
  fileJob.open(new File([source.value], "text.txt"));
});

function showHypothesis(index) {
  rank = index;
  const best = hypotheses[rank];
  alignment.show(best?.text ?? "", source.value === translated ? best?.links ?? [] : []);
  attention.showRank(rank);
  byId("copy").disabled = !best?.text;
  byId("cut").hidden = !best?.cut.length;
  byId("cut-text").textContent = best?.cut.map(sentence => `“${sentence.slice(0, 60)}${sentence.length > 60 ? "…" : ""}”`).join(", ") ?? "";
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
  appendDifference(button, text, hypotheses[rank].text);
  button.addEventListener("click", () => { showHypothesis(index); output.focus(); });
  figure.textContent = Number.isFinite(score) ? score.toFixed(2).replace("-", "−") : "";
  figure.title = "Score: log-probability, divided by the length penalty";
  item.append(button, figure);
  return item;
}

function showResult(text, result) {
  translated = text;
  hypotheses = result?.hypotheses.filter((each, i, all) => all.findIndex(other => other.text === each.text) === i) ?? [];
  showHypothesis(0);
  attention.show(result?.sentences ?? []);
}

function busy(on) {
  output.setAttribute("aria-busy", on);
  byId("progress").textContent = on ? "Translating…" : "";
}

async function retranslate() {
  clearTimeout(typing);
  running?.abort();
  running = null;
  hideRefusal();
  source.lang = languages.from;
  output.lang = languages.to;
  const text = source.value, {model} = languages;
  if (!showCount() || !text.trim() || !model) {
    busy(false);
    return showResult(text, null);
  }
  const {signal} = running = new AbortController();
  busy(true);
  try {
    const alternatives = Math.min(kAlternatives, model.beams - 1);
    const [result] = await patiently(() => translate([text], {model: model.name, alternatives}, signal), signal);
    if (signal.aborted) return;
    showResult(text, result);
    say(`Translation${result.hypotheses[0].cut.length ? ", cut off" : ""}: ${result.hypotheses[0].text}`, kSpokenPause);
  } catch (error) {
    if (signal.aborted) return;
    showResult(text, null);
    showRefusal(error);
  }
  busy(false);
}

source.addEventListener("input", () => {
  alignment.showSource();
  clearTimeout(typing);
  running?.abort();
  if (showCount() && source.value.trim()) busy(true);
  typing = setTimeout(retranslate, source.value.trim() ? kTypingPause : 0);
});
byId("clear").addEventListener("click", () => { source.value = ""; source.focus(); retranslate(); });

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

// --- the two tabs ---

const tabs = [byId("text-tab"), byId("file-tab")];
function choose(tab) {
  for (const each of tabs) {
    each.setAttribute("aria-selected", each === tab);
    each.tabIndex = each === tab ? 0 : -1;
    byId(each.getAttribute("aria-controls")).hidden = each !== tab;
  }
  byId("attention").hidden = tab !== tabs[0];
  hideRefusal();
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

onReturn(loadModels);
showCount();
loadModels();
