#!/usr/bin/env python3
"""Transcribes a recording with attend and faster-whisper in turn, several times, and prints each side's best as a Markdown table.

usage: bench/compare_whisper.py --model MODEL --source DIR --recording FILE [--rows int8-1 int8-5 float32-1 ...] [--rounds 3]
       [--peer-python PYTHON] [--output TABLE.md]

MODEL is what `attend import` made of DIR, a model of CTranslate2 as faster-whisper reads it. One thread; the number of a row is the beam's
size. The two penalise length by other formulas, each by its own default. The peer runs by PYTHON where its packages (tools/requirements_bench.txt) are installed.
"""

import os
import re
import sys

from compare_translate import FOLDER, commit, measure_rows, processors, row_parser, run, write

ROWS = ["int8-1", "int8-5", "float32-1", "float32-5"]


def measure(row, options):
    kind, beam = row.split("-")
    common = ["--recording", options.recording, "--type", kind, "--beam-size", beam]
    sides = {"attend": (sys.executable, options.model), "faster-whisper": (options.peer_python, options.source)}
    rounds = []
    for _ in range(options.rounds):
        rounds.append([run([python, FOLDER / "whisper_transcribe.py", program, "--model", model, *common])
                       for program, (python, model) in sides.items()])
    return [min(reports, key=lambda report: report["seconds"]) for reports in zip(*rounds, strict=True)]


def words(report):
    return re.findall(r"[a-z']+", report["text"].lower())


def line(row, ours, theirs):
    kind, beam = row.split("-")
    return f"| {kind}, beam {beam} | {ours['seconds']:.3f} | {theirs['seconds']:.3f} | {theirs['seconds'] / ours['seconds']:.2f} | {'yes' if words(ours) == words(theirs) else 'no'} |"


def parse():
    parser = row_parser(__doc__, ROWS)
    parser.add_argument("--model", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--recording", required=True)
    parser.add_argument("--peer-python", default=sys.executable)
    return parser.parse_args()


def main():
    os.environ["OMP_NUM_THREADS"] = "1"
    options = parse()
    reports, lines = measure_rows(options, measure, line)
    name, count = processors()
    heading = f"{name}, one thread of {count}. attend {commit()}, {reports[0][1]['program']}, `bench/compare_whisper.py --rounds {options.rounds}`."
    write("\n".join([heading, "", "| seconds | attend | faster-whisper | ratio | the same words |", "|---|---|---|---|---|", *lines]) + "\n", options.output)


if __name__ == "__main__":
    main()
