"""How runs went: curves over updates, tokens and time."""

from __future__ import annotations

import bisect
from typing import Any

from attend._plots import COLOURS, drawing
from attend._report import Key, Plot
from attend._trained_run import Figure, Point, TrainedRun

MOST_POINTS = 300
STYLES = (("solid", "-"), ("dashed", "--"), ("dotted", ":"))  # of CSS and of matplotlib


def key(names: list[str]) -> Key:
    looks = [_look(i) for i in range(len(names))]
    return Key([(name, colour, style) for name, (colour, (style, _)) in zip(names, looks, strict=True)])


def _look(run: int) -> tuple[str, tuple[str, str]]:
    return COLOURS[run % len(COLOURS)], STYLES[run // len(COLOURS) % len(STYLES)]


def tokens_at(run: TrainedRun) -> dict[int, float]:
    return {line["update"]: line["target_tokens"] for line in run.updates}


def seconds_at(run: TrainedRun) -> list[Point]:
    """(update, seconds in updates until then). Of updates that were trained again after a stop, the last time counts."""
    windows: list[tuple[int, float]] = []
    for line in run.timing:
        while windows and windows[-1][0] >= line["update"]:
            windows.pop()
        windows.append((line["update"], line["seconds"]))
    points, spent = [(0.0, 0.0)], 0.0
    for update, seconds in windows:
        spent += seconds
        points.append((update, spent))
    return points


def _between(points: list[Point], update: float) -> float | None:
    """None behind the last one."""
    place = bisect.bisect_left(points, (update, 0.0))
    if place == len(points):
        return None
    if place == 0 or points[place][0] == update:
        return points[place][1]
    (left, low), (right, high) = points[place - 1], points[place]
    return low + (high - low) * (update - left) / (right - left)


def training_loss(run: TrainedRun) -> list[Point]:
    """(update, loss): means of at most MOST_POINTS equal stretches of updates."""
    losses = [(line["update"], line["loss"]) for line in run.updates if line.get("loss") is not None]
    stretch = -(-len(losses) // MOST_POINTS) or 1
    parts = (losses[begin:begin + stretch] for begin in range(0, len(losses), stretch))
    return [(part[-1][0], sum(loss for _, loss in part) / len(part)) for part in parts]


def validation(run: TrainedRun, figure: Figure) -> list[Point]:
    found = ((line["update"], line["validation"].get(figure.name)) for line in run.validations)
    return [(update, value) for update, value in found if value is not None]


def drawn(curves: list[list[Point]], runs: list[TrainedRun], label: str) -> list[Plot]:
    """One quantity, over updates, target tokens and time."""
    tokens = [tokens_at(run) for run in runs]
    seconds = [seconds_at(run) for run in runs]
    longest = max((points[-1][1] for points in seconds), default=0)
    unit, size = next((name, size) for name, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)) if longest >= 2 * size or size == 1)
    axes: list[tuple[str, list[list[Point]]]] = [("updates", curves)]
    axes.append(("target tokens", [[(tokens[i][int(x)], y) for x, y in points if int(x) in tokens[i]] for i, points in enumerate(curves)]))
    timed = ([(_between(seconds[i], x), y) for x, y in points] for i, points in enumerate(curves))
    axes.append((unit, [[(x / size, y) for x, y in points if x is not None] for points in timed]))
    return [_plot(lines, axis, label) for axis, lines in axes if any(lines)]


def _plot(lines: list[list[Point]], axis: str, label: str) -> Plot:
    with drawing(1, height=2.9, width=4.2) as (picture, panels):
        panel: Any = panels[0]
        for i, points in enumerate(lines):
            colour, (_, style) = _look(i)
            panel.plot(*zip(*points, strict=True) if points else ([], []), style, color=colour, linewidth=1.5, marker="o" if len(points) <= 30 else "",
                       markersize=3)
        panel.set_xlabel(axis)
        panel.set_ylabel(label)
        panel.set_xlim(left=0)
        if axis in ("updates", "target tokens"):
            panel.xaxis.set_major_formatter("{x:,.0f}")
            panel.locator_params(axis="x", nbins=5)
    return Plot(picture.svg, "")
