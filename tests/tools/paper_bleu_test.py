"""tools/paper_bleu.py: the tokens it counts, and its score against sacrebleu's of the same tokens."""

import os
import pathlib
import subprocess
import sys

import paper_bleu
import pytest
import sacrebleu

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"
HYPOTHESIS = ["Die E-Mail kam am 3. Mai an.", "Der Zug-Chef sagte: \"Wir fahren.\""]
REFERENCE = ["Die E-Mail kam am 3. Mai.", "Der Zug-Schaffner sagte: \"Wir fahren los.\""]
TOKENS = [
    ["Die E ##AT##-##AT## Mail kam am 3. Mai an .", "Der Zug ##AT##-##AT## Chef sagte : \" Wir fahren . \""],
    ["Die E ##AT##-##AT## Mail kam am 3. Mai .", "Der Zug ##AT##-##AT## Schaffner sagte : \" Wir fahren los . \""],
]  # fmt: skip


@pytest.fixture(name="texts")
def two_texts(tmp_path):
    paths = [tmp_path / "hypothesis", tmp_path / "reference"]
    for path, lines in zip(paths, [HYPOTHESIS, REFERENCE]):
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return paths


def test_german_tokens(texts, tmp_path):
    folder = tmp_path / "tokens"
    folder.mkdir()
    for text, expected in zip(texts, TOKENS):
        assert paper_bleu.tokenized(text, "de", folder).read_text(encoding="utf-8").splitlines() == expected


def test_quotes_and_dots_become_ascii_and_no_line_is_lost(tmp_path):
    (tmp_path / "tokens").mkdir()
    text = tmp_path / "text"
    text.write_text("Er sagte: “Das ist’s …”\n\nDas Ende", encoding="utf-8")  # the last line has no end
    lines = paper_bleu.tokenized(text, "de", tmp_path / "tokens").read_text(encoding="utf-8").split("\n")
    assert lines == ["Er sagte : \" Das ist ' s ... \"", "", "Das Ende", ""]


def test_compounds_of_other_languages_stay(texts, tmp_path):
    folder = tmp_path / "tokens"
    folder.mkdir()
    assert "E-Mail" in paper_bleu.tokenized(texts[0], "fr", folder).read_text(encoding="utf-8")


def test_score_is_that_of_the_tokens(texts):
    expected = sacrebleu.corpus_bleu(TOKENS[0], [TOKENS[1]], tokenize="none", smooth_method="none", force=True).score
    assert paper_bleu.paper_bleu(*texts, "de", ATTEND) == pytest.approx(expected, abs=0.005)
    unsplit = sacrebleu.corpus_bleu(HYPOTHESIS, [REFERENCE], smooth_method="none").score
    assert abs(unsplit - expected) > 0.5


def test_files_that_do_not_belong_together_are_told_in_a_line(texts, tmp_path):
    def refusal(*paths):
        done = subprocess.run([sys.executable, ROOT / "tools/paper_bleu.py", *paths, "de", "--attend", ATTEND], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        return done.stderr.splitlines()[-1]

    assert f"'{tmp_path / 'gone'}' is no file" in refusal(texts[0], tmp_path / "gone")
    texts[1].write_text("eine\nzwei\ndrei", encoding="utf-8")  # the last line has no end
    assert f"'{texts[0]}' has 2 lines and '{texts[1]}' 3, expected the same number" in refusal(*texts)


def test_the_program_that_counts_may_be_another_and_its_lack_is_told(texts):
    def run(*options):
        command = [sys.executable, ROOT / "tools/paper_bleu.py", *texts, "de", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert float(run("--attend", ATTEND).stdout) == round(paper_bleu.paper_bleu(*texts, "de", ATTEND), 2)
    missing = run("--attend", "none/attend")
    assert missing.returncode == 2 and "'none/attend' is missing; build it" in missing.stderr.splitlines()[-1]
