// The page: translation while typing, copying, and what ties its parts together.
import {Alternatives} from "./alternatives.js";
import {alternativesAt, listMemories, listModels, readLimits, translate} from "./api.js";
import {AttentionPanel} from "./attention_panel.js";
import {ClassificationPanel} from "./classification.js";
import {FileJob, told} from "./files.js";
import {FillingPanel} from "./filling.js";
import {GenerationPanel} from "./generation.js";
import {GlossaryField} from "./glossary.js";
import {Languages, nameOf} from "./languages.js";
import {Memory} from "./memory.js";
import {parsingPanel} from "./parsing.js";
import {hideRefusal, onReturn, patiently, showRefusal} from "./server.js";
import {offerTabs, onOpen, openTab} from "./tabs.js";
import {taggingPanel} from "./tagging.js";
import {TranscriptionPanel} from "./transcription.js";
import {WordMenu} from "./word_menu.js";
import {confidenceOf} from "./translation.js";
import {Alignment} from "./words.js";

const kTypingPause = 300, kSlowestPause = 2000, kSpokenPause = 1200, kAlternatives = 3, kTranslate = "/v1/translate";
const byId = id => document.getElementById(id);
const source = byId("source"), output = byId("output");

let speaking = 0;
// Tells a screen reader, after `wait` milliseconds without something newer to tell.
function say(text, wait = 0) {
  clearTimeout(speaking);
  speaking = setTimeout(() => { byId("live").textContent = text; }, wait);
}

// What comes while the reader types.
const sayTyped = text => say(text, kSpokenPause);

const alignment = new Alignment({source, mirror: byId("mirror"), output, say, picked: (side, word) => pick(translation?.sentenceOf(side, word)),
  asked: (word, element, keyboard) => askAt(word, element, keyboard)});
const menu = new WordMenu({root: byId("word-menu"), output, ask: alternativesOf, chosen: takeAt, say});
const languages = new Languages(retranslate);
const glossary = new GlossaryField(retranslate);
const alternatives = new Alternatives(byId("alternatives"), choose);
const memory = new Memory(byId("memory-choice"), byId("matches"), retranslate, take);
const attention = new AttentionPanel(() => languages.model.name ?? translation.model, pick);
const panels = {  // by route
  "/v1/completions": new GenerationPanel(say, copy),
  "/v1/tag": taggingPanel(sayTyped),
  "/v1/parse": parsingPanel(sayTyped),
  "/v1/classify": new ClassificationPanel(sayTyped),
  "/v1/audio/transcriptions": new TranscriptionPanel(sayTyped),
  "/v1/fill": new FillingPanel(sayTyped),
};
const fileJob = new FileJob(() => languages.model, () => ({glossary: glossary.terms, memory: memory.name}), say);

let limits = {characters: Infinity, suffixes: []};

async function loadModels() {
  const loaded = await patiently(() => Promise.all([readLimits(), listModels(), listMemories()]), new AbortController().signal);
  limits = loaded[0];
  byId("file").accept = limits.suffixes.join();
  const documents = limits.suffixes.filter(suffix => !/^\.(txt|html?)$/.test(suffix));
  byId("file-documents").hidden = documents.length === 0;
  byId("file-suffixes").textContent = documents.join(" ");
  const models = loaded[1], of = route => models.filter(model => model.routes.includes(route));
  offerTabs(models.length ? models.flatMap(model => model.routes) : [kTranslate]);
  for (const [route, panel] of Object.entries(panels)) panel.set(of(route));
  languages.set(of(kTranslate));
  memory.set(loaded[2]);
  retranslate();
}

function swap() {
  if (translation?.text) source.value = translation.text;
  languages.swap();
  say(`From ${nameOf(languages.from)} to ${nameOf(languages.to)}`);
}
byId("swap").addEventListener("click", swap);

// --- translation while typing ---

let translation = null;  // what is on show
let current = 0;  // the sentence of it whose alternatives and attention are
let running = null;  // the request whose answer counts
let typing = 0;

// Whether the text may be sent.
function showCount() {
  const count = Array.from(source.value).length, most = limits.characters, over = count > most, shown = number => number.toLocaleString("en");
  byId("count").textContent = shown(count) + (most < Infinity ? ` / ${shown(most)}` : "") + (over ? ": more than this server promises to take at once" : "");
  byId("count").classList.toggle("over", over);
  byId("as-file").hidden = !over;
  source.setAttribute("aria-invalid", over);
  byId("clear").hidden = count === 0;
  return !over;
}
byId("as-file").addEventListener("click", () => {
  openTab(byId("file-tab"));
  byId("file-tab").focus();
  fileJob.open(new File([source.value], "text.txt"));
});

