"""transformers' GPT-2: config.json, model.safetensors or pytorch_model.bin, tokenizer.json or vocab.json and merges.txt.

Its matrices are [in, out]. A text begins with <|endoftext|>, as in its training, where that token stands between texts.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._compare import samples_differ_by, transformers_peer
from attend.convert._files import Keys, Renamed, model_type, read_json, read_weights
from attend.convert._source import Converted, Source, Tensors, model, stack
from attend.convert._tokenizer_files import read_tokenizer

ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu", "relu": "relu", "silu": "silu"}


class _Gpt2:
    """GPT-2's tensors under attend's names."""

    def __init__(self, tensors: Tensors, where: str) -> None:
        prefix = "transformer." if any(name.startswith("transformer.") for name in tensors) else ""
        self.renamed, self.prefix = Renamed(tensors, where), prefix

    def transposed(self, names: list[str], given: str) -> None:
        """One matrix [in, out] and its bias, as the equal parts of its columns."""
        weight = self.renamed.table(given, given + ".weight").T
        bias = self.renamed.take(given + ".bias", given + ".bias")
        if len(weight) % len(names) or bias.shape != weight.shape[:1]:
            raise InputError(
                f"{self.renamed.where}: tensor '{given}.weight' has {len(weight)} columns and its bias the shape {list(bias.shape)}, expected "
                f"{len(names)} equal parts")
        del self.renamed.tensors[given], self.renamed.tensors[given + ".bias"]
        for name, rows, numbers in zip(names, np.split(weight, len(names)), np.split(bias, len(names)), strict=True):
            self.renamed.tensors[name + ".weight"] = np.ascontiguousarray(rows)
            self.renamed.tensors[name + ".bias"] = np.ascontiguousarray(numbers)

    def layer(self, name: str, given: str) -> None:
        attention = [f"{name}.self_attention.{part}" for part in ("query", "key", "value")]
        self.renamed.linear(f"{name}.self_attention_norm", given + ".ln_1")
        self.transposed(attention, given + ".attn.c_attn")
        self.transposed([f"{name}.self_attention.output"], given + ".attn.c_proj")
        self.renamed.linear(f"{name}.feed_forward_norm", given + ".ln_2")
        self.transposed([f"{name}.feed_forward.inner"], given + ".mlp.c_fc")
        self.transposed([f"{name}.feed_forward.outer"], given + ".mlp.c_proj")
        self.renamed.drop(given + ".attn.bias", given + ".attn.masked_bias")

    def rename(self, layers: int) -> Tensors:
        self.renamed.table("decoder.embedding.weight", self.prefix + "wte.weight")
        self.renamed.table("decoder.positions.weight", self.prefix + "wpe.weight")
        for layer in range(layers):
            self.layer(f"decoder.layers.{layer}", f"{self.prefix}h.{layer}")
        self.renamed.linear("decoder.norm", self.prefix + "ln_f")
        self.renamed.is_tied("head.weight", "lm_head.weight", "decoder.embedding.weight")
        return self.renamed.finish()


def _stack(config: Keys) -> dict[str, Any]:
    width = config.count("n_embd")
    return stack(
        layers=config.count("n_layer"), d_model=width, heads=config.count("n_head"),
        d_ff=4 * width if config.values.get("n_inner") is None else config.count("n_inner"),
        activation=config.choose("activation_function", ACTIVATIONS, "gelu_new"), norm_place="pre",
        norm_epsilon=config.get("layer_norm_epsilon", float, 1e-5), positions="learned", max_positions=config.get("n_positions", int, 1024),
        scale_embedding=False)


def _convert(folder: pathlib.Path) -> Converted:
    config = Keys(folder / "config.json")
    config.refuse(scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False)
    shape = _stack(config)
    tensors = _Gpt2(read_weights(folder), str(folder)).rename(shape["layers"])
    size = len(tensors["decoder.embedding.weight"])
    vocabulary = read_tokenizer(folder).padded(size, folder)
    return Converted(
        kind="transformers GPT-2",
        model=model(
            task="language_model", target_vocab_size=size, special_ids=vocabulary.special_ids, decoder=shape,
            tie_target_output="head.weight" not in tensors),
        tensors=tensors, source_vocabulary=vocabulary.content, target_vocabulary=vocabulary.content, texts=vocabulary.texts(),
        provenance={"config": json.dumps(config.values, sort_keys=True)})


def _compare(source: str, output: str) -> float:
    peer = transformers_peer(source, "GPT2LMHeadModel")
    import torch

    bos = read_json(pathlib.Path(output) / "config.json")["model"]["special_ids"]["bos"]
    return samples_differ_by(output, lambda read, wrote: peer(torch.tensor([[bos, *wrote]])).logits[0])


SOURCE = Source(
    "GPT-2 of transformers (config.json with model_type gpt2, tokenizer files)", lambda folder: model_type(folder) == "gpt2", _convert,
    _compare, model_types=("gpt2",))
