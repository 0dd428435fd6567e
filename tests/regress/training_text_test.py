"""What users gave `attend train` and the other commands by mistake, and were not told."""

import gzip
import io
import json
import os
import pathlib
import subprocess
import zipfile

import pytest

BUILD = pathlib.Path(os.environ.get("BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build"))
MODEL = pathlib.Path(__file__).resolve().parents[2] / "tests/data/golden_v1"
trains = pytest.mark.skipif(not (BUILD / "attend-train").exists(), reason="this build does not train")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "ATTEND_DATA"} | {"OMP_WAIT_POLICY": "passive"}


def run(folder, *arguments, stdin=""):
    return subprocess.run(
        [BUILD / "attend", *map(str, arguments)], input=stdin, cwd=folder, env=ENVIRONMENT, capture_output=True, encoding="utf-8",
        timeout=300, check=False)


def refused(done, status, *parts):
    assert done.returncode == status, done.stderr
    last = done.stderr.splitlines()[-1]
    for part in parts:
        assert part in last, done.stderr


@pytest.fixture(name="folder")
def folder_with_text(tmp_path):
    """Text of letters, whose translation has capitals, with a vocabulary."""
    words = ["ab", "cd", "ef", "gh", "abc", "def"]
    lines = [" ".join(words[(i * 5 + k * 7 + i * k) % 6] for k in range(3)) + f" {words[i % 6]}{words[i // 6 % 6]}" for i in range(36)]
    for side, text in {"en": lines, "de": [line.upper() for line in lines]}.items():
        (tmp_path / f"train.{side}").write_text("\n".join(text) + "\n", encoding="utf-8")
        (tmp_path / f"valid.{side}").write_text("\n".join(line[::-1] for line in text[:9]) + "\n", encoding="utf-8")
    done = run(tmp_path, "vocab", "--input", "train.en", "train.de", "--size", 40, "--type", "bpe", "--output", "vocab.spm")
    assert done.returncode == 0, done.stderr
    return tmp_path


OPTIONS = {
    "train_source": "train.en", "train_target": "train.de", "valid_source": "valid.en", "valid_target": "valid.de", "vocab": "vocab.spm",
    "preset": "tiny", "max_updates": 2, "batch_tokens": 200, "encoder.d_model": 16, "encoder.d_ff": 16, "encoder.layers": 1,
    "decoder.d_model": 16, "decoder.d_ff": 16, "decoder.layers": 1, "encoder.heads": 2, "decoder.heads": 2}


def plan(folder, *more, **options):
    arguments = []
    for name, value in (OPTIONS | options).items():
        if value is not None:
            arguments += ["--" + name.replace("_", "-"), *(value if isinstance(value, list) else [value])]
    return run(folder, "train", "--dry-run", "--json", *arguments, *more)


@trains
@pytest.mark.parametrize("more", [[], ["--stream"]])
def test_characters_without_a_piece_are_counted_by_side(folder, more):
    """A vocabulary of another language trained on unknown pieces without a word."""
    text = (folder / "train.de").read_text(encoding="utf-8")
    (folder / "train.de").write_text(text.replace("AB", "\u4e2dB", 3), encoding="utf-8")
    done = plan(folder, *more)
    assert done.returncode == 0, done.stderr
    assert "warning: train_target: the vocabulary has no tokens for 3 of " in done.stderr and "U+4E2D \u4e2d (3)" in done.stderr
    assert "train_source: the vocabulary" not in done.stderr
    counts = json.loads(done.stdout)["texts"]
    assert counts["train"]["target"]["unknown"] == 3 and counts["train"]["target"]["most_frequent"] == {"U+4E2D \u4e2d": 3}
    assert counts["train"]["source"]["unknown"] == counts["valid"]["target"]["unknown"] == 0


@trains
@pytest.mark.parametrize("text", ["train", "valid", "test"])
def test_a_side_without_pieces_is_refused(folder, text):
    (folder / f"{text}.de").write_text("\u4e2d\u6587 ab\n" * 36, encoding="utf-8")
    (folder / f"{text}.en").write_text("ab\n" * 36, encoding="utf-8")
    options = {"test_source": "test.en", "test_target": "test.de"} if text == "test" else {}
    refused(plan(folder, **options), 3, f"{text}_target: the vocabulary has no tokens for 72 of 144 characters (50 %)", "U+4E2D \u4e2d (36)")


