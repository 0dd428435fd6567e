#!/usr/bin/env python3
"""Writes a model directory of a preset's shape with random int8 weights, to be served and translated with like any other.

usage: bench/random_model.py OUT [--preset base] [--vocab-size 32000] [--shortlist FILE]

Each piece of the vocabulary is an invented word, so that a text of so many words has so many pieces. Needs the Python packages
numpy and sentencepiece (tools/requirements_tests.txt).
"""

import argparse
import hashlib
import json
import pathlib

import numpy as np
import sentencepiece
from shapes import PRESETS

SPECIAL_IDS = {"pad": 0, "unk": 1, "bos": 2, "eos": 3}
LARGEST = 63  # of the stored integers
DEVIATION = 0.02  # of the weights
CANDIDATES = 100  # of a shortlist, for each source piece
STORED_TYPES = {np.uint8: "U8", np.int8: "I8", np.int32: "I32", np.int64: "I64", np.float32: "F32"}


def words(count):
    """Different ones, of letters."""
    return ["".join("bdfgklmnprst"[n // 60**i % 60 // 5] + "aeiou"[n // 60**i % 5] for i in range(3)) for n in range(count)]


def text(vocabulary, lines, length, seed=1):
    """Lines of so many random pieces."""
    known = words(vocabulary - len(SPECIAL_IDS))
    rows = np.random.default_rng(seed).integers(0, len(known), (lines, length))
    return [" ".join(known[i] for i in row) for row in rows]


def write_vocabulary(path, size):
    with open(path, "wb") as file:
        sentencepiece.SentencePieceTrainer.Train(
            sentence_iterator=iter(words(size - len(SPECIAL_IDS))), model_writer=file, vocab_size=size, model_type="word",
            normalization_rule_name="identity", character_coverage=1.0, minloglevel=3,
            **{f"{name}_id": number for name, number in SPECIAL_IDS.items()})


def attention_shapes(name, width):
    for matrix in ("query", "key", "value", "output"):
        yield f"{name}.{matrix}.weight", (width, width)
    yield from norm_shapes(f"{name}_norm", width)


def norm_shapes(name, width):
    yield f"{name}.weight", (width,)
    yield f"{name}.bias", (width,)


def tensor_shapes(shape, vocabulary):
    """Name and shape of each tensor; scales come with their matrices."""
    width, inner = shape.d_model, shape.d_ff
    yield "encoder.embedding.weight", (vocabulary, width)
    for stack, layers, attentions in (("encoder", shape.encoder_layers, ("self",)), ("decoder", shape.decoder_layers, ("self", "cross"))):
        for layer in range(layers):
            name = f"{stack}.layers.{layer}"
            for attention in attentions:
                yield from attention_shapes(f"{name}.{attention}_attention", width)
            yield f"{name}.feed_forward.inner.weight", (inner, width)
            yield f"{name}.feed_forward.inner.bias", (inner,)
            yield f"{name}.feed_forward.outer.weight", (width, inner)
            yield f"{name}.feed_forward.outer.bias", (width,)
            yield from norm_shapes(f"{name}.feed_forward_norm", width)


def tensors(shape, vocabulary):
    generator = np.random.default_rng(0)
    for name, size in tensor_shapes(shape, vocabulary):
        if len(size) == 2:
            normal = generator.standard_normal(size, np.float32) * np.float32(LARGEST / 3)
            yield name, np.clip(np.rint(normal), -LARGEST, LARGEST).astype(np.int8)
            yield name + "_scale", np.full(size[0], DEVIATION * 3 / LARGEST, np.float32)
        else:
            yield name, np.full(size, name.endswith("norm.weight"), np.float32)


def write_safetensors(path, named):
    named = sorted(named, key=lambda one: -one[1].itemsize)  # wide types first: each value at a multiple of its size
    header, at = {}, 0
    for name, tensor in named:
        header[name] = {"dtype": STORED_TYPES[tensor.dtype.type], "shape": list(tensor.shape),
                        "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text_header = json.dumps(header).encode()
    text_header += b" " * (-(8 + len(text_header)) % 64)
    with open(path, "wb") as file:
        file.write(len(text_header).to_bytes(8, "little") + text_header)
        for _, tensor in named:
            file.write(tensor.tobytes())


def stack(layers, shape):
    return {"layers": layers, "d_model": shape.d_model, "heads": shape.heads, "d_k": 0, "d_v": 0, "d_ff": shape.d_ff,
            "activation": "relu", "norm": "layer_norm", "norm_place": "post", "norm_epsilon": 1e-6, "positions": "sinusoidal",
            "position_convention": "interleaved", "position_offset": 0, "max_positions": 1024, "attention_bias": False,
            "feed_forward_bias": True, "scale_embedding": True}


def write_model(folder, preset="base", vocabulary=32000):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    shape = PRESETS[preset]
    write_vocabulary(folder / "vocab.spm", vocabulary)
    write_safetensors(folder / "model.safetensors", list(tensors(shape, vocabulary)))
    model = {"task": "translation", "languages": ["en", "de"], "input": "tokens", "source_vocab_size": vocabulary,
             "target_vocab_size": vocabulary, "special_ids": SPECIAL_IDS, "encoder": stack(shape.encoder_layers, shape),
             "decoder": stack(shape.decoder_layers, shape), "head": "vocabulary", "head_bias": False, "tie_source_target": True,
             "tie_target_output": True}
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("model.safetensors", "vocab.spm")}
    config = {"format_version": 1, "model": model, "tokenization": {}, "provenance": {"command": "bench/random_model.py"}, "sha256": digests}
    (folder / "config.json").write_text(json.dumps(config, indent=1), "utf-8")


def candidates(vocabulary):
    """[vocabulary, CANDIDATES] target ids that may translate each source id."""
    return np.random.default_rng(2).integers(len(SPECIAL_IDS), vocabulary, (vocabulary, CANDIDATES), np.int32)


def write_shortlist(path, folder, vocabulary=32000):
    """For the model in `folder`, whose text has random translations."""
    digest = hashlib.sha256((pathlib.Path(folder) / "vocab.spm").read_bytes()).hexdigest()
    write_safetensors(path, [
        ("version", np.array([1], np.int32)), ("vocabularies", np.frombuffer((2 * digest).encode(), np.uint8)),
        ("frequent", np.arange(len(SPECIAL_IDS), dtype=np.int32)), ("candidates", candidates(vocabulary).reshape(-1)),
        ("candidates_end", np.arange(1, vocabulary + 1, dtype=np.int64) * CANDIDATES)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--preset", choices=PRESETS, default="base")
    parser.add_argument("--vocab-size", type=int, default=32000)
    parser.add_argument("--shortlist", metavar="FILE", help="a shortlist for it too")
    options = parser.parse_args()
    write_model(options.out, options.preset, options.vocab_size)
    if options.shortlist:
        write_shortlist(options.shortlist, options.out, options.vocab_size)


if __name__ == "__main__":
    main()
