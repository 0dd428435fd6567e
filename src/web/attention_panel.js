// The part of the page that shows the attention of one sentence of the text.
import {attentionOf} from "./api.js";
import {AttentionView} from "./attention.js";
import {fill} from "./languages.js";
import {patiently} from "./server.js";

const byId = id => document.getElementById(id);

export class AttentionPanel {
  // `model` gives the model's name; `picked` is called with the sentence that the reader wants to see.
  constructor(model, picked) {
    Object.assign(this, {model, view: null, sentence: null, looking: null});
    byId("attention").addEventListener("toggle", () => this.look());
    byId("sentence").addEventListener("change", () => picked(+byId("sentence").value));
  }

  // One of the sentences of a Translation.
  show(sentences, place) {
    byId("sentence-choice").hidden = sentences.length < 2;
    fill(byId("sentence"), sentences.map((_, i) => String(i)), i => `${+i + 1}: ${sentences[i].source.slice(0, 60)}`, String(place));
    byId("attention-rank").hidden = !sentences[place]?.rank;
    if (this.sentence === sentences[place]) return;
    this.sentence = sentences[place];
    this.look();
  }

  say(text) {
    byId("attention-empty").textContent = text;
    byId("attention-empty").hidden = !text;
    byId("attention-view").hidden = !!text;
  }

  async look() {
    this.looking?.abort();
    if (!byId("attention").open) return;
    if (!this.sentence) return this.say("Translate a text to see what the model looks at, word by word.");
    const {signal} = this.looking = new AbortController();
    try {
      const kinds = await patiently(() => attentionOf(this.sentence.source, this.model(), signal), signal);
      if (signal.aborted) return;
      this.say("");
      this.view ??= new AttentionView(byId("attention-view"));
      this.view.show(kinds);
    } catch (error) {
      if (!signal.aborted) this.say(`There is no picture of this sentence: ${error.message}.`);
    }
  }
}
