"""attend extend, on the models of the other commands' tests."""

import json
import pathlib
import shutil
import sys

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
