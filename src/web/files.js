// File translation: text a few lines at a time, in order, until the end or until someone cancels; HTML and documents of other
// programs as a whole, by the server.
import {Problem, checkFile, readLimits, translate, translateFile} from "./api.js";
import {patiently} from "./server.js";

const kChunkLines = 32, kChunkCharacters = 4000, kMostNamed = 10, kHtmlName = /\.html?$/i, kTextName = /\.txt$|^[^.]*$/i;
const kTypes = {text: "text/plain;charset=utf-8", html: "text/html;charset=utf-8", document: "application/octet-stream"};
const byId = id => document.getElementById(id);
const count = number => number.toLocaleString("en");
const counted = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;

// [[line, its end], ...] of a text; the ends are kept as they are.
function splitLines(text) {
  const lines = [...text.matchAll(/([^\r\n]*)(\r\n|\r|\n)/g)].map(([, line, end]) => [line, end]);
  const rest = text.length - lines.reduce((sum, [line, end]) => sum + line.length + end.length, 0);
  return rest ? [...lines, [text.slice(-rest), ""]] : lines;
}

// The end of the lines to send together, from `first` on: so many at most, of so many characters.
function chunkEnd(lines, first, most, most_characters) {
  let last = first, characters = 0;
  while (last < lines.length && last - first < most && (last === first || characters + lines[last][0].length <= most_characters)) {
    characters += lines[last++][0].length;
  }
  return last;
}

// What the reader should know of a translation: a number of sentences that were divided, and of characters that were lost.
export function told({divided = 0, unknown = 0}) {
  return (divided ? "Sentences that are too long for this model were translated in parts. " : "")
    + (unknown ? `${counted(unknown, "character")} ${unknown === 1 ? "is" : "are"} unknown to this model, and left out. ` : "");
}

const commonest = values => {
  const times = value => values.filter(each => each === value).length;
  return values.reduce((best, value) => times(value) > times(best) ? value : best);
};

const sentence = text => `${text[0].toUpperCase()}${text.slice(1)}.`;

function timeLeft(done, total, started) {
  const seconds = (performance.now() - started) / 1000;
  if (done === 0 || done === total || seconds < 2) return "";
  const left = Math.ceil(seconds * (total - done) / done);
  return left < 60 ? `, ${left} s left` : `, about ${Math.ceil(left / 60)} min left`;
}

