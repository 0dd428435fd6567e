"""What `attend import` and `attend export` say of a model."""

from __future__ import annotations

from typing import Any

from attend.convert._source import Tensors


def describe(model: dict[str, Any], tensors: Tensors) -> str:
    stacks = [stack for stack in (model["encoder"], model["decoder"]) if stack]
    layers = " + ".join(str(stack["layers"]) for stack in stacks)
    size = model["target_vocab_size"] or model["source_vocab_size"]
    count = sum(tensor.size for tensor in tensors.values())
    return f"{layers} layers, {stacks[0]['d_model']} wide, {size:,} tokens, {count / 1e6:.1f} million weights"