// What belongs to the sentence that is looked at.
function showSentence() {
  const sentences = translation?.sentences ?? [], several = sentences.length > 1;
  const beginnings = several ? translation.beginnings : [];
  alignment.mark([0, 1].map(side => [beginnings[current]?.[side] ?? 0, beginnings[current + 1]?.[side] ?? (several ? Infinity : 0)]));
  const confidence = sentences[current] ? confidenceOf(sentences[current].hypotheses[sentences[current].rank]) : "";
  byId("confidence").textContent = confidence && `Confidence${several ? ` in sentence ${current + 1}` : ""}: ${confidence}`;
  byId("confidence").hidden = !confidence;
  alternatives.show(sentences[current], several ? ` to sentence ${current + 1}` : "", languages.to);
  memory.show(sentences[current], sourceLanguage(), languages.to);
  attention.show(sentences, current);
}

function pick(sentence) {
  if (sentence === undefined || sentence === current) return;
  current = sentence;
  showSentence();
}

function showTranslation() {
  const {text = "", cut = []} = translation ?? {};
  alignment.show(text, source.value === translation?.source ? translation.links : [], translation?.doubtful ?? []);
  glossary.show(translation, alignment.words[1]);
  byId("copy").disabled = !text;
  source.lang = sourceLanguage();
  byId("told").textContent = (translation && !languages.model?.name ? `From ${nameOf(source.lang)}. ` : "") + told(translation ?? {});
  byId("told").hidden = !byId("told").textContent;
  byId("cut").hidden = cut.length === 0;
  byId("cut-text").textContent = cut.map(sentence => `“${sentence.slice(0, 60)}${sentence.length > 60 ? "…" : ""}”`).join(", ");
  showSentence();
}

// Another hypothesis of the sentence that is looked at.
function choose(rank) {
  translation.sentences[current].rank = rank;
  showTranslation();
  output.focus();
}

// --- another word ---

function askAt(word, element, keyboard) {
  if (!translation || source.value !== translation.source) return;
  const place = translation.placeOf(word), {hypotheses, rank} = translation.sentences[place.sentence];
  menu.show(element, place, hypotheses[rank].text, {keyboard}).catch(error => showRefusal(error, "translated otherwise"));
}

function alternativesOf({sentence, prefix}, signal) {
  const {source: text} = translation.sentences[sentence], {model} = translation;
  return patiently(() => alternativesAt(text, prefix, {model, glossary: glossary.terms}, signal), signal);
}

function takeAt({sentence, word}, hypothesis) {
  translation.replace(sentence, hypothesis);
  current = sentence;
  showTranslation();
  output.focus();
  alignment.stand(word);
}

// A target of the memory, for the sentence that is looked at.
function take(text) {
  translation.take(current, text);
  showTranslation();
  output.focus();
}

function showResult(result) {
  menu.close();
  translation = result;
  current = result?.sentenceOf(0, alignment.wordAtCaret()) ?? 0;
  showTranslation();
}

function busy(on) {
  output.setAttribute("aria-busy", on);
  byId("progress").textContent = on ? "Translating…" : "";
}

// "" where that is not known.
function sourceLanguage() {
  const name = languages.model?.name ?? translation?.model;
  return languages.models.find(model => model.name === name)?.source ?? "";
}

async function retranslate() {
  clearTimeout(typing);
  glossary.asked();
  running?.abort();
  running = null;
  hideRefusal();
  source.lang = sourceLanguage();
  output.lang = languages.to;
  const text = source.value, {model} = languages;
  if (!showCount() || !text.trim() || !model) {
    busy(false);
    return showResult(null);
  }
  const {signal} = running = new AbortController();
  busy(true);
  try {
    const options = {model, alternatives: Math.min(kAlternatives, model.beams - 1), glossary: glossary.terms, memory: memory.name};
    const [result] = await patiently(() => translate([text], options, signal), signal);
    if (signal.aborted) return;
    showResult(result);
    say(`Translation${result.cut.length ? ", cut off" : ""}: ${result.text}`, kSpokenPause);
  } catch (error) {
    if (signal.aborted) return;
    showResult(null);
    showRefusal(error);
  }
  busy(false);
}

source.addEventListener("input", () => {
  alignment.showSource();
  clearTimeout(typing);
  running?.abort();
  if (showCount() && source.value.trim()) busy(true);
  const pause = Math.min(kTypingPause + source.value.length / 20, kSlowestPause);
  typing = setTimeout(retranslate, source.value.trim() ? pause : 0);
});
byId("clear").addEventListener("click", () => { source.value = ""; source.focus(); retranslate(); });

// --- copying ---

// `shown`: the element that has the text; `told`: the one that says so.
async function copy(text, shown, told) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // not a secure context
    getSelection().selectAllChildren(shown);
    document.execCommand("copy");
    getSelection().removeAllRanges();
  }
  told.textContent = "Copied";
  say("Copied");
  setTimeout(() => { told.textContent = ""; }, 1500);
}
byId("copy").addEventListener("click", () => copy(translation.text, output, byId("copied")));

onOpen(hideRefusal);
onReturn(loadModels);
showCount();
loadModels();
