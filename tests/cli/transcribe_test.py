"""attend transcribe: tables of recordings, whose texts it compares with what it hears."""

import json
import random
import struct
import wave

import pytest
from programs import attend, refused
from random_models import write_wordy_transcriber

RATE = 8000


@pytest.fixture(name="model", scope="module")
def transcriber(tmp_path_factory):
    return write_wordy_transcriber(tmp_path_factory.mktemp("transcriber"))


@pytest.fixture(name="folder")
def three_recordings(tmp_path):
    """Clicks, each at its own pace."""
    for pace in (30, 40, 50):
        samples = [8000 if t % pace < 3 else 0 for t in range(RATE // 2)]
        with wave.open(str(tmp_path / f"{pace}.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", None))
            file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return tmp_path


def test_a_table_tells_how_much_is_wrong(model, folder):
    paths = [folder / f"{pace}.wav" for pace in (30, 40, 50)]
    heard = attend("transcribe", "--model", model, *paths).stdout.splitlines()
    assert len(heard) == 3 and all(heard)
    # One is right, one has a word too much, and the last can't be read.
    words = [len(text.split()) for text in heard]
    texts = [heard[0], f"{heard[1]} more", "gone"]
    (folder / "test.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in zip(("30.wav", "40.wav", "gone.wav"), texts, strict=True)), encoding="utf-8")
    done = attend("transcribe", "--model", model, folder / "test.tsv")
    assert done.returncode == 0 and done.stdout.splitlines() == [*heard[:2], ""]
    assert f"WER {100 / (words[0] + words[1] + 1):.2f} %, CER " in done.stderr and "exact 50.00 % of 2 recordings" in done.stderr
    assert "1 of 3 recordings could not be read and has no text: " in done.stderr
    lines = [json.loads(line) for line in attend("transcribe", "--model", model, "--json", "test.tsv", "--data-dir", folder).stdout.splitlines()]
    assert [line["recording"] for line in lines] == [str(path) for path in (*paths[:2], folder / "gone.wav")]


def test_a_damaged_table_is_refused(model, folder):
    (folder / "bad.tsv").write_text("30.wav\ta\n40.wav\n", encoding="utf-8")
    refused(attend("transcribe", "--model", model, folder / "bad.tsv"), 3, "bad.tsv:2: '40.wav', expected a path, a tab and a text")
    refused(attend("transcribe", "--model", model, folder / "bad.tsv", folder / "30.wav"), 2, "tables (.tsv) and recordings are given")


def test_cuts_in_sound_are_warned_of(model, folder):
    """Noise without a pause, longer than the model reads at once."""
    draw = random.Random(1)
    with wave.open(str(folder / "noise.wav"), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", None))
        file.writeframes(struct.pack(f"<{9 * RATE}h", *(draw.randrange(-9000, 9000) for _ in range(9 * RATE))))
    done = attend("transcribe", "--model", model, "--max-seconds", 2, folder / "noise.wav")
    assert done.returncode == 0 and "cuts in long recordings" in done.stderr and "not at silence" in done.stderr and "--silence-threshold" in done.stderr
    assert "silence" not in attend("transcribe", "--model", model, folder / "30.wav").stderr
