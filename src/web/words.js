// The words of source and translation, and which belong together.

const kMostDivided = 20000;  // characters of a text whose words can be pointed at

// Replaces what is in `root` by `text`, each white-space word in a span; gives the spans.
function fillWords(root, text) {
  const spans = [], parts = text.length > kMostDivided ? [text] : text.split(/([^ \t\r\n]+)/);
  root.replaceChildren(...parts.map((part, i) => {
    if (i % 2 === 0) return document.createTextNode(part);
    const span = document.createElement("span");
    span.textContent = part;
    span.dataset.word = spans.length;
    spans.push(span);
    return span;
  }));
  return spans;
}

// Appends `text` to `root`, in bold what stands between its first and its last word that differ from those of `other`; the
// words beside the place where something is missing.
export function appendDifference(root, text, other) {
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

// Lights the words that belong to the one at the pointer, the finger or the keyboard, in both texts.
export class Alignment {
  // `mirror` lies under the text area `source` and holds its words; `say` tells a screen reader.
  constructor({source, mirror, output, say}) {
    Object.assign(this, {source, mirror, output, say, words: {source: [], target: []}, links: [], lit: [], word: -1});
    output.addEventListener("pointerover", event => { if (event.target.dataset.word) this.light("target", +event.target.dataset.word); });
    for (const name of ["pointermove", "pointerdown"]) source.addEventListener(name, event => this.point(event));
    // A finger that was lifted still points.
    for (const area of [source, output]) area.addEventListener("pointerleave", event => { if (event.pointerType !== "touch") this.clear(); });
    addEventListener("pointerdown", event => { if (event.target !== source && !output.contains(event.target)) this.clear(); });
    output.addEventListener("keydown", event => this.walk(event));
    source.addEventListener("keyup", event => this.followCaret(event));
    for (const area of [source, output]) area.addEventListener("blur", event => { if (![source, output].includes(event.relatedTarget)) this.clear(); });
  }

  // The source as it stands, which no translation belongs to yet.
  showSource() {
    this.clear();
    this.words.source = fillWords(this.mirror, this.source.value);
    this.mirror.append("\u200b");  // holds a last empty line open
    this.links = [];
  }

  // `links` are pairs of places [source, target].
  show(translation, links) {
    this.showSource();
    this.words.target = fillWords(this.output, translation);
    this.links = links;
  }

  clear() {
    for (const span of this.lit) span.classList.remove("pointed", "aligned");
    this.lit = [];
    this.word = -1;
  }

  // Gives what to say of a word, "" where there is nothing.
  light(side, index) {
    this.clear();
    const word = this.words[side][index];
    if (!word) return "";
    const own = side === "source" ? 0 : 1, other = this.words[own ? "source" : "target"];
    const places = new Set(this.links.filter(link => link[own] === index).map(link => link[1 - own]));
    const partners = [...places].sort((a, b) => a - b).map(place => other[place]).filter(Boolean);
    word.classList.add("pointed");
    for (const partner of partners) partner.classList.add("aligned");
    this.lit = [word, ...partners];
    const names = partners.map(partner => partner.textContent).join(" ");
    return names ? `${word.textContent}: ${own ? "from" : "becomes"} ${names}` : `${word.textContent}: no aligned word`;
  }

  point(event) {
    const under = document.elementsFromPoint(event.clientX, event.clientY).find(each => each.dataset.word && each.parentNode === this.mirror);
    if (under) this.light("source", +under.dataset.word); else this.clear();
  }

  // From word to word of the translation.
  walk(event) {
    const last = this.words.target.length - 1, leftwards = getComputedStyle(this.output).direction === "rtl";
    if (last < 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const word = {
      ArrowDown: this.word + 1, ArrowUp: this.word - 1, Home: 0, End: last,
      ArrowRight: this.word + (leftwards ? -1 : 1), ArrowLeft: this.word + (leftwards ? 1 : -1),
    }[event.key];
    if (event.key === "Escape") this.clear();
    if (word === undefined) return;
    event.preventDefault();
    const place = Math.min(Math.max(word, 0), last);
    this.say(this.light("target", place));
    this.word = place;
  }

  // To the word at the caret of the source, when the keyboard moves it.
  followCaret(event) {
    if (!/^(Arrow|Home|End)/.test(event.key)) return;
    const words = this.source.value.slice(0, this.source.selectionStart).split(/[ \t\r\n]+(?=[^ \t\r\n])/).filter(Boolean).length;
    this.light("source", Math.max(0, words - 1));
  }
}
