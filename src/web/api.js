// The server's API, and all that this page knows of it.

const kTexts = "v1/translate", kModels = "v1/models", kTimeout = 60000;

// Why a request gave nothing. `kind`: "gone" (no answer at all), "busy" (ask again in `seconds`), "key" (an API key is
// asked for) or "refused" (`message` says why).
export class Problem extends Error {
  constructor(kind, message, seconds = 0) {
    super(message);
    this.kind = kind;
    this.seconds = seconds;
  }
}

let key = "";  // for this page's life only
export function useKey(text) { key = text; }

async function request(path, body, signal) {
  const options = {signal: AbortSignal.any([signal, AbortSignal.timeout(kTimeout)].filter(Boolean)), headers: {}, cache: "no-store"};
  if (key) options.headers.Authorization = `Bearer ${key}`;
  if (body) Object.assign(options, {method: "POST", body: JSON.stringify(body)}).headers["Content-Type"] = "application/json";
  let response, text;
  try {
    response = await fetch(path, options);
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem("gone", "The translation server does not answer.");
  }
  if (!response.ok) throw problemOf(response, text);
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("refused", "The server's answer makes no sense to this page.");
  }
}

function problemOf(response, text) {
  let said = "";
  try { said = JSON.parse(text).error; } catch { /* no JSON: the status says enough */ }
  if (response.status === 429 || response.status === 503) {
    const seconds = Number(response.headers.get("Retry-After"));
    return new Problem("busy", "The server has much to do.", seconds > 0 ? Math.min(seconds, 60) : 2);
  }
  if (response.status === 403) return new Problem("key", key ? "The server does not know this API key." : "This server asks for an API key.");
  said ||= `the server answered with status ${response.status}`;
  return new Problem("refused", `This can't be translated: ${said}.`);
}

// [{name, source, target, beams}]; a language is "" where the model does not name it, `beams` are what a request gets.
export async function listModels(signal) {
  const {models} = await request(kModels, null, signal);
  return models.map(({name, source, target, beam_size: beams}) => ({name, source, target, beams}));
}

// Number of white-space words of a text that begin before `end`; one that goes on beyond it does not count.
function wordsBefore(text, end) {
  const words = text.slice(0, end).match(/[^ \t\r\n]+/g)?.length ?? 0;
  return /[^ \t\r\n]{2}/.test(text.slice(Math.max(0, end - 1), end + 1)) ? words - 1 : words;
}

// A whole text with each sentence's hypothesis of this rank in its place; scores add up.
function joined(source, sentences, rank) {
  let text = "", score = 0, at = 0;
  const links = [];
  for (const sentence of sentences) {
    const hypothesis = sentence.hypotheses[rank], begin = source.indexOf(sentence.source, at);
    text += source.slice(at, begin);
    const before = text.length;
    text += hypothesis.text;
    at = begin + sentence.source.length;
    score += hypothesis.score ?? NaN;  // null where there is no output at all
    const words = [wordsBefore(source, begin), wordsBefore(text, before)];
    for (const [s, t] of hypothesis.alignment ?? []) links.push([words[0] + s, words[1] + t]);
  }
  return {text: text + source.slice(at), score, links};
}

// One {hypotheses: [{text, score, links}], sentences: [text]} for each text, the best hypothesis first; `links` are pairs
// of places [source, target] of white-space words.
export async function translate(texts, {model, alternatives = 0, bulk = false}, signal) {
  texts = texts.map(text => text.toWellFormed());
  const body = {model, text: texts, n_best: alternatives + 1, alignments: !bulk, priority: bulk ? "bulk" : "interactive"};
  const {translations} = await request(kTexts, body, signal);
  return translations.map(({sentences}, i) => ({
    hypotheses: Array.from({length: alternatives + 1}, (_, rank) => joined(texts[i], sentences, rank)),
    sentences: sentences.map(sentence => sentence.source),
  }));
}

const kTitles = {
  encoder: {title: "Encoder self-attention", query_title: "source token", key_title: "source token it looks at"},
  decoder: {title: "Decoder self-attention", query_title: "target token just read", key_title: "target token it looks at"},
  cross: {title: "Cross-attention", query_title: "target token being written", key_title: "source token it looks at"},
};

// The kinds of attention of one sentence, as an AttentionView shows them.
export async function attentionOf(sentence, model, signal) {
  const {translations} = await request(kTexts, {model, text: [sentence], attention: true, split_sentences: false}, signal);
  const {source_pieces: keys, target_pieces: read, ...weights} = translations[0].sentences[0].attention;
  const written = [...read.slice(1), keys.at(-1)];
  // What is still to come gets nothing.
  const whole = weights.decoder_self.map(heads => heads.map(rows => rows.map(row => read.map((_, k) => row[k] ?? 0))));
  return [
    {name: "encoder", ...kTitles.encoder, queries: keys, keys, weights: weights.encoder_self},
    {name: "decoder", ...kTitles.decoder, queries: read, keys: read, weights: whole},
    {name: "cross", ...kTitles.cross, queries: written, keys, weights: weights.cross},
  ];
}
