#!/usr/bin/env python3
"""The peer of `attend bench generate`: CTranslate2's Generator with the same option names, one JSON line.

usage: bench/ct2_generate.py [--preset gpt2-small] [--type int8] [--prompt-length 512] [--output-length 128] [--batch-size 32] ...

Random weights of GPT-2's shape, greedy search, every output of --output-length tokens. Outputs of one token come first, which gives
the rate of the prompt; what the others take beyond that is the rate of the steps.
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
from shapes import DECODERS

POSITIONS = 1024


def random_model(path, options):
    shape, weights = DECODERS[options.preset], RandomWeights()
    width = shape.d_model
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(
        shape.layers, shape.heads, pre_norm=True, activation=common_spec.Activation.GELUTanh)
    decoder = spec.decoder
    embedding = weights.normal(options.vocab_size, width)
    decoder.embeddings.weight = embedding
    decoder.projection.weight = embedding
    decoder.scale_embeddings = False
    decoder.position_encodings.encodings = weights.normal(POSITIONS, width)
    weights.norm(decoder.layer_norm, width)
    for layer in decoder.layer:
        weights.layer(layer, width, shape.d_ff)
    spec.register_vocabulary(["<unk>", "<s>", "</s>"] + [f"t{i}" for i in range(options.vocab_size - 3)])
    spec.validate()
    spec.optimize(quantization=options.type)
    spec.save(path)


def seconds(generator, prompts, length, options):
    """The best of --repeats."""
    best = float("inf")
    for _ in range(options.repeats):
        begin = time.perf_counter()
        results = generator.generate_batch(
            prompts, max_length=length, min_length=length, sampling_topk=1, include_prompt_in_result=False,
            max_batch_size=options.batch_size)
        best = min(best, time.perf_counter() - begin)
        if any(len(result.sequences[0]) != length for result in results):
            raise SystemExit(f"ct2_generate.py: an output has {len(results[0].sequences[0])} tokens, expected {length}")
    return best


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=DECODERS, default="gpt2-small")
    parser.add_argument("--type", choices=["int8", "float32"], default="int8")
    for name, value in (("threads", 1), ("prompts", 32), ("prompt-length", 512), ("output-length", 128), ("batch-size", 32), ("repeats", 3),
                        ("vocab-size", 50257)):
        parser.add_argument("--" + name, type=int, default=value)
    return parser.parse_args()


def main():
    options = parse()
    ids = np.random.default_rng(1).integers(0, options.vocab_size - 3, (options.prompts, options.prompt_length))
    prompts = [["<s>", *(f"t{i}" for i in row)] for row in ids]
    with tempfile.TemporaryDirectory() as path:
        apart(random_model, path, options)
        begin = time.perf_counter()
        generator = ctranslate2.Generator(path, device="cpu", compute_type=options.type, intra_threads=options.threads)
        load = time.perf_counter() - begin
        prompt = seconds(generator, prompts, 1, options)
        whole = seconds(generator, prompts, options.output_length, options)
    print(json.dumps({
        "peer": "ctranslate2 " + ctranslate2.__version__, **vars(options), "load_s": load, "peak_rss_mb": resident_mb("VmHWM"),
        "output_tokens_per_s": options.prompts * options.output_length / whole,
        "prompt_tokens_per_s": options.prompts * options.prompt_length / prompt,
        "step_tokens_per_s": options.prompts * (options.output_length - 1) / (whole - prompt)}))


if __name__ == "__main__":
    main()
