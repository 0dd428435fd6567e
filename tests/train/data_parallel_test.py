"""Several processes that train one model: equal to one process, stopped by the death of any, and resumed, in any number.

Every run has dropout, three batches an update, of which two processes have one each and share one, and a moving average of the
weights.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
import tiny_run
import torch
from numpy_transformer import read_safetensors

TORCHRUN = pathlib.Path(sys.executable).with_name("torchrun")
LONG = {"max_updates": 100000, "validate_every": 100000, "checkpoint_every": 100000}
STOPS_WITHIN = 60  # seconds, from a death
UPDATES = 120  # of a run that is killed


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def start(options, output, variables, prefix=(), program=tiny_run.TRAIN):
    """One process of a run."""
    command = [*prefix, *tiny_run.command_line(options, output, program)]
    return subprocess.Popen(
        command, env=tiny_run.environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def start_ranks(options, output, size=2, options_of=None, ranks=None, port=None, **more):
    """All processes of a run on this machine, or those of `ranks`, by plain variables."""
    port = port or free_port()
    processes = []
    for rank in ranks or range(size):
        variables = {"RANK": rank, "WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port} | more
        own = options | (options_of or {}).get(rank, {})
        processes.append(start(own, output, {name: value for name, value in variables.items() if value is not None}))
    return processes


def finish(processes, timeout=300):
    """Status and standard error of each."""
    try:
        errors = [process.communicate(timeout=timeout)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(process.returncode, error) for process, error in zip(processes, errors)]


def trained(options, output, **more):
    for status, error in finish(start_ranks(options, output, **more)):
        assert status == 0, error
    return output


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


@contextlib.contextmanager
def running(processes):
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()


def wait_for_ranks(port, ranks):
    """Until these have taken their places among those that meet at `port`."""
    store = torch.distributed.TCPStore("127.0.0.1", port, is_master=False, wait_for_workers=False)
    deadline = time.monotonic() + 60
    while not store.check([f"attend//taken/{rank}" for rank in ranks]):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def last_line(error):
    return error.splitlines()[-1] if error else ""


@pytest.fixture(name="options", scope="module")
def prepare(tmp_path_factory):
    return tiny_run.prepare(tmp_path_factory.mktemp("text")) | {"threads": 1, "accumulate": 3}


@pytest.fixture(name="one", scope="module")
def train_in_one_process(options, tmp_path_factory):
    output = tmp_path_factory.mktemp("one") / "run"
    tiny_run.trained(options, output)
    return output


@pytest.fixture(name="two", scope="module")
def train_in_two_processes(options, tmp_path_factory):
    return trained(options, tmp_path_factory.mktemp("two") / "run")


def test_two_processes_learn_what_one_does(one, two):
    assert_close(two, one)
    assert (values(two, "gradient_norm") != values(one, "gradient_norm")).any()  # sums were cut


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


@pytest.mark.parametrize("shard", [None, []], ids=["replicated", "sharded"])
@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_rank_is_named_and_the_run_goes_on(options, two, victim, shard, tmp_path):
    output = tmp_path / "run"
    with running(start_ranks(options | LONG | {"shard_optimizer": shard}, output)) as processes:
        tiny_run.wait_for_updates(output, processes, 20)
        processes[victim].kill()
        killed = time.monotonic()
        status, error = finish([processes[1 - victim]])[0]
    assert status == 1 and time.monotonic() - killed < STOPS_WITHIN
    assert f"rank {victim}" in last_line(error) and "died" in last_line(error), error
    # No checkpoint was due: the run begins anew.
    tiny_run.assert_same(trained(options, output), two)


def test_a_killed_rank_ends_torchrun_and_the_run_goes_on(options, two, tmp_path):
    command = [TORCHRUN, "--no-python", "--nproc-per-node", "2", "--master-port", str(free_port())]
    with running([start(options | LONG, tmp_path / "run", {}, prefix=command)]) as [torchrun]:
        tiny_run.wait_for_updates(tmp_path / "run", [torchrun], 20)
        ranks = pathlib.Path(f"/proc/{torchrun.pid}/task/{torchrun.pid}/children").read_text(encoding="utf-8").split()
        assert len(ranks) == 2
        os.kill(int(ranks[1]), signal.SIGKILL)
        killed = time.monotonic()
        [(status, error)] = finish([torchrun])
    assert status != 0 and time.monotonic() - killed < STOPS_WITHIN
    assert "rank 1" in error or "local_rank: 1" in error, error
    tiny_run.assert_same(trained(options, tmp_path / "run"), two)


def variant(kind, options, folder):
    """A way to train: with Adam's state on one rank or on all, with text in memory or on disk, in f32 or bf16, by one pass or two."""
    if kind == "streamed":
        return tiny_run.streamed(options, folder)
    return options | {"plain": {}, "sharded": {"shard_optimizer": []}, "bf16": {"precision": "bf16"}, "r_drop": {"r_drop": 5}}[kind]


