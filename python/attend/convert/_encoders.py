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

from attend._attend import Encoder, Vocabulary
from attend._errors import InputError
from attend.convert._compare import largest, samples_differ_by, transformers_peer
from attend.convert._files import MOST, Keys, Renamed, model_type, read_json, read_weights, shown
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
    text: tuple[str, str, str]  # of the head of labels of texts: the layer before them and its activation, and the labels
    first_position: Callable[[Keys], int]  # row of the first token's position
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
        "bert.", _BERT_KEYS, _BERT_LAYER, "encoder.layer", _BERT_MASKED,
        ("bert.pooler.dense", "tanh", "classifier"), lambda config: 0, lambda config: config.get("layer_norm_eps", float, 1e-12)),
    "roberta": _Family(
        "roberta.", _BERT_KEYS, _BERT_LAYER, "encoder.layer", _ROBERTA_MASKED,
        ("classifier.dense", "tanh", "classifier.out_proj"), lambda config: config.token("pad_token_id", MOST, 1) + 1,
        lambda config: config.get("layer_norm_eps", float, 1e-5)),
    "distilbert": _Family(
        "distilbert.", _DISTILBERT_KEYS, _DISTILBERT_LAYER, "transformer.layer", _DISTILBERT_MASKED,
        ("pre_classifier", "relu", "classifier"), lambda config: 0, lambda config: 1e-12),
}


def _embeddings(renamed: Renamed, first_position: int, prefix: str) -> None:
    renamed.table("encoder.embedding.weight", prefix + "embeddings.word_embeddings.weight")
    positions = renamed.table("encoder.positions.weight", prefix + "embeddings.position_embeddings.weight")[first_position:]
    renamed.linear("encoder.embedding_norm", prefix + "embeddings.LayerNorm")
    given = prefix + "embeddings.token_type_embeddings.weight"
    if given in renamed.left:
        types = renamed.table("types", given)
        if len(types) == 0 or types.shape[1] != positions.shape[1]:
            raise InputError(f"{renamed.where}: tensor '{given}' has the shape {list(types.shape)}, expected rows of {positions.shape[1]}")
        positions = positions + types[0]
        del renamed.tensors["types"]
        if len(types) > 1:
            renamed.left_out.append("the other token types: a text is one part")
    renamed.tensors["encoder.positions.weight"] = np.ascontiguousarray(positions)
    renamed.drop(prefix + "embeddings.position_ids")


def labels_of(config: Keys) -> list[str]:
    """Names by id, as transformers keeps them."""
    names = config.values.get("id2label", {"0": "LABEL_0", "1": "LABEL_1"})
    if not isinstance(names, dict) or sorted(map(str, names)) != sorted(str(i) for i in range(len(names))):
        raise InputError(f"{config.path}: id2label is {shown(names)[:60]}, expected a name for each id from 0 on")
    return [str({str(key): value for key, value in names.items()}[str(i)]) for i in range(len(names))]


def _scheme(labels: list[str]) -> str:
    """How labels of words spell entities. Those with B- and I- may be of IOB1 or of IOB2, which their names do not tell, so that any
    may follow any, as in transformers."""
    parted = [label.split("-", 1) for label in labels if label != "O"]
    if "O" not in labels or not parted or any(len(parts) != 2 for parts in parted):
        return "none"
    types = {begin: {kind for first, kind in parted if first == begin} for begin in "BIES"}
    if sum(map(len, types.values())) < len(parted):
        return "none"
    if types["E"] or types["S"]:
        return "iobes"
    return "iob" if types["B"] and types["I"] else "iob1" if types["I"] else "iob2"


class _Head:
    """What stands on the encoder, by the class that config.json names."""

    def __init__(self, config: Keys, family: _Family, renamed: Renamed) -> None:
        self.config, self.family, self.renamed = config, family, renamed
        names = config.get("architectures", list, ["BertModel"]) if config.values.get("architectures") else ["BertModel"]
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

    def drop_pooler(self) -> None:
        """Of the first token's vector. Models have it whether their head reads it or not."""
        for prefix in ("", self.family.prefix):
            if self.renamed.drop(f"{prefix}pooler.dense.weight", f"{prefix}pooler.dense.bias"):
                self.renamed.left_out.append("the pooler: no head reads it")

    def none(self) -> dict[str, Any]:
        self.drop_pooler()
        return {"task": "masked_language_model", "head": "none"}

    def masked(self) -> dict[str, Any]:
        names = self.family.masked
        self.renamed.linear("head.transform", names["head.transform"])
        self.renamed.linear("head.norm", names["head.norm"])
        # Of a head that is not tied both biases are there, and the projection's own counts.
        self.renamed.take("head.bias", names["copy" if names["copy"] in self.renamed.left else "head.bias"])
        self.drop_pooler()
        self.renamed.drop(names["head.bias"])
        if self.renamed.drop("cls.seq_relationship.weight", "cls.seq_relationship.bias"):
            self.renamed.left_out.append("the head that tells whether a sentence follows another")
        tied = self.renamed.is_tied("head.weight", names["head.weight"], "encoder.embedding.weight")
        return {"task": "masked_language_model", "head": "vocabulary", "head_bias": True, "head_transform": True, "tie_target_output": tied}

    def tokens(self) -> dict[str, Any]:
        self.drop_pooler()
        self.renamed.linear("head", "classifier")
        labels = labels_of(self.config)
        return {"task": "tagging", "head": "labels", "labels": labels, "label_scheme": _scheme(labels), "pooling": "tokens"}

    def text(self) -> dict[str, Any]:
        if self.config.values.get("problem_type") not in (None, "single_label_classification") or len(labels_of(self.config)) < 2:
            raise InputError(f"{self.config.path}: problem_type or id2label is of a regression or of several labels, which attend lacks")
        layer, activation, labels = self.family.text
        self.renamed.linear("head.pooler", layer)
        self.renamed.linear("head", labels)
        self.drop_pooler()
        return {
            "task": "classification", "head": "labels", "labels": labels_of(self.config), "pooling": "first", "head_pooler": True,
            "pooler_activation": activation}


