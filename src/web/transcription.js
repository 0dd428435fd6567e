// The panel of models of transcription: a recording, dropped, chosen or spoken; its text with times; its spectrogram with the words, and what each of them looks at.
import {transcribe} from "./api.js";
import {Recorder, drawSpectrogram, wavOf} from "./sound.js";
import {SpectrogramAttention} from "./spectrogram_attention.js";
import {TextPanel, make} from "./text_panel.js";

const kLongestDrawn = 600;  // seconds; a longer recording has no spectrogram
const byId = id => document.getElementById(id);
const clock = seconds => `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, "0")}`;

export class TranscriptionPanel extends TextPanel {
  constructor(say) {
    super({name: "transcribe", ask: transcribe, show: answer => this.showText(answer), done: "transcribed", say});
    Object.assign(this, {file: null, sound: null, recorder: null, playing: null, attention: null});
    const place = byId("transcribe-drop"), input = byId("transcribe-file");
    input.addEventListener("change", () => { this.open(input.files[0]); input.value = ""; });
    for (const name of ["dragenter", "dragover"]) place.addEventListener(name, event => { event.preventDefault(); place.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) place.addEventListener(name, () => place.classList.remove("over"));
    place.addEventListener("drop", event => { event.preventDefault(); this.open(event.dataTransfer.files[0]); });
    byId("transcribe-record").addEventListener("click", () => this.record());
    byId("transcribe-play").addEventListener("click", () => (this.playing ? this.quiet() : this.play(0)));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    byId("theme").addEventListener("click", () => setTimeout(() => this.draw()));
  }

  get item() { return this.file; }

  hint(text) { byId("transcribe-hint").textContent = text; }

  async open(file) {
    if (!file) return;
    this.quiet();
    this.file = file;
    this.sound = null;
    this.hint(file.name);
    this.showText(null);  // the words on show are another recording's
    this.run();
    const context = new OfflineAudioContext(1, 1, this.model?.sound.rate ?? 16000);  // what the model hears
    const sound = await file.arrayBuffer().then(bytes => context.decodeAudioData(bytes)).catch(() => null);
    if (this.file !== file) return;  // a newer one was opened
    this.sound = sound;
    if (!sound) this.hint(`${file.name}, which this browser can't play`);  // the server may read it
    byId("transcribe-play").hidden = !this.sound;
    this.draw();
  }

  async record() {
    const button = byId("transcribe-record");
    button.disabled = true;  // until it is another button
    try {
      await (this.recorder ? this.endRecording() : this.startRecording());
    } catch {
      this.recorder = null;
      this.hint("The microphone can't be used.");
    }
    button.textContent = this.recorder ? "Stop and transcribe" : "Record";
    button.disabled = false;
  }

  async startRecording() {
    const recorder = new Recorder();
    await recorder.start();
    this.recorder = recorder;
    this.hint("Recording…");
  }

  async endRecording() {
    const recorder = this.recorder, rate = this.model?.sound.rate ?? 16000;
    this.recorder = null;
    const samples = await recorder.stop(rate);
    if (samples.length) this.open(new File([wavOf(samples, rate)], "recording.wav", {type: "audio/wav"}));
  }

  quiet() {
    this.playing?.close();
    this.playing = null;
    byId("transcribe-play").textContent = "Play";
  }

  play(from) {
    this.quiet();
    if (!this.sound) return;
    const context = this.playing = new AudioContext(), source = context.createBufferSource();
    source.buffer = this.sound;
    source.connect(context.destination);
    source.addEventListener("ended", () => { if (this.playing === context) this.quiet(); });
    source.start(0, from);
    byId("transcribe-play").textContent = "Stop";
  }

  wordButton({word, start, end}, number) {
    const button = make("button", "timed-word", word);
    button.type = "button";
    button.title = `${clock(start)} to ${clock(end)}`;
    button.addEventListener("click", () => this.play(start));
    for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => this.attention?.pointAt(number));
    return button;
  }

  showText(answer) {
    this.answer = answer;
    const words = answer?.words ?? [];
    byId("transcribe-output").replaceChildren(...words.flatMap((word, i) => [this.wordButton(word, i), " "]));
    if (answer && !words.length) byId("transcribe-output").textContent = "Nothing is said.";
    this.draw();
    this.showAttention(words);
    return answer?.text || "Nothing is said.";
  }

  showAttention(words) {
    const {attention} = this.answer ?? {};
    byId("transcribe-attention").hidden = !words.length || !attention?.segments.length;
    if (byId("transcribe-attention").hidden) return;
    this.attention ??= new SpectrogramAttention(byId("transcribe-attention-view"), number => this.play(this.answer.words[number].start));
    this.attention.show(attention);
  }

  display(answer) {
    super.display(answer);
    if (answer) this.part("state").textContent = clock(answer.duration);
  }

  // The spectrogram, and over it where each word is.
  draw() {
    const shown = this.sound && this.sound.duration <= kLongestDrawn;
    byId("transcribe-spectrogram").hidden = !shown;
    if (!shown) return;
    drawSpectrogram(byId("transcribe-canvas"), this.sound.getChannelData(0));
    byId("transcribe-words").replaceChildren(...(this.answer?.words ?? []).map((each, i) => {
      const mark = this.wordButton(each, i);
      mark.style.left = `${100 * each.start / this.sound.duration}%`;
      mark.style.width = `${100 * (each.end - each.start) / this.sound.duration}%`;
      mark.tabIndex = -1;  // the text has the same
      return mark;
    }));
  }
}
