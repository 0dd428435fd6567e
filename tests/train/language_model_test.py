"""Training a language model, from plain text to generated text: it learns, resumes to the bit, and scores what it validated."""

import hashlib
import json
import math
import pathlib
import random
import subprocess

import data_parallel_test
import pytest
import tiny_run

WORDS = "the cat dog sees hears a red blue small house tree and then sleeps".split()


def write_text(path, seed, documents):
    """Documents whose lines say each word twice: half of the words can be known."""
    numbers = random.Random(seed)
    text = []
    for _ in range(documents):
        lines = [" ".join(word for word in numbers.choices(WORDS, k=numbers.randint(2, 5)) for _ in range(2)) for _ in range(3)]
        text.append("\n".join(lines))
    path.write_text("\n\n".join(text) + "\n", encoding="utf-8")


@pytest.fixture(name="options", scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_text(folder / "train.txt", 1, 60)
    write_text(folder / "valid.txt", 2, 8)
    write_text(folder / "test.txt", 3, 8)
    return {
        "task": "language_model",
        "preset": "tiny",
        "train_text": folder / "train.txt",
        "valid_text": folder / "valid.txt",
        "test_text": folder / "test.txt",
        "vocab_type": "word",
        "vocab_size": 60,
        "context_tokens": 24,
        "decoder.layers": 2,
        "decoder.d_model": 32,
        "decoder.heads": 4,
        "decoder.d_ff": 64,
        "dropout": 0.1,
        "label_smoothing": 0,
        "batch_tokens": 192,
        "worker_threads": 2,
        "threads": 2,
        "schedule": "cosine",
        "peak_learning_rate": 0.01,
        "warmup_updates": 10,
        "max_updates": 60,
        "validate_every": 20,
        "checkpoint_every": 20,
        "report_every": 10,
        "average_last": 1,
    }


@pytest.fixture(name="run", scope="module")
def trained_run(options, tmp_path_factory):
    output = tmp_path_factory.mktemp("run") / "run"
    tiny_run.trained(options, output)
    return output


def attend(*arguments, text=""):
    command = [str(argument) for argument in [tiny_run.ATTEND, *arguments]]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_learns_that_words_come_twice(run):
    validations = [line["validation"] for line in tiny_run.metrics(run) if "validation" in line]
    assert len(validations) == 3
    # A word drawn from 14 has ln 14 nats; half of the tokens follow from the one before.
    assert validations[-1]["loss"] < validations[0]["loss"] < math.log(60)
    assert validations[-1]["loss"] < 2.2
    assert validations[-1]["perplexity"] == pytest.approx(math.exp(validations[-1]["loss"]))
    # The ends of documents are tokens, but neither words nor characters.
    assert validations[-1]["word_perplexity"] > validations[-1]["perplexity"]


def test_the_test_text_is_scored_by_the_exported_model(options, run):
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert result["perplexity"] == pytest.approx(math.exp(result["loss"]))
    validations = [line["validation"] for line in tiny_run.metrics(run) if "validation" in line]
    assert result["loss"] == pytest.approx(validations[-1]["loss"], abs=0.3)


def test_score_gives_the_figures_of_the_test(options, run):
    """The test's window is a context, its stride half of one."""
    scored = json.loads(attend("score", "--input", options["test_text"], "--model", run / "model", "--documents", "blank_line",
                               "--window", options["context_tokens"], "--json"))
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert len(scored["texts"]) == 8
    for name in ("perplexity", "word_perplexity", "bits_per_character"):
        assert scored[name] == pytest.approx(result[name], rel=1e-9)
    text = options["test_text"].read_text(encoding="utf-8")
    whole = json.loads(attend("score", "--input", "-", "--model", run / "model", "--documents", "file", "--json", text=text))
    # Seven ends fewer, and seven more newlines: those of blank lines.
    assert [text["tokens"] for text in whole["texts"]] == [scored["tokens"]]


def test_the_model_proves_itself_and_generates(run):
    attend("verify", run / "model")
    out = attend("generate", "the the cat", "--model", run / "model", "--temperature", 0, "--max-tokens", 4)
    assert out.split()[0] == "cat"  # each word comes twice
    assert "<newline>" not in attend("generate", "", "--model", run / "model", "--n", 4, "--max-tokens", 40)
    one = attend("generate", "", "--model", run / "model", "--max-tokens", 40, "--min-tokens", 40)
    assert one.count("\n") > 2
    lines = attend("generate", "--model", run / "model", "--max-tokens", 40, "--min-tokens", 40, text="\n\n").splitlines()
    assert lines == [one[:-1].replace("\n", "\\n")] * 2  # a line of input, a line of output


def test_a_killed_run_ends_in_the_same_bits(options, run, tmp_path):
    tiny_run.trained_though_killed(options, tmp_path / "run", updates=9)
    tiny_run.assert_same(tmp_path / "run", run)


def test_so_does_one_of_streamed_text(options, tmp_path):
    options = tiny_run.streamed_documents(options, tmp_path)
    tiny_run.trained(options, tmp_path / "unbroken")
    tiny_run.trained_though_killed(options, tmp_path / "killed", updates=9)
    tiny_run.assert_same(tmp_path / "killed", tmp_path / "unbroken")


def losses(output):
    return [line["loss"] for line in tiny_run.metrics(output) if "loss" in line]


def test_the_plan_of_streamed_text_counts_its_lines(options, tmp_path):
    options = tiny_run.streamed_documents(options, tmp_path) | {"dry_run": [], "json": [], "quiet": None}
    lines = json.loads(tiny_run.trained(options, tmp_path / "dry").stdout)["train_lines"]
    assert lines["lines"] == lines["kept"] + lines["between_documents"] > 0
    assert lines["empty"]["count"] == 0


def test_text_that_is_mostly_unknown_is_refused(options, tmp_path):
    (tmp_path / "strange.txt").write_text("zzz the yyy xxx www\n" * 9, encoding="utf-8")
    done = tiny_run.train(options | {"valid_text": tmp_path / "strange.txt"}, tmp_path / "run")
    tiny_run.refused(done, 3, "% of the tokens of the validation text", "strange.txt", "unknown to the vocabulary")


def test_two_processes_train_as_one(options, tmp_path):
    few = options | {"max_updates": 20, "threads": 1, "accumulate": 3}
    tiny_run.trained(few, tmp_path / "one")
    data_parallel_test.trained(few, tmp_path / "two")
    data_parallel_test.assert_close(tmp_path / "two", tmp_path / "one")
    assert data_parallel_test.values(tmp_path / "two", "perplexity") == pytest.approx(
        data_parallel_test.values(tmp_path / "one", "perplexity"), rel=1e-4)


def test_bf16_learns_as_f32(options, run, tmp_path):
    tiny_run.trained(options | {"precision": "bf16"}, tmp_path / "run")
    exact, rounded = losses(run), losses(tmp_path / "run")
    assert rounded != exact
    assert rounded[:10] == pytest.approx(exact[:10], rel=0.01)
    assert sum(rounded[-10:]) == pytest.approx(sum(exact[-10:]), rel=0.05)


def test_int8_loses_little(run, tmp_path, options):
    attend("quantize", run / "model", "--output", tmp_path / "int8")
    attend("verify", tmp_path / "int8")

    def mean_loss(model):
        scores = [float(line) for line in attend("score", "--input", options["test_text"], "--model", model).splitlines()]
        return -sum(scores) / len(scores)

    assert mean_loss(tmp_path / "int8") == pytest.approx(mean_loss(run / "model"), rel=0.01)


def test_documents_have_contexts_of_their_own(options, tmp_path):
    tiny_run.trained(options | {"across_documents=false": [], "documents": "file", "max_updates": 20}, tmp_path / "run")
    plan = json.loads(tiny_run.trained(options | {"dry_run": [], "json": [], "quiet": None}, tmp_path / "dry").stdout)
    assert "60 documents" in plan["train"]


def test_the_recipe_of_the_demo_runs_on_its_tales(tmp_path):
    root = pathlib.Path(__file__).resolve().parents[2]
    subprocess.run([root / "tools/demo_tales.py", tmp_path], check=True)
    text = (tmp_path / "train.txt").read_bytes()
    assert hashlib.sha256(text).hexdigest() == "abd567bb437e50be33bdac227067b192d752d02c38e955b0b5b03e28e589294b"
    small = {"config": root / "recipes/language_model/tales.toml", "data_dir": tmp_path, "max_updates": 2, "validate_every": 1}
    tiny_run.trained(small, tmp_path / "run")
    assert len(attend("generate", "", "--model", tmp_path / "run/model", "--max-tokens", 9, "--min-tokens", 9)) > 3


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"train_text": None}, ["--train-text is missing"]),
        ({"vocab_size": None}, ["no vocabulary", "vocab_size"]),
        ({"encoder.layers": 2}, ["encoder.layers"]),
        ({"train_source": "x"}, ["train-source"]),
        ({"decoder.positions": "learned", "decoder.max_positions": 10}, ["context_tokens is 24", "max_positions"]),
        ({"early_stopping_metric": "bleu"}, ["early_stopping_metric", "perplexity"]),
        ({"r_drop": 1}, ["r_drop is for translation"]),
    ],
)
def test_options_that_cannot_be_are_refused(options, tmp_path, change, parts):
    tiny_run.refused(tiny_run.train(options | change, tmp_path / "run"), 2, *parts)


def test_another_vocabulary_is_refused_where_a_run_goes_on(options, tmp_path):
    """The run went on with the one that it had, and config.toml named the other."""
    for name, size in (("first", 30), ("other", 15)):
        attend("vocab", "--input", options["train_text"], "--size", size, "--type", "word", "--quiet", "--output", tmp_path / f"{name}.spm")
    given = options | {"vocab_type": None, "vocab_size": None, "vocab": tmp_path / "first.spm", "max_updates": 2, "validate_every": 2, "checkpoint_every": 2}
    tiny_run.trained(given, tmp_path / "run")
    other = given | {"vocab": tmp_path / "other.spm", "max_updates": 4}
    tiny_run.refused(tiny_run.train(other, tmp_path / "run"), 2, "can't go on from", "vocabulary holds other text")
    assert "first.spm" in (tmp_path / "run/config.toml").read_text(encoding="utf-8")
    tiny_run.trained(other | {"vocab": given["vocab"]}, tmp_path / "run")


def test_a_translator_refuses_the_model_and_names_the_command(run):
    done = subprocess.run([tiny_run.ATTEND, "translate", "--model", run / "model"], input="x\n", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "attend generate" in done.stderr
