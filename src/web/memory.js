// Which translation memory is asked, and what it has near one sentence.
import {fill} from "./languages.js";

const kNone = "";

export class Memory {
  // `changed` is called when the reader has chosen another memory, `chosen` with the target that the reader prefers.
  constructor(choice, root, changed, chosen) {
    Object.assign(this, {choice, root, chosen, select: choice.querySelector("select")});
    this.select.addEventListener("change", () => { settings.set("memory", this.name); changed(); });
  }

  get name() { return this.select.value; }

  // The names that the server has now; the first time opens with that of the visit before.
  set(names) {
    const wanted = this.select.options.length ? this.name : settings.get("memory") ?? names[0] ?? kNone;
    fill(this.select, [...names, kNone], name => name || "None", wanted);
    this.choice.hidden = names.length === 0;
  }

  // Of a sentence of a Translation, undefined where there is none; `from` and `to` are the languages.
  show(sentence, from, to) {
    const matches = sentence?.matches ?? [];
    this.root.hidden = matches.length === 0;
    this.root.querySelector("ul").replaceChildren(...matches.map(match => this.item(match, from, to)));
  }

  item({score, source, target}, from, to) {
    const item = document.createElement("li"), button = document.createElement("button"), figure = document.createElement("span");
    const [known, its] = [[source, from], [target, to]].map(([text, language]) => {
      const line = document.createElement("span");
      Object.assign(line, {textContent: text, lang: language, dir: "auto"});
      return line;
    });
    known.className = "soft";
    button.type = "button";
    button.append(known, its);
    button.addEventListener("click", () => this.chosen(target));
    figure.textContent = `${Math.floor(score)} %`;
    figure.title = "Words of the memory's text that are alike";
    item.append(button, figure);
    return item;
  }
}
