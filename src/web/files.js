// File translation: a few lines at a time, in order, until the end or until someone cancels.
import {translate} from "./api.js";
import {patiently, showProblem} from "./server.js";

const kChunkLines = 32, kChunkCharacters = 4000, kLargestFile = 20e6;
const byId = id => document.getElementById(id);
const count = number => number.toLocaleString("en");

// [[line, its end], ...] of a text; the ends are kept as they are.
export function splitLines(text) {
  const lines = [...text.matchAll(/([^\r\n]*)(\r\n|\r|\n)/g)].map(([, line, end]) => [line, end]);
  const rest = text.length - lines.reduce((sum, [line, end]) => sum + line.length + end.length, 0);
  return rest ? [...lines, [text.slice(-rest), ""]] : lines;
}

// [first, last) of the next lines to send together.
function chunk(lines, first) {
  let last = first, characters = 0;
  while (last < lines.length && last - first < kChunkLines && (last === first || characters + lines[last][0].length <= kChunkCharacters)) {
    characters += lines[last++][0].length;
  }
  return last;
}

function timeLeft(done, total, started) {
  const seconds = (performance.now() - started) / 1000;
  if (done === 0 || seconds < 2) return "";
  const left = Math.ceil(seconds * (total - done) / done);
  return left < 60 ? `, ${left} s left` : `, about ${Math.ceil(left / 60)} min left`;
}

export class FileJob {
  // `choice` gives {model, target} at the time of a start; `say` tells a screen reader.
  constructor(choice, say) {
    Object.assign(this, {choice, say, file: null, lines: [], controller: null, url: null});
    byId("file").addEventListener("change", event => { if (event.target.files[0]) this.open(event.target.files[0]); event.target.value = ""; });
    const drop = byId("drop");
    for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, event => { event.preventDefault(); drop.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
    drop.addEventListener("drop", event => { event.preventDefault(); if (event.dataTransfer.files[0]) this.open(event.dataTransfer.files[0]); });
    byId("file-start").addEventListener("click", () => this.start());
    byId("file-cancel").addEventListener("click", () => this.controller?.abort());
  }

  async open(file) {
    this.controller?.abort();
    this.file = file;
    this.lines = [];
    byId("job").hidden = false;
    byId("file-name").textContent = file.name;
    byId("file-size").textContent = "";
    this.progress(0);
    this.buttons({});
    try {
      if (file.size > kLargestFile) throw new Error(`The file has ${count(file.size)} bytes, at most ${count(kLargestFile)} are taken; cut it into parts.`);
      const text = new TextDecoder("utf-8", {fatal: true}).decode(await file.arrayBuffer());
      this.lines = splitLines(text);
      byId("file-size").textContent = `${count(this.lines.length)} ${this.lines.length === 1 ? "line" : "lines"}`;
      this.state(this.lines.length ? "" : "The file is empty.");
      this.buttons({start: this.lines.length > 0});
    } catch (error) {
      this.state(error instanceof TypeError ? "The file is not UTF-8 text; save it as UTF-8 and choose it again." : error.message);
    }
  }

  state(text) {
    byId("file-state").textContent = text;
    if (text) this.say(text);
  }

  progress(done) {
    byId("file-progress").max = Math.max(1, this.lines.length);
    byId("file-progress").value = done;
  }

  buttons({start = false, cancel = false, download = false}) {
    byId("file-start").hidden = !start;
    byId("file-cancel").hidden = !cancel;
    byId("file-download").hidden = !download;
  }

  async start() {
    const controller = this.controller = new AbortController(), {model, target} = this.choice();
    this.buttons({cancel: true});
    this.state("Translating…");
    try {
      const output = await this.run(model, controller.signal);
      this.finish(output, target);
    } catch (error) {
      if (controller !== this.controller) return;
      this.buttons({start: true});
      this.state(controller.signal.aborted ? "Cancelled." : "Stopped.");
      if (!controller.signal.aborted) showProblem(error);
    }
  }

  async run(model, signal) {
    const output = [], started = performance.now(), {lines} = this;
    for (let first = 0; first < lines.length;) {
      const last = chunk(lines, first), part = lines.slice(first, last);
      const texts = part.map(([line]) => line).filter(line => line.trim());
      const results = texts.length ? await patiently(() => translate(texts, {model, bulk: true}, signal), signal) : [];
      for (const [line, end] of part) output.push(line.trim() ? results.shift().hypotheses[0].text : line, end);
      first = last;
      this.progress(first);
      byId("file-state").textContent = `${count(first)} of ${count(lines.length)} lines${timeLeft(first, lines.length, started)}`;
    }
    return output;
  }

  finish(output, target) {
    URL.revokeObjectURL(this.url);
    this.url = URL.createObjectURL(new Blob(output, {type: "text/plain;charset=utf-8"}));
    const link = byId("file-download"), [, stem, suffix] = this.file.name.match(/^(.*?)(\.[^.]*)?$/);
    link.href = this.url;
    link.download = `${stem}.${target || "translated"}${suffix ?? ""}`;
    this.buttons({start: true, download: true});
    this.state(`All ${count(this.lines.length)} lines are translated.`);
    link.focus();
  }
}
