// The panel of models of classification: the likeliest classes of a text or a picture, with bars, and what the model looks at in
// the picture.
import {classify, classifyPicture} from "./api.js";
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
    super({name: "classify", ask: (model, item, signal) => (this.picture ? classifyPicture : classify)(model, item, signal), show: showClasses, done: "classified", say});
    this.input = new PictureInput(byId("classify-drop"), () => this.run());
    this.attention = null;
  }

  // Whether the model reads pictures.
  get picture() { return this.model?.picture !== undefined; }
  get item() { return this.picture ? this.input.picture : super.item; }

  display(answer) {
    byId("classify-typed").hidden = this.picture;
    byId("classify-drop").hidden = !this.picture;
    byId("classify-attention").hidden = !answer?.attention;
    if (answer?.attention) {
      this.attention ??= new PictureAttention(byId("classify-attention-view"));
      this.attention.show(answer.attention);
    }
    super.display(answer);
  }
}
