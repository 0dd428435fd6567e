"""attend.mlflow: a run of `attend train` in MLflow.

    attend.mlflow.log_run("my-model", tracking_uri="http://localhost:5000")
    python -m attend.mlflow my-model --tracking-uri http://localhost:5000 --follow 30

It reads the run's directory, so training neither waits for a server nor fails with one. A call may come while the run works, after
it, or both: options and figures that MLflow has already are not sent again.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import pathlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from attend._command import status_of
from attend._errors import InputError, RunError
from attend._packages import needed
from attend._trained_run import TrainedRun, read_run

IDENTITY = "attend.run"  # the tag by which a later call finds the run
MOST_METRICS, MOST_PARAMS = 1000, 100  # that MLflow takes in a call
SHORTEST_CUT = 500  # characters: of a shorter param MLflow has all. MLflow 3.17 cuts to 6000, servers with another limit may sooner
FILES = ("report.html", "config.toml", "result.json", "test_output.txt")

_Point = tuple[str, float, int, int]  # name, value, time in ms since 1970, update


def log_run(run: str | os.PathLike[str], *, tracking_uri: str | None = None, experiment: str = "attend", files: bool = True) -> str:
    """Sends options, figures and files of a run to MLflow and returns the id of MLflow's run.

    run: directory that `attend train --output` made; its run may be at work. One call at a time
    tracking_uri: MLflow's server or store; None: $MLFLOW_TRACKING_URI, or MLflow's default
    experiment: its name; made where there is none
    files: send the report, the options and the outputs of the test, too, as they are now

    Metrics have the names that TensorBoard shows: train/loss, valid/bleu; and test/bleu. An option that a later start of the run
    changed stands in the tag attend.changed_options, as MLflow's params never change. Raises InputError for what is no run and for a
    run that has reported nothing yet, RunError with MLflow's message, ModuleNotFoundError where MLflow is not installed.
    """
    read = read_run(pathlib.Path(run))
    if not read.timing:
        raise InputError(f"'{read.path}' has nothing to log yet: the first report comes after report_every ({read.options.get('report_every')}) updates")
    mlflow, entities, errors = packages()
    try:
        return _Logged(mlflow.MlflowClient(tracking_uri=tracking_uri), entities, read).send(experiment, files)
    except errors.MlflowException as error:
        raise RunError(f"MLflow: {' '.join(str(error).split())}") from error


def follow_run(
        run: str | os.PathLike[str], is_over: Callable[[], bool], pause: Callable[[], object], warn: Callable[[str], None], **options: Any) -> str:
    """Calls log_run with the options, after each pause again, once more when the run is over, and returns the id of MLflow's run.

    Files are sent at the end. Until then nothing is an error: not a run without a report, and a server that fails is warned of once.
    """
    warned = False
    while True:
        over = is_over()
        try:
            run_id = log_run(run, files=over, **options)
            if over:
                return run_id
            warned = False
        except Exception as error:  # the client has many kinds
            if over:
                raise
            if not warned and not isinstance(error, InputError):
                warn(f"{error}; trying again")
                warned = True
        pause()


class Follower:
    """Follows a run in a thread, for attend.train. Nothing of MLflow stops the training: what fails is a warning."""

    def __init__(self, run: pathlib.Path, tracking_uri: str, warn: Callable[[str], None], seconds: float = 30) -> None:
        """Raises ModuleNotFoundError where MLflow is not installed."""
        packages()
        self.run, self.tracking_uri, self.warn, self.seconds = run, tracking_uri, warn, seconds
        self.trained, self.over = False, threading.Event()
        self.thread = threading.Thread(target=self._follow, daemon=True)
        self.thread.start()

    def end(self, trained: bool, most_seconds: float = 60) -> None:
        """Sends the rest of a run that is over, unless MLflow takes longer. Of a training that failed there may be nothing."""
        self.trained = trained
        self.over.set()
        self.thread.join(most_seconds)
        if self.thread.is_alive():
            self.warn(f"MLflow has not answered for {most_seconds:g} s, and this program goes on sending while it runs; after that {self._cure()}")

    def _follow(self) -> None:
        try:
            follow_run(self.run, self.over.is_set, lambda: self.over.wait(self.seconds), self.warn, tracking_uri=self.tracking_uri)
        except Exception as error:
            if self.trained or not isinstance(error, InputError):
                self.warn(f"{error}; {self._cure()}")

    def _cure(self) -> str:
        return f"`python -m attend.mlflow {self.run} --tracking-uri {self.tracking_uri}` sends what MLflow lacks"


def packages() -> tuple[Any, Any, Any]:
    """MLflow, its entities and its exceptions."""
    with needed("attend.mlflow", "mlflow-skinny"):
        return tuple(importlib.import_module(name) for name in ("mlflow", "mlflow.entities", "mlflow.exceptions"))  # type: ignore[return-value]


def _at_work(run: pathlib.Path) -> bool:
    """Whether a process of this machine holds the run's lock, as the system tells: "1: FLOCK ADVISORY WRITE 17126 fe:00:5335491 0 EOF"."""
    with contextlib.suppress(OSError):
        inode = str((run / "lock").stat().st_ino)
        locks = [line.split() for line in pathlib.Path("/proc/locks").read_text(encoding="utf-8").splitlines()]
        return any(line[1] == "FLOCK" and line[5].rpartition(":")[2] == inode for line in locks if len(line) == 8)
    return False


