"""Training and search on the first GPUs of this machine, where attend is built with a LibTorch that has CUDA; of several with NCCL too."""

import json
import subprocess

import data_parallel_test as parallel
import numpy as np
import pytest
import tiny_run

PRECISIONS = {"f32": 0.01, "bf16": 0.05}  # and how far a GPU's losses may be from a CPU's in f32
TWO_GPUS = 0.001  # how far the losses of two GPUs may be from one's, in f32: sums are cut elsewhere
LONGER = {"max_updates": 240, "validate_every": 60, "checkpoint_every": 3}


def complaint(options):
    """What a start says that is refused; empty for one that is not."""
    probe = subprocess.run(tiny_run.command_line(options | {"dry_run": []}, "unused"), capture_output=True, text=True, check=False)
    return probe.stderr if probe.returncode != 0 else ""


@pytest.fixture(name="options", scope="module")
def prepare(tmp_path_factory):
    options = tiny_run.prepare(tmp_path_factory.mktemp("text")) | {"device": "cuda", "dropout": 0}
    if "finds no CUDA device" in complaint(options):
        pytest.skip("this LibTorch finds no CUDA device")
    return options


@pytest.fixture(name="with_nccl", scope="module")
def options_for_a_build_with_nccl(options, tmp_path_factory):
    done = parallel.finish(parallel.start_ranks(options | {"device": "cuda:0"}, tmp_path_factory.mktemp("probe") / "run"))
    if any("need a build with NCCL" in error for _, error in done):
        pytest.skip("this build has no NCCL")
    return options


@pytest.fixture(name="two_gpus", scope="module")
def options_for_two_gpus(with_nccl):
    if "this process sees cuda:0 to cuda:0" in complaint(with_nccl | {"device": "cuda:1"}):
        pytest.skip("there is one GPU alone")
    return with_nccl


def losses(output):
    return np.array([line["loss"] for line in tiny_run.metrics(output) if "loss" in line])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_gpu_learns_what_a_cpu_does(options, precision, tmp_path):
    tiny_run.trained(options | {"precision": precision}, tmp_path / "gpu")
    tiny_run.trained(options | {"device": "cpu"}, tmp_path / "cpu")
    np.testing.assert_allclose(losses(tmp_path / "gpu"), losses(tmp_path / "cpu"), rtol=PRECISIONS[precision])


@pytest.mark.parametrize("more", [{}, {"precision": "bf16"}, {"r_drop": 5}], ids=["f32", "bf16", "r_drop"])
def test_a_gpu_repeats_its_bits_and_goes_on_exactly(options, more, tmp_path):
    """Every file is compared, the weights of the last checkpoint among them."""
    options = options | {"dropout": 0.2} | LONGER | more
    for name in ("one", "two"):
        tiny_run.trained(options, tmp_path / name)
    assert (tmp_path / "one/checkpoints/update-0000000240/weights.safetensors").exists()
    tiny_run.assert_same(tmp_path / "one", tmp_path / "two")
    broken = tmp_path / "broken"
    for _ in range(2):
        with parallel.running([parallel.start(options, broken, {})]) as [process]:
            tiny_run.wait_for_updates(broken, [process], 20)
            process.kill()
            assert process.wait() < 0  # not done before
    tiny_run.trained(options, broken)
    tiny_run.assert_same(broken, tmp_path / "one")


def search_and_score(model, device, options):
    """Hypotheses of each line as texts, each finished or not, their log-probabilities, and those of the given translations."""
    def call(*arguments):
        command = [tiny_run.ATTEND, *arguments, "--model", model, "--device", device, "--json"]
        return subprocess.run(command, env=tiny_run.environment(), capture_output=True, text=True, check=True).stdout

    lines = call("translate", "--input", options["train_source"], "--beam-size", "4", "--n-best", "4", "--quiet").splitlines()
    found = [one for line in lines for one in json.loads(line)["hypotheses"]]
    scored = json.loads(call("score", "--source", options["train_source"], "--target", options["train_target"]))["pairs"]
    return [(one["text"], one["finished"]) for one in found], [one["log_probability"] for one in found + scored]


def test_a_gpu_translates_and_scores_as_the_engine_does(options, tmp_path):
    tiny_run.trained(options | LONGER | {"device": "cpu"}, tmp_path / "run")
    found, expected = (search_and_score(tmp_path / "run/model", device, options) for device in (options["device"], "engine"))
    assert len(expected[0]) > 500 and len(expected[1]) == len(expected[0]) + 160
    assert found[0] == expected[0]
    np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-4)


@pytest.mark.parametrize("shard", [None, []], ids=["replicated", "sharded"])
def test_two_gpus_learn_what_one_does(two_gpus, shard, tmp_path):
    tiny_run.trained(two_gpus, tmp_path / "one")
    command = [parallel.TORCHRUN, "--no-python", "--nproc-per-node", "2", "--master-port", str(parallel.free_port())]
    [(status, error)] = parallel.finish([parallel.start(two_gpus | {"shard_optimizer": shard}, tmp_path / "two", {}, prefix=command)])
    assert status == 0, error
    found = losses(tmp_path / "two")
    assert np.isfinite(found).all() and found[-1] < found[0]
    np.testing.assert_allclose(found, losses(tmp_path / "one"), rtol=TWO_GPUS)


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_rank_is_named_by_the_other_gpus(two_gpus, victim, tmp_path):
    output = tmp_path / "run"
    with parallel.running(parallel.start_ranks(two_gpus | parallel.LONG, output)) as processes:
        tiny_run.wait_for_updates(output, processes, 20)
        processes[victim].kill()
        [(status, error)] = parallel.finish([processes[1 - victim]], timeout=parallel.STOPS_WITHIN)
    assert status == 1 and f"rank {victim}" in parallel.last_line(error) and "died" in parallel.last_line(error), error


def test_ranks_of_one_gpu_are_refused(with_nccl, tmp_path):
    for status, error in parallel.finish(parallel.start_ranks(with_nccl | {"device": "cuda:0"}, tmp_path / "run")):
        assert status == 2 and "two ranks have the same GPU" in parallel.last_line(error), error
        assert "lost another rank" not in error
