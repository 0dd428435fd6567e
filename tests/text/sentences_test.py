"""Sentence ends against text that people divided: FLORES-101, which no rule was written for."""

import gzip
import os
import pathlib
import subprocess

import pytest

PROBE = pathlib.Path(os.environ["BUILD_DIR"]) / "tests/text_probe"
DATA = pathlib.Path(os.environ.get("ATTEND_DATA") or "/nonexistent") / "flores101"
# file: language, what stands between sentences. Every seventh line holds two or more sentences, as read in English and German, and
# a few lines end without a terminator. So a perfect splitter has about 0.87 of its ends at ends of lines.
LANGUAGES = {
    "eng": ("en", " "), "deu": ("de", " "), "fra": ("fr", " "), "spa": ("es", " "), "por": ("pt", " "), "rus": ("ru", " "),
    "fin": ("fi", " "), "tur": ("tr", " "), "ara": ("ar", " "), "hin": ("hi", " "), "kor": ("ko", " "), "jpn": ("ja", ""),
    "zho_simpl": ("zh", ""),
}


@pytest.mark.parametrize("file", LANGUAGES)
def test_sentences_of_an_unseen_text(file):
    if not DATA.exists():
        pytest.skip("ATTEND_DATA has no flores101")
    language, between = LANGUAGES[file]
    with gzip.open(DATA / f"{file}.devtest.gz", "rt", encoding="utf-8") as lines:
        sentences = [line.strip() for line in lines]
    text = between.join(sentences)
    answer = subprocess.run([PROBE, "sentences", language], input=text.encode(), capture_output=True, check=True).stdout.decode()
    parts = answer.split("\0")[:-1]
    assert "".join(parts) == text

    def ends(pieces, step):
        position, found = 0, set()
        for piece in pieces:
            position += len(piece) + step
            found.add(position)
        return found

    expected, got = ends(sentences, len(between)), ends(parts, 0)
    expected.discard(len(text) + len(between)), got.discard(len(text))
    found, right = len(expected & got) / len(expected), len(expected & got) / len(got)
    print(f"{language}: {found:.3f} of {len(expected)} sentence ends found, {right:.3f} of {len(got)} ends are ones")
    assert found >= 0.97 and right >= 0.83
