"""Spearman's rank correlation."""

from __future__ import annotations

from collections.abc import Sequence


def ranks(values: Sequence[float]) -> list[float]:
    """From 1; equal values share the mean of theirs."""
    ordered = sorted(values)
    return [(ordered.index(value) + 1 + len(ordered) - ordered[::-1].index(value)) / 2 for value in values]


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """None: fewer than three values, or all equal on a side."""
    if len(one) < 3:
        return None
    a, b = ranks(one), ranks(other)
    mean = (len(one) + 1) / 2
    product = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    squares = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return None if squares == 0 else float(product / squares**0.5)
