// What each word of a transcript looks at in the recording: the mean of the heads that times are read from, and one layer's heads,
// as colour over time, below the spectrogram. The page of `attend attention` and the server's page draw with it. Takes
// {alignment_layer, segments: [{begin, end, spectrogram (a data URL), columns, words: [{text, begin, end}], mean: [words][columns],
// heads: [layers][heads][words][columns] or null}]}, weights in ten-thousandths; styles are in attention.css and
// spectrogram_attention.css.

const kParts = 10000, kHeadRow = 5;  // pixels of a word in a head's map

function put(parent, tag, attributes = {}, text) {
  const node = parent.appendChild(document.createElement(tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const inPercent = part => `${(100 * part / kParts).toFixed(1)}\u00a0%`;
const inSeconds = seconds => `${seconds.toFixed(2)}\u00a0s`;

// Rows of weights as the canvas' own colour; `most` is in full colour.
function paint(canvas, rows, most) {
  const width = rows[0]?.length ?? 0;
  Object.assign(canvas, {width: Math.max(width, 1), height: Math.max(rows.length, 1)});
  if (!width || !most) return;
  const context = canvas.getContext("2d"), image = context.createImageData(width, rows.length);
  const [, red, green, blue] = getComputedStyle(canvas).color.match(/(\d+)\D+(\d+)\D+(\d+)/);
  rows.flat().forEach((weight, i) => image.data.set([red, green, blue, Math.round(255 * weight / most)], 4 * i));
  context.putImageData(image, 0, 0);
}

const mostOf = rows => Math.max(1, ...rows.map(row => Math.max(...row)));

export class SpectrogramAttention {
  // `picked` is called with the number of a word, of all segments, that was clicked.
  constructor(root, picked = () => {}) {
    Object.assign(this, {picked, attention: null, segment: 0, layer: null, word: -1, maps: []});
    root.classList.add("attention", "of-sound");
    const bar = put(root, "div", {class: "attention-bar"});
    this.segments = put(bar, "label", {class: "group"}, "part");
    this.choice = put(this.segments, "select");
    this.choice.addEventListener("change", () => this.open(+this.choice.value));
    this.layers = put(bar, "div", {class: "group", role: "group", "aria-label": "layer"});
    this.legend = put(bar, "div", {class: "legend", "aria-hidden": "true"});
    this.legend.append("0", document.createElement("i"), "most of its figure");
    this.note = put(root, "p", {class: "note", "aria-live": "polite"});
    this.main = put(root, "figure", {class: "sound-map"});
    this.figures = put(root, "div", {class: "figures"});
    this.words = [];
  }

  // `segment` and `layer`, from 0, are those to open at; else the layer on show stays.
  show(attention, segment = 0, layer = this.layer) {
    this.attention = attention;
    const layers = attention.segments.find(each => each.heads)?.heads.length ?? 0;
    this.layer = layers ? Math.min(layer ?? layers - 1, layers - 1) : null;
    this.choice.replaceChildren(...attention.segments.map(({begin, end}, i) => new Option(`${i + 1}: ${begin.toFixed(1)} to ${end.toFixed(1)} s`, i)));
    this.segments.hidden = attention.segments.length < 2;
    this.open(Math.min(segment, attention.segments.length - 1));
  }

  get shown() { return this.attention.segments[this.segment]; }

  // The number of a segment's first word, of all words.
  firstWord(segment) { return this.attention.segments.slice(0, segment).reduce((sum, {words}) => sum + words.length, 0); }

  open(segment) {
    this.segment = segment;
    this.choice.value = segment;
    this.word = -1;
    this.maps = [];
    this.drawMain();
    this.drawHeads();
    this.point(-1);
  }

  // Points at a word, by its number of all; -1: none. Its segment opens.
  pointAt(number) {
    if (!this.attention) return;
    const segment = this.attention.segments.findIndex((each, i) => number >= this.firstWord(i) && number < this.firstWord(i) + each.words.length);
    if (segment < 0) return this.point(-1);
    if (segment !== this.segment) this.open(segment);
    this.point(number - this.firstWord(segment));
  }

  drawMain() {
    const {main, shown} = this, {words, mean} = shown;
    main.replaceChildren();
    put(main, "figcaption", {}, `layer ${this.attention.alignment_layer}, mean of the heads that times are read from`);
    const grid = put(main, "div", {class: "sound-grid"});
    this.strip(grid, "the spectrogram as the model reads it", mean);
    const names = put(grid, "div", {class: "sound-words", role: "group", "aria-label": "words"});
    this.words = words.map((word, i) => this.wordButton(names, word, i));
    this.map(grid, mean, "mean");
    put(grid, "div", {class: "sound-axis", "aria-hidden": "true"}).append(...this.ticks());
    if (!words.length) put(main, "p", {class: "note"}, "Nothing is said here.");
  }

  wordButton(parent, {text, begin, end}, i) {
    const button = put(parent, "button", {type: "button", tabindex: i ? -1 : 0, title: `${text}, ${inSeconds(begin)} to ${inSeconds(end)}`, dir: "auto"}, text);
    button.addEventListener("focus", () => this.point(i));
    button.addEventListener("pointerenter", () => this.point(i));
    button.addEventListener("click", () => this.picked(this.firstWord(this.segment) + i));
    button.addEventListener("keydown", event => {
      const to = {ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: this.words.length - 1}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.words[to]?.focus();
    });
    return button;
  }

  // The spectrogram, and over it what the word looks at.
  strip(parent, label, rows) {
    const frame = put(parent, "div", {class: "sound-strip", role: "img", "aria-label": label});
    put(frame, "div", {class: "sound-ink"}).style.setProperty("--spectrogram", `url("${this.shown.spectrogram}")`);
    this.maps.push({over: put(frame, "canvas"), rows});
  }

  // A row for each word.
  map(parent, rows, name) {
    const {words, columns, begin, end} = this.shown, frame = put(parent, "div", {class: "sound-rows"});
    const canvas = put(frame, "canvas", {role: "img", "aria-label": `${name}: a row for each word, time from the left`}), mark = put(frame, "i", {class: "row-mark", hidden: ""});
    frame.style.setProperty("--words", words.length);
    paint(canvas, rows, mostOf(rows));
    this.maps.push({mark});
    const at = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)));
    canvas.addEventListener("pointermove", event => {
      const box = canvas.getBoundingClientRect(), word = at((event.clientY - box.top) / box.height, words.length), column = at((event.clientX - box.left) / box.width, columns);
      this.point(word);
      this.note.textContent = `${name}, “${words[word].text}”: ${inPercent(rows[word][column])} at ${inSeconds(begin + (end - begin) * (column + .5) / columns)}`;
    });
    canvas.addEventListener("click", () => { if (this.word >= 0) this.picked(this.firstWord(this.segment) + this.word); });
    return frame;
  }

  ticks() {
    const {begin, end} = this.shown, length = end - begin, step = [.1, .2, .5, 1, 2, 5, 10, 20, 60].find(each => length / each <= 5) ?? 120, ticks = [];
    for (let number = Math.ceil(begin / step); number * step <= end + 1e-9; number++) {
      const second = number * step, tick = document.createElement("span");
      tick.textContent = `${second.toFixed(step < 1 ? 1 : 0)} s`;
      tick.style.left = `${100 * (second - begin) / length}%`;
      tick.className = second > end - .12 * length ? "late" : "";
      ticks.push(tick);
    }
    return ticks;
  }

  drawHeads() {
    const focused = this.layers.contains(document.activeElement), {heads, words} = this.shown;
    this.layers.replaceChildren();
    this.figures.replaceChildren();
    if (!heads) return void put(this.figures, "p", {class: "note"}, "The heads of this part are left out: they would be too much for a page.");
    put(this.layers, "span", {}, "layer");
    heads.forEach((_, i) => {
      const button = put(this.layers, "button", {type: "button", "aria-pressed": i === this.layer}, String(i + 1));
      button.addEventListener("click", () => this.openLayer(i));
      if (focused && i === this.layer) button.focus();
    });
    if (!words.length) return;
    heads[this.layer].forEach((rows, head) => {
      const figure = put(this.figures, "figure"), caption = `layer ${this.layer + 1}, head ${head + 1}`;
      put(figure, "figcaption", {}, caption);
      this.strip(figure, `${caption}, over the spectrogram`, rows);
      this.map(figure, rows, caption).style.setProperty("--row", `${kHeadRow}px`);
    });
  }

  openLayer(layer) {
    const {word} = this;
    this.layer = layer;
    this.maps.length = Math.min(this.maps.length, 2);  // those of the mean
    this.drawHeads();
    this.point(word);
  }

  point(word) {
    this.word = word;
    const {words, begin, end, mean, columns} = this.shown;
    this.words.forEach((button, i) => {
      button.classList.toggle("pointed", i === word);
      button.tabIndex = i === Math.max(word, 0) ? 0 : -1;
    });
    for (const {over, mark, rows} of this.maps) {
      if (over) paint(over, word < 0 ? [] : [rows[word]], word < 0 ? 0 : mostOf([rows[word]]));
      if (!mark) continue;
      mark.hidden = word < 0;
      mark.style.top = `${100 * word / words.length}%`;
    }
    if (word < 0) return void (this.note.textContent = words.length ? "Point at a word to see where it listens." : "");
    const row = mean[word], most = Math.max(...row), silence = kParts - row.reduce((sum, each) => sum + each, 0);
    this.note.replaceChildren();
    put(this.note, "b", {dir: "auto"}, words[word].text);
    this.note.append(`, ${inSeconds(words[word].begin)} to ${inSeconds(words[word].end)}: listens most at ${inSeconds(begin + (end - begin) * (row.indexOf(most) + .5) / columns)}`
      + (silence > kParts / 50 ? `; ${inPercent(silence)} goes to the silence after the recording` : ""));
  }
}
