"""Training of parsers, from bracketed trees to `attend parse`: they learn a small grammar, resume to the bit, start from an encoder
alone, prove themselves and say what is wrong with their trees."""

import json
import random
import subprocess

import pytest
import tiny_run

NOUNS, VERBS, PLACES = "cat dog man bird".split(), "sees likes hears".split(), "in near under".split()
OPTIONS = {
    "task": "parsing", "preset": "tiny", "vocab_type": "word", "vocab_size": 60, "dropout": 0.1, "batch_tokens": 512, "threads": 2,
    "schedule": "cosine", "peak_learning_rate": 0.005, "warmup_updates": 20, "max_updates": 160, "validate_every": 80,
    "checkpoint_every": 80, "report_every": 20, "beam_size": 4,
}
STACKS = {f"{side}.{name}": value for side in ("encoder", "decoder") for name, value in (("layers", 2), ("d_model", 32), ("heads", 4), ("d_ff", 64))}


def noun_phrase(numbers, depth):
    plain = f"(NP-SBJ (DT the) (NN {numbers.choice(NOUNS)}))"
    if depth == 0 or numbers.random() < 0.5:
        return plain
    return f"(NP {plain} (PP-LOC=2 (IN {numbers.choice(PLACES)}) {noun_phrase(numbers, depth - 1)}))"


def sentence(numbers):
    verb = f"(VP (VBZ {numbers.choice(VERBS)}) {noun_phrase(numbers, 1)} (NP (-NONE- *T*-1)))"
    return f"( (S {noun_phrase(numbers, 2)} {verb}\n (. .)) )"



@pytest.fixture(name="treebank", scope="module")
def write_treebank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("treebank")
    files = {}
    for seed, (part, count) in enumerate((("train", 300), ("valid", 40), ("test", 40))):
        numbers = random.Random(seed)
        files[f"{part}_trees"] = folder / f"{part}.trees"
        files[f"{part}_trees"].write_text("\n".join(sentence(numbers) for _ in range(count)) + "\n", encoding="utf-8")
    return files


@pytest.fixture(name="run", scope="module")
def trained_parser(treebank, tmp_path_factory):
    output = tmp_path_factory.mktemp("parser") / "run"
    tiny_run.trained(OPTIONS | STACKS | treebank, output)
    return output


