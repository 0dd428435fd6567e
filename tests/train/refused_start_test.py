"""What `attend train` refuses to start with, before it has cost time or left anything behind."""

import json
import pathlib
import subprocess

import pytest
import tiny_run

BAD_RECIPES = [
    ('dropout = "much"', ":1: dropout", "a number"),
    ("max_updates = 1.5", ":1: max_updates", "an integer"),
    ("\n\ndropuot = 0.1", ":3: unknown option 'dropuot'", "did you mean 'dropout'"),
    ("[encoder]\nlayer = 2", ":2: unknown option 'encoder.layer'", "encoder.layers"),
    ("dropout = 1.5", "dropout", "0 to 0.999"),
    ('train_source = [1, 2]', ":1: train_source is a list with 1, expected a list of texts"),
    ('train_weights = [1, "much"]', ":1: train_weights", "a list of numbers"),
    ("train_weights = [1, 0]", ":1: train_weights is a list with 0, expected a list of numbers, 1e-06 to 1000"),
    ('preset = "tinny"\ntrain_source = ["x"]\ntrain_target = ["y"]', "unknown preset 'tinny'", "did you mean 'tiny'"),
    ('task = "translat"', ":1: task is 'translat'", "expected one of translation"),
    ("dropout = ", ":1", "not valid TOML"),
    ("train_source = []", "train_source and train_target are needed, or objective = denoising with train_text"),
]


@pytest.mark.parametrize("recipe", BAD_RECIPES, ids=[recipe[0].strip() for recipe in BAD_RECIPES])
def test_wrong_recipes_are_refused(recipe, tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(recipe[0] + "\n", encoding="utf-8")
    done = subprocess.run(
        [tiny_run.ATTEND, "train", "--config", path, "--output", tmp_path / "out"], capture_output=True, text=True, check=False
    )
    tiny_run.refused(done, 2, *recipe[1:])
    assert not (tmp_path / "out").exists()


def test_what_is_said_of_a_given_vocabulary_must_be_true(options, tmp_path):
    output = tmp_path / "out"
    tiny_run.refused(tiny_run.train(options | {"vocab_size": 70}, output), 2, "vocab_size is 70", "has 60 tokens", "leave vocab_size out")
    tiny_run.refused(tiny_run.train(options | {"vocab_type": "unigram"}, output), 2, "vocab_type is unigram", "is of type bpe")
    tiny_run.trained(options | {"vocab_size": 60, "vocab_type": "bpe", "max_updates": 2}, output)
    saved = (output / "config.toml").read_text(encoding="utf-8")
    assert "vocab = " in saved and "vocab_size" not in saved and "vocab_type" not in saved
    goes_on = {"config": output / "config.toml", "threads": 2, "max_updates": 4}
    assert "going on with another option: max_updates was 2, now 4" in tiny_run.trained(goes_on, output).stderr


def test_a_given_vocabulary_decides_about_case(options, tmp_path):
    said = {value: tmp_path / f"{value}.toml" for value in ("keep", "lower", "factor")}
    for value, recipe in said.items():
        recipe.write_text(f'case = "{value}"\n', encoding="utf-8")
    contradicted = tiny_run.train(options | {"config": said["lower"]}, tmp_path / "out")
    tiny_run.refused(contradicted, 2, "case is lower", "has keep", "attend vocab --case lower")
    noise = tiny_run.train(options | {"case_noise": 0.1}, tmp_path / "out")
    tiny_run.refused(noise, 2, "case_noise is 0.1, but case is keep", "factor")
    text = {"vocab": tmp_path / "lower.spm", "test_source": tmp_path / "upper.en", "test_target": tmp_path / "upper.de"}
    command = [tiny_run.ATTEND, "vocab", "--input", options["train_source"], options["train_target"], "--size", "60", "--type", "bpe"]
    subprocess.run([*command, "--case", "lower", "--output", text["vocab"]], check=True, capture_output=True)
    for side in ("source", "target"):
        lines = pathlib.Path(options[f"valid_{side}"]).read_text(encoding="utf-8")
        text[f"test_{side}"].write_text(lines.upper(), encoding="utf-8")
    lower = options | text | {"max_updates": 2}
    tiny_run.refused(tiny_run.train(lower | {"config": said["keep"]}, tmp_path / "out"), 2, "case is keep", "has lower")
    tiny_run.trained(lower, tmp_path / "out")
    assert "case:lc" in json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))["bleu"]["signature"]
    assert json.loads((tmp_path / "out" / "model" / "config.json").read_text(encoding="utf-8"))["tokenization"]["case"] == "lower"
    factor = tmp_path / "factor.spm"
    subprocess.run([*command, "--case", "factor", "--output", factor], check=True, capture_output=True)
    tiny_run.trained(lower | {"vocab": factor}, tmp_path / "marked")
    assert "case:mixed" in json.loads((tmp_path / "marked" / "result.json").read_text(encoding="utf-8"))["bleu"]["signature"]
    assert 'case = "factor"' in (tmp_path / "marked" / "config.toml").read_text(encoding="utf-8")


def test_the_old_name_of_case_is_refused_with_the_new(options, tmp_path):
    recipe = tmp_path / "old.toml"
    recipe.write_text("lowercase = true\n", encoding="utf-8")
    tiny_run.refused(tiny_run.train(options | {"config": recipe}, tmp_path / "out"), 2, "old.toml:1", "lowercase", "`case`")


