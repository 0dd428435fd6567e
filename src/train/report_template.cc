#include "train/report.h"

namespace attend {

const char* const kReportTemplate = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>attend: training report</title>
<style>
:root { --page: #fbfbfa; --card: #ffffff; --ink: #1d2126; --soft: #667080; --line: #e3e6ea; --one: #2563a8; --two: #c2571a; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --card: #1c2026; --ink: #e6e9ed; --soft: #98a2b0; --line: #313741; --one: #6cb0f5; --two: #f2a05e; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; margin: 0; }
h2 { font-size: 17px; margin: 34px 0 12px; }
.sub { color: var(--soft); margin: 2px 0 20px; }
.sub:empty { display: none; }
.cards, .charts { display: grid; gap: 14px; }
.cards { grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
.charts { grid-template-columns: repeat(auto-fit, minmax(min(460px, 100%), 1fr)); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; min-width: 0; }
.card b { display: block; font-size: 21px; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: 13px; }
.chart h3 { font-size: 14px; margin: 0 0 4px; font-weight: 600; }
.key { font-size: 12.5px; color: var(--soft); min-height: 19px; }
.key i { display: inline-block; width: 16px; height: 3px; border-radius: 2px; margin: 0 5px 3px 0; vertical-align: middle; }
.key span { margin-right: 14px; }
svg { display: block; width: 100%; height: auto; touch-action: none; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
svg .grid { stroke: var(--line); }
svg .curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
svg .hair { stroke: var(--soft); stroke-dasharray: 3 3; visibility: hidden; }
table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
td, th { text-align: left; vertical-align: top; padding: 7px 12px; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
th { border-top: 0; color: var(--soft); font-weight: 500; font-size: 13px; }
code { font: 13px ui-monospace, monospace; }
</style>
</head>
<body>
<main>
<h1>Training report</h1>
<p class="sub" id="sub"></p>
<section class="cards" id="cards"></section>
<h2>Curves</h2>
<p class="sub" id="note"></p>
<section class="charts" id="charts"></section>
<section id="samples"></section>
<h2>Configuration</h2>
<table id="options"></table>
</main>
<script id="data" type="application/json">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const COLORS = ["var(--one)", "var(--two)"];

function element(parent, tag, attributes = {}, text) {
  const svg = ["svg", "g", "path", "line", "text", "circle", "rect"].includes(tag);
  const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function short(value) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  if (Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 0.001)) {
    return Number(value.toPrecision(3)).toExponential().replace("e+", "e");
  }
  return value.toLocaleString("en", {maximumSignificantDigits: 4});
}

function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw * 0.999);
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-6; ++k) list.push(k * step || 0);
  return list;
}

function chart(title, curves) {
  curves = curves.filter(c => c.points && c.points.length > 0);
  if (curves.length === 0) return;
  const card = element(document.getElementById("charts"), "div", {class: "card chart"});
  element(card, "h3", {}, title);
  const key = element(card, "div", {class: "key"});
  const width = 520, height = 250, left = 56, right = 12, top = 10, bottom = 26;
  const svg = element(card, "svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title});
  const all = curves.flatMap(c => c.points);
  const lastX = Math.max(...all.map(p => p[0]), 1);
  let low = Math.min(...all.map(p => p[1])), high = Math.max(...all.map(p => p[1]));
  if (high === low) { high += Math.abs(high) * 0.1 || 1; low -= Math.abs(low) * 0.1; }
  const x = u => left + (width - left - right) * u / lastX;
  const y = v => height - bottom - (height - top - bottom) * (v - low) / (high - low);
  for (const tick of ticks(low, high, 5)) {
    element(svg, "line", {class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick)});
    element(svg, "text", {x: left - 7, y: y(tick) + 4, "text-anchor": "end"}, short(tick));
  }
  for (const tick of ticks(0, lastX, 5)) {
    element(svg, "text", {x: x(tick), y: height - 8, "text-anchor": tick > lastX * 0.95 ? "end" : "middle"}, tick.toLocaleString("en"));
  }
  const hair = element(svg, "line", {class: "hair", y1: top, y2: height - bottom});
  curves.forEach((curve, i) => {
    const path = curve.points.map((p, k) => `${k ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join("");
    element(svg, "path", {class: "curve", d: path, stroke: COLORS[i]});
    if (curve.points.length <= 40) {
      for (const p of curve.points) element(svg, "circle", {cx: x(p[0]), cy: y(p[1]), r: 2.6, fill: COLORS[i]});
    }
  });
  function show(update) {
    key.replaceChildren();
    curves.forEach((curve, i) => {
      let point = curve.points[curve.points.length - 1];
      if (update !== null) point = curve.points.reduce((a, b) => Math.abs(b[0] - update) < Math.abs(a[0] - update) ? b : a);
      const item = element(key, "span");
      element(item, "i", {style: `background:${COLORS[i]}`});
      item.append(`${curve.name} ${short(point[1])} at ${point[0].toLocaleString("en")}`);
    });
  }
  svg.addEventListener("pointermove", event => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) * width / box.width;
    const update = Math.min(lastX, Math.max(0, (at - left) / (width - left - right) * lastX));
    hair.setAttribute("x1", x(update));
    hair.setAttribute("x2", x(update));
    hair.style.visibility = "visible";
    show(update);
  });
  svg.addEventListener("pointerleave", () => { hair.style.visibility = "hidden"; show(null); });
  show(null);
}

function cardsOf() {
  const cards = document.getElementById("cards");
  const add = (label, value) => { const c = element(cards, "div", {class: "card"}); element(c, "b", {}, value); element(c, "span", {}, label); };
  const last = data.last;
  if (last) {
    add("updates", last.update.toLocaleString("en"));
    add("epochs begun", (last.epoch + 1).toLocaleString("en"));
    add("target tokens", last.target_tokens.toLocaleString("en"));
  }
  const best = {loss: Math.min, perplexity: Math.min, bleu: Math.max, chrf: Math.max};
  const labels = {perplexity: "best validation perplexity", bleu: "best validation BLEU", chrf: "best validation chrF"};
  for (const [name, label] of Object.entries(labels)) {
    if (data.valid[name]) add(label, short(best[name](...data.valid[name].map(p => p[1]))));
  }
  const tested = {bleu: "test BLEU", chrf: "test chrF", "chrf++": "test chrF++", ter: "test TER"};
  for (const [name, result] of Object.entries(data.test || {})) {
    if (tested[name]) add(tested[name], short(result.score));
  }
  if (data.test && data.test.cut > 0) add("test outputs cut at the greatest length", data.test.cut.toLocaleString("en"));
  if (data.skipped > 0) add("updates skipped", data.skipped.toLocaleString("en"));
}

function samplesOf() {
  const samples = data.samples.samples;
  if (!samples || samples.length === 0) return;
  const section = document.getElementById("samples");
  element(section, "h2", {}, `Sample translations at update ${data.samples.update.toLocaleString("en")}`);
  const table = element(section, "table"), head = element(table, "tr");
  for (const name of ["source", "reference", "output"]) element(head, "th", {}, name);
  for (const sample of samples) {
    const row = element(table, "tr");
    for (const name of ["input", "reference", "output"]) element(row, "td", {dir: "auto"}, sample[name]);
  }
}

function optionsOf(object, prefix, table) {
  for (const [name, value] of Object.entries(object)) {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) { optionsOf(value, prefix + name + ".", table); continue; }
    if (String(value) === "") continue;
    const row = element(table, "tr");
    element(element(row, "td"), "code", {}, prefix + name);
    element(element(row, "td"), "code", {}, Array.isArray(value) ? value.join(", ") : String(value));
  }
}

document.getElementById("sub").textContent = (data.options.languages || []).join(" → ");
document.getElementById("note").textContent = data.note;
cardsOf();
const smoothed = data.options.label_smoothing > 0 ? " with label smoothing" : "";
chart("Loss", [{name: "training" + smoothed, points: data.train.loss}, {name: "validation", points: data.valid.loss}]);
chart("Validation BLEU and chrF", [{name: "BLEU", points: data.valid.bleu}, {name: "chrF", points: data.valid.chrf}]);
chart("Learning rate", [{name: "learning rate", points: data.train.learning_rate}]);
chart("Gradient norm", [{name: "norm before clipping", points: data.train.gradient_norm}]);
samplesOf();
optionsOf(data.options, "", document.getElementById("options"));
</script>
</body>
</html>
)html";

}  // namespace attend