def _stack(config: Keys, family: _Family, positions: int) -> dict[str, Any]:
    keys = family.keys
    return stack(
        layers=config.get(keys["layers"], int), d_model=config.get(keys["d_model"], int), heads=config.get(keys["heads"], int),
        d_ff=config.get(keys["d_ff"], int), activation=config.choose(keys["activation"], ACTIVATIONS, "gelu"),
        norm_epsilon=family.epsilon(config), positions="learned", max_positions=positions, scale_embedding=False, embedding_norm=True)


def _rename(config: Keys, family: _Family, renamed: Renamed) -> dict[str, Any]:
    """Takes all tensors; returns the fields of the head."""
    prefix = family.prefix if any(name.startswith(family.prefix) for name in renamed.left) else ""
    _embeddings(renamed, family.first_position(config), prefix)
    for layer in range(config.get(family.keys["layers"], int)):
        for ours, theirs in family.layer.items():
            renamed.linear(f"encoder.layers.{layer}.{ours}", f"{prefix}{family.layers}.{layer}.{theirs}")
    return _Head(config, family, renamed).fields()


def _new_names(tensors: Tensors) -> Tensors:
    """Models made of TensorFlow's have gamma and beta in their norms."""
    renamed = {}
    for name, tensor in tensors.items():
        for old, new in (("LayerNorm.gamma", "LayerNorm.weight"), ("LayerNorm.beta", "LayerNorm.bias")):
            name = name.removesuffix(old) + new if name.endswith(old) else name
        renamed[name] = tensor
    return renamed


def _sentence_vectors(folder: pathlib.Path) -> list[str]:
    """Of a model of sentence-transformers: how its vectors are made, which `attend embed` is told."""
    if not (folder / "modules.json").exists():
        return []
    modules = read_json(folder / "modules.json")
    kinds = [str(module.get("type")).rsplit(".", 1)[-1] for module in modules if isinstance(module, dict)] if isinstance(modules, list) else []
    path = folder / "1_Pooling/config.json"
    pooling = Keys(path).values if path.exists() else {}
    way = "mean" if pooling.get("pooling_mode_mean_tokens") else "first" if pooling.get("pooling_mode_cls_token") else ""
    if not way:
        return [f"the modules of its sentence vectors ({', '.join(kinds)}), whose way of pooling attend lacks"]
    options = f"--pooling {way}" + (" --normalize" if "Normalize" in kinds else "")
    path = folder / "sentence_bert_config.json"
    longest = Keys(path).values.get("max_seq_length") if path.exists() else None
    cut = [f"max_seq_length {shown(longest)}: attend reads texts as long as the positions reach"] if longest is not None else []
    return [f"how sentence vectors are made of those of tokens: `attend embed {options}` makes them", *cut]


def _convert(folder: pathlib.Path) -> Converted:
    config = Keys(folder / "config.json")
    family = FAMILIES[config.get("model_type", str)]
    config.refuse(
        is_decoder=False, add_cross_attention=False, position_embedding_type="absolute", sinusoidal_pos_embds=False,
        chunk_size_feed_forward=0)
    renamed = Renamed(_new_names(read_weights(folder)), str(folder))
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
        left_out=renamed.left_out + _sentence_vectors(folder), provenance={"config": json.dumps(config.values, sort_keys=True)})


def _compare(source: str, output: str) -> float:
    model = read_json(pathlib.Path(output) / "config.json")["model"]
    classes = {
        "none": "AutoModel", "vocabulary": "AutoModelForMaskedLM",
        "labels": "AutoModelForTokenClassification" if model["pooling"] == "tokens" else "AutoModelForSequenceClassification"}
    peer = transformers_peer(source, classes[model["head"]])
    import torch

    if model["head"] == "none":
        return _vectors_differ_by(peer, source, output, model["special_ids"])

    def logits(read: list[int], wrote: list[int]) -> Any:
        found = peer(input_ids=torch.tensor([read])).logits
        return found if found.ndim == 2 else found[0]  # of a text, or of its tokens

    return samples_differ_by(output, logits)


def _vectors_differ_by(peer: Any, source: str, output: str, special: dict[str, int]) -> float:
    """For a model without head, which has no samples."""
    import torch

    encoder, vocabulary, differences = Encoder(output, threads=1), Vocabulary(pathlib.Path(output) / "vocab.spm"), []
    for text in read_tokenizer(pathlib.Path(source)).texts():
        ids = [special["bos"], *vocabulary.encode(text), special["eos"]]
        with torch.no_grad():
            hidden = peer(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()
        for pooling, expected in (("first", hidden[0]), ("mean", hidden.mean(0))):
            differences.append(float(np.abs(encoder.embed(text, pooling=pooling) - expected).max()))
    return largest(differences)


SOURCE = Source(
    "an encoder of transformers (config.json with model_type bert, roberta or distilbert, tokenizer.json or vocab files)",
    lambda folder: model_type(folder) in list(FAMILIES), _convert, _compare, model_types=tuple(FAMILIES))
