"""Training on a GPU: the first of this machine's, where attend is built with a LibTorch that has CUDA."""

import subprocess

import numpy as np
import pytest
import tiny_run

PRECISIONS = {"f32": 0.01, "bf16": 0.05}  # and how far a GPU's losses may be from a CPU's in f32


@pytest.fixture(name="options", scope="module")
def prepare(tmp_path_factory):
    options = tiny_run.prepare(tmp_path_factory.mktemp("text")) | {"device": "cuda", "dropout": 0}
    probe = subprocess.run(tiny_run.command_line(options | {"dry_run": []}, "unused"), capture_output=True, text=True, check=False)
    if "finds no CUDA device" in probe.stderr:
        pytest.skip("this LibTorch finds no CUDA device")
    return options


def losses(output):
    return np.array([line["loss"] for line in tiny_run.metrics(output) if "loss" in line])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_gpu_learns_what_a_cpu_does(options, precision, tmp_path):
    tiny_run.trained(options | {"precision": precision}, tmp_path / "gpu")
    tiny_run.trained(options | {"device": "cpu"}, tmp_path / "cpu")
    np.testing.assert_allclose(losses(tmp_path / "gpu"), losses(tmp_path / "cpu"), rtol=PRECISIONS[precision])


@pytest.mark.parametrize("more", [{}, {"precision": "bf16"}, {"r_drop": 5}], ids=["f32", "bf16", "r_drop"])
def test_a_gpu_repeats_its_bits_and_goes_on_exactly(options, more, tmp_path):
    options = options | {"dropout": 0.2} | more
    for name in ("one", "two"):
        tiny_run.trained(options, tmp_path / name)
    tiny_run.assert_same(tmp_path / "one", tmp_path / "two")
    tiny_run.trained(options | {"max_updates": 8}, tmp_path / "broken")
    tiny_run.trained(options, tmp_path / "broken")
    assert (losses(tmp_path / "broken") == losses(tmp_path / "one")).all()
