"""What every importer gives: a configuration, tensors and vocabularies under attend's names."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attend._attend import write_model
from attend._errors import InputError, UsageError
from attend.convert import _shortlist
from attend._whole import whole

Tensors = dict[str, np.ndarray[Any, Any]]


class NamedTensors(Tensors):
    """Tensors by attend's names, and what the source calls those that stand in it as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: dict[str, str] = {}


@dataclass
class Languages:
    """Between which a model translates or, of several, is to translate; None: not said."""

    source: str | None = None
    target: str | None = None

    def name(self, model: dict[str, Any]) -> None:
        """Names them in `model` of config.json."""
        if self == Languages():
            return
        if model["task"] != "translation":
            raise UsageError(f"source_language or target_language is given, but the model is of {model['task']}; leave them out")
        if not self.source or not self.target:
            raise UsageError("source_language and target_language belong together: give both, such as en and de")
        model["languages"] = [self.source, self.target]


@dataclass
class Converted:
    kind: str  # what the source was, in words
    model: dict[str, Any]  # `model` of config.json
    tensors: Tensors  # f32, named as in docs/model_file.md
    source_vocabulary: bytes
    target_vocabulary: bytes
    texts: list[str]  # which the model proves itself by
    left_out: list[str] = field(default_factory=list)  # what attend has no use for, in words
    provenance: dict[str, Any] = field(default_factory=dict)
    shortlist: _shortlist.Shortlist | None = None
    tolerance: float = 1e-4  # of the samples' log-probabilities

    def spell_labels(self, scheme: str) -> None:
        """Has a tagger's labels spell entities so."""
        if self.model["task"] != "tagging":
            raise UsageError(f"label_scheme is {scheme}, but the model is of {self.model['task']}; leave it out")
        if scheme != "none" and self.model["label_scheme"] == "none":
            raise UsageError(f"label_scheme is {scheme}, but the labels are none of entities: {', '.join(self.model['labels'][:5])}")
        self.model["label_scheme"] = scheme

    def write(self, output: pathlib.Path) -> None:
        for name, tensor in self.tensors.items():
            if not np.isfinite(tensor).all():
                raise InputError(f"tensor '{name}' of the model has numbers that are not finite; the training broke, or the file is damaged")
        provenance = {"imported_from": self.kind} | self.provenance
        vocabularies = [self.source_vocabulary, self.target_vocabulary]
        with whole(output) as folder:
            write_model(json.dumps(self.model), self.tensors, *vocabularies, json.dumps(provenance), self.texts, folder)
            if self.shortlist is not None:
                self.shortlist.write(folder / _shortlist.FILE, vocabularies)


    def source_of(self, message: str) -> str:
        """To add to an error that names a tensor: what the source calls it, if that is known."""
        found = re.search(r"tensor '([^']+)'", message)
        sources = self.tensors.sources if isinstance(self.tensors, NamedTensors) else {}
        return f"; the source calls it '{sources[found[1]]}'" if found and found[1] in sources else ""


@dataclass
class Source:
    looks_like: str  # the files that give it away, in words
    recognises: Callable[[pathlib.Path], bool]
    convert: Callable[[pathlib.Path], Converted]
    compare: Callable[[str, str], float]  # the largest difference of the samples' log-probabilities between the source's own program and attend
    # In place of `convert`, for models of several languages; none: models have the languages that they were made for.
    convert_between: Callable[[pathlib.Path, Languages], Converted] | None = None
    model_types: tuple[str, ...] = ()  # of transformers' config.json


def stack(**fields: Any) -> dict[str, Any]:
    """An encoder or decoder as config.json has it: the paper's layers, with these fields otherwise."""
    usual = {
        "layers": 6, "d_model": 512, "heads": 8, "d_k": 0, "d_v": 0, "d_ff": 2048, "activation": "relu", "norm": "layer_norm",
        "norm_place": "post", "norm_epsilon": 1e-6, "positions": "sinusoidal", "position_convention": "interleaved", "position_offset": 0,
        "max_positions": 1024, "relative_buckets": 32, "relative_max_distance": 128, "attention_window": 0, "attention_bias": True,
        "feed_forward_bias": True, "scale_embedding": True, "embedding_norm": False, "recurrence": "none", "kernel_width": 3, "separable": False}
    assert not fields.keys() - usual.keys()
    return usual | fields


def model(**fields: Any) -> dict[str, Any]:
    """`model` of config.json: a translation model, with these fields otherwise."""
    usual = {
        "task": "translation", "architecture": "transformer", "languages": [], "input": "tokens", "source_vocab_size": 0, "target_vocab_size": 0,
        "special_ids": {"pad": -1, "unk": 1, "bos": -1, "eos": 0}, "source_eos": True, "source_begin": [], "source_end": [],
        "target_begin": [], "suppress_tokens": [], "begin_suppress_tokens": [], "encoder": None, "decoder": None, "head": "vocabulary",
        "head_bias": False, "head_transform": False, "head_pooler": False, "pooler_activation": "tanh", "pooling": "tokens", "labels": [],
        "label_scheme": "none", "crf": False, "constituents": [], "tags": [], "next_word_input": False, "alignment_layer": 0, "patches": None,
        "frames": None, "fusion": None, "tie_source_target": True, "tie_target_output": True}
    assert not fields.keys() - usual.keys()
    return usual | fields


def sample_texts(tokens: list[str]) -> list[str]:
    """Some texts of a model's own words, which it proves itself by."""
    begins = [token[1:] for token in tokens if token.startswith("▁")] or tokens  # of words; or the tokens are words
    words = [word for word in begins if word.isalpha()]
    chosen = words[:: max(len(words) // 37, 1)] or ["a"]
    return [" ".join(chosen[i % len(chosen)] for i in range(first, first + length)) for first, length in ((0, 3), (3, 6), (9, 9), (18, 14))]