@pytest.mark.parametrize("kind, victims", [("plain", (1, 0, 1)), ("sharded", (0,)), ("streamed", (0,)), ("bf16", (0,)), ("r_drop", (0,))])
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


@pytest.mark.parametrize("kind", ["plain", "sharded", "streamed"])
def test_a_run_goes_on_in_another_number_of_processes(options, one, kind, tmp_path):
    options, output = variant(kind, options, tmp_path), tmp_path / "run"
    if kind == "streamed":
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


@pytest.mark.parametrize("receiver", [0, 1])
def test_a_signal_to_any_rank_stops_all_with_a_checkpoint(options, receiver, tmp_path):
    output = tmp_path / "run"
    with running(start_ranks(options | LONG, output)) as processes:
        tiny_run.wait_for_updates(output, processes, 10)
        processes[receiver].send_signal(signal.SIGTERM)
        done = finish(processes)
    assert [status for status, _ in done] == [128 + signal.SIGTERM] * 2, done
    assert "a checkpoint is written" in done[0][1] and done[1][1] == ""
    logged = tiny_run.metrics(output)[-1]["update"]
    assert (output / f"checkpoints/update-{logged:010}/state.json").exists()


@pytest.mark.parametrize("receiver", [0, 1])
def test_a_signal_to_a_rank_that_sets_up_is_told_to_all(options, receiver, tmp_path):
    port = free_port()
    with running(start_ranks(options, tmp_path / "run", size=3, port=port, ranks=[0, 1])) as processes:
        wait_for_ranks(port, [0, 1])
        processes[receiver].send_signal(signal.SIGTERM)
        signalled = time.monotonic()
        done = finish(processes)
    assert time.monotonic() - signalled < 25
    assert "stopped by a signal; nothing is lost" in done[receiver][1] and done[receiver][0] == 128 + signal.SIGTERM, done
    status, error = done[1 - receiver]
    assert status == 1 and f"attend: rank {receiver} was stopped by a signal" in last_line(error), done


def test_a_stopped_process_counts_as_dead(options, tmp_path):
    output = tmp_path / "run"
    with running(start_ranks(options | LONG, output)) as processes:
        tiny_run.wait_for_updates(output, processes, 5)
        processes[1].send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        status, error = finish([processes[0]])[0]
    assert status == 1 and 20 < time.monotonic() - stopped < STOPS_WITHIN
    assert "rank 1" in last_line(error) and "no sign of life" in last_line(error), error


def test_ranks_with_other_options_data_or_threads_are_refused(options, tmp_path):
    other = tmp_path / "other.en"
    other.write_text("another line\n" + options["train_source"].read_text(encoding="utf-8").split("\n", 1)[1], encoding="utf-8")
    for difference, *parts in (
        ({"dropout": 0.1}, "dropout is 0.1, there 0.2"),
        ({"train_source": other}, "train_source file 1 holds other text"),
        ({"valid_source": None, "valid_target": None}, "rank 1 has no valid_source"),
        ({"threads": 2}, "threads is 2, there 1; give --threads 1 to all"),
    ):
        (first, first_error), (second, second_error) = finish(start_ranks(options, tmp_path / "run", options_of={1: difference}))
        assert (first, second) == (1, 2), (first_error, second_error)
        for part in parts:
            assert part in last_line(second_error), second_error
            assert "rank 1 failed" in last_line(first_error) and part in last_line(first_error), first_error


