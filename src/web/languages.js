// Which model translates: a pair of languages, and one model where several have the same pair.

const byId = id => document.getElementById(id);
const names = new Intl.DisplayNames(["en"], {type: "language", fallback: "code"});
const distinct = values => [...new Set(values)];

const kAuto = "auto";  // the server detects the language

export function nameOf(language) {
  if (language === kAuto) return "Detect language";
  try { return language ? names.of(language) : "Language not named"; } catch { return language; }
}

// Fills a select; what was chosen stays where it is still there.
export function fill(select, values, label, wanted = select.value) {
  select.replaceChildren(...values.map(value => new Option(label(value), value)));
  select.value = values.includes(wanted) ? wanted : values[0] ?? "";
}

export class Languages {
  // `changed` is called when the reader has chosen others, not when the server has.
  constructor(changed) {
    Object.assign(this, {models: [], changed});
    for (const id of ["from", "to", "model"]) byId(id).addEventListener("change", () => { this.show(); this.keep(); });
  }

  get from() { return byId("from").value; }
  get to() { return byId("to").value; }
  // {name, source, target, beams}, or undefined where there is none; without a name where the server chooses.
  get model() {
    if (this.from !== kAuto) return this.models.find(model => model.name === byId("model").value);
    const {from: source, to: target} = this;
    return {source, target, beams: Math.min(...this.models.filter(model => model.target === target).map(model => model.beams))};
  }

  // The models there are now; the first time opens with the pair of the visit before.
  set(models) {
    const first = this.models.length === 0;
    this.models = models;
    const [from, to] = first ? (settings.get("pair") ?? "").split(" ") : [];
    this.show(from, to);
  }

  swap() {
    this.show(this.to, this.from);
    this.keep();
  }

  keep() {
    settings.set("pair", `${this.from} ${this.to}`);
    this.changed();
  }

  of(from, to) { return this.models.filter(model => model.source === from && model.target === to); }

  show(from = this.from, to = this.to) {
    const {models} = this;
    const sources = distinct(models.map(model => model.source)), several = sources.filter(source => source).length > 1;
    fill(byId("from"), several ? [...sources, kAuto] : sources, nameOf, from);
    const fitting = models.filter(model => model.source === this.from || this.from === kAuto);
    fill(byId("to"), distinct(fitting.map(model => model.target)), nameOf, to);
    fill(byId("model"), this.of(this.from, this.to).map(model => model.name), name => name);
    byId("model-choice").hidden = byId("model").length < 2;
    const swappable = this.from !== this.to && this.of(this.to, this.from).length > 0;
    byId("swap").disabled = !swappable;
    byId("swap").title = swappable || !models.length ? "" : "This server has no model for the other direction";
  }
}
