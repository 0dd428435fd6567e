"""OpenNMT-py's translation models (.pt of version 3, or .pt and .safetensors), vocabularies included.

Norms stand before the sub-layers and have an epsilon of 1e-6 where no other is set.
"""

from __future__ import annotations

import pathlib
from typing import Any

from attend._errors import InputError
from attend.convert._compare import samples_differ_by
from attend.convert._files import Keys, Renamed, files_with, named_values, only_file, read_all, read_pickle, shown, tensors_of
from attend.convert._opennmt_layers import SIDES, SINUSOIDS, Layers, drop_sinusoids, lists_of_tokens, model_of, special_ids, take_embeddings
from attend._packages import needed
from attend.convert._source import Converted, Source, Tensors, sample_texts, stack
from attend.convert._subwords import vocabulary

MARKS = (b"make_embedding.emb_luts", b"decoder_start_token")
CURE = "convert a model of OpenNMT-py 2 by its own tools/convertv2_v3.py"
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "silu": "swiglu"}
ATTENTIONS = {"scaled-dot": None, "scaled-dot-flash": None}
# What attend has in one form only, by the value it must have.
ONLY = {
    "model_task": "seq2seq", "model_type": "text", "encoder_type": "transformer", "decoder_type": "transformer",
    "max_relative_positions": 0, "relative_positions_buckets": 0, "layer_norm": "standard", "parallel_residual": False, "num_kv": 0,
    "num_experts": 0, "sliding_window": 0, "copy_attn": False, "lora_layers": [], "lora_embedding": False, "quant_layers": [],
    "generator_function": "softmax"}
NAMES = {"self_attention": "layer_norm_1", "cross_attention": "layer_norm_2", "feed_forward": "feed_forward.layer_norm",
         "inner": "feed_forward.w_1", "outer": "feed_forward.w_2", "up": "feed_forward.w_3"}
LAYERS = {"encoder": ("encoder.transformer", NAMES | {"self_attention": "layer_norm"}), "decoder": ("decoder.transformer_layers", NAMES)}
EMBEDDINGS = {side: f"{side}.embeddings.make_embedding.emb_luts.0.weight" for side in SIDES}


def _settings(path: pathlib.Path, checkpoint: Any) -> Keys:
    values = named_values(checkpoint.get("opt") if isinstance(checkpoint, dict) else None)
    if values is None:
        raise InputError(f"{path}: expected options as 'opt'")
    settings = Keys(path, values)
    settings.refuse(**ONLY)
    settings.choose("self_attn_type", ATTENTIONS, "scaled-dot")
    return settings


def _tensors(path: pathlib.Path, checkpoint: dict[str, Any]) -> Tensors:
    if "model" in checkpoint:
        head = tensors_of(path, checkpoint.get("generator"))
        return tensors_of(path, checkpoint["model"]) | {"generator." + name.removeprefix("0."): value for name, value in head.items()}
    files = [*path.parent.glob(path.stem + ".safetensors"), *path.parent.glob(path.stem + ".*.safetensors")]
    if not files:
        raise InputError(f"{path}: it holds no 'model', expected that, or '{path.stem}.safetensors' beside it")
    return read_all(files)


def _rename(settings: Keys, tensors: Tensors, ties: tuple[bool, bool]) -> tuple[dict[str, dict[str, Any]], Tensors]:
    """The stacks, and the tensors under attend's names."""
    renamed = Renamed(tensors, str(settings.path))
    width, shape = take_embeddings(renamed, EMBEDDINGS, ties), {}
    activation = settings.choose("pos_ffn_activation_fn", ACTIVATIONS, "relu")
    with_positions = settings.get("position_encoding", bool, False)
    convention = settings.choose("position_encoding_type", SINUSOIDS, "SinusoidalInterleaved")
    for side, (given, names) in LAYERS.items():
        found = Layers(renamed, side, given, names).take(activation)
        renamed.linear(f"{side}.norm", f"{side}.layer_norm")
        if with_positions:
            drop_sinusoids(renamed, f"{side}.embeddings.make_embedding.pe.pe", convention)
        shape[side] = stack(
            d_model=width, heads=settings.get("heads", int, 8), activation=activation, norm_place="pre",
            norm_epsilon=settings.get("norm_eps", float, 1e-6), positions="sinusoidal" if with_positions else "none",
            position_convention=convention, scale_embedding=with_positions, **found)
    return shape, renamed.finish()


def _places(settings: Keys, side: str) -> list[pathlib.Path]:
    """Where the SentencePiece model of a side may lie: by the name that it had in training, or by another."""
    own, transforms = settings.values.get(f"{side}_subword_model"), settings.values.get("transforms")
    folder = settings.path.parent
    if isinstance(own, str) and own and isinstance(transforms, list) and "sentencepiece" in transforms:
        return [folder / pathlib.PurePath(own).name, folder]
    return [folder]


def _convert(source: pathlib.Path) -> Converted:
    path = only_file(source, MARKS)
    checkpoint = read_pickle(path, CURE)
    settings = _settings(path, checkpoint)
    vocabularies = checkpoint.get("vocab")
    tokens = lists_of_tokens(path, vocabularies)
    Keys(path, vocabularies).refuse(src_feats=[], data_task="seq2seq")
    names = {"pad": "<blank>", "unk": "<unk>", "bos": vocabularies.get("decoder_start_token", "<s>"), "eos": "</s>"}
    special = special_ids(path, names, *tokens)
    ties = settings.get("share_embeddings", bool, False), settings.get("share_decoder_embeddings", bool, False)
    shape, tensors = _rename(settings, _tensors(path, checkpoint), ties)
    files = [
        vocabulary(path, name, tokens[i], special, set(names.values()), _places(settings, side))
        for i, (name, side) in enumerate((("source", "src"), ("target", "tgt")))]
    return Converted(
        kind="OpenNMT-py", model=model_of(tokens, special, ties, shape, tensors),
        tensors=tensors, source_vocabulary=files[0], target_vocabulary=files[1], texts=sample_texts(tokens[0]),
        provenance={"options": shown(settings.values)})


def _compare(source: str, output: str) -> float:
    with needed("--verify", "torch OpenNMT-py"):
        import torch
        from onmt.inputters.inputter import dict_to_vocabs  # type: ignore[import-not-found, unused-ignore]
        from onmt.model_builder import build_base_model  # type: ignore[import-not-found, unused-ignore]
        from onmt.utils.parse import ArgumentParser  # type: ignore[import-not-found, unused-ignore]
    path = only_file(pathlib.Path(source), MARKS)
    checkpoint = read_pickle(path, CURE)
    options = ArgumentParser.ckpt_model_opts(checkpoint["opt"])
    ArgumentParser.update_model_opts(options)
    vocabularies = dict_to_vocabs(checkpoint["vocab"])
    peer = build_base_model(options, vocabularies).eval()
    peer.load_state_dict({"model": {name: torch.tensor(value) for name, value in _tensors(path, checkpoint).items()}, "generator": None})
    start = vocabularies["tgt"][vocabularies["decoder_start_token"]]

    def logits(read: list[int], wrote: list[int]) -> Any:
        given = [torch.tensor([ids]).unsqueeze(-1) for ids in (read, [start, *wrote, start])]  # of which the last is not read
        return peer.generator(peer(*given, torch.tensor([len(read)]))[0])[0]

    return samples_differ_by(output, logits)


SOURCE = Source(
    "a Transformer of OpenNMT-py (.pt of version 3)", lambda source: bool(files_with(source, MARKS)), _convert, _compare)
