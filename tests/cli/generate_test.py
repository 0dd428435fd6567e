"""attend generate and attend score with a language model of random weights."""

import json
import math
import os
import pathlib
import pty
import select
import subprocess

import pytest
from programs import ATTEND, attend

NEWLINES = pathlib.Path(__file__).resolve().parents[1] / "data/golden_language_model"
GOLDEN = NEWLINES.parent / "golden_v1"
PROMPTS = ["lumi", "", "tavo keri", "paku neri dosa"]


def generate(model, *arguments, **options):
    done = attend("generate", "--model", model, *arguments, **options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.fixture(name="prompts")
def write_prompts(tmp_path):
    path = tmp_path / "prompts"
    path.write_text("".join(line + "\n" for line in PROMPTS), encoding="utf-8")
    return path


@pytest.mark.parametrize("options", ["", "--temperature 0", "--top-k 5 --seed 9", "--top-p 0.7", "--beam-size 3"])
def test_a_prompt_gives_the_same_text_however_it_comes(language_model, prompts, options):
    options = ["--max-tokens", "12", *options.split()]
    lines = generate(language_model, "--input", prompts, "--threads", "2", *options).splitlines()
    assert len(lines) == len(PROMPTS)
    assert lines == generate(language_model, *options, stdin=prompts.read_text(encoding="utf-8")).splitlines()
    assert lines == generate(language_model, *PROMPTS, *options, "--batch-sentences", "1", "--threads", "1").splitlines()
    for prompt, line in zip(PROMPTS, lines):
        assert line + "\n" == generate(language_model, prompt, *options, env={"ATTEND_ISA": "reference"})


@pytest.mark.parametrize("options", ["--temperature 0.5", "--top-k 5", "--top-p 0.5", "--min-p 0.1"])
def test_options_of_drawing_are_refused_for_beams(language_model, options):
    done = attend("generate", "lumi", "--model", language_model, "--beam-size", "2", *options.split())
    assert done.returncode == 2 and "is not for beam search" in done.stderr


def test_seeds_and_outputs_differ(language_model):
    three = generate(language_model, "lumi", "--n", "3", "--max-tokens", "20").splitlines()
    assert len(set(three)) == 3
    assert all(line.startswith("1 ||| ") and line.count(" ||| ") == 2 for line in three)
    first = three[0].split(" ||| ")[1]
    assert generate(language_model, "lumi", "--max-tokens", "20") == first + "\n"
    assert generate(language_model, "lumi", "--max-tokens", "20", "--echo") == "lumi" + first + "\n"
    assert generate(language_model, "lumi", "--max-tokens", "20", "--seed", "2") != first + "\n"


def test_texts_of_several_lines_are_told_apart():
    options = ["--max-tokens", "60", "--min-tokens", "60"]
    alone = generate(NEWLINES, "lumi", *options)
    assert alone.count("\n") > 1
    line = alone[:-1].replace("\n", "\\n")
    assert generate(NEWLINES, "lumi", *options, "--beam-size", "2").count("\n") > 1
    assert generate(NEWLINES, "lumi", "", *options).splitlines()[0] == line
    assert generate(NEWLINES, *options, stdin="lumi\n") == line + "\n"
    (scored,) = generate(NEWLINES, "lumi", *options, "--scores").splitlines()
    assert scored.rsplit(" ||| ", 1)[0] == line
    both = [text.split(" ||| ")[1] for text in generate(NEWLINES, "lumi", *options, "--n", "2").splitlines()]
    assert len(both) == 2 and both[0] == line
    assert generate(NEWLINES, "lu\nmi", "", *options, "--echo").startswith("lu\\nmi")


def test_json_has_what_score_gives(language_model, tmp_path):
    printed = generate(language_model, "lumi", "tavo", "--max-tokens", "9", "--json").splitlines()
    for prompt, line in zip(["lumi", "tavo"], printed):
        told = json.loads(line)
        assert told["prompt"] == prompt
        (output,) = told["outputs"]
        assert output["ending"] in ("text", "length")
        assert math.isclose(sum(output["token_log_probabilities"]), output["log_probability"], rel_tol=1e-9)
        assert len(output["ids"]) == 9 or output["ending"] == "text"


def test_a_stop_text_ends_the_output(language_model):
    whole = generate(language_model, "lumi", "--max-tokens", "40", "--min-tokens", "40")[:-1]
    stop = whole[10:13]
    told = json.loads(generate(language_model, "lumi", "--max-tokens", "40", "--min-tokens", "40", "--stop", stop, "--json"))
    (output,) = told["outputs"]
    assert output["ending"] == "stop"
    assert output["text"] == whole[: whole.index(stop)]


def test_a_terminal_gets_the_same_text_piece_by_piece(language_model):
    want = generate(language_model, "lumi", "--max-tokens", "20")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [ATTEND, "generate", "lumi", "--model", language_model, "--max-tokens", "20"], stdout=theirs, stderr=subprocess.PIPE
    ) as running:
        assert running.wait(timeout=60) == 0, running.stderr.read()
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert shown.decode().replace("\r\n", "\n") == want