class _Logged:
    def __init__(self, client: Any, entities: Any, run: TrainedRun) -> None:
        self.client, self.entities, self.run = client, entities, run

    def send(self, experiment: str, files: bool) -> str:
        found = self.find(experiment)
        run_id: str = found.info.run_id
        self.send_options(run_id, found.data.params)
        self.send_metrics(run_id)
        for name in FILES if files else ():
            if (self.run.path / name).is_file():
                self.client.log_artifact(run_id, str(self.run.path / name))
        if self.run.finished and found.info.status != "FINISHED":
            self.client.set_terminated(run_id, "FINISHED", end_time=_ms(self.run.timing[-1]["time"]))
        return run_id

    def find(self, experiment: str) -> Any:
        known = self.client.get_experiment_by_name(experiment)
        where: str = known.experiment_id if known else self.client.create_experiment(experiment)
        identity = _identity(self.run)
        found = self.client.search_runs([where], filter_string=f"tags.`{IDENTITY}` = '{identity}'", max_results=1)
        if found:
            return found[0]
        first = self.run.timing[0]
        return self.client.create_run(
            where, start_time=_ms(first["time"] - first["seconds"]), run_name=self.run.path.resolve().name, tags={
                IDENTITY: identity, "attend.path": str(self.run.path.resolve()), "attend.task": self.run.task,
                **{f"attend.machine.{name}": str(value) for name, value in self.run.machine.items()}})

    def send_options(self, run_id: str, known: dict[str, str]) -> None:
        shown = {name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for name, value in self.run.options.items()}
        shown["parameters"] = str(self.run.parameters)
        new = [self.entities.Param(name, value) for name, value in shown.items() if name not in known]
        for begin in range(0, len(new), MOST_PARAMS):
            self.client.log_batch(run_id, params=new[begin:begin + MOST_PARAMS])
        changed = {name: shown[name] for name, value in known.items() if name in shown and not _same(shown[name], value)}
        if changed:
            self.client.set_tag(run_id, "attend.changed_options", json.dumps(changed, ensure_ascii=False))

    def send_metrics(self, run_id: str) -> None:
        """In the order of updates, so that a call that was cut short leaves nothing out that stands before what it sent."""
        points = list(_points(self.run))
        last = {name: max((point.step for point in self.client.get_metric_history(run_id, name)), default=-1) for name in {point[0] for point in points}}
        new = [self.entities.Metric(*point) for point in points if point[3] > last[point[0]]]
        for begin in range(0, len(new), MOST_METRICS):
            self.client.log_batch(run_id, metrics=new[begin:begin + MOST_METRICS])


