"""Models of transcription served: /v1/audio/transcriptions by the official OpenAI client, against what `attend transcribe` writes."""

import io
import json
import math
import random
import struct
import subprocess
import wave

import openai
import pytest
import srt
import webvtt
from random_models import write_transcriber
from server import ATTEND, PATIENCE, serving


def sound(seed, parts, rate=8000):
    """A WAV file of tones of half a second with 40 seconds of silence between them, so that each is a segment."""
    draw, samples = random.Random(seed), []
    for part in range(parts):
        samples += [0] * (40 * rate if part else 0)
        step = 2 * math.pi * draw.uniform(300, 2000) / rate
        samples += [round(9000 * math.sin(step * t)) for t in range(rate // 2)]
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, rate, 0, "NONE", None))
        writer.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return file.getvalue()


FILES = {"one.wav": sound(1, 1), "three.wav": sound(2, 3), "other.wav": sound(3, 1, 16000)}


@pytest.fixture(name="model", scope="module")
def transcriber(tmp_path_factory):
    return write_transcriber(tmp_path_factory.mktemp("transcriber"))


@pytest.fixture(name="server", scope="module")
def running(tmp_path_factory, model):
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"calls={model}", "--max-upload-bytes", str(1 << 22), model=None) as server:
        yield server


@pytest.fixture(name="client", scope="module")
def openai_client(server):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)


