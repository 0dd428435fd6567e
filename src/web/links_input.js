// A place that takes names of a graph's nodes: typed, chosen from what fits, and shown as chips that go at a click.

export class LinksInput {
  // Inside `place`: an input with a list of choices and a list of chips. `changed` is called with each change.
  constructor(place, changed) {
    Object.assign(this, {place, changed, links: [], nodes: new Set()});
    this.input = place.querySelector("input");
    this.chips = place.querySelector("ul");
    // A choice from the list is a whole name, which typing may only have begun; Enter takes what the list may lack.
    this.input.addEventListener("input", event => { if ((event.inputType ?? "insertReplacementText") === "insertReplacementText" && this.nodes.has(this.input.value)) this.take(); });
    this.input.addEventListener("keydown", event => {
      if (event.key === "Enter") { event.preventDefault(); this.take(); }
      if (event.key === "Backspace" && !this.input.value && this.links.length) this.remove(this.links.length - 1);
    });
    this.input.addEventListener("change", () => { if (this.nodes.has(this.input.value)) this.take(); });
  }

  // The names that there are, or the first of very many.
  offer(names) {
    this.nodes = new Set(names);
    this.place.querySelector("datalist").replaceChildren(...names.map(name => new Option(name)));
  }

  take() {
    const name = this.input.value.trim();
    this.input.value = "";
    if (!name || this.links.includes(name)) return;
    this.links.push(name);
    this.show();
  }

  remove(place) {
    this.links.splice(place, 1);
    this.show();
    this.input.focus();
  }

  show() {
    this.chips.replaceChildren(...this.links.map((name, i) => {
      const chip = document.createElement("li"), button = chip.appendChild(document.createElement("button"));
      button.type = "button";
      button.append(Object.assign(document.createElement("span"), {textContent: name, dir: "auto"}), " ×");
      button.setAttribute("aria-label", `Remove ${name}`);
      button.addEventListener("click", () => this.remove(i));
      return chip;
    }));
    this.changed();
  }
}
