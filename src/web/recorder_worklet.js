// On the browser's audio thread: sends what the microphone hears, 128 samples at a time.
registerProcessor("recorder", class extends AudioWorkletProcessor {
  process([[samples]]) {
    if (samples) this.port.postMessage(samples.slice());
    return true;
  }
});
