"""attend tag, classify, fill and embed with models of random weights: the same bits whatever shares the call, whole files or none."""

import json
import os
import random
import re
import select
import signal
import subprocess

import pytest
import random_models
from programs import ATTEND, attend, refused
from random_models import TEXT

WORDS = sorted(set(" ".join(TEXT).split()))
COMMANDS = {
    "tag": ("tagging", ["--words"]),
    "classify": ("classification", ["--top", "9", "--json"]),
    "fill": ("masked_language_model", ["--top", "3", "--json"]),
    "embed": ("masked_language_model", []),
}


def lines(masks=False, count=60):
    numbers = random.Random(5)
    texts = [" ".join(numbers.choices(WORDS, k=numbers.choice([1, 2, 3, 5, 8, 30]))) for _ in range(count)]
    return [f"{text} [MASK]" for text in texts] if masks else texts


def told(command, models, texts, *arguments):
    task, options = COMMANDS[command]
    source = ["--input", "-"] if command == "fill" else []
    done = attend(command, *source, "--model", models[task], *options, *arguments, stdin="".join(text + "\n" for text in texts))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("type", ["f32", "int8"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_text_gets_the_same_bits_whatever_shares_the_call(command, type, encoders):
    texts = lines(masks=command == "fill")
    together = told(command, encoders, texts, "--threads", "3", "--type", type)
    assert len(together) == len(texts) and len(set(together)) > 40
    backwards = told(command, encoders, texts[::-1], "--threads", "1", "--type", type)
    assert backwards[::-1] == together
    for number in range(0, len(texts), 9):
        assert told(command, encoders, [texts[number]], "--threads", "1", "--type", type) == [together[number]]


def test_fill_tells_where_tokens_begin_words(tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    model = random_models.write_filler_of_pieces(tmp_path)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "vocab.spm"))
    wanted = {(piece.removeprefix("▁") or "▁", piece.startswith("▁"))
              for piece in map(pieces.id_to_piece, range(pieces.vocab_size())) if piece not in ("<pad>", "<unk>", "<s>", "</s>", "[MASK]")}
    found = json.loads(attend("fill", "the [MASK] wall", "--model", model, "--top", "99", "--json").stdout)
    assert {(token["token"], token["begins_word"]) for token in found["masks"][0]} == wanted
    assert ("▁", True) in wanted and len({begins for _, begins in wanted}) == 2
    printed = attend("fill", "the [MASK] wall", "--model", model, "--top", "99").stdout.splitlines()[1]
    assert re.findall(r"  (\S+) \S+ %", printed) == [("" if token["begins_word"] else "…") + token["token"] for token in found["masks"][0]]


def test_columns_get_the_labels_of_words(encoders):
    columns = "".join("\n".join(text.split()) + "\n\n" for text in lines())
    together = attend("tag", "--columns", "--model", encoders["tagging"], "--threads", "3", stdin=columns).stdout
    assert attend("tag", "--columns", "--model", encoders["tagging"], "--threads", "1", stdin=columns).stdout == together
    words = [line for line in together.splitlines() if line]
    assert len(words) == sum(len(text.split()) for text in lines()) and len({line.split()[1] for line in words}) > 2


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "iobes"])
def test_labels_of_columns_are_spelt_as_asked(encoders, scheme):
    columns = "".join("\n".join(text.split()) + "\n\n" for text in lines())
    labels = [line.split()[1] for line in attend("tag", "--columns", "--model", encoders["tagging"], "--scheme", scheme, stdin=columns).stdout.splitlines() if line]
    assert {label[0] for label in labels} <= set({"iob1": "OIB", "iob2": "OIB", "iobes": "OIBES"}[scheme])
    own = [line.split()[1] for line in attend("tag", "--columns", "--model", encoders["tagging"], stdin=columns).stdout.splitlines() if line]
    assert [label[2:] for label in labels] == [label[2:] for label in own]


def test_a_text_where_a_file_belongs_is_told(encoders):
    done = attend("tag", "the house is old", "--model", encoders["tagging"])
    assert done.returncode == 3 and "a text itself goes through standard input" in done.stderr


@pytest.mark.parametrize("wrong", ["old X Y", "\tX"])
def test_sentences_before_a_wrong_line_have_their_labels(encoders, wrong):
    before = "the X\nhouse X\n\nnew X\n\n"
    right = attend("tag", "--columns", "--model", encoders["tagging"], stdin=before)
    done = attend("tag", "--columns", "--model", encoders["tagging"], stdin=f"{before}wall X\n{wrong}\n\nold X\n")
    assert (done.returncode, done.stdout + "\n") == (3, right.stdout) and ":7: " in done.stderr


def test_columns_that_are_tagged_as_texts_are_told(encoders):
    text = "the house\nis old\n"
    labelled = attend("tag", "--columns", "--model", encoders["tagging"], stdin=text.replace(" ", "\n")).stdout
    assert "--columns reads" in attend("tag", "--model", encoders["tagging"], stdin=labelled).stderr
    assert attend("tag", "--model", encoders["tagging"], stdin=text).stderr == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_characters_that_the_vocabulary_lacks_are_told(command, encoders, tmp_path):
    """A name in an unknown script was not read, and nobody heard of it."""
    task, options = COMMANDS[command]
    arguments = [command, "--model", encoders[task], *options]
    source = ["--input", "-"] if command == "fill" else []
    mask = " [MASK]" if command == "fill" else ""
    texts = [f"the house{mask}", f"the Ω ΩЖ house{mask}", f"new{mask}", f"Ω old{mask}"]
    done = attend(*arguments, *source, stdin="".join(f"{text}\n" for text in texts))
    words = "characters that the model's vocabulary lacks, and the model can't read them"
    assert (done.returncode, done.stderr) == (0, f"warning: 2 lines have {words}: lines 2, 4; 4 characters, most often U+03A9 Ω (3), U+0416 Ж (1)\n")
    assert attend(*arguments, *source, stdin=f"{texts[0]}\n").stderr == ""
    if command == "fill":
        told = attend(*arguments, texts[0], texts[3]).stderr
        assert told == f"warning: 1 text has {words}: text 2; 1 character, most often U+03A9 Ω (1)\n"
    else:
        for name, text in zip(("one", "two"), texts):
            (tmp_path / name).write_text(text, encoding="utf-8")
        told = attend(*arguments, tmp_path / "one", tmp_path / "two").stderr
        assert told.startswith(f"warning: 1 line has {words}: line {tmp_path}/two:1; 3 characters,") and told.count("\n") == 1


