"""What stops one of several processes that train a model stops all, in time and with its name; and what is refused.

Most of these tests wait for a time limit.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
import tiny_run
import torch
from ranks import (  # noqa: F401
    TORCHRUN, finish, free_port, last_line, prepare, running, start, start_ranks, train_in_one_process, train_in_two_processes,
    trained)

LONG = {"max_updates": 100000, "validate_every": 100000, "checkpoint_every": 100000}
STOPS_WITHIN = 60  # seconds, from a death


def wait_for_ranks(port, ranks):
    """Until these have taken their places among those that meet at `port`."""
    store = torch.distributed.TCPStore("127.0.0.1", port, is_master=False, wait_for_workers=False)
    deadline = time.monotonic() + 60
    while not store.check([f"attend//taken/{rank}" for rank in ranks]):
        assert time.monotonic() < deadline
        time.sleep(0.05)


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
