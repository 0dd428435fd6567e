"""The directory of a run of `attend train`, finished or not, as its files tell it."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from attend._errors import InputError

Point = tuple[float, float]


@dataclass(frozen=True)
class Figure:
    """A number that tells how good a model is."""

    name: str  # in metrics.jsonl and result.json
    label: str  # for people
    high_is_better: bool


@dataclass(frozen=True)
class TrainedRun:
    path: pathlib.Path
    task: str
    options: dict[str, Any]  # "encoder.layers": 4
    defaults: dict[str, Any]
    machine: dict[str, Any]
    parameters: int
    trained_parameters: int
    validation_figures: list[Figure]
    test_figures: list[Figure]
    charted: list[str]  # names of validation figures that report.html draws
    updates: list[dict[str, Any]]  # lines of metrics.jsonl, an update each
    validations: list[dict[str, Any]]  # lines {"update", "validation": {name: number or None}}
    timing: list[dict[str, Any]]  # lines of timing.jsonl, those of repeated updates too
    test: dict[str, Any]  # result.json; empty: there is none

    @property
    def finished(self) -> bool:
        return (self.path / "result.json").is_file() or any((self.path / name / "config.json").is_file() for name in ("model", "adapter"))

    @property
    def seconds(self) -> float:
        """The time in updates; validation is left out."""
        return float(sum(line["seconds"] for line in self.timing))

    @property
    def tokens_per_s(self) -> float | None:
        """Target tokens a second, in updates."""
        tokens = sum(line["seconds"] * line["target_tokens_per_s"] for line in self.timing)
        return tokens / self.seconds if self.seconds > 0 else None

    def best(self, figure: Figure) -> tuple[int, float] | None:
        """The update of the best validation by this figure, and the figure."""
        found = [(line["update"], line["validation"][figure.name]) for line in self.validations if line["validation"].get(figure.name) is not None]
        pick = max if figure.high_is_better else min
        return pick(found, key=lambda each: each[1], default=None)

    def test_score(self, name: str) -> float | None:
        found = self.test.get(name)
        if isinstance(found, dict):
            found = found.get("score")
        return found if isinstance(found, (int, float)) else None


def read_run(path: pathlib.Path) -> TrainedRun:
    """Raises InputError where `path` is no directory of a run, or its run has not written a report yet."""
    page = _report_data(path)
    lines = list(_lines(path / "metrics.jsonl"))
    result = path / "result.json"
    try:
        test = json.loads(result.read_text(encoding="utf-8")) if result.is_file() else {}
    except ValueError as error:
        raise InputError(f"'{result}' is no JSON: {error}; the run's last command writes it anew") from None
    try:
        task = page["task"]
        figures = {kind: [Figure(each["name"], each["label"], each["high_is_better"]) for each in task[kind]] for kind in ("validation", "test")}
        options = _flat(page["options"])
        options.pop("task", None)
        return TrainedRun(
            path, task["name"], options, _flat(page["defaults"]), page["machine"] or {}, page["parameters"], page["trained_parameters"],
            figures["validation"], figures["test"], [name for chart in task["charts"] for name in chart["figures"]],
            [line for line in lines if "validation" not in line], [line for line in lines if "validation" in line],
            list(_lines(path / "timing.jsonl")), test if isinstance(test, dict) else {})
    except (KeyError, TypeError) as error:
        raise InputError(f"'{path / 'report.html'}' lacks {error}, expected the report of this version of attend") from None


def _report_data(path: pathlib.Path) -> dict[str, Any]:
    """What report.html shows: the one file that has the options, the machine and the names of the task's figures."""
    if not (path / "metrics.jsonl").is_file():
        raise InputError(f"'{path}' is no run: it has no metrics.jsonl, expected a directory that `attend train --output` made")
    report = path / "report.html"
    if not report.is_file():
        raise InputError(f"'{path}' has no report.html yet; a run writes it with its first checkpoint")
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', report.read_text(encoding="utf-8", errors="replace"), re.DOTALL)
    try:
        data = json.loads(found[1]) if found else None
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise InputError(f"'{report}' holds no data of a run, expected the page that `attend train` wrote")
    return data


def _lines(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """The whole lines; a run that works may just write the last one."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                value = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                value = None
            if not isinstance(value, dict) or "update" not in value:
                return
            yield value


def _flat(options: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in options.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat
