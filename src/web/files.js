// File translation: a few lines at a time, in order, until the end or until someone cancels; HTML as a whole.
import {Problem, translate, translateDocument} from "./api.js";
import {patiently} from "./server.js";

const kChunkLines = 32, kChunkCharacters = 4000, kLargestFile = 20e6, kLargestHtml = 9e5, kMostNamed = 10, kHtmlName = /\.html?$/i;
const byId = id => document.getElementById(id);
const count = number => number.toLocaleString("en");
const counted = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;

// [[line, its end], ...] of a text; the ends are kept as they are.
function splitLines(text) {
  const lines = [...text.matchAll(/([^\r\n]*)(\r\n|\r|\n)/g)].map(([, line, end]) => [line, end]);
  const rest = text.length - lines.reduce((sum, [line, end]) => sum + line.length + end.length, 0);
  return rest ? [...lines, [text.slice(-rest), ""]] : lines;
}

// The end of the lines to send together, from `first` on.
function chunkEnd(lines, first) {
  let last = first, characters = 0;
  while (last < lines.length && last - first < kChunkLines && (last === first || characters + lines[last][0].length <= kChunkCharacters)) {
    characters += lines[last++][0].length;
  }
  return last;
}

function timeLeft(done, total, started) {
  const seconds = (performance.now() - started) / 1000;
  if (done === 0 || done === total || seconds < 2) return "";
  const left = Math.ceil(seconds * (total - done) / done);
  return left < 60 ? `, ${left} s left` : `, about ${Math.ceil(left / 60)} min left`;
}

export class FileJob {
  // `choice` gives {model, target} at the time of a start; `say` tells a screen reader.
  constructor(choice, say) {
    Object.assign(this, {choice, say, file: null, html: false, lines: [], done: 0, controller: null, url: null});
    byId("file").addEventListener("change", event => { if (event.target.files[0]) this.open(event.target.files[0]); event.target.value = ""; });
    const drop = byId("drop");
    for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, event => { event.preventDefault(); drop.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
    drop.addEventListener("drop", event => { event.preventDefault(); if (event.dataTransfer.files[0]) this.open(event.dataTransfer.files[0]); });
    byId("file-start").addEventListener("click", () => this.start());
    byId("file-cancel").addEventListener("click", () => this.controller.abort());
    addEventListener("beforeunload", event => { if (this.controller) event.preventDefault(); });
  }

  async open(file) {
    this.controller?.abort();
    this.controller = null;
    this.file = file;
    this.lines = [];
    byId("job").hidden = false;
    byId("file-name").textContent = file.name;
    byId("file-size").textContent = "";
    this.progress(0);
    this.buttons({});
    try {
      this.html = kHtmlName.test(file.name);
      const largest = this.html ? kLargestHtml : kLargestFile;  // HTML goes in one request
      if (file.size > largest) throw new RangeError(`The file has ${count(file.size)} bytes, at most ${count(largest)} are taken; cut it into parts.`);
      const text = new TextDecoder("utf-8", {fatal: true}).decode(await file.arrayBuffer());
      if (text.includes("\0")) throw new RangeError("The file is no text; save it as text, in UTF-8, and choose it again.");
      this.lines = this.html && text ? [[text, ""]] : splitLines(text);
      byId("file-size").textContent = this.html ? counted(file.size, "byte") + " of HTML" : counted(this.lines.length, "line");
      this.state(this.lines.length ? "" : "The file is empty.");
      this.buttons({start: this.lines.length > 0});
    } catch (error) {
      this.state(error instanceof RangeError ? error.message : "The file is not UTF-8 text; save it as UTF-8 and choose it again.", true);
    }
  }

  state(text, bad = false) {
    byId("file-state").textContent = text;
    byId("file-state").classList.toggle("bad", bad);
    if (text) this.say(text);
  }

  progress(done) {
    this.done = done;
    byId("file-progress").max = Math.max(1, this.lines.length);
    byId("file-progress").value = done;
  }

  buttons({start = false, cancel = false, download = false}) {
    const held = byId("file-actions").contains(document.activeElement);
    byId("file-download").hidden = !download;
    byId("file-start").hidden = !start;
    byId("file-start").textContent = download ? "Translate again" : "Translate";
    byId("file-start").classList.toggle("primary", !download);
    byId("file-cancel").hidden = !cancel;
    byId("file-progress").hidden = !cancel && !download;
    if (held) byId("file-actions").querySelector(":not([hidden])")?.focus();
  }

  async start() {
    const controller = this.controller = new AbortController(), choice = this.choice();
    this.progress(0);
    this.buttons({cancel: true});
    this.state("Translating…");
    try {
      const run = this.html ? this.runDocument : this.run;
      const {output, cut} = await run.call(this, choice, controller.signal);
      this.finish(output, cut, choice.target);
    } catch (error) {
      if (controller !== this.controller) return;  // another file took its place
      this.buttons({start: true});
      if (controller.signal.aborted) this.state("Cancelled.");
      else if (error instanceof Problem) this.state(`Stopped${this.place()}: ${error.message}.`, true);
      else throw error;
    } finally {
      if (controller === this.controller) this.controller = null;
    }
  }

  place() {
    return this.html ? "" : ` between line ${count(this.done + 1)} and ${count(chunkEnd(this.lines, this.done))}`;
  }

  async runDocument({model, target}, signal) {
    const [[html]] = this.lines;
    const output = await patiently(() => translateDocument(html, {model, target: target ?? ""}, signal), signal);
    this.progress(1);
    return {output: [output], cut: []};
  }

  // The text to write, and the lines, from 1, whose translation stops at the longest output.
  async run({model}, signal) {
    const output = [], cut = [], started = performance.now(), {lines} = this;
    while (this.done < lines.length) {
      const last = chunkEnd(lines, this.done), part = lines.slice(this.done, last);
      const texts = part.map(([line]) => line).filter(line => line.trim());
      const results = texts.length ? await patiently(() => translate(texts, {model, bulk: true}, signal), signal) : [];
      for (const [i, [line, end]] of part.entries()) {
        const result = line.trim() ? results.shift() : {text: line, cut: []};
        if (result.cut.length) cut.push(this.done + i + 1);
        output.push(result.text, end);
      }
      this.progress(last);
      byId("file-state").textContent = `${count(last)} of ${counted(lines.length, "line")}${timeLeft(last, lines.length, started)}`;
    }
    return {output, cut};
  }

  finish(output, cut, target) {
    URL.revokeObjectURL(this.url);
    this.url = URL.createObjectURL(new Blob(output, {type: `text/${this.html ? "html" : "plain"};charset=utf-8`}));
    const link = byId("file-download"), [, stem, suffix] = this.file.name.match(/^(.*?)(\.[^.]*)?$/);
    link.href = this.url;
    link.download = `${stem}.${target || "translated"}${suffix ?? ""}`;
    this.buttons({start: true, download: true});
    const named = cut.slice(0, kMostNamed).join(", ") + (cut.length > kMostNamed ? ", …" : "");
    this.state((this.html ? "Done." : `Done. ${counted(this.lines.length, "line")} translated.`)
      + (cut.length ? ` Cut off at the model's longest output: line ${named}; divide the sentences there.` : ""), cut.length > 0);
  }
}
