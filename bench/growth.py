#!/usr/bin/env python3
"""How time and memory grow with the number of pairs: training's data path, `attend translate` and `attend.distributed`.

bench/growth.py --attend build/attend --python-path build/python [--pairs 10000 100000 1000000 10000000] [--work DIR] [--json FILE]

A model of 1 + 1 layers, 16 wide, trains one epoch of streamed text, so that nearly all of its time goes into reading, encoding,
shuffling and batching. It then translates the sources, four tokens of each at most, in one process and as a job of parts. The
text is a block of made pairs, repeated. Each row has the processor seconds of a pair (other work on the machine changes them
little), the same of what the row has more than the one before, the wall time and the peak of memory. Ten million pairs take
1.2 GB of disk.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

BLOCK = 10_000  # pairs that are made; the rest repeats them
WORDS = 3_000
MODEL = [f"--{side}.{name}={value}" for side in ("encoder", "decoder")
         for name, value in (("layers", 1), ("d-model", 16), ("d-ff", 32), ("heads", 2))]


def block() -> tuple[str, str]:
    source = random.Random(7)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = ["".join(source.choices(syllables, k=source.randint(1, 4))) for _ in range(WORDS)]
    weights = [1 / (rank + 3) for rank in range(WORDS)]  # as often as words of a language are
    lines = [source.choices(words, weights, k=source.randint(4, 14)) for _ in range(BLOCK)]
    return "".join(" ".join(line) + "\n" for line in lines), "".join(" ".join(f"{word}n" for word in reversed(line)) + "\n" for line in lines)


def write_text(folder: pathlib.Path, pairs: int) -> None:
    if pairs % BLOCK:
        sys.exit(f"{pairs} pairs are no multiple of {BLOCK}")
    for name, text in zip(("source", "target"), block(), strict=True):
        with (folder / name).open("w", encoding="utf-8") as file:
            for _ in range(pairs // BLOCK):
                file.write(text)


def measured(command: list, environment: dict[str, str]) -> dict[str, float]:
    """Seconds of a program and its peak of memory."""
    before = os.times().elapsed
    with subprocess.Popen([str(part) for part in command], env=os.environ | environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command} ended with {process.returncode}")
    return {"wall": os.times().elapsed - before, "cpu": usage.ru_utime + usage.ru_stime, "mib": usage.ru_maxrss / 1024}


def is_joined(whole: pathlib.Path, parts: list[pathlib.Path]) -> bool:
    """The parts one after the other are the whole. A part at a time: the peak of a program is at least that of this one."""
    with whole.open("rb") as file:
        return all(file.read(part.stat().st_size) == part.read_bytes() for part in parts) and not file.read(1)


def row_of(args: argparse.Namespace, pairs: int, folder: pathlib.Path) -> dict[str, dict[str, float]]:
    write_text(folder, pairs)
    environment = {"PYTHONPATH": args.python_path, "OMP_WAIT_POLICY": "passive"}
    model = args.work / "model"
    run = folder / "run"
    train = [args.attend, "train", "--train-source", folder / "source", "--train-target", folder / "target", "--stream", "--vocab-size", 1000,
             "--vocab-max-sentences", BLOCK, *MODEL, "--batch-tokens", 16384, "--max-epochs", 1, "--max-updates", 10**9,
             "--validate-every", 10**9, "--checkpoint-every", 10**6, "--average-last", 1, "--average-best", 0, "--threads", 1, "--quiet", "--output", run]
    row = {"train": measured(train, environment)}
    if not model.exists():
        shutil.copytree(run / "model", model)  # one for all rows: outputs of another one have other lengths
    translate = [args.attend, "translate", "--model", model, "--beam-size", 1, "--max-length", 4, "--threads", 1, "--quiet"]
    row["translate"] = measured([*translate, "--input", folder / "source", "--output", folder / "out"], environment)
    job = [sys.executable, "-m", "attend.distributed", model, folder / "source", "--output", folder / "parts", "--threads", 1,
           "--set", "beam_size=1", "--set", "max_length=4"]
    row["distributed"] = measured(job, environment)
    if not is_joined(folder / "out", sorted((folder / "parts").glob("part-*"))):
        sys.exit("the parts of attend.distributed are not what attend translate gives")
    return row


def show(rows: dict[int, dict]) -> None:
    print("| what | pairs | CPU µs a pair | of those more than above | wall s | peak MiB |\n|---|---|---|---|---|---|")
    for what in ("train", "translate", "distributed"):
        before = None
        for pairs, row in rows.items():
            one = row[what]
            more = "" if before is None else f"{1e6 * (one['cpu'] - before[1]) / (pairs - before[0]):.1f}"
            print(f"| {what} | {pairs:,} | {1e6 * one['cpu'] / pairs:.1f} | {more} | {one['wall']:.1f} | {one['mib']:.0f} |")
            before = pairs, one["cpu"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--python-path", default="build/python", help="the folder that has the package")
    parser.add_argument("--pairs", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--work", type=pathlib.Path, help="where text and runs go; by default a temporary folder")
    parser.add_argument("--json", type=pathlib.Path, help="write the numbers here, too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.work) as work:
        args.work = pathlib.Path(work)
        rows = {}
        for pairs in sorted(args.pairs):
            folder = args.work / str(pairs)
            folder.mkdir()
            rows[pairs] = row_of(args, pairs, folder)
            shutil.rmtree(folder)
            print(f"{pairs} pairs: {rows[pairs]}", file=sys.stderr, flush=True)
            if args.json:
                args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    show(rows)


if __name__ == "__main__":
    main()
