"""transformers' MarianMT models, as OPUS-MT has them: config.json, model.safetensors or pytorch_model.bin, source.spm, target.spm and
vocab.json. Their sinusoids stand in halves, their norms have an epsilon of 1e-5, and their decoder starts from the pad token, whose
embedding is zero.

`attend export` writes such models, too, and Pegasus models with the same files of tokens. Their decoder may start from a token of its own,
and Pegasus has a table of positions.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._compare import samples_differ_by, transformers_peer
from attend.convert._fairseq import layer
from attend.convert._files import (
    Keys, Renamed, generation_of, model_type, optional_keys, read_bytes, read_weights, shown, token_of, tokens_by_id)
from attend.convert._sinusoids import position_fields
from attend.convert._source import Converted, Source, Tensors, model, sample_texts, stack
from attend.convert._vocabulary import pieces_of, with_tokens

NEVER = -1e4  # a bias of what is never written
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_new": "gelu_tanh", "swish": "silu", "silu": "silu"}


def _stack(config: Keys, side: str) -> dict[str, Any]:
    return stack(
        layers=config.get(f"{side}_layers", int), d_model=config.get("d_model", int), heads=config.get(f"{side}_attention_heads", int),
        d_ff=config.get(f"{side}_ffn_dim", int), activation=config.choose("activation_function", ACTIVATIONS, "gelu"), norm_epsilon=1e-5,
        norm_place="pre" if config.values["model_type"] == "pegasus" else "post", position_convention="halves",
        scale_embedding=config.get("scale_embedding", bool, False))


def _embeddings(renamed: Renamed, shared: bool) -> str:
    """Returns the name of the target's."""
    if shared:
        given = "model.shared.weight" if "model.shared.weight" in renamed.left else "model.encoder.embed_tokens.weight"
        renamed.table("encoder.embedding.weight", given)
        for side in ("encoder", "decoder"):
            renamed.tied("encoder.embedding.weight", f"model.{side}.embed_tokens.weight")
        return "encoder.embedding.weight"
    renamed.table("encoder.embedding.weight", "model.encoder.embed_tokens.weight")
    renamed.table("decoder.embedding.weight", "model.decoder.embed_tokens.weight")
    renamed.drop("model.shared.weight")
    return "decoder.embedding.weight"


def _positions(renamed: Renamed, side: str, shape: dict[str, Any]) -> None:
    """MarianMT makes its own, which older files have, too."""
    given = f"model.{side}.embed_positions.weight"
    if shape["norm_place"] == "post":
        renamed.drop(given)
        return
    shape |= position_fields(renamed.table(f"{side}.positions.weight", given))
    if shape["positions"] != "learned":
        del renamed.tensors[f"{side}.positions.weight"]


def _rename(tensors: Tensors, shape: dict[str, Any], config: Keys) -> Tensors:
    renamed, tied = Renamed(tensors, str(config.path.parent)), config.get("tie_word_embeddings", bool, True)
    target = _embeddings(renamed, config.get("share_encoder_decoder_embeddings", bool, True))
    if tied:
        renamed.tied(target, "lm_head.weight")
    else:
        renamed.table("head.weight", "lm_head.weight")
    renamed.take("head.bias", "final_logits_bias")
    for side in ("encoder", "decoder"):
        _positions(renamed, side, shape[side])
        for number in range(shape[side]["layers"]):
            layer(renamed, f"{side}.layers.{number}", f"model.{side}.layers.{number}", side == "decoder")
        if shape[side]["norm_place"] == "pre":
            renamed.linear(f"{side}.norm", f"model.{side}.layer_norm")
    found = renamed.finish()
    found["head.bias"] = found["head.bias"].reshape(-1)
    return found


