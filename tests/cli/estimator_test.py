"""attend translate --quality --estimator: what the estimates are, and what is refused."""

import json

import pytest
import random_models
from programs import attend, refused

GOLDEN = random_models.GOLDEN
LINES = ["lumi tavo keri", "paku neri dosa ilvo sane", "lumi", "***", "sane sane keri\ttavo lumi neri"]


@pytest.fixture(name="estimator", scope="module")
def write_estimator(tmp_path_factory):
    return random_models.write_estimator(tmp_path_factory.mktemp("models") / "estimator")


def hypotheses(*arguments, lines=LINES):
    done = attend("translate", "--model", GOLDEN, "--quality", "--json", *arguments, stdin="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    return [one for line in done.stdout.splitlines() for one in json.loads(line)["hypotheses"]]


def test_the_estimate_is_the_mean_of_the_labels(estimator):
    """As `attend classify` has them; the words in doubt are the model's own."""
    found, plain = hypotheses("--estimator", estimator), hypotheses()
    pairs = [" ".join(f"{line} ||| {one['text']}".split()) for line, one in zip(LINES, found, strict=True)]
    done = attend("classify", "--model", estimator, "--top", 10, "--json", stdin="\n".join(pairs) + "\n")
    classes = [json.loads(line)["classes"] for line in done.stdout.splitlines()]
    expected = [sum(int(each["label"]) * each["probability"] for each in of_line) for of_line in classes]
    expected[3] = 100  # there is nothing to translate
    assert [one["quality"] for one in found] == pytest.approx(expected, rel=1e-9)
    assert len({round(one["quality"], 3) for one in found}) == len(LINES)
    names = ("text", "word_quality", "doubtful_words")
    assert [[one[name] for name in names] for one in found] == [[own[name] for name in names] for own in plain]


def test_estimates_hang_on_no_thread_or_batch(estimator):
    expected = hypotheses("--estimator", estimator, "--n-best", 3)
    assert hypotheses("--estimator", estimator, "--n-best", 3, "--threads", 3, "--batch-sentences", 1) == expected
    alone = [one for line in LINES for one in hypotheses("--estimator", estimator, "--n-best", 3, lines=[line])]
    assert alone == expected


def test_what_is_no_estimator_is_refused(estimator, tmp_path):
    translate = ("translate", "--model", GOLDEN, "--quality", "--estimator")
    refused(attend("translate", "--model", GOLDEN, "--estimator", estimator), 2, "estimator is given without quality", "--quality")
    refused(attend(*translate, GOLDEN), 2, "is a model of translation, expected one of classification of text")
    (tmp_path / "pictures").mkdir()
    refused(attend(*translate, random_models.write_picture_model(tmp_path / "pictures")), 2, "of pictures, expected")
    words = random_models.write_estimator(tmp_path / "words", ["05", "good"])
    refused(attend(*translate, words), 3, words, "has the label 'good', expected numbers from 0 to 100")
    refused(attend(*translate, random_models.write_estimator(tmp_path / "high", ["05", "105"])), 3, "'105'")
    refused(attend(*translate, tmp_path / "gone"), 3, tmp_path / "gone")


def test_an_interrupted_job_knows_its_estimator(estimator, tmp_path):
    lines = ["lumi tavo keri"] * 1025
    lines[1024] = "lumi " * 600  # refused, and the lines before it are kept
    (tmp_path / "in").write_text("\n".join(lines) + "\n", encoding="utf-8")
    job = ["translate", "--model", GOLDEN, "--input", tmp_path / "in", "--output", tmp_path / "out", "--overlong", "refuse", "--max-length", "8",
           "--quality", "--quiet"]
    assert attend(*job, "--estimator", estimator).returncode == 3
    other = random_models.write_estimator(tmp_path / "other", ["10", "90"])
    for changed in ((), ("--estimator", other)):
        refused(attend(*job, *changed, "--resume"), 2, "out.partial", "estimator", "remove it")
    lines[1024] = "lumi"
    (tmp_path / "in").write_text("\n".join(lines) + "\n", encoding="utf-8")
    moved = estimator.rename(tmp_path / "moved")  # what counts is what it is, not where
    done = attend(*job, "--estimator", moved, "--resume")
    moved.rename(estimator)
    assert done.returncode == 0, done.stderr
