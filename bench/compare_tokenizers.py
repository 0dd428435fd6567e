#!/usr/bin/env python3
"""Reads text with attend and with Hugging Face's tokenizers, in turn and on one thread: equal ids, and megabytes a second.

usage: bench/compare_tokenizers.py --tokenizer NAME FILE [VOCABULARY] [--tokenizer ...] [--byte-bpe TEXT] --text FILE...
       [--rounds 3] [--lines 20000] [--output TABLE.md]

FILE is a tokenizer.json, which attend reads too, or VOCABULARY is what `attend import` made of it (a T5's vocab.spm). If FILE is a
directory, its tokenizer is the one that transformers makes of it. --byte-bpe trains one like GPT-2's, of 30,000 tokens, on TEXT. Files may
end in .gz. PYTHONPATH has attend's package. Both sides are called from Python, tokenizers line by line and with all lines in one call.
Time is the processor's, so that other work counts little; the best round counts.
"""

import argparse
import gzip
import os
import pathlib
import tempfile
import time

os.environ |= {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
import attend  # noqa: E402
import tokenizers  # noqa: E402
from compare_translate import commit, processors, write  # noqa: E402

TOKENS = 30_000


def read_lines(path, count):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:count]


def trained_byte_bpe(text, folder):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.train_from_iterator(read_lines(text, None), tokenizers.trainers.BpeTrainer(
        vocab_size=TOKENS, special_tokens=["<|endoftext|>"], initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.save(str(folder / "tokenizer.json"))
    return "byte-level BPE", str(folder / "tokenizer.json")


def peer_of(path):
    if not pathlib.Path(path).is_dir():
        return tokenizers.Tokenizer.from_file(path)
    import transformers

    return transformers.AutoTokenizer.from_pretrained(path).backend_tokenizer


def seconds(read):
    begin = time.process_time()
    read()
    return time.process_time() - begin


def row(name, text, lines, peer, vocabulary, rounds):
    expected = [found.ids for found in peer.encode_batch(lines, add_special_tokens=False)]
    different = sum(vocabulary.encode(line) != ids for line, ids in zip(lines, expected, strict=True))
    sides = [
        lambda: [vocabulary.encode(line) for line in lines],
        lambda: [peer.encode(line, add_special_tokens=False) for line in lines],
        lambda: peer.encode_batch(lines, add_special_tokens=False)]
    size = sum(len(line.encode()) + 1 for line in lines) / 1e6
    ours, *theirs = [size / min(times) for times in zip(*([seconds(side) for side in sides] for _ in range(rounds)), strict=True)]
    return (f"| {name} | {text} | {len(lines):,} | {different} | {ours:.2f} | {theirs[0]:.2f} | {theirs[1]:.2f} | "
            f"{ours / max(theirs):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", nargs="+", action="append", default=[], metavar=("NAME", "FILE"))
    parser.add_argument("--byte-bpe")
    parser.add_argument("--text", required=True, nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--output")
    options = parser.parse_args()
    table = ["| MB/s | text | lines | that differ | attend | tokenizers, by line | in one call | attend over the faster |", "|" + "---|" * 8]
    with tempfile.TemporaryDirectory() as folder:
        given = options.tokenizer + ([trained_byte_bpe(options.byte_bpe, pathlib.Path(folder))] if options.byte_bpe else [])
        for name, file, *own in given:
            peer, vocabulary = peer_of(file), attend.Vocabulary(own[0] if own else file)
            peer.no_truncation()
            peer.no_padding()
            for text in options.text:
                title = pathlib.Path(text).name.removesuffix(".gz")
                table.append(row(name, title, read_lines(text, options.lines), peer, vocabulary, options.rounds))
    name, count = processors()
    heading = f"{name}, {count} threads in all; one thread. attend {commit()}, tokenizers {tokenizers.__version__}."
    write("\n".join([heading, "", *table]) + "\n", options.output)


if __name__ == "__main__":
    main()