def _same(value: str, known: str) -> bool:
    """Whether MLflow has the value, whole or cut."""
    return value == known or (len(known) >= SHORTEST_CUT and value.startswith(known))


def _identity(run: TrainedRun) -> str:
    """The run's own, wherever its directory is moved: of the clock's time at its first report, which the log keeps for ever."""
    return hashlib.sha256(json.dumps(run.timing[0], sort_keys=True).encode()).hexdigest()[:32]


def _points(run: TrainedRun) -> Iterator[_Point]:
    """In the order of updates."""
    points = [*_training(run), *_validations(run)]
    if run.test and run.updates:
        update, when = run.updates[-1]["update"], _ms(run.timing[-1]["time"])
        scores = ((figure.name, run.test_score(figure.name)) for figure in run.test_figures)
        points += [(f"test/{_plain(name)}", float(score), when, update) for name, score in scores if score is not None]
    yield from sorted(points, key=lambda point: point[3])


def _training(run: TrainedRun) -> Iterator[_Point]:
    """At each report: the loss of a target since the one before, the learning rate and the speed."""
    reports = {line["update"]: line for line in run.timing}  # of repeated updates the last
    loss, targets, before = 0.0, 0, 0
    for line in run.updates:
        here, before = line["target_tokens"] - before, line["target_tokens"]
        if line.get("loss") is not None:
            loss, targets = loss + line["loss"] * here, targets + here
        report = reports.get(line["update"])
        if report is None:
            continue
        when = _ms(report["time"])
        if targets > 0:
            yield "train/loss", loss / targets, when, line["update"]
        yield "train/learning_rate", line["learning_rate"], when, line["update"]
        yield "train/target_tokens_per_s", report["target_tokens_per_s"], when, line["update"]
        loss, targets = 0.0, 0


def _validations(run: TrainedRun) -> Iterator[_Point]:
    for line in run.validations:
        later = next((report for report in run.timing if report["update"] >= line["update"]), run.timing[-1])
        for name, value in line["validation"].items():
            if value is not None:
                yield f"valid/{_plain(name)}", value, _ms(later["time"]), line["update"]


def _plain(name: str) -> str:
    """In the letters that MLflow takes: chrf++ is chrfpp."""
    return re.sub(r"[^\w. -]", "_", name.replace("+", "p"))


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "python -m attend.mlflow", description="Sends a run of `attend train` to MLflow. A later call sends what has come since.",
        epilog="example: python -m attend.mlflow my-model --tracking-uri http://localhost:5000 --follow 30")
    parser.add_argument("run", metavar="RUN", type=pathlib.Path, help="directory that `attend train --output` made")
    parser.add_argument("--tracking-uri", metavar="URI", help="MLflow's server or store; default: $MLFLOW_TRACKING_URI, or MLflow's own")
    parser.add_argument("--experiment", metavar="NAME", default="attend", help="made where there is none; default: attend")
    parser.add_argument(
        "--follow", metavar="SECONDS", type=float, help="send again after so many seconds, until no process of this machine trains the run, which "
        "has begun")
    given = parser.parse_args(arguments)
    if given.follow is not None and not 0 < given.follow < float("inf"):
        parser.error(f"--follow is {given.follow:g}, expected more than 0 seconds")
    where = {"tracking_uri": given.tracking_uri, "experiment": given.experiment}

    def work() -> None:
        packages()
        if given.follow is None:
            print(log_run(given.run, **where))
        else:
            print(follow_run(given.run, lambda: not _at_work(given.run), lambda: time.sleep(given.follow), _warn, **where))

    try:
        return status_of("attend.mlflow", str(given.run), work)
    except KeyboardInterrupt:
        print("attend.mlflow: interrupted; the same call goes on from there", file=sys.stderr)
        return 130


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
