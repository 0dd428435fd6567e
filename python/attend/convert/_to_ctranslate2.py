"""Translation models and language models as CTranslate2's, written by its own package.

Weights are f32; CTranslate2 quantises them where it loads them. Positions stand there as a table: attend's sinusoids are not those that
CTranslate2 makes itself.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from attend.convert import _ctranslate2
from attend.convert._ctranslate2_weights import ACTIVATIONS, GATED
from attend._packages import needed
from attend.convert._target import Directory, Exported, Target, position_table
from attend.convert._to_tokenizer import marks_case, tokens_of
from attend.convert._vocabulary import without_tokens

NAME = "CTranslate2"
MODEL_KEYS = {"source_eos", "source_vocab_size", "target_vocab_size", "head_bias", "tie_source_target", "tie_target_output"}
STACK_KEYS = {
    "activation", "norm_place", "positions", "position_convention", "position_offset", "max_positions", "attention_bias",
    "feed_forward_bias", "scale_embedding", "embedding_norm"}
NUMBERS = {name: number for names in (ACTIVATIONS, GATED) for number, name in names.items()}


def _specs() -> Any:
    with needed("--format ctranslate2", "ctranslate2"):
        from ctranslate2.specs import transformer_spec  # type: ignore[import-untyped, unused-ignore]
    return transformer_spec


class _Writer:
    """Copies attend's tensors into the layers of a specification."""

    def __init__(self, directory: Directory) -> None:
        self.tensors, self.model = directory.tensors, directory.model

    def linear(self, spec: Any, *names: str) -> None:
        """The rows of several matrices that read one input stand below each other."""
        spec.weight = np.concatenate([self.tensors[f"{name}.weight"] for name in names])
        if f"{names[0]}.bias" in self.tensors:
            spec.bias = np.concatenate([self.tensors[f"{name}.bias"] for name in names])

    def norm(self, spec: Any, name: str) -> None:
        spec.gamma, spec.beta = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]

    def attention(self, spec: Any, name: str, groups: tuple[tuple[str, ...], ...]) -> None:
        for linear, parts in zip(spec.linear, groups, strict=True):
            self.linear(linear, *(f"{name}.{part}" for part in parts))
        self.norm(spec.layer_norm, f"{name}_norm")

    def layer(self, spec: Any, name: str, gated: bool) -> None:
        self.attention(spec.self_attention, f"{name}.self_attention", (("query", "key", "value"), ("output",)))
        if hasattr(spec, "attention"):
            self.attention(spec.attention, f"{name}.cross_attention", (("query",), ("key", "value"), ("output",)))
        feed_forward = f"{name}.feed_forward"
        if gated:  # CTranslate2 activates linear_0, which is attend's gate
            self.linear(spec.ffn.linear_0_noact, f"{feed_forward}.inner")
        self.linear(spec.ffn.linear_0, f"{feed_forward}.{'gate' if gated else 'inner'}")
        self.linear(spec.ffn.linear_1, f"{feed_forward}.outer")
        self.norm(spec.ffn.layer_norm, f"{feed_forward}_norm")

    def stack(self, spec: Any, side: str, positions: np.ndarray[Any, Any]) -> None:
        stack = self.model[side]
        spec.scale_embeddings = stack["scale_embedding"]
        spec.position_encodings.encodings = positions
        for number, layer in enumerate(spec.layer):
            self.layer(layer, f"{side}.layers.{number}", stack["activation"] in GATED.values())
        if stack["norm_place"] == "pre":
            self.norm(spec.layer_norm, f"{side}.norm")
        if stack["embedding_norm"]:
            self.norm(spec.layernorm_embedding, f"{side}.embedding_norm")

    def head(self, decoder: Any) -> None:
        shared = "decoder.embedding.weight" not in self.tensors
        decoder.embeddings.weight = self.tensors["encoder.embedding.weight" if shared else "decoder.embedding.weight"]
        decoder.projection.weight = decoder.embeddings.weight if self.model["tie_target_output"] else self.tensors["head.weight"]
        if self.model["head_bias"]:
            decoder.projection.bias = self.tensors["head.bias"]


