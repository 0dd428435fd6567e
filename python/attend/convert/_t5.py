"""transformers' T5 and mT5, flan-T5's too: config.json, model.safetensors or pytorch_model.bin, tokenizer.json or spiece.model.

Their attention does not divide scores by sqrt(d_kv), so that goes into the weights of queries. The first T5 multiplies what the output layer
reads by d_model^-0.5, which goes into the decoder's last norm. The decoder starts from the pad token.
"""

from __future__ import annotations

import json
import math
import pathlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._compare import samples_differ_by, transformers_peer
from attend.convert._files import Keys, Renamed, generation_of, model_type, optional_keys, read_bytes, read_weights
from attend.convert._sentencepiece_json import SentencePieceJson
from attend.convert._source import Converted, Source, Tensors, model, sample_texts, stack
from attend.convert._vocabulary import pieces_of, placeholders, with_tokens

CLASSES = {"t5": "T5ForConditionalGeneration", "mt5": "MT5ForConditionalGeneration"}
ACTIVATIONS = {
    "relu": "relu", "gelu": "gelu", "gelu_new": "gelu_tanh", "silu": "silu", "gated-gelu": "geglu_tanh", "gated-gelu_new": "geglu_tanh",
    "gated-silu": "swiglu"}
SENTINELS = 100
PIECES = "spiece.model"
PARTS = {"query": "q", "key": "k", "value": "v", "output": "o"}


def _stack(config: Keys, side: str) -> dict[str, Any]:
    layers = config.count("num_layers")
    width = config.count("d_kv")
    return stack(
        layers=layers if side == "encoder" or config.values.get("num_decoder_layers") is None else config.count("num_decoder_layers"),
        d_model=config.count("d_model"), heads=config.count("num_heads"), d_k=width, d_v=width, d_ff=config.count("d_ff"),
        activation=config.choose("feed_forward_proj", ACTIVATIONS, "relu"), norm="rms_norm", norm_place="pre",
        norm_epsilon=config.get("layer_norm_epsilon", float, 1e-6), positions="relative",
        relative_buckets=config.get("relative_attention_num_buckets", int, 32),
        relative_max_distance=config.get("relative_attention_max_distance", int, 128), attention_bias=False, feed_forward_bias=False,
        scale_embedding=False)


class _T5:
    """T5's tensors under attend's names."""

    def __init__(self, tensors: Tensors, shape: dict[str, Any], where: str) -> None:
        self.renamed, self.shape = Renamed(tensors, where), shape

    def attention(self, name: str, given: str, kind: str) -> None:
        for ours, theirs in PARTS.items():
            self.renamed.linear(f"{name}.{ours}", f"{given}.{kind}.{theirs}", bias=False)
        self.renamed.tensors[name + ".query.weight"] *= np.float32(math.sqrt(self.shape["encoder"]["d_k"]))
        self.renamed.linear(name + "_norm", given + ".layer_norm", bias=False)

    def feed_forward(self, name: str, given: str) -> None:
        gated = self.shape["encoder"]["activation"] in ("geglu_tanh", "swiglu")
        for ours, theirs in {"gate": "wi_0", "inner": "wi_1", "outer": "wo"}.items() if gated else {"inner": "wi", "outer": "wo"}.items():
            self.renamed.linear(f"{name}.{ours}", f"{given}.DenseReluDense.{theirs}", bias=False)
        self.renamed.linear(name + "_norm", given + ".layer_norm", bias=False)

    def stack(self, side: str) -> None:
        first = f"{side}.block.0.layer"
        self.renamed.take(side + ".relative_bias.weight", first + ".0.SelfAttention.relative_attention_bias.weight")
        self.renamed.drop(first + ".1.EncDecAttention.relative_attention_bias.weight")  # which some files have and no program reads
        for number in range(self.shape[side]["layers"]):
            name, given = f"{side}.layers.{number}", f"{side}.block.{number}.layer"
            self.attention(name + ".self_attention", given + ".0", "SelfAttention")
            if side == "decoder":
                self.attention(name + ".cross_attention", given + ".1", "EncDecAttention")
            self.feed_forward(name + ".feed_forward", f"{given}.{2 if side == 'decoder' else 1}")
        self.renamed.linear(side + ".norm", side + ".final_layer_norm", bias=False)

    def rename(self, scaled: bool) -> Tensors:
        embedding = "encoder.embedding.weight"
        self.renamed.table(embedding, "shared.weight" if "shared.weight" in self.renamed.left else "encoder.embed_tokens.weight")
        for side in ("encoder", "decoder"):
            self.renamed.tied(embedding, side + ".embed_tokens.weight")
            self.stack(side)
        self.renamed.is_tied("head.weight", "lm_head.weight", embedding)
        if scaled:
            self.renamed.tensors["decoder.norm.weight"] *= np.float32(self.shape["decoder"]["d_model"] ** -0.5)
        return self.renamed.finish()


