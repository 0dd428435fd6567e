// The server's API, and all that this page knows of it.
import {Translation} from "./translation.js";

const kTexts = "v1/translate", kAlternatives = "v1/alternatives", kFile = "v1/check_file", kWholeFile = "translate_file", kDownload = "download_file/", kCompletions = "v1/completions", kTag = "v1/tag", kClassify = "v1/classify", kFill = "v1/fill", kParse = "v1/parse", kTranscriptions = "v1/audio/transcriptions", kModels = "v1/models", kMemories = "v1/memories", kSettings = "frontend/settings", kHealth = "health";
const kBeginning = 65536;  // bytes of a file that tell its format
const kPatience = 8000;  // ms in which a server that lives says something
const kMostClasses = 12, kFillings = 6;  // on show

// Why a request gave nothing. `kind`: "gone" (no answer at all), "busy" (ask again in `seconds`), "key" (an API key is
// asked for) or "refused" (`message` says why, as the server put it).
export class Problem extends Error {
  constructor(kind, message, seconds = 0) {
    super(message);
    this.kind = kind;
    this.seconds = seconds;
  }
}

let key = "";  // for this page's life only
export function useKey(text) { key = text; }

// Rejects early where `signal` aborts.
export const pause = (milliseconds, signal) => new Promise((resolve, reject) => {
  const stop = () => { clearTimeout(timer); reject(signal.reason); };
  const timer = setTimeout(() => { signal?.removeEventListener("abort", stop); resolve(); }, milliseconds);
  signal?.addEventListener("abort", stop, {once: true});
});

// Rejects once the server says nothing any more, for an answer may take its time.
async function silence(signal) {
  for (;;) {
    await pause(kPatience, signal);
    await fetch(kHealth, {signal: AbortSignal.any([signal, AbortSignal.timeout(kPatience)]), cache: "no-store"});
  }
}

// The answer to `body`, which is a form or sent as JSON, or to nothing.
function send(path, body, signal) {
  const options = {signal, headers: {}, cache: "no-store"};
  if (key) options.headers.Authorization = `Bearer ${key}`;
  if (body instanceof FormData) Object.assign(options, {method: "POST", body});
  else if (body) Object.assign(options, {method: "POST", body: JSON.stringify(body)}).headers["Content-Type"] = "application/json";
  return fetch(path, options);
}

// What `work(signal, unlessSilent)` gives; all that it waits for goes through `unlessSilent`, which rejects once the server says
// nothing any more.
async function whileItLives(work, signal) {
  const ended = new AbortController(), either = AbortSignal.any([ended.signal, signal].filter(Boolean)), silent = silence(either);
  silent.catch(() => {});
  try {
    return await work(either, promise => Promise.race([promise, silent]));
  } catch (error) {
    if (signal?.aborted || error instanceof Problem) throw error;
    throw new Problem("gone", "The server does not answer.");
  } finally {
    ended.abort();
  }
}

// The answer's JSON.
async function request(path, body, signal) {
  const {response, text} = await whileItLives(async (either, unlessSilent) => {
    const response = await unlessSilent(send(path, body, either));
    return {response, text: await unlessSilent(response.text())};
  }, signal);
  if (!response.ok) throw problemOf(response, text);
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("refused", "the answer makes no sense to this page");
  }
}

// Of an error in the OpenAI API's form or in that of the other routes.
const messageOf = ({error}) => error.message ?? error;

function problemOf({status, headers}, text) {
  if (status === 429 || status === 503) {
    const seconds = Number(headers.get("Retry-After"));
    return new Problem("busy", "The server has much to do.", seconds > 0 ? Math.min(seconds, 60) : 2);
  }
  if (status === 401 || status === 403) return new Problem("key", key ? "The server does not know this API key." : "This server asks for an API key.");
  try {
    return new Problem("refused", messageOf(JSON.parse(text)));
  } catch {  // of something between the server and this page
    return new Problem("refused", `the answer has status ${status}`);
  }
}

