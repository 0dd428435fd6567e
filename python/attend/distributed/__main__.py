"""`python -m attend.distributed`: a Job from the command line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from attend._command import status_of
from attend._errors import ConfigurationError
from attend.distributed import Job, Report, run
from attend.distributed._job import check_shard

_EXAMPLES = """examples:
  python -m attend.distributed model all.en --output translated
  python -m attend.distributed model all.jsonl --output translated --column english --target german --set beam_size=6
  python -m attend.distributed model tables --output translated --column english --target german --engine ray --workers 8 --threads 4
  python -m attend.distributed model all.en --output translated --set glossary=terms.tsv --set memory=units.tmx
  python -m attend.distributed model all.en --output translated --shard $SLURM_ARRAY_TASK_ID/8

The same command again goes on where a job was killed."""


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is no NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    try:
        return int(index), int(count)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no I/N, such as 3/8") from None


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m attend.distributed", description="Runs a model over many files: plain lines, JSON lines or Parquet.", epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL", help="directory of a model that reads texts")
    parser.add_argument("inputs", metavar="INPUT", nargs="+", help="files of one kind, or folders of them")
    parser.add_argument("--output", required=True, metavar="FOLDER", help="where part-000000 and so on go; in order they are the whole output")
    parser.add_argument("--column", default="", metavar="NAME", help="the texts' column, of JSON lines and Parquet")
    parser.add_argument("--target", default="", metavar="NAME", help="the new column; the others are kept")
    parser.add_argument("--engine", choices=("here", "ray", "spark"), default="here", help="here: this process (the default); else the cluster that "
                        "RAY_ADDRESS or spark-submit names, or one of this machine")
    parser.add_argument("--workers", type=int, default=None, metavar="N", help="of Ray: that many actors (default 2)")
    parser.add_argument("--threads", type=int, default=None, metavar="N", help="of each worker; default: of this process all processors, else 1")
    parser.add_argument("--shard", type=_shard, default=None, metavar="I/N", help="here: the Ith of N processes that share the job")
    parser.add_argument("--part-bytes", type=int, default=1 << 20, metavar="N", help="about so many bytes of text are a part (default 1048576)")
    parser.add_argument("--load", type=_setting, action="append", default=[], metavar="NAME=VALUE", help="how the model is loaded: type=int8")
    parser.add_argument("--set", type=_setting, action="append", default=[], metavar="NAME=VALUE", help="how it runs: beam_size=6; glossary and memory are files")
    found = parser.parse_args(arguments)
    if found.shard and found.engine != "here":
        parser.error(f"--shard is for processes without an engine, found --engine {found.engine}")
    if found.workers is not None and found.engine != "ray":
        parser.error(f"--workers is for --engine ray, found --engine {found.engine}; --threads says how many threads a process has")
    return found


def _check(found: argparse.Namespace) -> None:
    """Before the job has begun: nothing stands then in its folder."""
    check_shard(found.shard or (1, 1))
    for name in ("workers", "threads"):
        if (given := getattr(found, name)) is not None and given < 1:
            raise ConfigurationError(f"{name} is {given}, expected at least 1")


def _engine(found: argparse.Namespace) -> Callable[[Job], Report]:
    if found.engine == "ray":
        from attend.distributed import ray  # noqa: PLC0415  where it is asked for

        return lambda job: ray.run(job, workers=found.workers or 2, threads=found.threads or 1)
    if found.engine == "spark":
        from attend.distributed import spark  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415

        session = SparkSession.builder.appName("attend").getOrCreate()
        return lambda job: spark.run(job, session, threads=found.threads or 1)
    return lambda job: run(job, threads=found.threads or 0, shard=found.shard or (1, 1))


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status, after a line that tells what was done, or what is wrong."""
    found = _arguments(arguments)

    def work() -> None:
        _check(found)
        engine = _engine(found)  # what it lacks is said before the job has begun, too
        job = Job(found.model, found.inputs, found.output, column=found.column, target=found.target, part_bytes=found.part_bytes,
                  load=dict(found.load), options=dict(found.set))
        print(engine(job))

    return status_of("attend.distributed", found.model, work)


if __name__ == "__main__":
    sys.exit(main())
