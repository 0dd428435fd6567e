"""attend verify as a user meets it."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest
import random_models

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"


def verify(*arguments):
    return subprocess.run([ATTEND, "verify", *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.fixture(name="model")
def copy_model(tmp_path):
    return pathlib.Path(shutil.copytree(DATA / "golden_v1", tmp_path / "model"))


def replace(model, name, content):
    """Writes a file of the model and its digest."""
    (model / name).write_bytes(content)
    config = json.loads((model / "config.json").read_text())
    config["sha256"][name] = hashlib.sha256(content).hexdigest()
    (model / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("name", ["golden_v1", "golden_v1_variant"])
def test_golden_models_pass_on_every_instruction_set(name):
    result = verify(DATA / name)
    assert result.returncode == 0, result
    lines = result.stdout.splitlines()
    assert lines[0].startswith("files: ") and lines[1].startswith("reference ")
    for line in lines[1:]:
        assert "7 samples, largest difference" in line and "within 0.0001" in line
    report = json.loads(verify(DATA / name, "--json").stdout)
    assert report["good"] and report["samples"] == 7
    assert [line.split()[0] for line in lines[1:]] == list(report["instruction_sets"])
    version = subprocess.run([ATTEND, "--version"], capture_output=True, text=True, check=True).stdout
    here = re.search(r"instruction sets: (.*) \(active", version)[1]
    assert list(report["instruction_sets"]) == re.findall(r"\w+", here)
    assert all(0 < each["largest_difference"] < 1e-4 for each in report["instruction_sets"].values())


def test_a_changed_probability_fails(model):
    samples = json.loads((model / "samples.json").read_text())
    samples[2]["token_log_probabilities"][1] += 2e-4
    samples[2]["score"] += 2e-4
    replace(model, "samples.json", json.dumps(samples).encode())
    result = verify(model)
    assert result.returncode == 1, result
    assert result.stdout.count("expected at most 0.0001): sample 2, token 1") == result.stdout.count("7 samples")
    report = verify(model, "--json")
    assert report.returncode == 1 and not json.loads(report.stdout)["good"]


def test_a_changed_weight_fails(model):
    content = bytearray((model / "model.safetensors").read_bytes())
    start = len(content) - 4 * 39488
    weights = np.frombuffer(bytes(content[start:]), np.float32).copy()
    weights[2000] += 0.5  # in the first layer's query projection
    replace(model, "model.safetensors", bytes(content[:start]) + weights.tobytes())
    assert verify(model).returncode == 1


def test_weights_that_overflow_fail(model):
    content = bytearray((model / "model.safetensors").read_bytes())
    content[-4:] = np.float32(3e38).tobytes()  # finite itself; what is added up from it is not
    content[-8:-4] = np.float32(-3e38).tobytes()
    replace(model, "model.safetensors", bytes(content))
    result = verify(model)
    assert result.returncode == 1 and "numbers that are not finite" in result.stderr


def overflowing(model, name):
    """The tensor's numbers are the largest and the least by turns: finite themselves, but not what is added up from them."""
    content = bytearray((model / "model.safetensors").read_bytes())
    data = 8 + int.from_bytes(content[:8], "little")
    begin, end = json.loads(content[8:data])[name]["data_offsets"]
    numbers = np.where(np.arange((end - begin) // 4) % 2, np.float32(-3e38), np.float32(3e38))
    content[data + begin:data + end] = numbers.tobytes()
    replace(model, "model.safetensors", bytes(content))


def unlike_any(sample, name):
    """`verify` of the model in the current folder, which has this sample and overflows at the tensor `name`."""
    replace(pathlib.Path(), "samples.json", json.dumps([sample]).encode())
    before = verify(".", "--json")
    overflowing(pathlib.Path(), name)
    return before, verify("."), verify(".", "--json")


PREDICTION = {"source": "", "source_ids": [], "target": "cat", "target_ids": [0], "score": -1.0, "token_log_probabilities": [-1.0], "top_logits": []}


def test_a_replay_that_is_no_number_fails_for_a_head(tmp_path, monkeypatch):
    """It counted as no difference."""
    monkeypatch.chdir(random_models.write_picture_model(tmp_path))
    before, shown, told = unlike_any({**PREDICTION, "pixels": "80" * 288}, "head.weight")
    assert before.returncode == 1 and all(each["largest_difference"] > 1e-4 for each in json.loads(before.stdout)["instruction_sets"].values())
    assert shown.returncode == 1 and "log-probability inf (expected at most 0.0001): sample 0, token 0" in shown.stdout
    report = json.loads(told.stdout)
    assert told.returncode == 1 and not report["good"] and not any(each["good"] for each in report["instruction_sets"].values())


def test_a_replay_that_is_no_number_fails_for_shared_vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(random_models.write_item_model(tmp_path))
    sample = {**PREDICTION, "pixels": "80" * 64, "nodes": [], "text_vector": [], "picture_vector": [0.0] * 6}
    _, shown, told = unlike_any(sample, "picture.projection.weight")
    assert shown.returncode == 1 and shown.stdout.count("vectors of texts and pictures, largest difference inf") == shown.stdout.count("1 samples")
    assert told.returncode == 1 and not json.loads(told.stdout)["good"]


def test_text_that_is_cut_otherwise_fails(model):
    samples = json.loads((model / "samples.json").read_text())
    samples[0]["source"] += " tavo"
    replace(model, "samples.json", json.dumps(samples).encode())
    result = verify(model)
    assert result.returncode == 1 and "sample 0: its text is not cut into the ids stored" in result.stdout


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.spm", "samples.json"])
def test_a_wrong_digest_is_named(model, name):
    config = json.loads((model / "config.json").read_text())
    config["sha256"][name] = "0" * 64
    (model / "config.json").write_text(json.dumps(config))
    result = verify(model)
    assert result.returncode == 3 and f"{name}: SHA-256 is" in result.stderr and result.stderr.count("\n") == 1


def test_numbers_that_are_none_are_named(model):
    content = bytearray((model / "model.safetensors").read_bytes())
    content[-4:] = np.float32("nan").tobytes()
    replace(model, "model.safetensors", bytes(content))
    result = verify(model)
    assert result.returncode == 3
    assert "'decoder.layers.1.feed_forward_norm.bias' holds nan at element 31" in result.stderr


def test_a_model_without_samples_says_so(model):
    (model / "samples.json").unlink()
    config = json.loads((model / "config.json").read_text())
    del config["sha256"]["samples.json"]
    (model / "config.json").write_text(json.dumps(config))
    result = verify(model)
    assert result.returncode == 0 and "samples: none" in result.stdout


def test_no_model(tmp_path):
    assert verify(tmp_path).returncode == 3
    assert verify().returncode == 2
