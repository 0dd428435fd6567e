"""transformers' Vision Transformer, alone or with a head of labels: config.json, model.safetensors or pytorch_model.bin, preprocessor_config.json."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._compare import largest, transformers_peer
from attend.convert._encoders import ACTIVATIONS, labels_of
from attend.convert._files import Keys, Renamed, model_type, optional_keys, read_json, read_weights, shown
from attend.convert._source import Converted, Source, model, stack

LAYER = {
    "self_attention.output": "attention.output.dense", "self_attention_norm": "layernorm_before", "feed_forward.inner": "intermediate.dense",
    "feed_forward.outer": "output.dense", "feed_forward_norm": "layernorm_after"}
RESAMPLING = {2: "bilinear", 3: "bicubic"}  # Pillow's numbers
SAMPLES = 4


def _sides(keys: Keys, key: str, value: Any) -> tuple[int, int]:
    """Height and width: a number, two, or an object."""
    if isinstance(value, dict):
        value = [value.get("height"), value.get("width")] if "height" in value else value.get("shortest_edge")
    pair = [value, value] if isinstance(value, int) else value
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(side, int) and side > 0 for side in pair):
        raise InputError(f"{keys.path}: {key} is {shown(value)}, expected a height and a width")
    return pair[0], pair[1]


def _numbers(keys: Keys, key: str, default: float) -> list[float]:
    value = keys.values.get(key, default)
    value = [value] if isinstance(value, (int, float)) else value
    if not isinstance(value, list) or not all(isinstance(each, (int, float)) for each in value):
        raise InputError(f"{keys.path}: {key} is {shown(value)}, expected numbers")
    return [float(each) for each in value]


def _patches(folder: pathlib.Path, config: Keys, left_out: list[str]) -> dict[str, Any]:
    """How a picture is cut, and how its pixels become numbers."""
    height, width = _sides(config, "image_size", config.values.get("image_size", 224))
    path = folder / "preprocessor_config.json"
    pixels = optional_keys(path)
    if not path.exists():
        left_out.append("nothing but no preprocessor_config.json says how pixels become numbers: mean and deviation 0.5 are taken, as ViT's")
    pixels.refuse(do_rescale=True, do_normalize=True, do_center_crop=False)
    if abs(float(pixels.values.get("rescale_factor", 1 / 255)) * 255 - 1) > 1e-6:
        raise InputError(f"{path}: rescale_factor is {shown(pixels.values['rescale_factor'])}, which attend lacks; expected 1 / 255")
    if "size" in pixels.values and _sides(pixels, "size", pixels.values["size"]) != (height, width):
        raise InputError(f"{path}: size is {shown(pixels.values['size'])}, expected the model's, {height} x {width}")
    resample = pixels.values.get("resample", 2)
    if resample not in RESAMPLING:
        raise InputError(f"{path}: resample is {shown(resample)}, which attend lacks; expected 2 (bilinear) or 3 (bicubic)")
    return {
        "height": height, "width": width, "channels": config.get("num_channels", int, 3), "patch": config.get("patch_size", int, 16),
        "class_token": True, "fit": "stretch", "resampling": RESAMPLING[resample], "mean": _numbers(pixels, "image_mean", 0.5),
        "deviation": _numbers(pixels, "image_std", 0.5)}


def _rename(config: Keys, renamed: Renamed) -> dict[str, Any]:
    """Takes all tensors; returns the fields of the head."""
    prefix = "vit." if any(name.startswith("vit.") for name in renamed.left) else ""
    kernel = renamed.take("encoder.patches.weight", f"{prefix}embeddings.patch_embeddings.projection.weight")  # [D, C, P, P]
    if kernel.ndim != 4:
        raise InputError(f"{renamed.where}: the projection of patches has {kernel.ndim} dimensions, expected 4")
    # attend's patches have the channels of a pixel side by side.
    renamed.tensors["encoder.patches.weight"] = np.ascontiguousarray(kernel.transpose(0, 2, 3, 1).reshape(len(kernel), -1))
    renamed.take("encoder.patches.bias", f"{prefix}embeddings.patch_embeddings.projection.bias")
    for ours, theirs in (("patches.class_token", "cls_token"), ("positions.weight", "position_embeddings")):
        value = renamed.take(f"encoder.{ours}", f"{prefix}embeddings.{theirs}")
        renamed.tensors[f"encoder.{ours}"] = value.reshape(value.shape[1:] if value.ndim == 3 and theirs != "cls_token" else -1)
    for layer in range(config.get("num_hidden_layers", int)):
        ours, theirs = f"encoder.layers.{layer}.", f"{prefix}encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            name, given = f"{ours}self_attention.{part}", f"{theirs}attention.attention.{part}"
            weight = renamed.take(name + ".weight", given + ".weight")
            if config.get("qkv_bias", bool, True):
                renamed.take(name + ".bias", given + ".bias")
            else:
                renamed.tensors[name + ".bias"] = np.zeros(len(weight), np.float32)
        for name, given in LAYER.items():
            renamed.linear(ours + name, theirs + given)
    renamed.linear("encoder.norm", f"{prefix}layernorm")
    for pooler in ("pooler.dense", f"{prefix}pooler.dense"):
        if renamed.drop(f"{pooler}.weight", f"{pooler}.bias"):
            renamed.left_out.append("the pooler: no head reads it")
    if renamed.drop(f"{prefix}embeddings.mask_token"):
        renamed.left_out.append("the vector of hidden patches, which training alone reads")
    if "classifier.weight" not in renamed.left:
        return {"head": "none", "pooling": "first"}
    renamed.linear("head", "classifier")
    return {"head": "labels", "labels": labels_of(config), "pooling": "first"}


def _convert(folder: pathlib.Path) -> Converted:
    config = Keys(folder / "config.json")
    renamed = Renamed(read_weights(folder), str(folder))
    patches = _patches(folder, config, renamed.left_out)
    head = _rename(config, renamed)
    positions = len(renamed.tensors["encoder.positions.weight"])
    encoder = stack(
        layers=config.get("num_hidden_layers", int, 12), d_model=config.get("hidden_size", int, 768), heads=config.get("num_attention_heads", int, 12),
        d_ff=config.get("intermediate_size", int, 3072), activation=config.choose("hidden_act", ACTIVATIONS, "gelu"), norm_place="pre",
        norm_epsilon=config.get("layer_norm_eps", float, 1e-12), positions="learned", max_positions=positions, scale_embedding=False)
    return Converted(
        kind="transformers vit",
        model=model(task="classification", input="patches", patches=patches, encoder=encoder, **head),
        tensors=renamed.finish(), source_vocabulary=b"", target_vocabulary=b"", texts=[f"random picture {i + 1}" for i in range(SAMPLES)],
        left_out=renamed.left_out, provenance={"config": json.dumps(config.values, sort_keys=True)})


def _compare(source: str, output: str) -> float:
    config = read_json(pathlib.Path(output) / "config.json")["model"]
    patches, differences = config["patches"], []
    peer = transformers_peer(source, "ViTForImageClassification")
    import torch

    for sample in read_json(pathlib.Path(output) / "samples.json"):
        pixels = np.frombuffer(bytes.fromhex(sample["pixels"]), np.uint8).reshape(patches["height"], patches["width"], patches["channels"])
        numbers = (pixels / 255 - np.array(patches["mean"])) / np.array(patches["deviation"])
        with torch.no_grad():
            logits = peer(pixel_values=torch.tensor(numbers.transpose(2, 0, 1)[None]).float()).logits
        found = logits.double().log_softmax(-1)[0, sample["target_ids"][0]]
        differences.append(abs(float(found) - sample["token_log_probabilities"][0]))
    return largest(differences)


SOURCE = Source(
    "a Vision Transformer of transformers (config.json with model_type vit, preprocessor_config.json)",
    lambda folder: model_type(folder) == "vit", _convert, _compare, model_types=("vit",))
