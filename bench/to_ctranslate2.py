#!/usr/bin/env python3
"""Writes an attend model directory as a CTranslate2 model.

usage: bench/to_ctranslate2.py MODEL OUT [--positions 1024]

int8 weights become f32 (CTranslate2 quantises at load). Positions are written as a table of as many rows as --positions says,
or as a learned table has: attend's sinusoids are not the ones that CTranslate2 would make by itself. A model that
CTranslate2 can't express is an error. Needs the Python packages ctranslate2 and sentencepiece (tools/requirements_tests.txt).
"""

import argparse
import json
import os
import pathlib
import sys

import numpy as np
import sentencepiece
from ctranslate2.specs import common_spec, transformer_spec

ACTIVATIONS = {
    "relu": common_spec.Activation.RELU,
    "gelu": common_spec.Activation.GELU,
    "gelu_tanh": common_spec.Activation.GELUTanh,
    "silu": common_spec.Activation.SWISH,
    "swiglu": common_spec.Activation.SWISH,
    "geglu_tanh": common_spec.Activation.GELUTanh,
}
GATED = ("swiglu", "geglu_tanh")


class Inexpressible(Exception):
    """The model has something for which CTranslate2 has no place."""


def read_tensors(path):
    """Name -> f32 array; int8 matrices times their scales."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "I8": np.int8}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    return {
        name: tensor * tensors[name + "_scale"][:, None] if tensor.dtype == np.int8 else tensor
        for name, tensor in tensors.items()
        if name.removesuffix("_scale") not in tensors or not name.endswith("_scale")
    }


def check(model):
    """Raises Inexpressible for what CTranslate2's Transformer does not have."""
    if model["encoder"] is None or model["decoder"] is None:
        raise Inexpressible("the model lacks an encoder or a decoder; expected both")
    if model["head"] != "vocabulary":
        raise Inexpressible(f"head is {model['head']}, expected vocabulary")
    if model["special_ids"]["bos"] < 0:
        raise Inexpressible("special_ids.bos is -1, expected a token that starts outputs")
    if model["decoder"].get("recurrence", "none") != "none":
        raise Inexpressible(f"decoder.recurrence is {model['decoder']['recurrence']}, expected none")
    for name in ("source_begin", "source_end", "target_begin"):
        if model.get(name):
            raise Inexpressible(f"{name} is {model[name]}, expected none: CTranslate2 leaves these tokens to its callers")
    for name in ("encoder", "decoder"):
        stack = model[name]
        for width in ("d_k", "d_v"):
            if stack[width] not in (0, stack["d_model"] / stack["heads"]):
                raise Inexpressible(f"{name}.{width} is {stack[width]}, expected d_model / heads")
    epsilons = [model[name]["norm_epsilon"] for name in ("encoder", "decoder")]
    if epsilons[0] != epsilons[1]:
        raise Inexpressible(f"norm_epsilon is {epsilons[0]} and {epsilons[1]}, expected one for both stacks")


