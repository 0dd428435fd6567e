#!/usr/bin/env python3
"""Runs `attend bench encode`, CTranslate2 and ONNX Runtime in turn, several times, and prints each side's best as a Markdown table.

usage: bench/compare_encode.py [--attend build/attend] [--rows int8-1 int8-32 float32-1 float32-32] [--rounds 3] [--output TABLE.md]

Random weights of BERT's base shape, texts of 128 tokens, one thread. The share of the limit is the peak of the instruction set's best
multiply-add over twice the multiply-adds of a text. ONNX Runtime needs the packages of tools/requirements_bench.txt.
"""

import sys

from compare_translate import FOLDER, described, measure_rows, parse_rows, run, write
from shapes import ENCODERS

LENGTH, PRESET = 128, "bert-base"
ROWS = ["int8-1", "int8-32", "float32-1", "float32-32"]
PEERS = {"CTranslate2": "ct2_encode.py", "ONNX Runtime": "onnx_encode.py"}


def measure(row, options):
    """The best report of attend, with the best rates of the machine, and of each peer."""
    kind, batch = row.split("-")
    arguments = ["--preset", PRESET, "--type", kind, "--batch-size", batch, "--length", LENGTH, "--texts", 8 if batch == "1" else 64,
                 "--repeats", 2]
    sides = []
    for _ in range(options.rounds):
        sides.append([run([options.attend, "bench", "encode", *arguments, "--json"]),
                      *(run([sys.executable, FOLDER / script, *arguments]) for script in PEERS.values())])
    best = [max(reports, key=lambda report: report["texts_per_s"]) for reports in zip(*sides)]
    best[0]["machine"] = {name: max(each[0]["machine"][name] for each in sides) for name in best[0]["machine"]}
    return best


def line(row, ours, *theirs):
    kind, batch = row.split("-")
    peak = ours["machine"]["int8_per_s" if kind == "int8" else "f32_per_s"]
    share = 100 * ours["texts_per_s"] * 2 * LENGTH * ENCODERS[PRESET].multiply_adds(LENGTH) / peak
    cells = [f"{peer['texts_per_s']:.1f} | {ours['texts_per_s'] / peer['texts_per_s']:.2f}" for peer in theirs]
    return f"| {kind}, batch {batch} | {ours['texts_per_s']:.1f} | {' | '.join(cells)} | {share:.0f} % |"


def main():
    options = parse_rows(__doc__, ROWS)
    reports, lines = measure_rows(options, measure, line)
    heading = described([ours for ours, *_ in reports], ", ".join(each["peer"] for each in reports[0][1:])) + f" Best of {options.rounds} rounds."
    columns = ["bert-base, texts/s", "attend", *(f"{name} | ratio" for name in PEERS), "of the limit"]
    write("\n".join([heading, "", f"| {' | '.join(columns)} |", "|---" * (len(columns) + len(PEERS)) + "|", *lines]) + "\n", options.output)


if __name__ == "__main__":
    main()
