#!/usr/bin/env python3
"""Runs `attend bench encode`, CTranslate2 and ONNX Runtime in turn, several times, and prints each side's best as a Markdown table.

usage: bench/compare_encode.py [--attend build/attend] [--rows int8-1 int8-32 float32-1 float32-32] [--rounds 3] [--output TABLE.md]

Random weights of BERT's base shape, texts of 128 tokens, one thread. The share of the limit is the peak of the instruction set's best
multiply-add over twice the multiply-adds of a text. ONNX Runtime needs the packages of tools/requirements_bench.txt.
"""

import argparse
import datetime
import sys

from compare_translate import FOLDER, commit, processors, run, write
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


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--rows", nargs="+", default=ROWS, choices=ROWS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output")
    return parser.parse_args()


def main():
    options = parse()
    lines, reports = [], []
    for row in options.rows:
        reports.append(measure(row, options))
        lines.append(line(row, *reports[-1]))
        print(lines[-1], file=sys.stderr)
    name, count = processors()
    ours, *theirs = reports[0]
    machine = {key: max(each[0]["machine"][key] for each in reports) / 1e9 for key in ours["machine"]}
    heading = (f"{name}, {count} threads in all, {ours['instruction_set']}; one thread: {machine['f32_per_s']:.0f} GFLOP/s f32, "
               f"{machine['int8_per_s']:.0f} GOP/s int8, {machine['memory_bytes_per_s']:.1f} GB/s. "
               f"attend {commit()}, {', '.join(each['peer'] for each in theirs)}, {datetime.date.today().isoformat()}. "
               f"Best of {options.rounds} rounds.")
    columns = ["bert-base, texts/s", "attend", *(f"{name} | ratio" for name in PEERS), "of the limit"]
    write("\n".join([heading, "", f"| {' | '.join(columns)} |", "|---" * (len(columns) + len(PEERS)) + "|", *lines]) + "\n", options.output)


if __name__ == "__main__":
    main()