// [{name, routes, source, target, beams, labels, picture, inputs, nodes}]; a model that reads pictures has `picture`, their size, one that reads several inputs has their names and the graph's nodes; a language is "" where the model does not name it, `beams` are what a request
// gets.
export async function listModels(signal) {
  const {models} = await request(kModels, null, signal);
  return models.map(({beam_size: beams, labels = [], ...model}) => ({...model, beams, labels}));
}

// Names of the translation memories.
export async function listMemories(signal) {
  const {memories} = await request(kMemories, null, signal);
  return memories.map(({name}) => name);
}

// What the server takes: `characters` of a request at most, and files whose names end in one of the `suffixes`.
export async function readLimits(signal) {
  const {charLimit, supportedFilesFormat: suffixes} = await request(kSettings, null, signal);
  return {characters: charLimit > 0 ? charLimit : Infinity, suffixes};
}

// Refused is a file of a type, or with a beginning, that the server does not translate.
export async function checkFile(file, signal) {
  const form = new FormData();
  form.append("file", file.slice(0, kBeginning), file.name);
  await request(kFile, form, signal);
}

// A Translation of each text, by a model of this name or else of these languages; `alternatives` counts hypotheses beside the
// best one, `glossary` has the terms that translations must hold, and `memory` is the name of a translation memory to look into.
export async function translate(texts, {model: {name, source, target}, alternatives = 0, bulk = false, glossary = [], memory = ""}, signal) {
  texts = texts.map(text => text.toWellFormed());
  const body = {...(name ? {model: name} : {source, target}), text: texts, n_best: alternatives + 1, alignments: !bulk, quality: !bulk, priority: bulk ? "bulk" : "interactive", ...(glossary.length ? {glossary} : {}), ...(memory ? {memory} : {})};
  const {translations} = await request(kTexts, body, signal);
  return translations.map((translation, i) => new Translation(texts[i], translation));
}

// What may stand in a sentence's translation behind the words of `prefix`: hypotheses, each with the rest that follows.
export async function alternativesAt(text, prefix, {model, glossary = []}, signal) {
  const body = {model, text: text.toWellFormed(), target_prefix: prefix, alignments: true, quality: true, priority: "interactive", ...(glossary.length ? {glossary} : {})};
  return (await request(kAlternatives, body, signal)).alternatives;
}

// An HTML file, or one of another program, translated by the server: its content, with numbers of sentences that were cut or
// divided, and of characters that were lost. `glossary` and `memory` are as of translate; `progress` is called with numbers of
// sentences: those that are ready, and all.
export function translateFile(file, {model: {name: model, source, target}, glossary = [], memory = ""}, progress, signal) {
  const form = new FormData(), terms = glossary.length ? JSON.stringify(glossary) : "";
  for (const [name, value] of Object.entries({model, source: source || "auto", target, glossary: terms, memory, stream: true})) if (value) form.append(name, value);
  form.append("file", file, file.name);
  return whileItLives(async (either, unlessSilent) => {
    const response = await unlessSilent(send(kWholeFile, form, either));
    if (!response.ok) throw problemOf(response, await unlessSilent(response.text()));
    for await (const data of eventsOf(response, unlessSilent)) {
      const {done, sentences, translatedFileUrl: url, unfinished: cut, divided, unknown_characters: unknown} = JSON.parse(data);
      if (!url) {
        progress(done, sentences);
        continue;
      }
      // The server may be known by another name here.
      const translated = await unlessSilent(send(kDownload + url.split("/").pop(), null, either));
      if (!translated.ok) throw problemOf(translated, await unlessSilent(translated.text()));
      return {content: await unlessSilent(translated.blob()), cut, divided, unknown};
    }
    throw new Error("the events have no end");
  }, signal);
}

