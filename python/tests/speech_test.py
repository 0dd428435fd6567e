"""Models of sound: LibTorch trains one, and the engine, attend.torch and the program agree on it."""

import json
import os
import shutil
import subprocess
import wave

import numpy
import pytest
import srt
import tiny_run
import webvtt

import attend

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")
import attend.torch  # noqa: E402

if not tiny_run.TRAIN.exists():
    pytest.skip("this build can't train", allow_module_level=True)


@pytest.fixture(name="folder", scope="module")
def trained_on_tones(tmp_path_factory):
    """Not trained for long: what it writes is of no use, but the same everywhere."""
    folder = tmp_path_factory.mktemp("speech")
    small = {f"{side}.{name}": value for side in ("encoder", "decoder") for name, value in {"layers": 2, "d_model": 32, "heads": 4, "d_ff": 64}.items()}
    options = {"max_updates": 30, "validate_every": 30, "checkpoint_every": 30, "schedule": "inverse_sqrt", "peak_learning_rate": 0.003,
               "warmup_updates": 10, "threads": 2, "ctc_weight": 0, "frames.scale": "bands", "test_recordings": tiny_run.write_recordings(folder, "test", 6, 3)}
    tiny_run.trained(tiny_run.of_recordings(small, folder) | options, folder / "run")
    return folder


@pytest.fixture(name="directory", scope="module")
def its_model(folder):
    return folder / "run/model"


