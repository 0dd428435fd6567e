"""Encoders as transformers' BERT: masked language models, labels of tokens, and labels of texts by their first token.

BERT has norms after the sub-layers, one of the embeddings, a table of positions, and biases everywhere. Its vectors of token types are
zeros here. Before labels of texts it has a layer with tanh: of a model without one it is the identity times a number so small that tanh
gives it back, and the weights after it are divided by that number.
"""

from __future__ import annotations

import math
import pathlib
from typing import Any

import numpy as np

from attend.convert._compare import check_tokens, samples_differ_by, transformers_package
from attend.convert._encoders import FAMILIES
from attend.convert._target import Directory, Exported, Target, position_table
from attend.convert._to_tokenizer import tokenizer_of
from attend.convert._to_transformers import ACTIVATIONS, Renaming, tokenizer_files, writer

NAME = "BERT of transformers"
MODEL_KEYS = {
    "source_vocab_size", "target_vocab_size", "head", "head_bias", "head_transform", "head_pooler", "pooling", "labels", "label_scheme",
    "crf", "tie_source_target", "tie_target_output"}
STACK_KEYS = {
    "activation", "positions", "position_convention", "position_offset", "max_positions", "attention_bias", "feed_forward_bias",
    "scale_embedding"}
SMALL = 2.0**-12  # tanh(x * SMALL) is x * SMALL to 5e-7, for x up to 5
BERT = FAMILIES["bert"]


class _Export:
    def __init__(self, directory: Directory, rows: int) -> None:
        self.directory, self.model, self.stack = directory, directory.model, directory.model["encoder"]
        self.positions = position_table(directory, "encoder", rows)
        self.to = Renaming(dict(directory.tensors))
        self.left_out: list[str] = []

    def check(self) -> None:
        directory, head, pooling = self.directory, self.model["head"], self.model["pooling"]
        directory.check(NAME, MODEL_KEYS, STACK_KEYS, embedding_norm=True)
        directory.choose("encoder.activation", ACTIVATIONS, NAME)
        if pooling == "mean":
            raise directory.fail("pooling", pooling, NAME, '"first" or "tokens"')
        if head == "vocabulary" and not self.model["head_transform"]:
            raise directory.fail("head_transform", False, NAME, "true")
        alone = "each word gets the label that is likeliest by itself"
        if self.model["crf"]:
            self.left_out.append(f"the scores of labels that follow each other (crf): {alone}")
        elif self.model["label_scheme"] != "none":
            self.left_out.append(f"that labels spell whole entities ({self.model['label_scheme']}): {alone}")

    def embeddings(self) -> None:
        words = self.to.given["encoder.embedding.weight"]
        factor = math.sqrt(self.stack["d_model"]) if self.stack["scale_embedding"] else 1
        prefix, width = "bert.embeddings", self.stack["d_model"]
        self.to.tensors |= {
            f"{prefix}.word_embeddings.weight": (words * factor).astype(np.float32), f"{prefix}.position_embeddings.weight": self.positions,
            f"{prefix}.token_type_embeddings.weight": np.zeros((2, width), np.float32)}
        self.to.linear(f"{prefix}.LayerNorm", "encoder.embedding_norm")

    def layers(self) -> None:
        for number in range(self.stack["layers"]):
            for ours, theirs in BERT.layer.items():
                self.to.linear(f"bert.{BERT.layers}.{number}.{theirs}", f"encoder.layers.{number}.{ours}")

    def masked(self) -> dict[str, Any]:
        names, given = BERT.masked, self.to.given
        self.to.linear(names["head.transform"], "head.transform")
        self.to.linear(names["head.norm"], "head.norm")
        tied = self.model["tie_target_output"]
        weight = given["encoder.embedding.weight" if tied else "head.weight"]
        bias = given.get("head.bias", np.zeros(len(weight), np.float32))
        apart = not tied or self.stack["scale_embedding"]
        self.to.tensors[names["head.bias"]] = bias
        if apart:
            self.to.tensors |= {names["head.weight"]: weight, names["copy"]: bias}
        return {"architectures": ["BertForMaskedLM"], "tie_word_embeddings": not apart}

    def labels(self) -> dict[str, Any]:
        names, of_texts = self.model["labels"], self.model["pooling"] == "first"
        self.to.linear("classifier", "head")
        if of_texts and self.model["head_pooler"]:
            self.to.linear("bert.pooler.dense", "head.pooler")
        elif of_texts:
            width = self.stack["d_model"]
            self.to.tensors["bert.pooler.dense.weight"] = np.eye(width, dtype=np.float32) * np.float32(SMALL)
            self.to.tensors["bert.pooler.dense.bias"] = np.zeros(width, np.float32)
            self.to.tensors["classifier.weight"] = self.to.tensors["classifier.weight"] / np.float32(SMALL)
        return {
            "architectures": ["BertForSequenceClassification" if of_texts else "BertForTokenClassification"],
            "id2label": {str(i): name for i, name in enumerate(names)}, "label2id": {name: i for i, name in enumerate(names)}}

    def none(self) -> dict[str, Any]:
        self.to.tensors = {name.removeprefix("bert."): value for name, value in self.to.tensors.items()}
        return {"architectures": ["BertModel"]}

    def run(self) -> Exported:
        self.check()
        self.embeddings()
        self.layers()
        head = self.directory.choose("head", {"vocabulary": self.masked, "labels": self.labels, "none": self.none}, NAME)()
        ids, stack, rows = self.directory.special_ids, self.stack, len(self.positions)
        config = head | {theirs: stack[ours] for ours, theirs in BERT.keys.items()} | {
            "model_type": "bert", "vocab_size": self.model["source_vocab_size"], "type_vocab_size": 2, "max_position_embeddings": rows,
            "hidden_act": ACTIVATIONS[stack["activation"]], "layer_norm_eps": stack["norm_epsilon"],
            "pad_token_id": ids["pad"] if ids["pad"] >= 0 else None}
        files = {}
        if self.directory.vocabularies:
            tokenizer = tokenizer_of(self.directory.vocabularies["source"], ids, str(self.directory.path / "vocab.spm"), ends=True)
            files = tokenizer_files(tokenizer, rows, ends=True)
        else:
            self.left_out.append("a tokenizer: the model has no vocabulary")
        return Exported(NAME, writer(config, self.to.tensors, files), self.directory.changes(rows), self.left_out)


def _compare(directory: Directory, output: pathlib.Path) -> float:
    transformers = transformers_package()
    import torch

    labels = "ForSequenceClassification" if directory.model["pooling"] == "first" else "ForTokenClassification"
    name = {"vocabulary": "ForMaskedLM", "none": "Model"}.get(directory.model["head"], labels)
    peer = getattr(transformers, f"Bert{name}").from_pretrained(output, dtype=torch.float32).eval()
    if directory.vocabularies:
        tokenizer = transformers.AutoTokenizer.from_pretrained(output)
        check_tokens(str(directory.path), lambda sample: (sample["source"], sample["source_ids"]), tokenizer)
    return samples_differ_by(str(directory.path), lambda read, _: peer(torch.tensor([read])).logits.flatten(0, -2))


def _fits(model: dict[str, Any]) -> bool:
    return bool(model["decoder"] is None and model["encoder"]["norm_place"] == "post")


TARGETS = (
    Target(
        "transformers", "encoders with a norm of the embeddings and norms after the sub-layers, as BERT", _fits,
        lambda directory, rows: _Export(directory, rows).run(), _compare),)
