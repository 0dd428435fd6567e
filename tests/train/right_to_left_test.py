"""Training from right to left beside a usual training on targets whose words stand in the opposite order: of whole words, both are the same."""

import json
import subprocess

import pytest
import tiny_run


def turned(text):
    return "".join(" ".join(reversed(line.split())) + "\n" for line in text.splitlines())


@pytest.fixture(name="runs", scope="module")
def train_both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("right_to_left")
    options = tiny_run.prepare(folder, vocab_type="word", vocab_size=24)
    backwards = {}
    for side in ("train_target", "valid_target"):
        backwards[side] = folder / f"{side}.turned"
        backwards[side].write_text(turned(options[side].read_text(encoding="utf-8")), encoding="utf-8")
    tiny_run.trained(options | {"right_to_left": []}, folder / "right_to_left")
    tiny_run.trained(options | backwards, folder / "usual")
    return options, folder / "right_to_left", folder / "usual"


def told(*arguments, stdin=None):
    done = subprocess.run(
        [tiny_run.ATTEND, *map(str, arguments)], input=stdin, text=True, capture_output=True, check=True, env=tiny_run.environment())
    return done.stdout


def test_the_weights_are_those_of_turned_text(runs):
    _, right_to_left, usual = runs
    assert (right_to_left / "model/model.safetensors").read_bytes() == (usual / "model/model.safetensors").read_bytes()


def test_the_directory_says_so_and_outputs_are_turned_back(runs):
    options, right_to_left, usual = runs
    orders = [
        json.loads((run / "model/config.json").read_text(encoding="utf-8"))["tokenization"].get("target_order") for run in (right_to_left, usual)]
    assert orders == ["right_to_left", None]
    text = options["valid_source"].read_text(encoding="utf-8")
    outputs = [told("translate", "--model", run / "model", stdin=text) for run in (right_to_left, usual)]
    assert outputs[0] == turned(outputs[1])
    scores = [
        told("score", "--model", run / "model", "--source", options["valid_source"], "--target", target)
        for run, target in ((right_to_left, options["valid_target"]), (usual, options["valid_target"].with_name("valid_target.turned")))]
    assert scores[0] == scores[1]
    told("verify", right_to_left / "model")  # ends with status 0
    samples = json.loads((right_to_left / "model/samples.json").read_text(encoding="utf-8"))
    others = json.loads((usual / "model/samples.json").read_text(encoding="utf-8"))
    assert [turned(sample["target"] + "\n") for sample in samples] == [sample["target"] + "\n" for sample in others]


def test_validation_scores_texts_in_their_order(runs):
    """BLEU counts the same words in a row either way."""
    _, *both = runs
    found = [
        [{name: value for name, value in entry["validation"].items() if name != "chrf"} for entry in tiny_run.metrics(run) if "validation" in entry]
        for run in both]
    assert found[0] == found[1] and "bleu" in found[0][-1]


def test_it_goes_with_no_guided_alignment(runs, tmp_path):
    options, *_ = runs
    links = tiny_run.guided(options, tmp_path)
    command = [tiny_run.ATTEND, "train", "--right-to-left", "--output", tmp_path / "run"]
    for name, value in (options | links).items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=tiny_run.environment())
    assert done.returncode == 2 and "right_to_left and guided_alignment_weight exclude each other" in done.stderr


def test_fine_tuning_keeps_the_order_and_its_limits(runs, tmp_path):
    options, right_to_left, _ = runs
    given = ("vocab", "encoder.layers", "encoder.d_model", "encoder.heads", "encoder.d_ff", "decoder.layers", "decoder.d_model", "decoder.heads", "decoder.d_ff")
    tuned = {name: value for name, value in options.items() if name not in given} | {"init": right_to_left / "model"}
    tiny_run.trained(tuned, tmp_path / "run")
    config = json.loads((tmp_path / "run/model/config.json").read_text(encoding="utf-8"))
    assert config["tokenization"]["target_order"] == "right_to_left"
    done = tiny_run.train(tuned | tiny_run.guided(options, tmp_path), tmp_path / "guided")
    tiny_run.refused(done, 2, "right_to_left and guided_alignment_weight exclude each other")
