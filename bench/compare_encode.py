#!/usr/bin/env python3
"""Runs `attend bench encode` and its peers in turn, several times, and prints each side's best as a Markdown table.

usage: bench/compare_encode.py [--attend build/attend] [--rows int8-1 int8-32 float32-1 float32-32] [--rounds 3] [--output TABLE.md]
       bench/compare_encode.py --model MODEL --source DIR ...    MODEL is what `attend import` made of DIR

Texts of 128 tokens, one thread. Without a model random weights of BERT's base shape run beside CTranslate2 and ONNX Runtime; an
imported one runs beside ONNX Runtime and transformers, which has f32 alone. The share of the limit is the peak of the instruction
set's best multiply-add over twice the multiply-adds of a text. ONNX Runtime needs the packages of tools/requirements_bench.txt.
"""

import json
import pathlib
import sys

from compare_translate import FOLDER, described, measure_rows, row_parser, run, write
from shapes import ENCODERS, Stack

LENGTH, PRESET = 128, "bert-base"
ROWS = ["int8-1", "int8-32", "float32-1", "float32-32"]
ONNX = {"ONNX Runtime": "onnx_encode.py"}
PEERS_OF_RANDOM = {"CTranslate2": "ct2_encode.py"} | ONNX
PEERS_OF_IMPORTED = ONNX | {"transformers": "torch_encode.py"}


def peers(options):
    return PEERS_OF_IMPORTED if options.model else PEERS_OF_RANDOM


def shape(options):
    if not options.model:
        return ENCODERS[PRESET]
    encoder = json.loads((pathlib.Path(options.model) / "config.json").read_text("utf-8"))["model"]["encoder"]
    return Stack(encoder["layers"], encoder["d_model"], encoder["heads"], encoder["d_ff"])


def measure(row, options):
    """The best report of attend, with the best rates of the machine, and of each peer."""
    kind, batch = row.split("-")
    common = ["--type", kind, "--batch-size", batch, "--length", LENGTH, "--texts", 8 if batch == "1" else 64, "--repeats", 2]
    ours, theirs = (["--model", options.model], ["--model", options.source]) if options.model else [["--preset", PRESET]] * 2
    sides = []
    for _ in range(options.rounds):
        sides.append([run([options.attend, "bench", "encode", *ours, *common, "--json"]),
                      *(run([sys.executable, FOLDER / script, *theirs, *common]) for script in peers(options).values())])
    best = [max(reports, key=lambda report: report["texts_per_s"]) for reports in zip(*sides)]
    best[0]["machine"] = {name: max(each[0]["machine"][name] for each in sides) for name in best[0]["machine"]}
    peak = best[0]["machine"]["int8_per_s" if kind == "int8" else "f32_per_s"]
    best[0]["share"] = 100 * best[0]["texts_per_s"] * 2 * LENGTH * shape(options).multiply_adds(LENGTH) / peak
    return best


def line(row, ours, *theirs):
    kind, batch = row.split("-")
    cells = [f"{peer['texts_per_s']:.1f} | {ours['texts_per_s'] / peer['texts_per_s']:.2f}" for peer in theirs]
    return f"| {kind}, batch {batch} | {ours['texts_per_s']:.1f} | {' | '.join(cells)} | {ours['share']:.0f} % |"


def parse():
    parser = row_parser(__doc__, ROWS)
    parser.add_argument("--model")
    parser.add_argument("--source")
    options = parser.parse_args()
    if bool(options.model) != bool(options.source):
        parser.error("--model and --source go together")
    return options


def main():
    options = parse()
    reports, lines = measure_rows(options, measure, line)
    heading = described([ours for ours, *_ in reports], ", ".join(each["peer"] for each in reports[0][1:])) + f" Best of {options.rounds} rounds."
    name = pathlib.Path(options.source).name if options.source else PRESET
    columns = [f"{name}, {LENGTH} tokens, texts/s", "attend", *(f"{peer} | ratio" for peer in peers(options)), "of the limit"]
    write("\n".join([heading, "", f"| {' | '.join(columns)} |", "|---" * (len(columns) + len(peers(options))) + "|", *lines]) + "\n",
          options.output)


if __name__ == "__main__":
    main()
