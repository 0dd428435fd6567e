// The panel of language models: a prompt, options, and the text as it comes.
import {generate} from "./api.js";
import {fill} from "./languages.js";
import {hideRefusal, patiently, showRefusal} from "./server.js";

const byId = id => document.getElementById(id);
const kOptions = ["max_tokens", "temperature", "top_k", "top_p", "seed"];
const kEndings = {stop: "The model ended the text.", length: "Cut off at the number of tokens."};

export class GenerationPanel {
  // `say` tells a screen reader, `copy` the clipboard.
  constructor(say, copy) {
    Object.assign(this, {say, running: null, text: ""});
    byId("generate-form").addEventListener("submit", event => {
      event.preventDefault();
      if (!this.running) this.run();
    });
    byId("generate-stop").addEventListener("click", () => this.running?.abort());
    byId("prompt").addEventListener("keydown", event => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("generate-form").requestSubmit();
    });
    byId("generated-copy").addEventListener("click", () => copy(this.text, byId("generated"), byId("generated-copied")));
  }

  set(models) {
    fill(byId("generator"), models.map(model => model.name), name => name);
    byId("generator-choice").hidden = models.length < 2;
  }

  // An empty seed is drawn anew each time, and told: with it the same text comes again.
  options() {
    const given = kOptions.map(name => [name, byId(`option-${name}`).value]).filter(([, value]) => value !== "");
    return {seed: Math.floor(Math.random() * 1e6), ...Object.fromEntries(given.map(([name, value]) => [name, Number(value)]))};
  }

  show(prompt, text) {
    this.text = prompt + text;
    byId("generated-prompt").textContent = prompt;
    byId("generated-text").textContent = text;
    byId("generated-copy").disabled = !this.text;
  }

  busy(on) {
    byId("generated").setAttribute("aria-busy", on);
    byId("generate").disabled = on;
    byId("generate-stop").hidden = !on;
  }

  async run() {
    const prompt = byId("prompt").value, options = this.options(), {signal} = this.running = new AbortController();
    const body = {model: byId("generator").value, prompt, ...options};
    const seed = options.temperature === 0 ? "" : ` Seed ${options.seed}.`;
    let text = "";
    hideRefusal();
    this.busy(true);
    byId("generate-state").textContent = `Writing…${seed}`;
    try {
      const ending = await patiently(() => {
        this.show(prompt, text = "");
        return generate(body, piece => this.show(prompt, text += piece), signal);
      }, signal);
      byId("generate-state").textContent = kEndings[ending] + seed;
      this.say(text);
    } catch (error) {
      byId("generate-state").textContent = signal.aborted ? `Stopped.${seed}` : "";
      if (!signal.aborted) showRefusal(error, "written on");
    } finally {
      this.running = null;
      this.busy(false);
    }
  }
}
