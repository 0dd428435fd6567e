"""Training with products in bf16 learns what f32 learns, as far as a small run tells; recipes/README.md has whole ones.

On a processor without bf16 it is slow and still right.
"""

import json
import pathlib

import numpy as np
import pytest
import tiny_run

TRAIN_LINES, TEST_LINES = 2000, 1000


@pytest.fixture(name="options", scope="module")
def prepare(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    options = tiny_run.prepare(folder)
    tiny_run.write_corpus(folder, lines=TRAIN_LINES)
    tiny_run.write_corpus(folder, seed=9, lines=TEST_LINES, prefix="test")
    sizes = {f"{side}.{name}": value for side in ("encoder", "decoder") for name, value in (("d_model", 32), ("d_ff", 64))}
    return options | sizes | {
        "test_source": folder / "test.en",
        "test_target": folder / "test.de",
        "dropout": 0.1,
        "batch_tokens": 256,
        "accumulate": 1,
        "max_updates": 2000,
        "threads": 1,
        "warmup_updates": 50,
        "validate_every": 500,
        "checkpoint_every": 100,
        "average_last": 5,
    }


def learned(options, output, precision):
    """The losses, and BLEU of the test set."""
    tiny_run.trained(options | {"precision": precision}, output)
    losses = [line["loss"] for line in tiny_run.metrics(output) if "loss" in line]
    bleu = json.loads((output / "result.json").read_text(encoding="utf-8"))["bleu"]["score"]
    return np.array(losses), bleu


def test_bf16_learns_as_well_as_f32(options, tmp_path):
    bleus = []
    for seed in range(1, 7):
        exact, bleu = learned(options | {"seed": seed}, tmp_path / f"f32-{seed}", "f32")
        rounded, rounded_bleu = learned(options | {"seed": seed}, tmp_path / f"bf16-{seed}", "bf16")
        assert rounded[:10] == pytest.approx(exact[:10], rel=0.01)
        assert (rounded != exact).any()
        assert rounded[-50:].mean() == pytest.approx(exact[-50:].mean(), rel=0.03)
        bleus.append((bleu, rounded_bleu))
    # One pair's difference is 1 or 2 BLEU either way, the mean's half of one.
    exact_mean, rounded_mean = np.mean(bleus, axis=0)
    assert exact_mean > 90 and rounded_mean > exact_mean - 1, bleus


@pytest.mark.parametrize("of_inputs", [tiny_run.of_pictures, tiny_run.of_recordings, tiny_run.of_items])
def test_bf16_learns_of_other_inputs(of_inputs, tmp_path):
    """Pictures, sound and items, as well as f32."""
    (tmp_path / "text").mkdir()
    options = of_inputs(tiny_run.prepare(tmp_path / "text"), tmp_path) | {"max_updates": 60, "validate_every": 30, "checkpoint_every": 30, "threads": 1}
    ends = []
    for seed in range(1, 4):
        losses = {}
        for precision in ("f32", "bf16"):
            tiny_run.trained(options | {"precision": precision, "seed": seed}, tmp_path / f"{precision}-{seed}")
            losses[precision] = np.array([line["loss"] for line in tiny_run.metrics(tmp_path / f"{precision}-{seed}") if "loss" in line])
        exact, rounded = losses["f32"], losses["bf16"]
        assert rounded[:10] == pytest.approx(exact[:10], rel=0.01) and (rounded != exact).any()
        assert exact[-20:].mean() < 0.95 * exact[:10].mean()
        ends.append((exact[-20:].mean(), rounded[-20:].mean()))
    # One pair of items differs by up to 6 %, either way, by the instruction set; the mean's difference is a third of that.
    exact_mean, rounded_mean = np.mean(ends, axis=0)
    assert rounded_mean == pytest.approx(exact_mean, rel=0.05), ends


def test_bf16_without_instructions_for_it_warns(options, tmp_path):
    features = set(pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    fast = {"": bool({"avx512_bf16", "amx_bf16", "bf16"} & features)}  # the best set
    if {"avx2", "fma"} <= features:
        fast["avx2"] = False
    short = options | {"max_updates": 2, "test_source": None, "test_target": None}
    for name, expected in fast.items():
        for precision in ("f32", "bf16"):
            done = tiny_run.trained(short | {"precision": precision}, tmp_path / f"{precision}-{name}", ATTEND_ISA=name)
            assert ("no faster than with f32" in done.stderr) == (precision == "bf16" and not expected), (name, done.stderr)
            assert precision == "bf16" or "bf16" not in done.stderr


def test_going_on_in_another_precision_warns(options, tmp_path):
    short = options | {"max_updates": 5, "test_source": None, "test_target": None}
    tiny_run.trained(short, tmp_path / "run")
    done = tiny_run.trained(short | {"max_updates": 6, "precision": "bf16"}, tmp_path / "run")
    assert 'precision was "f32", now "bf16"' in done.stderr
