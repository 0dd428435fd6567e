// What the panels of encoders share: a model, a text (or, of a class that derives from it, another item), and what the model says of it while it is typed.
import {fill} from "./languages.js";
import {hideRefusal, patiently, showRefusal} from "./server.js";

const kTypingPause = 300, kSlowestPause = 2000;

export class TextPanel {
  // `name` begins the ids of the panel's elements. `ask(model, text, signal)` gets an answer; `show(answer, model)` shows it, or
  // nothing where it is null, and gives what a screen reader is told. `done`: "tagged", of texts that can't be.
  constructor({name, ask, show, done, say}) {
    Object.assign(this, {name, ask, show, done, say, models: [], running: null, typing: 0});
    this.part("text")?.addEventListener("input", () => {
      this.stop();
      const {text} = this, wanted = text.trim() !== "";
      if (wanted) this.busy(true);
      this.typing = setTimeout(() => this.run(), wanted ? Math.min(kTypingPause + text.length / 20, kSlowestPause) : 0);
    });
    this.part("model").addEventListener("change", () => this.run());
  }

  part(name) { return document.getElementById(`${this.name}-${name}`); }
  get text() { return this.part("text").value; }
  // What the model is asked about, or null for nothing.
  get item() { return this.text.trim() ? this.text : null; }
  get model() { return this.models.find(model => model.name === this.part("model").value); }

  set(models) {
    this.models = models;
    fill(this.part("model"), models.map(model => model.name), name => name);
    this.part("model-choice").hidden = models.length < 2;
    this.run();
  }

  stop() {
    clearTimeout(this.typing);
    this.running?.abort();
    this.running = null;
  }

  busy(on) {
    this.part("output").setAttribute("aria-busy", on);
    if (on) this.part("state").textContent = "…";
  }

  display(answer) {
    const told = this.show(answer, this.model);
    this.part("state").textContent = answer?.cut ? "Longer than the model can read: this is of the beginning." : "";
    if (answer) this.say(told);
  }

  async run() {
    this.stop();
    hideRefusal();
    const {item, model} = this;
    if (!model || item === null) {
      this.busy(false);
      return this.display(null);
    }
    const {signal} = this.running = new AbortController();
    this.busy(true);
    try {
      const answer = await patiently(() => this.ask(model.name, item, signal), signal);
      if (signal.aborted) return;
      this.display(answer);
    } catch (error) {
      if (signal.aborted) return;
      this.display(null);
      showRefusal(error, this.done);
    }
    this.busy(false);
  }
}

export const percent = probability => `${(100 * probability).toFixed(1)} %`;

// An element of this class with what is in it.
export function make(tag, className, ...content) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...content);
  return element;
}

// Names with their probabilities, as bars.
export function showBars(list, items) {
  list.replaceChildren(...items.map(({name, probability}) => {
    const bar = make("i", "");
    bar.style.width = `${100 * probability}%`;
    const label = make("span", "bar-name", name);
    label.dir = "auto";
    return make("li", "", label, make("span", "bar", bar), make("span", "bar-number", percent(probability)));
  }));
}
