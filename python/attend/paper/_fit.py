"""Exponents of power laws, by least squares of logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PowerLaw:
    """y = factor * n^of_n * d^of_d."""

    of_n: float
    of_d: float
    factor: float
    error: float  # root of the mean square of log y's difference

    def __call__(self, n: float, d: float) -> float:
        return float(self.factor * n**self.of_n * d**self.of_d)


def solve(matrix: list[list[float]], values: list[float]) -> list[float] | None:
    """Gaussian elimination with pivots; None: there is no single solution."""
    rows = [[*row, value] for row, value in zip(matrix, values, strict=True)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        if abs(rows[pivot][i]) < 1e-9:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(len(rows)):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def power_law(points: Sequence[tuple[float, float, float]]) -> PowerLaw | None:
    """Of (n, d, y); None where they do not decide it: at least two values of n and of d."""
    logs = [(math.log(n), math.log(d), math.log(y)) for n, d, y in points if y > 0]
    terms = [(1.0, n, d) for n, d, _ in logs]
    found = solve([[sum(a[i] * a[j] for a in terms) for j in range(3)] for i in range(3)],
                  [sum(a[i] * y for a, (_, _, y) in zip(terms, logs, strict=True)) for i in range(3)])
    if found is None:
        return None
    squares = [(y - found[0] - found[1] * n - found[2] * d) ** 2 for n, d, y in logs]
    return PowerLaw(found[1], found[2], math.exp(found[0]), math.sqrt(sum(squares) / len(squares)))