@pytest.fixture(name="written", scope="module")
def what_the_program_writes(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("files")
    for name, file in FILES.items():
        (folder / name).write_bytes(file)

    def run(name, *options):
        return subprocess.run([ATTEND, "transcribe", "--model", model, *options, folder / name],
                              capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE).stdout

    return run


def ask(client, name, **options):
    return client.audio.transcriptions.create(model="calls", file=(name, FILES[name]), **options)


@pytest.mark.parametrize("name", ["one.wav", "three.wav", "other.wav"])
def test_texts_are_those_of_the_program(client, written, name):
    text = written(name).rstrip("\n")
    assert text and ask(client, name).text == text
    assert ask(client, name, response_format="text") == text + "\n"
    assert ask(client, name, language="de", temperature=0).text == text


def test_verbose_json_has_segments_and_words(client, written):
    line = json.loads(written("three.wav", "--json", "--word-times"))
    told = ask(client, "three.wav", response_format="verbose_json", timestamp_granularities=["word", "segment"])
    assert told.text == line["text"] and told.duration == pytest.approx(81.5) and told.language == "de"
    assert [each.text for each in told.segments] == [segment["text"] for segment in line["segments"]] and len(told.segments) == 3
    for each, segment in zip(told.segments, line["segments"], strict=True):
        assert (each.start, each.end) == (pytest.approx(segment["begin"], abs=1e-3), pytest.approx(segment["end"], abs=1e-3))
        assert each.avg_logprob < 0 and bool(each.tokens) == bool(each.text)
    words = [word for segment in line["segments"] for word in segment.get("words", [])]
    assert words and [each.word for each in told.words] == [word["text"] for word in words]
    for each, word in zip(told.words, words, strict=True):
        assert (each.start, each.end) == (pytest.approx(word["begin"], abs=1e-3), pytest.approx(word["end"], abs=1e-3))
    assert ask(client, "three.wav", response_format="verbose_json").words is None
    assert ask(client, "three.wav", response_format="verbose_json", timestamp_granularities=["word"]).segments is None


def test_attention_is_that_of_the_program(client, model, tmp_path):
    """OpenAI's clients send it as a member of their own, and pass over what the answer has more."""
    told = ask(client, "three.wav", response_format="verbose_json", timestamp_granularities=["word"], extra_body={"attention": True})
    plain = ask(client, "three.wav", response_format="verbose_json", timestamp_granularities=["word"])
    assert told.text == plain.text and told.words == plain.words and not hasattr(plain, "attention")
    (tmp_path / "three.wav").write_bytes(FILES["three.wav"])
    subprocess.run([ATTEND, "attention", "--model", model, tmp_path / "three.wav", "--output", tmp_path / "a.html"], check=True, timeout=PATIENCE)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    wanted = json.loads(page.partition('type="application/json">')[2].partition("</script>")[0])
    assert told.attention == {name: wanted[name] for name in ("alignment_layer", "segments")}
    assert len(told.attention["segments"]) == 3
    silent = client.audio.transcriptions.create(model="calls", file=("silence.wav", silence(50)), response_format="verbose_json", extra_body={"attention": True})
    assert silent.attention["segments"] == []
    for options, message in (({"response_format": "json"}, "attention goes with response_format verbose_json"),
                             ({"response_format": "verbose_json", "extra_body": {"attention": "yes"}}, "attention")):
        with pytest.raises(openai.BadRequestError, match=message):
            ask(client, "one.wav", **{"extra_body": {"attention": True}} | options)


def test_subtitles_are_those_of_the_program(client, written):
    told = sum(segment["text"] != "" for segment in json.loads(written("three.wav", "--json"))["segments"])
    assert told > 1
    for form in ("srt", "vtt"):
        assert ask(client, "three.wav", response_format=form) == written("three.wav", f"--format={form}", "--word-times")
    assert len(list(srt.parse(ask(client, "three.wav", response_format="srt"), ignore_errors=False))) == told
    assert len(webvtt.from_string(ask(client, "three.wav", response_format="vtt"))) == told


def silence(seconds):
    return FILES["one.wav"][:40] + struct.pack("<I", 16000 * seconds) + bytes(16000 * seconds)


def test_a_silent_recording_has_no_text(client):
    told = client.audio.transcriptions.create(model="calls", file=("silence.wav", silence(50)), response_format="verbose_json")
    assert told.text == "" and told.segments == [] and told.duration == 50


@pytest.mark.parametrize(("options", "message"), [
    ({"temperature": 0.5}, "temperature must be 0"), ({"language": "fr"}, "writes de, not the language"), ({"prompt": "as before"}, "prompt"),
    ({"response_format": "tsv"}, "response_format"), ({"timestamp_granularities": ["word"]}, "verbose_json alone"),
    ({"response_format": "verbose_json", "timestamp_granularities": ["letter"]}, "expected word or segment")])
def test_what_is_not_done_is_refused(client, options, message):
    with pytest.raises(openai.BadRequestError, match=message):
        ask(client, "one.wav", **options)


@pytest.mark.parametrize(("file", "message"), [
    (b"no sound at all", "expected WAV, FLAC"), (FILES["one.wav"][:2000], "'my.wav' is a WAV file that is cut short"), (b"", "is empty")])
def test_a_damaged_file_is_named(client, file, message):
    with pytest.raises(openai.BadRequestError, match=message) as refused:
        client.audio.transcriptions.create(model="calls", file=("my.wav", file))
    assert "'my.wav'" in str(refused.value)


def test_large_bodies_and_unknown_models_are_refused(server, client):
    with pytest.raises(openai.APIStatusError) as refused:
        client.audio.transcriptions.create(model="calls", file=("long.wav", silence(300)))
    assert refused.value.status_code == 413
    with pytest.raises(openai.NotFoundError):
        client.audio.transcriptions.create(model="others", file=("one.wav", FILES["one.wav"]))
    assert server.post("/v1/audio/transcriptions", {"model": "calls"})[0] == 415


def test_more_segments_than_the_queue_holds_are_refused(model, tmp_path):
    with serving(tmp_path, "--model", f"calls={model}", "--queue-sentences", "2", "--max-sentences", "2", model=None) as small:
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{small.port}/v1", api_key="none", max_retries=0)
        with pytest.raises(openai.BadRequestError, match="the recording has 3 segments, expected at most 2; send it in parts"):
            ask(client, "three.wav")
        assert ask(client, "one.wav").text


def test_the_list_of_models_tells_the_rate(server):
    (model,) = server.get("/v1/models")["models"]
    assert model["routes"] == ["/v1/audio/transcriptions"] and model["sound"] == {"rate": 8000}
