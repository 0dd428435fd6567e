// Other translations of one sentence.
import {confidenceOf} from "./translation.js";

// Appends `text` to `root`, in bold what stands between its first and its last word that differ from those of `other`; the
// words beside the place where something is missing.
function appendDifference(root, text, other) {
  const words = text.split(/(?<=[ \t\r\n])/), others = other.split(/(?<=[ \t\r\n])/), least = Math.min(words.length, others.length);
  let first = 0, last = 0;
  while (first < least && words[first].trim() === others[first].trim()) ++first;
  while (last < least - first && words.at(-1 - last).trim() === others.at(-1 - last).trim()) ++last;
  if (first + last === words.length) {
    first = Math.max(first - 1, 0);
    last = Math.max(last - 1, 0);
  }
  const differing = document.createElement("b");
  differing.textContent = words.slice(first, words.length - last).join("");
  root.append(words.slice(0, first).join(""), differing, words.slice(words.length - last).join(""));
}

const kConfidence = "Confidence: how probable the model finds the words, 0 to 100";

export class Alternatives {
  // `chosen` is called with the rank that the reader prefers.
  constructor(root, chosen) { Object.assign(this, {root, chosen}); }

  // Of a sentence of a Translation, undefined where there is none; `name` is its name where there are several.
  show(sentence, name, language) {
    const {hypotheses = [], rank} = sentence ?? {};
    this.root.hidden = hypotheses.length < 2;
    this.root.querySelector("h2").textContent = `Alternatives${name}`;
    this.root.querySelector("ul").replaceChildren(...hypotheses.flatMap((each, i) => i === rank ? [] : [this.item(each, hypotheses[rank], i, language)]));
  }

  item(hypothesis, shown, rank, language) {
    const item = document.createElement("li"), button = document.createElement("button"), figure = document.createElement("span");
    button.type = "button";
    button.dir = "auto";
    button.lang = language;
    appendDifference(button, hypothesis.text, shown.text);
    button.addEventListener("click", () => this.chosen(rank));
    figure.textContent = confidenceOf(hypothesis);
    figure.title = kConfidence;
    item.append(button, figure);
    return item;
  }
}
