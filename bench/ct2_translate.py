#!/usr/bin/env python3
"""The peer of `attend bench translate`: CTranslate2 with the same option names, one JSON line.

usage: bench/ct2_translate.py [--preset base] [--type int8] [--beam-size 1] [--batch-size 32] ...
       bench/ct2_translate.py --transformers DIR ...
       bench/ct2_translate.py --model DIR --input FILE ...

Random weights of a preset, or transformers' model DIR that random_t5.py wrote, every output forced to --target-length; or attend's model
DIR on real text, at its own lengths and with attend's search (see compare_outputs.py). target_tokens_per_s is the best of --repeats. Of --threads, --intra-threads share
the work of a batch, and so many batches run at once. peak_rss_mb is the most memory resident since before loading; what was
there already, Python and its modules, is part of it and stands in base_rss_mb.
"""

import argparse
import json
import multiprocessing
import pathlib
import sys
import tempfile
import time

import ctranslate2
import numpy as np
from compare_outputs import NO_PENALTY, convert, processor, read_lines
from ctranslate2.specs import transformer_spec
from random_model import candidates
from random_weights import RandomWeights
from shapes import LONGEST, PRESETS, T5_WORDS


def write_mapping(path, words):
    """CTranslate2's shortlist: a line for each source piece, with as many candidates as attend's has."""
    lines = (f"{word}\t{' '.join(words[i] for i in row)}\n" for word, row in zip(words, candidates(len(words))))
    path.write_text("".join(lines), "utf-8")


def random_model(path, shape, options):
    """Normal weights of the shape; what speed depends on is how many there are."""
    weights = RandomWeights()
    width, inner = shape.d_model, shape.d_ff
    spec = transformer_spec.TransformerSpec.from_config((shape.encoder_layers, shape.decoder_layers), shape.heads, pre_norm=False)
    embedding = weights.normal(options.vocab_size, width)
    for stack, embeddings in ((spec.encoder, spec.encoder.embeddings[0]), (spec.decoder, spec.decoder.embeddings)):
        embeddings.weight = embedding
        stack.position_encodings.encodings = weights.normal(512, width)
        for layer in stack.layer:
            weights.layer(layer, width, inner)
    spec.decoder.projection.weight = embedding
    words = ["<unk>", "<s>", "</s>"] + [f"t{i}" for i in range(options.vocab_size - 3)]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.add_source_eos = True
    pathlib.Path(path).mkdir()
    if options.shortlist:
        mapping = pathlib.Path(path) / "mapping"
        write_mapping(mapping, words)
        spec.register_vocabulary_mapping(str(mapping))
    spec.validate()
    spec.optimize(quantization=options.type)
    spec.save(path)


def convert_transformers(directory, path, kind):
    ctranslate2.converters.TransformersConverter(directory).convert(path, quantization=kind, force=True)


def apart(function, *arguments):
    """Calls it in a process of its own: what making the model takes is not the peer's memory."""
    maker = multiprocessing.Process(target=function, args=arguments)
    maker.start()
    maker.join()
    if maker.exitcode != 0:
        sys.exit("ct2_translate.py: the model could not be made")


def work(options, path):
    """Writes the model; returns the pieces of each sentence and how outputs end."""
    if options.model:
        convert(options.model, path)
        encoder = processor(options.model, "source")
        return [encoder.encode(line, out_type=str) for line in read_lines(options.input)], {
            "min_decoding_length": 0, "max_decoding_length": LONGEST, "length_penalty": NO_PENALTY}
    if options.transformers:
        apart(convert_transformers, options.transformers, path, options.type)
    else:
        apart(random_model, path, PRESETS[options.preset], options)
    ids = np.random.default_rng(1).integers(0, T5_WORDS if options.transformers else options.vocab_size - 3, (options.sentences, options.source_length))
    end = ["</s>"] if options.transformers else []  # of other models CTranslate2 adds it
    return [[f"t{i}" for i in row] + end for row in ids], {
        "min_decoding_length": options.target_length, "max_decoding_length": options.target_length, "use_vmap": options.shortlist}


def resident_mb(name):
    """VmRSS, or VmHWM, the most there has been."""
    status = pathlib.Path("/proc/self/status").read_text("ascii")
    return int(status.split(name + ":")[1].split()[0]) / 1024


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transformers")
    parser.add_argument("--model")
    parser.add_argument("--input")
    parser.add_argument("--preset", choices=PRESETS, default="base")
    parser.add_argument("--type", choices=["int8", "float32"], default="int8")
    for name, value in (("threads", 1), ("sentences", 64), ("source-length", 24), ("target-length", 32), ("batch-size", 32),
                        ("beam-size", 1), ("repeats", 3), ("vocab-size", 32000), ("intra-threads", 1)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--shortlist", action="store_true", help="random, of random weights")
    options = parser.parse_args()
    if bool(options.model) != bool(options.input):
        parser.error("--model and --input go together")
    if options.threads % options.intra_threads:
        parser.error("--intra-threads must divide --threads")
    return options


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model")
        sentences, ends = work(options, path)
        pathlib.Path("/proc/self/clear_refs").write_text("5", "ascii")  # proc(5): the peak is what is resident now
        base = resident_mb("VmRSS")
        begin = time.perf_counter()
        translator = ctranslate2.Translator(
            path, device="cpu", compute_type=options.type, inter_threads=options.threads // options.intra_threads,
            intra_threads=options.intra_threads)
        load = time.perf_counter() - begin
        rates = []
        for _ in range(options.repeats):
            begin = time.perf_counter()
            results = translator.translate_batch(sentences, beam_size=options.beam_size, max_batch_size=options.batch_size, **ends)
            tokens = sum(len(result.hypotheses[0]) for result in results)
            rates.append(tokens / (time.perf_counter() - begin))
    print(json.dumps({
        "peer": "ctranslate2 " + ctranslate2.__version__, **vars(options), "sentences": len(sentences), "target_tokens": tokens,
        "target_tokens_per_s": max(rates), "load_s": load,
        "base_rss_mb": base, "peak_rss_mb": resident_mb("VmHWM")}))


if __name__ == "__main__":
    main()
