"""What the commands `attend import` and `attend export` share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from attend._errors import Error, InputError
from attend.convert._source import Tensors


def describe(model: dict[str, Any], tensors: Tensors) -> str:
    stacks = [stack for stack in (model["encoder"], model["decoder"]) if stack]
    layers = " + ".join(str(stack["layers"]) for stack in stacks)
    size = model["target_vocab_size"] or model["source_vocab_size"]
    count = sum(tensor.size for tensor in tensors.values())
    return f"{layers} layers, {stacks[0]['d_model']} wide, {size:,} tokens, {count / 1e6:.1f} million weights"


def run(name: str, work: Callable[[], None]) -> int:
    """Does the work; returns the exit status, after one line that tells an error."""
    try:
        work()
    except (Error, ModuleNotFoundError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 3 if isinstance(error, InputError) else 2 if isinstance(error, ValueError) else 1
    return 0
