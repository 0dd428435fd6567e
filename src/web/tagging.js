// The panel of models of tagging: the text with its entities in the colours of their labels.
import {tag} from "./api.js";
import {TextPanel, make, percent} from "./text_panel.js";

const kFirstHue = 210, kNextHue = 137.5;  // degrees: the golden angle keeps any number of hues apart
const byId = id => document.getElementById(id);

// An entity's label without its place in the entity; "" of a word outside of all.
const typeOf = label => label === "O" ? "" : label.replace(/^[BIES]-/, "");

function colour(element, types, label) {
  element.style.setProperty("--hue", (kFirstHue + kNextHue * types.indexOf(label)) % 360);
  return element;
}

// Nodes of the text; positions count code points, as the server's do.
function nodesOf(text, parts, types) {
  const characters = Array.from(text), nodes = [];
  let at = 0;
  for (const {begin, end, label, probability} of parts) {
    const mark = colour(make("mark", "label", characters.slice(begin, end).join("")), types, label);
    mark.dataset.label = label;
    mark.title = `${label}, ${percent(probability)}`;
    nodes.push(characters.slice(at, begin).join(""), mark);
    at = end;
  }
  return [...nodes, characters.slice(at).join("")];
}

function show(answer, model) {
  const types = [...new Set(model?.labels.map(typeOf))].filter(type => type);
  // Where labels are not of entities, words have them.
  const parts = (answer?.words ?? answer?.entities ?? []).filter(part => typeOf(part.label));
  const count = type => parts.filter(part => part.label === type).length;
  byId("tag-output").replaceChildren(...nodesOf(answer?.text ?? "", parts, types));
  byId("tag-legend").replaceChildren(...types.map(type => {
    const item = colour(make("li", count(type) ? "" : "none", make("span", "swatch"), type), types, type);
    if (count(type)) item.append(make("span", "count", String(count(type))));
    return item;
  }));
  return parts.length ? parts.map(part => `${part.text}: ${part.label}`).join(", ") : "Nothing found";
}

export const taggingPanel = say => new TextPanel({name: "tag", ask: tag, show, done: "tagged", say});
