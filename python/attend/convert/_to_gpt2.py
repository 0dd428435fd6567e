"""Language models as transformers' GPT-2: norms before the sub-layers, a table of positions, matrices [in, out], biases everywhere."""

from __future__ import annotations

import math
import pathlib
from typing import Any

import numpy as np

from attend.convert._compare import check_tokens, samples_differ_by, transformers_package
from attend.convert._source import Tensors
from attend.convert._streams import scale
from attend.convert._target import Directory, Exported, Target, position_table
from attend.convert._to_tokenizer import load_vocabulary, tokenizer_of
from attend.convert._to_transformers import (
    ACTIVATIONS, Renaming, never_written, to_json, tokenizer_files, writer)

NAME = "GPT-2 of transformers"
MODEL_KEYS = {"source_vocab_size", "target_vocab_size", "tie_source_target", "tie_target_output"}
STACK_KEYS = {
    "activation", "positions", "position_convention", "position_offset", "max_positions", "attention_bias", "feed_forward_bias",
    "scale_embedding"}


def _scale_embedding(tensors: Tensors, model: dict[str, Any]) -> None:
    """GPT-2 reads embeddings as they are: they get the factor, and the norm before a tied output loses it."""
    if not model["decoder"]["scale_embedding"]:
        return
    factor = math.sqrt(model["decoder"]["d_model"])
    scale(tensors, factor, "decoder.embedding")
    if model["tie_target_output"]:
        scale(tensors, 1 / factor, "decoder.norm")


def _rename(tensors: Tensors, model: dict[str, Any], positions: np.ndarray[Any, Any]) -> Tensors:
    to = Renaming(tensors)
    to.tensors |= {"transformer.wte.weight": tensors["decoder.embedding.weight"], "transformer.wpe.weight": positions}
    for number in range(model["decoder"]["layers"]):
        ours, theirs = f"decoder.layers.{number}", f"transformer.h.{number}"
        parts = [f"{ours}.self_attention.{part}" for part in ("query", "key", "value")]
        to.tensors[f"{theirs}.attn.c_attn.weight"] = np.concatenate([tensors[f"{part}.weight"] for part in parts]).T
        to.tensors[f"{theirs}.attn.c_attn.bias"] = np.concatenate([to.bias(part) for part in parts])
        to.linear(f"{theirs}.attn.c_proj", f"{ours}.self_attention.output", transpose=True)
        to.linear(f"{theirs}.mlp.c_fc", f"{ours}.feed_forward.inner", transpose=True)
        to.linear(f"{theirs}.mlp.c_proj", f"{ours}.feed_forward.outer", transpose=True)
        to.linear(f"{theirs}.ln_1", f"{ours}.self_attention_norm")
        to.linear(f"{theirs}.ln_2", f"{ours}.feed_forward_norm")
    to.linear("transformer.ln_f", "decoder.norm")
    if not model["tie_target_output"]:
        to.tensors["lm_head.weight"] = tensors["head.weight"]
    return to.tensors


def _export(directory: Directory, rows: int) -> Exported:
    model, ids = directory.model, directory.special_ids
    stack = model["decoder"]
    directory.check(NAME, MODEL_KEYS, STACK_KEYS, norm_place="pre")
    activation = directory.choose("decoder.activation", ACTIVATIONS, NAME)
    if ids["bos"] < 0:
        raise directory.fail("special_ids.bos", -1, NAME, "a token that texts begin with")
    tensors, positions = dict(directory.tensors), position_table(directory, "decoder", rows)
    _scale_embedding(tensors, model)
    pad = ids["pad"] if ids["pad"] >= 0 else ids["eos"]
    config = {
        "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": model["target_vocab_size"], "n_embd": stack["d_model"],
        "n_layer": stack["layers"], "n_head": stack["heads"], "n_inner": stack["d_ff"], "n_positions": len(positions),
        "activation_function": activation, "layer_norm_epsilon": stack["norm_epsilon"], "tie_word_embeddings": model["tie_target_output"],
        "bos_token_id": ids["bos"], "eos_token_id": ids["eos"], "pad_token_id": pad}
    generation = {f"{name}_token_id": config[f"{name}_token_id"] for name in ("bos", "eos", "pad")}
    files, left_out = {"generation_config.json": to_json(generation | {"suppress_tokens": never_written(ids)})}, []
    if directory.vocabularies:
        tokenizer = tokenizer_of(directory.vocabularies["target"], ids, str(directory.path / "vocab.spm"), ends=False)
        files |= tokenizer_files(tokenizer, len(positions), ends=False)
    else:
        left_out.append("a tokenizer: the model has no vocabulary")
    return Exported(
        NAME, writer(config, _rename(tensors, model, positions), files),
        directory.changes(len(positions)), left_out)


def _compare(directory: Directory, output: pathlib.Path) -> float:
    transformers = transformers_package()
    import torch

    peer = transformers.GPT2LMHeadModel.from_pretrained(output, dtype=torch.float32).eval()
    bos = directory.special_ids["bos"]
    if directory.vocabularies:
        vocabulary = load_vocabulary(directory.vocabularies["target"])

        def read(sample: dict[str, Any]) -> tuple[str, list[int]]:
            text = sample["target"].replace("\n", " ")
            return text, [bos, *vocabulary.encode(text)]

        check_tokens(str(directory.path), read, transformers.AutoTokenizer.from_pretrained(output))
    return samples_differ_by(str(directory.path), lambda _, wrote: peer(torch.tensor([[bos, *wrote]])).logits[0])


TARGETS = (
    Target(
        "transformers", "language models with norms before the sub-layers, as GPT-2",
        lambda model: bool(model["task"] == "language_model" and model["decoder"]["norm_place"] == "pre"), _export, _compare),)