@pytest.mark.parametrize("tuning", [0, 1])
def test_ranks_of_which_one_fine_tunes_are_refused(tuning, options, one, tmp_path):
    difference = {tuning: {"vocab": None, "init": one / "model"}}
    (_, first_error), (second, second_error) = finish(start_ranks(options, tmp_path / "run", options_of=difference))
    assert second == 2 and f"rank {1 - tuning} has no init" in last_line(second_error), second_error
    assert "rank 1 failed" in last_line(first_error), first_error


def test_ranks_of_a_machine_share_its_processors(options, tmp_path):
    output = trained(options | {"threads": 0}, tmp_path / "run")
    state = json.loads((output / "checkpoints/update-0000000012/state.json").read_text(encoding="utf-8"))
    assert state["run"]["environment"]["threads"] == max(len(os.sched_getaffinity(0)) // 2, 1)


def test_streamed_text_that_changes_is_named_by_all(options, tmp_path):
    streamed = tiny_run.streamed(options, tmp_path)
    with running(start_ranks(streamed | LONG, tmp_path / "run")) as processes:
        tiny_run.wait_for_updates(tmp_path / "run", processes, 3)
        touched = streamed["train_source"][2]
        os.utime(touched)
        for status, error in finish(processes):
            assert status == 3 and f"'{touched}' was written to since training started" in last_line(error), error


def test_a_failure_of_rank_0_reaches_the_others(options, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("")
    (first, first_error), (second, second_error) = finish(start_ranks(options, broken))
    assert (first, second) == (1, 1)
    assert "can't" in last_line(first_error) and str(broken) in last_line(first_error), first_error
    assert "rank 0 failed" in last_line(second_error) and str(broken) in last_line(second_error), second_error


def test_bad_variables_are_refused(options, tmp_path):
    good = {"RANK": 0, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
    for change, part in (
        ({"MASTER_ADDR": ""}, "WORLD_SIZE is set without MASTER_ADDR"),
        ({"RANK": 2}, "RANK is '2', expected a whole number from 0 to 1"),
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE is 'two'"),
    ):
        done = tiny_run.train(options, tmp_path / "run", **(good | change))
        assert done.returncode == 2 and part in done.stderr, done.stderr
    assert not (tmp_path / "run").exists()


def test_an_unknown_host_is_named_in_a_line(options, tmp_path):
    host = "x" * 64  # longer than a name may be, so that nobody is asked
    variables = {"RANK": 0, "WORLD_SIZE": 2, "MASTER_ADDR": host, "MASTER_PORT": free_port()}
    [(status, error)] = finish([start(options, tmp_path / "run", variables)])
    assert status == 1 and f"{host}:{variables['MASTER_PORT']}" in last_line(error), error
    assert "no such host is known here" in last_line(error), error
    assert "frame #" not in error


def test_two_processes_of_one_rank_are_refused(options, tmp_path):
    variables = {"WORLD_SIZE": 3, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
    done = finish([start(options, tmp_path / "run", variables | {"RANK": rank}) for rank in (0, 1, 1)])
    assert sorted(status for status, _ in done) == [1, 1, 2], done
    assert all("RANK 1 is given to two processes" in last_line(error) for _, error in done), done
    assert not (tmp_path / "run").exists()


def test_worlds_of_two_sizes_are_refused(options, tmp_path):
    port = free_port()
    processes = [start_ranks(options, tmp_path / "run", size=2 + rank, port=port, ranks=[rank])[0] for rank in range(2)]
    done = finish(processes)
    assert sorted(status for status, _ in done) == [1, 2], done
    assert all("WORLD_SIZE is" in last_line(error) for _, error in done), done


@pytest.mark.parametrize("name, value", [("peak_learning_rate", 0), ("device", "abacus")])
@pytest.mark.parametrize("refused", [0, 1])
def test_a_rank_that_is_refused_before_training_tells_the_others(options, refused, name, value, tmp_path):
    begun = time.monotonic()
    done = finish(start_ranks(options, tmp_path / "run", options_of={refused: {name: value}}))
    assert time.monotonic() - begun < STOPS_WITHIN
    assert [status for status, _ in done] == [2 if rank == refused else 1 for rank in range(2)], done
    assert last_line(done[refused][1]).startswith(f"attend: {name} is "), done
    assert f"rank {refused} failed: {name} is " in last_line(done[1 - refused][1]), done


@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_that_dies_while_ranks_meet_is_named(options, victim, tmp_path):
    port = free_port()
    with running(start_ranks(options, tmp_path / "run", size=3, port=port, ranks=[0, 1])) as processes:
        wait_for_ranks(port, [0, 1])
        processes[victim].kill()
        killed = time.monotonic()
        [(status, error)] = finish([processes[1 - victim]])
    assert status == 1 and time.monotonic() - killed < STOPS_WITHIN
    assert last_line(error).startswith(f"attend: rank {victim} ") and "died" in last_line(error), error


def test_ranks_wait_a_minute_for_one_that_does_not_come(options, tmp_path):
    begun = time.monotonic()
    done = finish(start_ranks(options | {"quiet": None}, tmp_path / "run", size=3, ranks=[0, 1]))
    assert 60 <= time.monotonic() - begun < 120  # the programs' starts with it
    assert [status for status, _ in done] == [1, 1], done
    assert all("rank 2 did not come to 127.0.0.1" in last_line(error) for _, error in done), done
    assert done[0][1].count("waiting for rank 2") >= 4, done


def ip(*arguments):
    if shutil.which("ip") is None:
        pytest.skip("ip is missing: install iproute2")
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(name="namespaces")
def make_namespaces():
    """Two network namespaces with a cable between them: as two machines are. Of two addresses Gloo calls the lower; these are above 127."""
    names = [f"attend{os.getpid()}{side}" for side in "ab"]
    cables = [f"at{os.getpid()}{side}" for side in "ab"]
    try:
        commands = [("netns", "add", name) for name in names]
        commands.append(("link", "add", cables[0], "type", "veth", "peer", "name", cables[1]))
        for i, (name, cable) in enumerate(zip(names, cables)):
            commands.append(("link", "set", cable, "netns", name))
            commands.append(("-n", name, "addr", "add", f"192.168.77.{i + 1}/24", "dev", cable))
            commands += [("-n", name, "link", "set", device, "up") for device in (cable, "lo")]
        for command in commands:
            done = ip(*command)
            if done.returncode != 0:
                pytest.skip(f"network namespaces need root: ip {' '.join(command)}: {done.stderr.strip()}")
        yield names, cables
    finally:
        for name in names:
            ip("netns", "del", name)


def start_across(options, output, names, master="192.168.77.1"):
    port = free_port()
    variables = {"WORLD_SIZE": 2, "MASTER_ADDR": master, "MASTER_PORT": port}
    return [
        start(options, output, variables | {"RANK": rank}, prefix=["ip", "netns", "exec", name]) for rank, name in enumerate(names)
    ]


def test_across_two_network_namespaces(options, two, namespaces, tmp_path):
    names, cables = namespaces
    for status, error in finish(start_across(options, tmp_path / "run", names)):
        assert status == 0, error
    tiny_run.assert_same(tmp_path / "run", two)

    # A cable that is pulled closes no connection.
    output = tmp_path / "cut"
    with running(start_across(options | LONG, output, names)) as processes:
        tiny_run.wait_for_updates(output, processes, 5)
        assert ip("-n", names[1], "link", "set", cables[1], "down").returncode == 0
        cut = time.monotonic()
        (first, first_error), (second, second_error) = finish(processes)
    assert (first, second) == (1, 1) and time.monotonic() - cut < STOPS_WITHIN
    assert "rank 1" in last_line(first_error) and "no sign of life" in last_line(first_error), first_error
    assert "rank 0" in last_line(second_error) and "no answer" in last_line(second_error), second_error


def test_a_machine_whose_own_name_is_its_loopback_is_reached(options, two, namespaces, tmp_path):
    names, _ = namespaces
    folders = [pathlib.Path("/etc/netns") / name for name in names]
    try:
        for folder, address in zip(folders, ("127.0.1.1", "192.168.77.1")):  # Debian's habit
            folder.mkdir(parents=True)
            (folder / "hosts").write_text(f"127.0.0.1 localhost\n{address} first-machine\n", encoding="utf-8")
        for status, error in finish(start_across(options, tmp_path / "run", names, master="first-machine")):
            assert status == 0, error
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    tiny_run.assert_same(tmp_path / "run", two)
