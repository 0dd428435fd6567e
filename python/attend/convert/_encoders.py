"""transformers' BERT, RoBERTa and DistilBERT with their heads: config.json, model.safetensors or pytorch_model.bin, tokenizer.json.

What is added to every token alike (the vector of the first token type) goes into the table of positions.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._files import Keys, Renamed, model_type, read_weights
from attend.convert._source import Converted, Source, Tensors, model, stack
from attend.convert._tokenizer_files import read_tokenizer

ACTIVATIONS = {"gelu": "gelu", "relu": "relu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "silu": "silu", "swish": "silu"}


@dataclass
class _Family:
    """How a family names its keys and tensors."""

    prefix: str
    keys: dict[str, str]  # of config.json, by attend's names
    layer: dict[str, str]  # tensors of a layer
    layers: str  # where the layers stand
    masked: dict[str, str]  # of the head of a masked language model
    first_position: int  # row of the first token's position
    epsilon: Callable[[Keys], float]


_ATTENTION = {f"self_attention.{part}": f"attention.self.{part}" for part in ("query", "key", "value")}
_BERT_KEYS = {
    "layers": "num_hidden_layers", "d_model": "hidden_size", "heads": "num_attention_heads", "d_ff": "intermediate_size",
    "activation": "hidden_act"}
_BERT_LAYER = _ATTENTION | {
    "self_attention.output": "attention.output.dense", "self_attention_norm": "attention.output.LayerNorm",
    "feed_forward.inner": "intermediate.dense", "feed_forward.outer": "output.dense", "feed_forward_norm": "output.LayerNorm"}
_BERT_MASKED = {
    "head.transform": "cls.predictions.transform.dense", "head.norm": "cls.predictions.transform.LayerNorm",
    "head.bias": "cls.predictions.bias", "head.weight": "cls.predictions.decoder.weight", "copy": "cls.predictions.decoder.bias"}
_ROBERTA_MASKED = {
    "head.transform": "lm_head.dense", "head.norm": "lm_head.layer_norm", "head.bias": "lm_head.bias",
    "head.weight": "lm_head.decoder.weight", "copy": "lm_head.decoder.bias"}
_DISTILBERT_KEYS = {"layers": "n_layers", "d_model": "dim", "heads": "n_heads", "d_ff": "hidden_dim", "activation": "activation"}
_DISTILBERT_LAYER = {
    "self_attention.query": "attention.q_lin", "self_attention.key": "attention.k_lin", "self_attention.value": "attention.v_lin",
    "self_attention.output": "attention.out_lin", "self_attention_norm": "sa_layer_norm", "feed_forward.inner": "ffn.lin1",
    "feed_forward.outer": "ffn.lin2", "feed_forward_norm": "output_layer_norm"}
_DISTILBERT_MASKED = {
    "head.transform": "vocab_transform", "head.norm": "vocab_layer_norm", "head.bias": "vocab_projector.bias",
    "head.weight": "vocab_projector.weight", "copy": ""}

FAMILIES = {
    "bert": _Family(
        "bert.", _BERT_KEYS, _BERT_LAYER, "encoder.layer", _BERT_MASKED, 0, lambda config: config.get("layer_norm_eps", float, 1e-12)),
    "roberta": _Family(
        "roberta.", _BERT_KEYS, _BERT_LAYER, "encoder.layer", _ROBERTA_MASKED, 2, lambda config: config.get("layer_norm_eps", float, 1e-5)),
    "distilbert": _Family(
        "distilbert.", _DISTILBERT_KEYS, _DISTILBERT_LAYER, "transformer.layer", _DISTILBERT_MASKED, 0, lambda config: 1e-12),
}


def _embeddings(renamed: Renamed, family: _Family, prefix: str) -> None:
    renamed.take("encoder.embedding.weight", prefix + "embeddings.word_embeddings.weight")
    renamed.take("encoder.positions.weight", prefix + "embeddings.position_embeddings.weight")
    renamed.linear("encoder.embedding_norm", prefix + "embeddings.LayerNorm")
    positions = renamed.tensors["encoder.positions.weight"][family.first_position :]
    types = renamed.left.pop(prefix + "embeddings.token_type_embeddings.weight", None)
    renamed.tensors["encoder.positions.weight"] = np.ascontiguousarray(positions if types is None else positions + types[0])
    renamed.drop(prefix + "embeddings.position_ids")


def _labels(config: Keys) -> list[str]:
    """Names by id, as transformers keeps them."""
    names = config.values.get("id2label", {"0": "LABEL_0", "1": "LABEL_1"})
    if not isinstance(names, dict) or sorted(map(str, names)) != sorted(str(i) for i in range(len(names))):
        raise InputError(f"{config.path}: id2label has no name for each of 0 to {max(len(names) - 1, 0)}")
    return [str({str(key): value for key, value in names.items()}[str(i)]) for i in range(len(names))]


def _scheme(labels: list[str]) -> str:
    """How labels of words spell entities. IOB2 needs a B- for each I-; without any B- entities are IOB1's."""
    parted = [label.split("-", 1) for label in labels if label != "O"]
    if "O" not in labels or not parted or any(len(parts) != 2 for parts in parted):
        return "none"
    types = {begin: {kind for first, kind in parted if first == begin} for begin in "BIES"}
    if sum(map(len, types.values())) < len(parted):
        return "none"
    if types["E"] or types["S"]:
        return "iobes"
    return "iob2" if types["B"] >= types["I"] else "iob1"


