"""`attend evaluate` of WER and CER against jiwer, on random texts with white space and letters of several scripts."""

import json
import os
import pathlib
import random
import subprocess

import jiwer
import pytest

ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"
ALPHABET = ["a", "b", "é", "e\u0301", "中", " ", " ", "  ", "\t", "\u00a0", "\u3000", "\u200b", "'"]


def evaluate(folder, found, expected, *options):
    for name, lines in (("found", found), ("expected", expected)):
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    command = [ATTEND, "evaluate", "--metrics", "wer,cer", "--hypothesis", folder / "found", "--reference", folder / "expected"]
    done = subprocess.run([*command, "--width", "9", "--json", *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def texts(generator, count):
    return ["".join(generator.choices(ALPHABET, k=generator.randint(0, 30))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(10))
def test_rates_are_jiwers(tmp_path, seed):
    generator = random.Random(seed)
    expected = texts(generator, 40)
    found = ["".join(c for c in text if generator.random() < 0.9) if generator.random() < 0.7 else other
             for text, other in zip(expected, texts(generator, 40), strict=True)]
    scores = evaluate(tmp_path, found, expected)
    # evaluate takes away white space at the ends of lines, as jiwer does.
    assert scores["wer"]["score"] == pytest.approx(100 * jiwer.wer(expected, found), abs=1e-7)
    assert scores["cer"]["score"] == pytest.approx(100 * jiwer.cer(expected, found), abs=1e-7)
    lines = evaluate(tmp_path, found, expected, "--sentence-level")
    for metric, rate in (("wer", jiwer.wer), ("cer", jiwer.cer)):
        for mine, hypothesis, reference in zip(lines[metric]["scores"], found, expected, strict=True):
            assert mine == pytest.approx(100 * rate(reference, hypothesis), abs=1e-7)


def test_lower_case(tmp_path):
    assert evaluate(tmp_path, ["One TWO"], ["one two"], "--lowercase")["wer"]["score"] == 0
    assert evaluate(tmp_path, ["One TWO"], ["one two"])["wer"]["score"] == 100
