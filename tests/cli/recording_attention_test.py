"""attend attention of recordings: the numbers, the SVG and the page of a model of transcription."""

import html.parser
import json
import math
import pathlib
import random
import struct
import wave
import xml.etree.ElementTree

import pytest
from programs import attend, refused
from random_models import write_wordy_transcriber

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "data" / "golden_v1"
SVG = "{http://www.w3.org/2000/svg}"
LAYERS, HEADS, RATE = 2, 4, 8000


@pytest.fixture(name="model", scope="module")
def transcriber(tmp_path_factory):
    return write_wordy_transcriber(tmp_path_factory.mktemp("transcriber"))


def write_recording(path, parts):
    """Tones of half a second, 40 seconds of silence apart, so that each is a segment."""
    draw, samples = random.Random(3), []
    for part in range(parts):
        samples += [0] * (40 * RATE if part else 0)
        step = 2 * math.pi * draw.uniform(300, 2000) / RATE
        samples += [round(9000 * math.sin(step * t) + draw.gauss(0, 90)) for t in range(RATE // 2)]
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", None))
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return path


@pytest.fixture(name="recording", scope="module")
def of_one_segment(tmp_path_factory):
    return write_recording(tmp_path_factory.mktemp("sound") / "<b>tone & hum.wav", 1)


@pytest.fixture(name="long_recording", scope="module")
def of_many_segments(tmp_path_factory):
    return write_recording(tmp_path_factory.mktemp("sound") / "long.wav", 34)


def draw(model, recording, path, *arguments):
    done = attend("attention", "--model", model, recording, "--output", path, *arguments)
    assert done.returncode == 0, done.stderr
    return path.read_text(encoding="utf-8")


def page_data(text):
    class Page(html.parser.HTMLParser):
        data = ""
        inside = False

        def handle_starttag(self, tag, attrs):
            assert not {"src", "href"} & set(dict(attrs)), "the page needs no network"
            self.inside = tag == "script" and dict(attrs).get("id") == "data"

        def handle_data(self, data):
            self.data += data if self.inside else ""

    page = Page()
    page.feed(text)
    return json.loads(page.data)


def test_rows_add_to_one(model, recording, tmp_path):
    found = json.loads(draw(model, recording, tmp_path / "a.json"))
    words = json.loads(attend("transcribe", "--model", model, "--json", "--word-times", recording).stdout)["segments"][0]["words"]
    assert found["words"] == words and len(words) > 1 and found["name"] == recording.name
    assert found["spectrogram"].startswith("data:image/png;base64,") and found["columns"] == 25  # half a second in steps of 20 ms
    assert [len(layer) for layer in found["heads"]] == [HEADS] * LAYERS
    for rows in (found["mean"], *(head for layer in found["heads"] for head in layer)):
        assert [len(row) for row in rows] == [found["columns"]] * len(words)
        assert all(sum(row) == pytest.approx(1, abs=1e-5) and min(row) >= 0 for row in rows)
    last = found["heads"][found["alignment_layer"] - 1]
    for word, row in enumerate(found["mean"]):
        assert row == pytest.approx([sum(head[word][c] for head in last) / HEADS for c in range(found["columns"])], abs=1e-6)


def test_silence_that_fills_up_gets_the_rest(tmp_path, recording):
    found = json.loads(draw(write_wordy_transcriber(tmp_path, padded_seconds=2), recording, tmp_path / "a.json"))
    assert found["columns"] == 25
    sums = [sum(row) for layer in found["heads"] for head in layer for row in head]
    assert 0 < min(sums) and max(sums) < 0.999


def test_the_page_has_the_numbers_in_parts(model, recording, tmp_path):
    text = draw(model, recording, tmp_path / "a.html", "--layer", "1")
    numbers, data = json.loads(draw(model, recording, tmp_path / "a.json")), page_data(text)
    (segment,) = data["segments"]
    assert (data["segment"], data["layer"], data["alignment_layer"]) == (0, 0, LAYERS)
    assert segment["words"] == numbers["words"] and segment["mean"] == [[math.floor(10000 * weight + .5) for weight in row] for row in numbers["mean"]]
    assert "<b>tone" not in text and "&lt;b&gt;tone &amp; hum.wav" in text


def test_a_long_recording_is_bounded(model, long_recording, tmp_path):
    data = page_data(draw(model, long_recording, tmp_path / "a.html", "--segment", "3"))
    assert len(data["segments"]) == 32 and data["segment"] == 2
    assert [round(segment["begin"] / 40.5) for segment in data["segments"]] == list(range(32))
    one = json.loads(draw(model, long_recording, tmp_path / "a.json", "--segment", "34"))
    assert one["begin"] == pytest.approx(33 * 40.5, abs=.2)
    refused(attend("attention", "--model", model, long_recording, "--output", tmp_path / "a.html", "--segment", "33"), 2, "--segment is 33, expected 1 to 32")
    refused(attend("attention", "--model", model, long_recording, "--output", tmp_path / "a.json", "--segment", "35"), 2, "expected 1 to 34")


@pytest.mark.parametrize("layer", [1, 2])
def test_svg_has_words_and_heads(model, recording, tmp_path, layer):
    words = json.loads(draw(model, recording, tmp_path / "a.json"))["words"]
    root = xml.etree.ElementTree.fromstring(draw(model, recording, tmp_path / "a.svg", "--layer", layer))
    texts = {name: [text.text for text in root.iter(SVG + "text") if text.get("class") == name] for name in ("word", "head")}
    assert texts["head"] == [f"head {head + 1}" for head in range(HEADS)] and len(texts["word"]) == len(words)
    assert all(word["text"].startswith(text.rstrip("…")) for word, text in zip(words, texts["word"], strict=True))
    assert len(list(root.iter(SVG + "image"))) == 2 + HEADS and f"layer {layer} of {LAYERS}" in "".join(root.itertext())


def test_what_does_not_go_is_refused(model, recording, tmp_path):
    def ask(*arguments, of=model):
        return attend("attention", "--model", of, "--output", tmp_path / "a.html", *arguments)

    refused(ask(), 2, "FILE is missing: a recording")
    refused(ask(recording, "--source", "a"), 2, "give a recording alone")
    refused(ask(recording, "--target", "a"), 2, "give a recording alone")
    refused(ask(recording, "--picture", "a.png"), 2, "give a recording alone")
    refused(ask(recording, "--kind", "encoder"), 2, "--kind is cross")
    refused(ask(recording, "--item", "1"), 2, "--item is for models of fusion")
    refused(ask(recording, "--layer", "3"), 2, "layer")
    refused(ask(recording, "--source", "a", of=GOLDEN), 2, "the model reads text; give --source")
    silent = tmp_path / "silent.wav"
    with wave.open(str(silent), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", None))
        file.writeframes(bytes(2 * RATE))
    refused(ask(silent), 3, "silent.wav' is silent")
    (tmp_path / "text.wav").write_text("no sound")
    refused(ask(tmp_path / "text.wav"), 3, "text.wav")
