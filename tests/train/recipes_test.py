"""Recipes run on any text of their task, and those of the paper have its settings."""

import pathlib
import re
import subprocess
import tomllib

import pytest
import resume_test
import tiny_run

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "recipes"
RECIPES = {
    str(path.relative_to(FOLDER).with_suffix("")): tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.rglob("*.toml"))
}
# Those that start from an imported model, and the recipe whose model is like it.
IMPORTED = {"tagging/conll2003_minilm": "masked_language_model/conll2003"}
KINDS = {
    "tagging": "columns", "classification": "table", "language_model": "text", "masked_language_model": "text", "parsing": "trees"}


def run_before(name):
    """The recipe whose model the recipe `name` goes on from, where its README puts that; None where it begins anew."""
    return None if name in IMPORTED else "/".join(pathlib.Path(RECIPES[name]["init"]).parts[1:-1]) if "init" in RECIPES[name] else None


def task_of(name):
    return RECIPES[name].get("task", "translation")


def as_columns(line):
    return "".join(f"{word} {'B-ODD' if word in ('one', 'three', 'five', 'seven', 'nine') else 'O'}\n" for word in line.split())


def as_table(line):
    return f"{'long' if line.count(' ') > 2 else 'short'}\t{line}"


def as_tree(line):
    words = [f"({'ODD' if word in ('one', 'three', 'five', 'seven', 'nine') else 'EVEN'} {word})" for word in line.split()]
    return f"( (S (NP-SBJ {words[0]}) (VP {' '.join(words[1:])} (NP (-NONE- *)))) )" if len(words) > 1 else f"(S {words[0]})"


def vocabulary_of(recipe, options):
    """A small one in place of the recipe's."""
    if "vocab" not in recipe:
        return {"vocab_size": 290 if "byte_fallback" in recipe else 60} if "vocab_size" in recipe else {}
    path = options["train_source"].parent / "marks.spm"
    command = [tiny_run.ATTEND, "vocab", "--input", options["train_source"], options["train_target"], "--size", "70", "--type", "bpe", "--sentinels", "8", "--mask"]
    subprocess.run([*command, "--output", path, "--quiet"], check=True, capture_output=True)
    return {"vocab": path}


def text_of(task, options, folder, recipe=None):
    """Options that name text of the task, made of what `options` names, and those of a small model."""
    recipe = recipe or {}
    if task == "translation":
        text = {option: value for option, value in options.items() if option.startswith(("train_", "valid_", "encoder.", "decoder."))}
        if recipe.get("preset") in ("lstm", "convolution"):
            text = resume_test.of_architecture(recipe["preset"], text)
        if recipe.get("objective") == "denoising":
            text = {option: value for option, value in text.items() if not option.startswith(("train_", "valid_"))}
            return text | {"train_text": [options["train_source"], options["train_target"]], "valid_text": options["valid_source"]} | vocabulary_of(recipe, options)
        return text | {"test_source": options["valid_source"], "test_target": options["valid_target"]} | vocabulary_of(recipe, options)
    if recipe.get("preset", "").startswith("vit"):
        return {name: value for name, value in tiny_run.of_pictures(options, folder).items() if name.startswith(("train_", "valid_", "encoder.", "patches."))} | {
            "test_pictures": tiny_run.write_pictures(folder, "test", 20, 3), "label_names": ["row", "column"], "valid_count": 0, "patches.patch": 4}
    if task == "transcription":
        names = ("train_", "valid_", "encoder.", "decoder.", "frames.", "vocab_")
        return {name: value for name, value in tiny_run.of_recordings(options, folder).items() if name.startswith(names)} | {
            "test_recordings": tiny_run.write_recordings(folder, "test", 8, 3)}
    if task == "fusion":
        names = ("train_", "valid_", "encoder.", "fusion.", "vocab_", "graph")
        return {name: value for name, value in tiny_run.of_items(options, folder).items() if name.startswith(names)} | {
            "test_items": tiny_run.write_items(folder, "test", 8, 3)}
    stacks = {"language_model": "decoder.", "parsing": ("encoder.", "decoder.")}.get(task, "encoder.")
    text = {option: value for option, value in options.items() if option.startswith(stacks)} | {"vocab_size": 26}
    change = {"columns": as_columns, "table": as_table, "text": str, "trees": as_tree}[KINDS[task]]
    for part, source in [("train", "train"), ("valid", "valid"), ("test", "valid")]:
        lines = options[f"{source}_source"].read_text(encoding="utf-8").splitlines()
        path = folder / f"{part}.{KINDS[task]}"
        path.write_text("".join(change(line) + "\n" for line in lines), encoding="utf-8")
        text[f"{part}_{KINDS[task]}"] = path
    return text