def test_scores_of_lines_and_their_perplexities(language_model, prompts):
    done = attend("score", "--model", language_model, "--input", prompts, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    total = sum(text["log_probability"] for text in report["texts"])
    assert len(report["texts"]) == len(PROMPTS)
    assert report["tokens"] == sum(text["tokens"] for text in report["texts"])
    assert report["words"] == sum(len(line.split()) + 1 for line in PROMPTS)
    assert report["characters"] == sum(len(line) + 1 for line in PROMPTS)
    assert math.isclose(report["perplexity"], math.exp(-total / report["tokens"]))
    assert math.isclose(report["word_perplexity"], math.exp(-total / report["words"]))
    assert math.isclose(report["bits_per_character"], -total / math.log(2) / report["characters"])
    plain = attend("score", "--model", language_model, "--input", prompts)
    assert [float(line) for line in plain.stdout.splitlines()] == pytest.approx(
        [text["log_probability"] for text in report["texts"]], abs=1e-6)
    assert "a token" in plain.stderr and "a word" in plain.stderr and "bits a character" in plain.stderr
    whole = attend("score", "--model", language_model, "--input", prompts, "--window", "1000")
    assert whole.stdout == plain.stdout
    narrow = attend("score", "--model", language_model, "--input", prompts, "--window", "3", "--stride", "1")
    assert narrow.stdout != plain.stdout


def test_characters_that_the_vocabulary_lacks_are_told(language_model, tmp_path):
    """A prompt lost them, and nobody heard of it."""
    words = "characters that the model's vocabulary lacks, and the model can't read them"
    options = "--model", language_model, "--max-tokens", "3"
    alone = attend("generate", "Ω lumi", *options)
    assert (alone.returncode, alone.stderr) == (0, f"warning: 1 text has {words}: text 1; 1 character, most often U+03A9 Ω (1)\n")
    lines = "lumi\nΩ lumi\ntavo Ω\n"
    many = attend("generate", *options, stdin=lines)
    assert many.stderr == f"warning: 2 lines have {words}: lines 2, 3; 2 characters, most often U+03A9 Ω (2)\n"
    for documents in ("line", "blank_line", "file"):
        scored = attend("score", "--model", language_model, "--input", "-", "--documents", documents, "--quiet", stdin=lines)
        assert (scored.returncode, scored.stderr) == (0, many.stderr)
    (tmp_path / "source").write_text("lumi\n", encoding="utf-8")
    (tmp_path / "target").write_text("Ω\n", encoding="utf-8")
    pair = attend("score", "--model", GOLDEN, "--source", tmp_path / "source", "--target", tmp_path / "target", "--quiet")
    assert pair.stderr == f"warning: 1 line has {words}: line {tmp_path}/target:1; 1 character, most often U+03A9 Ω (1)\n"


def test_a_quantized_language_model_proves_itself(language_model, tmp_path):
    done = attend("quantize", language_model, "--output", tmp_path / "int8")
    assert done.returncode == 0, done.stderr
    assert attend("verify", tmp_path / "int8").returncode == 0
    stored = generate(tmp_path / "int8", "lumi", "--max-tokens", "20")
    assert generate(language_model, "lumi", "--max-tokens", "20", "--type", "int8") == stored


def test_one_prompt_alone_is_written_as_it_comes(language_model):
    command = [ATTEND, "generate", "lumi", "--model", language_model, "--max-tokens", "1000000", "--min-tokens", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        came = bool(select.select([process.stdout], [], [], 60)[0])
        process.kill()
    assert came
