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

// Lights the words that belong to the one at the pointer, the finger or the keyboard, in both texts.
export class Alignment {
  // `mirror` lies under the text area `source` and holds its words; `say` tells a screen reader; `picked` is called with a
  // side, 0 for the source and 1 for the translation, and its word that was clicked or that the keyboard reached; `asked` with a
  // word of the translation that was clicked, or at which Enter was pressed (`keyboard`), and its element.
  constructor({source, mirror, output, say, picked, asked}) {
    Object.assign(this, {source, mirror, output, say, picked, asked, words: [[], []], links: [], lit: [], word: -1});
    output.addEventListener("pointerover", event => { if (event.target.dataset.word) this.light(1, +event.target.dataset.word); });
    output.addEventListener("click", event => {
      const word = +event.target.dataset.word;
      if (!event.target.dataset.word) return;
      picked(1, word);
      if (getSelection().isCollapsed) asked(word, this.words[1][word], false);  // else the reader selects text
    });
    source.addEventListener("click", () => picked(0, this.wordAtCaret()));
    for (const name of ["pointermove", "pointerdown"]) source.addEventListener(name, event => this.point(event));
    // A finger that was lifted still points.
    for (const area of [source, output]) area.addEventListener("pointerleave", event => { if (event.pointerType !== "touch") this.clear(); });
    addEventListener("pointerdown", event => { if (event.target !== source && !output.contains(event.target)) this.clear(); });
    output.addEventListener("keydown", event => this.walk(event));
    source.addEventListener("keyup", event => this.followCaret(event));
    for (const area of [source, output]) area.addEventListener("blur", event => {
      const to = event.relatedTarget;
      if (![source, output].includes(to) && !to?.closest("[role=menu]")) this.clear();  // a menu at the word leads back to it
    });
  }

  // The source as it stands, which no translation belongs to yet.
  showSource() {
    this.clear();
    this.words[0] = fillWords(this.mirror, this.source.value);
    this.mirror.append("\u200b");  // holds a last empty line open
    this.links = [];
  }

  // `links` are pairs of places [source, target]; `doubtful` has [place, probability in percent] of words in doubt.
  show(translation, links, doubtful) {
    this.showSource();
    this.words[1] = fillWords(this.output, translation);
    this.links = links;
    for (const [place, quality] of doubtful) {
      const word = this.words[1][place];
      if (!word) continue;
      word.classList.add("doubtful");
      word.title = `In doubt: the model finds this word ${Math.round(quality)} % probable`;
    }
  }

  // Underlines the words of each side from a place up to another.
  mark(ranges) {
    for (const [side, [from, to]] of ranges.entries()) this.words[side].forEach((word, i) => word.classList.toggle("current", i >= from && i < to));
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
    const places = new Set(this.links.filter(link => link[side] === index).map(link => link[1 - side]));
    const partners = [...places].sort((a, b) => a - b).map(place => this.words[1 - side][place]).filter(Boolean);
    word.classList.add("pointed");
    for (const partner of partners) partner.classList.add("aligned");
    this.lit = [word, ...partners];
    const names = partners.map(partner => partner.textContent).join(" ");
    const doubt = word.classList.contains("doubtful") ? ", in doubt" : "";
    return `${word.textContent}: ${names ? `${side ? "from" : "becomes"} ${names}` : "no aligned word"}${doubt}`;
  }

  point(event) {
    const under = document.elementsFromPoint(event.clientX, event.clientY).find(each => each.dataset.word && each.parentNode === this.mirror);
    if (under) this.light(0, +under.dataset.word); else this.clear();
  }

  // From word to word of the translation.
  walk(event) {
    const last = this.words[1].length - 1, leftwards = getComputedStyle(this.output).direction === "rtl";
    if (last < 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const word = {
      ArrowDown: this.word + 1, ArrowUp: this.word - 1, Home: 0, End: last,
      ArrowRight: this.word + (leftwards ? -1 : 1), ArrowLeft: this.word + (leftwards ? 1 : -1),
    }[event.key];
    if (event.key === "Escape") this.clear();
    if ((event.key === "Enter" || event.key === " ") && this.word >= 0) {
      event.preventDefault();
      this.asked(this.word, this.words[1][this.word], true);
    }
    if (word === undefined) return;
    event.preventDefault();
    this.stand(Math.min(Math.max(word, 0), last));
  }

  // The keyboard's place.
  stand(place) {
    this.say(this.light(1, place));
    this.word = place;
    this.picked(1, place);
  }

  wordAtCaret() {
    const words = this.source.value.slice(0, this.source.selectionStart).split(/[ \t\r\n]+(?=[^ \t\r\n])/).filter(Boolean).length;
    return Math.max(0, words - 1);
  }

  // To the word at the caret of the source, when the keyboard moves it.
  followCaret(event) {
    if (!/^(Arrow|Home|End|Page)/.test(event.key)) return;
    this.light(0, this.wordAtCaret());
    this.picked(0, this.wordAtCaret());
  }
}
