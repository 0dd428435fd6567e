"""bench/terminology.py and bench/adaptation.py, one short round each."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build"))
GOLDEN = ROOT / "tests/data/golden_v1"
LINES = ["lumi tavo keri", "sona mipa", "keri lumi", "tavo tavo sona"]


def measured(script, *options):
    command = [sys.executable, ROOT / "bench" / script, "--model", GOLDEN, *options]
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, encoding="utf-8", check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_terms_are_kept_with_a_glossary(tmp_path):
    write(tmp_path / "newstest2017.en", LINES)
    write(tmp_path / "newstest2017.de", ["grau rudu", "olin", "rudu", "brant"])
    write(tmp_path / "wikt.727.terminology.tsv", ["0\t1\ttavo\tgrau\t\t", "1\t3\tlumi\tolin\tkeri\trudu"])
    written = measured("terminology.py", "--data", tmp_path, "--threads", 1, "--output", tmp_path / "out").splitlines()
    assert written[0] == "wikt.727: 2 lines, 3 terms, of which 3 are found in the source"
    rows = {line.split()[0]: line.split()[1:] for line in written[2:]}
    assert rows["glossary"][:2] == ["100.00%", "100.00%"] and float(rows["plain"][0].rstrip("%")) < 100
    assert [line.split("\t")[0] for line in (tmp_path / "out").read_text(encoding="utf-8").splitlines()] == ["1", "3"]


def test_corrections_of_half_a_document_and_what_their_training_costs(tmp_path):
    source, reference = write(tmp_path / "source", LINES * 3), write(tmp_path / "reference", ["rudu grau", "olin"] * 6)
    common = ("--attend", BUILD / "attend", "--source", source, "--reference", reference)
    written = measured("adaptation.py", *common, "--batch", 3)
    assert [int(count) for count in re.findall(r"learned from (\d+) corrections", written)] == [3, 6]
    assert re.search(r"second half: BLEU [\d.]+ with the model alone, [\d.]+ with adapters", written)
    written = measured("adaptation.py", *common, "--measure", "load", "--seconds", 1, "--rounds", 1)
    assert re.search(r"median of 1 round: [\d.]+ %", written)
