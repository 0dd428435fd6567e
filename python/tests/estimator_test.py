"""Translator(estimator=...): qualities that an estimator gives, and the recipe that trains and measures one."""

import json
import pathlib
import subprocess
import sys

import attend
import pytest
import random_models
from package import ENVIRONMENT, GOLDEN, LINES, ROOT, program

RECIPE = ROOT / "recipes/quality"


@pytest.fixture(name="estimator", scope="module")
def write_estimator(tmp_path_factory):
    return random_models.write_estimator(tmp_path_factory.mktemp("models") / "estimator")


def mean_label(classification):
    return sum(float(label) * probability for label, probability in classification.classes)


def recipe(name, *arguments):
    done = subprocess.run([sys.executable, RECIPE / name, *map(str, arguments)], env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_estimate_is_the_mean_of_a_classifiers_labels(estimator):
    lines = [line for line in LINES[:6] if line]
    translations = attend.Translator(GOLDEN, estimator=estimator, threads=2).translate(lines, quality=True)
    texts = [f"{line} ||| {translation}" for line, translation in zip(lines, translations, strict=True)]
    expected = [mean_label(found) for found in attend.Classifier(estimator, threads=2).classify(texts)]
    assert [translation.quality for translation in translations] == pytest.approx(expected, rel=1e-12)
    plain = attend.Translator(GOLDEN, threads=2).translate(lines, quality=True)
    assert [each.word_quality for each in translations] == [each.word_quality for each in plain]
    assert [each.quality for each in translations] != [each.quality for each in plain]
    assert attend.Translator(GOLDEN, estimator=estimator).translate(lines[0]).quality is None


def test_estimates_are_the_programs(estimator):
    """Of lines of several sentences, too, and of those with words before them."""
    translator, lines = attend.Translator(GOLDEN, estimator=estimator), ["Lumi tavo keri. Sona mipa!", "neri dosa", "***"]
    for options in ({}, {"n_best": 2}, {"split_sentences": "always"}, {"prefix": "lumi "}):
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        rows = program("translate", "--model", GOLDEN, "--quality", "--json", "--estimator", estimator, *words, stdin="\n".join(lines) + "\n")
        for row, translation in zip(rows.splitlines(), translator.translate(lines, quality=True, **options), strict=True):
            expected = [one["quality"] for one in json.loads(row)["hypotheses"]]
            assert [one.quality for one in translation.hypotheses] == pytest.approx(expected, rel=1e-12)


def test_words_before_a_text_are_no_part_of_what_is_judged(estimator):
    translation = attend.Translator(GOLDEN, estimator=estimator).translate("tavo keri", prefix="lumi ", quality=True)
    [found] = attend.Classifier(estimator).classify([f"tavo keri ||| {translation}"])
    assert translation.quality == pytest.approx(mean_label(found), rel=1e-12)


def test_what_is_no_estimator_is_refused(tmp_path):
    with pytest.raises(attend.UsageError, match="is a model of translation, expected one of classification of text"):
        attend.Translator(GOLDEN, estimator=GOLDEN)
    with pytest.raises(attend.InputError, match="has the label 'good', expected numbers from 0 to 100"):
        attend.Translator(GOLDEN, estimator=random_models.write_estimator(tmp_path, ["05", "good"]))


def test_the_recipe_makes_tables_and_measures(estimator, tmp_path):
    """Its tables have the text that an estimator reads."""
    lines = [line for line in dict.fromkeys(LINES) if line]
    (tmp_path / "source").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    translator = attend.Translator(GOLDEN)
    references = [" ".join(str(translation).split()[:2 + number]) for number, translation in enumerate(translator.translate(lines))]
    (tmp_path / "reference").write_text("".join(f"{line}\n" for line in references), encoding="utf-8")
    pair = (tmp_path / "source", tmp_path / "reference")
    recipe("tables.py", GOLDEN, tmp_path / "tables", "--train", *pair, "--valid", *pair, "--test", *pair, "--drawn", 1)
    rows = [row.split("\t") for row in pathlib.Path(tmp_path / "tables/train.tsv").read_text(encoding="utf-8").splitlines()]
    greedy = {f"{line} ||| {translation}" for line, translation in zip(lines, translator.translate(lines, beam_size=1), strict=True)}
    assert greedy <= {text for _, text in rows}
    assert {label for label, _ in rows} <= {f"{label:02d}" for label in range(5, 100, 10)}
    told = recipe("correlation.py", GOLDEN, *pair, "--estimator", estimator)
    assert [word in told for word in ("geometric mean of probabilities (--quality)", "trained estimator", "both, added up")] == [True] * 3
    assert "trained estimator" not in recipe("correlation.py", GOLDEN, *pair)
