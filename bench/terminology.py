#!/usr/bin/env python3
"""Counts the terms that a model keeps with a glossary of each line, beside BLEU with and without.

bench/terminology.py --model runs/terminology-en-de/model --data DATA/terminology-en-de --terms wikt.727 [--inflect] [--output FILE]

Needs the Python package. The data are those of Dinu et al. (2019): lines of newstest2017 with the terms of each. As there, a term
is kept where its target stands in the output in the form of the list: here as whole words, of which the first letter may be a
capital. Beside it stand the terms kept with an ending of up to three letters (`bright` as `helle`), which --inflect allows the
search, too. Both translations are of the lines that have terms; sources are found in any letter case and with such an ending.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import sys

import attend

AT_ONCE = 64  # lines that share the translator's batches

Terms = dict[int, list[tuple[str, str]]]


def read_terms(path: pathlib.Path) -> Terms:
    """The terms of each line, by its number from 1."""
    terms: Terms = collections.defaultdict(list)
    for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.split("\t")
        if len(fields) < 4 or len(fields) % 2 or not fields[1].isdigit():
            sys.exit(f"{path} line {row} is no line of terms: expected its number, a line's number, then source and target of each term")
        terms[int(fields[1])] += [(source, target) for source, target in zip(fields[2::2], fields[3::2], strict=True) if source and target]
    return terms


def has(text: str, target: str, ending: int) -> bool:
    """The target stands in the text, with at most so many letters more."""
    first = f"[{re.escape(target[0])}{re.escape(target[0].upper())}]"
    return re.search(rf"(?<![^\W_]){first}{re.escape(target[1:])}[^\W\d_]{{0,{ending}}}(?![^\W_])", text) is not None


def kept(outputs: list[str], terms: list[list[tuple[str, str]]], ending: int) -> float:
    """Percent of the terms."""
    found = [has(output, target, ending) for output, of_line in zip(outputs, terms, strict=True) for _, target in of_line]
    return 100 * sum(found) / len(found)


def translate(
    translator: attend.Translator, lines: list[str], terms: list[list[tuple[str, str]]], flags: str, beam_size: int,
) -> list[attend.Translation]:
    """Each line with a glossary of its own."""
    def one(pair: tuple[str, list[tuple[str, str]]]) -> attend.Translation:
        line, of_line = pair
        return translator.translate(line, glossary=attend.Glossary([(*term, flags) for term in of_line]), beam_size=beam_size)

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, zip(lines, terms, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder terminology-en-de")
    parser.add_argument("--terms", default="wikt.727", help="wikt.727, wikt.975, iate.414 or iate.581")
    parser.add_argument("--inflect", action="store_true", help="let targets have endings")
    parser.add_argument("--lines", type=int, help="at most so many lines with terms")
    parser.add_argument("--beam-size", type=int, default=4)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--lowercase", action="store_true", help="of a model that writes small letters alone")
    parser.add_argument("--output", type=pathlib.Path, help="file for both translations of each line")
    options = parser.parse_args()
    by_line = read_terms(options.data / f"{options.terms}.terminology.tsv")
    numbers = sorted(by_line)[:options.lines]
    source, reference = (
        [(options.data / f"newstest2017.{side}").read_text(encoding="utf-8").split("\n")[number - 1] for number in numbers] for side in ("en", "de"))
    terms = [by_line[number] for number in numbers]
    if options.lowercase:
        terms = [[(term, target.lower()) for term, target in of_line] for of_line in terms]
        reference = [line.lower() for line in reference]
    translator = attend.Translator(options.model, threads=options.threads)
    plain = translator.translate(source, beam_size=options.beam_size)
    flags = "ignore-case, inflect-source" + (", inflect" if options.inflect else "")
    constrained = translate(translator, source, terms, flags, options.beam_size)
    asked = sum(each.hypotheses[0].terms for each in constrained)
    print(f"{options.terms}: {len(numbers)} lines, {sum(map(len, terms))} terms, of which {asked} are found in the source")
    print(f"{'':12}{'kept':>9}{'with endings':>14}{'BLEU':>8}")
    for name, outputs in (("plain", plain), ("glossary", constrained)):
        print(f"{name:12}{kept(outputs, terms, 0):8.2f}%{kept(outputs, terms, 3):13.2f}%{attend.bleu(outputs, reference):8.2f}")
    if options.output:
        rows = (f"{number}\t{one}\t{other}\n" for number, one, other in zip(numbers, plain, constrained, strict=True))
        options.output.write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
