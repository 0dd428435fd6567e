// The words of source and translation, and which belong together.

// Replaces what is in `root` by `text`, each white-space word in a span; gives the spans.
export function fillWords(root, text) {
  const spans = [];
  root.replaceChildren(...text.split(/([^ \t\r\n]+)/).map((part, i) => {
    if (i % 2 === 0) return document.createTextNode(part);
    const span = document.createElement("span");
    span.textContent = part;
    span.dataset.word = spans.length;
    spans.push(span);
    return span;
  }));
  root.append("\u200b");  // holds a last empty line open
  return spans;
}

// Lights the words that belong to the one pointed at, in both texts.
export class Alignment {
  constructor() { this.set([], [], []); }

  // `links` are pairs of places [source, target].
  set(source, target, links) {
    this.clear();
    this.words = {source, target};
    this.links = links;
  }

  clear() {
    for (const span of this.lit ?? []) span.classList.remove("pointed", "aligned");
    this.lit = [];
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
}
