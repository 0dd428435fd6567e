"""What exports to transformers share: the files of a model that its from_pretrained reads."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from attend.convert._source import Tensors
from attend.convert._to_tokenizer import Tokenizer

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_tanh": "gelu_new", "silu": "silu"}
LONGEST = 512  # outputs, where positions reach so far
# By our names; an encoder reads bos and eos as BERT's [CLS] and [SEP].
_TOKENS = {"pad": ["pad_token"], "unk": ["unk_token"], "bos": ["bos_token"], "eos": ["eos_token"], "mask": ["mask_token"]}
_TOKENS_OF_ENCODERS = _TOKENS | {"bos": ["bos_token", "cls_token"], "eos": ["eos_token", "sep_token"]}


class Renaming:
    """Puts attend's tensors under other names. Biases that are missing are zeros."""

    def __init__(self, tensors: Tensors) -> None:
        self.given, self.tensors = tensors, Tensors()

    def linear(self, name: str, given: str, transpose: bool = False) -> None:
        weight = self.given[f"{given}.weight"]
        self.tensors[f"{name}.weight"] = np.ascontiguousarray(weight.T) if transpose else weight
        self.tensors[f"{name}.bias"] = self.bias(given)

    def bias(self, given: str) -> np.ndarray[Any, Any]:
        return self.given.get(f"{given}.bias", np.zeros(len(self.given[f"{given}.weight"]), np.float32))


def to_json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def never_written(special_ids: dict[str, int]) -> list[int]:
    """Tokens that attend never gives."""
    return sorted({special_ids[name] for name in ("pad", "unk", "bos")} - {-1, special_ids["eos"]})


def tokenizer_files(tokenizer: Tokenizer, longest: int, *, ends: bool) -> dict[str, bytes]:
    settings: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": longest, "clean_up_tokenization_spaces": False}
    for name, keys in (_TOKENS_OF_ENCODERS if ends else _TOKENS).items():
        settings |= {key: tokenizer.names[name] for key in keys if name in tokenizer.names}
    if "mask_token" in settings:  # which the space before it goes with
        settings["mask_token"] = {
            "__type": "AddedToken", "content": settings["mask_token"], "single_word": False, "lstrip": True, "rstrip": False,
            "normalized": False, "special": True}
    return tokenizer.files | {"tokenizer_config.json": to_json(settings)}


def writer(config: dict[str, Any], tensors: Tensors, files: dict[str, bytes]) -> Callable[[pathlib.Path], None]:
    def write(folder: pathlib.Path) -> None:
        from safetensors.numpy import save_file

        save_file({name: np.ascontiguousarray(value) for name, value in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
        for name, content in ({"config.json": to_json({"dtype": "float32", **config})} | files).items():
            (folder / name).write_bytes(content)

    return write
