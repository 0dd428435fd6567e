"""recipes/transcription: the tables of the corpora have the parts that they say, and their recordings are there."""

import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tarfile
import wave

import pytest

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "recipes/transcription"
SPEAKERS = ["george", "lucas"]


def run(script, *arguments):
    return subprocess.run([sys.executable, RECIPES / script, *map(str, arguments)], capture_output=True, text=True, check=False)


def write(path, loud, rate=8000):
    """Tones of 0.3 s and of other loudness, with pauses of 0.3 s around them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pause = [0] * (rate * 3 // 10)
    samples = list(pause)
    for loudness in loud:
        samples += [round(loudness * math.sin(t / 3)) for t in range(rate * 3 // 10)] + pause
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", None))
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))


@pytest.fixture(name="data", scope="module")
def small_corpora(tmp_path_factory):
    """As the corpora are packed: digits of two speakers, and 60 recordings of eight words."""
    data = tmp_path_factory.mktemp("data")
    for digit in range(10):
        for speaker in SPEAKERS:
            for index in range(11):
                write(data / f"fsdd/recordings/{digit}_{speaker}_{index}.wav", [9000])
    draw = random.Random(1)
    names = set()
    while len(names) < 60:
        names.add("_".join(draw.choice("01") for _ in range(8)))
    for name in names:
        write(data / f"yesno/waves_yesno/{name}.wav", [9000] * 8)
    for folder, inner, archive in [("fsdd", "recordings", "fsdd.tar.xz"), ("yesno", "waves_yesno", "waves_yesno.tar.xz")]:
        with tarfile.open(data / folder / archive, "w:xz", preset=0) as packed:
            packed.add(data / folder / inner, inner)
    return data


def tables(kind, data, folder):
    done = run("tables.py", kind, data, folder)
    assert done.returncode == 0, done.stderr
    parts = {}
    for part in ("train", "valid", "test"):
        parts[part] = [line.split("\t") for line in (folder / f"{part}.tsv").read_text(encoding="utf-8").splitlines()]
        assert all((folder / path).is_file() for path, _ in parts[part])
    return parts


def test_a_speaker_is_held_out(data, tmp_path):
    parts = tables("fsdd-george", data, tmp_path / "made")
    assert {part: len(rows) for part, rows in parts.items()} == {"train": 60, "valid": 50, "test": 110}
    assert all(("_george_" in path) == (part == "test") for part, rows in parts.items() for path, _ in rows)
    assert {text for _, text in parts["test"]} == set("zero one two three four five six seven eight nine".split())
    for path, _ in parts["test"][:5]:
        with wave.open(str(tmp_path / "made" / path)) as file:  # 0.3 seconds of tone, and 0.01 on each side
            assert 2550 < file.getnframes() <= 2560


def test_strings_of_digits(data, tmp_path):
    parts = tables("fsdd-strings", data, tmp_path / "made")
    assert {part: len(rows) for part, rows in parts.items()} == {"train": 4020, "valid": 200, "test": 300}
    for path, text in parts["test"][:20]:
        words = len(text.split())
        with wave.open(str(tmp_path / "made" / path)) as file:
            assert 3 <= words <= 7 and file.getnframes() == 7200 * words + 800 * (words - 1)


def test_yes_and_no(data, tmp_path):
    parts = tables("yesno", data, tmp_path / "made")
    assert {part: len(rows) for part, rows in parts.items()} == {"train": 24 + 3000, "valid": 7, "test": 29}
    for path, text in parts["test"]:
        assert text.split() == ["yes" if word == "1" else "no" for word in pathlib.Path(path).stem.split("_")]


@pytest.mark.parametrize("corpus, count", [("fsdd", 3000), ("yesno", 3060)])
def test_the_corpora_themselves(corpus, count, tmp_path):
    data = pathlib.Path(os.environ.get("ATTEND_DATA") or "/nonexistent")
    if not (data / corpus).is_dir():
        pytest.skip(f"ATTEND_DATA has no {corpus}")
    assert sum(map(len, tables(corpus, data, tmp_path / "made").values())) == count


def test_the_usage_is_told(data, tmp_path):
    for arguments in [["foo", data, tmp_path], ["fsdd", data], []]:
        done = run("tables.py", *arguments)
        assert done.returncode == 1 and "usage: tables.py" in done.stderr and "Traceback" not in done.stderr
    done = run("tables.py", "fsdd-nobody", data, tmp_path / "made")
    assert done.returncode == 1 and "is the speaker's name right?" in done.stderr
    done = run("tables.py", "--help")
    assert done.returncode == 0 and "usage: tables.py" in done.stdout


def test_voices_say_how_they_are_called():
    pytest.importorskip("numpy")
    done = run("voices.py", "--help")
    assert done.returncode == 0 and "usage: voices.py" in done.stdout
    assert run("voices.py").returncode == 1
