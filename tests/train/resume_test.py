"""Exact resume: a run that is killed at any instant and started again ends in the same bytes as one that is not.

Every run here has dropout, two batches an update, a moving average of the weights, and two worker threads; some read their
text from weighted and packed shards as they go, with cuts sampled, and some multiply in bf16.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import pytest
import recipes_test
import tiny_run

SHIM = pathlib.Path(os.environ["BUILD_DIR"]) / "tests" / "libkill_at.so"
CHECKPOINT = "update-0000000008"  # the second of three
LONG = {"max_updates": 480, "validate_every": 60, "checkpoint_every": 3}


@pytest.fixture(name="unbroken", scope="module")
def train_unbroken(options, tmp_path_factory):
    output = tmp_path_factory.mktemp("unbroken") / "run"
    log = output.parent / "operations"
    tiny_run.trained(options, output, LD_PRELOAD=SHIM, ATTEND_KILL_UNDER=output, ATTEND_KILL_LOG=log)
    return output, [line.split(" ", 2) for line in log.read_text(encoding="utf-8").splitlines()]


def operations_of_one_checkpoint(operations):
    """From the sync of the log before the checkpoint to the first line of the log after it."""
    paths = [path for _, _, path in operations]
    first = next(i for i, path in enumerate(paths) if CHECKPOINT in path)
    while not paths[first - 1].endswith("metrics.jsonl") or operations[first - 1][1] != "fsync":
        first -= 1
    last = next(i for i in range(first, len(paths)) if paths[i].endswith("metrics.jsonl") and operations[i][1] == "write")
    return operations[first - 1 : last + 1]


def test_a_checkpoint_makes_all_logs_durable_first(unbroken):
    synced = {pathlib.Path(path).name for _, kind, path in operations_of_one_checkpoint(unbroken[1]) if kind == "fsync"}
    assert {"metrics.jsonl", "samples.jsonl", "timing.jsonl", "events.out.tfevents.attend"} <= synced


def test_an_unbroken_run_repeats(options, unbroken, tmp_path):
    tiny_run.trained(options, tmp_path / "run")
    tiny_run.assert_same(tmp_path / "run", unbroken[0])


def test_checkpoints_hold_all_that_is_compared(unbroken):
    newest = unbroken[0] / "checkpoints" / "update-0000000012"
    assert {path.name for path in newest.iterdir()} == {
        "weights.safetensors",
        "optimizer.safetensors",
        "average.safetensors",
        "state.json",
        "SHA256SUMS",
    }
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=newest, check=True, capture_output=True)
    state = json.loads((newest / "state.json").read_text(encoding="utf-8"))
    assert state["update"] == 12 and len(state["best"]) == 2 and state["changes"] == []
    logged = [line["update"] for line in tiny_run.metrics(unbroken[0]) if "validation" not in line]
    assert logged == list(range(1, 13))


def killed_at_each(options, operations, output_of, unbroken):
    """A run in a folder of its own is killed at each operation, goes on, and ends as `unbroken`."""
    def killed_at(operation):
        number, kind, path = operation
        output = output_of(number)
        killed = tiny_run.train(options, output, LD_PRELOAD=SHIM, ATTEND_KILL_UNDER=output, ATTEND_KILL_AT=number)
        assert killed.returncode == -signal.SIGKILL, (number, kind, path, killed.stderr)
        tiny_run.trained(options, output)
        tiny_run.assert_same(output, unbroken)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(killed_at, operations))  # raises what an operation's runs raise


def test_killed_at_every_operation_of_a_checkpoint(options, unbroken, tmp_path):
    operations = operations_of_one_checkpoint(unbroken[1])
    kinds = {kind for _, kind, _ in operations}
    assert kinds >= {"mkdir", "write", "fsync", "unlink", "linkat", "rename"} and len(operations) >= 15
    killed_at_each(options, operations, lambda number: tmp_path / number, unbroken[0])


def test_killed_while_a_damaged_checkpoint_is_made_anew(options, unbroken, tmp_path):
    """The run goes on from the checkpoint before: logs are cut, and another checkpoint takes the damaged one's place."""
    begun, log = tmp_path / "begun", tmp_path / "operations"
    end = operations_of_one_checkpoint(unbroken[1])[-1][0]
    tiny_run.train(options, begun, LD_PRELOAD=SHIM, ATTEND_KILL_UNDER=begun, ATTEND_KILL_AT=end)
    os.truncate(begun / "checkpoints" / CHECKPOINT / "weights.safetensors", 100)
    shutil.copytree(begun, tmp_path / "logged")
    tiny_run.trained(options, tmp_path / "logged", LD_PRELOAD=SHIM, ATTEND_KILL_UNDER=tmp_path / "logged", ATTEND_KILL_LOG=log)
    operations = [line.split(" ", 2) for line in log.read_text(encoding="utf-8").splitlines()]
    replacing = next(i for i, (_, kind, _) in enumerate(operations) if kind == "renameat2")
    of_logs = [operation for operation in operations if operation[1] == "ftruncate" and "jsonl" in operation[2]]
    assert len(of_logs) >= 2
    killed_at_each(options, [*of_logs, *operations[replacing - 2 : replacing + 6]],
                   lambda number: shutil.copytree(begun, tmp_path / number), unbroken[0])


