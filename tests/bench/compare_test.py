"""bench/compare_translate.py and bench/compare_train.py, one short round each."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest
from tables import rows_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build"))
GOLDEN = ROOT / "tests/data/golden_v1"


def compare(script, output, *options):
    command = [sys.executable, ROOT / "bench" / script, "--attend", BUILD / "attend", "--rounds", 1, "--output", output, *options]
    subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", check=True, timeout=600)
    return rows_of(output.read_text("utf-8"))


def number(cell):
    return float(cell.replace(",", ""))


def is_ratio(cells):
    """Whether the third cell is the first over the second, all to their printed digits."""
    ours, theirs, ratio = map(number, cells[:3])
    return ours > 0 and abs(ours / theirs - ratio) < 0.02 * ratio


@pytest.mark.skipif(importlib.util.find_spec("ctranslate2") is None, reason="ctranslate2 is not installed")
def test_translation(tmp_path):
    rows = compare("compare_translate.py", tmp_path / "table", "--rows", "student-greedy-1", "student-shortlist-greedy-1")
    cells = rows["student int8, greedy, batch 1"]
    assert is_ratio(cells) and 0 < number(cells[3].removesuffix(" %")) < 1000
    assert is_ratio(rows["student int8, greedy, batch 1, shortlist"])


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("ctranslate2", "transformers", "safetensors")), reason="a package is missing")
def test_translation_with_t5(tmp_path):
    rows = compare("compare_translate.py", tmp_path / "table", "--rows", "t5-small-greedy-1")
    assert is_ratio(rows["t5-small int8, greedy, batch 1, 32,128 tokens"])


@pytest.mark.skipif(not (BUILD / "attend-train").exists(), reason="built without Torch")
def test_training(tmp_path):
    for name in ("source", "target"):
        (tmp_path / name).write_text("lumi tavo keri\nkeri mano\n" * 200, encoding="utf-8")
    rows = compare("compare_train.py", tmp_path / "table", "--source", tmp_path / "source", "--target", tmp_path / "target",
                   "--vocab", GOLDEN / "vocab.spm", "--rows", "tiny-1", "tiny-2", "--updates", 1)
    one, two = rows["tiny, 4,096 tokens, 1 thread"], rows["tiny, 4,096 tokens, 2 threads"]
    assert is_ratio(one) and is_ratio(two)
    assert number(rows["tiny, 4,096 tokens, 2 threads over 1"][0]) == pytest.approx(number(two[0]) / number(one[0]), abs=0.01)
