"""Several processes that train one model: equal to one process, and resumed after the death of any, in any number.

Every run has dropout, three batches an update, of which two processes have one each and share one, and a moving average of the
weights.
"""

import json
import os
import random
import re
import shutil
import time

import numpy as np
import pytest
import tiny_run
from numpy_transformer import read_safetensors
from ranks import (  # noqa: F401
    TORCHRUN, finish, free_port, prepare, running, slurm_job, start, start_ranks, train_in_one_process, train_in_two_processes, trained)

UPDATES = 120  # of a run that is killed


def values(output, name):
    """What is measured of each update, or at validations."""
    lines = [line | line.get("validation", {}) for line in tiny_run.metrics(output)]
    return np.array([line[name] for line in lines if name in line])


def assert_close(output, expected, tolerance=1e-5):
    np.testing.assert_allclose(values(output, "loss"), values(expected, "loss"), rtol=tolerance)
    np.testing.assert_allclose(values(output, "gradient_norm"), values(expected, "gradient_norm"), rtol=10 * tolerance)


def assert_tensors_close(path, expected):
    found, wanted = read_safetensors(path), read_safetensors(expected)
    assert sorted(found) == sorted(wanted) and len(wanted) > 5
    for name, tensor in wanted.items():
        np.testing.assert_allclose(found[name], tensor, rtol=1e-2, atol=1e-3 * np.abs(tensor).max(), err_msg=name)


def test_two_processes_learn_what_one_does(one, two):
    assert_close(two, one)
    assert (values(two, "gradient_norm") != values(one, "gradient_norm")).any()  # sums were cut


@pytest.mark.parametrize("of_inputs", [tiny_run.of_pictures, tiny_run.of_recordings, tiny_run.of_items])
def test_two_processes_learn_what_one_does_of_other_inputs(options, of_inputs, tmp_path):
    """Pictures, sound and items, which are changed anew in each epoch."""
    options = of_inputs(options, tmp_path)
    tiny_run.trained(options, tmp_path / "one")
    two = trained(options, tmp_path / "two")
    assert_close(two, tmp_path / "one")
    assert len(values(two, "gradient_norm")) == options["max_updates"]


def test_two_processes_repeat_their_bits(options, two, tmp_path):
    tiny_run.assert_same(trained(options, tmp_path / "run"), two)


def test_processes_with_threads_learn_what_one_does(options, one, tmp_path):
    assert_close(trained(options | {"threads": 2}, tmp_path / "run", size=3), one)


def test_a_sharded_optimiser_gives_the_same_bits(options, two, tmp_path):
    sharded = trained(options | {"shard_optimizer": []}, tmp_path / "run")
    found, expected = tiny_run.contents(sharded), tiny_run.contents(two)
    tensors = [name for name in expected if name.endswith(".safetensors")]
    assert len(tensors) > 5 and "metrics.jsonl" in expected
    assert [name for name in [*tensors, "metrics.jsonl"] if found[name] != expected[name]] == []


def test_a_sharded_optimiser_takes_half_the_memory_in_two_processes(options, two, tmp_path):
    told = options | {"shard_optimizer": [], "max_updates": 1, "quiet": None}
    [(status, error), _] = finish(start_ranks(told, tmp_path / "run"))
    assert status == 0, error
    [megabytes] = re.findall(r"the optimiser's state is shared by 2 processes, ([\d.]+) MB in this", error)
    newest = max((two / "checkpoints").iterdir())
    files = [newest / f"{name}.safetensors" for name in ("optimizer", "average")]
    whole = sum(array.nbytes for file in files for array in read_safetensors(file).values())
    assert float(megabytes) == pytest.approx(whole / 2 / 1e6, rel=0.1)


def test_torchrun_starts_it(options, two, tmp_path):
    command = [TORCHRUN, "--no-python", "--nproc-per-node", "2", "--master-port", str(free_port())]
    process = start(options, tmp_path / "run", {}, prefix=command, program=tiny_run.BUILD / "attend")
    [(status, error)] = finish([process])
    assert status == 0, error
    tiny_run.assert_same(tmp_path / "run", two)


