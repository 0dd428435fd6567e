"""transformers' MarianMT models, as OPUS-MT has them: config.json, model.safetensors or pytorch_model.bin, source.spm, target.spm and
vocab.json. Their sinusoids stand in halves, their norms have an epsilon of 1e-5, and their decoder starts from the pad token, whose
embedding is zero.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._compare import samples_differ_by
from attend.convert._fairseq import rename_stack
from attend.convert._files import Keys, Renamed, model_type, read_weights, tokens_by_id
from attend.convert._source import Converted, Source, Tensors, model, sample_texts, stack
from attend.convert._vocabulary import with_tokens

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_new": "gelu_tanh", "swish": "silu", "silu": "silu"}


def _stack(config: Keys, side: str) -> dict[str, Any]:
    return stack(
        layers=config.get(f"{side}_layers", int), d_model=config.get("d_model", int), heads=config.get(f"{side}_attention_heads", int),
        d_ff=config.get(f"{side}_ffn_dim", int), activation=config.choose("activation_function", ACTIVATIONS, "gelu"), norm_epsilon=1e-5,
        position_convention="halves", scale_embedding=config.get("scale_embedding", bool, False))


def _embeddings(renamed: Renamed, shared: bool) -> None:
    if shared:
        given = "model.shared.weight" if "model.shared.weight" in renamed.left else "model.encoder.embed_tokens.weight"
        renamed.take("encoder.embedding.weight", given)
    else:
        renamed.take("encoder.embedding.weight", "model.encoder.embed_tokens.weight")
        renamed.take("decoder.embedding.weight", "model.decoder.embed_tokens.weight")
        renamed.drop("model.shared.weight")
    renamed.take("head.bias", "final_logits_bias")
    renamed.drop("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
    for side in ("encoder", "decoder"):
        renamed.drop(f"model.{side}.embed_positions.weight")


def _rename(tensors: Tensors, shape: dict[str, Any], shared: bool, where: str) -> Tensors:
    renamed = Renamed(tensors, where)
    _embeddings(renamed, shared)
    renamed.tied("encoder.embedding.weight" if shared else "decoder.embedding.weight", "lm_head.weight")
    for side in ("encoder", "decoder"):
        rename_stack(renamed, side, shape[side], "model.")
    found = renamed.finish()
    found["head.bias"] = found["head.bias"].reshape(-1)
    return found


def _drop_pad(tensors: Tensors, pad: int, where: str) -> None:
    """The pad token stands last and has a vector of zeros: without it the decoder starts from such a vector."""
    for name in ("encoder.embedding.weight", "decoder.embedding.weight", "head.bias"):
        if name not in tensors:
            continue
        rows = tensors[name]
        if len(rows) != pad + 1 or np.any(rows[pad:] != 0):
            raise InputError(f"{where}: '{name}' has no row of zeros for the pad token, which is the last")
        tensors[name] = np.ascontiguousarray(rows[:pad])


def _convert(folder: pathlib.Path) -> Converted:
    config = Keys(folder / "config.json")
    config.refuse(is_encoder_decoder=True, tie_word_embeddings=True)
    shared = config.get("share_encoder_decoder_embeddings", bool, True)
    size, pad = config.get("vocab_size", int), config.get("pad_token_id", int)
    target_size = config.values.get("decoder_vocab_size") or size
    if config.get("decoder_start_token_id", int) != pad:
        raise InputError(f"{config.path}: decoder_start_token_id is not pad_token_id ({pad}), which attend lacks for Marian models")
    eos = config.get("eos_token_id", int)
    shape = {side: _stack(config, side) for side in ("encoder", "decoder")}
    tensors = _rename(read_weights(folder), shape, shared, str(folder))
    _drop_pad(tensors, pad, str(folder))
    tokens = tokens_by_id(folder / "vocab.json", size)
    separate = folder / "target_vocab.json"
    target_tokens = tokens_by_id(separate, target_size) if separate.exists() else tokens
    special = {"pad": -1, "unk": tokens.index("<unk>"), "bos": -1, "eos": eos}
    names = Keys(folder / "tokenizer_config.json").values if (folder / "tokenizer_config.json").exists() else {}
    languages = [names.get("source_lang"), names.get("target_lang")]
    return Converted(
        kind="transformers MarianMT",
        model=model(
            languages=languages if all(isinstance(name, str) and name for name in languages) else [], source_vocab_size=size - 1,
            target_vocab_size=target_size - 1, special_ids=special, head_bias=True, tie_source_target=shared, **shape),
        tensors=tensors,
        source_vocabulary=with_tokens((folder / "source.spm").read_bytes(), tokens[:pad], special),
        target_vocabulary=with_tokens((folder / "target.spm").read_bytes(), target_tokens[:pad], special),
        texts=sample_texts(tokens),
        left_out=[] if not (folder / "generation_config.json").exists() else ["generation_config.json: attend's own search options hold"],
        provenance={"config": json.dumps(config.values, sort_keys=True)})


def _compare(source: str, output: str) -> float:
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"--verify needs the package {error.name}: pip install torch transformers", name=error.name) from error
    peer = transformers.MarianMTModel.from_pretrained(source, dtype=torch.float32).eval()
    pad = peer.config.pad_token_id

    def logits(read: list[int], wrote: list[int]) -> Any:
        found = peer(input_ids=torch.tensor([read]), decoder_input_ids=torch.tensor([[pad, *wrote]])).logits[0]
        found[:, pad] = -torch.inf  # which transformers never writes
        return found

    return samples_differ_by(output, logits)


SOURCE = Source(
    "MarianMT of transformers (config.json with model_type marian, vocab.json, source.spm, target.spm)",
    lambda folder: model_type(folder) == "marian", _convert, _compare)
