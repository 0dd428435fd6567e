"""attend.distributed.spark: on a cluster of two executors, with an executor and a driver killed, the bytes are those of one process."""

import os
import shutil
import signal
import sys

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed (tools/requirements_cluster.txt)")
if shutil.which("java") is None:
    pytest.skip("there is no Java (the Debian package default-jre-headless)", allow_module_level=True)

import pyarrow.parquet  # noqa: E402
from distributed_jobs import (  # noqa: E402
    FAST, SLOW, arguments, by_program, check_unchanged, content, finished, kill_one, parts, start, texts, wait_for_parts, write_lines, write_parquet)
from package import GOLDEN  # noqa: E402


def on(master):
    """The environment of a driver."""
    settings = "--conf spark.ui.enabled=false --conf spark.driver.host=127.0.0.1 --conf spark.driver.bindAddress=127.0.0.1"
    return {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_SUBMIT_ARGS": f"--master {master} {settings} pyspark-shell"}


TWO = on("local-cluster[2,1,1024]")
WITH_UDF = """
import sys

import attend.distributed.spark
from pyspark.sql import SparkSession

model, table, output = sys.argv[1:]
session = SparkSession.builder.getOrCreate()
german = attend.distributed.spark.udf(model, options={"beam_size": 1, "max_length": 8})
session.read.parquet(table).withColumn("german", german("english")).write.parquet(output)
session.udf.register("german", german)
print("said", session.sql("SELECT german('lumi tavo') AS german").collect()[0].german)
"""


@pytest.fixture(name="job")
def long_job(tmp_path):
    """Starts a driver; what it makes in the end is compared."""
    write_parquet(tmp_path / "all.parquet", texts(120))
    job = arguments(tmp_path / "all.parquet", tmp_path / "out", SLOW, "--part-bytes", 200, "--column", "english", "--target", "german")
    yield lambda: start(*job, "--engine", "spark", **TWO)
    finished(start(*[tmp_path / "alone" if part == tmp_path / "out" else part for part in job]))
    assert [path.name for path in parts(tmp_path / "out")] == [path.name for path in parts(tmp_path / "alone")]
    assert content(tmp_path / "out") == content(tmp_path / "alone")
    assert not list((tmp_path / "out").glob("_part-*"))


def test_smoke(tmp_path):
    write_lines(tmp_path / "all.en", texts(30))
    said = finished(start(*arguments(tmp_path / "all.en", tmp_path / "out", FAST, "--part-bytes", 200, "--engine", "spark"), **on("local[2]")))
    assert content(tmp_path / "out") == by_program(tmp_path / "all.en", tmp_path / "all.de", FAST)
    assert f"{len(parts(tmp_path / 'out'))} made now from 30 rows" in said


def test_a_lost_executor(job, tmp_path):
    process = job()
    before = wait_for_parts(tmp_path / "out", 3, process)
    kill_one(process.pid, "CoarseGrainedExecutorBackend")
    finished(process)
    check_unchanged(before, tmp_path / "out")


def test_a_killed_driver(job, tmp_path):
    process = job()
    wait_for_parts(tmp_path / "out", 3, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in parts(tmp_path / "out")}
    finished(job())
    check_unchanged(before, tmp_path / "out")


def test_an_error_of_an_executor_is_told(tmp_path):
    write_lines(tmp_path / "all.en", texts(30))
    options = {"overlong": "refuse", "max_input_tokens": 1}
    # One part: of several that run at once any may be the first to fail.
    process = start(*arguments(tmp_path / "all.en", tmp_path / "out", options, "--engine", "spark"), **on("local[2]"))
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 3, said
    assert "attend.distributed: '" in said.splitlines()[-1]
    assert "all.en', from byte 0 on: text " in said.splitlines()[-1]


def test_a_udf(tmp_path, translator):
    write_parquet(tmp_path / "all.parquet", texts(120))
    said = finished(start("-c", WITH_UDF, GOLDEN, tmp_path / "all.parquet", tmp_path / "with", **TWO))
    assert f"said {translator.translate('lumi tavo', **FAST)}\n" in said
    made = pyarrow.parquet.read_table(tmp_path / "with").sort_by("id")
    finished(start(*arguments(tmp_path / "all.parquet", tmp_path / "out", FAST, "--column", "english", "--target", "german")))
    assert made.to_pylist() == pyarrow.parquet.read_table(tmp_path / "out").to_pylist()
