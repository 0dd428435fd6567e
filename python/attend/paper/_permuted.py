"""Whether a head's weights are why: what permuted weights change of a model's output (Jain and Wallace 2019)."""

from __future__ import annotations

import pathlib
from typing import Any

import attend
from attend._errors import UsageError
from attend.paper._cells import Result
from attend.paper._heads import Head

DRAWS = 10  # of permutations


def measure(model: pathlib.Path, head: Head, source: list[str], target: list[str]) -> Result:
    """The total variation distance between the next word's probabilities as they are and as they become, a mean over target tokens."""
    try:
        import torch  # noqa: PLC0415

        from attend.torch import load  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise UsageError("the test of permuted weights needs PyTorch, which is not installed: pip install torch") from error
    translator, network = attend.Translator(model), load(model)
    read, write = translator.source_vocabulary, translator.target_vocabulary
    if read is None or write is None:
        raise UsageError(f"'{model}' has no vocabulary, which texts need")
    stack: Any = network.encoder if head.kind == "encoder" else network.decoder
    layer = stack.layers[head.layer - 1]
    attention = layer.cross_attention if head.kind == "cross" else layer.self_attention
    usual, changed = attention.weights, []
    generator = torch.Generator().manual_seed(1)

    def permuted(weights: Any) -> Any:
        order = torch.rand(weights.shape, generator=generator).argsort(-1)
        return weights.gather(-1, order)

    changes = {
        "permuted": (DRAWS, permuted), "spread evenly": (1, lambda weights: torch.full_like(weights, 1 / weights.size(-1))),
        "masked": (1, torch.zeros_like)}
    for name, (draws, change) in changes.items():
        distance, other_words, tokens = 0.0, 0, 0
        for one, other in zip(source, target, strict=True):
            ids = torch.tensor([network.encoder_ids(read.encode(one))])
            inputs = torch.tensor([[*network.decoder_start(), *write.encode(other)]])
            with torch.no_grad():
                before = network(ids, inputs).softmax(-1)
                attention.weights = lambda *given, change=change: _with_head(usual(*given), head.head - 1, change)
                for _ in range(draws):
                    after = network(ids, inputs).softmax(-1)
                    distance += float((before - after).abs().sum() / 2) / draws
                    other_words += int((before.argmax(-1) != after.argmax(-1)).sum()) / draws
                del attention.weights
            tokens += inputs.numel()
        changed.append({"change": name, "distance": distance / tokens, "other_best_token": other_words / tokens})
    return {"tokens": tokens, "changes": changed}


def _with_head(weights: Any, head: int, change: Any) -> Any:
    copy = weights.clone()
    copy[:, head] = change(weights[:, head])
    return copy