@trains
@pytest.mark.parametrize("more", [[], ["--stream"]])
def test_held_out_pairs_in_the_training_text_are_counted(folder, more):
    """Scores were those of lines that had been trained on, in either direction."""
    train = [(folder / f"train.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "de")]
    # The last source is known, but not its target.
    for side, lines in (("en", ["ab", train[0][3], train[1][5], "", train[0][7]]), ("de", ["ab", train[1][3], train[0][5], "", "ab"])):
        (folder / f"valid.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = plan(folder, *more, test_source="valid.en", test_target="valid.de")
    assert done.returncode == 0, done.stderr
    assert ("warning: of 4 validation pairs, 2 are also in the training text (valid.en:2, 3), and 1 have a source line that is also "
            "there, with another target" in done.stderr), done.stderr
    counts = json.loads(done.stdout)["texts"]["test"]
    assert counts["in_training_text"] == 2 and counts["source_in_training_text"] == 1


@trains
def test_one_file_as_both_sides_is_said(folder):
    done = plan(folder, train_target="train.en")
    assert done.returncode == 0 and "both sides of 'train.en' are the same text" in done.stderr, done.stderr
    refused(plan(folder, train_target="train.en", languages=["en", "de"]), 3, "'train.en' has the same text on both sides", "en and de")
    (folder / "copy.gz").write_bytes(gzip.compress((folder / "train.en").read_bytes()))
    refused(plan(folder, train_target="copy.gz", languages=["en", "de"]), 3, "'train.en' has the same text on both sides")
    assert "same text" not in plan(folder).stderr
    for side in ("en", "de"):
        (folder / f"valid.{side}").write_bytes((folder / "train.en").read_bytes())
    assert "both sides of 'valid.en' are the same text" in plan(folder).stderr
    refused(plan(folder, languages=["en", "de"]), 3, "'valid.en' has the same text on both sides")


@trains
@pytest.mark.parametrize("option,value", [
    ("user_defined_symbols", "<x>"), ("byte_fallback", []), ("normalization", "none"), ("character_coverage", 0.99), ("joint_vocab", []),
    ("vocab_max_sentences", 100)])
def test_options_of_a_vocabulary_that_is_not_made_are_refused(folder, option, value):
    """They changed nothing, and nobody said so."""
    refused(plan(folder, **{option: value}), 2, option, "but vocab gives one")
    refused(plan(folder, **{option: value, "vocab": None, "source_vocab": "vocab.spm", "target_vocab": "vocab.spm"}), 2, option, "source_vocab")
    shape = {name: None for name in OPTIONS if name.startswith(("preset", "encoder", "decoder"))}  # the model's is another
    refused(plan(folder, **shape, **{option: value, "vocab": None, "init": MODEL}), 2, option, "but init gives one")


def test_a_doubled_option_is_refused(folder):
    """The last one was taken without a word."""
    for arguments, named in (
            (["score", "--model", MODEL, "--model", MODEL], "--model is given 2 times"),
            (["translate", "--model", MODEL, "--beam-size=1", "--beam-size", "2"], "--beam-size is given 2 times"),
            (["translate", "--model", MODEL, "--quiet", "--quiet=false"], "--quiet is given 2 times"),
            (["vocab", "--config", "a", "--config", "b"], "--config is given 2 times")):
        refused(run(folder, *arguments, stdin="a\n"), 2, named)
    (folder / "twice.toml").write_text("size = 40\nsize = 50\n", encoding="utf-8")
    refused(run(folder, "vocab", "--config", "twice.toml", "--input", "train.en", "--output", "v.spm"), 2, "twice.toml")
    done = run(folder, "vocab", "--input", "train.en", "--input", "train.de", "--size", 40, "--type", "bpe", "--output", "v.spm")
    assert done.returncode == 0 and (folder / "v.spm").read_bytes() == (folder / "vocab.spm").read_bytes()


def docx():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<document/>")
    return file.getvalue()


FORMATS = {
    "text.tsv": (b"a house\tein Haus\nold\talt\n", "cut -f1"), "text.tmx": (b'<?xml version="1.0"?>\n<tmx version="1.4"><body>', "TMX"),
    "text.xlf": (b'<?xml version="1.0"?>\n<xliff version="1.2"><file>', "XLIFF"), "text.docx": (docx(), ".docx"),
    "text.pdf": (b"%PDF-1.4\n1 0 obj", "PDF"), "text.html": (b"<!DOCTYPE html>\n<html><head>", "HTML"),
    "text.json": (b'{"a": "b",\n "c": ["d"]}\n', "JSON"), "packed": (gzip.compress(b"a house\n"), ".gz"),
    "utf16": ("a house\nold\n".encode("utf-16"), "iconv")}


@pytest.mark.parametrize("name", FORMATS)
def test_other_formats_are_refused_by_name(folder, name):
    """Their bytes were trained on and translated as if they were sentences."""
    content, named = FORMATS[name]
    (folder / name).write_bytes(content)
    refused(run(folder, "vocab", "--input", "train.en", name, "--output", "v.spm"), 3, name, named)
    refused(run(folder, "translate", "--model", MODEL, "--input", name), 3, name, named)
    refused(run(folder, "score", "--model", MODEL, "--source", "train.en", "--target", name), 3, name, named)
    refused(run(folder, "evaluate", "--hypothesis", name, "--reference", "train.en"), 3, name, named)
    refused(run(folder, "shortlist", "--model", MODEL, "--source", name, "--target", "train.en", "--output", "s"), 3, name, named)
    if (BUILD / "attend-train").exists():
        refused(plan(folder, train_source=name), 3, name, named)


def test_sentences_with_tabs_and_markup_are_text(folder):
    lines = 'lumi\ttavo\n<b>lumi</b> tavo\n{name} tavo\n[1] lumi\n"lumi", tavo\n'
    done = run(folder, "translate", "--model", MODEL, stdin=lines)
    assert done.returncode == 0 and done.stdout.count("\n") == 5, done.stderr


@pytest.mark.parametrize("arguments", [
    ["help", "translate"], ["--help", "translate"], ["translate", "--threads", "x", "--help"], ["translate", "--model", "a", "-h"],
    ["translate", "--config", "gone", "--help"], ["translate", "--model", "a", "--model", "b", "--help"]])
def test_help_is_given_in_every_position(folder, arguments):
    """`attend help translate` told of no option of translate's."""
    done = run(folder, *arguments)
    assert done.returncode == 0 and "--beam-size" in done.stdout, done.stderr
    refused(run(folder, "help", "tranlsate"), 2, "did you mean 'translate'")
