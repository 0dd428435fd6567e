"""`attend evaluate` of labels against conlleval, seqeval and scikit-learn: every number, on random labels of each scheme."""

import json
import os
import pathlib
import random
import subprocess

import conlleval
import pytest
import seqeval.metrics
import sklearn.metrics

ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"
PREFIXES = {"iob": "BI", "iobes": "BIES"}


def run(folder, metric, found, expected, *options):
    (folder / "found").write_text(found, encoding="utf-8")
    (folder / "expected").write_text(expected, encoding="utf-8")
    command = [ATTEND, "evaluate", "--metrics", metric, "--hypothesis", folder / "found", "--reference", folder / "expected", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def evaluate(folder, metric, found, expected):
    done = run(folder, metric, found, expected, "--width", "9", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)[metric]


def refused(folder, metric, found, expected, *parts):
    done = run(folder, metric, found, expected)
    assert done.returncode == 3 and all(part in done.stderr for part in parts), done.stderr


def random_sentences(prefixes, generator):
    labels = ["O", "O", "O"] + [f"{prefix}-{kind}" for prefix in prefixes for kind in ("PER", "LOC", "A-B")]
    expected = [generator.choices(labels, k=generator.randint(1, 12)) for _ in range(300)]
    found = [[label if generator.random() < 0.8 else generator.choice(labels) for label in sentence] for sentence in expected]
    return found, expected


def columns(sentences):
    return "\n".join("".join(f"word{i} X {label}\n" for i, label in enumerate(sentence)) for sentence in sentences)


@pytest.mark.parametrize("scheme", PREFIXES)
@pytest.mark.parametrize("seed", range(5))
def test_entities_are_seqevals(tmp_path, scheme, seed):
    found, expected = random_sentences(PREFIXES[scheme], random.Random(seed))
    scores = evaluate(tmp_path, "entity", columns(found), columns(expected))
    report = seqeval.metrics.classification_report(expected, found, output_dict=True, zero_division=0)
    for kind in ("PER", "LOC", "A-B"):
        mine, theirs = scores["types"][kind], report[kind]
        assert mine["expected"] == theirs["support"]
        for name, key in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score")):
            assert mine[name] == pytest.approx(100 * theirs[key], abs=1e-7)
    assert scores["score"] == pytest.approx(100 * seqeval.metrics.f1_score(expected, found), abs=1e-7)
    assert scores["accuracy"] == pytest.approx(100 * seqeval.metrics.accuracy_score(expected, found), abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_entities_are_conllevals(tmp_path, seed):
    found, expected = random_sentences("BI", random.Random(100 + seed))
    scores = evaluate(tmp_path, "entity", columns(found), columns(expected))
    lines = []
    for mine, right in zip(found, expected):
        lines += [f"w X {label} {guess}" for label, guess in zip(right, mine)] + [""]
    counts = conlleval.evaluate(lines)
    overall = counts["overall"]["chunks"]["evals"]
    assert scores["f1"] == pytest.approx(100 * overall["f1"], abs=1e-7)
    assert scores["precision"] == pytest.approx(100 * overall["prec"], abs=1e-7)
    assert scores["recall"] == pytest.approx(100 * overall["rec"], abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_scikit_learns(tmp_path, seed):
    generator = random.Random(seed)
    names = ["cat", "dog", "Ähre", "never right", "blue bird"]
    expected = generator.choices(names[:3] + names[4:], k=400)
    found = [name if generator.random() < 0.7 else generator.choice(names) for name in expected]
    scores = evaluate(tmp_path, "accuracy", "\n".join(found) + "\n", "\n".join(expected) + "\n")
    assert scores["score"] == pytest.approx(100 * sklearn.metrics.accuracy_score(expected, found), abs=1e-7)
    assert scores["macro_f1"] == pytest.approx(100 * sklearn.metrics.f1_score(expected, found, average="macro", zero_division=0), abs=1e-7)
    assert scores["labels"] == sorted(set(expected) | set(found), key=lambda name: name.encode())
    table = "".join(f"{name}\t0.9\n" for name in found), "".join(f"{name}\ta text\n" for name in expected)
    assert evaluate(tmp_path, "accuracy", *table) == scores
    assert scores["confusion"] == sklearn.metrics.confusion_matrix(expected, found, labels=scores["labels"]).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_labels_of_words_are_scikit_learns(tmp_path, seed):
    generator = random.Random(seed)
    labels = ["DET", "NOUN", "VERB", "B-PER", "."]
    expected = [generator.choices(labels, k=generator.randint(1, 9)) for _ in range(80)]
    found = [[label if generator.random() < 0.8 else generator.choice(labels) for label in sentence] for sentence in expected]
    scores = evaluate(tmp_path, "labels", columns(found), columns(expected))
    flat = [[label for sentence in sentences for label in sentence] for sentences in (expected, found)]
    assert scores["items"] == len(flat[0])
    assert scores["score"] == pytest.approx(100 * sklearn.metrics.accuracy_score(*flat), abs=1e-7)
    assert scores["macro_f1"] == pytest.approx(100 * sklearn.metrics.f1_score(*flat, average="macro", zero_division=0), abs=1e-7)


def test_labels_of_another_kind_are_refused(tmp_path):
    nouns = "the DET\ncat NOUN\nsleeps VERB\n"
    refused(tmp_path, "entity", nouns, nouns, "found:1: 'DET' is no label of entities", "--metrics labels")
    refused(tmp_path, "entity", "the O\ncat B-X\n", "the O\ncat NOUN\n", "expected:2: 'NOUN'")
    refused(tmp_path, "entity", "the\ncat\n", "the\ncat\n", "found:1: 'the' is no label of entities")
    refused(tmp_path, "labels", "the\ncat\n", "the\ncat\n", "found: one column, expected a word and its label")
    refused(tmp_path, "accuracy", nouns + "\n" + nouns, nouns, "found:4: no class", "--metrics labels")


def test_the_line_of_a_documents_begin_has_no_label(tmp_path):
    columns_of = "-DOCSTART- -X-\n\nKim B-PER\n"
    assert evaluate(tmp_path, "entity", columns_of, columns_of)["words"] == 2  # as conlleval counts
    assert evaluate(tmp_path, "labels", columns_of, columns_of)["items"] == 1


def test_two_schemes_are_warned_of(tmp_path):
    iob2, iobes = "a B-X\nb I-X\nc O\n", "a B-X\nb E-X\nc O\n"
    done = run(tmp_path, "entity", iobes, iob2)
    assert done.returncode == 0 and "100.00" in done.stdout
    assert "found spells entities by iobes" in done.stderr and "expected by iob2" in done.stderr
    assert "`attend tag --scheme iob2`" in done.stderr
    assert "warning" not in run(tmp_path, "entity", iob2, iob2).stderr
    assert "warning" not in run(tmp_path, "entity", "a O\nb O\nc O\n", iob2).stderr
    # Labels that break every scheme: none can be told.
    assert "warning" not in run(tmp_path, "entity", "a I-X\nb B-Y\nc E-X\n", iob2).stderr


@pytest.mark.parametrize("metrics", ["bleu,labels", "bleu,accuracy", "entity,accuracy", "accuracy,chrf", "brackets --lowercase", "entity --sentence-level"])
def test_metrics_of_labels_stand_alone(tmp_path, metrics):
    (tmp_path / "text").write_text("a\n", encoding="utf-8")
    command = [ATTEND, "evaluate", "--metrics", *metrics.split(), "--hypothesis", tmp_path / "text", "--reference", tmp_path / "text"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "stands alone" in done.stderr


def test_a_byte_order_mark_is_no_part_of_a_class(tmp_path):
    table = "pos\tgood\nneg\tbad\npos\tfine\n"
    scores = evaluate(tmp_path, "accuracy", table, "\ufeff" + table)
    assert scores["labels"] == ["neg", "pos"] and scores["score"] == 100
