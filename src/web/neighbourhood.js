// Nodes that an item links to and what a graph says of them: linked nodes, relations, neighbours in three columns of an SVG. The page
// of `attend attention` and the server's page draw with it; it imports nothing, so that it can stand in a page. Styles are in fusion.css.

const kLineHeight = 16, kNodePadding = 7, kRowGap = 6, kColumnGap = 26, kNarrowGap = 16, kWidest = 860;

function svgPart(parent, tag, attributes = {}, text) {
  const node = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const nodeShare = share => `${(100 * share).toFixed(1)} %`;

// One part for each linked node, relation and direction: {node, relation, outwards, others}; the others once each.
function partsOf(triples, linked) {
  const parts = new Map();
  const put = (node, relation, outwards, other) => {
    const key = JSON.stringify([node, relation, outwards]);
    if (!parts.has(key)) parts.set(key, {node, relation, outwards, others: new Set()});
    parts.get(key).others.add(other);
  };
  for (const [from, relation, to] of triples) {
    if (linked.includes(from)) put(from, relation, true, to); else put(to, relation, false, from);
  }
  return [...parts.values()].sort((a, b) => linked.indexOf(a.node) - linked.indexOf(b.node));
}

export class Neighbourhood {
  constructor(root) {
    this.root = root;
    this.root.classList.add("neighbourhood");
    this.pen = document.createElement("canvas").getContext("2d");
    let width = 0;
    new ResizeObserver(() => {
      if (root.clientWidth !== width && this.shown) this.draw();
      width = root.clientWidth;
    }).observe(root);
  }

  // `graph`: {triples: [[from, relation, to], ...], left_out}; `links`: [{node, share}], where a share may be missing.
  show(graph, links) {
    this.shown = {graph, links};
    this.draw();
  }

  // Lines of the text that are at most so wide; what still is wider ends in an ellipsis.
  wrapped(text, width, bold) {
    this.pen.font = `${bold ? 600 : 400} 13px ${getComputedStyle(this.root).fontFamily}`;
    const wide = line => this.pen.measureText(line).width > width, lines = [];
    for (const word of text.split(/(?<=[ -])/u)) {
      const last = lines.at(-1);
      if (last !== undefined && !wide((last + word).trimEnd())) lines[lines.length - 1] = last + word;
      else lines.push(word);
    }
    return lines.map(line => {
      let shown = line.trimEnd();
      const whole = shown;
      while (wide(shown === whole ? shown : `${shown}…`) && shown.length > 1) shown = shown.slice(0, -1);
      return shown === whole ? shown : `${shown}…`;
    });
  }

  widest(texts, bold) {
    this.pen.font = `${bold ? 600 : 400} 13px ${getComputedStyle(this.root).fontFamily}`;
    return Math.ceil(Math.max(24, ...texts.map(text => this.pen.measureText(text).width)));
  }

  // Widths of the columns' texts: what they need, or else what there is.
  columns(texts, room) {
    const wanted = texts.map(([list, bold]) => this.widest(list, bold));
    let widths = wanted.map(() => 0), left = room;
    // The narrowest are served first; the others share the rest.
    const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
    order.forEach((column, i) => { widths[column] = Math.min(wanted[column], Math.floor(left / (order.length - i))); left -= widths[column]; });
    return widths;
  }

  // Boxes one below another: [{text, lines, height, y}], y being their middle.
  stacked(entries, width, bold) {
    let y = 0;
    return entries.map(entry => {
      const lines = [...this.wrapped(entry.text, width, bold || entry.bold), ...(entry.share === undefined ? [] : [nodeShare(entry.share)])];
      const height = lines.length * kLineHeight + 2 * kNodePadding;
      const box = {...entry, lines, height, y: y + height / 2, named: lines.length - (entry.share === undefined ? 0 : 1)};
      y += height + kRowGap;
      return box;
    });
  }

  draw() {
    if (this.root.clientWidth === 0) return;  // hidden; it is drawn once it shows
    const {graph, links} = this.shown, linked = links.map(link => link.node), parts = partsOf(graph.triples, linked);
    this.root.replaceChildren();
    const room = Math.min(this.root.clientWidth, kWidest), gap = room < 480 ? kNarrowGap : kColumnGap;
    const names = [...new Set(parts.flatMap(part => [...part.others]))];
    const told = part => part.outwards ? `${part.relation}\u00a0→` : `←\u00a0${part.relation}`;
    const padding = 2 * kNodePadding, widths = this.columns([[linked, true], [parts.map(told), false], [names, true]], room - 2 * gap - 3 * padding - 2);
    const left = this.stacked(links.map(({node, share}) => ({text: node, share})), widths[0], true);
    const middle = this.stacked(parts.map(part => ({text: told(part), part})), widths[1], false);
    const place = name => { const at = middle.filter(box => box.part.others.has(name)).map(box => box.y); return at.reduce((sum, y) => sum + y, 0) / at.length; };
    const right = this.stacked(names.map(name => ({text: name, bold: linked.includes(name)})).sort((a, b) => place(a.text) - place(b.text)), widths[2], false);
    const heightOf = boxes => boxes.length ? boxes.at(-1).y + boxes.at(-1).height / 2 : 0, height = Math.max(...[left, middle, right].map(heightOf)) + 2;
    // Shorter columns stand in the middle; a linked node stands beside its relations where there is room.
    for (const boxes of [middle, right]) for (const box of boxes) box.shift = (height - 2 - heightOf(boxes)) / 2;
    for (const box of [...middle, ...right]) box.y += box.shift + 1;
    this.beside(left, middle, height);
    const starts = [1, 1 + widths[0] + padding + gap, 1 + widths[0] + widths[1] + 2 * (padding + gap)], width = starts[2] + widths[2] + padding + 1;
    const svg = svgPart(this.root, "svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${graph.triples.length} relations of ${linked.join(", ")}: ${graph.triples.map(triple => triple.join(" ")).join("; ").slice(0, 2000)}`});
    const ends = starts.map((start, column) => start + widths[column] + padding);
    for (const box of middle) {
      const spare = (ends[1] - starts[1] - this.widest(box.lines, false)) / 2 - 5;  // beside a relation's name, which has no frame
      this.edge(svg, [ends[0], left[linked.indexOf(box.part.node)].y], [starts[1] + spare, box.y]);
      for (const other of right) if (box.part.others.has(other.text)) this.edge(svg, [ends[1] - spare, box.y], [starts[2], other.y]);
    }
    const most = Math.max(...links.map(link => link.share ?? 0));
    for (const box of left) this.box(svg, box, starts[0], widths[0] + padding, "linked").style.setProperty("--strength", `${most > 0 ? 60 * (box.share ?? 0) / most : 0}%`);
    for (const box of middle) this.box(svg, box, starts[1], widths[1] + padding, "relation");
    for (const box of right) this.box(svg, box, starts[2], widths[2] + padding, box.bold ? "linked" : "neighbour");
  }

  // Moves the linked nodes to the middle of their relations, in order and without overlaps.
  beside(left, middle, height) {
    let least = 1;
    for (const box of left) {
      const own = middle.filter(each => each.part.node === box.text);
      const wanted = own.length ? (own[0].y + own.at(-1).y) / 2 : least + box.height / 2;
      box.y = Math.max(wanted, least + box.height / 2);
      least = box.y + box.height / 2 + kRowGap;
    }
    let most = height - 1;
    for (const box of [...left].reverse()) {
      box.y = Math.min(box.y, most - box.height / 2);
      most = box.y - box.height / 2 - kRowGap;
    }
  }

  edge(svg, [x1, y1], [x2, y2]) {
    const bend = (x2 - x1) / 2;
    svgPart(svg, "path", {d: `M${x1} ${y1.toFixed(1)} C${x1 + bend} ${y1.toFixed(1)} ${x2 - bend} ${y2.toFixed(1)} ${x2} ${y2.toFixed(1)}`});
  }

  box(svg, box, x, width, kind) {
    const group = svgPart(svg, "g", {class: kind}), top = box.y - box.height / 2;
    svgPart(group, "title", {}, box.share === undefined ? box.text : `${box.text}: ${nodeShare(box.share)}`);
    if (kind !== "relation") svgPart(group, "rect", {x, y: top.toFixed(1), width, height: box.height, rx: 7});
    box.lines.forEach((line, i) => svgPart(group, "text", {x: x + width / 2, y: (top + kNodePadding + (i + .77) * kLineHeight).toFixed(1), ...(i >= box.named ? {class: "share"} : {})}, line));
    return group;
  }
}
