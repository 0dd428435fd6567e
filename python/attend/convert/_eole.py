"""eole's translation models: a folder with config.json, vocab.json and model.*.safetensors.

What an encoder or a decoder sets goes before what the model sets. Norms stand before the sub-layers (an encoder's may stand behind) and
have an epsilon of 1e-5 where no other is set.
"""

from __future__ import annotations

import math
import pathlib
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._compare import samples_differ_by
from attend.convert._files import Keys, Renamed, read_all, read_json, shown
from attend.convert._opennmt_layers import SIDES, SINUSOIDS, Layers, drop_sinusoids, lists_of_tokens, model_of, special_ids, take_embeddings
from attend._packages import needed
from attend.convert._source import Converted, Source, Tensors, sample_texts, stack
from attend.convert._subwords import vocabulary

ACTIVATIONS = {
    "relu": "relu", "gelu": "gelu", "gelu-tanh": "gelu_tanh", "silu": "silu", "gated-silu": "swiglu", "gated-gelu-tanh": "geglu_tanh"}
NORMS = {"standard": "layer_norm", "standardFP32": "layer_norm"}
# What attend has in one form only, by the value it must have: of a stack, and of the embeddings.
ONLY = {
    "encoder_type": "transformer", "decoder_type": "transformer", "parallel_residual": False, "ffn_layernorm": False, "query_norm": False,
    "key_norm": False, "value_norm": False, "q_gating": False, "num_experts": 0, "sliding_window": 0, "relative_positions_buckets": 0,
    "num_mtp_heads": 0}
ONLY_EMBEDDINGS = {"embedding_type": "standard", "embedding_layer_norm": False}
NAMES = {"self_attention": "input_layernorm", "cross_attention": "precontext_layernorm", "feed_forward": "post_attention_layernorm",
         "inner": "mlp.gate_up_proj", "outer": "mlp.down_proj", "up": "mlp.up_proj"}
POST_NAMES = NAMES | {"self_attention": "attention_layer_norm", "feed_forward": "output_layer_norm"}
EMBEDDINGS = {side: f"{given}_emb.embeddings.weight" for side, given in SIDES.items()}
SPECIAL = {"pad": "<blank>", "unk": "<unk>", "bos": "<s>", "eos": "</s>"}


def _recognises(folder: pathlib.Path) -> bool:
    path = folder / "config.json"
    if not path.exists() or not (folder / "vocab.json").exists():
        return False
    config = read_json(path)
    return isinstance(config, dict) and isinstance(config.get("model"), dict) and "architecture" in config["model"]


def _part(path: pathlib.Path, general: dict[str, Any], name: str) -> Keys:
    """What holds for a part of the model: its own settings, else the model's."""
    own = general.get(name) or {}
    if not isinstance(own, dict):
        raise InputError(f"{path}: model.{name} is {shown(own)}, expected an object")
    return Keys(path, {key: value for key, value in (general | own).items() if value is not None})


def _positions(renamed: Renamed, embeddings: Keys, side: str, width: int) -> dict[str, Any]:
    kind = embeddings.values.get("position_encoding_type")  # null: none
    given = f"{SIDES[side]}_emb.pe"
    scale = embeddings.get("normalize", bool, False)
    if isinstance(kind, str) and kind in SINUSOIDS:
        drop_sinusoids(renamed, given + ".pe", SINUSOIDS[kind])
        return {"position_convention": SINUSOIDS[kind], "scale_embedding": True}
    if kind is None:
        return {"positions": "none", "scale_embedding": scale}
    if kind != "Learned":
        known = ", ".join([*SINUSOIDS, "Learned"])
        raise InputError(f"{embeddings.path}: position_encoding_type is {shown(kind)}, which attend lacks; expected one of {known}")
    table = renamed.table(f"{side}.positions.weight", given + ".weight")
    if scale:  # it multiplies the sum
        renamed.tensors[f"{side}.positions.weight"] = table * np.float32(math.sqrt(width))
    offset = embeddings.get("position_shift", int, 0)
    return {"positions": "learned", "max_positions": len(table), "position_offset": offset, "scale_embedding": scale}


