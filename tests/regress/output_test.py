"""Text that was lost, invented or cut in silence, as users met it."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build"))
MODEL = ROOT / "tests/data/golden_v1"
SENTENCES = ["Lumi tavo keri.", "Sona mipa!", "Vesta olin paku neri dosa?"]


def attend(*arguments, stdin=""):
    return subprocess.run(
        [BUILD / "attend", *map(str, arguments)], input=stdin, capture_output=True, encoding="utf-8", timeout=300, check=False)


def translate(*arguments, stdin, model=MODEL):
    done = attend("translate", "--model", model, *arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def tokens(median, longest):
    return {"median": median, "p90": longest, "p99": longest, "longest": longest}


def model_trained_on(folder, several_sentences=0.0, longest=40, ratio=1.0):
    """The golden model, which says that its training text was like that."""
    shutil.copytree(MODEL, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["format_version"] = 2
    config["training_text"] = {
        "source_tokens": tokens(9, longest), "target_tokens": tokens(9, longest),
        "target_ratio": {"median": 1.0, "p90": ratio, "p99": ratio, "longest": ratio}, "several_sentences": several_sentences}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.mark.parametrize("known", [False, True])
def test_a_line_of_several_sentences_is_translated_sentence_by_sentence(known, tmp_path):
    """1,065 words in one line came back as 46: up to 512 pieces went in as one sentence."""
    model = model_trained_on(tmp_path / "model", 0.05) if known else MODEL
    alone = translate(stdin="\n".join(SENTENCES) + "\n", model=model)
    line = "  {}   {}\u3000 {} ".format(*SENTENCES)
    expected = "  {}   {}\u3000 {} ".format(*alone)
    assert translate(stdin=line + "\n", model=model) == [expected]
    assert translate("--split-sentences", "always", stdin=line, model=model) == [expected]
    whole = translate("--split-sentences", "never", stdin=line, model=model)
    assert whole != [expected]
    one_space = line.replace("   ", " ").strip()
    assert [whole[0].strip()] == translate("--split-sentences", "never", stdin=one_space, model=model)
    assert whole[0].startswith("  ") and whole[0].endswith(" ")


def test_an_input_is_no_longer_than_those_of_training(tmp_path):
    """A sentence of 300 words came back as 22, without a word about it, from a model that had seen 49 tokens at most."""
    model = model_trained_on(tmp_path / "model", longest=40)
    sentence = "lumi tavo keri " * 60
    done = attend("translate", "--model", model, stdin=sentence)
    assert done.stdout == attend("translate", "--model", model, "--max-input-tokens", 40, stdin=sentence).stdout
    assert "1 line has a sentence of more than 40 tokens, which was translated in parts" in done.stderr
    whole = attend("translate", "--model", model, "--split-sentences", "never", stdin=sentence)
    assert whole.stdout == attend("translate", "--model", MODEL, "--max-input-tokens", 512, stdin=sentence).stdout != done.stdout


def test_one_line_stays_one_line(tmp_path):
    """What ends a line elsewhere stands between sentences here."""
    done = subprocess.run(
        [BUILD / "attend", "translate", "--model", MODEL], input="Lumi.\rTavo.\u2028Sona.\x0cKeri.\x85Paku.\n".encode(),
        capture_output=True, timeout=300, check=False)
    one = dict(zip(("Lumi.", "Tavo.", "Sona.", "Keri.", "Paku."), translate(stdin="Lumi.\nTavo.\nSona.\nKeri.\nPaku.\n")))
    text = done.stdout.decode()
    assert text.splitlines() == [text[:-1]] and text.startswith("{} {} {} ".format(*one.values()))


def test_a_model_of_several_sentences_gets_lines_as_its_training_had_them(tmp_path):
    line = " ".join(SENTENCES)
    model = model_trained_on(tmp_path / "model", 0.4, longest=500)
    assert translate(stdin=line, model=model) == translate("--split-sentences", "never", stdin=line)
    short = model_trained_on(tmp_path / "short", 0.4, longest=1)
    assert translate(stdin=line, model=short) == translate("--split-sentences", "always", stdin=line)


def test_alignments_of_a_split_line_count_its_words():
    line = " ".join(SENTENCES)
    text, links = translate("--alignments", "--max-length", "6", stdin=line)[0].split(" ||| ")
    pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
    assert [target for _, target in pairs] == list(range(len(text.split())))
    assert max(source for source, _ in pairs) >= len(" ".join(SENTENCES[:2]).split())


@pytest.fixture(name="corpus", scope="module")
def write_corpus(tmp_path_factory):
    """Pairs whose targets are four times as long; half of the sources are two sentences."""
    folder = tmp_path_factory.mktemp("corpus")
    words = "one two three four five six seven".split()
    sources = [" ".join(words[: 1 + i % 7]) + (". " + words[i % 5].title() + "." if i % 2 else ".") for i in range(60)]
    (folder / "s").write_text("\n".join(sources) + "\n", encoding="utf-8")
    (folder / "t").write_text("\n".join(" ".join([source] * 4) for source in sources) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_model_says_what_its_training_text_was_like(stream, corpus, tmp_path):
    if not (BUILD / "attend-train").exists():
        pytest.skip("this build has no training")
    shape = [f"--{side}.{option}" for side in ("encoder", "decoder") for option in ("layers=1", "d-model=16", "heads=2", "d-ff=16")]
    done = attend(
        "train", "--train-source", corpus / "s", "--train-target", corpus / "t", "--vocab-size", "30", "--output", tmp_path / "run",
        "--max-updates", "1", "--batch-tokens", "200", "--quiet", *stream, *[part for name in shape for part in name.split("=")])
    assert done.returncode == 0, done.stderr
    inspected = json.loads(attend("inspect", tmp_path / "run/model", "--json").stdout)
    text = inspected["training_text"]
    assert inspected["format_version"] == 14 and text["several_sentences"] == 0.5
    assert 3 < text["target_ratio"]["median"] <= text["target_ratio"]["p99"] <= text["target_ratio"]["longest"] < 4.5
    assert 0 < text["source_tokens"]["median"] < text["source_tokens"]["longest"] < text["target_tokens"]["longest"]
    # As it is exported from a checkpoint, and as it is quantized.
    attend("export", "--checkpoint", tmp_path / "run", "--output", tmp_path / "again")
    attend("quantize", tmp_path / "run/model", "--output", tmp_path / "int8")
    for other in ("again", "int8"):
        assert json.loads(attend("inspect", tmp_path / other, "--json").stdout)["training_text"] == text


def test_models_of_older_versions_say_nothing(tmp_path):
    inspected = json.loads(attend("inspect", MODEL, "--json").stdout)
    assert inspected["format_version"] == 1 and inspected["training_text"] is None
    attend("quantize", MODEL, "--output", tmp_path / "int8")
    assert json.loads(attend("inspect", tmp_path / "int8", "--json").stdout)["training_text"] is None


SYMBOLS = ["😀", "-", "***", "…", "。", "«»", "🇩🇪 ❤️", "( ) [ ]", "¿?!", "€", "  –  ", "\u060c", "😀" * 700]


def test_text_without_letter_or_digit_comes_back_as_it_is():
    """A smiley became a word; a line of stars a sentence."""
    assert translate(stdin="\n".join(SYMBOLS) + "\n") == SYMBOLS
    scored = translate("--scores", "--alignments", stdin="* *\n")
    assert scored == ["* * ||| 0.000000 ||| 0-0 1-1"]
    one, two = translate(stdin="Lumi tavo.\nSona mipa.\n")
    assert translate(stdin="Lumi tavo.\u2029😀\u2029Sona mipa.") == [f"{one} 😀 {two}"]
    for text in ("7", "½", "é", "你", "Ⅷ"):  # a digit and letters of any script are translated
        assert translate("--scores", stdin=text)[0] != f"{text} ||| 0.000000"


def test_hypotheses_are_of_different_texts():
    """Two of four hypotheses were one text, cut into other pieces."""
    lines = ["lumi", "tavo keri", "sona mipa paku", "neri", "dosa dosa", ""]
    for beam in ("4", "8", "16"):
        found = [line.split(" ||| ") for line in translate(
            "--beam-size", beam, "--n-best", beam, "--max-length", "3", stdin="\n".join(lines) + "\n")]
        texts = [(number, text) for number, text, _ in found]
        assert len(texts) == len(set(texts)) and len(texts) > 2 * len(lines)
        assert [number for number, _ in texts][-1] == "5" and texts.count(("5", "")) == 1
        best = translate("--beam-size", beam, "--max-length", "3", stdin="\n".join(lines) + "\n")
        assert [next(text for number, text in texts if number == str(i)) for i in range(len(lines))] == best


def test_cut_outputs_are_told(tmp_path):
    """Outputs ended in the middle of a word, and nothing said so."""
    done = attend("translate", "--model", MODEL, "--max-length", "2", "--quiet", stdin="lumi tavo\n***\n" + "keri paku\n" * 9)
    lines = done.stderr.splitlines()
    assert done.returncode == 0 and len(lines) == 1
    assert lines[0].startswith("warning: 10 translations were cut at the maximum length, of lines 1, 3, 4, 5, 6 and 5 more; ")
    one = attend("translate", "--model", MODEL, "--max-length", "2", "--quiet", stdin="***\nlumi tavo\n").stderr
    assert one.startswith("warning: 1 translation was cut at the maximum length, of line 2; ")
    (tmp_path / "in").write_text("***\n", encoding="utf-8")
    assert attend("translate", "--model", MODEL, "--input", tmp_path / "in").stderr == ""


def test_an_output_may_be_as_long_as_those_of_training(tmp_path):
    """A language of many more pieces was cut at the source's 50 and more."""
    line = " ".join(["lumi"] * 40)  # the model of random weights seldom ends by itself

    def pieces(model, *arguments):
        return len(translate("--beam-size", "1", *arguments, stdin=line, model=model)[0])

    long = model_trained_on(tmp_path / "long", ratio=4.0)
    like_source = model_trained_on(tmp_path / "like", ratio=1.0)
    assert pieces(long) > 2 * pieces(MODEL)
    assert pieces(like_source) == pieces(MODEL)
    assert pieces(long, "--max-length", "20") == pieces(MODEL, "--max-length", "20")


def test_characters_that_vanish_are_counted_and_named():
    """A name in an unknown script was left out of the translation, and nobody heard of it."""
    lines = ["lumi tavo", "lumi 天地 tavo 天", "天 地 keri", "olin天", "lumi é tavo", "天地"]
    done = attend("translate", "--model", MODEL, stdin="".join(f"{line}\n" for line in lines))
    assert done.returncode == 0
    told = [line for line in done.stderr.splitlines() if "vocabulary lacks" in line]
    assert told == ["warning: 5 lines have characters that the model's vocabulary lacks, and translations lose them: lines 2, 3, 4, 5, 6; "
                    "9 characters, most often U+5929 天 (5), U+5730 地 (3), U+00E9 é (1)"], done.stderr
    done = attend("translate", "--model", MODEL, stdin="lumi tavo\n*** 😀\n\n")
    assert done.returncode == 0 and "vocabulary lacks" not in done.stderr