def frames_of(samples, rate=8000, fft=200, hop=80, mels=16):
    """docs/model_file.md, section Frames, with `scale` bands: torch's Fourier transform and Slaney's mel scale."""
    window = torch.hann_window(fft, dtype=torch.float64)
    spectrum = torch.stft(torch.tensor(samples, dtype=torch.float64), fft, hop, window=window, center=True, pad_mode="reflect", return_complex=True)
    power = spectrum.abs().square()[:, :max(1, len(samples) // hop)]

    def hertz(mel):
        return numpy.where(mel < 15, mel * 200 / 3, 1000 * numpy.exp(numpy.log(6.4) / 27 * (mel - 15)))

    highest = 15 + 27 * numpy.log(rate / 2 / 1000) / numpy.log(6.4)
    edges = hertz(numpy.linspace(0, highest, mels + 2))
    bins = numpy.arange(fft // 2 + 1) * rate / fft
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    filters = numpy.maximum(0, numpy.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]
    logarithms = (torch.tensor(filters) @ power).clamp(min=1e-10).log10().T  # [T, mels]
    centred = logarithms - logarithms.mean(0)
    return (centred / centred.square().mean(0).sqrt().clamp(min=1e-5)).float()


def test_plain_pytorch_gives_the_samples_log_probabilities(directory):
    model = attend.torch.load(directory)
    samples = json.loads((directory / "samples.json").read_text(encoding="utf-8"))
    assert len(samples) == 8
    for sample in samples:
        sound = numpy.frombuffer(bytes.fromhex(sample["sound"]), dtype="<i2") / 32768
        target = torch.tensor([[*model.decoder_start(), *sample["target_ids"]]])
        with torch.no_grad():
            logits = model(frames_of(sound).unsqueeze(0), target[:, :-1])
        found = logits[0].log_softmax(-1).gather(1, target[0, 1:, None])[:, 0]
        assert found.tolist() == pytest.approx(sample["token_log_probabilities"], abs=1e-4)


def run(*arguments, stdin=None):
    return subprocess.run([tiny_run.ATTEND, *arguments], input=stdin, capture_output=True, text=True, check=False, env=tiny_run.environment())


def samples_of(path):
    with wave.open(str(path)) as file:
        return numpy.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(numpy.float32) / 32768, file.getframerate()


def test_python_and_the_program_write_the_same(folder, directory):
    paths = [folder / "test" / f"{i}.wav" for i in range(6)]
    transcriber = attend.load(directory)
    assert isinstance(transcriber, attend.Transcriber) and transcriber.rate == 8000
    found = transcriber.transcribe(paths)
    told = run("transcribe", "--model", directory, *paths)
    assert told.stdout.splitlines() == [each.text for each in found]
    for path, each in zip(paths, found, strict=True):
        samples, rate = samples_of(path)
        assert transcriber.transcribe_samples(samples, rate).hypotheses == each.hypotheses
        assert each.seconds == pytest.approx(len(samples) / rate, abs=1e-3) and each.error is None
    for same in (samples.astype(numpy.float64), numpy.stack([samples, samples], axis=1)[:, 0]):
        assert transcriber.transcribe_samples(same, rate).hypotheses == found[5].hypotheses
    for wrong, error in (((samples * 32768).astype("<i2"), "no floats.*divide those of 16 bits by 32768"), ([samples, samples], "type list"),
                         (numpy.stack([samples, samples]), "2 dimensions.*average the channels")):
        with pytest.raises(TypeError, match=error):
            transcriber.transcribe_samples(wrong, rate)
    several = transcriber.transcribe(paths[:1], beam_size=4, n_best=2)[0]
    assert len({each.text for each in several.hypotheses}) == 2
    kept = (folder / "run/test_output.txt").read_text(encoding="utf-8").splitlines()
    assert kept == [each.text for each in found]


def words_of_characters(pieces):
    """The word of each: a space goes with the word after it, at the end with the last."""
    words, word, inside = [], -1, False
    for piece in pieces:
        inside, begins = piece != "▁", piece != "▁" and not inside
        word += begins
        words.append(word if inside else word + 1)
    return [min(each, word) for each in words]


def test_attention_is_that_of_plain_pytorch(folder, directory, tmp_path):
    """Of each word in each layer and head: what plain PyTorch computes for its characters, on average."""
    path, file = folder / "test/1.wav", tmp_path / "a.json"  # at the model's rate
    ids = attend.load(directory).transcribe([path])[0].hypotheses[0].ids
    model, vocabulary, layers = attend.torch.load(directory), attend.Vocabulary(directory / "vocab.spm"), []
    for layer in model.decoder.layers:
        def kept(*arguments, plain=layer.cross_attention.weights):
            layers.append(plain(*arguments)[0])
            return layers[-1].unsqueeze(0)
        layer.cross_attention.weights = kept
    with torch.no_grad():
        model(frames_of(samples_of(path)[0]).unsqueeze(0), torch.tensor([[*model.decoder_start(), *ids]]))
    words = words_of_characters([vocabulary.piece(i) for i in ids])
    first = len(model.decoder_start()) - 1
    told = run("attention", "--model", directory, path, "--output", file)
    assert told.returncode == 0, told.stderr
    found = json.loads(file.read_text(encoding="utf-8"))
    assert len(found["words"]) == words[-1] + 1 > 1 and len(layers) == len(found["heads"]) == 2
    for weights_HTS, heads in zip(layers, found["heads"], strict=True):
        rows = [weights_HTS[:, [first + i for i, each in enumerate(words) if each == word]].mean(1) for word in range(words[-1] + 1)]
        assert torch.allclose(torch.tensor(heads), torch.stack(rows, 1), atol=1e-5)
    assert torch.allclose(torch.tensor(found["mean"]), torch.tensor(found["heads"][-1]).mean(0), atol=1e-6)
    (seen,) = attend.load(directory).attention(path)
    assert [word.text for word in seen.segment.words] == [word["text"] for word in found["words"]]
    assert (seen.mean == numpy.float32(found["mean"])).all() and (seen.heads == numpy.float32(found["heads"])).all()
    with pytest.raises(attend.Error, match="gone"):
        attend.load(directory).attention(tmp_path / "gone.wav")


def test_vectors_are_those_of_plain_pytorch(folder, directory, interview, tmp_path):
    """Whatever shares the call, and however many threads there are: the mean of the encoder's rows."""
    paths = [folder / "test" / f"{i}.wav" for i in (1, 2, 3, 0)]
    transcriber, model = attend.load(directory, threads=3), attend.torch.load(directory)
    found = transcriber.embed([*paths, interview])
    assert found.shape == (5, 32) and found.dtype == numpy.float32
    assert (attend.load(directory, threads=1).embed(paths[1:2]) == found[1:2]).all()
    for path, vector in zip(paths[:3], found, strict=False):  # the last is of another rate
        with torch.no_grad():
            rows = model.encoder(frames_of(samples_of(path)[0]).unsqueeze(0), None, torch.ones(1, 1, 1, 1, dtype=torch.bool))
        assert vector == pytest.approx(rows[0].mean(0).numpy(), abs=2e-5)
    assert numpy.linalg.norm(transcriber.embed(paths, normalize=True), axis=1) == pytest.approx(numpy.ones(4), abs=1e-6)
    lines = [json.loads(line) for line in run("embed", "--model", directory, *paths, interview).stdout.splitlines()]
    assert [line["recording"] for line in lines] == [str(path) for path in [*paths, interview]]
    assert (numpy.array([line["embedding"] for line in lines], numpy.float32) == found).all()
    (tmp_path / "text.wav").write_text("no sound", encoding="utf-8")
    told = run("embed", "--model", directory, paths[0], tmp_path / "text.wav", "--normalize", "--output", tmp_path / "a.npy")
    assert told.returncode == 0 and "1 of 2 recordings could not be read" in told.stderr
    rows = numpy.load(tmp_path / "a.npy")
    assert numpy.isnan(rows[1]).all() and (rows[0] == transcriber.embed(paths[:1], normalize=True)[0]).all()
    with pytest.raises(attend.InputError, match="text.wav"):
        transcriber.embed([paths[0], tmp_path / "text.wav"])
    told = run("embed", "--model", directory, "--pooling", "first", paths[0])
    assert told.returncode == 2 and "--pooling" in told.stderr


def test_damaged_recordings_are_named(folder, directory, tmp_path):
    good, bad = folder / "test/0.wav", tmp_path / "broken.wav"
    bad.write_bytes(good.read_bytes()[:30])
    told = run("transcribe", "--model", directory, "--json", stdin=f"{good}\n{bad}\n")
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert told.returncode == 0 and lines[0]["recording"] == str(good) and "broken.wav" in lines[1]["error"]
    assert "1 of 2 recordings could not be read and has no text" in told.stderr
    told = run("transcribe", "--model", directory, bad)
    assert told.returncode == 3 and "broken.wav" in told.stderr
    found = attend.Transcriber(directory).transcribe([bad, good])
    assert "broken.wav" in found[0].error and found[0].text == "" and found[1].error is None


@pytest.mark.parametrize("method", ["transcribe", "embed"])
def test_what_is_no_list_of_paths(directory, folder, method):
    call = getattr(attend.Transcriber(directory), method)
    for one in ["a.wav", b"RIFF", folder / "test/0.wav"]:
        with pytest.raises(TypeError, match="put it in a list"):
            call(one)
    with pytest.raises(TypeError, match="found bytes"):
        call([b"RIFF"])
    with pytest.raises(TypeError, match="int"):
        call([7])


def test_a_path_that_is_no_utf8(directory, folder, tmp_path):
    good, odd = folder / "test/0.wav", os.fsdecode(os.fsencode(tmp_path) + b"/\xe9.wav")
    shutil.copy(good, odd)
    transcriber = attend.Transcriber(directory)
    found = transcriber.transcribe([good, odd, odd + "gone"])
    assert found[0].text == found[1].text and found[1].error is None and "gone" in found[2].error
    assert (transcriber.embed([odd]) == transcriber.embed([good])).all()


@pytest.fixture(name="interview", scope="module")
def long_recording(folder):
    """Three recordings with silence around them, 1 s each."""
    samples = [numpy.zeros(8000, numpy.int16)]
    for i in (1, 2, 3):
        samples += [numpy.round(32767 * samples_of(folder / f"test/{i}.wav")[0]).astype("<i2"), samples[0]]
    path = folder / "interview.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", None))
        file.writeframes(numpy.concatenate(samples).tobytes())
    return path


CUT = ["--max-seconds=1.2", "--silence-threshold=-15", "--silence-margin=0.05"]


def test_long_recordings_are_cut_at_silence(directory, interview):
    line = json.loads(run("transcribe", "--model", directory, *CUT, "--word-times", "--json", interview).stdout)
    segments = line["segments"]
    assert len(segments) == 3 and line["text"] == " ".join(segment["text"] for segment in segments if segment["text"])
    samples, rate = samples_of(interview)
    transcriber = attend.Transcriber(directory)
    found = transcriber.transcribe([interview], max_seconds=1.2, silence_threshold=-15, silence_margin=0.05, word_times=True)[0]
    for segment, told in zip(found.segments, segments, strict=True):
        assert (round(segment.begin, 3), round(segment.end, 3), segment.text) == (told["begin"], told["end"], told["text"])
        part = numpy.ascontiguousarray(samples[round(segment.begin * rate):round(segment.end * rate)])
        assert transcriber.transcribe_samples(part, rate, max_seconds=2).text == segment.text
        assert " ".join(word.text for word in segment.words) == " ".join(segment.text.split())
        times = [segment.begin, *(time for word in segment.words for time in word[1:]), segment.end]
        assert times == sorted(times) and [round(word.begin, 3) for word in segment.words] == [word["begin"] for word in told.get("words", [])]
    assert found.words == tuple(word for segment in found.segments for word in segment.words)
    silent = transcriber.transcribe_samples(numpy.zeros(8000 * 70, numpy.float32), 8000)
    assert silent.text == "" and silent.segments == () and silent.seconds == 70


def test_recordings_longer_than_any_of_training_are_cut(folder, directory, interview):
    longest = json.loads((directory / "config.json").read_text(encoding="utf-8"))["model"]["frames"]["longest_seconds"]
    heard = [samples_of(folder / line.split("\t")[0]) for line in (folder / "train.tsv").read_text(encoding="utf-8").splitlines()]
    assert longest == pytest.approx(max(len(samples) / rate for samples, rate in heard), abs=1e-3)
    segments = attend.Transcriber(directory).transcribe([interview], silence_threshold=-15)[0].segments
    assert len(segments) >= 3 and all(segment.end - segment.begin <= longest for segment in segments)
    first = attend.Transcriber(directory).transcribe([interview], silence_threshold=-15, word_times=True)[0].words[0]
    assert 0.8 < first.begin < 1.2  # after a second of silence


def seconds_of(clock):
    """Of "00:00:01.250"."""
    return round(sum(float(part) * 60 ** i for i, part in enumerate(reversed(clock.split(":")))), 3)


def test_subtitles(directory, interview):
    """By the readers of others."""
    segments = json.loads(run("transcribe", "--model", directory, *CUT, "--json", interview).stdout)["segments"]
    wanted = [(segment["begin"], segment["end"], " ".join(segment["text"].split())) for segment in segments if segment["text"]]
    assert wanted
    subtitles = list(srt.parse(run("transcribe", "--model", directory, *CUT, "--format=srt", interview).stdout, ignore_errors=False))
    assert [(each.start.total_seconds(), each.end.total_seconds(), each.content) for each in subtitles] == wanted
    assert [each.index for each in subtitles] == list(range(1, len(wanted) + 1))
    captions = webvtt.from_string(run("transcribe", "--model", directory, *CUT, "--format=vtt", interview).stdout)
    assert [(seconds_of(each.start), seconds_of(each.end)) for each in captions] == [(begin, end) for begin, end, _ in wanted]
    assert [each.text for each in captions] == [text for _, _, text in wanted]
    for arguments, wrong in ((["--format=srt", interview, interview], "of one recording"), (["--format=srt", "--json", interview], "leave out one"),
                             (["--word-times", interview], "--format json")):
        told = run("transcribe", "--model", directory, *arguments)
        assert told.returncode == 2 and wrong in told.stderr


def test_other_commands_know_it(folder, directory, tmp_path):
    assert "sound of 8,000 Hz, 16 bands every 80 samples" in run("inspect", directory).stdout
    assert run("verify", directory).returncode == 0
    assert run("quantize", directory, "--output", tmp_path / "int8").returncode == 0
    assert run("verify", tmp_path / "int8").returncode == 0
    assert run("transcribe", "--model", tmp_path / "int8", folder / "test/0.wav").returncode == 0
    result = json.loads((folder / "run/result.json").read_text(encoding="utf-8"))
    scores = run("evaluate", "--metrics", "wer,cer", "--json", "--width", "9", "--hypothesis", folder / "run/test_output.txt",
                 "--reference", folder / "run/test_reference.txt")
    for metric, each in json.loads(scores.stdout).items():
        assert each["score"] == pytest.approx(result[metric] if metric in result else result["test"][metric])
    told = run("translate", "--model", directory, stdin="a text\n")
    assert told.returncode != 0 and "transcription" in told.stderr


def test_the_page_of_python(folder):
    runs = {"my-transcriber": folder / "run", "call.wav": folder / "test/0.wav"}
    printed = tiny_run.run_page_block("my-transcriber", runs)
    found = attend.Transcriber(folder / "run/model").transcribe([folder / "test/0.wav"], word_times=True)[0]
    assert printed == "".join(line + "\n" for line in [found.text, *(f"{word.text} {word.begin} {word.end}" for word in found.words)])


def test_ctc_weight_adds_a_ctc_loss_of_the_encoder(folder, tmp_path):
    """One update with all recordings: the losses with and without it differ by what PyTorch computes of a model that hardly learned."""
    paths = [folder / "train" / f"{number}.wav" for number in range(100) if number % 5 != 0]  # at the model's rate
    texts = dict(line.split("\t") for line in (folder / "train.tsv").read_text(encoding="utf-8").splitlines())
    texts = [texts[f"train/{path.name}"] for path in paths]
    (tmp_path / "train.tsv").write_text("".join(f"{path}\t{text}\n" for path, text in zip(paths, texts, strict=True)), encoding="utf-8")
    shape = {f"{side}.{name}": value for side in ("encoder", "decoder") for name, value in {"layers": 1, "d_model": 32, "heads": 4, "d_ff": 64}.items()}
    (tmp_path / "else").mkdir()
    options = tiny_run.of_recordings(shape, tmp_path / "else") | {
        "train_recordings": tmp_path / "train.tsv", "frames.scale": "bands", "augment.frequency_masks": 0, "augment.time_masks": 0, "dropout": 0,
        "batch_tokens": 100000, "max_updates": 1, "validate_every": 1, "checkpoint_every": 1, "report_every": 1,
        "schedule": "constant", "peak_learning_rate": 1e-12, "threads": 2}
    lines = {}
    for weight in (0, 0.5):
        tiny_run.trained(options | {"ctc_weight": weight}, tmp_path / str(weight))
        lines[weight] = tiny_run.metrics(tmp_path / str(weight))
    losses = {weight: rows[0]["loss"] for weight, rows in lines.items()}
    model, vocabulary = attend.torch.load(tmp_path / "0.5/model"), attend.Vocabulary(tmp_path / "0.5/model/vocab.spm")
    sums, tokens = 0, 0
    for path, text in zip(paths, texts, strict=True):
        with torch.no_grad():
            rows = model.encoder(frames_of(samples_of(path)[0]).unsqueeze(0), None, torch.ones(1, 1, 1, 1, dtype=torch.bool))[0]
            logits = model.head(rows, model.embedding(model.decoder))
        ids = torch.tensor(vocabulary.encode(text))
        loss = torch.nn.functional.ctc_loss(logits.log_softmax(-1).unsqueeze(1), ids, [len(rows)], [len(ids)], blank=vocabulary.pad, reduction="sum")
        sums += 0 if loss.isinf() else loss.item()
        tokens += len(ids) + 1
    assert losses[0.5] - losses[0] == pytest.approx(0.5 * sums / tokens, rel=1e-3)
    assert lines[0.5][1]["validation"] == pytest.approx(lines[0][1]["validation"], rel=1e-6)  # which has no part of it