def _stack(renamed: Renamed, settings: Keys, side: str, width: int) -> dict[str, Any]:
    """All of a stack but its positions."""
    settings.refuse(**ONLY)
    post = side == "encoder" and settings.get("encoder_layer_style", str, "standard") != "standard"
    final = side == "decoder" or settings.get("final_encoder_layer_norm", bool, True)
    if final == post:
        raise InputError(f"{settings.path}: final_encoder_layer_norm is {shown(final)}, which attend lacks; expected {shown(not post)}")
    heads, head_dim = settings.get("heads", int, 8), settings.get("head_dim", int, 0)
    settings.refuse(heads_kv=heads, attn_scaling=head_dim or width // max(heads, 1))
    activation = settings.choose("mlp_activation_fn", ACTIVATIONS, "relu")
    found = Layers(renamed, side, f"{side}.transformer_layers", POST_NAMES if post else NAMES).take(activation)
    for number in range(found["layers"]):
        renamed.drop(f"{side}.transformer_layers.{number}.layer_scalar")  # which such layers do not use
    if not post:
        renamed.linear(f"{side}.norm", f"{side}.layer_norm")
    return found | {
        "d_model": width, "heads": heads, "d_k": head_dim, "d_v": head_dim, "activation": activation,
        "norm": settings.choose("layer_norm", NORMS, "standard"), "norm_place": "post" if post else "pre",
        "norm_epsilon": settings.get("norm_eps", float, 1e-5)}


def _tensors(folder: pathlib.Path) -> Tensors:
    files = list(folder.glob("model.*.safetensors"))
    if not files:
        raise InputError(f"'{folder}' has no weights, expected model.00.safetensors")
    return read_all(files)


def _places(config: Keys, side: str) -> list[pathlib.Path]:
    """Where the SentencePiece model of a side may lie: by the name that it had in training, or by another."""
    transforms = config.values.get("transforms_configs")
    own = transforms.get("sentencepiece") if isinstance(transforms, dict) else None
    name = own.get(f"{side}_subword_model") if isinstance(own, dict) else None
    folder = config.path.parent
    return [folder / pathlib.PurePath(name).name, folder] if isinstance(name, str) and name else [folder]


def _convert(folder: pathlib.Path) -> Converted:
    config = Keys(folder / "config.json")
    values = config.get("model", dict)
    general = Keys(config.path, values)
    general.choose("architecture", {"transformer": None, "custom": None}, "")
    general.refuse(add_estimator=False)
    embeddings = _part(config.path, {"position_encoding_type": "SinusoidalInterleaved"} | values, "embeddings")
    embeddings.refuse(**ONLY_EMBEDDINGS)
    vocabularies = Keys(folder / "vocab.json")
    tokens = lists_of_tokens(vocabularies.path, vocabularies.values)
    given = vocabularies.get("specials", dict, {})
    names = {kind: given.get(f"{kind}_token", token) for kind, token in SPECIAL.items()}
    names["bos"] = vocabularies.get("decoder_start_token", str, names["bos"])
    special = special_ids(vocabularies.path, names, *tokens)
    ties = general.get("share_embeddings", bool, False), general.get("share_decoder_embeddings", bool, False)
    renamed, shape = Renamed(_tensors(folder), str(folder)), {}
    width = take_embeddings(renamed, EMBEDDINGS, ties)
    for side in SIDES:
        fields = _stack(renamed, _part(config.path, values, side), side, width)
        shape[side] = stack(**fields, **_positions(renamed, embeddings, side, width))
    tensors = renamed.finish()
    files = [
        vocabulary(vocabularies.path, name, tokens[i], special, set(names.values()), _places(config, side))
        for i, (name, side) in enumerate((("source", "src"), ("target", "tgt")))]
    return Converted(
        kind="eole", model=model_of(tokens, special, ties, shape, tensors),
        tensors=tensors, source_vocabulary=files[0], target_vocabulary=files[1], texts=sample_texts(tokens[0]),
        provenance={"model": shown(values)})


def _compare(source: str, output: str) -> float:
    with needed("--verify", "torch eole"):
        import torch
        from eole.config.run import PredictConfig  # type: ignore[import-not-found, unused-ignore]
        from eole.models.model import get_model_class  # type: ignore[import-not-found, unused-ignore]
        from eole.models.model_saver import get_metadata  # type: ignore[import-not-found, unused-ignore]
    kind = get_model_class(get_metadata(source)["config"].model)
    peer, vocabularies, _ = kind.for_inference(PredictConfig(model_path=[source], src="", gpu_ranks=[]), model_path=source)
    start = vocabularies["tgt"][vocabularies["decoder_start_token"]]

    def logits(read: list[int], wrote: list[int]) -> Any:
        target = torch.tensor([[start, *wrote, start, start]])  # the last is not read, and less than two tokens are another path
        return peer.generator(peer(torch.tensor([read]), target, torch.tensor([len(read)]))[0])[0, :-1]

    return samples_differ_by(output, logits)


SOURCE = Source(
    "a Transformer of eole (config.json with model.architecture, vocab.json, model.*.safetensors)", _recognises, _convert, _compare)
