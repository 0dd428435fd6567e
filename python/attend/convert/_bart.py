"""transformers' BART, mBART, Pegasus and M2M100 (M2M-100, NLLB): config.json, model.safetensors or pytorch_model.bin, a tokenizer.

They have fairseq's layers. Learned positions begin with row 2. Pegasus' sinusoids stand in halves, M2M100's are fairseq's. What stands
around source and target is _bart_tokens.py's.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._bart_tokens import read_tokens
from attend.convert._compare import samples_differ_by, transformers_peer
from attend.convert._fairseq import rename_stack
from attend.convert._files import Keys, Renamed, generation_of, model_type, read_json, read_weights, shown
from attend.convert._marian_transformers import ACTIVATIONS
from attend.convert._sinusoids import recognise_sinusoids
from attend.convert._source import Converted, Languages, Source, Tensors, model, stack

FIRST_POSITION = 2
LEARNED = {"positions": "learned", "position_offset": FIRST_POSITION, "embedding_norm": True}
STACKS: dict[str, dict[str, Any]] = {
    "bart": LEARNED,
    "mbart": LEARNED | {"norm_place": "pre"},
    "pegasus": {"norm_place": "pre", "position_convention": "halves"},
    "m2m_100": {"norm_place": "pre", "position_convention": "timing_signal", "position_offset": FIRST_POSITION},
}
MOST_ROUNDING = 2e-3  # of a table of sinusoids that was stored in bf16
SIDES = ("encoder", "decoder")


def _stack(config: Keys, side: str) -> dict[str, Any]:
    family = config.get("model_type", str)
    return stack(
        layers=config.get(f"{side}_layers", int), d_model=config.get("d_model", int), heads=config.get(f"{side}_attention_heads", int),
        d_ff=config.get(f"{side}_ffn_dim", int), norm_epsilon=1e-5,
        activation=config.choose("activation_function", ACTIVATIONS, "relu" if family == "m2m_100" else "gelu"),
        scale_embedding=config.get("scale_embedding", bool, family == "m2m_100"), **STACKS[family])


class _Weights:
    """The tensors under attend's names."""

    def __init__(self, config: Keys, tensors: Tensors, where: str) -> None:
        self.renamed = Renamed(tensors, where)
        self.prefix = "model." if any(name.startswith("model.") for name in tensors) else ""  # a model without its head has none
        self.shape = {side: _stack(config, side) for side in SIDES}
        self.rounding = 0.0
        self._embedding()
        for side in SIDES:
            self.renamed.drop(f"{self.prefix}{side}.version")
            self._sinusoids(side)
            rename_stack(self.renamed, side, self.shape[side], self.prefix)
        self.tensors = self.renamed.finish()
        self.rows = len(self.tensors["encoder.embedding.weight"])
        self.has_bias = "head.bias" in self.tensors

    def _embedding(self) -> None:
        names = [f"{self.prefix}shared.weight", *(f"{self.prefix}{side}.embed_tokens.weight" for side in SIDES), "lm_head.weight"]
        given = next((name for name in names if name in self.renamed.left), names[0])
        self.renamed.table("encoder.embedding.weight", given)
        for name in names:
            self.renamed.tied("encoder.embedding.weight", name)
        if "final_logits_bias" in self.renamed.left:
            bias = self.renamed.take("head.bias", "final_logits_bias")
            self.renamed.tensors["head.bias"] = bias.reshape(-1)
            if not np.any(bias):
                del self.renamed.tensors["head.bias"]

    def _sinusoids(self, side: str) -> None:
        """Of files that have them, too; other tables than a family's are learned positions."""
        shape, name = self.shape[side], f"{self.prefix}{side}.embed_positions.weight"
        table = self.renamed.left.get(name)
        self.renamed.drop(f"{self.prefix}{side}.embed_positions.weights")
        if shape["positions"] == "learned" or table is None:
            return
        rounding = next((size for size in (0.0, MOST_ROUNDING) if _is_family(table, shape, size)), None)
        if rounding is None:
            shape.update(positions="learned", position_offset=0)
            return
        self.rounding = max(self.rounding, rounding)
        self.renamed.drop(name)


def _is_family(table: np.ndarray[Any, Any], shape: dict[str, Any], rounding: float) -> bool:
    whole = table.ndim == 2 and recognise_sinusoids(table, rounding)
    return whole == (shape["position_convention"], shape["position_offset"])


def _check(config: Keys) -> None:
    config.refuse(is_encoder_decoder=True, tie_word_embeddings=True)
    names = config.values.get("architectures") or ["ForConditionalGeneration"]
    name = names[0] if isinstance(names, list) else names
    if not isinstance(name, str) or not name.endswith(("ForConditionalGeneration", "Model")):
        raise InputError(
            f"{config.path}: architectures is {shown(name)}, which attend lacks; expected a model for conditional "
            "generation")


def _convert(folder: pathlib.Path, languages: Languages = Languages()) -> Converted:
    config = Keys(folder / "config.json")
    _check(config)
    generation, left_out = generation_of(folder, config)
    size = config.count("vocab_size")
    found = read_tokens(folder, config, generation, size, languages)  # before the weights, which may be many
    weights = _Weights(config, read_weights(folder), str(folder))
    if weights.rows != size:
        raise InputError(f"{folder}: the embedding has {weights.rows} rows, but vocab_size of config.json is {size}")
    if weights.rounding:
        left_out.append("the rounding of sines and cosines: attend makes them in f32")
    shape = model(
        source_vocab_size=size, target_vocab_size=size, head_bias=weights.has_bias, **weights.shape, **dataclasses.asdict(found.frame))
    if not shape["languages"]:
        languages.name(shape)
    return Converted(
        kind=f"transformers {config.values['model_type']}", model=shape, tensors=weights.tensors,
        source_vocabulary=found.vocabulary, target_vocabulary=found.vocabulary, texts=found.texts,
        left_out=left_out + found.left_out, tolerance=1e-4 + 10 * weights.rounding,
        provenance={"config": json.dumps(config.values, sort_keys=True)})


def _compare(source: str, output: str) -> float:
    peer = transformers_peer(source, "AutoModelForSeq2SeqLM")
    import torch

    shape = read_json(pathlib.Path(output) / "config.json")["model"]
    begin = [shape["special_ids"]["bos"], *shape["target_begin"]]

    def logits(read: list[int], wrote: list[int]) -> Any:
        found = peer(input_ids=torch.tensor([read]), decoder_input_ids=torch.tensor([[*begin, *wrote]])).logits[0]
        return found[len(begin) - 1 :]

    return samples_differ_by(output, logits)


SOURCE = Source(
    "BART, mBART, Pegasus or M2M100 (NLLB) of transformers (config.json with model_type bart, mbart, pegasus or m2m_100, a tokenizer)",
    lambda folder: model_type(folder) in list(STACKS), _convert, _compare, _convert,
    tuple(STACKS))
