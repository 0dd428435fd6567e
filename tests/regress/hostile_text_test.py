"""Text that ended the program by a check of a library's, as users met it."""

import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build"))
VOCAB = ["--size", "40", "--output", "vocab.spm"]


def run(folder, *arguments, **environment):
    """In `folder`, where relative paths start."""
    return subprocess.run(
        [BUILD / "attend", *map(str, arguments)], cwd=folder, env={**os.environ, "ATTEND_DATA": "", **environment}, capture_output=True, encoding="utf-8",
        errors="replace", timeout=300, check=False)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("name,text", [
    ("a long word", "x y\n" + "a" * 65536 + "\n"), ("a longer word", "ab" * 500000 + "\n"), ("expanding characters", "\ufdfa" * 40000 + "\n"),
    ("white space", " \n\t \n\u3000\n"), ("space marks", "\u2581\u2581\n\u2581\n"), ("NUL", "\0\0\n\0a\n"), ("nothing", ""), ("line ends", "\n\n"),
    ("tabs", "a" + "\t" * 1000 + "\n"), ("no characters", "\ufffe\uffff\n")])
def test_any_text_gives_a_vocabulary_or_an_error(tmp_path, name, text, kind):
    """`attend vocab` ended with "Program terminated with an unrecoverable error" and status 255."""
    (tmp_path / "text").write_text(text, encoding="utf-8")
    for options in ([], ["--normalization", "none", "--character-coverage", "0.98"]):
        done = run(tmp_path, "vocab", "--input", "text", "--type", kind, *VOCAB, *options)
        assert done.returncode in (0, 2, 3), (name, done.stderr)
        assert "unrecoverable" not in done.stderr and done.stderr.startswith(("attend", "wrote", "text:", "warning")), done.stderr


def test_a_word_that_is_cut_is_named(tmp_path):
    (tmp_path / "text").write_text("x y\n" + "ab" * 40000 + "\n" + "c" * 3000 + "\n", encoding="utf-8")
    done = run(tmp_path, "vocab", "--input", "text", "--type", "bpe", "--size", 20, *VOCAB[2:])
    assert done.returncode == 0 and "text:2: a word of 80000 characters" in done.stderr and "2 lines" in done.stderr, done.stderr


@pytest.mark.parametrize("symbols,coverage,named", [
    (["<x>"], "0.98", "at most"), (["\u2581x"], "1", "U+2581"), (["\u2581", "x"], "1", "U+2581"), (["<0x41>"], "1", "appears twice")])
def test_symbols_that_leave_no_character(tmp_path, symbols, coverage, named):
    (tmp_path / "text").write_text("x\n" + "<x>" * 100 + "\n", encoding="utf-8")
    done = run(tmp_path, "vocab", "--input", "text", *VOCAB[2:], "--size", 400, "--byte-fallback", "--character-coverage", coverage,
               "--user-defined-symbols", *symbols)
    assert done.returncode == 2 and named in done.stderr, done.stderr


def test_a_missing_folder_for_temporary_files_is_named(tmp_path):
    """It was told in the C++ library's words."""
    (tmp_path / "text").write_text("the House\n" * 9, encoding="utf-8")
    done = run(tmp_path, "vocab", "--input", "text", "--case", "lower", *VOCAB, TMPDIR=tmp_path / "none")
    assert done.returncode == 1 and "TMPDIR is '" in done.stderr and done.stderr.count("\n") == 1, done.stderr