def test_characters_of_columns_that_the_vocabulary_lacks_are_told(encoders):
    done = attend("tag", "--columns", "--model", encoders["tagging"], stdin="-DOCSTART-\n\nthe\nΩ\n\nold\n\nΩΩ\n")
    assert done.returncode == 0 and done.stderr.endswith(
        "can't read them: lines 4, 8; 3 characters, most often U+03A9 Ω (3)\n"), done.stderr


def test_a_model_of_another_task_is_refused_before_a_text_comes(encoders):
    done = attend("fill", "--model", encoders["tagging"], stdin="")
    assert done.returncode == 2 and "attend tag" in done.stderr


def test_columns_are_answered_while_the_pipe_is_open(encoders):
    command = [ATTEND, "tag", "--columns", "--model", encoders["tagging"]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        # With the second one comes a part of the third.
        for sent, words in [("the\nhouse\n\n", ["the", "house"]), ("old\n\nwall\n", ["old"]), ("is\n\n", ["wall", "is"])]:
            process.stdin.write(sent.encode())
            process.stdin.flush()
            answer = ""
            while answer.split()[::2] != words:
                assert select.select([process.stdout], [], [], 60)[0], f"no answer for {words}"
                answer += os.read(process.stdout.fileno(), 4096).decode()
        process.stdin.close()


def test_vectors_in_a_file_are_those_of_the_lines(encoders, tmp_path):
    numpy = pytest.importorskip("numpy")
    told("embed", encoders, lines(), "--output", tmp_path / "v.npy", "--pooling", "first")
    rows = [json.loads(line)["embedding"] for line in told("embed", encoders, lines(), "--pooling", "first")]
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "v.npy"), numpy.array(rows, numpy.float32))
    told("embed", encoders, [], "--output", tmp_path / "v.npy")
    assert numpy.load(tmp_path / "v.npy").shape == (0, 32)


def test_a_file_of_vectors_appears_when_it_is_whole(encoders, tmp_path):
    command = [ATTEND, "embed", "--model", encoders["masked_language_model"], "--output", tmp_path / "v.npy"]
    (tmp_path / "v.npy").write_bytes(b"as it was")
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        process.stdin.write(b"the house\n" * 5000)
        process.stdin.flush()
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / "v.npy").read_bytes() == b"as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["v.npy"]


@pytest.mark.parametrize(("output", "part"), [("/dev/full", "/dev/full"), ("/dev/stdout", "/dev/stdout")])
def test_vectors_that_cannot_be_written_are_an_error(encoders, output, part):
    """Standard output is a pipe here: the number of rows, at the file's beginning, is known at its end."""
    refused(attend("embed", "--model", encoders["masked_language_model"], "--output", output, stdin="house\n"), 1, part)


@pytest.mark.parametrize("task", ["masked_language_model", "tagging", "classification"])
def test_attention_of_an_encoder_is_drawn(task, encoders, tmp_path):
    def drawn(name, *arguments):
        done = attend("attention", "--model", encoders[task], "--source", "the house, old", "--output", tmp_path / name, *arguments)
        assert done.returncode == 0, done.stderr
        return (tmp_path / name).read_text(encoding="utf-8")

    result = json.loads(drawn("a.json"))
    assert (list(result["kinds"]), result["source"], result["target"]) == (["encoder"], "the house, old", "")
    kind = result["kinds"]["encoder"]
    # A tagger reads words; no vocabulary of others has "house,".
    house = ["\u2581house", "\u2581,"] if task == "tagging" else ["<unk>"]
    assert kind["queries"] == kind["keys"] == ["<s>", "\u2581the", *house, "\u2581old", "</s>"]
    assert len(kind["weights"]) == 2
    for layer in kind["weights"]:
        assert len(layer) == 4
        for head in layer:
            assert len(head) == len(kind["keys"])
            for row in head:
                assert len(row) == len(kind["keys"]) and sum(row) == pytest.approx(1, abs=1e-5) and min(row) > 0
    assert "Self-attention, layer 2 of 2" in drawn("a.svg")
    assert drawn("b.svg", "--kind", "encoder", "--layer", 2) == drawn("a.svg")
    assert "Self-attention" in drawn("a.html", "--layer", 1)


@pytest.mark.parametrize("command", ["classify", "fill", "embed"])
def test_json_says_which_text_was_cut(command, encoders, tmp_path):
    """The model of random weights has no end of positions; a copy with learned ones has."""
    task, options = COMMANDS[command]
    model = random_models.with_positions(encoders[task], tmp_path / task, 8)
    texts = ["[MASK] wall", "[MASK] " + "wall " * 20]
    assert [json.loads(line)["cut"] for line in told(command, {task: model}, texts)] == [False, True]
