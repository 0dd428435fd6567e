"""--verify: a model's samples, as another program scores them."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from attend._errors import RunError
from attend.convert._files import read_json, shown
from attend._packages import needed


def transformers_package() -> Any:
    """With the one that it needs to run a model."""
    with needed("--verify", "torch transformers"):
        import torch  # noqa: F401
        import transformers
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()  # a text that has the pad token is read to its end, as is meant
    return transformers


def transformers_peer(source: str, kind: str) -> Any:
    """A model of transformers, by the name of its class, in f32."""
    transformers = transformers_package()
    import torch

    return getattr(transformers, kind).from_pretrained(source, dtype=torch.float32).eval()


def largest(differences: Iterable[float]) -> float:
    """0 of none; NaN where one is NaN, which agrees with nothing."""
    return float(np.max([0.0, *differences]))


def samples_differ_by(output: str, logits_of: Callable[[list[int], list[int]], Any]) -> float:
    """The largest difference of a token's log-probability. `logits_of` gives logits [T + 1, V] of the ids that the encoder and, after the
    start, the decoder read."""
    import torch

    differences = []
    for sample in read_json(pathlib.Path(output) / "samples.json"):
        wrote = torch.tensor(sample["target_ids"])
        with torch.no_grad():
            logits = logits_of(sample["source_ids"], sample["target_ids"][:-1])
        found = logits.double().log_softmax(-1).gather(1, wrote.unsqueeze(1)).squeeze(1)
        differences += (found - torch.tensor(sample["token_log_probabilities"])).abs().tolist()
    return largest(differences)


def check_tokens(model: str, texts_ids: Callable[[dict[str, Any]], tuple[str, list[int]]], tokenizer: Any) -> None:
    """Raises attend.RunError if a tokenizer of transformers cuts a sample's text otherwise. `texts_ids` gives the text and the ids."""
    for sample in read_json(pathlib.Path(model) / "samples.json"):
        text, expected = texts_ids(sample)
        found = list(tokenizer(text)["input_ids"])
        if text and found != expected:
            raise RunError(f"the tokenizer makes {found} of {shown(text)}, expected {expected}")