def test_text_that_does_not_match_is_refused(options, tmp_path):
    short = tmp_path / "short.de"
    short.write_text("eins\n", encoding="utf-8")
    tiny_run.refused(tiny_run.train(options | {"train_target": short}, tmp_path / "out"), 3, "short.de", "train.en", "160")
    tiny_run.refused(tiny_run.train(options | {"test_source": short, "test_target": options["valid_target"]}, tmp_path / "out"), 3, "12")
    tiny_run.refused(tiny_run.train(options | {"vocab": short}, tmp_path / "out"), 3, "short.de")
    tiny_run.refused(tiny_run.train(options | {"init": tmp_path / "none", "vocab": None}, tmp_path / "out"), 3, "none")
    tiny_run.refused(tiny_run.train(options | {"device": "gpu"}, tmp_path / "out"), 2, "expected cpu or cuda")
    blank = tmp_path / "blank"
    blank.write_text("\n\n", encoding="utf-8")
    tiny_run.refused(tiny_run.train(options | {"valid_source": blank, "valid_target": blank}, tmp_path / "out"), 3, "no validation pair", "2 empty")
    assert not (tmp_path / "out").exists()


def test_what_the_model_would_replace_is_checked_before_training(options, tmp_path):
    """It was refused after the last update."""
    notes = tmp_path / "out/model/notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("mine\n", encoding="utf-8")
    tiny_run.refused(tiny_run.train(options | {"max_updates": 2}, tmp_path / "out"), 2, "holds more than a model ('notes.txt')")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["model"] and notes.exists()


def test_what_is_cheap_is_checked_before_a_vocabulary_is_made(options, tmp_path):
    short = tmp_path / "short"
    short.write_text("eins\n", encoding="utf-8")
    slow = options | {"vocab": None, "vocab_size": 1000000}  # more than there is text for
    output = tmp_path / "out"
    tiny_run.refused(tiny_run.train(slow, output), 2, "this text gives at most")
    tiny_run.refused(tiny_run.train(slow | {"valid_source": tmp_path / "none"}, output), 3, "none")
    tiny_run.refused(tiny_run.train(slow | {"train_target": short}, output), 3, "160 lines", "short' has 1")
    tiny_run.refused(tiny_run.train(slow | {"valid_source": short}, output), 3, "short' has 1 lines", "has 12")
    tiny_run.refused(tiny_run.train(slow | {"valid_source": [short, short]}, output), 2, "valid_source names 2 files but valid_target 1")
    tiny_run.refused(tiny_run.train(slow | {"encoder.heads": 3}, output), 2, "encoder.heads is 3")
    learned = {"encoder.positions": "learned", "encoder.max_positions": 9}
    tiny_run.refused(tiny_run.train(slow | learned, output), 2, "max_length is 256")
    assert not output.exists()


def test_sentences_beyond_learned_positions_are_refused_before_training(options, tmp_path):
    learned = options | {"max_length": 200}
    for side in ("encoder", "decoder"):
        learned |= {f"{side}.positions": "learned", f"{side}.max_positions": 201}
    tiny_run.trained(learned | {"max_updates": 2}, tmp_path / "out")
    tiny_run.refused(tiny_run.train(learned | {"max_length": 201}, tmp_path / "out1"), 2, "max_length is 201", "reach 200 tokens")
    tiny_run.refused(tiny_run.train(learned | {"max_length": 0}, tmp_path / "out2"), 2, "max_length is 0", "reach 200 tokens")
    for side in ("encoder", "decoder"):
        learned[f"{side}.max_positions"] = 5
    tiny_run.refused(tiny_run.train(learned | {"max_length": 4}, tmp_path / "out3"), 3, "valid.en:", "reach 4; shorten it")
    long_test = {"test_source": tmp_path / "test.en", "test_target": tmp_path / "test.de"}
    long_test["test_source"].write_text("one\n" + "one " * 200 + "\n", encoding="utf-8")
    long_test["test_target"].write_text("eins\neins\n", encoding="utf-8")
    for side in ("encoder", "decoder"):
        learned[f"{side}.max_positions"] = 60
    done = tiny_run.train(learned | long_test | {"max_length": 59}, tmp_path / "out4")
    tiny_run.refused(done, 3, "line 2 of", "test.en", "reach 59; shorten it")


def test_samples_stay_within_learned_positions(options, tmp_path):
    """Lines that are too long are none, and outputs end where positions do."""
    learned = options | {"max_length": 59, "max_updates": 2}
    for side in ("encoder", "decoder"):
        learned |= {f"{side}.positions": "learned", f"{side}.max_positions": 60}
    for side, word in (("source", "one "), ("target", "eins ")):
        text = tmp_path / side
        text.write_text(word * 200 + "\n" + options[f"train_{side}"].read_text(encoding="utf-8"), encoding="utf-8")
        learned[f"train_{side}"] = text
        del learned[f"valid_{side}"]
    tiny_run.trained(learned, tmp_path / "out")
    samples = json.loads((tmp_path / "out/model/samples.json").read_text(encoding="utf-8"))
    lengths = [len(sample["target_ids"]) for sample in samples]
    assert len(samples) == 8 and max(lengths) == 60
