"""Sound against NumPy, SciPy, transformers' Whisper front end, torchaudio and openai-whisper's own filters."""

import io
import json
import os
import pathlib
import subprocess
import tarfile

import numpy as np
import pytest
import scipy.io.wavfile
import scipy.signal

PROBE = pathlib.Path(os.environ["BUILD_DIR"]) / "tests" / "sound_probe"
WHEELS = pathlib.Path(os.environ.get("ATTEND_WHEELS", "none"))
DATA = pathlib.Path(os.environ.get("ATTEND_DATA", "none"))


def run(*arguments):
    done = subprocess.run([PROBE, *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b"", "a library wrote to standard error"
    return done.stdout


def numbers(output):
    """Two numbers of the first line, and f32 after it."""
    line, _, rest = output.partition(b"\n")
    first, second = map(int, line.split())
    return first, second, np.frombuffer(rest, np.float32)


def frames_of(path, **options):
    frames, mels, values = numbers(run("frames", path, json.dumps(options)))
    return values.reshape(frames, mels)


def write(path, samples, rate=16000):
    scipy.io.wavfile.write(path, rate, np.asarray(samples, np.float32))
    return path


def voice(seconds, rate=16000, seed=1):
    """A buzz with moving bands and pauses, somewhat like speech."""
    draw = np.random.default_rng(seed)
    time = np.arange(int(seconds * rate)) / rate
    buzz = scipy.signal.sawtooth(2 * np.pi * np.cumsum(120 + 30 * np.sin(3 * time)) / rate)
    shaped = scipy.signal.lfilter([1], [1, -1.6, 0.9], buzz)
    loudness = np.clip(np.sin(2 * np.pi * 1.3 * time), 0, 1)
    return (0.2 * loudness * shaped / np.abs(shaped).max() + draw.normal(0, 0.0005, time.size)).astype(np.float32)


def hertz_of(mel):
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(np.log(6.4) / 27 * (mel - 15)))


def filters(mels, fft=400, rate=16000):
    """Slaney's, by their description."""
    top = 15 + np.log(rate / 2 / 1000) / (np.log(6.4) / 27)
    corners = hertz_of(np.linspace(0, top, mels + 2))
    bins = np.arange(fft // 2 + 1) * rate / fft
    rise = (bins - corners[:-2, None]) / np.diff(corners)[:-1, None]
    fall = (corners[2:, None] - bins) / np.diff(corners)[1:, None]
    return np.maximum(0, np.minimum(rise, fall)) * (2 / (corners[2:] - corners[:-2]))[:, None]


def whisper_frames(samples, bank):
    """Whisper's log_mel_spectrogram in NumPy, [frames, mels]."""
    window = np.hanning(401)[:-1]
    padded = np.pad(samples.astype(np.float64), 200, mode="reflect")
    seen = np.lib.stride_tricks.sliding_window_view(padded, 400)[::160] * window
    power = np.abs(np.fft.rfft(seen, axis=1))[:-1] ** 2
    logs = np.log10(np.maximum(power @ bank.T, 1e-10))
    return (np.maximum(logs, logs.max() - 8) + 4) / 4


SOUNDS = {
    "voice": voice(3),
    "whole-hops": voice(1, seed=2),
    "odd-length": voice(0.7303, seed=3),
    "noise": np.random.default_rng(4).normal(0, 0.1, 16000).astype(np.float32),
    "tone": np.sin(2 * np.pi * 440 * np.arange(16000) / 16000).astype(np.float32),
    "click": np.eye(1, 8000, 3000, dtype=np.float32)[0],
    "silence": np.zeros(16000, np.float32),
    "short": voice(0.02, seed=5),
}


@pytest.mark.parametrize("name", SOUNDS)
@pytest.mark.parametrize("mels", [80, 128])
def test_frames_equal_whispers_in_numpy(tmp_path, name, mels):
    found = frames_of(write(tmp_path / "sound.wav", SOUNDS[name]), mels=mels)
    expected = whisper_frames(SOUNDS[name], filters(mels))
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-5


@pytest.mark.parametrize("mels", [80, 128])
def test_frames_equal_those_of_transformers(tmp_path, mels):
    pytest.importorskip("transformers")
    from transformers import WhisperFeatureExtractor

    samples = np.zeros(480000, np.float32)  # Whisper's thirty seconds
    samples[: 3 * 16000] = SOUNDS["voice"]
    found = frames_of(write(tmp_path / "sound.wav", samples), mels=mels)
    extractor = WhisperFeatureExtractor(feature_size=mels)
    by_torch = extractor(samples, sampling_rate=16000).input_features[0].T
    by_numpy = extractor._np_extract_fbank_features(samples[None], device="cpu")[0].T
    assert found.shape == by_torch.shape == (3000, mels)
    assert np.abs(found - by_numpy).max() < 1e-5
    assert np.abs(found - by_torch).max() < 1e-4


def test_filters_are_openai_whispers():
    archives = sorted(WHEELS.glob("openai_whisper-*.tar.gz"))
    if not archives:
        pytest.skip("ATTEND_WHEELS has no openai_whisper-*.tar.gz (pip download --no-deps --no-binary :all: openai-whisper)")
    with tarfile.open(archives[-1]) as archive:
        (member,) = [each for each in archive.getnames() if each.endswith("mel_filters.npz")]
        banks = np.load(io.BytesIO(archive.extractfile(member).read()))
    for mels in (80, 128):
        assert np.abs(filters(mels) - banks[f"mel_{mels}"]).max() < 1e-8


@pytest.mark.parametrize("rate, fft, hop, mels", [(16000, 400, 160, 80), (8000, 256, 80, 40), (22050, 1024, 256, 64)])
def test_frames_equal_torchaudios(tmp_path, rate, fft, hop, mels):
    torch = pytest.importorskip("torch")
    torchaudio = pytest.importorskip("torchaudio")
    samples = voice(2, rate)
    kind = torchaudio.transforms.MelSpectrogram(rate, n_fft=fft, hop_length=hop, n_mels=mels, norm="slaney", mel_scale="slaney").double()
    logs = kind(torch.from_numpy(samples).double()).clamp(min=1e-10).log10().numpy().T[: samples.size // hop]
    expected = (np.maximum(logs, logs.max() - 8) + 4) / 4
    found = frames_of(write(tmp_path / "sound.wav", samples, rate), rate=rate, fft=fft, hop=hop, mels=mels)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-4
    for scale, axis in (("recording", None), ("bands", 0)):
        found = frames_of(tmp_path / "sound.wav", rate=rate, fft=fft, hop=hop, mels=mels, scale=scale)
        assert np.abs(found - (logs - logs.mean(axis)) / logs.std(axis)).max() < 1e-4


def test_frames_of_real_speech(tmp_path):
    files = sorted(WHEELS.glob("jfk.*"))
    if not files and (DATA / "fsdd/fsdd.tar.xz").is_file():
        with tarfile.open(DATA / "fsdd/fsdd.tar.xz") as archive:
            wanted = [each for each in archive if each.name.endswith(("7_theo_3.wav", "0_lucas_9.wav"))]
            for member in wanted:
                files.append(tmp_path / pathlib.PurePath(member.name).name)
                files[-1].write_bytes(archive.extractfile(member).read())
    if not files:
        pytest.skip("ATTEND_WHEELS has no jfk.flac, and ATTEND_DATA no fsdd")
    for path in files:
        rate, _, samples = numbers(run("resample", path, 16000))
        assert rate == 16000 and samples.size > 1600
        found = frames_of(write(tmp_path / "resampled.wav", samples))
        assert np.abs(found - whisper_frames(samples, filters(80))).max() < 1e-5


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("channels", [1, 2, 5])
def test_wav_files_of_every_kind(tmp_path, dtype, channels):
    values = np.random.default_rng(1).uniform(-0.99, 0.99, (999, channels))
    if dtype == np.uint8:
        stored = np.round(values * 127 + 128).astype(np.uint8)
        expected = (stored.astype(np.float64) - 128) / 128
    elif np.issubdtype(dtype, np.integer):
        scale = float(2 ** (8 * np.dtype(dtype).itemsize - 1))
        stored = np.round(values * (scale - 1)).astype(dtype)
        expected = stored / scale
    else:
        stored = expected = values.astype(dtype)
    scipy.io.wavfile.write(tmp_path / "s.wav", 11025, stored)
    rate, count, samples = numbers(run("read", tmp_path / "s.wav"))
    assert (rate, count) == (11025, 999)
    assert np.abs(samples - expected.mean(1)).max() < 1e-6


def test_a_written_wav_file_is_read_by_scipy(tmp_path):
    run("wav", write(tmp_path / "in.wav", SOUNDS["voice"]), tmp_path / "out.wav")
    rate, samples = scipy.io.wavfile.read(tmp_path / "out.wav")
    assert rate == 16000 and samples.dtype == np.int16
    assert np.abs(samples - SOUNDS["voice"].astype(np.float64) * 32768).max() <= 0.5


def test_rates_agree_with_a_long_filter(tmp_path):
    write(tmp_path / "s.wav", voice(1, 8000), 8000)
    _, count, samples = numbers(run("resample", tmp_path / "s.wav", 16000))
    expected = scipy.signal.resample_poly(voice(1, 8000).astype(np.float64), 2, 1, window=("kaiser", 14.0))
    assert count == expected.size
    assert np.abs(samples - expected)[800:-800].max() < 0.01  # the filters' edges differ near 4 kHz
    spectrum, wanted = (np.abs(np.fft.rfft(each * np.hanning(count)))[:3500] for each in (samples, expected))
    assert np.abs(spectrum - wanted).max() < 1e-3 * wanted.max()