@dataclass
class _Vocabulary:
    pieces: bytes  # SentencePiece's
    tokens: list[str]  # by id
    added: list[str]  # which stand in a text as they are
    unk: int


def _read_vocabulary(folder: pathlib.Path, special: tuple[int, int]) -> _Vocabulary:
    """`special`: the ids of pad and eos."""
    path = folder / "tokenizer.json"
    if path.exists():
        file = SentencePieceJson(path, f"put the model's {PIECES} in its place")
        return _Vocabulary(file.sentencepiece(with_added=False), file.tokens, list(file.added), file.tokens.index(file.unknown()))
    path = folder / PIECES
    if not path.exists():
        raise InputError(f"'{folder}' has no tokenizer, expected tokenizer.json or {PIECES}")
    settings = optional_keys(folder / "tokenizer_config.json")
    content = read_bytes(path)
    pieces = pieces_of(content, str(path))
    if "<unk>" not in pieces or not all(0 <= i < len(pieces) for i in special):
        raise InputError(f"{path}: it has {len(pieces)} pieces, expected '<unk>' among them, pad {special[0]} and eos {special[1]}")
    sentinels = [f"<extra_id_{i}>" for i in reversed(range(settings.get("extra_ids", int, SENTINELS)))]
    unk = pieces.index("<unk>")
    return _Vocabulary(content, pieces + sentinels, [pieces[i] for i in (*special, unk)] + sentinels, unk)


def _convert(folder: pathlib.Path) -> Converted:
    config = Keys(folder / "config.json")
    config.refuse(is_encoder_decoder=True)
    kind = config.get("model_type", str)
    shape = {side: _stack(config, side) for side in ("encoder", "decoder")}
    # transformers writes the second key since version 5, where the first one is always true.
    scaled = config.get("scale_decoder_outputs", bool, config.values.get("tie_word_embeddings") is not False)
    tensors = _T5(read_weights(folder), shape, str(folder)).rename(scaled and kind == "t5")
    size = len(tensors["encoder.embedding.weight"])
    pad, eos = config.token("pad_token_id", size, 0), config.token("eos_token_id", size, 1)
    start = pad if config.values.get("decoder_start_token_id") is None else config.token("decoder_start_token_id", size)
    vocabulary = _read_vocabulary(folder, (pad, eos))
    tokens = vocabulary.tokens + placeholders(vocabulary.tokens, size, str(folder))
    special = {"pad": pad, "unk": vocabulary.unk, "bos": start, "eos": eos}
    content = with_tokens(vocabulary.pieces, tokens, special, added=vocabulary.added)
    return Converted(
        kind=f"transformers {kind}",
        model=model(
            source_vocab_size=size, target_vocab_size=size, special_ids=special, tie_target_output="head.weight" not in tensors, **shape),
        tensors=tensors, source_vocabulary=content, target_vocabulary=content, texts=sample_texts(vocabulary.tokens),
        left_out=generation_of(folder, config)[1],
        provenance={"config": json.dumps(config.values, sort_keys=True)})


def _compare(source: str, output: str) -> float:
    peer = transformers_peer(source, CLASSES[model_type(pathlib.Path(source))])
    import torch

    start = peer.config.decoder_start_token_id
    first = peer.config.pad_token_id if start is None else start

    def logits(read: list[int], wrote: list[int]) -> Any:
        return peer(input_ids=torch.tensor([read]), decoder_input_ids=torch.tensor([[first, *wrote]])).logits[0]

    return samples_differ_by(output, logits)


SOURCE = Source(
    "T5 or mT5 of transformers (config.json with model_type t5 or mt5, tokenizer.json or spiece.model)",
    lambda folder: model_type(folder) in list(CLASSES), _convert, _compare, model_types=tuple(CLASSES))
