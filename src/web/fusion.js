// What a model of fusion says of an item: what each input contributes, the words coloured by attention, the picture under it and the
// graph around the links. The page of `attend attention` and the server's page draw with it; it imports nothing, so that it can stand
// in a page. Styles are in attention.css, picture_attention.css and fusion.css.

function put(parent, tag, attributes = {}, text) {
  const node = parent.appendChild(document.createElement(tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const kInputs = ["text", "picture", "links"], kAllInputs = ["summary", ...kInputs];
const shareText = share => `${(100 * share).toFixed(1)} %`;

// A bar to the right of the middle for each input that speaks for the class, to the left for one that speaks against it; a whole bar is
// at least 1, a probability e times as large.
export function showContributions(list, contributions) {
  const entries = Object.entries(contributions), most = Math.max(1, ...entries.map(([, value]) => Math.abs(value ?? 0)));
  list.replaceChildren();
  list.classList.add("contributions");
  for (const [input, value] of entries) {
    const line = put(list, "li");
    put(line, "span", {class: "contribution-name"}, input);
    const bar = put(put(line, "span", {class: "signed-bar", "aria-hidden": "true"}), "i", {class: value < 0 ? "against" : "for"});
    bar.style.width = `${50 * Math.abs(value ?? 0) / most}%`;
    const size = Math.abs(value ?? 0).toFixed(2), sign = Number(size) === 0 ? "" : value < 0 ? "−" : "+";
    put(line, "span", {class: "contribution-number"}, value === null ? "alone" : sign + size);
  }
}

export class ItemView {
  // `parts`: the classes PictureAttention and Neighbourhood.
  constructor(root, parts) {
    Object.assign(this, {parts, layer: null, head: 0});  // no layer: the rollout through all
    root.classList.add("attention", "of-item");
    const bar = put(root, "div", {class: "attention-bar"});
    this.layers = put(bar, "div", {class: "group", role: "group", "aria-label": "layer of the words and links"});
    this.heads = put(bar, "div", {class: "group", role: "group", "aria-label": "head of the words and links"});
    this.shares = put(root, "div", {class: "shares"});
    this.note = put(root, "p", {class: "note", "aria-live": "polite"});
    this.text = put(root, "section", {class: "item-text", "aria-label": "Words"});
    this.picture = put(root, "section", {class: "item-picture", "aria-label": "Picture"});
    put(this.picture, "h3", {}, "Picture");
    this.pictureView = put(this.picture, "div");
    this.graph = put(root, "section", {class: "item-graph", "aria-label": "Graph around the links"});
    this.graphTitle = put(this.graph, "h3", {}, "The graph around the links");
    this.neighbourhood = new parts.Neighbourhood(put(this.graph, "div"));
  }

  // `answer` has "attention", and "graph" where it is known. `layer`, from 0, is what the picture opens at.
  show({attention, graph}, layer) {
    Object.assign(this, {attention, triples: graph});
    const layers = attention.shares.summary.heads.length;
    if (this.layer !== null && this.layer >= layers) this.layer = null;
    this.picture.hidden = attention.picture === null;
    if (attention.picture) {
      this.patches ??= new this.parts.PictureAttention(this.pictureView);
      this.patches.show(attention.picture, layer);
    }
    this.draw();
  }

  // Of [layers][heads] and the rollout, what is chosen.
  chosen({heads, rollout}) { return this.layer === null ? rollout : heads[this.layer][this.head]; }

  buttons(group, title, labels, chosen, choose) {
    const focused = [...group.querySelectorAll("button")].indexOf(document.activeElement);
    group.replaceChildren();
    put(group, "span", {}, title);
    labels.forEach((label, i) => {
      const button = put(group, "button", {type: "button", "aria-pressed": i === chosen}, label);
      button.addEventListener("click", () => { choose(i); this.draw(); });
      if (focused === i) button.focus();
    });
  }

  draw() {
    const {attention} = this, layers = attention.shares.summary.heads;
    this.buttons(this.layers, "layer", ["all (rollout)", ...layers.map((_, i) => String(i + 1))], this.layer === null ? 0 : this.layer + 1, i => { this.layer = i ? i - 1 : null; });
    this.heads.hidden = this.layer === null;
    this.head = Math.min(this.head, layers[0].length - 1);
    this.buttons(this.heads, "head", layers[0].map((_, i) => String(i + 1)), this.head, i => { this.head = i; });
    this.drawShares();
    this.drawWords();
    this.drawGraph();
    this.tell();
  }

  tell(text = "Point at a word to read its share.") { this.note.textContent = this.attention.text ? text : ""; }

  // What summary, text, picture and links get together.
  drawShares() {
    const {shares} = this.attention;
    this.shares.replaceChildren();
    const bar = put(this.shares, "div", {class: "share-bar", "aria-hidden": "true"}), list = put(this.shares, "ul");
    for (const input of kAllInputs) {
      const share = this.chosen(shares[input]);
      if (input !== "summary" && !this.attention[input]) continue;
      put(bar, "i", {class: `of-${input}`}).style.flexGrow = share;
      const line = put(list, "li");
      put(line, "i", {class: `of-${input}`, "aria-hidden": "true"});
      line.append(`${input} ${shareText(share)}`);
    }
  }

  drawWords() {
    const {text} = this.attention;
    this.text.hidden = !text;
    this.text.replaceChildren();
    if (!text) return;
    put(this.text, "h3", {}, "Words");
    const place = put(this.text, "p", {class: "heated", dir: "auto"}), shares = text.words.map(() => 0);
    this.chosen(text).forEach((share, piece) => { if (text.piece_words[piece] >= 0) shares[text.piece_words[piece]] += share; });
    const most = Math.max(...shares), read = Math.max(-1, ...text.piece_words);
    text.words.forEach((word, i) => {
      const span = put(place, "span", i > read ? {class: "unread"} : {}, word);
      place.append(" ");
      span.style.setProperty("--strength", `${most > 0 ? (60 * shares[i] / most).toFixed(1) : 0}%`);
      span.title = shareText(shares[i]);
      span.addEventListener("pointerenter", () => this.tell(`“${word}” has ${shareText(shares[i])}`));
      span.addEventListener("pointerleave", () => this.tell());
    });
  }

  drawGraph() {
    const {links} = this.attention, {triples} = this;
    this.graph.hidden = !links;
    if (!links) return;
    const shares = this.chosen(links), count = triples?.triples.length ?? 0, left = triples?.left_out ?? 0;
    this.graphTitle.textContent = count === 0 ? "Links" : left ? `The graph around the links: ${count} of ${count + left} relations` : "The graph around the links";
    this.neighbourhood.show(triples ?? {triples: [], left_out: 0}, links.nodes.map((node, i) => ({node, share: shares[i]})));
  }
}
