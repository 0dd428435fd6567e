"""What every exporter reads and gives: a model directory, and the files that another toolkit reads."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attend._attend import model_config
from attend._errors import InputError, UsageError
from attend.convert import _source
from attend.convert._files import read_json, read_safetensors, shown
from attend.convert._sinusoids import sinusoids
from attend.convert._source import Tensors


@dataclass
class Directory:
    """A model directory of attend."""

    path: pathlib.Path
    model: dict[str, Any]  # `model` of config.json
    tensors: Tensors  # f32, int8 ones times their scales
    is_int8: bool
    vocabularies: dict[str, bytes]  # of source and target; empty: there is none
    protects: bool  # spans of text
    samples: int

    @property
    def special_ids(self) -> dict[str, int]:
        return dict(self.model["special_ids"])

    def fail(self, key: str, value: Any, target: str, expected: str) -> InputError:
        return InputError(f"{self.path / 'config.json'}: {key} is {shown(value)}, which {target} lacks; expected {expected}")

    def changes(self, rows: int, become: str = "a table") -> list[str]:
        """What is said of weights, and of sinusoids, which become what has so many rows."""
        stacks = [stack for stack in (self.model["encoder"], self.model["decoder"]) if stack]
        table = any(stack["positions"] == "sinusoidal" for stack in stacks)
        changed = ["int8 weights to f32"] if self.is_int8 else []
        return changed + ([f"sinusoids to {become}: texts may have {rows:,} tokens"] if table else [])

    def choose(self, key: str, choices: dict[str, Any], target: str) -> Any:
        """What a target calls the value of a key, such as encoder.activation."""
        value = self.get(key)
        if value not in choices:
            raise self.fail(key, value, target, " or ".join(map(shown, choices)))
        return choices[value]

    def get(self, key: str) -> Any:
        values = self.model
        for name in key.split("."):
            values = values[name]
        return values

    def same(self, key: str, target: str) -> Any:
        """The value that both stacks have, for targets that have it once."""
        one, other = self.model["encoder"][key], self.model["decoder"][key]
        if one != other:
            raise self.fail(f"decoder.{key}", other, target, f"{shown(one)}, as the encoder has it")
        return one

    def check(self, target: str, model_keys: set[str], stack_keys: set[str], **only: Any) -> None:
        """Refuses what the target has in one form only: all keys but these, whose value must be the usual one or that of `only`."""
        usual = _source.model() | {key: value for key, value in only.items() if key not in _source.stack()}
        for key, value in self.model.items():
            if key not in model_keys | {"task", "languages", "encoder", "decoder", "special_ids"} and value != usual[key]:
                raise self.fail(key, value, target, shown(usual[key]))
        usual = _source.stack() | only
        for name in ("encoder", "decoder"):
            stack = self.model[name] or {}
            for key, value in stack.items():
                if key in ("d_k", "d_v"):
                    if value not in (0, stack["d_model"] / stack["heads"]):
                        raise self.fail(f"{name}.{key}", value, target, "d_model / heads")
                elif key not in stack_keys | {"layers", "d_model", "heads", "d_ff", "norm_epsilon"} and value != usual[key]:
                    raise self.fail(f"{name}.{key}", value, target, shown(usual[key]))


def read_directory(path: pathlib.Path) -> Directory:
    """Raises attend.InputError for what is no whole model directory."""
    model = json.loads(model_config(path))  # which checks the directory
    stored = read_safetensors(path / "model.safetensors")
    scales = {name for name in stored if name.endswith("_scale") and name.removesuffix("_scale") in stored}
    tensors = {
        name: value * stored[f"{name}_scale"][:, None] if f"{name}_scale" in scales else value
        for name, value in stored.items() if name not in scales}
    config = read_json(path / "config.json")
    files = {side: path / ("vocab.spm" if "vocab.spm" in config["sha256"] else f"{side}.spm") for side in ("source", "target")}
    vocabularies = {side: file.read_bytes() for side, file in files.items() if file.name in config["sha256"]}
    text, samples = config["tokenization"], path / "samples.json"
    if "target_order" in text:
        raise UsageError(f"the model in '{path}' writes from right to left, which no other toolkit undoes; expected a model that writes "
                         "from left to right")
    protects = bool(text.get("protect") or text.get("protect_patterns"))
    return Directory(path, model, tensors, bool(scales), vocabularies, protects, len(read_json(samples)) if samples.exists() else 0)


CONVENTIONS = ("interleaved", "halves", "timing_signal")


def position_table(directory: Directory, side: str, rows: int) -> np.ndarray[Any, Any]:
    """What is added to the embeddings at each position: so many rows, or those that were learned."""
    stack = directory.model[side]
    kind, convention, width = stack["positions"], stack["position_convention"], stack["d_model"]
    if kind == "learned":
        return np.ascontiguousarray(directory.tensors[f"{side}.positions.weight"][stack["position_offset"] :])
    if kind == "sinusoidal" and convention in CONVENTIONS:
        return sinusoids(convention, stack["position_offset"], rows, width).astype(np.float32)
    if kind != "none":
        raise directory.fail(f"{side}.positions", kind, "a table of positions", "sinusoidal, learned or none")
    return np.zeros((rows, width), np.float32)


@dataclass
class Exported:
    kind: str  # what the output is, in words
    write: Callable[[pathlib.Path], None]  # into a folder that stands
    changed: list[str] = field(default_factory=list)  # without another result, in words
    left_out: list[str] = field(default_factory=list)


@dataclass
class Target:
    format: str  # as --format has it
    takes: str  # the models, in words
    fits: Callable[[dict[str, Any]], bool]  # by `model` of config.json
    export: Callable[[Directory, int], Exported]  # with so many positions
    # The largest difference of the samples' log-probabilities, of a model directory and of what was made of it.
    compare: Callable[[Directory, pathlib.Path], float]