def _drop_pad(tensors: Tensors, pad: int, starts: bool, where: str) -> bool:
    """A pad token that stands last and has a vector of zeros: without it a decoder that starts from it starts from such a vector."""
    names = [name for name in ("encoder.embedding.weight", "decoder.embedding.weight", "head.weight", "head.bias") if name in tensors]
    for name in names:
        rows = tensors[name]
        if len(rows) == pad + 1 and (not np.any(rows[pad]) or (name == "head.bias" and rows[pad] <= NEVER)):
            continue
        if not starts:
            return False
        raise InputError(f"{where}: '{name}' has no row of zeros for the pad token, which is the last")
    for name in names:
        tensors[name] = np.ascontiguousarray(tensors[name][:pad])
    return True


def _special_ids(config: Keys, settings: dict[str, Any], tokens: list[str]) -> dict[str, int]:
    unknown = token_of(settings, "unk_token", "<unk>")
    if unknown not in tokens:
        raise InputError(f"{config.path.parent / 'vocab.json'}: {shown(unknown)} is missing, the unknown token")
    keys = {"pad": "pad_token_id", "bos": "decoder_start_token_id", "eos": "eos_token_id"}
    return {"unk": tokens.index(unknown)} | {name: config.token(key, len(tokens)) for name, key in keys.items()}


def _pieces(folder: pathlib.Path, name: str) -> bytes:
    content = read_bytes(folder / name)
    pieces_of(content, str(folder / name))
    return content


def _convert(folder: pathlib.Path) -> Converted:
    config = Keys(folder / "config.json")
    config.refuse(is_encoder_decoder=True)
    size = config.count("vocab_size")
    target_size = size if config.values.get("decoder_vocab_size") is None else config.count("decoder_vocab_size")
    shape = {side: _stack(config, side) for side in ("encoder", "decoder")}
    tensors = _rename(read_weights(folder), shape, config)
    tokens = tokens_by_id(folder / "vocab.json", size)
    separate = folder / "target_vocab.json"
    target_tokens = tokens_by_id(separate, target_size) if separate.exists() else tokens
    settings = optional_keys(folder / "tokenizer_config.json").values
    special = _special_ids(config, settings, tokens)
    starts = special["pad"] == special["bos"]
    if _drop_pad(tensors, special["pad"], starts, str(folder)):
        tokens, target_tokens = tokens[: special["pad"]], target_tokens[: special["pad"]]
        special |= {"pad": -1} | ({"bos": -1} if starts else {})
    languages = [settings.get("source_lang"), settings.get("target_lang")]
    return Converted(
        kind=f"transformers {'MarianMT' if config.values['model_type'] == 'marian' else 'Pegasus'}",
        model=model(
            languages=languages if all(isinstance(name, str) and name for name in languages) else [], source_vocab_size=len(tokens),
            target_vocab_size=len(target_tokens), special_ids=special, head_bias=True,
            tie_source_target="decoder.embedding.weight" not in tensors, tie_target_output="head.weight" not in tensors, **shape),
        tensors=tensors,
        source_vocabulary=with_tokens(_pieces(folder, "source.spm"), tokens, special),
        target_vocabulary=with_tokens(_pieces(folder, "target.spm"), target_tokens, special),
        texts=sample_texts(tokens),
        left_out=generation_of(folder, config)[1],
        provenance={"config": json.dumps(config.values, sort_keys=True)})


def _recognises(folder: pathlib.Path) -> bool:
    kind = model_type(folder)
    return kind == "marian" or (kind == "pegasus" and (folder / "vocab.json").exists())


def _compare(source: str, output: str) -> float:
    peer = transformers_peer(source, "AutoModelForSeq2SeqLM")
    import torch

    pad, start = peer.config.pad_token_id, peer.config.decoder_start_token_id

    def logits(read: list[int], wrote: list[int]) -> Any:
        found = peer(input_ids=torch.tensor([read]), decoder_input_ids=torch.tensor([[start, *wrote]])).logits[0]
        if pad == start:
            found[:, pad] = -torch.inf  # which transformers never writes
        return found

    return samples_differ_by(output, logits)


SOURCE = Source(
    "MarianMT of transformers (config.json with model_type marian, vocab.json, source.spm, target.spm)", _recognises, _convert, _compare,
    model_types=("marian",))
