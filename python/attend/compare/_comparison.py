"""The page of a comparison: figures, significance, options that differ, curves."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import Any

from attend._errors import UsageError
from attend._report import MISSING, Block, Curves, Heading, Points, Report, Table, Text
from attend._trained_run import Figure, Point, TrainedRun, read_run
from attend.compare import _curves, _significance

MOST_ROWS = 10  # of a curve as text
UNCOMPARED = ("output",)  # options that no two runs share


def compare(runs: Sequence[str | os.PathLike[str]], *, plots: bool = True, bootstrap_samples: int = 1000, seed: int = 12345) -> Report:
    """Runs of `attend train` of one task side by side; the others' test texts are compared with that of the first.

    runs: directories that `attend train --output` made, of runs that are over or still at work
    plots: draw the curves, which HTML alone shows; needs matplotlib
    bootstrap_samples, seed: of the paired bootstrap

    Raises InputError for what is no run, UsageError for fewer than two runs or runs of several tasks.
    """
    paths = [pathlib.Path(run) for run in runs]
    if len(paths) < 2 or len({path.resolve() for path in paths}) < len(paths):
        raise UsageError(f"{len(paths)} runs are given ({', '.join(map(str, paths))}), expected two or more, each once")
    read = [read_run(path) for path in paths]
    if len({run.task for run in read}) > 1:
        raise UsageError("runs of one task can be compared, and these are of " + ", ".join(f"{run.task} ('{run.path}')" for run in read))
    return _Comparison(read, bootstrap_samples, seed).report(plots)


def names_of(paths: list[pathlib.Path]) -> list[str]:
    """The ends of the paths, as long as it takes for each to be another."""
    parts = [path.resolve().parts for path in paths]
    for length in range(1, max(map(len, parts))):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [str(path.resolve()) for path in paths]


class _Comparison:
    def __init__(self, runs: list[TrainedRun], samples: int, seed: int) -> None:
        self.runs, self.samples, self.seed = runs, samples, seed
        self.names = names_of([run.path for run in runs])
        first = runs[0]
        self.validation = [figure for figure in first.validation_figures if any(run.best(figure) for run in runs)]
        self.test = [figure for figure in first.test_figures if any(run.test_score(figure.name) is not None for run in runs)]

    def report(self, plots: bool) -> Report:
        tested = [_significance.tested(run) for run in self.runs]
        found = {self.names[i]: self.against_first(tested[0], tested[i]) for i in range(1, len(tested))}
        blocks: list[Block] = [*self.notes(), Heading("Figures"), self.figures()]
        blocks += [Heading("Significance on the test text"), *self.significance(tested, found)]
        blocks += [Heading("Options that differ"), self.differing([run.options for run in self.runs], "options")]
        blocks += [Heading("Machines"), self.differing([run.machine for run in self.runs], "machines")]
        blocks += self.curves(plots)
        title = f"Runs compared: {self.runs[0].task.replace('_', ' ')}"
        return Report(title, self.data(found), blocks)

    def notes(self) -> list[Block]:
        points = []
        if unfinished := [name for name, run in zip(self.names, self.runs, strict=True) if not run.finished]:
            points.append(f"Not over yet: {', '.join(unfinished)}.")
        if len({_bytes(run.path / "vocab.spm") for run in self.runs}) > 1:
            points.append("The vocabularies differ, so loss and perplexity, which are of a token, can't be compared between these runs.")
        return [Points(points)] if points else []

    def figures(self) -> Table:
        rows: list[list[str]] = []
        best: list[tuple[int, int]] = []

        def add(label: str, values: list[Any], texts: list[str], figure: Figure | None = None) -> None:
            known = [value for value in values if value is not None]
            if figure and len(known) > 1 and len(set(known)) > 1:
                top = (max if figure.high_is_better else min)(known)
                best.extend((len(rows), column + 1) for column, value in enumerate(values) if value == top)
            rows.append([label, *texts])

        def plain(label: str, values: list[Any], high_is_better: bool | None = None) -> None:
            add(label, values, [_number(value) for value in values], None if high_is_better is None else Figure("", "", high_is_better))

        runs = self.runs
        plain("updates", [run.updates[-1]["update"] if run.updates else None for run in runs])
        plain("target tokens", [run.updates[-1]["target_tokens"] if run.updates else None for run in runs])
        add("time in updates", [], [_duration(run.seconds) for run in runs])
        plain("target tokens/s", [run.tokens_per_s and round(run.tokens_per_s) for run in runs])
        plain("parameters", [run.parameters for run in runs])
        if any(run.trained_parameters != run.parameters for run in runs):
            plain("of them trained", [run.trained_parameters for run in runs])
        for figure in self.validation:
            found = [run.best(figure) for run in runs]
            add(f"best validation {figure.label}", [each and each[1] for each in found],
                [f"{_number(each[1])} at {each[0]:,}" if each else MISSING for each in found], figure)
        for figure in self.test:
            plain(f"test {figure.label}", [run.test_score(figure.name) for run in runs], figure.high_is_better)
        return Table(["", *self.names], rows, best=frozenset(best))

    def against_first(self, first: _significance.Tested | str, other: _significance.Tested | str) -> dict[str, Any] | str:
        if isinstance(first, str):
            return f"of the first run: {first}"
        if isinstance(other, str):
            return other
        return _significance.against(first, other, self.samples, self.seed)

    def significance(self, tested: list[_significance.Tested | str], found: dict[str, dict[str, Any] | str]) -> list[Block]:
        labels = {figure.name: figure.label for figure in self.runs[0].test_figures}
        if isinstance(tested[0], _significance.Tested) and tested[0].label:
            labels["exact_match"] = tested[0].label
        rows, why = [], []
        for name, scores in found.items():
            if isinstance(scores, str):
                why.append(f"{name} is not compared: {scores}.")
                continue
            for metric, score in scores.items():
                change = score["score"] - score["baseline"]["score"]
                rows.append([name, labels.get(metric, metric), f"{score['baseline']['score']:.2f}", f"{score['score']:.2f}", f"{change:+.2f}",
                             f"{score['mean']:.2f} ± {score['confidence']:.2f}", "equal" if score["p_value"] is None else f"{score['p_value']:.4f}"])
        blocks: list[Block] = []
        if rows:
            blocks.append(Text(f"Each run against {self.names[0]}, the first, by paired bootstrap resampling ({self.samples:,} samples of the test text, "
                               f"seed {self.seed}). p is the probability of such a difference where the runs are equally good; below 0.05 "
                               "it is called significant. It is not corrected for the number of comparisons, and it says nothing of other seeds of training."))
            blocks.append(Table(["run", "figure", self.names[0], "run's", "change", "mean, 95 % within", "p"], rows, words=(0, 1)))
        return [*blocks, *([Points(why)] if why else [])]

    def differing(self, options: list[dict[str, Any]], what: str) -> Block:
        names = list(dict.fromkeys(name for each in options for name in each))
        rows = []
        for name in names:
            values = [each.get(name) for each in options]
            if name not in UNCOMPARED and any(value != values[0] for value in values):
                rows.append([f"`{name}`" if what == "options" else name.replace("_", " "), *map(_shown, values)])
        return Table(["", *self.names], rows, words=tuple(range(len(self.names) + 1))) if rows else Text(f"The {what} are the same.")

    def curves(self, plots: bool) -> list[Block]:
        runs = self.runs
        blocks: list[Block] = [_curves.key(self.names)] if plots else []
        shown = [figure for figure in self.validation if figure.name in ("loss", *runs[0].charted)]
        lines: list[tuple[str, str, list[list[Point]]]] = [("Training loss", "loss", [_curves.training_loss(run) for run in runs])]
        lines += [(f"Validation {figure.label}", figure.label, [_curves.validation(run, figure) for run in runs]) for figure in shown]
        for title, label, curves in lines:
            if any(curves):
                blocks += [Heading(title), Curves(_curves.drawn(curves, runs, label) if plots else [], self.as_table(curves))]
        return blocks

    def as_table(self, curves: list[list[Point]]) -> Table:
        """At so many updates, spread evenly; of each run its last point until there."""
        updates = sorted({update for points in curves for update, _ in points})
        rows = min(MOST_ROWS, len(updates))
        picked = [updates[(i + 1) * len(updates) // rows - 1] for i in range(rows)]
        table = []
        for update in picked:
            last = [[value for at, value in points if at <= update and points[-1][0] >= update] for points in curves]
            table.append([f"{int(update):,}", *(_number(values[-1]) if values else MISSING for values in last)])
        return Table(["update", *self.names], table, words=())

    def data(self, found: dict[str, dict[str, Any] | str]) -> dict[str, Any]:
        runs = {}
        for name, run in zip(self.names, self.runs, strict=True):
            bests = {figure.name: run.best(figure) for figure in self.validation}
            runs[name] = {
                "path": str(run.path), "finished": run.finished, "updates": run.updates[-1]["update"] if run.updates else 0,
                "target_tokens": run.updates[-1]["target_tokens"] if run.updates else 0, "seconds": run.seconds,
                "target_tokens_per_s": run.tokens_per_s, "parameters": run.parameters, "trained_parameters": run.trained_parameters,
                "best": {figure: {"update": each[0], "value": each[1]} for figure, each in bests.items() if each},
                "test": {figure.name: run.test_score(figure.name) for figure in self.test},
                "curves": {"training_loss": _curves.training_loss(run)} | {figure.name: _curves.validation(run, figure) for figure in self.validation}}
        names = dict.fromkeys(name for run in self.runs for name in run.options)
        values = {name: [run.options.get(name) for run in self.runs] for name in names if name not in UNCOMPARED}
        return {"task": self.runs[0].task, "runs": runs, "baseline": self.names[0], "seed": self.seed, "bootstrap_samples": self.samples,
                "options": {name: dict(zip(self.names, each, strict=True)) for name, each in values.items() if any(one != each[0] for one in each)},
                "significance": {name: {"why_not": each} if isinstance(each, str) else each for name, each in found.items()}}


def _bytes(path: pathlib.Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _number(value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or MISSING
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else MISSING if value in (None, "") else str(value)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
