"""Weights for another order of d_model, and for norms of another epsilon, that make the same function.

Layer norm does not see the order of numbers. A norm with c^2 times the epsilon gives for c times the input what it gave before: so all that
writes into the residual stream is multiplied by c, and what reads from it divided.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from attend.convert._source import Tensors

_WRITES = re.compile(r"(.*norm|.*\.(output|outer))\.(weight|bias)")
_READS = re.compile(r"(.*\.(query|key|value|inner|gate|embedding|positions)|head)\.weight")


def halves_of_interleaved(tensors: Tensors, width: int) -> Tensors:
    """Of a model whose sines and cosines stand in turn: all sines first."""
    order = np.concatenate([np.arange(0, width, 2), np.arange(1, width, 2)])
    return {
        name: value[order] if _WRITES.fullmatch(name) else np.ascontiguousarray(value[:, order]) if _READS.fullmatch(name) else value
        for name, value in tensors.items()}


def scale(tensors: Tensors, factor: float, *names: str) -> None:
    for name in names:
        for part in (f"{name}.weight", f"{name}.bias"):
            if part in tensors:
                tensors[part] = (tensors[part] * factor).astype(np.float32)


def _divide_inputs(tensors: Tensors, factor: float, *names: str) -> None:
    for name in names:
        if f"{name}.weight" in tensors:
            tensors[f"{name}.weight"] = (tensors[f"{name}.weight"] / factor).astype(np.float32)


def with_epsilon_post(tensors: Tensors, name: str, stack: dict[str, Any], epsilon: float) -> bool:
    """Changes a stack with norms after its sub-layers to this epsilon; returns whether that changes anything.

    Embeddings and positions stay, so the first norm of the stack gets the other epsilon alone.
    """
    factor = math.sqrt(epsilon / stack["norm_epsilon"])
    if factor == 1:
        return False
    last = stack["layers"] - 1
    for number in range(stack["layers"]):
        layer = f"{name}.layers.{number}"
        for part, reads, writes in (
            ("self_attention", ("query", "key", "value"), "output"), ("cross_attention", ("query",), "output"),
            ("feed_forward", ("inner", "gate"), "outer")):
            if number > 0 or part != "self_attention":
                _divide_inputs(tensors, factor, *(f"{layer}.{part}.{each}" for each in reads))
                scale(tensors, factor, f"{layer}.{part}.{writes}")
            if number < last or part != "feed_forward":
                scale(tensors, factor, f"{layer}.{part}_norm")
    return True


def with_epsilon_pre(tensors: Tensors, name: str, stack: dict[str, Any], epsilon: float) -> float:
    """Changes a stack with norms before its sub-layers to this epsilon; returns the factor that its embeddings and positions are to get."""
    factor = math.sqrt(epsilon / stack["norm_epsilon"])
    for number in range(stack["layers"] if factor != 1 else 0):
        layer = f"{name}.layers.{number}"
        scale(tensors, factor, f"{layer}.self_attention.output", f"{layer}.cross_attention.output", f"{layer}.feed_forward.outer")
    return factor
