#!/usr/bin/env python3
"""How a model translates text in capitals and in title case.

bench/case.py --attend build/attend --model runs/en-de/model --source test.en --reference test.de [--lines 200]

Translates the first lines as they are, in capitals and in title case, and prints BLEU against the references in the same case.
The references of title case are not changed, and BLEU is without case there: languages write titles in different ways.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import tempfile


def lines_of(path: str, count: int) -> list[str]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as lines:
        return [line.rstrip("\n") for line, _ in zip(lines, range(count))]


def bleu(program: str, hypotheses: list[str], references: list[str], *options: str) -> float:
    """As `attend evaluate` counts it."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for kind, lines in (("hypothesis", hypotheses), ("reference", references)):
            pathlib.Path(folder, kind).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            files += [f"--{kind}", pathlib.Path(folder, kind)]
        done = subprocess.run([program, "evaluate", *files, "--json", *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["bleu"]["score"]


def title(line: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in line.split(" "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--model", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--reference", required=True)
    parser.add_argument("--lines", type=int, default=200)
    args = parser.parse_args()
    sources, references = lines_of(args.source, args.lines), lines_of(args.reference, args.lines)
    cases = {"as it is": (lambda line: line, lambda line: line, []), "capitals": (str.upper, str.upper, []),
             "title case": (title, lambda line: line, ["--lowercase"])}
    for name, (change, change_reference, options) in cases.items():
        translate = [args.attend, "translate", "--model", args.model, "--beam-size", "5", "--quiet"]
        done = subprocess.run(translate, input="".join(change(line) + "\n" for line in sources), capture_output=True, text=True, check=True)
        outputs = done.stdout.removesuffix("\n").split("\n")
        score = bleu(args.attend, outputs, [change_reference(line) for line in references], *options)
        print(f"{name}: BLEU {score}, such as: {outputs[0]}")


if __name__ == "__main__":
    main()
