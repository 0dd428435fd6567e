"""Bugs that users could meet, each as they met it; what went wrong stands with the test."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATTEND = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build")) / "attend"
MODEL = ROOT / "tests/data/golden_v1"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "ATTEND_DATA"}  # the text is in the test's folder
LINES = "lumi tavo keri\nsona\nvesta olin paku neri dosa\n"


@pytest.fixture(name="attend")
def run_in_folder(tmp_path):
    """Runs `attend` in an empty folder but for `text`."""
    (tmp_path / "text").write_text(LINES, encoding="utf-8")

    def run(*arguments, stdin=""):
        command = [ATTEND, *map(str, arguments)]
        return subprocess.run(
            command, input=stdin, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, encoding="utf-8", timeout=120, check=False)

    return run


@pytest.mark.parametrize("command", [
    ("quantize", MODEL, "--output", "-"), ("shortlist", "--model", MODEL, "--source", "text", "--target", "text", "--output", "-")])
def test_a_dash_is_no_file(attend, tmp_path, command):
    """What is no text was written to a file named -."""
    done = attend(*command)
    assert done.returncode == 2 and "/dev/stdout" in done.stderr
    assert not (tmp_path / "-").exists()


def test_a_line_with_sentencepieces_own_mark_is_learnt_from(attend, tmp_path):
    """`attend vocab` left out lines that hold U+2585 without a word."""
    (tmp_path / "text").write_text("zu\u2585zu zu\n" * 20, encoding="utf-8")
    done = attend("vocab", "--input", "text", "--size", 7, "--type", "bpe", "--output", "vocab.spm")
    assert done.returncode == 0 and "20 lines" in done.stderr


def test_a_misspelt_option_of_the_program_is_answered_with_the_nearest(attend):
    """`attend --versoin` named no option."""
    done = attend("--versoin")
    assert done.returncode == 2 and "did you mean '--version'" in done.stderr


def test_json_errors_are_in_words(attend, tmp_path):
    """A damaged config.json was told in the parser library's words."""
    (tmp_path / "model").mkdir()
    for file in MODEL.iterdir():
        (tmp_path / "model" / file.name).write_bytes(file.read_bytes())
    config = tmp_path / "model" / "config.json"
    config.write_text(config.read_text(encoding="utf-8")[:-2] + ",\n", encoding="utf-8")
    done = attend("translate", "--model", "model", stdin=LINES)
    assert done.returncode == 3 and "config.json:" in done.stderr and "json.exception" not in done.stderr
