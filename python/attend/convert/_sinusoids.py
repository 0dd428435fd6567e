"""Tables of sinusoids that files hold."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
ANGLES = 3e-7  # how far a program's sines and cosines in f32 may be off for each position


def sinusoids(convention: str, offset: int, rows: int, width: int) -> Array:
    """As docs/model_file.md has them."""
    rates = 10000.0 ** (-np.arange(width // 2) / (width // 2 - (1 if convention == "timing_signal" else 0)))
    angles = np.outer(np.arange(offset, offset + rows), rates)
    parts = np.sin(angles), np.cos(angles)
    return np.hstack(parts) if convention != "interleaved" else np.stack(parts, 2).reshape(rows, width)


def recognise_sinusoids(table: Array, rounding: float) -> tuple[str, int] | None:
    """The convention and the offset by which attend makes this table; none where it is another."""
    rows, width = table.shape
    allowed = rounding + ANGLES * np.arange(2, rows + 2)[:, None]
    if width % 2 or width < 4:
        return None
    for convention, offset in itertools.product(("halves", "timing_signal", "interleaved"), (0, 1, 2)):
        parts = table[:8], table  # few rows tell most tables apart
        if all(np.all(np.abs(part - sinusoids(convention, offset, len(part), width)) <= allowed[: len(part)]) for part in parts):
            return convention, offset
    return None


def position_fields(table: Array, rounding: float = 0.0) -> dict[str, Any]:
    """A stack's keys for this table: none, sinusoids by their convention, or one that was learned."""
    if not table.any():
        return {"positions": "none"}
    found = recognise_sinusoids(table, rounding)
    if found is None:
        return {"positions": "learned", "max_positions": len(table)}
    return {"position_convention": found[0], "position_offset": found[1]}