def sinusoids(stack, rows):
    """The table of docs/model_file.md."""
    width = stack["d_model"]
    angles = np.arange(rows)[:, None] + float(stack["position_offset"])
    exponents = width / 2 - (1 if stack["position_convention"] == "timing_signal" else 0)
    angles = angles * 10000.0 ** (-np.arange(width // 2) / exponents)
    if stack["position_convention"] != "interleaved":
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(rows, width).astype(np.float32)


def positions(name, stack, tensors, rows):
    if stack["positions"] == "sinusoidal":
        return sinusoids(stack, rows)
    if stack["positions"] == "learned":
        return tensors[f"{name}.positions.weight"][stack["position_offset"] :]
    return np.zeros((rows, stack["d_model"]), np.float32)


class Writer:
    """Copies attend's tensors into the layers of a CTranslate2 specification."""

    def __init__(self, tensors):
        self.tensors = tensors

    def linear(self, spec, *names):
        """The rows of several matrices that read one input stand below each other."""
        spec.weight = np.concatenate([self.tensors[name + ".weight"] for name in names])
        if names[0] + ".bias" in self.tensors:
            spec.bias = np.concatenate([self.tensors[name + ".bias"] for name in names])

    def norm(self, spec, name):
        spec.gamma, spec.beta = self.tensors[name + ".weight"], self.tensors[name + ".bias"]

    def attention(self, spec, name, groups):
        for linear, parts in zip(spec.linear, groups):
            self.linear(linear, *(f"{name}.{part}" for part in parts))
        self.norm(spec.layer_norm, name + "_norm")

    def layer(self, spec, name, gated):
        self.attention(spec.self_attention, f"{name}.self_attention", [("query", "key", "value"), ("output",)])
        if hasattr(spec, "attention"):
            self.attention(spec.attention, f"{name}.cross_attention", [("query",), ("key", "value"), ("output",)])
        feed_forward = f"{name}.feed_forward"
        if gated:  # CTranslate2 activates linear_0, which is attend's gate
            self.linear(spec.ffn.linear_0, feed_forward + ".gate")
            self.linear(spec.ffn.linear_0_noact, feed_forward + ".inner")
        else:
            self.linear(spec.ffn.linear_0, feed_forward + ".inner")
        self.linear(spec.ffn.linear_1, feed_forward + ".outer")
        self.norm(spec.ffn.layer_norm, feed_forward + "_norm")

    def stack(self, spec, name, config, rows):
        spec.scale_embeddings = config["scale_embedding"]
        spec.position_encodings.encodings = positions(name, config, self.tensors, rows)
        for index, layer in enumerate(spec.layer):
            self.layer(layer, f"{name}.layers.{index}", config["activation"] in GATED)
        if config["norm_place"] == "pre":
            self.norm(spec.layer_norm, name + ".norm")


def options_of(stack):
    return {
        "num_layers": stack["layers"],
        "num_heads": stack["heads"],
        "pre_norm": stack["norm_place"] == "pre",
        "activation": ACTIVATIONS[stack["activation"]],
        "ffn_glu": stack["activation"] in GATED,
    }


def build(model, tensors, rows):
    """The specification, without vocabularies."""
    spec = transformer_spec.TransformerSpec(
        transformer_spec.TransformerEncoderSpec(**options_of(model["encoder"])),
        transformer_spec.TransformerDecoderSpec(**options_of(model["decoder"])),
    )
    writer = Writer(tensors)
    writer.stack(spec.encoder, "encoder", model["encoder"], rows)
    writer.stack(spec.decoder, "decoder", model["decoder"], rows)
    source = tensors["encoder.embedding.weight"]
    target = source if model["tie_source_target"] else tensors["decoder.embedding.weight"]
    spec.encoder.embeddings[0].weight, spec.decoder.embeddings.weight = source, target
    spec.decoder.projection.weight = target if model["tie_target_output"] else tensors["head.weight"]
    if model["head_bias"]:
        spec.decoder.projection.bias = tensors["head.bias"]
    return spec


def pieces(folder, name, size):
    """The vocabulary's pieces by id; without a vocabulary each id is its own piece."""
    for path in (folder / "vocab.spm", folder / f"{name}.spm"):
        if path.exists():
            processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
            return [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    return [str(i) for i in range(size)]


def convert(folder, out, rows=1024):
    """Writes the model directory `folder` as the CTranslate2 model `out`."""
    folder = pathlib.Path(folder)
    model = json.loads((folder / "config.json").read_text("utf-8"))["model"]
    check(model)
    spec = build(model, read_tensors(folder / "model.safetensors"), rows)
    source = pieces(folder, "source", model["source_vocab_size"])
    target = pieces(folder, "target", model["target_vocab_size"])
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    ids = model["special_ids"]
    spec.config.unk_token, spec.config.eos_token = target[ids["unk"]], target[ids["eos"]]
    spec.config.bos_token = spec.config.decoder_start_token = target[ids["bos"]]
    spec.config.add_source_eos = model.get("source_eos", True)
    spec.config.layer_norm_epsilon = model["encoder"]["norm_epsilon"]
    spec.validate()
    os.makedirs(out, exist_ok=True)
    spec.save(str(out))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--positions", type=int, default=1024)
    arguments = parser.parse_args()
    try:
        convert(arguments.model, arguments.out, arguments.positions)
    except (Inexpressible, OSError) as error:
        sys.exit(f"to_ctranslate2.py: {arguments.model}: {error}")


if __name__ == "__main__":
    main()
