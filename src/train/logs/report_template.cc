#include "train/logs/report.h"

namespace attend {

const char* const kReportTemplate = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>attend: training report</title>
<style>
:root { --page: #fbfbfa; --card: #ffffff; --ink: #1d2126; --soft: #667080; --line: #e3e6ea; --one: #2563a8; --two: #c2571a; --missing: #fbe3d0; --extra: #dbe8f8; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --card: #1c2026; --ink: #e6e9ed; --soft: #98a2b0; --line: #313741; --one: #6cb0f5; --two: #f2a05e; --missing: #4a2e17; --extra: #1d3a5c; }
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
.charts { grid-template-columns: repeat(auto-fill, minmax(min(460px, 100%), 1fr)); }
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
.axis { font-size: 12.5px; color: var(--soft); }
.machine { color: var(--soft); font-size: 13.5px; margin: 12px 0 0; }
.legend { color: var(--soft); font-size: 13.5px; margin: 0 0 10px; }
del, ins { border-radius: 3px; padding: 0 2px; color: inherit; }
del { background: var(--missing); text-decoration: underline dashed var(--two) 1.5px; text-underline-offset: 3px; }
ins { background: var(--extra); text-decoration: underline solid var(--one) 2px; text-underline-offset: 3px; font-weight: 600; }
.scroll { overflow-x: auto; }
.samples { table-layout: fixed; }
@media (max-width: 640px) {
  .samples th { display: none; }
  .samples tr, .samples td { display: block; }
  .samples td { border-top: 0; padding: 3px 12px; }
  .samples td::before { content: attr(data-name); display: block; color: var(--soft); font-size: 12.5px; }
  .samples tr + tr { border-top: 1px solid var(--line); }
}
details { margin: 14px 0 0; }
summary { cursor: pointer; padding: 4px 0 10px; color: var(--soft); }
.options td:first-child { width: 34%; }
</style>
</head>
<body>
<main>
<h1>Training report</h1>
<p class="sub" id="sub"></p>
<section class="cards" id="cards"></section>
<p class="machine" id="machine"></p>
<h2>Curves</h2>
<p class="sub" id="note"></p>
<section class="charts" id="charts"></section>
<section id="samples"></section>
<h2>Configuration</h2>
<div id="options"></div>
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

function chart(title, axis, curves, fromZero = false) {
  curves = curves.filter(c => c.points && c.points.length > 0);
  if (curves.length === 0) return;
  const card = element(document.getElementById("charts"), "div", {class: "card chart"});
  element(card, "h3", {}, title);
  element(card, "div", {class: "axis"}, axis);
  const key = element(card, "div", {class: "key"});
  const width = Math.min(640, Math.max(280, card.clientWidth - 34)), height = 262, left = 56, right = 12, top = 10, bottom = 40;
  const svg = element(card, "svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title});
  const all = curves.flatMap(c => c.points);
  const lastX = Math.max(data.last ? data.last.update : 1, ...all.map(p => p[0]));
  let low = Math.min(...all.map(p => p[1])), high = Math.max(...all.map(p => p[1]));
  if (fromZero) low = Math.min(low, 0);
  if (high === low) { high += Math.abs(high) * 0.1 || 1; low -= Math.abs(low) * 0.1; }
  const x = u => left + (width - left - right) * u / lastX;
  const y = v => height - bottom - (height - top - bottom) * (v - low) / (high - low);
  for (const tick of ticks(low, high, 5)) {
    element(svg, "line", {class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick)});
    element(svg, "text", {x: left - 7, y: y(tick) + 4, "text-anchor": "end"}, short(tick));
  }
  for (const tick of ticks(0, lastX, 5)) {
    element(svg, "text", {x: x(tick), y: height - bottom + 17, "text-anchor": tick > lastX * 0.95 ? "end" : "middle"}, tick.toLocaleString("en"));
  }
  element(svg, "text", {x: left + (width - left - right) / 2, y: height - 4, "text-anchor": "middle"}, "update");
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

function duration(seconds) {
  const s = Math.round(seconds), days = Math.floor(s / 86400), hours = Math.floor(s / 3600) % 24, minutes = Math.floor(s / 60) % 60;
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${s % 60} s` : `${s} s`;
}

function machineOf() {
  const machine = data.machine;
  if (!machine) return;
  const count = (number, name) => number === undefined ? "" : `${number} ${name}${number === 1 ? "" : name.endsWith("s") ? "es" : "s"}`;
  const parts = [machine.processor, count(machine.threads, "thread"), machine.processes > 1 ? count(machine.processes, "process") : "",
    machine.device && `device ${machine.device}${machine.gpu ? ` (${machine.gpu})` : ""}`, machine.instruction_set,
    machine.libtorch && `LibTorch ${machine.libtorch}`, machine.attend && `attend ${machine.attend}`];
  document.getElementById("machine").textContent = "Machine: " + parts.filter(part => part).join(" · ");
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
  if (data.speed) {
    add("time in updates", duration(data.speed.seconds));
    add("target tokens/s", Math.round(data.speed.target_tokens_per_s).toLocaleString("en"));
  }
  if (data.parameters) add("parameters", data.parameters.toLocaleString("en"));
  for (const {name, label, high_is_better} of data.task.validation) {
    const best = high_is_better ? Math.max : Math.min;
    if (name !== "loss" && data.valid[name]) add(`best validation ${label}`, short(best(...data.valid[name].map(p => p[1]))));
  }
  for (const {name, label} of data.task.test) {
    const found = (data.test || {})[name];
    if (typeof found === "number" && found > 0) add(`test ${label}`, found.toLocaleString("en"));
    else if (found && typeof found === "object") add(`test ${label}`, short(found.score));
  }
  if (data.skipped > 0) add("updates skipped", data.skipped.toLocaleString("en"));
}

// Words, single signs, and each letter of the scripts that write without spaces.
function wordsOf(text) {
  const single = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
  return text.match(new RegExp(`\\s+|[${single}]\\p{M}*|(?:(?![${single}])[\\p{L}\\p{N}\\p{M}])+|.`, "gsu")) || [];
}

// The longest common subsequence of both: for each text, which of its words are not in it.
function differences(a, b) {
  const length = Array.from({length: a.length + 1}, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i) for (let j = b.length - 1; j >= 0; --j) {
    length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  }
  const only = [a.map(() => true), b.map(() => true)];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) only[0][i++] = only[1][j++] = false;
    else if (length[i + 1][j] >= length[i][j + 1]) ++i; else ++j;
  }
  return only;
}

// Writes words; runs of those that only this text has stand in one element.
function writeMarked(cell, words, only, tag) {
  const isSpace = word => /^\s+$/.test(word);
  for (let i = 0; i < words.length;) {
    let end = i + 1;
    const marked = only[i] && !isSpace(words[i]);
    if (marked) {
      while (end < words.length && (only[end] || isSpace(words[end]))) ++end;
      while (isSpace(words[end - 1])) --end;
      element(cell, tag, {}, words.slice(i, end).join(""));
    } else {
      cell.append(words[i]);
    }
    i = end;
  }
}

function samplesOf() {
  const samples = data.samples.samples;
  if (!samples || samples.length === 0) return;
  const section = document.getElementById("samples");
  element(section, "h2", {}, `${data.task.samples} at update ${data.samples.update.toLocaleString("en")}`);
  const legend = element(section, "p", {class: "legend"});
  element(legend, "del", {}, "dashed");
  legend.append(": only in the reference. ");
  element(legend, "ins", {}, "solid");
  legend.append(": only in the output.");
  const table = element(element(section, "div", {class: "scroll"}), "table", {class: "samples"}), head = element(table, "tr");
  const input = data.task.sample_input;
  for (const name of [input, "reference", "output"]) element(head, "th", {}, name);
  for (const sample of samples) {
    const row = element(table, "tr");
    const cell = name => element(row, "td", {dir: "auto", "data-name": name});
    cell(input).textContent = sample.input;
    const reference = wordsOf(sample.reference), output = wordsOf(sample.output), only = differences(reference, output);
    writeMarked(cell("reference"), reference, only[0], "del");
    writeMarked(cell("output"), output, only[1], "ins");
  }
}

// [name, value, default] of each option that is set to something; those of a group with its name.
function listOptions(object, defaults, prefix, list) {
  for (const [name, value] of Object.entries(object)) {
    const usual = (defaults || {})[name];
    if (value !== null && typeof value === "object" && !Array.isArray(value)) listOptions(value, usual, prefix + name + ".", list);
    else if (String(value) !== "" || String(usual ?? "") !== "") list.push([prefix + name, value, usual]);
  }
  return list;
}

function optionTable(parent, list, withDefaults) {
  const table = element(element(parent, "div", {class: "scroll"}), "table", {class: "options"});
  const shown = value => String(value ?? "") === "" ? "none" : Array.isArray(value) ? value.join(", ") : String(value);
  const head = element(table, "tr");
  for (const title of ["option", "value", "default"].slice(0, withDefaults ? 3 : 2)) element(head, "th", {}, title);
  for (const [name, value, usual] of list) {
    const row = element(table, "tr");
    element(element(row, "td"), "code", {}, name);
    element(element(row, "td"), "code", {}, shown(value));
    if (withDefaults) element(element(row, "td"), "code", {}, shown(usual));
  }
}

function optionsOf() {
  const parent = document.getElementById("options"), list = listOptions(data.options, data.defaults, "", []);
  const changed = ([, value, usual]) => JSON.stringify(value) !== JSON.stringify(usual);
  const set = list.filter(changed), usual = list.filter(option => !changed(option));
  if (set.length > 0) optionTable(parent, set, true);
  if (usual.length === 0) return;
  const details = element(parent, "details");
  element(details, "summary", {}, `${usual.length} options have their default`);
  optionTable(details, usual, false);
}

document.getElementById("sub").textContent = (data.options.languages || []).join(" → ");
document.getElementById("note").textContent = data.note;
cardsOf();
machineOf();
const smoothing = data.options.label_smoothing;
chart(smoothing > 0 ? "Training loss, with label smoothing" : "Training loss",
  smoothing > 0 ? `nats a target token, label_smoothing = ${smoothing}; not to be compared with validation` : "nats a target token",
  [{name: "training", points: data.train.loss}]);
chart(smoothing > 0 ? "Validation loss, without label smoothing" : "Validation loss", "nats a target token", [{name: "validation", points: data.valid.loss}]);
const labelOf = name => data.task.validation.find(figure => figure.name === name).label;
for (const {title, axis, figures} of data.task.charts) {
  chart(title, axis, figures.map(name => ({name: labelOf(name), points: data.valid[name]})));
}
chart("Speed", "target tokens a second, validation left out", [{name: "speed", points: data.speed && data.speed.curve}], true);
chart("Learning rate", "of Adam", [{name: "learning rate", points: data.train.learning_rate}], true);
chart("Gradient norm", "before clipping", [{name: "norm", points: data.train.gradient_norm}]);
samplesOf();
optionsOf();
</script>
</body>
</html>
)html";

}  // namespace attend
