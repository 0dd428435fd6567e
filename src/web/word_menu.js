// A menu at a word of the translation: what else may stand there, each with the rest that follows.

// The words of a text from number `first` on.
const wordsFrom = (text, first) => text.split(/[ \t\r\n]+/).filter(Boolean).slice(first);

export class WordMenu {
  // `ask(place, signal)` gives the hypotheses that there are in place of a word, `chosen(place, hypothesis)` is called with the
  // one that the reader takes; a place is {sentence, word, prefix}, as Translation has it. `say` tells a screen reader.
  constructor({root, output, ask, chosen, say}) {
    Object.assign(this, {root, output, ask, chosen, say, waiting: null, keyboard: false});
    root.addEventListener("keydown", event => this.walk(event));
    root.addEventListener("focusout", event => { if (!root.contains(event.relatedTarget)) this.close(); });
    addEventListener("pointerdown", event => { if (!root.contains(event.target)) this.close(); });
    addEventListener("resize", () => this.close());
    output.addEventListener("keydown", event => { if (event.key === "Escape") this.close(); });
  }

  get open() { return !this.root.hidden; }

  // Beside the word's element; by the keyboard its first item gets the focus.
  async show(element, place, shown, {keyboard = false} = {}) {
    this.close();
    const {signal} = this.waiting = new AbortController();
    this.keyboard = keyboard;
    const hypotheses = await this.ask(place, signal).catch(error => {
      if (!signal.aborted) throw error;
      return null;
    });
    if (signal.aborted || !hypotheses) return;
    const {length} = wordsFrom(place.prefix, 0), now = wordsFrom(shown, length)[0];
    const others = hypotheses.filter(({text}) => wordsFrom(text, length).length && wordsFrom(text, length)[0] !== now);
    this.root.setAttribute("aria-label", `In place of ${element.textContent}`);
    this.root.replaceChildren(...others.length ? others.map(each => this.item(each, length, place)) : [this.nothing()]);
    this.root.lang = this.output.lang;
    this.root.hidden = false;
    this.put(element);
    this.say(`${others.length || "Nothing"} in place of ${element.textContent}`);
    if (keyboard) this.root.querySelector("button").focus();
  }

  // The next word in bold, and what follows.
  item(hypothesis, first, place) {
    const [word, ...rest] = wordsFrom(hypothesis.text, first), next = document.createElement("b");
    next.textContent = word;
    return this.line(() => this.chosen(place, hypothesis), next, rest.length ? ` ${rest.join(" ")}` : "");
  }

  nothing() {
    const line = this.line(() => {}, "Nothing else");
    line.firstChild.setAttribute("aria-disabled", "true");
    return line;
  }

  line(taken, ...content) {
    const line = document.createElement("li"), button = document.createElement("button");
    line.role = "none";
    button.type = "button";
    button.role = "menuitem";
    button.tabIndex = -1;
    button.dir = "auto";
    button.append(...content);
    button.addEventListener("click", () => { this.close(); taken(); });
    line.append(button);
    return line;
  }

  // Below the word, inside the pane.
  put(element) {
    const pane = this.root.offsetParent.getBoundingClientRect(), word = element.getBoundingClientRect();
    const left = Math.max(8, Math.min(word.left - pane.left, pane.width - this.root.offsetWidth - 8));
    Object.assign(this.root.style, {left: `${left}px`, top: `${word.bottom - pane.top + 4}px`});
  }

  close() {
    this.waiting?.abort();
    this.waiting = null;
    if (!this.open) return;
    const held = this.root.contains(document.activeElement);
    this.root.hidden = true;
    if (held) this.output.focus();
  }

  walk(event) {
    const items = [...this.root.querySelectorAll("button")], at = items.indexOf(document.activeElement);
    const next = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1}[event.key];
    if (event.key === "Escape" || event.key === "Tab") this.close();
    if (event.key === "Escape") event.preventDefault();
    if (next === undefined) return;
    event.preventDefault();
    items.at(next % items.length).focus();
  }
}
