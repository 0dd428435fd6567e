#include "cli/attention_view/attention_view.h"

namespace attend {

const char* const kAttentionPage = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>attend: attention</title>
<style>
:root { color-scheme: light dark; --page: #fbfbfa; --card: #ffffff; --ink: #1d2126; --soft: #5d6775; --line: #dde1e6; --strong: #2563a8;
  --low: .985 -.002 -.004; --high: .30 -.015 -.145; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --card: #1b1f25; --ink: #e8ebef; --soft: #9aa5b4; --line: #343b46; --strong: #6cb0f5;
    --low: .24 -.004 -.012; --high: .93 .01 .13; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.45 "DejaVu Sans", "Noto Sans", system-ui, sans-serif; }
main { max-width: 1720px; margin: 0 auto; padding: 22px 24px 40px; }
h1 { font-size: 20px; margin: 0 0 6px; }
.text { margin: 0; } .text b { font-weight: 400; color: var(--soft); display: inline-block; width: 56px; }
.bar { display: flex; flex-wrap: wrap; gap: 10px 26px; align-items: center; margin: 16px 0 8px; }
.group { display: flex; gap: 4px; align-items: center; color: var(--soft); }
.group > span { margin-right: 4px; }
button { font: inherit; font-size: 14px; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: 4px 11px; cursor: pointer; }
button:focus-visible { outline: 2px solid var(--strong); outline-offset: 1px; }
button[aria-pressed=true] { background: var(--strong); border-color: var(--strong); color: var(--page); }
.legend { display: flex; align-items: center; gap: 8px; color: var(--soft); font-size: 13px; margin-left: auto; }
.legend[hidden] { display: none; }
.legend i { width: 150px; height: 12px; border: 1px solid var(--line); border-radius: 2px; }
.note { color: var(--soft); font-size: 13px; min-height: 20px; margin: 0 0 14px; }
.note b { color: var(--ink); font-variant-numeric: tabular-nums; font-weight: 600; }
.keys { margin: 18px 0 0; }
#panels { display: flex; flex-wrap: wrap; gap: 16px; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px 10px; max-width: 100%; overflow-x: auto; }
figcaption { font-size: 13px; font-weight: 600; display: flex; align-items: center; gap: 7px; }
figcaption button { font-size: 12px; padding: 0 8px; margin-left: auto; }
svg { display: block; }
svg text { fill: var(--ink); }
svg .dim { opacity: .28; } svg .hot { font-weight: 700; fill: var(--strong); }
svg .pale { fill: var(--soft); opacity: .45; }
svg .frame { fill: none; stroke: var(--line); } svg .mark { fill: none; stroke: var(--strong); stroke-width: 1.6; pointer-events: none; }
.chip { width: 12px; height: 12px; border-radius: 3px; display: inline-block; }
kbd { font: 12px ui-monospace, monospace; border: 1px solid var(--line); border-radius: 4px; padding: 0 5px; }
</style>
</head>
<body>
<main>
<h1 id="title"></h1>
<p class="text"><b>source</b> <span id="source"></span></p>
<p class="text"><b>target</b> <span id="target"></span></p>
<div class="bar">
<div class="group" id="kinds" role="group" aria-label="kind of attention"></div>
<div class="group" id="layers" role="group" aria-label="layer"><span>layer</span></div>
<div class="group" id="views" role="group" aria-label="view"></div>
<div class="group" id="heads" role="group" aria-label="heads"></div>
<div class="legend">0 <i id="scale"></i> 1</div>
</div>
<p class="note" id="note" aria-live="polite"></p>
<div id="panels"></div>
<p class="note keys">Keys: <kbd>←</kbd> <kbd>→</kbd> layer, <kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> kind, <kbd>v</kbd> view,
<kbd>[</kbd> <kbd>]</kbd> one head after another, <kbd>Esc</kbd> all heads. ▁ begins a word.</p>
</main>
<script id="data" type="application/json">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const byId = id => document.getElementById(id);
const state = {kind: data.kinds.findIndex(k => k.name === data.kind), layer: data.layer, view: "map", head: null};

function make(parent, tag, attributes = {}, text) {
  const html = ["span", "button", "figure", "figcaption", "i"].includes(tag);
  const node = html ? document.createElement(tag) : document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

const triple = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim().split(/\s+/).map(Number);
// A straight line in OKLab: equal steps of weight are equal steps for the eye.
function colorOf(weight) {
  const [L, a, b] = triple("--low").map((low, i) => low + (triple("--high")[i] - low) * weight);
  return `oklab(${L.toFixed(4)} ${a.toFixed(4)} ${b.toFixed(4)})`;
}
let palette = [];
function fillPalette() {
  palette = Array.from({length: 101}, (_, i) => colorOf(i / 100));
  byId("scale").style.background = `linear-gradient(to right, ${palette.filter((_, i) => i % 10 === 0).join(",")})`;
}
const headColor = (head, heads) => `oklch(${matchMedia("(prefers-color-scheme: dark)").matches ? .78 : .56} .16 ${(360 * head / heads + 250) % 360})`;
const shortened = token => { const c = Array.from(token); return c.length > 18 ? c.slice(0, 17).join("") + "…" : token; };
const widthOf = (tokens, font) => Math.max(20, ...tokens.map(t => font * Array.from(shortened(t)).reduce((w, c) => w + (c >= "\u3000" ? 1.05 : .64), 0)));

const kind = () => data.kinds[state.kind];
const shown = () => kind().weights[state.layer].map((w, head) => ({head, w})).filter(h => state.head === null || h.head === state.head);

function tokenText(svg, token, attributes) {
  const text = make(svg, "text", attributes), label = shortened(token);
  if (label.startsWith("▁")) make(text, "tspan", {class: "pale"}, "▁");
  text.append(label.replace(/^▁/, ""));
  make(text, "title", {}, token);
  return text;
}

function idleNote() {
  byId("note").textContent = `${state.view === "map" ? "rows" : "left"}: ${kind().query_title}; ${state.view === "map" ? "columns" : "right"}: ${kind().key_title}. Point at a ${state.view === "map" ? "cell" : "token"} to read its weight${state.view === "map" ? ", at a token for its strongest" : "s, or reach it with Tab"}.`;
}
function valueNote(head, q, k, value) {
  const note = byId("note");
  note.replaceChildren();
  const add = (tag, text) => note.appendChild(tag ? Object.assign(document.createElement(tag), {textContent: text}) : document.createTextNode(text));
  add(null, `head ${head + 1}: `); add("b", kind().queries[q]); add(null, " gives "); add("b", kind().keys[k]); add(null, " the weight "); add("b", (value / 1000).toFixed(3));
}

// The four strongest of a row (`k` is null) or of a column (`q` is null).
function strongestNote(list, q, k) {
  const {queries, keys} = kind();
  const best = (q !== null ? keys.map((_, j) => [keys[j], list.reduce((s, h) => s + h.w[q][j], 0)]) : queries.map((_, i) => [queries[i], list.reduce((s, h) => s + h.w[i][k], 0)]))
    .sort((a, b) => b[1] - a[1]).slice(0, 4).map(([token, sum]) => `${token} ${(sum / list.length / 1000).toFixed(3)}`).join(", ");
  const whose = list.length > 1 ? "mean of the heads shown" : `head ${list[0].head + 1}`;
  byId("note").textContent = `${q !== null ? queries[q] + " gives most to" : keys[k] + " gets most from"} (${whose}): ${best}`;
}

// Every panel marks the row and column that is pointed at in one of them.
let panels = [];
function highlight(q, k) { for (const panel of panels) panel(q, k); }

function heatmap(figure, head, weights) {
  const {queries, keys} = kind(), single = state.head !== null;
  const cell = Math.min(single ? 40 : 28, Math.max(13, (single ? 640 : 300) / Math.max(queries.length, keys.length)));
  const font = Math.min(13, .62 * cell), left = widthOf(queries, font) + 9, top = (widthOf(keys, font) + font) * Math.SQRT1_2 + 8;
  const lean = Math.max(keys.length * cell, ...keys.map((token, k) => (k + .5) * cell + (widthOf([token], font) + font) * Math.SQRT1_2));
  const width = left + lean, height = top + queries.length * cell + 2;
  const svg = make(figure, "svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `head ${head + 1}`, "font-size": font});
  weights.forEach((row, q) => row.forEach((value, k) => make(svg, "rect", {x: left + k * cell + .5, y: top + q * cell + .5,
    width: cell - 1, height: cell - 1, fill: palette[Math.round(value / 10)], "data-q": q, "data-k": k})));
  make(svg, "rect", {class: "frame", x: left, y: top, width: keys.length * cell, height: queries.length * cell});
  const columns = keys.map((token, k) => tokenText(svg, token, {transform: `translate(${left + (k + .5) * cell + .3 * font} ${top - 5}) rotate(-45)`, "data-k": k}));
  const rows = queries.map((token, q) => tokenText(svg, token, {x: left - 6, y: top + (q + .5) * cell + .35 * font, "text-anchor": "end", "data-q": q}));
  const marks = [make(svg, "rect", {class: "mark", visibility: "hidden", x: left, width: keys.length * cell, height: cell}),
                 make(svg, "rect", {class: "mark", visibility: "hidden", y: top, width: cell, height: queries.length * cell})];
  panels.push((q, k) => {
    rows.forEach((text, i) => text.classList.toggle("hot", i === q));
    columns.forEach((text, i) => text.classList.toggle("hot", i === k));
    marks.forEach((mark, i) => mark.setAttribute("visibility", (i ? k : q) === null ? "hidden" : "visible"));
    if (q !== null) marks[0].setAttribute("y", top + q * cell);
    if (k !== null) marks[1].setAttribute("x", left + k * cell);
  });
  svg.addEventListener("pointermove", event => {
    const place = event.target.closest("[data-q], [data-k]");
    if (!place) return leave();
    const [q, k] = [place.dataset.q ?? null, place.dataset.k ?? null].map(i => i === null ? null : +i);
    highlight(q, k);
    if (q !== null && k !== null) valueNote(head, q, k, weights[q][k]); else strongestNote([{head, w: weights}], q, k);
  });
  svg.addEventListener("pointerleave", leave);
}
function leave() { highlight(null, null); idleNote(); }

// Two columns of tokens and a line for each weight, as figures 3 to 5 of the paper have it; a colour for each head.
function lines(parent, list) {
  const {queries, keys} = kind(), step = 26, font = 14, middle = 280, total = kind().weights[state.layer].length;
  const left = widthOf(queries, font) + 12, right = left + middle, width = right + widthOf(keys, font) + 12;
  const height = Math.max(queries.length, keys.length) * step + 12;
  const figure = make(parent, "figure");
  const svg = make(figure, "svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "lines", "font-size": font});
  const y = i => 6 + (i + .5) * step, drawn = [];
  for (const {head, w} of list) w.forEach((row, q) => row.forEach((value, k) => {
    if (value < 20) return;
    const path = make(svg, "path", {d: `M${left} ${y(q)} C${left + middle / 2} ${y(q)} ${right - middle / 2} ${y(k)} ${right} ${y(k)}`, fill: "none",
      stroke: headColor(head, total), "stroke-width": list.length > 1 ? 2 : 3, opacity: .9 * value / 1000});
    drawn.push({path, q, k, opacity: .9 * value / 1000});
  }));
  const rows = queries.map((token, q) => tokenText(svg, token, {x: left - 8, y: y(q) + 5, "text-anchor": "end", tabindex: 0}));
  const columns = keys.map((token, k) => tokenText(svg, token, {x: right + 8, y: y(k) + 5, tabindex: 0}));
  function focus(q, k) {
    for (const line of drawn) {
      const on = (q === null || line.q === q) && (k === null || line.k === k);
      line.path.setAttribute("opacity", on ? (q === null && k === null ? line.opacity : Math.min(1, line.opacity * 1.3 + .08)) : .02);
    }
    rows.forEach((text, i) => text.classList.toggle("hot", i === q));
    columns.forEach((text, i) => text.classList.toggle("hot", i === k));
    if (q === null && k === null) return idleNote();
    strongestNote(list, q, k);
  }
  rows.forEach((text, q) => { for (const e of ["pointerenter", "focus"]) text.addEventListener(e, () => focus(q, null)); });
  columns.forEach((text, k) => { for (const e of ["pointerenter", "focus"]) text.addEventListener(e, () => focus(null, k)); });
  for (const text of [...rows, ...columns]) for (const e of ["pointerleave", "blur"]) text.addEventListener(e, () => focus(null, null));
}

function choose(parent, label, pressed, act, chip) {
  const button = make(parent, "button", {type: "button", "aria-pressed": pressed});
  if (chip) make(button, "i", {class: "chip", style: `background:${chip};margin-right:6px`});
  button.append(label);
  button.addEventListener("click", () => { act(); draw(); });
}

function controls() {
  for (const id of ["kinds", "views", "heads"]) byId(id).replaceChildren();
  byId("layers").replaceChildren(Object.assign(document.createElement("span"), {textContent: "layer"}));
  data.kinds.forEach((k, i) => choose(byId("kinds"), k.name, i === state.kind, () => { state.kind = i; }));
  kind().weights.forEach((_, i) => choose(byId("layers"), String(i + 1), i === state.layer, () => { state.layer = i; }));
  for (const [view, label] of [["map", "heat maps"], ["lines", "lines"]]) choose(byId("views"), label, view === state.view, () => { state.view = view; });
  make(byId("heads"), "span", {}, "heads");
  choose(byId("heads"), "all", state.head === null, () => { state.head = null; });
  const heads = kind().weights[state.layer].length;
  for (let h = 0; h < heads; ++h) {
    choose(byId("heads"), String(h + 1), state.head === h, () => { state.head = state.head === h ? null : h; }, state.view === "lines" ? headColor(h, heads) : null);
  }
}

// As many panels a row as leave the rows even: four heads stand as 2 + 2, not as 3 + 1.
function balance() {
  const gap = 16, first = byId("panels").firstElementChild, count = byId("panels").childElementCount;
  byId("panels").style.maxWidth = "";
  const fit = Math.max(1, Math.floor((byId("panels").clientWidth + gap) / (first.offsetWidth + gap)));
  const columns = Math.ceil(count / Math.ceil(count / fit));
  byId("panels").style.maxWidth = `${columns * (first.offsetWidth + gap) - gap + 1}px`;
}

function draw() {
  state.layer = Math.min(state.layer, kind().weights.length - 1);
  if (state.head !== null && state.head >= kind().weights[state.layer].length) state.head = null;
  const active = document.activeElement && document.activeElement.closest(".group");
  const place = active ? [active.id, [...active.querySelectorAll("button")].indexOf(document.activeElement)] : null;
  fillPalette();
  controls();
  if (place) { const again = byId(place[0]).querySelectorAll("button")[place[1]]; if (again) again.focus(); }
  byId("title").textContent = `${kind().title}, layer ${state.layer + 1} of ${kind().weights.length}`;
  byId("source").textContent = data.source;
  byId("target").textContent = data.target;
  byId("panels").replaceChildren();
  panels = [];
  if (state.view === "lines") {
    lines(byId("panels"), shown());
  } else {
    for (const {head, w} of shown()) {
      const figure = make(byId("panels"), "figure");
      make(figure, "figcaption", {}, `head ${head + 1}`);
      heatmap(figure, head, w);
    }
  }
  balance();
  document.querySelector(".legend").hidden = state.view === "lines";
  idleNote();
}

addEventListener("resize", balance);
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const layers = kind().weights.length, heads = kind().weights[state.layer].length;
  const step = (event.key === "]") - (event.key === "[");
  if (event.key === "ArrowRight") state.layer = Math.min(state.layer + 1, layers - 1);
  else if (event.key === "ArrowLeft") state.layer = Math.max(state.layer - 1, 0);
  else if (event.key === "v") state.view = state.view === "map" ? "lines" : "map";
  else if (event.key === "Escape") state.head = null;
  else if (step !== 0) state.head = state.head === null ? (step > 0 ? 0 : heads - 1) : (state.head + step + heads) % heads;
  else if (["1", "2", "3"].includes(event.key) && data.kinds[event.key - 1]) state.kind = event.key - 1;
  else return;
  event.preventDefault();
  draw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
</script>
</body>
</html>
)html";

}  // namespace attend
