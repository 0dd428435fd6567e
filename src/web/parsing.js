// The panel of models of parsing: the tree of the sentence, drawn.
import {parse} from "./api.js";
import {TextPanel} from "./text_panel.js";

const kFont = 14, kColumnGap = 16, kLevelHeight = 40, kTagHeight = 21, kMargin = 12;
const kSvg = "http://www.w3.org/2000/svg";
const byId = id => document.getElementById(id);
const ruler = document.createElement("canvas").getContext("2d");

function widthOf(text, weight) {
  ruler.font = `${weight} ${kFont}px system-ui, sans-serif`;
  return ruler.measureText(text).width;
}

function shape(name, attributes, text = "") {
  const element = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

// Constituents, then words: each with its parent's place, its level above the words' tags and the middle of its children.
function nodesOf({words, tags, constituents}) {
  const nodes = [...constituents.map(({label}) => ({label})), ...words.map((label, i) => ({label, tag: tags[i]}))];
  for (const node of nodes) Object.assign(node, {parent: -1, level: 0, first: Infinity, last: -Infinity});
  const columns = words.map((word, i) => Math.max(widthOf(word, 400), widthOf(tags[i], 400))), open = [];
  for (const {label, begin, end} of constituents) if (end - begin === 1) columns[begin] = Math.max(columns[begin], widthOf(label, 600));
  let next = 0, x = 0;
  words.forEach((_, word) => {
    while (open.length && constituents[open.at(-1)].end <= word) open.pop();
    for (; constituents[next]?.begin === word; open.push(next++)) nodes[next].parent = open.at(-1) ?? -1;
    const node = nodes[constituents.length + word], width = columns[word] + kColumnGap;
    Object.assign(node, {parent: open.at(-1) ?? -1, first: x + width / 2, last: x + width / 2});
    x += width;
  });
  const children = [...nodes.keys()].slice(constituents.length).concat([...constituents.keys()].reverse());
  for (const child of children.map(place => nodes[place])) {
    child.x = (child.first + child.last) / 2;
    const parent = nodes[child.parent];
    if (parent) Object.assign(parent, {first: Math.min(parent.first, child.x), last: Math.max(parent.last, child.x), level: Math.max(parent.level, child.level + 1)});
  }
  return {nodes, width: x};
}

function drawingOf(answer) {
  const {nodes, width} = nodesOf(answer), top = nodes[0].level, y = node => kMargin + kFont + (top - node.level) * kLevelHeight;
  const height = 2 * kMargin + kFont + top * kLevelHeight + kTagHeight + 4;
  const svg = shape("svg", {width: width + 2 * kMargin, height, role: "img", "aria-label": answer.tree});
  for (const node of nodes.filter(({parent}) => parent >= 0)) {
    const parent = nodes[node.parent];
    // Down from the parent, across, and down to the child: so no line crosses another.
    svg.append(shape("path", {d: `M${parent.x + kMargin} ${y(parent) + 5}v7H${node.x + kMargin}V${y(node) - kFont}`}));
  }
  for (const node of nodes) {
    const at = {x: node.x + kMargin, y: y(node)};
    if (node.tag === undefined) {
      svg.append(shape("text", {...at, class: "constituent"}, node.label));
    } else {
      svg.append(shape("text", {...at, class: "tag"}, node.tag), shape("text", {x: at.x, y: at.y + kTagHeight}, node.label));
    }
  }
  return svg;
}

function show(answer) {
  const any = answer?.words.length > 0;
  byId("parse-output").replaceChildren(...any ? [drawingOf(answer)] : []);
  byId("parse-brackets").textContent = any ? answer.tree : "";
  return any ? answer.tree : "No words";
}

export const parsingPanel = say => new TextPanel({name: "parse", ask: parse, show, done: "parsed", say});