// The data of server-sent events, as they come.
async function* eventsOf(response, unlessSilent) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "";;) {
    const {done, value} = await unlessSilent(reader.read());
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [, name, data] = block.match(/^(?:event: (.*)\n)?data: (.*)$/);
      if (name === "error") throw new Problem("refused", messageOf(JSON.parse(data)));
      yield data;
    }
  }
}

// Has a language model write on; `show` gets each piece of the text. Gives why it ended: "stop" or "length".
export function generate(body, show, signal) {
  return whileItLives(async (either, unlessSilent) => {
    const response = await unlessSilent(send(kCompletions, {...body, prompt: body.prompt.toWellFormed(), stream: true}, either));
    if (!response.ok) throw problemOf(response, await unlessSilent(response.text()));
    let ending = null;
    for await (const data of eventsOf(response, unlessSilent)) {
      if (data === "[DONE]") return ending;
      const [choice] = JSON.parse(data).choices;
      if (choice.text) show(choice.text);
      ending = choice.finish_reason;
    }
    throw new Error("the events have no end");
  }, signal);
}

// What an encoder says of a text.
async function resultOf(route, {text, ...body}, signal) {
  const {results: [result]} = await request(route, {...body, text: text.toWellFormed(), priority: "interactive"}, signal);
  return result;
}
export const tag = (model, text, signal) => resultOf(kTag, {model, text}, signal);
// `picture` is a data URL.
export async function classifyPicture(model, picture, signal) {
  const {results: [result]} = await request(kClassify, {model, picture, top: kMostClasses, attention: true, priority: "interactive"}, signal);
  return result;
}
// `item` has any of text, picture (a data URL) and links. One that is too long for attention has its classes without.
export async function classifyItem(model, item, signal) {
  const asked = {...item, ...(item.text ? {text: item.text.toWellFormed()} : {})};
  const ask = drawn => request(kClassify, {model, item: asked, top: kMostClasses, contributions: true, attention: drawn, graph: drawn, priority: "interactive"}, signal);
  const {results: [result]} = await ask(true).catch(problem => {
    if (problem.kind !== "refused") throw problem;
    return ask(false);
  });
  return result;
}
export const classify = (model, text, signal) => resultOf(kClassify, {model, text, top: kMostClasses}, signal);
export const parse = (model, text, signal) => resultOf(kParse, {model, text}, signal);
// A recording's text, words with their seconds, and what they look at.
export function transcribe(model, file, signal) {
  const form = new FormData();
  for (const [name, value] of Object.entries({model, response_format: "verbose_json", "timestamp_granularities[]": "word", attention: true})) form.append(name, value);
  form.append("file", file, file.name);
  return request(kTranscriptions, form, signal);
}
export const fillIn = (model, text, signal) => resultOf(kFill, {model, text, top: kFillings}, signal);

const kTitles = {
  encoder: {title: "Encoder self-attention", query_title: "source token", key_title: "source token it looks at"},
  decoder: {title: "Decoder self-attention", query_title: "target token just read", key_title: "target token it looks at"},
  cross: {title: "Cross-attention", query_title: "target token being written", key_title: "source token it looks at"},
};

// The kinds of attention of one sentence, as an AttentionView shows them.
export async function attentionOf(sentence, model, signal) {
  const {translations} = await request(kTexts, {model, text: [sentence], n_best: 1, attention: true, split_sentences: "never"}, signal);
  const [{attention: {source_pieces: keys, encoder_self}, hypotheses: [best]}] = translations[0].sentences;
  const {target_pieces: read, decoder_self, cross} = best.attention;
  const written = [...read.slice(1), keys.at(-1)];
  // What is still to come gets nothing.
  const whole = decoder_self.map(heads => heads.map(rows => rows.map(row => read.map((_, k) => row[k] ?? 0))));
  return [
    {name: "encoder", ...kTitles.encoder, queries: keys, keys, weights: encoder_self},
    {name: "decoder", ...kTitles.decoder, queries: read, keys: read, weights: whole},
    {name: "cross", ...kTitles.cross, queries: written, keys, weights: cross},
  ];
}
