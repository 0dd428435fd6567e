"""The page's panel of recordings in a real Chromium, whose microphone is one that beeps.

ATTEND_PICTURES names a folder for pictures of it: light, dark and narrow."""

import json
import math
import random
import struct
import time
import wave

import pytest
from random_models import write_wordy_transcriber
from server import serving
from web_page import Page, drawn, seen_as


@pytest.fixture(name="service", scope="module")
def running(tmp_path_factory):
    model = write_wordy_transcriber(tmp_path_factory.mktemp("transcriber"))
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"calls={model}", model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        yield service


@pytest.fixture(name="call", scope="module")
def a_recording(tmp_path_factory):
    """Tones of other pitch."""
    draw, samples = random.Random(4), []
    for pitch in (500, 1100, 2300, 800, 1600):
        samples += [round(9000 * math.sin(2 * math.pi * pitch * t / 8000) + draw.gauss(0, 90)) for t in range(3000)]
        samples += [round(draw.gauss(0, 90)) for _ in range(1500)]
    path = tmp_path_factory.mktemp("call") / "call.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", None))
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return path


@pytest.fixture(name="page")
def page_of_recordings(browser, service):
    browser.set_window_size(1280, 900)
    browser.get(service.url)
    page = Page(browser, service)
    page.until(lambda: page["transcribe-drop"].is_displayed(), "the place for recordings")
    yield page
    complaints = [entry["message"] for entry in browser.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert not complaints


def given(page, path):
    page["transcribe-file"].send_keys(str(path))
    answered(page)


def answered(page):
    page.until(lambda: page["transcribe-output"].get_attribute("aria-busy") == "false" and (page["transcribe-output"].text or page.notice), "the text")


def wanted(service, path, **more):
    fields = {"response_format": "verbose_json", "timestamp_granularities[]": "word", **more}
    body = b"".join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items())
    body += b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n' + path.read_bytes() + b"\r\n--x--\r\n"
    status, _, text = service.request("POST", "/v1/audio/transcriptions", body, {"Content-Type": "multipart/form-data; boundary=x"})
    assert status == 200, text
    return json.loads(text)


def test_a_recording_has_a_text_and_a_spectrogram(page, service, call):
    given(page, call)
    told = wanted(service, call)
    assert told["words"] and page.texts("#transcribe-output .timed-word") == [word["word"] for word in told["words"]]
    page.until(lambda: page["transcribe-canvas"].is_displayed(), "the spectrogram")
    places = page.js("[...document.querySelectorAll('#transcribe-words .timed-word')].map(mark => [parseFloat(mark.style.left), parseFloat(mark.style.width)])")
    seconds = told["duration"]
    assert places == [[pytest.approx(100 * word["start"] / seconds, abs=.01), pytest.approx(100 * (word["end"] - word["start"]) / seconds, abs=.01)]
                      for word in told["words"]]
    # The first tone, of 500 Hz of the 4,000 that the model hears, is near the bottom, and the third one higher.
    middle = page.js("""((canvas, shares) => {
        const {data, width, height} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const level = (x, y) => data[4 * (y * width + x) + 3];
        return shares.map(share => {
            let best = 0;
            for (let y = 0; y < height; ++y) if (level(Math.floor(share * width), y) > level(Math.floor(share * width), best)) best = y;
            return 1 - (best + .5) / height;
        });
    })(document.getElementById('transcribe-canvas'), arguments[0])""", [0.07, 0.27, 0.47])
    assert middle == [pytest.approx(pitch / 4000, abs=.02) for pitch in (500, 1100, 2300)]


def test_what_a_word_looks_at_is_drawn(page, service, call):
    given(page, call)
    (segment,) = wanted(service, call, attention="true")["attention"]["segments"]
    page.until(lambda: page["transcribe-attention"].is_displayed(), "the attention")
    words = [word["text"] for word in segment["words"]]
    assert len(words) > 9 and page.texts("#transcribe-attention .sound-words button") == words
    assert len(page.all("#transcribe-attention .figures figure")) == len(segment["heads"][-1])
    assert page.js("getComputedStyle(document.querySelector('.sound-ink')).getPropertyValue('--spectrogram')") == f'url("{segment["spectrogram"]}")'
    opacity = """((canvas, row) => {
        const {data} = canvas.getContext('2d').getImageData(0, row, canvas.width, 1);
        return Array.from({length: canvas.width}, (_, x) => data[4 * x + 3]);
    })(document.querySelectorAll('#transcribe-attention canvas')[arguments[0]], arguments[1])"""

    def shown(rows, row, most):
        return [round(255 * weight / most) for weight in rows[row]]

    # The map of the mean, that of the first head, and over the spectrogram the word that a transcript's word points at.
    most = max(max(row) for row in segment["mean"])
    assert page.js(opacity, 1, len(words) - 1) == pytest.approx(shown(segment["mean"], -1, most), abs=1)
    head = segment["heads"][-1][0]
    assert page.js(opacity, 3, 0) == pytest.approx(shown(head, 0, max(max(row) for row in head)), abs=1)
    page.js("arguments[0].focus()", page.all("#transcribe-output .timed-word")[-1])
    assert page.js(opacity, 0, 0) == pytest.approx(shown(segment["mean"], -1, max(segment["mean"][-1])), abs=1)
    note = page["transcribe-attention"].find_element("css selector", ".note").text
    assert note.startswith(f"{words[-1]}, ") and "listens most at" in note
    # Another layer has other heads.
    page.all("#transcribe-attention .group[aria-label=layer] button")[0].click()
    first = segment["heads"][0][0]
    assert page.js(opacity, 3, 0) == pytest.approx(shown(first, 0, max(max(row) for row in first)), abs=1)
    assert page.all("#transcribe-attention figcaption")[1].text == "layer 1, head 1"


def test_a_word_plays_from_its_time(page, call):
    given(page, call)
    page.until(lambda: page["transcribe-play"].is_displayed(), "a way to play it")
    page.all("#transcribe-output .timed-word")[0].click()
    assert page["transcribe-play"].text == "Stop"
    page["transcribe-play"].click()
    assert page["transcribe-play"].text == "Play"


def test_what_is_no_recording_is_told(page, tmp_path):
    (tmp_path / "text.txt").write_text("no recording", encoding="utf-8")
    given(page, tmp_path / "text.txt")
    assert "This can't be transcribed: 'text.txt' begins with" in page.notice
    assert not page["transcribe-spectrogram"].is_displayed()


def test_the_microphone_is_heard(page):
    page["transcribe-record"].click()
    page.until(lambda: page["transcribe-record"].text == "Stop and transcribe", "the recording")
    time.sleep(1.5)
    page["transcribe-record"].click()
    page.until(lambda: page["transcribe-hint"].text.startswith("recording.wav"), "the end of the recording")
    answered(page)
    assert not page.notice and page["transcribe-canvas"].is_displayed()


LOOKS = {"light": (1280, "light"), "dark": (1280, "dark"), "narrow": (390, "light"), "narrow_dark": (390, "dark")}


@pytest.mark.parametrize("look", LOOKS)
def test_the_panel_fits_the_window(browser, page, call, look):
    with seen_as(browser, *LOOKS[look]):
        given(page, call)
        page.until(lambda: page["transcribe-canvas"].is_displayed(), "the spectrogram")
        assert page.js("document.documentElement.scrollWidth") <= LOOKS[look][0]
        drawn(browser, f"transcription_{look}")
