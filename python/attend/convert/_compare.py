"""--verify: a model's samples, as the program scores them that the model comes from."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

from attend.convert._files import read_json


def transformers_peer(source: str, kind: str) -> Any:
    """A model of transformers, by the name of its class, in f32."""
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"--verify needs the package {error.name}: pip install torch transformers", name=error.name) from error
    return getattr(transformers, kind).from_pretrained(source, dtype=torch.float32).eval()


def samples_differ_by(output: str, logits_of: Callable[[list[int], list[int]], Any]) -> float:
    """The largest difference of a token's log-probability. `logits_of` gives logits [T + 1, V] of the ids that the encoder and, after the
    start, the decoder read."""
    import torch

    worst = 0.0
    for sample in read_json(pathlib.Path(output) / "samples.json"):
        wrote = torch.tensor(sample["target_ids"])
        with torch.no_grad():
            logits = logits_of(sample["source_ids"], sample["target_ids"][:-1])
        found = logits.double().log_softmax(-1).gather(1, wrote.unsqueeze(1)).squeeze(1)
        worst = max(worst, float((found - torch.tensor(sample["token_log_probabilities"])).abs().max()))
    return worst
