"""The layers of Table 1: what `attend bench layers` measures of each, fitted and drawn."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any

from attend.paper._cells import Result
from attend.paper._fit import PowerLaw, power_law
from attend._plots import COLOURS, drawing, widths_of
from attend._report import Plot
from attend.paper._work import Work

LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
WIDTHS = (64, 128, 256, 512, 1024)
GRAPH_LENGTHS = (16, 64, 256, 1024)
WINDOW, KERNEL_WIDTH, HEAD_WIDTH = 16, 3, 64
SECONDS, LONGEST = 0.2, 10.0  # that a measurement takes at least, and may take forward and backward
FITTED_LENGTH, FITTED_WIDTH = 256, 128  # exponents are of points from these on: below, calls of functions take most of the time
NEAR = 0.03  # of log10: what a line's width hides
FIGURES = ("forward_s", "backward_s", "peak_bytes")


@dataclass(frozen=True)
class Kind:
    name: str
    bench: str  # as `attend bench layers --kind` has it
    complexity: str  # in the paper
    sequential: str
    path: str
    exponents: tuple[float, float] | None  # of n and d in `complexity`, where it is one product
    timed: bool = True
    in_paper: bool = True  # whether its table has the row

    @property
    def title(self) -> str:
        return self.name + ("" if self.in_paper else " †")


KINDS = (
    Kind("self-attention", "attention", "O(n² d)", "O(1)", "O(1)", (2, 1)),
    Kind("self-attention, restricted", "windowed_attention", "O(r n d)", "O(1)", "O(n/r)", (1, 1)),
    Kind("recurrent (LSTM)", "lstm", "O(n d²)", "O(n)", "O(n)", (1, 2)),
    Kind("convolutional", "convolution", "O(k n d²)", "O(1)", "O(log_k n) dilated, O(n/k) contiguous", (1, 2)),
    Kind("convolutional, dilated", "dilated_convolution", "O(k n d²)", "O(1)", "O(log_k n)", (1, 2), timed=False, in_paper=False),
    Kind("separable convolution", "separable_convolution", "O(k n d + n d²)", "O(1)", "O(n/k)", None, in_paper=False),
    Kind("self-attention with its projections", "multi_head_attention", "O(n² d + n d²)", "O(1)", "O(1)", None, in_paper=False),
)


@dataclass
class Measured:
    """One kind, and what of it is known."""

    kind: Kind
    points: list[Result] = field(default_factory=list)
    left_out: list[Result] = field(default_factory=list)
    graph: list[Result] = field(default_factory=list)

    def fit(self, figure: str) -> PowerLaw | None:
        return power_law([(each["length"], each["width"], each[figure]) for each in self.points
                          if each["length"] >= FITTED_LENGTH and each["width"] >= FITTED_WIDTH])


def shape_settings() -> Result:
    return {"window": WINDOW, "kernel_width": KERNEL_WIDTH, "head_width": HEAD_WIDTH}


def bench(work: Work, kind: Kind, arguments: dict[str, Any]) -> Result:
    flags = [text for name, value in arguments.items() for text in (f"--{name.replace('_', '-')}", *(value if isinstance(value, list) else [value]))]
    found: Result = work.attend("bench", "layers", "--kind", kind.bench, *flags)
    return found


def measure(work: Work, kind: Kind) -> Measured:
    """A width is a cell, and the graph of all lengths. Of a kind that is not chosen, what was measured before."""
    chosen = work.chosen(kind.bench)
    result = Measured(kind)
    lengths = {"lengths": list(GRAPH_LENGTHS)}
    graph = work.cell(f"table1/{kind.bench}/graph", shape_settings() | lengths, functools.partial(graph_of, work, kind, lengths), chosen=chosen)
    if graph is not None:
        result.graph = graph["graph"]
    if not kind.timed:
        return result
    for width in WIDTHS:
        settings = {"widths": [width], "lengths": list(LENGTHS), "seconds": SECONDS, "longest": LONGEST, **shape_settings()}
        found = work.cell(f"table1/{kind.bench}/d{width}", settings | {"times": "means"}, functools.partial(bench, work, kind, settings), chosen=chosen)
        if found is not None:
            result.points += found["measured"]
            result.left_out += found["left_out"]
    return result


def graph_of(work: Work, kind: Kind, lengths: dict[str, Any]) -> Result:
    flags = ["--graph", "--lengths", *lengths["lengths"], "--window", WINDOW, "--kernel-width", KERNEL_WIDTH]
    return {"graph": work.attend("bench", "layers", "--kind", kind.bench, *flags)["graph"]}


def shade(index: int, count: int) -> Any:
    import matplotlib as mpl  # noqa: PLC0415 (drawing says what to install where it is missing)

    return mpl.colormaps["viridis"](0.05 + 0.8 * index / max(1, count - 1))


def _lines(axis: Any, points: list[Result], by: str, over: str, figure: str, **look: Any) -> None:
    """A line for each value of `by` over `over`."""
    values = sorted({each[by] for each in points})
    for i, value in enumerate(values):
        line = sorted((each[over], each[figure]) for each in points if each[by] == value)
        xs, ys = [x for x, _ in line], [y for _, y in line]
        name = f"{'d' if by == 'width' else 'n'} = {value}"
        axis.plot(xs, ys, color=shade(i, len(values)), label=name if look.get("linestyle", "-") == "-" else None, markersize=3, **look)


def plot_of(measured: Measured) -> Plot:
    """Time over n and over d, and memory over n, log-log."""
    with drawing(3, 4.1) as (result, axes):
        for axis, by, over in ((axes[0], "width", "length"), (axes[1], "length", "width")):
            points = [each | {"forward_ms": 1e3 * each["forward_s"], "backward_ms": 1e3 * each["backward_s"]} for each in measured.points]
            if by == "length":
                kept = sorted({each["length"] for each in points})[::2]
                points = [each for each in points if each["length"] in kept]
            _lines(axis, points, by, over, "forward_ms", marker="o")
            _lines(axis, points, by, over, "backward_ms", linestyle=":")
        _lines(axes[2], [each | {"megabytes": each["peak_bytes"] / 1e6} for each in measured.points], "width", "length", "megabytes", marker="o")
        for axis, title, label in zip(axes, ("time, ms, over length n", "time, ms, over width d", "peak memory, MB, over length n"),
                                      ("n", "d", "n"), strict=True):
            axis.set(xscale="log", yscale="log", title=title, xlabel=label)
            axis.set_xscale("log", base=2)
            axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3, fontsize=8, handlelength=1.2, columnspacing=1)
    return Plot(result.svg, f"{measured.kind.name}: {measured.kind.complexity} in the paper. Solid lines with dots are the forward pass, dotted ones the backward "
                            "pass; memory is of both.")


def overview(all_measured: list[Measured]) -> Plot:
    """All kinds at one width, and what the graph says, of what is measured."""
    widths = sorted({point["width"] for each in all_measured for point in each.points})
    width = widths[max(0, len(widths) - 2)] if widths else 0
    panels: list[tuple[str, list[list[tuple[int, float]]]]] = [
        (f"time at d = {width}, both passes, ms",
         [[(point["length"], 1e3 * (point["forward_s"] + point["backward_s"])) for point in each.points if point["width"] == width] for each in all_measured])]
    for title, figure in (("operations in a row", "sequential_operations"), ("path between the ends", "path_length")):
        panels.append((title, [[(point["length"], point[figure]) for point in each.graph] for each in all_measured]))
    panels = [(title, lines) for title, lines in panels if any(lines)]
    with drawing(len(panels), 4.2) as (result, axes):
        for axis, (title, lines) in zip(axes, panels, strict=True):
            widths = widths_of([[(n, math.log10(value)) for n, value in line] for line in lines], NEAR)
            for i, line in enumerate(lines):
                if line:
                    axis.plot(*zip(*sorted(line), strict=True), color=COLOURS[i % len(COLOURS)], linewidth=widths[i], marker="o", markersize=widths[i] + 2,
                              label=all_measured[i].kind.name)
            axis.set(yscale="log", title=title, xlabel="n")
            axis.set_xscale("log", base=2)
        axes[-1].figure.legend(*axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    return Plot(result.svg, "Time is of a layer. Operations in a row are the longest chain of those that wait for each other. The path is of layers, or steps of the "
                            "LSTM, that a gradient passes from the last position to the first one. Where lines run together, the lower ones are wider.")


def sequential_text(graph: list[Result]) -> str:
    """How the longest chain grows with n."""
    if len(graph) < 2:
        return ""
    first, last = graph[0], graph[-1]
    slope = (last["sequential_operations"] - first["sequential_operations"]) / (last["length"] - first["length"])
    if slope == 0:
        return f"{first['sequential_operations']}"
    return f"{slope:g} n + {first['sequential_operations'] - slope * first['length']:g}"


def expected_path(kind: Kind, n: int) -> int:
    """The paper's formula with its constants."""
    if kind.bench == "dilated_convolution":
        return math.ceil(math.log(n) / math.log(KERNEL_WIDTH) - 1e-9)
    reach = {"windowed_attention": WINDOW, "convolution": KERNEL_WIDTH // 2, "separable_convolution": KERNEL_WIDTH // 2}.get(kind.bench)
    if reach is not None:
        return math.ceil((n - 1) / reach)
    return n if kind.bench == "lstm" else 1
