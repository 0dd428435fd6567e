// What looks at what: heat maps or lines, one layer at a time, all heads or one. The page of `attend attention` and the
// translation page draw with it. A kind of attention is {name, title, query_title, key_title, queries, keys,
// weights: [layers][heads][queries][keys]}; styles are in attention.css.

function make(parent, tag, attributes = {}, text) {
  const space = tag === "svg" ? "http://www.w3.org/2000/svg" : parent.namespaceURI;
  const node = parent.appendChild(document.createElementNS(space, tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const kGap = 16, kFrame = 22;  // pixels between figures, and of a figure around its map
const kSmallestCell = 12;

const shortened = token => { const c = Array.from(token); return c.length > 18 ? c.slice(0, 17).join("") + "…" : token; };
// A straight line in OKLab: equal steps of weight are equal steps for the eye.
const colorOf = weight => `color-mix(in oklab, var(--heat-high) ${(100 * weight).toFixed(1)}%, var(--heat-low))`;
const headColor = (head, heads) => {
  const hue = (360 * head / heads + 250) % 360;
  return `light-dark(oklch(.56 .16 ${hue}), oklch(.78 .16 ${hue}))`;
};

function tokenText(svg, token, attributes) {
  const text = make(svg, "text", attributes), label = shortened(token);
  if (label.startsWith("▁")) make(text, "tspan", {class: "pale"}, "▁");
  text.append(label.replace(/^▁/, ""));
  make(text, "title", {}, token);
  return text;
}

export class AttentionView {
  // Draws into `root`; keys pressed inside `keyboard` steer it.
  constructor(root, keyboard = root) {
    this.kinds = [];
    this.state = {kind: "cross", layer: null, view: null, head: null};  // the view is chosen by the room until someone does
    this.pen = document.createElement("canvas").getContext("2d");
    this.pen.font = `100px ${getComputedStyle(root).fontFamily}`;
    this.widths = new Map();  // of tokens, at a size of one pixel
    this.panels = [];  // one for each heat map: marks a row and a column
    root.classList.add("attention");
    this.title = make(root, "h2");
    this.bar = make(root, "div", {class: "attention-bar"});
    this.groups = {};
    for (const [name, label] of [["kinds", "kind of attention"], ["layers", "layer"], ["views", "view"], ["heads", "heads"]]) {
      this.groups[name] = make(this.bar, "div", {class: "group", role: "group", "aria-label": label, "data-group": name});
    }
    this.legend = make(this.bar, "div", {class: "legend", "aria-hidden": "true"});
    this.legend.append("0", document.createElement("i"), "1");
    this.note = make(root, "p", {class: "note", "aria-live": "polite"});
    this.figures = make(root, "div", {class: "figures"});
    const help = make(root, "p", {class: "note keys"});
    for (const part of ["Keys: ", "←", " ", "→", " layer, ", "1", " ", "2", " ", "3", " kind, ", "v", " view, ", "[", " ", "]",
      " one head after another, ", "Esc", " all heads; in a map that Tab reached, the arrows walk through its cells. ▁ begins a word."]) {
      if (/^.$|^Esc$/.test(part) && part !== " ") make(help, "kbd", {}, part); else help.append(part);
    }
    keyboard.addEventListener("keydown", event => this.steer(event));
    let width = 0;
    new ResizeObserver(() => {
      const now = this.figures.clientWidth;
      if (now !== width && this.kinds.length) this.draw();
      width = now;
    }).observe(this.figures);
  }

  // `opening` may name the kind and the layer (from 0) to open at; else those on show stay.
  show(kinds, opening = {}) {
    this.kinds = kinds;
    Object.assign(this.state, opening);
    if (!kinds.some(kind => kind.name === this.state.kind)) this.state.kind = kinds[0].name;
    this.draw();
  }

  kind() { return this.kinds.find(kind => kind.name === this.state.kind); }
  heads() { return this.kind().weights[this.state.layer]; }
  shown() {
    return this.heads().map((w, head) => ({head, w})).filter(each => this.state.head === null || each.head === this.state.head);
  }

  draw() {
    const {state} = this, layers = this.kind().weights.length;
    state.layer = Math.min(state.layer ?? layers - 1, layers - 1);
    if (state.head !== null && state.head >= this.heads().length) state.head = null;
    const group = document.activeElement?.closest("[data-group]")?.dataset.group;
    const place = group && [...this.groups[group].querySelectorAll("button")].indexOf(document.activeElement);
    const shown = this.shown(), {columns, measures, fits} = this.layout(shown.length);
    this.view = state.view ?? (fits ? "map" : "lines");
    this.controls();
    if (group) this.groups[group].querySelectorAll("button")[place]?.focus();
    this.title.textContent = `${this.kind().title}, layer ${state.layer + 1} of ${layers}`;
    this.figures.replaceChildren();
    this.panels = [];
    this.figures.style.setProperty("--columns", this.view === "map" ? columns : 1);
    if (this.view === "lines") this.lines(shown);
    else for (const {head, w} of shown) this.heatMap(head, w, measures);
    this.legend.hidden = this.view === "lines";
    this.leave();
  }

  choose(group, label, pressed, change, chip) {
    const button = make(this.groups[group], "button", {type: "button", "aria-pressed": pressed});
    if (chip) make(make(button, "svg", {class: "chip", viewBox: "0 0 1 1"}), "rect", {width: 1, height: 1, rx: .25, fill: chip});
    button.append(label);
    button.addEventListener("click", () => { Object.assign(this.state, change); this.draw(); });
  }

  controls() {
    const {state} = this, heads = this.heads().length;
    for (const [name, label] of [["kinds", ""], ["layers", "layer"], ["views", ""], ["heads", "heads"]]) {
      this.groups[name].replaceChildren();
      if (label) make(this.groups[name], "span", {}, label);
    }
    for (const {name} of this.kinds) this.choose("kinds", name, name === state.kind, {kind: name});
    this.kind().weights.forEach((_, i) => this.choose("layers", String(i + 1), i === state.layer, {layer: i}));
    for (const [view, label] of [["map", "heat maps"], ["lines", "lines"]]) this.choose("views", label, view === this.view, {view});
    this.choose("heads", "all", state.head === null, {head: null});
    for (let h = 0; h < heads; ++h) {
      this.choose("heads", String(h + 1), state.head === h, {head: state.head === h ? null : h}, this.view === "lines" && headColor(h, heads));
    }
  }

  // Pixels that the longest of these takes at this size.
  widthOf(tokens, font) {
    for (const token of tokens) if (!this.widths.has(token)) this.widths.set(token, this.pen.measureText(shortened(token)).width / 100);
    return Math.max(20, ...tokens.map(token => font * this.widths.get(token)));
  }

  // The measures, in pixels, of a heat map whose cells have this side; column labels lean out of it.
  measure(cell) {
    const {queries, keys} = this.kind(), font = Math.min(13, .83 * cell), slanted_font = Math.min(13, .74 * cell);
    const left = this.widthOf(queries, font) + 9, slanted = keys.map(key => (this.widthOf([key], slanted_font) + slanted_font) * Math.SQRT1_2);
    return {cell, font, slanted_font, left, top: Math.max(...slanted) + 8, width: left + Math.max(keys.length * cell, ...slanted.map((length, k) => (k + .5) * cell + length))};
  }

  // Figures a row, rows being even (four heads stand as 2 + 2, not as 3 + 1), and their measures: as many a row as can be
  // read; `fits` says whether there is room for one.
  layout(heads) {
    const longest = Math.max(this.kind().queries.length, this.kind().keys.length), readable = Math.max(kSmallestCell, Math.min(16, 300 / longest));
    const largest = heads === 1 ? Math.min(40, 720 / longest) : Math.min(34, 540 / longest);
    for (let rows = 1; ; ++rows) {
      const columns = Math.ceil(heads / rows), room = (this.figures.clientWidth + kGap) / columns - kGap - kFrame;
      let cell = Math.max(18, largest);
      while (cell > kSmallestCell && this.measure(cell).width > room) cell = Math.max(kSmallestCell, cell - .5);
      const measures = this.measure(cell), fits = measures.width <= room;
      if ((fits && cell >= readable) || columns === 1) return {columns, measures, fits};
    }
  }

  leave() {
    for (const panel of this.panels) panel(null, null);
    const map = this.view === "map";
    this.note.textContent = `${map ? "rows" : "left"}: ${this.kind().query_title}; ${map ? "columns" : "right"}: ${this.kind().key_title}. `
      + (map ? "Point at a cell to read its weight, at a token for its strongest." : "Point at a token to read its weights, or reach it with Tab.");
  }

  // Every map marks the row and column that is pointed at in one of them.
  point(head, w, q, k) {
    for (const panel of this.panels) panel(q, k);
    if (q === null || k === null) return this.strongest([{head, w}], q, k);
    this.note.replaceChildren();
    for (const [i, part] of [`head ${head + 1}: `, this.kind().queries[q], " gives ", this.kind().keys[k], " the weight ", w[q][k].toFixed(3)].entries()) {
      make(this.note, i % 2 ? "b" : "span", {}, part);
    }
  }

  // The four strongest of a row (`k` is null) or of a column (`q` is null).
  strongest(list, q, k) {
    const {queries, keys} = this.kind();
    const best = (q !== null ? keys.map((key, j) => [key, list.reduce((s, h) => s + h.w[q][j], 0)]) : queries.map((query, i) => [query, list.reduce((s, h) => s + h.w[i][k], 0)]))
      .sort((a, b) => b[1] - a[1]).slice(0, 4).map(([token, sum]) => `${token} ${(sum / list.length).toFixed(3)}`).join(", ");
    const whose = list.length > 1 ? "mean of the heads shown" : `head ${list[0].head + 1}`;
    this.note.textContent = `${q !== null ? queries[q] + " gives most to" : keys[k] + " gets most from"} (${whose}): ${best}`;
  }

  heatMap(head, w, {cell, font, slanted_font, left, top, width}) {
    const figure = make(this.figures, "figure");
    make(figure, "figcaption", {}, `head ${head + 1}`);
    const {queries, keys} = this.kind(), height = top + queries.length * cell + 2;
    const svg = make(figure, "svg", {width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img", "font-size": font,
      "aria-label": `head ${head + 1}: ${queries.length} rows, ${keys.length} columns; the arrow keys read their weights`});
    make(svg, "rect", {class: "frame", x: left, y: top, width: keys.length * cell, height: queries.length * cell});
    w.forEach((row, q) => row.forEach((weight, k) => {
      if (weight < .002) return;  // the frame's own colour
      make(svg, "rect", {x: left + k * cell + .5, y: top + q * cell + .5, width: cell - 1, height: cell - 1, fill: colorOf(weight)});
    }));
    const columns = keys.map((token, k) => tokenText(svg, token, {
      transform: `translate(${left + (k + .5) * cell + .3 * slanted_font} ${top - 5}) rotate(-45)`, "font-size": slanted_font, "data-k": k}));
    const rows = queries.map((token, q) => tokenText(svg, token, {x: left - 6, y: top + (q + .5) * cell + .35 * font, "text-anchor": "end"}));
    const marks = [make(svg, "rect", {class: "mark", x: left, width: keys.length * cell, height: cell}),
                   make(svg, "rect", {class: "mark", y: top, width: cell, height: queries.length * cell})];
    this.panels.push((q, k) => {
      rows.forEach((text, i) => text.classList.toggle("hot", i === q));
      columns.forEach((text, i) => text.classList.toggle("hot", i === k));
      marks.forEach((mark, i) => mark.setAttribute("visibility", (i ? k : q) === null ? "hidden" : "visible"));
      if (q !== null) marks[0].setAttribute("y", top + q * cell);
      if (k !== null) marks[1].setAttribute("x", left + k * cell);
    });
    this.mapEvents(svg, {left, top, cell}, (q, k) => this.point(head, w, q, k));
  }

  // Calls point(q, k) as the pointer or the arrow keys move over a map; one of the two is null at a token.
  mapEvents(svg, {left, top, cell}, point) {
    const {queries, keys} = this.kind();
    svg.addEventListener("pointermove", event => {
      const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
      const index = (place, start, count) => { const i = Math.floor((place * scale - start) / cell); return i >= 0 && i < count ? i : null; };
      const q = index(event.clientY - box.top, top, queries.length), column = event.target.closest("[data-k]")?.dataset.k;
      const k = column === undefined ? (q === null ? null : index(event.clientX - box.left, left, keys.length)) : +column;
      if (q === null && k === null) this.leave(); else point(q, k);
    });
    svg.addEventListener("pointerleave", () => this.leave());
    svg.addEventListener("blur", () => this.leave());
    let at = null;
    svg.addEventListener("keydown", event => {
      const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
      if (!move) return;
      at = at === null ? [0, 0] : [Math.min(Math.max(at[0] + move[0], 0), queries.length - 1), Math.min(Math.max(at[1] + move[1], 0), keys.length - 1)];
      event.preventDefault();
      event.stopPropagation();
      point(...at);
    });
  }

  // Two columns of tokens and a line for each weight, as figures 3 to 5 of the paper have it; a colour for each head.
  lines(list) {
    const {queries, keys} = this.kind(), step = 26, font = 14, total = this.heads().length;
    const left = this.widthOf(queries, font) + 12, beside = this.widthOf(keys, font) + 12;
    const middle = Math.max(90, this.figures.clientWidth - kFrame - left - beside), right = left + middle, width = right + beside;
    const height = Math.max(queries.length, keys.length) * step + 12;
    const svg = make(make(this.figures, "figure"), "svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "lines", "font-size": font});
    const y = i => 6 + (i + .5) * step, drawn = [];
    for (const {head, w} of list) w.forEach((row, q) => row.forEach((weight, k) => {
      if (weight < .02) return;
      const path = make(svg, "path", {d: `M${left} ${y(q)} C${left + middle / 2} ${y(q)} ${right - middle / 2} ${y(k)} ${right} ${y(k)}`, fill: "none",
        stroke: headColor(head, total), "stroke-width": list.length > 1 ? 2 : 3, opacity: .9 * weight});
      drawn.push({path, q, k, opacity: .9 * weight});
    }));
    const token = (text, x, i, anchor) => tokenText(svg, text, {x, y: y(i) + 5, "text-anchor": anchor, tabindex: 0, role: "img", "aria-label": text});
    const rows = queries.map((text, q) => token(text, left - 8, q, "end"));
    const columns = keys.map((text, k) => token(text, right + 8, k, "start"));
    const focus = (q, k) => {
      for (const line of drawn) {
        const on = (q === null || line.q === q) && (k === null || line.k === k);
        line.path.setAttribute("opacity", on ? (q === null && k === null ? line.opacity : Math.min(1, line.opacity * 1.3 + .08)) : .02);
      }
      rows.forEach((text, i) => text.classList.toggle("hot", i === q));
      columns.forEach((text, i) => text.classList.toggle("hot", i === k));
      if (q === null && k === null) this.leave(); else this.strongest(list, q, k);
    };
    for (const event of ["pointerenter", "focus"]) {
      rows.forEach((text, q) => text.addEventListener(event, () => focus(q, null)));
      columns.forEach((text, k) => text.addEventListener(event, () => focus(null, k)));
    }
    for (const text of [...rows, ...columns]) for (const event of ["pointerleave", "blur"]) text.addEventListener(event, () => focus(null, null));
  }

  steer(event) {
    if (!this.kinds.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const {state} = this, layers = this.kind().weights.length, heads = this.heads().length;
    const step = (event.key === "]") - (event.key === "["), numbered = /^[1-9]$/.test(event.key) && this.kinds[event.key - 1];
    if (event.key === "ArrowRight") state.layer = Math.min(state.layer + 1, layers - 1);
    else if (event.key === "ArrowLeft") state.layer = Math.max(state.layer - 1, 0);
    else if (event.key === "v") state.view = this.view === "map" ? "lines" : "map";
    else if (event.key === "Escape") state.head = null;
    else if (step !== 0) state.head = state.head === null ? (step > 0 ? 0 : heads - 1) : (state.head + step + heads) % heads;
    else if (numbered) state.kind = numbered.name;
    else return;
    event.preventDefault();
    this.draw();
  }
}
