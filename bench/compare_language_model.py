#!/usr/bin/env python3
"""Trains language models with attend and with PyTorch eager in turn, several times, and prints each side's best as a Markdown table.

usage: bench/compare_language_model.py --text tinyshakespeare.train.txt --valid tinyshakespeare.valid.txt [--attend build/attend]
       [--rows speed-2 small] [--rounds 3] [--updates 20] [--output TABLE.md]

speed-N: characters a second of 6 layers, 384 wide, contexts of 256, on N threads, after some updates to warm up. small: the whole
training that recipes/language_model/tinyshakespeare_small.toml names, on two threads: seconds, and the validation loss at the end.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from compare_translate import FOLDER, commit, processors, run, write

RECIPES = FOLDER.parent / "recipes" / "language_model"
# What the recipes say, for PyTorch.
LARGE = ["--layers", 6, "--width", 384, "--heads", 6, "--context", 256, "--batch", 16, "--dropout", 0.2]
SMALL = ["--layers", 4, "--width", 128, "--heads", 4, "--context", 64, "--batch", 12, "--dropout", 0, "--updates", 2000]
SPEED = """task = "language_model"
train_text = "{text}"
documents = "file"
vocab_type = "char"
vocab_size = 200
normalization = "none"
context_tokens = 256
preset = "gpt-char"
dropout = 0.2
label_smoothing = 0
batch_tokens = 4112
clip_norm = 1.0
weight_decay = 0.1
"""


def torch_side(options, *arguments):
    return run([sys.executable, FOLDER / "torch_language_model.py", "--text", options.text, *arguments])


def speed(options, threads, folder):
    recipe = pathlib.Path(folder) / "speed.toml"
    recipe.write_text(SPEED.format(text=pathlib.Path(options.text).resolve()), encoding="utf-8")

    def ours():
        return run([options.attend, "bench", "train", "--recipe", recipe, "--threads", threads, "--updates", options.updates, "--json"])

    rounds = [(ours(), torch_side(options, *LARGE, "--threads", threads, "--updates", options.updates + 5)) for _ in range(options.rounds)]
    best = [max(report["target_tokens_per_s"] for report in side) for side in zip(*rounds)]
    name = f"6 x 384, context 256, {threads} thread{'s' if threads > 1 else ''}, characters/s"
    return f"| {name} | {best[0]:,.0f} | {best[1]:,.0f} | {best[0] / best[1]:.2f} | |", rounds[0][1]["peer"]


def small(options, folder):
    def ours(number):
        output = pathlib.Path(folder) / f"run{number}"
        start = time.perf_counter()
        command = [options.attend, "train", "--config", RECIPES / "tinyshakespeare_small.toml", "--train-text", options.text,
                   "--valid-text", options.valid, "--output", output, "--threads", "2", "--quiet"]
        subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        lines = (output / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        return {"seconds": seconds, "valid_loss": last_loss(lines)}

    arguments = [*SMALL, "--valid", options.valid, "--threads", 2]
    rounds = [(ours(number), torch_side(options, *arguments)) for number in range(options.rounds)]
    best = [min(side, key=lambda report: report["seconds"]) for side in zip(*rounds)]
    losses = f"validation loss {best[0]['valid_loss']:.3f} and {best[1]['valid_loss']:.3f}"
    ratio = best[1]["seconds"] / best[0]["seconds"]
    return f"| 4 x 128, context 64, 2,000 updates, seconds | {best[0]['seconds']:.1f} | {best[1]['seconds']:.1f} | {ratio:.2f} | {losses} |", best[1]["peer"]


def last_loss(lines):
    return [line["validation"]["loss"] for line in map(json.loads, lines) if "validation" in line][-1]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--text", required=True)
    parser.add_argument("--valid", required=True)
    parser.add_argument("--rows", nargs="+", default=["speed-2", "small"], choices=["speed-1", "speed-2", "small"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--output")
    return parser.parse_args()


def main():
    options = parse()
    lines, peer = [], ""
    with tempfile.TemporaryDirectory() as folder:
        for row in options.rows:
            line, peer = small(options, folder) if row == "small" else speed(options, int(row[-1]), folder)
            print(line, file=sys.stderr)
            lines.append(line)
    name, count = processors()
    heading = f"{name}, {count} threads in all. attend {commit()}, {peer}."
    write("\n".join([heading, "", "| training of | attend | PyTorch | ratio | |", "|---|---|---|---|---|", *lines]) + "\n", options.output)


if __name__ == "__main__":
    main()
