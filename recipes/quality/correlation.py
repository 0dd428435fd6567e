#!/usr/bin/env python3
"""How well estimates of quality agree with sentence-level chrF, on a text with references.

usage: correlation.py MODEL SOURCE REFERENCE [--estimator MODEL] [--lines N]

Prints Pearson's and Spearman's correlation of each estimate with chrF: those of the model's own probabilities, and that of an
estimator that recipes/quality/multi30k-en-de.toml trains. Then the mean chrF of sentences by their quality, and how many of the words
in doubt and of those that are sure are not in the reference. It needs the package (PYTHONPATH=build/python) and NumPy.
"""

import argparse
import math
import pathlib

import attend
import numpy

from tables import lines_of

ALPHA = 0.6  # of the length penalty
CERTAIN, DOUBTFUL = 90, 30  # qualities of words


def estimates(logs: numpy.ndarray) -> dict[str, float]:
    """Of the log-probabilities of an output's tokens."""
    return {"geometric mean of probabilities (--quality)": 100 * math.exp(logs.mean()), "arithmetic mean": 100 * numpy.exp(logs).mean(),
            "mean log-probability": logs.mean(), "score": logs.sum() / ((5 + len(logs)) / 6) ** ALPHA, "log-probability": logs.sum()}


def ranks(values: numpy.ndarray) -> numpy.ndarray:
    """Equal values share the mean of their ranks."""
    _, place, count = numpy.unique(values, return_inverse=True, return_counts=True)
    return (numpy.cumsum(count) - (count - 1) / 2)[place]


def report(name: str, values: list[float], chrf: numpy.ndarray) -> None:
    found = numpy.array(values)
    pearson, spearman = numpy.corrcoef(found, chrf)[0, 1], numpy.corrcoef(ranks(found), ranks(chrf))[0, 1]
    print(f"{name:<44}{pearson:>8.3f}{spearman:>10.3f}")


def share_missing(translations: list[attend.Translation], references: list[str], least: float, most: float) -> float:
    """Percent of the words with a quality from least to below most that the reference has not, in any letter case."""
    missing = [word.lower() not in reference.lower().split() for translation, reference in zip(translations, references, strict=True)
               for word, quality in zip(translation.split(), translation.word_quality, strict=True) if least <= quality < most]
    return 100 * sum(missing) / len(missing) if missing else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("reference", type=pathlib.Path)
    parser.add_argument("--estimator", help="a classifier's model directory")
    parser.add_argument("--lines", type=int)
    args = parser.parse_args()
    sources, references = lines_of(args.source, args.lines), lines_of(args.reference, args.lines)
    translator = attend.Translator(args.model, **({"estimator": args.estimator} if args.estimator else {}))
    translations = translator.translate(sources, quality=True)
    outputs = [str(translation) for translation in translations]
    logs = [numpy.array(score.token_log_probabilities) for score in translator.score(sources, outputs)]
    chrf = numpy.array([float(attend.chrf([output], [reference])) for output, reference in zip(outputs, references, strict=True)])
    print(f"{'estimate':<44}{'Pearson':>8}{'Spearman':>10}")
    own = [estimates(each) for each in logs]
    for name in own[0]:
        report(name, [each[name] for each in own], chrf)
    quality = next(iter(own[0]))
    if args.estimator:
        trained = [translation.quality for translation in translations]
        report("trained estimator", trained, chrf)
        standard = [(numpy.array(values) - numpy.mean(values)) / numpy.std(values) for values in ([each[quality] for each in own], trained)]
        report("both, added up as standard scores", list(sum(standard)), chrf)
    for name, least, most in (("high", 70, 101), ("medium", 50, 70), ("low", 0, 50)):
        of_band = [value for each, value in zip(own, chrf, strict=True) if least <= each[quality] < most]
        print(f"{name}: {len(of_band)} sentences, mean chrF {numpy.mean(of_band) if of_band else math.nan:.1f}")
    for name, least, most in ((f"below {DOUBTFUL}", 0, DOUBTFUL), (f"from {CERTAIN}", CERTAIN, 101)):
        print(f"words {name}: {share_missing(translations, references, least, most):.0f} % are not in the reference")


if __name__ == "__main__":
    main()
