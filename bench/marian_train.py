#!/usr/bin/env python3
"""Trains the Transformer with Marian (pymarian.Trainer) and prints its speed as a line of JSON: a peer of `attend bench train`.

example: marian_train.py --source train.en --target train.de --preset tiny --threads 2

The shapes, dropout, label smoothing, clipping and Adam are attend's; a vocabulary of as many pieces is made from the text as Marian
wants it (--vocab says how many). A batch has as many target tokens; with two threads Marian divides it. Target tokens a second are
those of Marian's own log, without its first lines.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile
from importlib import metadata

import sentencepiece

# layers a side, d_model, heads, d_ff, dropout
PRESETS = {"tiny": (4, 128, 4, 256, 0.3), "base": (6, 512, 8, 2048, 0.1), "big": (6, 1024, 16, 4096, 0.3)}
WARM_UP = 5
LINE = re.compile(r"Up\. (\d+) .*? \* ([\d,]+) .*?: Time ([\d.]+)s")


def vocabulary(options, folder):
    size = sentencepiece.SentencePieceProcessor(model_file=options.vocab).get_piece_size()
    sentencepiece.SentencePieceTrainer.train(
        input=f"{options.source},{options.target}", model_prefix=f"{folder}/vocab", vocab_size=size, model_type="bpe", bos_id=-1, eos_id=0,
        unk_id=1, minloglevel=2)
    path = pathlib.Path(folder) / "vocab.spm"
    (pathlib.Path(folder) / "vocab.model").rename(path)
    return str(path), size


def train(options, folder):
    """Runs the updates; returns where Marian's log is."""
    from pymarian import Trainer

    layers, width, heads, d_ff, dropout = PRESETS[options.preset]
    path, size = vocabulary(options, folder)
    log = f"{folder}/log"
    Trainer(
        type="transformer", train_sets=[options.source, options.target], vocabs=[path, path], dim_vocabs=[size, size], model=f"{folder}/m.npz",
        enc_depth=layers, dec_depth=layers, dim_emb=width, transformer_heads=heads, transformer_dim_ffn=d_ff, tied_embeddings_all=True,
        transformer_ffn_activation="relu", transformer_dropout=dropout, label_smoothing=0.1, clip_norm=1, optimizer_params=[0.9, 0.98, 1e-9],
        learn_rate=0.0003, mini_batch_words=options.batch_tokens, maxi_batch=100, sync_sgd=True, cpu_threads=options.threads,
        after=f"{WARM_UP + options.updates}u", disp_freq="1u", save_freq="100000u", workspace=1000, overwrite=True, quiet=True, log=log,
    ).train()
    return pathlib.Path(log)


def speed(log, updates):
    """Target tokens and seconds of the last updates."""
    lines = [match.groups() for match in map(LINE.search, log.read_text(encoding="utf-8", errors="replace").splitlines()) if match]
    taken = [(int(tokens.replace(",", "")), float(seconds)) for number, tokens, seconds in lines if int(number) > WARM_UP]
    if len(taken) < updates:
        sys.exit(f"Marian's log tells of {len(taken)} updates after {WARM_UP} of warm-up, expected {updates}")
    return sum(tokens for tokens, _ in taken), sum(seconds for _, seconds in taken)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("vocab", "source", "target"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--preset", default="tiny", choices=PRESETS)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", choices=["cpu"])
    parser.add_argument("--precision", default="f32", choices=["f32"])
    parser.add_argument("--updates", type=int, default=30)
    return parser.parse_args()


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        tokens, seconds = speed(train(options, folder), options.updates)
    print(json.dumps({"peer": f"pymarian {metadata.version('pymarian')}", "target_tokens_per_s": tokens / seconds}))


if __name__ == "__main__":
    main()
