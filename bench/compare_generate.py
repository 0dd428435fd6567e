#!/usr/bin/env python3
"""Runs `attend bench generate` and CTranslate2 in turn, several times, and prints each side's best as a Markdown table.

usage: bench/compare_generate.py [--attend build/attend] [--rows int8-1 int8-32 float32-1 float32-32] [--rounds 3] [--output TABLE.md]

Random weights of GPT-2's small shape, prompts of 512 tokens, 128 tokens more, greedy, one thread. The share of the limit is of the
steps at batch 1: the rate of reading memory over the bytes of weights and of kept keys and values that a step reads.
"""

import sys

from compare_translate import FOLDER, described, measure_rows, row_parser, run, write
from shapes import DECODERS

PROMPT, OUTPUT, VOCABULARY = 512, 128, 50257
ROWS = ["int8-1", "int8-32", "float32-1", "float32-32"]
KEYS = ["output_tokens_per_s", "prompt_tokens_per_s", "step_tokens_per_s"]


def measure(row, options):
    """Both sides' best reports by the whole's rate; attend's with the best rates of the machine."""
    kind, batch = row.split("-")
    arguments = ["--preset", "gpt2-small", "--vocab-size", VOCABULARY, "--type", kind, "--batch-size", batch, "--prompt-length", PROMPT,
                 "--output-length", OUTPUT, "--prompts", 2 if batch == "1" else batch, "--repeats", 1]
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(run([options.attend, "bench", "generate", *arguments, "--json"]))
        theirs.append(run([sys.executable, FOLDER / "ct2_generate.py", *arguments]))
    best = [{**side[0], **{key: max(report[key] for report in side) for key in KEYS}} for side in (ours, theirs)]
    best[0]["machine"] = {name: max(report["machine"][name] for report in ours) for name in ours[0]["machine"]}
    return best


def step_bytes(bytes_each):
    """Read by a step at batch 1; keys and values are f32, of half the output's tokens on average."""
    shape = DECODERS["gpt2-small"]
    cache = 2 * shape.layers * shape.d_model * (PROMPT + OUTPUT // 2) * 4
    return bytes_each * (shape.weights() + VOCABULARY * shape.d_model) + cache


def line(row, ours, theirs):
    kind, batch = row.split("-")
    cells = [f"{ours[key]:,.1f} / {theirs[key]:,.1f} = **{ours[key] / theirs[key]:.2f}**" for key in KEYS]
    share = ""
    if batch == "1":
        share = f"{100 * ours['step_tokens_per_s'] * step_bytes(1 if kind == 'int8' else 4) / ours['machine']['memory_bytes_per_s']:.0f} %"
    return f"| {kind}, batch {batch} | {' | '.join(cells)} | {share} |"


def main():
    options = row_parser(__doc__, ROWS).parse_args()
    reports, lines = measure_rows(options, measure, line)
    heading = described([ours for ours, *_ in reports], ", ".join(each["peer"] for each in reports[0][1:])) + f" Best of {options.rounds} rounds."
    columns = ["gpt2-small", "output tokens/s, attend / CTranslate2", "prompt tokens/s", "tokens/s of steps", "of the limit"]
    write("\n".join([heading, "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines]) + "\n", options.output)


if __name__ == "__main__":
    main()