class _Head:
    """What stands on the encoder, by the class that config.json names."""

    def __init__(self, config: Keys, family: _Family, renamed: Renamed) -> None:
        self.config, self.family, self.renamed = config, family, renamed
        names = config.values.get("architectures") or ["BertModel"]
        self.name = str(names[0])

    def fields(self) -> dict[str, Any]:
        for ending, read in (
            ("ForMaskedLM", self.masked), ("ForPreTraining", self.masked), ("ForTokenClassification", self.tokens),
            ("ForSequenceClassification", self.text), ("Model", self.none)):
            if self.name.endswith(ending):
                return read()
        raise InputError(
            f"{self.config.path}: architectures is {json.dumps(self.name)}, which attend lacks; expected a model alone, or one for masked "
            "language models, token classification or sequence classification")

    def none(self) -> dict[str, Any]:
        self.renamed.drop("pooler.dense.weight", "pooler.dense.bias", "bert.pooler.dense.weight", "bert.pooler.dense.bias")
        return {"task": "masked_language_model", "head": "none"}

    def masked(self) -> dict[str, Any]:
        names = self.family.masked
        self.renamed.linear("head.transform", names["head.transform"])
        self.renamed.linear("head.norm", names["head.norm"])
        self.renamed.take("head.bias", names["head.bias" if names["head.bias"] in self.renamed.left else "copy"])
        self.renamed.drop(
            names["copy"], "bert.pooler.dense.weight", "bert.pooler.dense.bias", "cls.seq_relationship.weight", "cls.seq_relationship.bias")
        tied = self.renamed.tensors["encoder.embedding.weight"]
        weight = self.renamed.left.pop(names["head.weight"], tied)
        same = weight is tied or np.array_equal(weight, tied)
        if not same:
            self.renamed.tensors["head.weight"] = weight
        return {"task": "masked_language_model", "head": "vocabulary", "head_bias": True, "head_transform": True, "tie_target_output": same}

    def tokens(self) -> dict[str, Any]:
        self.renamed.linear("head", "classifier")
        labels = _labels(self.config)
        return {"task": "tagging", "head": "labels", "labels": labels, "label_scheme": _scheme(labels), "pooling": "tokens"}

    def text(self) -> dict[str, Any]:
        if self.config.values.get("problem_type") not in (None, "single_label_classification") or len(_labels(self.config)) < 2:
            raise InputError(f"{self.config.path}: problem_type or id2label is of a regression or of several labels, which attend lacks")
        if self.family.prefix == "distilbert.":
            raise InputError(f"{self.config.path}: {self.name} has a layer with relu before its classifier, which attend lacks")
        roberta = self.family.prefix == "roberta."
        self.renamed.linear("head.pooler", "classifier.dense" if roberta else "bert.pooler.dense")
        self.renamed.linear("head", "classifier.out_proj" if roberta else "classifier")
        return {"task": "classification", "head": "labels", "labels": _labels(self.config), "pooling": "first", "head_pooler": True}


def _stack(config: Keys, family: _Family, positions: int) -> dict[str, Any]:
    keys = family.keys
    return stack(
        layers=config.get(keys["layers"], int), d_model=config.get(keys["d_model"], int), heads=config.get(keys["heads"], int),
        d_ff=config.get(keys["d_ff"], int), activation=config.choose(keys["activation"], ACTIVATIONS, "gelu"),
        norm_epsilon=family.epsilon(config), positions="learned", max_positions=positions, scale_embedding=False, embedding_norm=True)


def _rename(config: Keys, family: _Family, renamed: Renamed) -> dict[str, Any]:
    """Takes all tensors; returns the fields of the head."""
    prefix = family.prefix if any(name.startswith(family.prefix) for name in renamed.left) else ""
    _embeddings(renamed, family, prefix)
    for layer in range(config.get(family.keys["layers"], int)):
        for ours, theirs in family.layer.items():
            renamed.linear(f"encoder.layers.{layer}.{ours}", f"{prefix}{family.layers}.{layer}.{theirs}")
    return _Head(config, family, renamed).fields()


def _convert(folder: pathlib.Path) -> Converted:
    config = Keys(folder / "config.json")
    family = FAMILIES[config.get("model_type", str)]
    config.refuse(
        is_decoder=False, add_cross_attention=False, position_embedding_type="absolute", sinusoidal_pos_embds=False,
        chunk_size_feed_forward=0)
    renamed = Renamed(read_weights(folder), str(folder))
    head = _rename(config, family, renamed)
    tensors: Tensors = renamed.finish()
    size, positions = (len(tensors[f"encoder.{name}.weight"]) for name in ("embedding", "positions"))
    vocabulary = read_tokenizer(folder).padded(size, folder)
    return Converted(
        kind=f"transformers {config.values['model_type']}",
        model=model(
            source_vocab_size=size, target_vocab_size=size if head["head"] == "vocabulary" else 0, special_ids=vocabulary.special_ids,
            encoder=_stack(config, family, positions), **head),
        tensors=tensors, source_vocabulary=vocabulary.content, target_vocabulary=vocabulary.content, texts=vocabulary.texts(),
        provenance={"config": json.dumps(config.values, sort_keys=True)})


SOURCE = Source(
    "an encoder of transformers (config.json with model_type bert, roberta or distilbert, tokenizer.json or vocab files)",
    lambda folder: model_type(folder) in list(FAMILIES), _convert)
