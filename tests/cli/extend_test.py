"""attend extend, on the models of the other commands' tests."""

import json
import pathlib
import shutil
import struct
import sys
import wave

import pytest
from programs import attend, refused

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "model"))
import random_models  # noqa: E402

GOLDEN = TESTS / "data/golden_v1"
LANGUAGE_MODEL = TESTS / "data/golden_language_model"
TOKENS = ["--token", ">>xx<<", "quokka"]
TEXT = "the small house\na green door\n"


def extended(model, output, *tokens):
    done = attend("extend", model, "--output", output, *(tokens or TOKENS), "--json")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


def told(*arguments, stdin=TEXT):
    done = attend(*arguments, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.fixture(name="encoders", scope="module")
def make_encoders(tmp_path_factory):
    return random_models.write_encoders(tmp_path_factory.mktemp("encoders"))


def samples_of(model):
    return json.loads((model / "samples.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", [GOLDEN, LANGUAGE_MODEL])
def test_logits_of_old_tokens_stay_to_the_bit(model, tmp_path):
    size = json.loads((model / "config.json").read_text(encoding="utf-8"))["model"]["target_vocab_size"]
    assert extended(model, tmp_path / "once") == {"model": str(tmp_path / "once"), "tokens": TOKENS[1:], "first_id": size}
    assert extended(tmp_path / "once", tmp_path / "twice", "--token", "wombat")["first_id"] == size + 2
    once, twice = (samples_of(tmp_path / name) for name in ("once", "twice"))
    assert len(once) == len(samples_of(model)) + 1 and len(twice) == len(once) + 1
    compared = 0
    for before, now in zip(once, twice):
        assert (before["source_ids"], before["target_ids"]) == (now["source_ids"], now["target_ids"])
        for steps in zip(before["top_logits"], now["top_logits"]):
            old, new = (dict(zip(step["ids"], step["logits"])) for step in steps)
            assert all(old[token] == logit for token, logit in new.items() if token in old)
            compared += len(old.keys() & new.keys())
        # The new token takes a share of each step's probability.
        assert all(0 < p - q < 1 for p, q in zip(before["token_log_probabilities"], now["token_log_probabilities"]))
    assert compared > 50
    for name in ("once", "twice"):
        assert json.loads(told("verify", tmp_path / name, "--json"))["good"] is True


def test_texts_without_new_tokens_get_the_same_labels_and_vectors(encoders, tmp_path):
    for task, commands in {
        "masked_language_model": [["embed"]], "tagging": [["tag", "--words"], ["embed"]],
        "classification": [["classify", "--top", "3", "--json"], ["embed", "--pooling", "first"]]}.items():
        extended(encoders[task], tmp_path / task)
        for name, *options in commands:
            assert told(name, *options, "--model", tmp_path / task) == told(name, *options, "--model", encoders[task])


def test_what_fills_a_mask_keeps_its_odds(encoders, tmp_path):
    extended(encoders["masked_language_model"], tmp_path / "more")

    def fills(model):
        filled = json.loads(told("fill", "the [MASK] house", "--model", model, "--top", "99", "--json"))
        return {each["token"]: each["probability"] for each in filled["masks"][0]}

    before, now = fills(encoders["masked_language_model"]), fills(tmp_path / "more")
    assert now.keys() - before.keys() == {">>xx<<", "quokka"}
    ratios = [now[token] / before[token] for token in before]
    assert max(ratios) == pytest.approx(min(ratios), rel=1e-6) and max(ratios) < 1
    assert sum(now.values()) == pytest.approx(sum(before.values()), abs=0.2)


def model_of(path):
    return json.loads((path / "config.json").read_text(encoding="utf-8"))["model"]


def test_a_parser_keeps_its_symbols_and_trees(tmp_path):
    (tmp_path / "parser").mkdir()
    parser = random_models.write_parser(tmp_path / "parser")
    sample = {"source": "myrr noord", "source_ids": [2, 10, 11, 3], "target": "", "target_ids": [4, 9, 3], "next_words": [1, 1, 2], "score": 0,
              "token_log_probabilities": [0, 0, 0], "top_logits": []}
    (parser / "samples.json").write_text(json.dumps([sample]), encoding="utf-8")
    config = json.loads((parser / "config.json").read_text(encoding="utf-8"))
    random_models.write_config(parser, config, list(config["sha256"]))
    before = model_of(parser)
    assert extended(parser, tmp_path / "more")["first_id"] == before["source_vocab_size"]
    now = model_of(tmp_path / "more")
    assert now == before | {"source_vocab_size": before["source_vocab_size"] + 2}
    assert told("parse", "--model", tmp_path / "more") == told("parse", "--model", parser)
    assert told("parse", "--model", tmp_path / "more", stdin="the quokka\n").count("quokka") == 1
    one, = samples_of(tmp_path / "more")
    assert (one["target_ids"], one["next_words"]) == ([4, 9, 3], [1, 1, 2]) and one["score"] < 0
    verified = json.loads(told("verify", tmp_path / "more", "--json"))
    assert (verified["samples"], verified["good"]) == (1, True)


def test_a_classifier_of_items_has_a_sample_of_a_text(tmp_path):
    (tmp_path / "items").mkdir()
    items = random_models.write_item_model(tmp_path / "items")
    assert extended(items, tmp_path / "more")["first_id"] == model_of(items)["source_vocab_size"]
    (tmp_path / "items.jsonl").write_text('{"id": "1", "text": "lumi tavo", "links": ["wood"]}\n{"id": "2", "text": "neri"}\n', encoding="utf-8")
    labels = [told("classify", "--model", model, tmp_path / "items.jsonl", "--json", "--top", "3") for model in (items, tmp_path / "more")]
    assert labels[0] == labels[1] != ""
    sample, = samples_of(tmp_path / "more")
    assert sample["source"] == " ".join(TOKENS[1:])
    assert (sample["nodes"], sample["pixels"], sample["picture_vector"]) == ([], "", []) and len(sample["text_vector"]) == 6
    assert json.loads(told("verify", tmp_path / "more", "--json"))["good"] is True


def test_a_transcriber_gets_tokens_to_write(tmp_path):
    (tmp_path / "model").mkdir()
    model = random_models.write_transcriber(tmp_path / "model")
    size = model_of(model)["target_vocab_size"]
    assert extended(model, tmp_path / "more")["first_id"] == size
    assert model_of(tmp_path / "more") == model_of(model) | {"target_vocab_size": size + 2}
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"".join(struct.pack("<h", 3000 * (i % 40 - 20) // 20) for i in range(4000)))
    assert told("transcribe", "--model", tmp_path / "more", tmp_path / "a.wav", "--max-length", "8") != ""
    assert not (tmp_path / "more/samples.json").exists()


def test_a_file_lists_tokens(tmp_path):
    (tmp_path / "tokens").write_text("quokka\nwombat\n", encoding="utf-8")
    report = extended(GOLDEN, tmp_path / "more", "--tokens", tmp_path / "tokens", "--token", ">>xx<<")
    assert report["tokens"] == [">>xx<<", "quokka", "wombat"]
    said = told("extend", GOLDEN, "--tokens", tmp_path / "tokens", "--output", tmp_path / "other")
    assert said.startswith(f"wrote {tmp_path}/other: 2 new tokens from the id ")
    assert told("extend", GOLDEN, "--tokens", tmp_path / "tokens", "--output", tmp_path / "silent", "--quiet") == ""


def test_what_can_not_be_added_is_told(tmp_path):
    shutil.copytree(GOLDEN, tmp_path / "model")
    before = {path: path.read_bytes() for path in (tmp_path / "model").iterdir()}

    def check(tokens, status, *parts, model=GOLDEN, output=tmp_path / "more"):
        refused(attend("extend", model, "--output", output, *tokens), status, *parts)
        assert not (tmp_path / "more").exists()

    check([], 2, "no new token is given")
    check(["--token", ""], 2, "a new token is empty")
    check(["--token", "a b"], 2, "'a b' has white space")
    check(["--token", "lumi", "quokka", "quokka"], 2, "'quokka' is given twice")
    check(["--token", "</s>"], 2, "'</s>' is in the vocabulary already, with the id 3")
    check(["--tokens", tmp_path / "gone"], 3, "gone")
    check(TOKENS, 2, "the model itself", model=tmp_path / "model", output=tmp_path / "model")
    assert {path: path.read_bytes() for path in (tmp_path / "model").iterdir()} == before
    told("quantize", GOLDEN, "--output", tmp_path / "int8", "--quiet")
    check(TOKENS, 3, "int8 weights", "attend quantize", model=tmp_path / "int8")
