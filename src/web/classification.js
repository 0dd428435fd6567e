// The panel of models of classification: the likeliest classes of the text, with bars.
import {classify} from "./api.js";
import {TextPanel, percent, showBars} from "./text_panel.js";

function show(answer) {
  const classes = answer?.classes ?? [];
  showBars(document.getElementById("classify-output"), classes.map(({label, probability}) => ({name: label, probability})));
  return classes.length ? `${classes[0].label}, ${percent(classes[0].probability)}` : "";
}

export const classificationPanel = say => new TextPanel({name: "classify", ask: classify, show, done: "classified", say});