def run_small(name, options, output):
    """Returns what training said."""
    output.parent.mkdir(exist_ok=True)
    smaller = text_of(task_of(name), options, output.parent, RECIPES[name]) | {"batch_tokens": 96, "max_updates": 2, "validate_every": 1, "threads": 1}
    if first := run_before(name) or IMPORTED.get(name):
        run_small(first, options, output.parent / "first/out")
        smaller["init"] = output.parent / "first/out/model"
    if "guided_alignment_weight" in RECIPES[name]:
        smaller["train_alignments"] = tiny_run.guided(options, output.parent)["train_alignments"]
    return tiny_run.trained(smaller | {"config": FOLDER / f"{name}.toml", "quiet": None}, output).stderr


@pytest.mark.parametrize("name", RECIPES)
def test_recipes_run_on_any_text_of_their_task(name, options, tmp_path):
    figure = {"translation": "BLEU", "language_model": "perplexity", "transcription": "WER"}.get(task_of(name), "accuracy")
    told = run_small(name, options, tmp_path / "out")
    if RECIPES[name].get("objective") == "denoising":
        assert "perplexity" in told  # there is no test
        return
    assert figure.lower() in (tmp_path / "out/result.json").read_text(encoding="utf-8")
    test = [line for line in told.splitlines() if line.startswith("test: ")]
    assert len(test) == 1 and re.search({"masked_language_model": "perplexity of the hidden tokens"}.get(task_of(name), figure) + r" \d+\.\d", test[0]), told


@pytest.mark.parametrize("name", [name for name in RECIPES if run_before(name)])
def test_a_recipe_goes_on_from_a_model_as_its_own(name):
    names = ("preset", "encoder", "decoder", "languages", "case", "vocab_size", "vocab_type")

    def model(recipe):
        return {option: value for option, value in recipe.items() if option in names}

    ours, first = model(RECIPES[name]), model(RECIPES[run_before(name)])
    assert ours == {option: first[option] for option in ours}


# Sections 5 and 6.1, tables 2 and 3: the model, P_drop, updates, and how many checkpoints are averaged; section 5.2: seconds an update.
PAPER = {"wmt14-en-de-base": ("base", 0.1, 100000, 5), "wmt14-en-de-big": ("big", 0.3, 300000, 20), "wmt14-en-fr-big": ("big", 0.1, 300000, 20)}


@pytest.mark.parametrize("name", PAPER)
def test_recipes_of_the_paper_have_its_settings(name):
    recipe = RECIPES[name]
    settings = ("preset", "dropout", "max_updates", "average_last")
    assert tuple(recipe[setting] for setting in settings) == PAPER[name]
    assert (recipe["schedule"], recipe["warmup_updates"], recipe["label_smoothing"]) == ("noam", 4000, 0.1)
    assert (recipe["beam_size"], recipe["length_penalty"], recipe["vocab_size"]) == (4, 0.6, 37000 if "de" in name else 32000)
    every, seconds = recipe["checkpoint_every"], {"base": 0.4, "big": 1.0}[recipe["preset"]]
    assert recipe["max_updates"] % every == 0 and 480 <= every * seconds <= 720  # evenly spaced, every ten minutes or so
    assert 22000 <= recipe["batch_tokens"] * recipe["accumulate"] <= 30000  # about 25,000 are no padding
    # What decides otherwise than the paper is a preset's or nothing.
    of_the_model = ("encoder", "decoder", "adam_beta1", "adam_beta2", "adam_epsilon", "noam_scale", "weight_decay", "clip_norm")
    assert not [setting for setting in of_the_model if setting in recipe]
