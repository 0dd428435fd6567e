"""Exponents of power laws, by least squares of logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PowerLaw:
    """y = factor * n^of_n * d^of_d."""

    of_n: float
    of_d: float
    factor: float
    error: float  # root of the mean square of log y's difference

    def __call__(self, n: float, d: float) -> float:
        return float(self.factor * n**self.of_n * d**self.of_d)


def power_law(points: Sequence[tuple[float, float, float]]) -> PowerLaw | None:
    """Of (n, d, y); None where they do not decide it: at least two values of n and of d."""
    measured = [point for point in points if point[2] > 0]
    if not measured:
        return None
    n, d, y = np.log(np.array(measured, dtype=np.float64)).T
    terms = np.stack([np.ones_like(n), n, d], axis=1)
    found, _, rank, _ = np.linalg.lstsq(terms, y, rcond=1e-9)
    if rank < terms.shape[1]:
        return None
    error = float(np.sqrt(np.mean((y - terms @ found) ** 2)))
    return PowerLaw(float(found[1]), float(found[2]), float(np.exp(found[0])), error)
