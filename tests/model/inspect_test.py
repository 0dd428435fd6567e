"""attend inspect as a user meets it."""
import json
import os
import pathlib
import shutil
import subprocess

import random_models

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"


def inspect(*arguments):
    return subprocess.run([ATTEND, "inspect", *map(str, arguments)], capture_output=True, text=True)


def test_json_says_what_the_files_hold():
    result = json.loads(inspect(DATA / "golden_v1", "--json").stdout)
    config = json.loads((DATA / "golden_v1" / "config.json").read_text())
    for name, value in config["model"].items():  # later versions have more
        shown = result["model"][name]
        assert shown == value if not isinstance(value, dict) else shown.items() >= value.items()
    assert result["provenance"] == config["provenance"]
    assert result["samples"] == 7
    assert {name: file["sha256"] for name, file in result["files"].items()} == config["sha256"]
    assert result["vocabulary"]["joint"] and result["vocabulary"]["source"]["pieces"] == 52
    # The paper's form: 4 d^2 + 2 d d_ff an encoder layer, 8 d^2 + 2 d d_ff a decoder layer, and so on.
    d, d_ff, vocabulary = 32, 48, 52
    norms = 2 * d * (2 * 2 + 3 * 2)
    biases = (d_ff + d) * 4
    assert result["parameters"]["total"] == 12 * d * d * 2 + 4 * 2 * d * d_ff + vocabulary * d + norms + biases
    assert sum(result["parameters"]["parts"].values()) == result["parameters"]["total"]
    assert sum(tensor["bytes"] for tensor in result["tensors"]) == 4 * result["parameters"]["total"]


def test_text_names_the_parts():
    text = inspect(DATA / "golden_v1_variant").stdout
    for words in ["1 layer, d_model 16, 3 heads (d_k 5, d_v 6), d_ff 24, gelu, pre-norm (epsilon 1e-05), learned positions (at most 40)",
                  "ka -> su", "34 pieces", "36 pieces", "encoder.positions ", "head.weight", "swiglu",
                  "make_golden_model.py", "SHA-256 "]:
        assert words in text, words


def test_other_architectures_name_what_they_have():
    lines = [inspect("--preset", preset, "--vocab-size", 100).stdout.splitlines() for preset in ("lstm", "convolution")]
    assert "encoder        lstm, 2 layers, d_model 256" in lines[0]
    assert "decoder        lstm, 2 layers, d_model 256, 1 head of attention" in lines[0]
    assert "encoder        convolution, 4 layers, d_model 256, windows of 3 tokens" in lines[1]


def test_an_adapter_says_what_it_is_of(tmp_path):
    adapter = random_models.write_adapter(tmp_path / "adapter", DATA / "golden_v1", rank=3)
    result = json.loads(inspect(adapter, "--json").stdout)
    config = json.loads((adapter / "config.json").read_text())
    assert result["adapter"] == config["adapter"] and result["model"] == config["model"]
    assert result["parameters"]["total"] == 12 * 3 * (32 + 32) == sum(result["parameters"]["parts"].values())
    assert list(result["files"]) == ["adapter.safetensors"]
    text = inspect(adapter).stdout
    for words in [config["adapter"]["base_sha256"], "rank           3, alpha 12, of 12 matrices\n", "encoder.layers.*.self_attention"]:
        assert words in text, words


def test_closed_pipe_and_bad_models(tmp_path):
    result = inspect(tmp_path / "absent")
    assert result.returncode == 3 and "absent" in result.stderr and result.stderr.count("\n") == 1
    result = inspect()
    assert result.returncode == 2 and "MODEL" in result.stderr
    for name in ["config.json", "model.safetensors", "vocab.spm", "samples.json"]:
        for damage in ["missing", "empty", "short", "binary"]:
            model = tmp_path / f"{name}-{damage}"
            shutil.copytree(DATA / "golden_v1", model)
            good = (model / name).read_bytes()
            if damage == "missing":
                (model / name).unlink()
            else:
                bad = {"empty": b"", "short": good[:len(good) // 2], "binary": bytes(range(256)) * 8}[damage]
                (model / name).write_bytes(bad)
            result = inspect(model)
            assert result.returncode == 3, (name, damage, result)
            assert name in result.stderr and result.stderr.count("\n") == 1, result.stderr
