// What a model looks at in a picture: attention rollout, and one layer's heads, as colour over the patches it reads. The page of
// `attend attention` and the server's page draw with it. Takes {picture (a data URL), rows, columns, heads: [layers][heads][patches],
// rollout: [patches]}; styles are in attention.css and picture_attention.css.

function add(parent, tag, attributes = {}, text) {
  const node = parent.appendChild(document.createElement(tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const shareOf = value => `${(100 * value).toFixed(1)} %`;

export class PictureAttention {
  constructor(root) {
    this.layer = null;
    root.classList.add("attention", "of-picture");
    const bar = add(root, "div", {class: "attention-bar"});
    this.layers = add(bar, "div", {class: "group", role: "group", "aria-label": "layer"});
    this.legend = add(bar, "div", {class: "legend", "aria-hidden": "true"});
    this.legend.append("0", document.createElement("i"), "most of its figure");
    this.note = add(root, "p", {class: "note", "aria-live": "polite"});
    this.figures = add(root, "div", {class: "figures"});
  }

  // `layer`, from 0, is the one to open at; else the one on show stays.
  show(attention, layer = this.layer) {
    this.attention = attention;
    const last = attention.heads.length - 1;
    this.layer = Math.min(layer ?? last, last);
    this.draw();
  }

  draw() {
    const {attention, layer} = this, focused = this.layers.contains(document.activeElement);
    this.layers.replaceChildren();
    add(this.layers, "span", {}, "layer");
    attention.heads.forEach((_, i) => {
      const button = add(this.layers, "button", {type: "button", "aria-pressed": i === layer}, String(i + 1));
      button.addEventListener("click", () => { this.layer = i; this.draw(); });
      if (focused && i === layer) button.focus();
    });
    this.figures.replaceChildren();
    this.figure("what the model reads", null);
    this.figure("all layers (rollout)", attention.rollout);
    attention.heads[layer].forEach((map, head) => this.figure(`layer ${layer + 1}, head ${head + 1}`, map));
    this.tell();
  }

  tell(text = "Point at a patch to read its share.") { this.note.textContent = text; }

  figure(caption, map) {
    const {picture, rows, columns} = this.attention, figure = add(this.figures, "figure");
    add(figure, "figcaption", {}, caption);
    const frame = add(figure, "div", {class: "patches-frame"}), most = map && Math.max(...map);
    add(frame, "img", {src: picture, alt: map ? `${caption}: most ${shareOf(most)}, in row ${1 + Math.floor(map.indexOf(most) / columns)}, column ${1 + map.indexOf(most) % columns}` : caption});
    if (!map) return;
    const patches = add(frame, "div", {class: "patches", "aria-hidden": "true"});
    patches.style.setProperty("--columns", columns);
    patches.style.setProperty("--rows", rows);
    for (const share of map) add(patches, "i").style.opacity = most > 0 ? .85 * share / most : 0;
    patches.addEventListener("pointermove", event => {
      const at = [...patches.children].indexOf(document.elementsFromPoint(event.clientX, event.clientY).find(each => each.parentElement === patches));
      if (at >= 0) this.tell(`${caption}: row ${1 + Math.floor(at / columns)}, column ${1 + at % columns} has ${shareOf(map[at])}`);
    });
    patches.addEventListener("pointerleave", () => this.tell());
  }
}
