"""Starts the processes of a run of several, on this machine."""

import contextlib
import pathlib
import socket
import subprocess
import sys

import pytest
import tiny_run

TORCHRUN = pathlib.Path(sys.executable).with_name("torchrun")


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def slurm_job():
    """The number of a job whose ranks meet at a free port."""
    for job in range(1, 1000):
        with socket.socket() as port, contextlib.suppress(OSError):
            port.bind(("127.0.0.1", 10000 + job * 16 % 20000))
            return job
    raise AssertionError("no port from 10000 to 29999 is free")


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


@contextlib.contextmanager
def running(processes):
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()


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
