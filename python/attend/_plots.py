"""Plots as SVG, for pages that need no other file. The same numbers give the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attend._packages import needed

COLOURS = ("#33658a", "#d1495b", "#3d7a45", "#b5782b", "#6d4c9f", "#2a9d9d", "#777777")
LOOK: dict[Any, Any] = {
    "svg.fonttype": "none", "svg.hashsalt": "attend", "font.family": "sans-serif", "font.sans-serif": ["system-ui", "DejaVu Sans", "sans-serif"],
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#8795a6", "axes.grid": True,
    "grid.color": "#e6ebf0", "axes.axisbelow": True, "axes.titlesize": 11, "axes.titleweight": "bold", "legend.frameon": False,
}


THINNEST, WIDER = 1.4, 2.0  # points that a line has, and has more than one over it


class Drawing:
    svg = ""


@contextmanager
def drawing(panels: int, height: float = 4.0, width: float = 10.0) -> Iterator[tuple[Drawing, Any]]:
    """Gives the axes of so many panels side by side, in inches; afterwards the Drawing has the SVG."""
    with needed("a plot", "matplotlib"):
        import matplotlib as mpl  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    result = Drawing()
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield result, figure.subplots(1, panels, squeeze=False)[0]
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    # Without the declarations of a file of its own, which an HTML page has not, and in one line: a plot is one thing in a page's text.
    result.svg = re.sub(r"\s*\n\s*", " ", re.sub(r"^.*?(?=<svg)", "", buffer.getvalue(), flags=re.DOTALL)).strip()


def widths_of(lines: Sequence[Sequence[tuple[float, float]]], near: float = 0) -> list[float]:
    """Of lines of (x, y) that are drawn in this order: one that runs below another is wider, so that all are seen. Lines run together where two of their
    points are at most `near` apart."""
    found = [THINNEST] * len(lines)
    for i in reversed(range(len(lines))):
        for j in range(i + 1, len(lines)):
            values = dict(lines[j])
            if sum(x in values and abs(y - values[x]) <= near for x, y in lines[i]) > 1:
                found[i] = max(found[i], found[j] + WIDER)
    return found
