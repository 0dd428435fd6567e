#!/usr/bin/env python3
"""Trains and runs Vision Transformers with attend and with a peer in turn, several times, and prints each side's best as a Markdown table.

usage: bench/compare_pictures.py --data-dir DATA [--attend build/attend] [--rows train-1 run-vit-tiny-int8-32 ...] [--rounds 3]
       [--updates 50] [--output TABLE.md]

train-N: pictures a second of recipes/classification/fashion_mnist.toml without its augmentation, on N threads in f32, beside PyTorch
eager; train-N-bf16 in bf16. run-SHAPE-TYPE-BATCH: random weights on one thread, `attend bench encode` beside ONNX Runtime, which needs
the packages of tools/requirements_bench.txt. The share of the limit is the peak of the instruction set's best multiply-add over twice
the multiply-adds of a picture.
"""

import argparse
import pathlib
import re
import sys
import tempfile

from compare_translate import FOLDER, commit, measure_rows, processors, run, write
from shapes import PICTURES

RECIPE = FOLDER.parent / "recipes" / "classification" / "fashion_mnist.toml"
BATCH = 128  # pictures of an update, as the recipe has it
TRAINING = ["train-1", "train-2", "train-1-bf16", "train-2-bf16"]
RUNNING = [f"run-{shape}-{kind}-{batch}" for shape in PICTURES for kind in ("int8", "float32") for batch in (1, 32)]


def recipe_of(precision, folder):
    """The recipe in this precision, without augmentation: the peer has its pictures in memory."""
    text = re.sub(r"^\[augment\][\s\S]*", "", RECIPE.read_text(encoding="utf-8"), flags=re.M)
    path = pathlib.Path(folder) / "recipe.toml"
    path.write_text(re.sub(r'^precision = ".*"', f'precision = "{precision}"', text, flags=re.M), encoding="utf-8")
    return path


def train(row, options, folder):
    threads, precision = row.split("-")[1], "bf16" if row.endswith("bf16") else "f32"
    shape = PICTURES["vit-tiny"]
    ours = run([options.attend, "bench", "train", "--recipe", recipe_of(precision, folder), "--data-dir", options.data_dir, "--threads", threads,
                "--updates", options.updates, "--json"])
    ours["rate"] = ours["target_tokens_per_s"]  # a picture has one label
    theirs = run([sys.executable, FOLDER / "torch_pictures.py", "--size", shape.size, "--channels", shape.channels, "--patch", shape.patch,
                  "--layers", shape.stack.layers, "--width", shape.stack.d_model, "--heads", shape.stack.heads, "--d-ff", shape.stack.d_ff,
                  "--batch", BATCH, "--precision", precision, "--threads", threads, "--updates", options.updates])
    theirs["rate"] = theirs["pictures_per_s"]
    return ours, theirs, 100 * ours["share_of_products"]


def execute(row, options, _):
    _, *preset, kind, batch = row.split("-")
    preset = "-".join(preset)
    pictures = 256 if preset == "vit-tiny" else 8 if batch == "1" else 32
    common = ["--preset", preset, "--type", kind, "--batch-size", batch, "--texts", pictures, "--repeats", 2]
    ours = run([options.attend, "bench", "encode", *common, "--json"])
    theirs = run([sys.executable, FOLDER / "onnx_pictures.py", *common])
    ours["rate"], theirs["rate"] = ours["pictures_per_s"], theirs["texts_per_s"]
    peak = ours["machine"]["int8_per_s" if kind == "int8" else "f32_per_s"]
    return ours, theirs, 100 * ours["rate"] * 2 * PICTURES[preset].multiply_adds() / peak


def measure(row, options):
    """The best rate of each side, the share of the limit at attend's best, and the peer's name."""
    with tempfile.TemporaryDirectory() as folder:
        rounds = [(train if row.startswith("train") else execute)(row, options, folder) for _ in range(options.rounds)]
    best = max(rounds, key=lambda each: each[0]["rate"])
    return best[0]["rate"], max(theirs["rate"] for _, theirs, _ in rounds), best[2], rounds[0][1]["peer"]


def line(row, ours, theirs, share, peer):
    return f"| {row} | {ours:,.1f} | {theirs:,.1f} | {ours / theirs:.2f} | {share:.0f} % | {peer.split(' (')[0]} |"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--rows", nargs="+", default=TRAINING + RUNNING, choices=TRAINING + RUNNING)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=50)
    parser.add_argument("--output")
    return parser.parse_args()


def main():
    options = parse()
    _, lines = measure_rows(options, measure, line)
    name, count = processors()
    heading = f"{name}, {count} threads in all. attend {commit()}, `bench/compare_pictures.py --rounds {options.rounds}`."
    write("\n".join([heading, "", "| pictures/s | attend | peer | ratio | of the limit | |", "|---" * 6 + "|", *lines]) + "\n", options.output)


if __name__ == "__main__":
    main()