export class FileJob {
  // `choice` gives the model, as Languages has it, at the time of a start, and `chosen` the terms of the glossary and the memory's
  // name; `say` tells a screen reader.
  constructor(choice, chosen, say) {
    Object.assign(this, {choice, chosen, say, file: null, kind: "text", lines: [], done: 0, controller: null, url: null});
    byId("file").addEventListener("change", event => { if (event.target.files[0]) this.open(event.target.files[0]); event.target.value = ""; });
    const drop = byId("drop");
    for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, event => { event.preventDefault(); drop.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
    drop.addEventListener("drop", event => { event.preventDefault(); this.openDropped(event.dataTransfer.files); });
    byId("file-start").addEventListener("click", () => this.start());
    byId("file-cancel").addEventListener("click", () => this.controller.abort());
    addEventListener("beforeunload", event => { if (this.controller) event.preventDefault(); });
  }

  // Several are refused: which of them was meant nobody knows.
  openDropped(files) {
    if (files.length === 1) return this.open(files[0]);
    if (files.length === 0) return;
    this.show({name: ""});
    this.state(`There are ${count(files.length)} files, expected one at a time.`, true);
  }

  // A file in place of the one before.
  show(file) {
    this.controller?.abort();
    this.controller = null;
    this.file = file;
    this.lines = [];
    byId("job").hidden = false;
    byId("file-name").textContent = file.name;
    byId("file-size").textContent = "";
    this.progress(0);
    this.buttons({});
  }

  async open(file) {
    this.show(file);
    const opening = this.controller = new AbortController();
    try {
      ({characters: this.characters} = await patiently(() => readLimits(opening.signal), opening.signal));
      await patiently(() => checkFile(file, opening.signal), opening.signal);
      this.kind = kHtmlName.test(file.name) ? "html" : kTextName.test(file.name) ? "text" : "document";
      const bytes = await file.arrayBuffer();
      if (opening !== this.controller) return;  // another file took its place
      if (this.kind === "document") return this.openDocument(file);
      const text = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(bytes);
      if (text.includes("\0")) throw new RangeError("The file is no text: it has NUL characters.");
      this.lines = this.kind === "html" && text ? [[text, ""]] : splitLines(text);
      byId("file-size").textContent = this.kind === "html" ? counted(file.size, "byte") + " of HTML" : counted(this.lines.length, "line");
      this.state(this.lines.length ? "" : "The file is empty.");
      this.buttons({start: this.lines.length > 0});
    } catch (error) {
      if (opening !== this.controller) return;
      const unreadable = "The file is not UTF-8 text; save it as UTF-8 and choose it again.";
      this.state(error instanceof Problem ? sentence(error.message) : error instanceof TypeError ? unreadable : error.message, true);
    } finally {
      if (opening === this.controller) this.controller = null;
    }
  }

  // The server alone knows what is in it.
  openDocument(file) {
    byId("file-size").textContent = counted(file.size, "byte");
    this.state(file.size ? "" : "The file is empty.");
    this.buttons({start: file.size > 0});
  }

  state(text, bad = false) {
    byId("file-state").textContent = text;
    byId("file-state").classList.toggle("bad", bad);
    if (text) this.say(text);
  }

  progress(done, all = this.lines.length) {
    this.done = done;
    byId("file-progress").max = Math.max(1, all);
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
    const controller = this.controller = new AbortController(), model = this.choice();
    this.progress(0);
    this.buttons({cancel: true});
    this.state("Translating…");
    try {
      const run = this.kind === "text" ? this.run : this.runDocument;
      this.finish(await run.call(this, model, this.chosen(), controller.signal), model.target);
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
    return this.kind !== "text" ? "" : ` at line ${count(this.done + 1)}`;
  }

  async runDocument(model, chosen, signal) {
    const started = performance.now();
    const told = (done, all) => {
      this.progress(done, all);
      byId("file-state").textContent = `${count(done)} of ${counted(all, "sentence")}${timeLeft(done, all, started)}`;
    };
    const {content, cut, ...others} = await patiently(() => translateFile(this.file, {model, ...chosen}, told, signal), signal);
    this.progress(1, 1);
    return {output: [content], cut: cut ? counted(cut, "sentence") : "", ...others};
  }

  // The text to write, the lines, from 1, whose translation stops at the longest output, and what `told` tells. What the
  // server refuses is sent again in smaller parts, down to the line that it refuses. The model that it chooses for most of the
  // first lines translates all.
  async run(model, chosen, signal) {
    const output = [], cut = [], started = performance.now(), {lines} = this;
    let most = kChunkLines, divided = 0, unknown = 0;
    while (this.done < lines.length) {
      const last = chunkEnd(lines, this.done, most, Math.min(kChunkCharacters, this.characters)), part = lines.slice(this.done, last);
      const texts = part.map(([line]) => line).filter(line => line.trim());
      let results = [];
      try {
        if (texts.length) results = await patiently(() => translate(texts, {model, ...chosen, bulk: true}, signal), signal);
      } catch (error) {
        if (error.kind !== "refused" || part.length === 1) throw error;
        most = Math.ceil(part.length / 2);
        continue;
      }
      if (!model.name && results.length) {
        model = {...model, name: commonest(results.map(result => result.model))};
        if (results.some(result => result.model !== model.name)) continue;
      }
      for (const [i, [line, end]] of part.entries()) {
        const result = line.trim() ? results.shift() : {text: line, cut: [], divided: 0, unknown: 0};
        if (result.cut.length) cut.push(this.done + i + 1);
        divided += result.divided;
        unknown += result.unknown;
        output.push(result.text, end);
      }
      this.progress(last);
      byId("file-state").textContent = `${count(last)} of ${counted(lines.length, "line")}${timeLeft(last, lines.length, started)}`;
    }
    const named = cut.slice(0, kMostNamed).join(", ") + (cut.length > kMostNamed ? ", …" : "");
    return {output, cut: cut.length ? `line ${named}` : "", divided, unknown};
  }

  // `cut` names what was cut.
  finish({output, cut, ...others}, target) {
    URL.revokeObjectURL(this.url);
    this.url = URL.createObjectURL(new Blob(output, {type: kTypes[this.kind]}));
    const link = byId("file-download"), [, stem, suffix] = this.file.name.match(/^(.*?)(\.[^.]*)?$/);
    link.href = this.url;
    link.download = `${stem}.${target || "translated"}${suffix ?? ""}`;
    this.buttons({start: true, download: true});
    const notes = (cut ? `Cut off at the model's longest output: ${cut}; divide the sentences there. ` : "") + told(others);
    this.state(`${this.kind !== "text" ? "Done." : `Done. ${counted(this.lines.length, "line")} translated.`} ${notes}`.trim(), notes !== "");
  }
}
