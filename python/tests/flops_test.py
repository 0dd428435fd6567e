"""attend inspect --flops against PyTorch's counter over attend.torch, and how the command is called."""

import json
import math
import subprocess
from types import SimpleNamespace

import attend.torch
import pytest
import torch
from package import BUILD, GOLDEN
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

SOURCE, TARGET = 23, 17
LABELS = {"head": "labels", "labels": ["a", "b", "c"], "pooling": "mean", "head_pooler": True}


def inspect(*arguments):
    return subprocess.run([BUILD / "attend", "inspect", *map(str, arguments)], capture_output=True, text=True, check=False)


def described(preset, changes):
    """The model of a preset, made small and changed, as config.json has it; `both` is of its stacks."""
    config = json.loads(inspect("--preset", preset, "--vocab-size", 300, "--json").stdout)["model"]
    changes = dict(changes)
    both = changes.pop("both", {})
    for name in ("encoder", "decoder"):
        own = changes.pop(name, {})
        if config[name] is not None:
            config[name] |= {"d_model": 64, "layers": 2, "heads": 4, "d_ff": 96} | both | own
    return config | changes


def source_of(config, length):
    """Ids, the patches of a picture or the frames of a recording."""
    if config["patches"]:
        side = config["patches"]["patch"]
        patches = config["patches"]["height"] // side * (config["patches"]["width"] // side)
        return torch.rand([1, patches, side * side * config["patches"]["channels"]])
    if config["frames"]:
        return torch.rand([1, length * math.prod(config["frames"]["strides"]), config["frames"]["mels"]])
    return torch.randint(5, 300, [1, length])


def counted(config, source, target):
    """By PyTorch, forward and in a whole step of training."""
    torch.manual_seed(1)
    network = attend.torch.Transformer(json.loads(json.dumps(config), object_hook=lambda members: SimpleNamespace(**members)))
    inputs = [source_of(config, source)] if config["encoder"] else []
    if config["decoder"]:
        inputs.append(torch.randint(5, 300, [1, target]))
    forward, training = FlopCounterMode(display=False), FlopCounterMode(display=False)
    with forward:
        network(*inputs)
    with training:
        logits = network(*inputs)
        logits = logits.reshape(-1, logits.shape[-1])
        functional.cross_entropy(logits, torch.arange(len(logits)) % logits.shape[1]).backward()
    return forward.get_total_flops(), training.get_total_flops()


@pytest.mark.parametrize("preset, changes", [
    ("base", {}),
    ("base", {"both": {"d_k": 8, "d_v": 24}, "tie_target_output": False}),
    ("gpt2-small", {}),
    ("bert-tiny", {"head_transform": True, "head_bias": True}),
    ("bert-tiny", LABELS),
    ("base", {"both": {"positions": "relative", "norm": "rms_norm", "norm_place": "pre", "activation": "geglu_tanh"}}),
    ("student", {"decoder": {"recurrence": "ssru"}}),
], ids=["encoder-decoder", "own widths", "decoder", "encoder", "labels", "t5", "ssru"])
def test_counts_are_pytorchs(preset, changes, tmp_path):
    config = described(preset, changes)
    file = tmp_path / "model.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    source = ("--source-length", SOURCE) if config["encoder"] else ()
    found = json.loads(inspect(file, "--flops", *source, "--target-length", TARGET, "--json").stdout)
    assert found["model"] == config
    operations = found["operations"]
    assert (operations["forward"], operations["training"]) == counted(config, SOURCE, TARGET)
    assert sum(operations["parts"].values()) == operations["forward"]
    tokens = (SOURCE if config["encoder"] else 0) + (TARGET if config["decoder"] else 0)
    assert operations["training_per_token"] * tokens == pytest.approx(operations["training"])


@pytest.mark.parametrize("preset, changes, rows", [
    ("vit-tiny", LABELS | {"pooling": "first", "head_pooler": False}, 50),
    ("whisper-tiny", {}, 1500),
], ids=["pictures", "recordings"])
def test_rows_of_pictures_and_of_padded_recordings(preset, changes, rows, tmp_path):
    """All that the model reads, unless it is told."""
    config = described(preset, changes)
    file = tmp_path / "model.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    operations = json.loads(inspect(file, "--flops", "--target-length", TARGET, "--json").stdout)["operations"]
    assert operations["source_length"] == rows
    assert operations["forward"] == counted(config, rows, TARGET)[0]


def test_the_articles_picture():
    text = inspect("--preset", "vit-base", "--flops").stdout
    assert "operations of a picture, 197 rows;" in text
    operations = json.loads(inspect("--preset", "vit-base", "--flops", "--json").stdout)["operations"]
    assert 34e9 < operations["forward"] < 36e9  # 17.6 thousand million multiplications
    done = inspect("--preset", "vit-base", "--flops", "--source-length", 20)
    assert done.returncode == 2 and "the model reads pictures, each as 197 rows; leave it out" in done.stderr


def test_a_model_and_its_config_alone():
    whole = json.loads(inspect(GOLDEN, "--flops", "--json").stdout)
    alone = json.loads(inspect(GOLDEN / "config.json", "--flops", "--json").stdout)
    assert alone["parameters"] == whole["parameters"] and alone["operations"] == whole["operations"]
    assert "tensors" not in alone
    text = inspect(GOLDEN, "--flops").stdout
    for words in ["operations of a text, 32 source and 32 target tokens", "training, per token", f"{whole['operations']['forward']:,}\n"]:
        assert words in text, words
    assert "operations" not in inspect(GOLDEN).stdout


def test_a_model_without_positions_says_so(tmp_path):
    file = tmp_path / "model.json"
    file.write_text(json.dumps(described("base", {"both": {"positions": "none"}})), encoding="utf-8")
    assert ", no positions" in inspect(file).stdout


def test_the_papers_models_without_a_file():
    for preset, parameters in [("base", 63045632), ("big", 214171648)]:
        found = json.loads(inspect("--preset", preset, "--vocab-size", 37000, "--json").stdout)
        assert found["parameters"]["total"] == parameters and list(found) == ["model", "parameters"]


@pytest.mark.parametrize("arguments, words", [
    ([], "MODEL or --preset is missing"),
    ([GOLDEN, "--preset", "base"], "leave out one"),
    (["--preset", "bass"], "did you mean 'base'"),
    ([GOLDEN, "--vocab-size", 50], "--vocab-size is for a preset"),
    ([GOLDEN, "--target-length", 50], "--target-length is for --flops"),
    (["--preset", "gpt2-small", "--flops", "--target-length", 1025], "the model has 1024 learned positions"),
])
def test_what_is_wrong_is_told(arguments, words):
    done = inspect(*arguments)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_bad_file_is_told(tmp_path):
    file = tmp_path / "model.json"
    for text, words in [("{", "JSON"), ("{}", "is missing"), ("[]", "is not a JSON object")]:
        file.write_text(text, encoding="utf-8")
        done = inspect(file)
        assert done.returncode == 3 and "model.json" in done.stderr and words in done.stderr, done.stderr
