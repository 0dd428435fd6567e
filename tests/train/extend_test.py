"""attend extend, and attend train --init, which teaches the new tokens: a language and a word, one token each."""

import json
import random
import subprocess

import pytest
import tiny_run
from tiny_run import ATTEND

NEW = [">>en<<", "quokka"]


def attend(*arguments, text=""):
    done = subprocess.run([ATTEND, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def extended(model, output):
    attend("extend", model, "--token", *NEW, "--output", output)
    assert json.loads(attend("verify", output, "--json"))["good"] is True
    return output


def learning(options, updates):
    return {name: value for name, value in options.items() if not name.startswith(("valid", "ema", "vocab"))} | {
        "dropout": 0, "batch_tokens": 600, "peak_learning_rate": 0.004, "warmup_updates": 40, "max_updates": updates,
        "checkpoint_every": 1000, "accumulate": 1, "label_smoothing": 0, "average_last": 1, "schedule": "inverse_sqrt"}


def without_shape(options):
    return {name: value for name, value in options.items() if not name.startswith(("encoder.", "decoder.", "preset"))}


WORDS = {"one": "eins", "two": "zwei", "five": "fünf", "six": "sechs", "nine": "neun", "quokka": "quokka"}


def write_more(folder):
    """Some lines stay English, which >>en<< tells, and others have the new word."""
    numbers = random.Random(3)
    source, target = [], []
    for line in range(400):
        words = [numbers.choice([*WORDS]) for _ in range(numbers.randint(1, 5))]
        stays = line % 2 == 0
        source.append(" ".join([">>en<<"] * stays + words))
        target.append(" ".join(words if stays else [WORDS[word] for word in words]))
    (folder / "more.en").write_text("\n".join(source) + "\n", encoding="utf-8")
    (folder / "more.de").write_text("\n".join(target) + "\n", encoding="utf-8")
    return {"train_source": folder / "more.en", "train_target": folder / "more.de"}


def test_a_language_and_a_word_are_learned(tmp_path):
    options = learning(tiny_run.prepare(tmp_path), 150) | {"vocab": tmp_path / "vocab.spm"}
    for side in ("encoder", "decoder"):
        options |= {f"{side}.d_model": 48, f"{side}.d_ff": 96}
    tiny_run.trained(options, tmp_path / "first")
    model = extended(tmp_path / "first/model", tmp_path / "model")
    text = ">>en<< two quokka five\ntwo quokka five\n>>en<< nine\nnine six\n"
    plain = "".join(line for line in text.splitlines(keepends=True) if not any(token in line for token in NEW))
    before = attend("translate", "--model", tmp_path / "first/model", text=plain)
    assert attend("translate", "--model", model, text=plain) == before == "neun sechs\n"
    more = without_shape(options) | write_more(tmp_path) | {"init": model, "vocab": None, "max_updates": 250}
    tiny_run.trained(more, tmp_path / "second")
    told = attend("translate", "--model", tmp_path / "second/model", text=text)
    assert told.splitlines() == ["two quokka five", "zwei quokka fünf", "nine", "neun sechs"]
    config = json.loads((tmp_path / "second/model/config.json").read_text(encoding="utf-8"))["model"]
    assert config["source_vocab_size"] == 60 + 2
    assert (tmp_path / "second/model/vocab.spm").read_bytes() == (model / "vocab.spm").read_bytes()


@pytest.mark.parametrize("task", ["language_model", "masked_language_model"])
def test_words_of_documents_are_learned(task, tmp_path):
    numbers = random.Random(4)
    lines = [" ".join(numbers.choice(["one two", "three four", "five six"]) for _ in range(3)) for _ in range(200)]
    (tmp_path / "text").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    stack = "encoder" if task == "masked_language_model" else "decoder"
    shape = {f"{stack}.layers": 1, f"{stack}.d_model": 32, f"{stack}.heads": 2, f"{stack}.d_ff": 64, f"{stack}.max_positions": 32}
    options = {
        "task": task, "preset": "bert-tiny" if stack == "encoder" else "gpt-char", "train_text": tmp_path / "text", "vocab_size": 40,
        "vocab_type": "bpe", "dropout": 0, "batch_tokens": 512, "context_tokens": 16, "schedule": "constant", "peak_learning_rate": 0.004,
        "warmup_updates": 20, "max_updates": 150, "checkpoint_every": 1000, "label_smoothing": 0, "average_last": 1, "threads": 2} | shape
    tiny_run.trained(options, tmp_path / "first")
    model = extended(tmp_path / "first/model", tmp_path / "model")
    (tmp_path / "text").write_text("\n\n".join(line.replace("three", "quokka") for line in lines) + "\n", encoding="utf-8")
    more = without_shape(options) | {"init": model, "vocab_size": None, "vocab_type": None}
    tiny_run.trained(more, tmp_path / "second")
    if stack == "decoder":
        assert attend("generate", "one two quokka", "--model", tmp_path / "second/model", "--temperature", 0, "--max-tokens", 2).split()[0] == "four"
    else:
        told = json.loads(attend("fill", "one two quokka [MASK] five six", "--model", tmp_path / "second/model", "--json"))
        assert told["filled"] == "one two quokka four five six"
