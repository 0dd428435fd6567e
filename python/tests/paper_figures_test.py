"""attend paper figures: trees, heads that are masked, and the page of a small model."""

import pathlib
import shutil

import pytest
from package import PROGRAM  # noqa: F401

pytest.importorskip("matplotlib")
torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
import attend  # noqa: E402
import attend.torch  # noqa: E402
from attend.paper import _brackets, _figures, _heads, _permuted, _sentences  # noqa: E402
from attend.paper._cells import Cells  # noqa: E402
from attend.paper._work import Budget, Settings, Work  # noqa: E402

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests/data/golden_v1"
TREE = """( (S (NP-SBJ-1 (NNP Mr.) (NNP Vinken) ) (VP (VBZ is)
 (NP-PRD (NP (NN chairman) ) (PP (IN of) (NP (-NONE- *T*) (NNP Elsevier) )))) (. .) ))
(S (NP (-NONE- *)) (VP (VB Go)))"""


def test_trees_lose_traces_and_function_tags():
    one, two = _brackets.trees(TREE)
    assert one.words == ["Mr.", "Vinken", "is", "chairman", "of", "Elsevier", "."]
    assert one.spans == [(0, 7, "S"), (2, 6, "VP"), (3, 6, "NP"), (0, 2, "NP"), (4, 6, "PP"), (3, 4, "NP"), (5, 6, "NP")]
    assert (two.words, two.spans) == (["Go"], [(0, 1, "S"), (0, 1, "VP")])
    found = _brackets.relations(one)
    assert [found[0][1], found[0][2], found[2][3], found[3][4], found[4][5], found[5][4], found[6][0], found[3][3]] == [
        "NP", "S", "VP", "NP", "PP", "PP", "S", ""]


def test_weights_of_words_are_those_of_their_pieces():
    weights = np.array([[[[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0, 0, 1, 0], [0.25, 0.25, 0.25, 0.25]]]])
    found = _brackets.of_words(weights, ["▁a", "b", "▁c", "</s>"])
    assert found[0, 0] == pytest.approx(np.array([[0.5, 0.5], [0.25, 0.75]]))
    assert _brackets.of_words(weights, ["a", "b", "c", "</s>"]).shape[2] == 0


def test_what_looks_by_distance_alone_gains_nothing_by_brackets():
    generator = np.random.default_rng(1)
    sums = _brackets.Relations(1, 2)
    for _ in range(60):
        one = next(_brackets.trees(TREE))
        count = len(one.words)
        distance = np.arange(count) - np.arange(count)[:, None]
        by_distance = np.exp(-np.abs(distance)) * 0.1
        syntax = by_distance + (np.array(_brackets.relations(one)) == "PP") * generator.uniform(0.2, 0.3)
        sums.add(np.stack([by_distance, syntax])[None], one)
    rows = {row["label"]: row for row in sums.result(least_pairs=1)["relations"]}
    assert set(rows) == {"S", "NP", "VP", "PP"} and rows["PP"]["pairs"] == 120
    for row in rows.values():
        assert row["share"][0][0] == pytest.approx(row["by_distance"][0][0])
    assert rows["PP"]["share"][0][1] > 2 * rows["PP"]["by_distance"][0][1] and rows["NP"]["share"][0][1] < rows["NP"]["by_distance"][0][1]


@pytest.mark.parametrize("kind", _heads.KINDS)
def test_a_masked_head_adds_nothing(kind):
    """The copy's scores are those of the formulas in PyTorch, with the head's weights zero."""
    head = _heads.Head(kind, 2, 3)
    assert head in _heads.heads_of(_heads.config_of(GOLDEN))
    network, translator = attend.torch.load(GOLDEN), attend.Translator(GOLDEN)
    source, target = "paku neri dosa, ilvo.", "brant fisk."
    layer = (network.encoder if kind == "encoder" else network.decoder).layers[1]
    attention = layer.cross_attention if kind == "cross" else layer.self_attention
    usual = attention.weights
    attention.weights = lambda *given: _permuted._with_head(usual(*given), 2, torch.zeros_like)
    ids = translator.target_vocabulary.encode(target)
    with torch.no_grad():
        read = network.encoder_ids(translator.source_vocabulary.encode(source))
        logits = network(torch.tensor([read]), torch.tensor([[*network.decoder_start(), *ids]]))[0].log_softmax(-1)
    expected = sum(float(logits[t, token]) for t, token in enumerate([*ids, network.config.special_ids.eos]))
    with _heads.without(GOLDEN, [head]) as folder:
        found = attend.Translator(folder).score(source, target).log_probability
    whole = translator.score(source, target).log_probability
    assert found == pytest.approx(expected, abs=1e-4) and abs(found - whole) > 1e-3


def test_a_translation_model_is_asked_for(tmp_path):
    with pytest.raises(attend.InputError, match="config.json"):
        _heads.config_of(tmp_path)
    with pytest.raises(attend.InputError, match="expected a transformer that translates"):
        _heads.config_of(GOLDEN.with_name("golden_language_model"))


