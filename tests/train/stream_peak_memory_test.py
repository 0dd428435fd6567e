"""Training takes no more memory for much text, or for many pictures and recordings, than for few, from its start on."""

import json
import os
import subprocess
import wave

import numpy
import pytest
import tiny_run
from PIL import Image

SIDE = 128  # of pictures, in pixels
SECONDS = 10  # of recordings


def peak_bytes(options, output):
    """The most memory that a whole run had."""
    with subprocess.Popen(tiny_run.command_line(options, output), env=tiny_run.environment()) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024


def test_peak_memory_does_not_depend_on_the_length_of_the_text(tmp_path):
    options = tiny_run.prepare(tmp_path) | {"stream": [], "max_updates": 2, "shuffle_buffer": 1000}
    short = peak_bytes(options, tmp_path / "short")
    for side in ("train.en", "train.de"):
        lines = (tmp_path / side).read_text(encoding="utf-8").splitlines()
        block = "".join(" ".join(lines[k : k + 10]) + "\n" for k in range(0, len(lines), 10)).encode()
        with (tmp_path / side).open("wb") as file:
            for _ in range(60000):
                file.write(block)
    total = sum((tmp_path / side).stat().st_size for side in ("train.en", "train.de"))
    assert total > 300 << 20
    long = peak_bytes(options, tmp_path / "long")
    print(f"{short / 1e6:.0f} MB with a short text, {long / 1e6:.0f} MB with {total / 1e6:.0f} MB")
    assert long < short + (32 << 20)


def pictures(folder, options):
    """Options of a run, the lines of its training table that come again and again, and the bytes that one takes in memory as numbers."""
    draw = numpy.random.default_rng(1)
    lines = []
    for number in range(8):
        name = folder / f"big{number}.png"
        Image.fromarray(draw.integers(0, 256, (SIDE, SIDE, 3), dtype=numpy.uint8)).save(name)
        lines.append(f"{name}\t{'red' if number % 2 else 'blue'}")
    table = folder / "big.tsv"
    shape = {"patches.height": SIDE, "patches.width": SIDE, "patches.channels": 3, "patches.patch": 16, "batch_tokens": 512}
    tables = {"train_pictures": table, "valid_pictures": folder / "big_valid.tsv"}
    (folder / "big_valid.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return options | shape | tables, table, lines, 3 * SIDE * SIDE * 4


def items(folder, options):
    of_pictures, _, lines, size = pictures(folder, {})
    lines = [json.dumps({"text": "one two", "picture": line.split("\t")[0], "label": ("odd", "even")[number % 2]}) for number, line in enumerate(lines)]
    table = folder / "big.jsonl"
    shape = {"fusion." + name: value for name, value in of_pictures.items() if name.startswith("patches.")}
    return options | shape | {"batch_tokens": 512, "train_items": table}, table, lines, size


def recordings(folder, options):
    draw = numpy.random.default_rng(1)
    lines = []
    for number in range(8):
        name = folder / f"big{number}.wav"
        with wave.open(str(name), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", None))
            file.writeframes((3000 * draw.standard_normal(8000 * SECONDS)).astype("<i2").tobytes())
        lines.append(f"{name}\tlow high")
    table = folder / "big.tsv"
    return options | {"train_recordings": table, "batch_tokens": 8000}, table, lines, 8000 * SECONDS * 4


@pytest.mark.parametrize("kind, media", [("of_pictures", pictures), ("of_items", items), ("of_recordings", recordings)])
def test_peak_memory_does_not_depend_on_the_number_of(kind, media, tmp_path):
    options, table, lines, size = media(tmp_path, getattr(tiny_run, kind)(tiny_run.prepare(tmp_path), tmp_path) | {"max_updates": 2})
    peaks = {}
    for count in (2000, 8000):  # more than the windows that are in memory at a time
        table.write_text("".join(lines[number % len(lines)] + "\n" for number in range(count)), encoding="utf-8")
        peaks[count] = peak_bytes(options, tmp_path / f"run{count}")
    print(f"{peaks[2000] / 1e6:.0f} MB with 2,000, {peaks[8000] / 1e6:.0f} MB with 8,000, which take {8000 * size / 1e6:.0f} MB as numbers")
    assert peaks[8000] < peaks[2000] + (64 << 20) < peaks[2000] + 6000 * size / 10