def kill_soon(options, output, delay):
    """Starts a run, lets it do an update, and kills it after `delay` seconds; False where it was done before."""
    metrics = output / "metrics.jsonl"
    with subprocess.Popen(tiny_run.command_line(options, output), env=tiny_run.environment(), stderr=subprocess.DEVNULL) as process:
        before, size = None, 0
        while process.poll() is None:
            # The log is cut back to a checkpoint first; what grows after that is new.
            size = metrics.stat().st_size if metrics.exists() else 0
            if before is not None and size > before:
                break
            before = size
            time.sleep(0.005)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL


KILLS = 8  # of each kind of run
RIVALS = ("lstm", "gru", "convolution")
TASKS = {
    "language_model": {"context_tokens": 16},
    "masked_language_model": {"context_tokens": 16},
    "tagging": {"crf": [], "label_smoothing": 0},
    "classification": {},
    "parsing": {"word_dropout": 0.1},
    "transcription": {},
    "fusion": {},
}


def of_architecture(architecture, options):
    """Two layers of it, without what a transformer alone has."""
    kept = {name: value for name, value in options.items() if not name.endswith((".heads", ".d_ff"))}
    return kept | {"architecture": architecture, "encoder.layers": 2, "decoder.layers": 2}


def options_of_kind(kind, options, folder):
    """Of translation, trained in one of several ways, of another architecture or of another task."""
    if kind in RIVALS:
        return of_architecture(kind, options)
    if kind == "pictures":
        return tiny_run.of_pictures(options, folder)
    if kind == "transcription":
        return tiny_run.of_recordings(options, folder) | {"augment.speed": 0.1, "augment.warp": 0.1, "augment.silence": 0.1, "augment.noise": 0.1}
    if kind in ("fusion", "contrastive"):
        return tiny_run.of_items(options, folder) | ({"fusion.shared_width": 6, "contrastive_weight": 0.5} if kind == "contrastive" else {})
    if kind not in TASKS:
        more = {"bf16": {"precision": "bf16"}, "r_drop": {"r_drop": 5}}.get(kind, {})
        if kind in ("denoising", "infilling"):
            options = tiny_run.denoised(options, folder, {"denoising": "spans"}.get(kind, kind))
            # The first reads its text as it goes, and knows its tasks by what stands before them.
            more = {"mixing_temperature": 2, "shuffle_buffer": 37, "train_prefixes": ["two "], "valid_prefixes": ["two "]}
            more = more if kind == "denoising" else {"permute_sentences": []}
        if kind == "guided":
            more = tiny_run.guided(options, folder)
        return (tiny_run.streamed(options, folder) if kind == "streamed" else options) | more
    of_translation = ("train_", "valid_", "encoder.", "decoder.", "vocab", "beam_size")
    kept = {name: value for name, value in options.items() if not name.startswith(of_translation)}
    kept |= recipes_test.text_of(kind, options, folder) | {"task": kind, "preset": "tiny", "vocab_type": "word"} | TASKS[kind]
    if kind == "parsing":
        kept |= {"train_trees": [kept["train_trees"], kept["train_trees"]], "train_weights": ["1", "1.5"]}
    return tiny_run.streamed_documents(kept, folder) if kind == "language_model" else kept


def test_every_task_is_killed():
    told = subprocess.run([tiny_run.TRAIN, "train", "--help"], capture_output=True, text=True, check=True).stdout
    assert {"translation", *TASKS} == set(re.search(r"--task\s+(\S+)", told)[1].split("|"))


@pytest.mark.parametrize("kind", ["in memory", "streamed", "bf16", "r_drop", "guided", "denoising", "infilling", "pictures", "contrastive", *RIVALS, *TASKS])
def test_killed_at_random_instants(options, kind, tmp_path):
    options = options_of_kind(kind, options, tmp_path) | LONG
    if kind == "gru":  # LibTorch's takes three times as long as its LSTM
        options["max_updates"] = 180
    tiny_run.trained(options, tmp_path / "unbroken")
    instants = random.Random(20)
    killed, runs, middle_of_epoch = 0, 0, 0
    while killed < KILLS:
        runs += 1
        output = tmp_path / f"run{runs}"
        while killed < KILLS and kill_soon(options, output, instants.uniform(0, 0.3)):
            killed += 1
            # One whose name ends after its digits: the other is half written.
            for state in sorted((output / "checkpoints").glob("update-*[0-9]/state.json"))[-1:]:
                middle_of_epoch += json.loads(state.read_text(encoding="utf-8"))["data"]["batch_in_epoch"] > 0
        tiny_run.trained(options, output)
        tiny_run.assert_same(output, tmp_path / "unbroken")
    assert middle_of_epoch > 0