def variant(kind, options, folder):
    """A way to train: with Adam's state on one rank or on all, with text in memory or on disk, in f32 or bf16, by one pass or two."""
    if kind == "streamed":
        return tiny_run.streamed(options, folder)
    if kind == "denoising":
        return tiny_run.denoised(options, folder) | {"mixing_temperature": 2, "shuffle_buffer": 37}
    return options | {"plain": {}, "sharded": {"shard_optimizer": []}, "bf16": {"precision": "bf16"}, "r_drop": {"r_drop": 5}}[kind]


def test_srun_starts_it(options, two, tmp_path):
    """With what Slurm sets for each process of a step, and nothing else."""
    step = {"SLURM_JOB_ID": slurm_job(), "SLURM_STEP_ID": 0, "SLURM_NTASKS": 2, "SLURM_STEP_NUM_TASKS": 2, "SLURM_STEP_NODELIST": "localhost"}
    ranks = [start(options, tmp_path / "run", step | {"SLURM_PROCID": rank, "SLURM_LOCALID": rank}) for rank in range(2)]
    assert [status for status, _ in finish(ranks)] == [0, 0]
    tiny_run.assert_same(tmp_path / "run", two)
    timing = [json.loads(line) for line in (tmp_path / "run/timing.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(timing) == 4 and all(len(line["ranks"]) == 2 for line in timing)


@pytest.mark.parametrize("kind, victims", [("plain", (1, 0, 1)), ("sharded", (0,)), ("streamed", (0,)), ("bf16", (0,)), ("r_drop", (0,)), ("denoising", (0,))])
def test_a_killed_run_resumes_to_the_same_bits(options, kind, victims, tmp_path):
    longer = variant(kind, options, tmp_path) | {"max_updates": UPDATES, "validate_every": 40, "checkpoint_every": 3}
    unbroken = trained(longer, tmp_path / "unbroken")
    instants, output = random.Random(5), tmp_path / "run"
    for victim in victims:
        with running(start_ranks(longer, output)) as processes:
            tiny_run.wait_for_updates(output, processes, 5)
            time.sleep(instants.uniform(0, 0.2))
            processes[victim].kill()
            finish(processes)
    assert 0 < len(tiny_run.metrics(output)) < UPDATES
    tiny_run.assert_same(trained(longer, output), unbroken)


@pytest.mark.parametrize("kind", ["plain", "sharded", "streamed", "denoising"])
def test_a_run_goes_on_in_another_number_of_processes(options, one, kind, tmp_path):
    options, output = variant(kind, options, tmp_path), tmp_path / "run"
    if kind in ("streamed", "denoising"):
        one = tmp_path / "one"
        tiny_run.trained(options, one)
    half = options | {"max_updates": 6, "average_last": 1}
    trained(half, output)
    done = tiny_run.trained(options, output)
    assert "processes was 2, now 1" in done.stderr
    assert_close(output, one, 1e-4)
    for name in ("optimizer", "average"):
        assert_tensors_close(*(run / f"checkpoints/update-0000000012/{name}.safetensors" for run in (output, one)))
    changes = json.loads((output / "checkpoints/update-0000000012/state.json").read_text(encoding="utf-8"))["changes"]
    assert any("processes was 2, now 1" in change for each in changes for change in each["changes"])
    for run, processes in ((output, 3), (one, 1)):
        further = tmp_path / f"further{processes}"
        shutil.copytree(run, further)
        trained(options | {"max_updates": 16}, further, size=processes)
    assert tiny_run.metrics(tmp_path / "further3")[-1]["update"] == 16
    assert_close(tmp_path / "further3", tmp_path / "further1", 1e-4)


def test_ranks_of_a_machine_share_its_processors(options, tmp_path):
    output = trained(options | {"threads": 0}, tmp_path / "run")
    state = json.loads((output / "checkpoints/update-0000000012/state.json").read_text(encoding="utf-8"))
    assert state["run"]["environment"]["threads"] == max(len(os.sched_getaffinity(0)) // 2, 1)
