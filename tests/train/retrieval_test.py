"""Vectors of texts and pictures that a fusion is trained to have: recall as NumPy counts it, and the same numbers by every program."""

import json
import subprocess

import numpy
import pytest
import tiny_run

CONTRASTIVE = {"fusion.shared_width": 6, "contrastive_weight": 0.5}


def attend(*arguments):
    return subprocess.run([tiny_run.ATTEND, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.fixture(name="run", scope="module")
def trained_run(options, tmp_path_factory):
    folder = tmp_path_factory.mktemp("retrieval")
    of_items = tiny_run.of_items(options, folder) | CONTRASTIVE | {"test_items": tiny_run.write_items(folder, "test", 40, 3), "max_updates": 40}
    tiny_run.trained(of_items | {"validate_every": 20, "checkpoint_every": 20}, folder / "run")
    return folder / "run"


def vectors(run, of):
    """Of the test items with both a text and a picture."""
    items = [json.loads(line) for line in (run.parent / "test.jsonl").read_text(encoding="utf-8").splitlines()]
    both = [json.dumps(item) for item in items if item.get("text") is not None and item.get("picture") is not None]
    assert 20 < len(both) < len(items)
    (run.parent / "both.jsonl").write_text("\n".join(both) + "\n", encoding="utf-8")
    attend("embed", "--model", run / "model", run.parent / "both.jsonl", "--of", of, "--output", run.parent / "vectors.npy", "--quiet")
    return numpy.load(run.parent / "vectors.npy").astype(numpy.float64)


def recall(queries, keys, most):
    order = numpy.argsort(-(queries @ keys.T), axis=1, kind="stable")
    return 100 * numpy.mean([number in row[:most] for number, row in enumerate(order)])


def test_the_test_tells_recall_among_items_with_both(run):
    texts, pictures = vectors(run, "text"), vectors(run, "picture")
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert result["retrieval_items"] == len(texts)
    for most in (1, 10):
        assert result[f"text_to_picture_recall_{most}"] == pytest.approx(recall(texts, pictures, most))
        assert result[f"picture_to_text_recall_{most}"] == pytest.approx(recall(pictures, texts, most))
    assert 0 < result["text_to_picture_recall_10"] < 100
    assert '"text_to_picture_recall_10"' in (run / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("type", ["f32", "int8"])
def test_a_model_proves_its_vectors(run, type, tmp_path):
    model = run / "model"
    if type == "int8":
        attend("quantize", model, "--output", tmp_path / "int8", "--quiet")
        model = tmp_path / "int8"
    told = json.loads(attend("verify", model, "--json"))
    assert told["good"]
    for each in told["instruction_sets"].values():
        assert each["largest_vector_difference"] < 1e-5
    samples = json.loads((model / "samples.json").read_text(encoding="utf-8"))
    assert {len(sample["text_vector"]) for sample in samples} == {len(sample["picture_vector"]) for sample in samples} == {0, 6}
    # Another number in a sample is found out.
    changed = tmp_path / "changed"
    subprocess.run(["cp", "-r", model, changed], check=True)
    next(sample for sample in samples if sample["text_vector"])["text_vector"][2] += 0.01
    (changed / "samples.json").write_text(json.dumps(samples), encoding="utf-8")
    config = json.loads((changed / "config.json").read_text(encoding="utf-8"))
    digest = subprocess.run(["sha256sum", changed / "samples.json"], capture_output=True, text=True, check=True).stdout.split()[0]
    config["sha256"]["samples.json"] = digest
    (changed / "config.json").write_text(json.dumps(config), encoding="utf-8")
    done = subprocess.run([tiny_run.ATTEND, "verify", changed], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "vectors of texts and pictures, largest difference 0.01 (expected at most" in done.stdout


@pytest.mark.parametrize("name", CONTRASTIVE)
def test_one_option_without_the_other_is_refused(name, options, tmp_path):
    half = {option: value for option, value in CONTRASTIVE.items() if option == name}
    done = tiny_run.train(tiny_run.of_items(options, tmp_path) | half, tmp_path / "run")
    assert done.returncode == 2 and "expected both above 0, or neither" in done.stderr, done.stderr


def test_items_of_which_none_has_a_text_are_learned(options, tmp_path):
    of_items = tiny_run.of_items(options, tmp_path)
    for name in ("train_items", "valid_items"):
        items = [json.loads(line) for line in of_items[name].read_text(encoding="utf-8").splitlines()]
        rest = [{key: value for key, value in item.items() if key != "text"} for item in items]
        of_items[name].write_text("".join(json.dumps(item) + "\n" for item in rest if item.keys() & {"picture", "links"}), encoding="utf-8")
    done = tiny_run.trained(of_items, tmp_path / "run")
    assert "no training item has a text: the model will not learn to read texts" in done.stderr
    assert "within 0.0001" in attend("verify", tmp_path / "run/model")
    answers = attend("classify", "--model", tmp_path / "run/model", of_items["valid_items"], "--json").splitlines()
    assert "text" not in json.loads(answers[0])["contributions"] and json.loads(answers[0])["classes"]
