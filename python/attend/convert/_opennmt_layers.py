"""What OpenNMT-py's models and eole's, its successor's, have alike: layers, heads and lists of tokens under two sets of names.

The encoder reads no token behind the source. Positions begin with 0, and sinusoids come with embeddings times sqrt(D).
"""

from __future__ import annotations

import pathlib
import re
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._files import Renamed, shown
from attend.convert._sinusoids import recognise_sinusoids
from attend.convert._source import Tensors, model

SIDES = {"encoder": "src", "decoder": "tgt"}
SINUSOIDS = {"SinusoidalInterleaved": "interleaved", "SinusoidalConcat": "timing_signal"}
HALF = 2.5e-4  # how far float16 rounds sines and cosines
_ATTENTIONS = {"self_attention": "self_attn", "cross_attention": "context_attn"}
_PROJECTIONS = {"query": "linear_query", "key": "linear_keys", "value": "linear_values", "output": "final_linear"}
_GATED = ("swiglu", "geglu_tanh")


class Layers:
    """The layers of one side. `names` has what the two toolkits name differently; `given` is what their names begin with."""

    def __init__(self, renamed: Renamed, side: str, given: str, names: dict[str, str]) -> None:
        self.renamed, self.side, self.given, self.names = renamed, side, given, names

    def _has(self, pattern: str) -> bool:
        return any(re.fullmatch(rf"{re.escape(self.given)}\.\d+\.{pattern}\.bias", name) for name in self.renamed.left)

    def _count(self) -> int:
        numbers = {int(found[1]) for name in self.renamed.left if (found := re.match(rf"{re.escape(self.given)}\.(\d+)\.", name))}
        if not numbers or max(numbers) != len(numbers) - 1:
            raise InputError(f"{self.renamed.where}: it has {len(numbers)} layers '{self.given}.*', expected some, numbered from 0")
        return len(numbers)

    def linear(self, name: str, given: str, bias: bool) -> None:
        """Where some matrices have a bias, the others get one of zeros."""
        weight = self.renamed.table(name + ".weight", given + ".weight")
        if bias:
            self.renamed.left.setdefault(given + ".bias", np.zeros(len(weight), np.float32))
            self.renamed.take(name + ".bias", given + ".bias")

    def take(self, activation: str) -> dict[str, Any]:
        """Renames the tensors; returns what they say of the stack."""
        count = self._count()
        attention_bias, feed_forward_bias = self._has(r"\w+_attn\.\w+"), self._has(r"(mlp|feed_forward)\.\w+(?<!norm)")
        gated = activation in _GATED
        inner = {"inner": self.names["up"], "gate": self.names["inner"]} if gated else {"inner": self.names["inner"]}
        kinds = ["self_attention"] + (["cross_attention"] if self.side == "decoder" else [])
        for number in range(count):
            name, given = f"{self.side}.layers.{number}", f"{self.given}.{number}"
            for kind in kinds:
                for part, projection in _PROJECTIONS.items():
                    self.linear(f"{name}.{kind}.{part}", f"{given}.{_ATTENTIONS[kind]}.{projection}", attention_bias)
            for part, theirs in (inner | {"outer": self.names["outer"]}).items():
                self.linear(f"{name}.feed_forward.{part}", f"{given}.{theirs}", feed_forward_bias)
            for norm in [*kinds, "feed_forward"]:
                self.renamed.linear(f"{name}.{norm}_norm", f"{given}.{self.names[norm]}")
        width = len(self.renamed.tensors[f"{self.side}.layers.0.feed_forward.inner.weight"])
        return {"layers": count, "d_ff": width, "attention_bias": attention_bias, "feed_forward_bias": feed_forward_bias}


def take_embeddings(renamed: Renamed, given: dict[str, str], ties: tuple[bool, bool]) -> int:
    """Of both sides, and the head; returns their width."""
    source_target, target_output = ties
    table = renamed.table("encoder.embedding.weight", given["encoder"])
    if source_target:
        renamed.tied("encoder.embedding.weight", given["decoder"])
    else:
        renamed.table("decoder.embedding.weight", given["decoder"])
    if target_output:
        renamed.tied("encoder.embedding.weight" if source_target else "decoder.embedding.weight", "generator.weight")
    else:
        renamed.table("head.weight", "generator.weight")
    if "generator.bias" in renamed.left:
        renamed.take("head.bias", "generator.bias")
    return int(table.shape[1])


def drop_sinusoids(renamed: Renamed, given: str, convention: str) -> None:
    """Leaves out a table [T, 1, D], if there is one, which attend makes itself."""
    table = renamed.left.pop(given, None)
    if table is None:
        return
    found = recognise_sinusoids(table.reshape(len(table), -1), HALF) if table.ndim == 3 and table.size else None
    if found != (convention, 0):
        raise InputError(f"{renamed.where}: tensor '{given}' does not hold the sinusoids that the settings name")


def lists_of_tokens(path: pathlib.Path, vocabularies: Any) -> list[list[str]]:
    """The tokens of source and target, by id."""
    found = []
    for side in SIDES.values():
        tokens = vocabularies.get(side) if isinstance(vocabularies, dict) else None
        if not isinstance(tokens, list) or not tokens or not all(isinstance(token, str) for token in tokens):
            raise InputError(f"{path}: expected a list of tokens as '{side}' of the vocabulary")
        found.append(tokens)
    return found


def special_ids(path: pathlib.Path, names: dict[str, Any], source: list[str], target: list[str]) -> dict[str, int]:
    """Ids of the tokens that stand for pad, unk, bos and eos."""
    ids = {}
    for kind, token in names.items():
        if not isinstance(token, str) or (token not in target and kind != "pad"):
            raise InputError(f"{path}: the target's vocabulary lacks {shown(token)}, its token for {kind}")
        ids[kind] = target.index(token) if token in target else -1
        others = source.index(token) if token in source else -1
        if others != ids[kind]:
            raise InputError(f"{path}: {token} has id {others} in the source's vocabulary and {ids[kind]} in the target's; expected one id")
    return ids


def model_of(
        tokens: list[list[str]], special: dict[str, int], ties: tuple[bool, bool], shape: dict[str, Any], tensors: Tensors) -> dict[str, Any]:
    """config.json's model: `tokens` and `ties` as above, `shape` has the stacks."""
    return model(
        source_vocab_size=len(tokens[0]), target_vocab_size=len(tokens[1]), special_ids=special, source_eos=False,
        head_bias="head.bias" in tensors, tie_source_target=ties[0], tie_target_output=ties[1], **shape)
