#!/usr/bin/env python3
"""Makes tables from which an estimator learns how good a model's translations are.

usage: tables.py MODEL DIRECTORY --train SOURCE TARGET --valid SOURCE TARGET --test SOURCE TARGET [--drawn 3] [--lines N]

A line is `label<TAB>source ||| translation`. The label is sentence-level chrF of the translation against the reference, in
steps of ten: "45" is 40 to 50. Of each training sentence there are the greedy translation and `--drawn` drawn ones, since the
model's best translations of text that it learned from are too good. Validation and test have those of a beam, as people get them.
It needs the package: PYTHONPATH=build/python.
"""

import argparse
import itertools
import pathlib

import attend

STEP = 10
WINDOW = 2000  # sentences that are translated together


def label_of(chrf: float) -> str:
    """The middle of the step: two digits."""
    return f"{min(int(chrf) // STEP, 100 // STEP - 1) * STEP + STEP // 2:02d}"


def text_of(source: str, translation: str) -> str:
    return " ".join(f"{source} ||| {translation}".split())


def rows(translator: attend.Translator, sources: list[str], references: list[str], searches: list[dict]):
    for begin in range(0, len(sources), WINDOW):
        window = sources[begin:begin + WINDOW]
        outputs = [set() for _ in window]
        for search in searches:
            for known, translation in zip(outputs, translator.translate(window, **search), strict=True):
                known.update(hypothesis.text for hypothesis in translation.hypotheses)
        for source, reference, known in zip(window, references[begin:begin + WINDOW], outputs, strict=True):
            for output in sorted(known):
                yield label_of(float(attend.chrf([output], [reference]))), text_of(source, output)


def lines_of(path: pathlib.Path, count: int | None) -> list[str]:
    return list(itertools.islice(attend.read_lines(path), count))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("directory", type=pathlib.Path)
    for part in ("train", "valid", "test"):
        parser.add_argument(f"--{part}", nargs=2, type=pathlib.Path, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--drawn", type=int, default=3, help="drawn translations of a training sentence")
    parser.add_argument("--lines", type=int, help="of each text; by default all")
    args = parser.parse_args()
    translator = attend.Translator(args.model)
    args.directory.mkdir(parents=True, exist_ok=True)
    known: set[str] = set()
    for part in ("train", "valid", "test"):
        sources, references = (lines_of(path, args.lines) for path in getattr(args, part))
        drawn = {"sample": True, "n_best": args.drawn, "top_k": 20}
        searches = [{"beam_size": 1}, *([drawn] if args.drawn > 0 else [])] if part == "train" else [{}]
        table = list(rows(translator, sources, references, searches))
        known |= {label for label, _ in table} if part == "train" else set()
        table = [(label, text) for label, text in table if label in known]  # an estimator has the labels of training alone
        (args.directory / f"{part}.tsv").write_text("".join(f"{label}\t{text}\n" for label, text in table), encoding="utf-8")
        print(f"{part}: {len(table)} translations, mean label {sum(int(label) for label, _ in table) / max(len(table), 1):.1f}")


if __name__ == "__main__":
    main()
