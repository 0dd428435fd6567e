#!/usr/bin/env python3
"""The peer of `attend bench translate`: MarianMT of transformers, as OPUS-MT's models run there, with the same option names.

usage: bench/marian_mt_translate.py [--preset base] [--beam-size 1] [--batch-size 32] ...

Random weights of a preset in f32, every output forced to --target-length. Prints one JSON line, as ct2_translate.py does;
target_tokens_per_s is the best of --repeats. All --threads share a batch, whatever --intra-threads says.
"""

import argparse
import json
import time

import torch
import transformers
from ct2_translate import resident_mb
from shapes import PRESETS


def random_model(options):
    shape = PRESETS[options.preset]
    torch.manual_seed(1)
    config = transformers.MarianConfig(
        vocab_size=options.vocab_size, d_model=shape.d_model, encoder_layers=shape.encoder_layers, decoder_layers=shape.decoder_layers,
        encoder_attention_heads=shape.heads, decoder_attention_heads=shape.heads, encoder_ffn_dim=shape.d_ff, decoder_ffn_dim=shape.d_ff,
        activation_function="relu", scale_embedding=True, eos_token_id=0, pad_token_id=options.vocab_size - 1,
        decoder_start_token_id=options.vocab_size - 1)
    return transformers.MarianMTModel(config).eval()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=PRESETS, default="base")
    parser.add_argument("--type", choices=["float32"], default="float32")
    for name, value in (("threads", 1), ("sentences", 64), ("source-length", 24), ("target-length", 32), ("batch-size", 32),
                        ("beam-size", 1), ("repeats", 3), ("vocab-size", 32000), ("intra-threads", 1)):
        parser.add_argument("--" + name, type=int, default=value)
    return parser.parse_args()


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    begin = time.perf_counter()
    model = random_model(options)
    load = time.perf_counter() - begin
    ids = torch.randint(1, options.vocab_size - 1, (options.sentences, options.source_length))
    length = {"min_new_tokens": options.target_length, "max_new_tokens": options.target_length}
    rates = []
    for _ in range(options.repeats):
        begin, tokens = time.perf_counter(), 0
        for batch in ids.split(options.batch_size):
            with torch.inference_mode():
                tokens += model.generate(batch, num_beams=options.beam_size, do_sample=False, **length)[:, 1:].numel()
        rates.append(tokens / (time.perf_counter() - begin))
    print(json.dumps({
        "peer": "transformers " + transformers.__version__, **vars(options), "target_tokens": tokens, "target_tokens_per_s": max(rates),
        "load_s": load, "peak_rss_mb": resident_mb("VmHWM")}))


if __name__ == "__main__":
    main()
