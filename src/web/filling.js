// The panel of masked language models: the text with each [MASK] filled in, and what else would fit there.
import {fillIn} from "./api.js";
import {TextPanel, make, showBars} from "./text_panel.js";

const kMask = "[MASK]";
const byId = id => document.getElementById(id);

// The likeliest token stands where its [MASK] stood, without a space before it where it continues a word; after the end of what was
// read [MASK] stays.
function nodesOf(text, masks) {
  const [first, ...others] = text.split(kMask), nodes = [first];
  for (const [i, part] of others.entries()) {
    const best = masks[i]?.[0];
    if (best && !best.begins_word) nodes.push(nodes.pop().trimEnd());
    nodes.push(best ? make("mark", "filled", best.token) : kMask, part);
  }
  return nodes;
}

function barsOf(tokens, i, several) {
  const list = make("ol", "bars");
  showBars(list, tokens.map(({token, begins_word: begins, probability}) => ({name: begins ? token : `…${token}`, probability})));
  return make("div", "mask", ...several ? [make("h2", "", `${kMask} ${i + 1}`)] : [], list);
}

function show(answer) {
  const masks = answer?.masks ?? [];
  byId("fill-filled").replaceChildren(...answer ? nodesOf(answer.text, masks) : []);
  byId("fill-masks").replaceChildren(...masks.map((tokens, i) => barsOf(tokens, i, masks.length > 1)));
  byId("fill-hint").hidden = !byId("fill-text").value.trim() || byId("fill-text").value.includes(kMask);
  return byId("fill-filled").textContent;
}

export class FillingPanel extends TextPanel {
  constructor(say) {
    const ask = async (model, text, signal) => text.includes(kMask) ? fillIn(model, text, signal) : null;
    super({name: "fill", ask, show, done: "filled in", say});
    byId("fill-mask").addEventListener("click", () => {
      const area = byId("fill-text"), {selectionStart: begin, selectionEnd: end} = area;
      area.setRangeText(kMask, begin, end, "end");
      area.focus();
      area.dispatchEvent(new Event("input"));
    });
  }
}