def test_permuted_weights_change_what_the_model_says():
    found = _permuted.measure(GOLDEN, _heads.Head("cross", 2, 1), ["paku neri dosa, ilvo."], ["brant fisk."])
    changes = {each["change"]: each for each in found["changes"]}
    assert list(changes) == ["permuted", "spread evenly", "masked"] and found["tokens"] > 3
    assert all(0 < each["distance"] < 1 and 0 <= each["other_best_token"] <= 1 for each in changes.values())


@pytest.fixture(name="work")
def work_with_text(tmp_path):
    for name in ("multi30k", "treebank/combined"):
        (tmp_path / "data" / name).mkdir(parents=True)
    (tmp_path / "data/multi30k/val.en").write_text("paku neri\nolin\n", encoding="utf-8")
    (tmp_path / "data/multi30k/val.de").write_text("brant fisk\nfisk\n", encoding="utf-8")
    (tmp_path / "data/treebank/test.list").write_text("wsj_0180.mrg\n", encoding="utf-8")
    (tmp_path / "data/treebank/combined/wsj_0180.mrg").write_text(TREE, encoding="utf-8")
    settings = Settings(
        data=tmp_path / "data", output=tmp_path, threads=1, rows=[], updates=8, copy_updates=8, row_minutes=12, price=0.5, dry_run=False, quiet=True,
        model=GOLDEN, sentences=2)
    return Work(settings, Budget(None), Cells(tmp_path / "cells.jsonl"))


def test_the_page_is_made_and_goes_on(work, tmp_path):
    work.budget = Budget(0)
    assert "Not measured yet" in _figures.make(work).markdown() and not (tmp_path / "cells.jsonl").exists()
    work.budget = Budget(None)
    report = _figures.make(work)
    heads = len(_heads.heads_of(_heads.config_of(GOLDEN)))
    cells = (tmp_path / "cells.jsonl").read_text(encoding="utf-8")
    assert cells.count('"figures/without/') == heads and cells.count('"figures/pruned/') == _heads.STEPS
    assert len(report.data["importance"]["costs"]) == heads and report.data["importance"]["pruning"][-1]["pruned"] == heads
    assert report.data["statistics"]["texts"] == 2 and report.data["permuted"]["head"].startswith("cross")
    page = report.html()
    assert f"… | {heads - 12} heads between these | …" in report.markdown()
    assert "Not measured yet" not in page and "not why the model answers" in page and page.count("<svg") >= 2
    again = Work(work.settings, Budget(0), Cells(tmp_path / "cells.jsonl"))
    assert _figures.make(again).html() == page
    again.settings.dry_run = True
    assert "## What would be measured\n\n- nothing\n" in _figures.make(again).markdown()


def test_figures_show_the_head_that_does_it():
    words = _sentences.DISTANCE.split()
    weights = np.full((2, 3, len(words), len(words)), 1 / len(words))
    weights[1, 2, words.index("making")] = 0
    weights[1, 2, words.index("making"), [words.index("more"), words.index("difficult")]] = 0.5
    plot, numbers = _sentences.figure3(_sentences.Sentence(words, weights))
    assert numbers == {"layer": 2, "head": 3, "weight": 1.0, "even": 2 / len(words)} and "<svg" in plot.svg
    words = _sentences.ANAPHORA.split()
    weights = np.full((1, 2, len(words), len(words)), 1 / len(words))
    weights[0, 1, words.index("its"), words.index("Law")] = 0.9
    plot, numbers = _sentences.figure4(_sentences.Sentence(words, weights))
    assert numbers["heads"][0] == {"layer": 1, "head": 2, "law": 0.9, "application": 1 / len(words)}


def test_a_model_is_needed(work):
    work.settings.model = None
    with pytest.raises(attend.UsageError, match="^figures needs --model.*runs/transformer-8-seed1/model' is missing: `attend paper table2 --rows transformer` makes it"):
        _figures.make(work)


def test_table2s_transformer_is_taken_where_no_model_is_named(work, tmp_path):
    work.settings.model = None
    (tmp_path / "runs/transformer-8-seed1").mkdir(parents=True)
    shutil.copytree(GOLDEN, tmp_path / "runs/transformer-8-seed1/model")
    assert _figures.model_of(work) == tmp_path / "runs/transformer-8-seed1/model"
    work.budget = Budget(0)
    report = _figures.make(work)
    assert "\nThe model is the Transformer of Table 2. It has " in report.markdown() and report.data["model"] == _figures.digest(GOLDEN)
    work.settings.model = GOLDEN
    assert _figures.model_of(work) == GOLDEN


def test_a_model_in_int8_is_refused_before_anything_is_measured(work, tmp_path):
    work.settings.model = tmp_path / "int8"
    attend.quantize(GOLDEN, work.settings.model)
    with pytest.raises(attend.InputError, match="int8' has weights of type I8, expected F32; name the model that it was quantized from"):
        _figures.make(work)
    assert not (tmp_path / "cells.jsonl").exists()
