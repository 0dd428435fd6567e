"""bench/serve.py with a small model and short runs, and bench/random_model.py."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import random_model
from tables import rows_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build"))
GOLDEN = ROOT / "tests/data/golden_v1"


def run(*command, text=None):
    return subprocess.run(list(map(str, command)), input=text, capture_output=True, encoding="utf-8", check=True, timeout=600).stdout


def test_a_random_model_is_one_that_attend_translates_with(tmp_path):
    run(sys.executable, ROOT / "bench/random_model.py", tmp_path / "model", "--preset", "tiny", "--vocab-size", 500)
    lines = random_model.text(500, 3, 24)
    assert [len(line.split()) for line in lines] == [24] * 3
    out = run(BUILD / "attend", "translate", "--model", tmp_path / "model", "--min-length", 9, "--max-length", 9, text="\n".join(lines))
    assert [len(line.split()) for line in out.splitlines()] == [9] * 3


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_the_measures_run(tmp_path):
    text = tmp_path / "text"
    text.write_text("lumi tavo keri\n" * 50, encoding="utf-8")
    table = run(
        sys.executable, ROOT / "bench/serve.py", "--attend", BUILD / "attend", "--model", GOLDEN, "--input", text, "--seconds", 1,
        "--clients", 4, "--measure", "throughput", "malformed", "memory", "--memory-seconds", 2)
    rows = rows_of(table)
    assert all(float(rate) > 0 for rate in rows["sentences/s, 4 clients"][:2])
    answers = dict(reversed(pair.split()) for pair in rows["1,000 malformed requests"][0].split("; ")[0].split(", "))
    assert rows["1,000 malformed requests"][0].endswith("; serves")
    assert sum(map(int, answers.values())) > 900 and int(answers["400"]) > 100 and "500" not in answers
    assert re.match(r"\d+", rows["resident MB, 2 s of mixed load"][0])
