"""attend.distributed.ray: on clusters of two workers, with workers, a machine and a driver killed, the bytes are those of one process."""

import os
import re
import signal

import pytest

pytest.importorskip("ray.data", reason="ray[data] is not installed (tools/requirements_cluster.txt)")

import pyarrow.parquet  # noqa: E402
from distributed_jobs import (  # noqa: E402
    FAST, SLOW, arguments, by_program, check_unchanged, content, finished, kill_one, parts, start, texts, wait_for_parts, write_lines, write_parquet)
from package import GOLDEN  # noqa: E402

ALONE = {"RAY_AUTH_MODE": "disabled", "RAY_ADDRESS": "local"}  # without a token in the user's home
REFUSING = {"overlong": "refuse", "max_input_tokens": 1}

WITH_NEW_COLUMN = """
import sys

import attend.distributed.ray
import ray

model, table, output = sys.argv[1:]
ray.data.DataContext.get_current().execution_options.preserve_order = True
data = ray.data.read_parquet(table)
settings = {"model": model, "column": "english", "target": "german", "options": {"beam_size": 1, "max_length": 8}}
data = data.map_batches(
    attend.distributed.ray.NewColumn, fn_constructor_kwargs=settings, batch_format="pyarrow", compute=ray.data.ActorPoolStrategy(size=1))
data.write_parquet(output)
"""


@pytest.fixture(name="cluster", scope="module")
def cluster_of_two():
    """Two machines of one processor each, as far as Ray knows."""
    os.environ["RAY_AUTH_MODE"] = "disabled"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    cluster.machines = [cluster.add_node(num_cpus=1) for _ in range(2)]
    yield cluster
    cluster.shutdown()


@pytest.fixture(name="job")
def long_job(cluster, tmp_path):
    """Starts a driver; what it makes in the end is compared."""
    write_lines(tmp_path / "all.en", texts(120))
    command = arguments(tmp_path / "all.en", tmp_path / "out", SLOW, "--part-bytes", 150, "--engine", "ray")
    yield lambda: start(*command, **ALONE | {"RAY_ADDRESS": cluster.address})
    assert content(tmp_path / "out") == by_program(tmp_path / "all.en", tmp_path / "all.de", SLOW)
    assert not list((tmp_path / "out").glob("_part-*"))


def test_smoke(tmp_path):
    write_lines(tmp_path / "all.en", texts(30))
    said = finished(start(*arguments(tmp_path / "all.en", tmp_path / "out", FAST, "--part-bytes", 200, "--engine", "ray"), **ALONE))
    assert content(tmp_path / "out") == by_program(tmp_path / "all.en", tmp_path / "all.de", FAST)
    assert f"{len(parts(tmp_path / 'out'))} made now from 30 rows" in said


def test_a_lost_worker(job, tmp_path):
    process = job()
    before = wait_for_parts(tmp_path / "out", 3, process)
    kill_one(os.getpid(), "MapWorker")
    print(finished(process))
    check_unchanged(before, tmp_path / "out")


def test_a_killed_driver(job, tmp_path):
    process = job()
    wait_for_parts(tmp_path / "out", 3, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in parts(tmp_path / "out")}
    said = finished(job())
    check_unchanged(before, tmp_path / "out")
    assert int(re.search(r"(\d+) made now", said)[1]) <= len(parts(tmp_path / "out")) - len(before)


def test_a_lost_machine(job, cluster, tmp_path):
    process = job()
    before = wait_for_parts(tmp_path / "out", 3, process)
    cluster.remove_node(cluster.machines.pop(), allow_graceful=False)
    finished(process)
    check_unchanged(before, tmp_path / "out")
    cluster.machines.append(cluster.add_node(num_cpus=1))


def test_an_error_of_a_worker_is_told(cluster, tmp_path):
    write_lines(tmp_path / "all.en", texts(30))
    process = start(*arguments(tmp_path / "all.en", tmp_path / "out", REFUSING, "--part-bytes", 200, "--engine", "ray"),
                    **ALONE | {"RAY_ADDRESS": cluster.address})
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 3, said
    assert re.fullmatch(r"attend.distributed: '.*all.en', from byte \d+ on: text .* raise max_input_tokens", said.splitlines()[-1]), said


def test_a_column_of_a_dataset(cluster, tmp_path):
    table = write_parquet(tmp_path / "all.parquet", texts(120))
    finished(start(
        "-c", WITH_NEW_COLUMN, GOLDEN, tmp_path / "all.parquet", tmp_path / "with", **ALONE | {"RAY_ADDRESS": cluster.address}))
    made = pyarrow.parquet.read_table(tmp_path / "with").sort_by("id")
    finished(start(*arguments(tmp_path / "all.parquet", tmp_path / "out", FAST, "--column", "english", "--target", "german")))
    assert made.equals(pyarrow.parquet.read_table(tmp_path / "out"))
    assert made.num_rows == table.num_rows