def attend(*arguments, text=None):
    done = subprocess.run([tiny_run.ATTEND, *map(str, arguments)], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_parser_learns_and_scores_itself_as_evaluate_does(run):
    test = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert test["f1"] > 90 and test["tagging_accuracy"] > 98 and test["errors"] == 0
    scores = json.loads(attend("evaluate", "--metrics", "brackets", "--hypothesis", run / "test_output.txt", "--reference", run / "test_reference.txt", "--json"))
    assert scores["brackets"]["f1"] == pytest.approx(test["f1"], abs=0.005)
    last = [row for row in tiny_run.metrics(run) if "f1" in row.get("validation", {})][-1]["validation"]
    assert last["errors"] == 0 and last["f1"] > 90


def test_a_model_proves_itself_in_f32_and_int8(run, tmp_path):
    assert "8 samples" in attend("verify", run / "model")
    attend("quantize", run / "model", "--output", tmp_path / "int8", "--quiet")
    assert "8 samples" in attend("verify", tmp_path / "int8")
    sample = json.loads((run / "model" / "samples.json").read_text(encoding="utf-8"))[0]
    assert len(sample["next_words"]) == len(sample["target_ids"]) and sample["target"].startswith("(S ")
    tree = attend("parse", "--model", tmp_path / "int8", text=sample["source"] + "\n").strip()
    assert tree.count("(") == tree.count(")") and tree.startswith("(S ")


def test_tags_may_be_of_punctuation_alone(treebank, tmp_path):
    tiny_run.trained(OPTIONS | STACKS | treebank | {"tree_tags": "punctuation", "next_word=false": [], "max_updates": 80}, tmp_path / "run")
    # All words but punctuation have one tag, which says nothing.
    assert "tagging_accuracy" not in json.loads((tmp_path / "run/result.json").read_text(encoding="utf-8"))
    validations = [row["validation"] for row in tiny_run.metrics(tmp_path / "run") if "validation" in row]
    assert validations and not any("tagging_accuracy" in each for each in validations)
    config = json.loads((tmp_path / "run/model/config.json").read_text(encoding="utf-8"))
    assert config["model"]["tags"] == [".", "XX"] and not config["model"]["next_word_input"]
    assert config["model"]["constituents"] == ["NP", "PP", "S", "VP"] and config["tokenization"]["punctuation"] == ["."] and config["tokenization"]["maybe_punctuation"] == []
    assert "8 samples" in attend("verify", tmp_path / "run/model")
    tree = attend("parse", "--model", tmp_path / "run/model", text="the cat sees .\n")
    assert "(. .)" in tree and tree.count("(XX ") == 3


def test_a_parser_starts_from_an_encoder_alone_and_from_a_parser(treebank, run, tmp_path):
    text = tmp_path / "text"
    text.write_text("".join("the cat near the dog sees the bird .\n\nthe man likes the cat .\n\n" for _ in range(60)), encoding="utf-8")
    encoder = {name: value for name, value in STACKS.items() if name.startswith("encoder.")}
    shared = {name: value for name, value in OPTIONS.items() if name not in ("task", "beam_size")}
    masked = shared | encoder | {"task": "masked_language_model", "train_text": text, "context_tokens": 16, "max_updates": 20, "validate_every": 20}
    tiny_run.trained(masked, tmp_path / "masked")
    given = {name: value for name, value in OPTIONS.items() if not name.startswith(("vocab", "preset"))} | treebank | {"max_updates": 20, "validate_every": 20}
    decoder = {name: value for name, value in STACKS.items() if name.startswith("decoder.")}
    tiny_run.trained(given | decoder | {"init": tmp_path / "masked/model"}, tmp_path / "from_encoder")
    assert "8 samples" in attend("verify", tmp_path / "from_encoder/model")
    tiny_run.trained(given | {"init": run / "model"}, tmp_path / "from_parser")
    first = [row for row in tiny_run.metrics(tmp_path / "from_parser") if "validation" in row][0]["validation"]
    assert first["f1"] > 85  # it knew already
    tiny_run.refused(tiny_run.train(given | {"init": run / "model", "next_word=false": []}, tmp_path / "other"), 2, "next_word is not as in the model")


def test_files_have_weights(treebank, tmp_path):
    """Trees of another grammar that weigh little are learned little."""
    wrong = tmp_path / "wrong.trees"
    wrong.write_text(treebank["train_trees"].read_text(encoding="utf-8").replace("(PP", "(XP"), encoding="utf-8")
    found = {}
    for weight in ("0.02", "8"):
        output = tmp_path / weight
        tiny_run.trained(OPTIONS | STACKS | treebank | {"train_trees": [treebank["train_trees"], wrong], "train_weights": ["1", weight]}, output)
        found[weight] = json.loads((output / "result.json").read_text(encoding="utf-8"))["f1"]
    assert found["0.02"] > 90 and found["8"] < 85
    state = json.loads(next((tmp_path / "8/checkpoints").glob("update-*/state.json")).read_text(encoding="utf-8"))
    assert state["run"]["options"]["train_weights"] == [1, 8]


@pytest.mark.parametrize(("text", "part"), [
    ("(S (NN cat)\n", "the file ends inside the tree that begins in line 1"),
    ("(S (NN cat))\n(S (NN the cat))\n", ":2: 'cat' follows another word"),
    ("the cat sees .\n", ":1: 'the' stands outside of all brackets"),
    ("(S (-NONE- *))\n", "holds no tree with a word"),
])
def test_what_is_no_treebank_is_refused(treebank, tmp_path, text, part):
    wrong = tmp_path / "wrong.trees"
    wrong.write_text(text, encoding="utf-8")
    tiny_run.refused(tiny_run.train(OPTIONS | STACKS | treebank | {"train_trees": wrong}, tmp_path / "run"), 3, part)


@pytest.mark.parametrize(("options", "part"), [
    ({"tie_source_target": []}, "tie_source_target is on, but a parser writes symbols"), ({"tree_tags": "some"}, "tree"),
    ({"encoder.d_model": 48}, "decoder.d_model is 32, expected encoder.d_model (48)"), ({"languages": ["en", "de"]}, "languages holds 2"),
    ({"tree_tags": "punctuation", "early_stopping_metric": "tagging_accuracy"}, "tree_tags is punctuation"),
    ({"train_weights": ["1", "2"]}, "train_weights holds 2 numbers for 1 files of train_trees")])
def test_wrong_options_are_refused(treebank, tmp_path, options, part):
    tiny_run.refused(tiny_run.train(OPTIONS | STACKS | treebank | options, tmp_path / "run"), 2, part)
