// Sound in the browser: recorded, as WAV, and as a spectrogram.

// 16 bits, one channel.
export function wavOf(samples, rate) {
  const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const text = (at, letters) => [...letters].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  text(0, "RIFF");
  view.setUint32(4, 36 + 2 * samples.length, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((sample, i) => view.setInt16(44 + 2 * i, Math.max(-32768, Math.min(32767, Math.round(32768 * sample))), true));
  return new Blob([view.buffer], {type: "audio/wav"});
}

// The same sound with `rate` samples a second.
async function resampled(samples, from, rate) {
  if (from === rate || !samples.length) return samples;
  const context = new OfflineAudioContext(1, Math.ceil(samples.length * rate / from), rate);
  const buffer = context.createBuffer(1, samples.length, from), source = context.createBufferSource();
  buffer.copyToChannel(samples, 0);
  source.buffer = buffer;
  source.connect(context.destination);
  source.start();
  return (await context.startRendering()).getChannelData(0);
}

// Records from the microphone until `stop`, which gives samples of a rate. Throws where there is none, or it may not be used.
export class Recorder {
  async start() {
    this.stream = await navigator.mediaDevices.getUserMedia({audio: {channelCount: 1}});
    this.context = new AudioContext();
    this.pieces = [];
    try {
      await this.context.audioWorklet.addModule("recorder_worklet.js");
    } catch (error) {
      await this.close();
      throw error;
    }
    this.node = new AudioWorkletNode(this.context, "recorder", {numberOfOutputs: 0});
    this.node.port.onmessage = ({data}) => this.pieces.push(data);
    this.context.createMediaStreamSource(this.stream).connect(this.node);
  }

  async close() {
    for (const track of this.stream.getTracks()) track.stop();
    await this.context.close();
  }

  async stop(rate) {
    const recorded = this.context.sampleRate, samples = new Float32Array(this.pieces.reduce((sum, piece) => sum + piece.length, 0));
    await this.close();
    let at = 0;
    for (const piece of this.pieces) { samples.set(piece, at); at += piece.length; }
    return resampled(samples, recorded, rate);
  }
}

// Energies of `bins` frequencies up to half the rate, by a plain Fourier transform of 2 * bins samples under a Hann window.
function spectrumOf(samples, begin, bins, real, imaginary) {
  const size = 2 * bins;
  for (let i = 0; i < size; ++i) {
    let place = 0;
    for (let bit = 1, mirror = bins; bit < size; bit *= 2, mirror /= 2) if (i & bit) place += mirror;
    real[place] = (samples[begin + i] ?? 0) * (.5 - .5 * Math.cos(2 * Math.PI * i / size));
    imaginary[place] = 0;
  }
  for (let half = 1; half < size; half *= 2) {
    for (let k = 0; k < half; ++k) {
      const cos = Math.cos(Math.PI * k / half), sin = -Math.sin(Math.PI * k / half);
      for (let i = k; i < size; i += 2 * half) {
        const x = cos * real[i + half] - sin * imaginary[i + half], y = cos * imaginary[i + half] + sin * real[i + half];
        real[i + half] = real[i] - x; imaginary[i + half] = imaginary[i] - y;
        real[i] += x; imaginary[i] += y;
      }
    }
  }
}

// Draws time from left to right and frequency from below: the louder, the more of the canvas' own colour. 60 dB are seen.
export function drawSpectrogram(canvas, samples) {
  const {width, height} = canvas, bins = 256, context = canvas.getContext("2d"), image = context.createImageData(width, height);
  const [, red, green, blue] = getComputedStyle(canvas).color.match(/(\d+)\D+(\d+)\D+(\d+)/);
  const real = new Float64Array(2 * bins), imaginary = new Float64Array(2 * bins), levels = new Float64Array(width * height);
  let loudest = -Infinity;
  for (let x = 0; x < width; ++x) {
    spectrumOf(samples, Math.round((x + .5) * samples.length / width) - bins, bins, real, imaginary);
    for (let y = 0; y < height; ++y) {
      const bin = Math.floor((height - 1 - y) * bins / height), level = 10 * Math.log10(real[bin] ** 2 + imaginary[bin] ** 2 + 1e-12);
      levels[y * width + x] = level;
      loudest = Math.max(loudest, level);
    }
  }
  levels.forEach((level, i) => image.data.set([red, green, blue, 255 * Math.max(0, 1 + (level - loudest) / 60)], 4 * i));
  context.putImageData(image, 0, 0);
}
