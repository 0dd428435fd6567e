// The panel of models of classification and fusion: the likeliest classes of a text, a picture or an item of several inputs, with
// bars, and what the model looks at.
import {classify, classifyItem, classifyPicture} from "./api.js";
import {ItemView, showContributions} from "./fusion.js";
import {LinksInput} from "./links_input.js";
import {Neighbourhood} from "./neighbourhood.js";
import {PictureAttention} from "./picture_attention.js";
import {PictureInput} from "./picture_input.js";
import {TextPanel, percent, showBars} from "./text_panel.js";

const byId = id => document.getElementById(id);

function showClasses(answer) {
  const classes = answer?.classes ?? [];
  showBars(byId("classify-output"), classes.map(({label, probability}) => ({name: label, probability})));
  return classes.length ? `${classes[0].label}, ${percent(classes[0].probability)}` : "";
}

export class ClassificationPanel extends TextPanel {
  constructor(say) {
    super({name: "classify", ask: (model, item, signal) => this.classify(model, item, signal), show: showClasses, done: "classified", say});
    this.input = new PictureInput(byId("classify-drop"), () => this.run());
    this.links = new LinksInput(byId("classify-links"), () => this.run());
    this.attention = this.itemView = this.offered = null;
  }

  // What the model reads: texts, pictures or items of several inputs.
  get several() { return this.model?.inputs !== undefined; }
  get picture() { return this.model?.picture !== undefined && !this.several; }
  get item() {
    if (!this.several) return this.picture ? this.input.picture : super.item;
    const {links} = this.links, item = {...(super.item && {text: super.item}), ...(this.input.picture && {picture: this.input.picture}), ...(links.length && {links})};
    return Object.keys(item).length ? item : null;
  }

  classify(model, item, signal) { return (this.several ? classifyItem : this.picture ? classifyPicture : classify)(model, item, signal); }

  // The places for what the model reads.
  offer() {
    byId("classify-typed").hidden = this.picture;
    byId("classify-drop").hidden = !this.picture && !this.several;
    byId("classify-links").hidden = !this.several;
    byId("classify-panel").classList.toggle("several", this.several);
    if (this.offered === this.model) return;
    this.offered = this.model;
    if (this.several) this.links.offer(this.model.nodes.names);
  }

  displayItem(answer) {
    const contributions = this.several && answer?.contributions, drawn = contributions && answer.attention;
    byId("classify-contributions").hidden = !contributions;
    byId("classify-item").hidden = !drawn;
    if (contributions) showContributions(byId("classify-contributions").querySelector("ul"), contributions);
    if (!drawn) return;
    this.itemView ??= new ItemView(byId("classify-item-view"), {PictureAttention, Neighbourhood});
    this.itemView.show(answer);
  }

  display(answer) {
    this.offer();
    this.displayItem(answer);
    const attention = this.picture && answer?.attention;
    byId("classify-attention").hidden = !attention;
    if (attention) {
      this.attention ??= new PictureAttention(byId("classify-attention-view"));
      this.attention.show(answer.attention);
    }
    super.display(answer);
  }
}
