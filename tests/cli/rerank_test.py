"""attend rerank beside sums of what `attend score` gives."""

import random

import pytest
import random_models
from programs import attend, refused

GOLDEN = random_models.GOLDEN
LINES = ["lumi tavo keri", "paku neri dosa ilvo sane", "lumi", "sane sane keri tavo lumi neri", "dosa paku"]


def scores(model, pairs, folder):
    """Natural log-probabilities of translations."""
    for name, side in (("source", 0), ("target", 1)):
        (folder / name).write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    done = attend("score", "--model", model, "--source", folder / "source", "--target", folder / "target", "--quiet")
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.splitlines()]


@pytest.fixture(name="lists", scope="module")
def write_lists(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    draw = random.Random(1)
    rows = [
        f"{number} ||| {' '.join(draw.choices(['grau', 'graub', 'h', 'b'], k=draw.randint(4, 7)))} ||| {draw.gauss(-2, 1):.6f}\n"
        for number in range(len(LINES)) for _ in range(6)]
    (folder / "lists").write_text("".join(rows), encoding="utf-8")
    (folder / "source").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(name="relative", scope="module")
def write_relative(tmp_path_factory):
    return random_models.write_relative(tmp_path_factory.mktemp("models") / "relative", seed=3)


def rows_of(lists):
    rows = [line.split(" ||| ") for line in (lists / "lists").read_text(encoding="utf-8").splitlines()]
    return [(int(number), text, float(score)) for number, text, score in rows]


def rerank(lists, *arguments):
    done = attend("rerank", "--input", lists / "lists", "--source", lists / "source", *arguments)
    assert done.returncode == 0, done.stderr
    return done


def test_the_best_by_the_weighted_sum_comes_first(lists, relative, language_model, tmp_path):
    rows, weights = rows_of(lists), (0.5, 1, 0.25, 0.125, 2)
    forward = scores(relative, [(LINES[number], text) for number, text, _ in rows], tmp_path)
    channel = scores(GOLDEN, [(text, LINES[number]) for number, text, _ in rows], tmp_path)
    (tmp_path / "texts").write_text("".join(text + "\n" for _, text, _ in rows), encoding="utf-8")
    done = attend("score", "--model", language_model, "--input", tmp_path / "texts", "--quiet")
    fluent = [float(line) for line in done.stdout.splitlines()]
    totals = {}
    for (number, text, score), *by_models in zip(rows, forward, channel, fluent, strict=True):
        features = [score, *by_models, len(text.split())]
        totals[number, text] = sum(weight * feature for weight, feature in zip(weights, features, strict=True))
    models = ["--model", relative, "--reverse-model", random_models.reverse_of(GOLDEN, tmp_path / "back"), "--language-model", language_model, "--weights", *weights]
    best = rerank(lists, *models).stdout.splitlines()
    assert len(best) == len(LINES)
    for number, text in enumerate(best):
        assert totals[number, text] > max(total for (of, _), total in totals.items() if of == number) - 1e-4
    ordered = [line.split(" ||| ") for line in rerank(lists, *models, "--n-best", "9").stdout.splitlines()]
    assert len(ordered) == len(rows)
    for number, text, total in ordered:
        assert float(total) == pytest.approx(totals[int(number), text], abs=1e-4)
    assert [(int(number), -float(total)) for number, _, total in ordered] == sorted((int(number), -float(total)) for number, _, total in ordered)
    rerank(lists, *models, "--output", tmp_path / "best")
    assert (tmp_path / "best").read_text(encoding="utf-8").splitlines() == best


def test_lists_of_translate_are_read(relative, tmp_path):
    (tmp_path / "source").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    for alignments in ([], ["--alignments"]):
        lists = attend("translate", "--model", GOLDEN, "--n-best", "3", "--max-length", "6", *alignments, stdin="\n".join(LINES) + "\n")
        done = attend(
            "rerank", "--source", tmp_path / "source", "--model", relative, "--weights", "1", "0", "0", stdin=lists.stdout)
        assert done.returncode == 0, done.stderr
        best = {}
        for row in lists.stdout.splitlines():
            number, text = row.split(" ||| ")[:2]
            best.setdefault(number, text)
        assert done.stdout.splitlines() == list(best.values())


def test_weights_are_tuned_on_bleu(lists, relative, tmp_path):
    """The references are what the other model likes best, so that its weight helps."""
    bleu = pytest.importorskip("sacrebleu").corpus_bleu
    rows = rows_of(lists)
    liked = scores(relative, [(LINES[number], text) for number, text, _ in rows], tmp_path)
    references = [max((score, text) for (of, text, _), score in zip(rows, liked, strict=True) if of == number)[1] for number in range(len(LINES))]
    (tmp_path / "references").write_text("\n".join(references) + "\n", encoding="utf-8")
    done = rerank(lists, "--model", relative, "--tune", tmp_path / "references")
    first = [max((score, text) for of, text, score in rows if of == number)[1] for number in range(len(LINES))]
    before, after = (bleu(texts, [references]).score for texts in (first, done.stdout.splitlines()))
    assert f"BLEU {after:.2f}, before {before:.2f}: --weights 1 " in done.stderr
    assert after > before
    weights = done.stderr.split("--weights ")[1].split()
    assert rerank(lists, "--model", relative, "--weights", *weights).stdout == done.stdout


def test_what_is_wrong_is_named(lists, relative, language_model, tmp_path):
    def refuse(*arguments, source="source", status=2):
        return attend("rerank", "--input", lists / "lists", "--source", lists / source, *arguments), status

    refused(*refuse("--weights", "1", "1"), "no model is given")
    refused(*refuse("--model", relative), "neither --weights nor --tune")
    # Standard input was read twice, and the second file was empty.
    wrong = attend("rerank", "--source", lists / "source", "--input", lists / "lists", "--model", relative, "--reverse-model", GOLDEN, "--weights", *"1110")
    refused(wrong, 2, "--reverse-model", "from ka to su; expected one that translates from su to ka")
    refused(attend("rerank", "--source", "-", "--model", relative, "--weights", "1", "1", "0", stdin="0 ||| a ||| -1\n"), 2, "only one file can be standard input")
    refused(attend("rerank", "--source", lists / "source", "--model", relative, "--tune", "-", stdin="0 ||| a ||| -1\n"), 2, "only one file can be standard input")
    refused(*refuse("--model", relative, "--weights", "1", "1"), "--weights has 2 numbers, expected 3")
    refused(*refuse("--model", language_model, "--weights", "1", "1", "0"), "--model", "a model of the task language_model", "expected translation")
    refused(*refuse("--language-model", relative, "--weights", "1", "1", "0"), "--language-model", "expected language_model")
    (lists / "short").write_text("one\n", encoding="utf-8")
    refused(*refuse("--model", relative, "--weights", "1", "1", "0", source="short", status=3), "--source has 1 lines and the input 5 lists")
    for name, text, message in (("gap", "0 ||| a ||| -1\n2 ||| b ||| -1\n", "number 2 comes after 0, expected 0 or 1"),
                                ("plain", "ein Haus\n", "expected number ||| text ||| score")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        done = attend("rerank", "--input", tmp_path / name, "--source", lists / "source", "--model", relative, "--weights", "1", "1", "0")
        refused(done, 3, message)
