#!/usr/bin/env python3
"""The peer of `attend bench encode`: CTranslate2's Encoder with the same option names, one JSON line.

usage: bench/ct2_encode.py [--preset bert-base] [--type int8] [--length 128] [--batch-size 32] ...

Random weights of BERT's shape. A text's vector is the mean of its tokens' vectors, as attend makes it.
"""

import argparse
import json
import tempfile
import time

import ctranslate2
import numpy as np
from ct2_translate import apart, resident_mb
from ctranslate2.specs import common_spec, transformer_spec
from random_weights import RandomWeights
from shapes import ENCODERS


def random_model(path, options):
    shape, weights = ENCODERS[options.preset], RandomWeights()
    width = shape.d_model
    encoder = transformer_spec.TransformerEncoderSpec(
        shape.layers, shape.heads, pre_norm=False, activation=common_spec.Activation.GELU, layernorm_embedding=True,
        num_source_embeddings=2, embeddings_merge=common_spec.EmbeddingsMerge.ADD)
    spec = transformer_spec.TransformerEncoderModelSpec(encoder)
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight = weights.normal(options.vocab_size, width)
    encoder.embeddings[1].weight = weights.normal(2, width)
    encoder.position_encodings.encodings = weights.normal(512, width)
    weights.norm(encoder.layernorm_embedding, width)
    for layer in encoder.layer:
        weights.layer(layer, width, shape.d_ff)
    spec.register_vocabulary([f"t{i}" for i in range(options.vocab_size)])
    spec.validate()
    spec.optimize(quantization=options.type)
    spec.save(path)


def parser_of(description):
    """What the peers of this benchmark take."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=ENCODERS, default="bert-base")
    parser.add_argument("--model", help="a folder that transformers reads, for the peers that read one")
    parser.add_argument("--type", choices=["int8", "float32"], default="int8")
    for name, value in (("threads", 1), ("texts", 64), ("length", 128), ("batch-size", 32), ("repeats", 3), ("vocab-size", 30522)):
        parser.add_argument("--" + name, type=int, default=value)
    return parser


def texts(options):
    """[texts, length] random ids."""
    return np.random.default_rng(1).integers(0, options.vocab_size, (options.texts, options.length))


def report(options, peer, load, run):
    """Times `run` on each batch, --repeats times, and prints the best."""
    ids, best = texts(options), float("inf")
    for _ in range(options.repeats):
        begin = time.perf_counter()
        for first in range(0, options.texts, options.batch_size):
            vectors = run(ids[first : first + options.batch_size])
        best = min(best, time.perf_counter() - begin)
    if not np.isfinite(vectors).all():
        raise SystemExit("the peer gives numbers that are not finite")
    print(json.dumps({
        "peer": peer, **vars(options), "load_s": load, "peak_rss_mb": resident_mb("VmHWM"), "texts_per_s": options.texts / best,
        "tokens_per_s": options.texts * options.length / best}))


def main():
    options = parser_of(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as path:
        apart(random_model, path, options)
        begin = time.perf_counter()
        encoder = ctranslate2.Encoder(path, device="cpu", compute_type=options.type, intra_threads=options.threads)
        load = time.perf_counter() - begin

        def run(ids):
            states = encoder.forward_batch(ids.tolist(), token_type_ids=np.zeros_like(ids).tolist()).last_hidden_state
            return np.asarray(states).mean(axis=1)

        report(options, "ctranslate2 " + ctranslate2.__version__, load, run)


if __name__ == "__main__":
    main()