def _shape(stack: dict[str, Any]) -> dict[str, Any]:
    from ctranslate2.specs import common_spec

    return {
        "num_layers": stack["layers"], "num_heads": stack["heads"], "pre_norm": stack["norm_place"] == "pre",
        "activation": common_spec.Activation(NUMBERS[stack["activation"]]), "ffn_glu": stack["activation"] in GATED.values(),
        "layernorm_embedding": stack["embedding_norm"]}


def _specification(directory: Directory, rows: int) -> Any:
    specs, model, writer = _specs(), directory.model, _Writer(directory)
    decoder = specs.TransformerDecoderSpec(**_shape(model["decoder"]), with_encoder_attention=model["encoder"] is not None)
    if model["encoder"]:
        spec = specs.TransformerSpec(specs.TransformerEncoderSpec(**_shape(model["encoder"])), decoder)
        spec.encoder.embeddings[0].weight = directory.tensors["encoder.embedding.weight"]
        writer.stack(spec.encoder, "encoder", position_table(directory, "encoder", rows))
    else:
        spec = specs.TransformerDecoderModelSpec(decoder)
    writer.stack(spec.decoder, "decoder", position_table(directory, "decoder", rows))
    writer.head(spec.decoder)
    return spec


def _add_vocabularies(spec: Any, directory: Directory) -> None:
    """Tokens by their ids; without a vocabulary each id is its own token."""
    model, ids = directory.model, directory.special_ids
    tokens = {
        side: tokens_of(directory.vocabularies[side]) if directory.vocabularies else [str(i) for i in range(model[f"{side}_vocab_size"])]
        for side in ("source", "target")}
    special = {name: tokens["target"][i if i >= 0 else ids["eos"]] for name, i in ids.items()}
    if not model["encoder"]:
        spec.register_vocabulary(tokens["target"])
    else:
        for name in ("unk", "eos"):
            if ids[name] >= 0 and tokens["source"][ids[name]] != special[name]:
                raise directory.fail(f"special_ids.{name}", ids[name], NAME, "one token in both vocabularies")
        spec.register_source_vocabulary(tokens["source"])
        spec.register_target_vocabulary(tokens["target"])
        spec.config.decoder_start_token = special["bos"]
        spec.config.add_source_eos = model["source_eos"]
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = (special[name] for name in ("unk", "bos", "eos"))


def _vocabulary_files(directory: Directory) -> dict[str, bytes]:
    if not directory.vocabularies:
        return {}
    if directory.vocabularies["target"].lstrip()[:1] == b"{":
        return {"tokenizer.json": directory.vocabularies["target"]}
    files = {f"{side}.spm": without_tokens(content) for side, content in directory.vocabularies.items()}
    return files if len(set(files.values())) > 1 else {"sentencepiece.model": files["target.spm"]}


def _export(directory: Directory, rows: int) -> Exported:
    model, ids = directory.model, directory.special_ids
    directory.check(NAME, MODEL_KEYS, STACK_KEYS)
    for side in ("encoder", "decoder") if model["encoder"] else ("decoder",):
        directory.choose(f"{side}.activation", NUMBERS, NAME)
    if model["encoder"]:
        directory.same("norm_epsilon", NAME)
    elif ids["bos"] < 0:
        raise directory.fail("special_ids.bos", -1, NAME, "a token that texts begin with")
    spec = _specification(directory, rows)
    spec.decoder.start_from_zero_embedding = ids["bos"] < 0
    _add_vocabularies(spec, directory)
    spec.config.layer_norm_epsilon = model["decoder"]["norm_epsilon"]
    left_out = []
    if any(map(marks_case, directory.vocabularies.values())):
        left_out.append("how the vocabulary marks case: attend.Vocabulary cuts text into its pieces")
    if directory.protects:
        left_out.append("protected spans: CTranslate2 translates them like other text")

    def write(folder: pathlib.Path) -> None:
        spec.validate()
        spec.optimize()  # tables that are equal stand once
        spec.save(str(folder))
        for name, content in _vocabulary_files(directory).items():
            (folder / name).write_bytes(content)

    return Exported(NAME, write, directory.changes(rows), left_out)


def _compare(directory: Directory, output: pathlib.Path) -> float:
    return _ctranslate2.compare(str(output), str(directory.path))


def _fits(model: dict[str, Any]) -> bool:
    return bool(model["decoder"])


TARGETS = (Target("ctranslate2", "models with a decoder: translation and language models", _fits, _export, _compare),)
