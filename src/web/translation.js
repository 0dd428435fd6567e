// A translated text: its sentences, and the hypothesis that is chosen of each.

const kHigh = 70, kMedium = 50;  // least qualities of a hypothesis, 0 to 100

// Number of white-space words of a text that begin before `end`; one that goes on beyond it does not count.
function wordsBefore(text, end) {
  const words = text.slice(0, end).match(/[^ \t\r\n]+/g)?.length ?? 0;
  return /[^ \t\r\n]{2}/.test(text.slice(Math.max(0, end - 1), end + 1)) ? words - 1 : words;
}

// Of a hypothesis, as a word with its number; "" where the server does not say.
export function confidenceOf({quality, text}) {
  if (typeof quality !== "number" || !text) return "";
  const name = quality >= kHigh ? "high" : quality >= kMedium ? "medium" : "low";
  return `${name} (${Math.round(quality)})`;
}

export class Translation {
  // As the server gives it: of each sentence the best hypothesis first, and in `text` what stands between them.
  // `model` is the name of the one that translated this text.
  constructor(source, {model, text, sentences, divided = false, unknown_characters: unknown = 0}) {
    let at = 0, done = 0;
    Object.assign(this, {source, model, divided, unknown});
    this.sentences = sentences.map(sentence => {
      const begin = source.indexOf(sentence.source, at), best = sentence.hypotheses[0].text, place = text.indexOf(best, done);
      const before = text.slice(done, place);
      at = begin + sentence.source.length;
      done = place + best.length;
      const hypotheses = sentence.hypotheses.filter((each, i, all) => all.findIndex(other => other.text === each.text) === i);
      return {source: sentence.source, begin, before, hypotheses, matches: sentence.matches ?? [], rank: 0};
    });
    this.rest = text.slice(done);
  }

  get text() { return this.sentences.map(each => each.before + each.hypotheses[each.rank].text).join("") + this.rest; }

  // The sentences whose translation stops at the longest output.
  get cut() { return this.sentences.filter(each => !each.hypotheses[each.rank].finished).map(each => each.source); }

  // The white-space word, [of the source, of the translation], with which each sentence begins.
  get beginnings() {
    const {text} = this;
    let at = 0;
    return this.sentences.map(({begin, before, hypotheses, rank}) => {
      const place = at + before.length;
      at = place + hypotheses[rank].text.length;
      return [wordsBefore(this.source, begin), wordsBefore(text, place)];
    });
  }

  // Pairs of places [of the source, of the translation] of words that belong together.
  get links() {
    const {beginnings} = this;
    return this.sentences.flatMap(({hypotheses, rank}, i) =>
      hypotheses[rank].alignment.map(([source, target]) => [beginnings[i][0] + source, beginnings[i][1] + target]));
  }

  // Where a word of the translation stands: its sentence, and what of that sentence's translation is before it.
  placeOf(word) {
    const sentence = this.sentenceOf(1, word), {hypotheses, rank} = this.sentences[sentence];
    const before = word - this.beginnings[sentence][1], words = hypotheses[rank].text.match(/[^ \t\r\n]+/g) ?? [];
    return {sentence, word, prefix: words.slice(0, before).join(" ")};
  }

  // Gives a sentence this text, of which nothing is known if it is none of the hypotheses.
  take(sentence, text) { this.replace(sentence, {text, score: null, finished: true, alignment: []}); }

  // Gives a sentence this translation, which may be a new one.
  replace(sentence, hypothesis) {
    const of = this.sentences[sentence], known = of.hypotheses.findIndex(each => each.text === hypothesis.text);
    of.rank = known < 0 ? of.hypotheses.push(hypothesis) - 1 : known;
  }

  // [place, quality] of each word of the translation that is in doubt.
  get doubtful() {
    const {beginnings} = this;
    return this.sentences.flatMap(({hypotheses, rank}, i) => {
      const {doubtful_words: words = [], word_quality: quality} = hypotheses[rank];
      return words.map(word => [beginnings[i][1] + word, quality[word]]);
    });
  }

  // The sentence of a word of the source (`side` 0) or the translation (1).
  sentenceOf(side, word) { return Math.max(0, this.beginnings.findLastIndex(places => places[side] <= word)); }
}
