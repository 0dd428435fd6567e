"""attend paper table4: treebanks, raw text, the grammar, and the page; small ones of the same formats."""

import gzip
import itertools
import json
import lzma
import math
import pathlib
import random
import resource
import subprocess
import sys

import pytest
from package import ENVIRONMENT, PROGRAM

pytest.importorskip("matplotlib")
import attend  # noqa: E402
from attend.paper import _parsers, _pcfg, _table4, _table4_rows, _treebanks  # noqa: E402
from attend.paper._cells import Cells  # noqa: E402
from attend.paper._work import Budget, Settings, Work  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
ICEPAHC = """( (IP-MAT (NP-SBJ (NS-N tungur$-tunga) (D-N $nar-hinn) (CODE <dash/>) (NP-PRN *ICH*-2))
  (" "-") (C 0) (, ---) (. <dash/>-<dash/>)) (ID 1150.FIRSTGRAMMAR.SCI-LIN,.%d))

( (META (CODE <heading>) (N-N a-a)) (ID 1150.FIRSTGRAMMAR.SCI-LIN,.3))
( (CODE *EXM*) (CP-QUE (N-A m-%d-m)) (ID 1150.X.Y-Z,.%d))
( (IP-MAT (N-N x-x)) (CODE {COM:no number}))
"""
WIKITEXT = """ \n = Heading . = \n
 He said " I don 't know . " Then the 17 @-@ year @-@ old man paid $ 1 @,@ 000 . No 2 @.@ 5 things <unk> here . It was . it was so . and not
"""


def noun(numbers):
    return f"(NP-SBJ (DT the) (NN {numbers.choice(['cat', 'dog', 'bird'])}))"


def tree(numbers):
    return f"( (S {noun(numbers)} (VP (VBZ sees) {noun(numbers)} (NP (-NONE- *))) (. .)) )"


@pytest.fixture(name="data")
def small_corpora(tmp_path):
    numbers = random.Random(1)
    data = tmp_path / "data"
    for name in ("treebank/combined", "craft-treebank", "icepahc", "lm"):
        (data / name).mkdir(parents=True)
    for part, count in (("train", 60), ("dev", 8), ("test", 8)):
        text = "".join(tree(numbers) + "\n" for _ in range(count))
        (data / f"treebank/{part}.list").write_text(f"combined/{part}.mrg\n", encoding="utf-8")
        (data / f"treebank/combined/{part}.mrg").write_text(text.replace(" (VP", "\n  (VP"), encoding="utf-8")
        with gzip.open(data / f"craft-treebank/{part}.mrg.gz", "wt", encoding="utf-8") as file:
            file.write(text)
    with lzma.open(data / "icepahc/finished.psd.xz", "wt", encoding="utf-8") as file:
        file.write("\n".join(ICEPAHC % (i, i + 1, i + 1) for i in range(100)))
    with gzip.open(data / "lm/wikitext2.train.txt.gz", "wt", encoding="utf-8") as file:
        file.write(" the cat sees the dog . The bird sees the bird . \n" * 20)
    return data


@pytest.fixture(name="work")
def work_in_a_folder(tmp_path, data):
    settings = Settings(
        data=data, output=tmp_path / "out", threads=1, rows=[], updates=4, copy_updates=4, row_minutes=12, price=0.5, dry_run=False, quiet=True)
    settings.output.mkdir()
    return Work(settings, Budget(None), Cells(settings.output / "cells.jsonl"))


def test_icepahc_becomes_penn_trees_by_the_last_digit(data, tmp_path):
    _treebanks.write("icepahc", data, tmp_path / "text")
    lines = {part: (tmp_path / f"text/{part}.trees").read_text(encoding="utf-8").splitlines() for part in ("train", "valid", "test")}
    assert {part: len(found) for part, found in lines.items()} == {"train": 160, "valid": 20, "test": 20}
    first = "(IP-MAT (NP-SBJ (NS-N tungur$) (D-N $nar) (NP-PRN (-NONE- *ICH*-2))) ('' \") (C (-NONE- 0)) (, -) (. –))"
    for part, digits in (("train", "01234567"), ("valid", "8"), ("test", "9")):
        assert first in lines[part]
        assert {line[-3] for line in lines[part] if line != first} == set(digits)
    assert lines["test"][0] == "(CP-QUE (N-A m-9))"
    assert (tmp_path / "text/test.words").read_text(encoding="utf-8").splitlines()[:3] == ["m-9", 'tungur$ $nar " - –', "m-19"]


def test_long_trees_are_left_out_of_training_alone(data, tmp_path, monkeypatch):
    monkeypatch.setattr(_treebanks, "LONGEST", 3)
    _treebanks.write("icepahc", data, tmp_path)
    assert {part: len((tmp_path / f"{part}.trees").read_text(encoding="utf-8").splitlines()) for part in ("train", "valid", "test")} == {
        "train": 80, "valid": 20, "test": 20}


def test_raw_text_is_divided_as_the_treebank_is(data, tmp_path):
    with gzip.open(data / "lm/wikitext2.train.txt.gz", "wt", encoding="utf-8") as file:
        file.write(WIKITEXT)
    _treebanks.write_raw("wikitext2", data, tmp_path / "raw")
    assert (tmp_path / "raw").read_text(encoding="utf-8").splitlines() == [
        "He said `` I do n't know . ''", "Then the 17-year-old man paid $ 1,000 ."]  # what does not end, and what is short, goes
    _treebanks.write_raw("craft-dev", data, tmp_path / "raw")
    assert (tmp_path / "raw").read_text(encoding="utf-8").count(" sees the ") == 8


def test_raw_text_has_the_treebanks_dash(data, tmp_path):
    with gzip.open(data / "lm/wikitext2.train.txt.gz", "wt", encoding="utf-8") as file:
        file.write(" He won — as in 1990 – 95 – by 3 – 1 – twice — .\n It — and – all – 5 of A–B – 5 — 6 .\n")
    found = {}
    for name in ("wikitext2", "wikitext2-penn"):
        _treebanks.write_raw(name, data, tmp_path / name)
        found[name] = (tmp_path / name).read_text(encoding="utf-8")
    assert found["wikitext2-penn"] == "He won -- as in 1990 – 95 -- by 3 – 1 -- twice -- .\nIt -- and -- all -- 5 of A–B -- 5 -- 6 .\n"
    assert found["wikitext2"] == "He won — as in 1990 – 95 – by 3 – 1 – twice — .\nIt — and – all – 5 of A–B – 5 — 6 .\n"


def test_a_text_on_a_full_disk_is_not_taken_for_a_whole_one(work):
    bank = _table4_rows.BANKS[0]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for make in (lambda: _parsers.texts(work, bank), lambda: _parsers.raw_sentences(work, bank)):
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                make()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len((_parsers.texts(work, bank) / "train.trees").read_text(encoding="utf-8").splitlines()) == 60
    assert len(_parsers.raw_sentences(work, bank)) == 40


def test_what_is_no_file_gets_the_lines():
    script = ROOT / "recipes/parsing/trees.py"
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(script.parents[2] / 'python/attend/paper')!r}); import _treebanks, pathlib; "
                           "_treebanks.write_lines(pathlib.Path('/dev/stdout'), ['a', 'b'])"], capture_output=True, text=True, check=True)
    assert done.stdout == "a\nb\n"


@pytest.mark.parametrize(("script", "arguments", "status", "words"), [
    ("recipes/parsing/trees.py", [], 2, "the following arguments are required: name, DATA, OUTPUT"),
    ("recipes/parsing/trees.py", ["tree", "/nowhere", "out"], 2, "invalid choice: 'tree' (choose from"),
    ("recipes/parsing/trees.py", ["icepahc", "/nowhere", "out"], 1, "trees.py: '/nowhere/icepahc/finished.psd.xz': No such file or directory"),
    ("recipes/text_to_text/pairs.py", [], 2, "the following arguments are required: name, DATA, DIRECTORY"),
    ("recipes/text_to_text/pairs.py", ["cog", "/nowhere", "out"], 2, "invalid choice: 'cog' (choose from"),
    ("recipes/text_to_text/pairs.py", ["cogs", "/nowhere", "out"], 1, "pairs.py: '/nowhere/scan-cogs/cogs_train.tsv.gz': No such file or directory"),
    ("bench/parsing_pcfg.py", [], 2, "the following arguments are required: TREES, SENTENCES"),
    ("bench/parsing_pcfg.py", ["/nowhere/trees", "/dev/null"], 1, "parsing_pcfg.py: '/nowhere/trees': No such file or directory"),
    ("bench/parsing_pcfg.py", ["/dev/null", "/dev/null"], 1, "parsing_pcfg.py: '/dev/null' has no tree; expected bracketed ones"),
])
def test_scripts_say_what_they_miss(tmp_path, script, arguments, status, words):
    done = subprocess.run([sys.executable, ROOT / script, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status and words in done.stderr.splitlines()[-1] and not list(tmp_path.iterdir()), done.stderr
    shown = subprocess.run([sys.executable, ROOT / script, "--help"], capture_output=True, text=True, check=True).stdout
    assert f"example: {script} " in shown


def test_the_grammars_script_takes_its_option_anywhere_and_empty_lines(tmp_path):
    (tmp_path / "trees").write_text("(S (N a) (V b))\n", encoding="utf-8")
    (tmp_path / "words").write_text("a b\n\na b\n", encoding="utf-8")
    done = subprocess.run([sys.executable, ROOT / "bench/parsing_pcfg.py", "trees", "--parents", "words"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "(S (N a) (V b))\n\n(S (N a) (V b))\n"


def probability(node, rules, parent=""):
    """Of a tree, by the counted rules; with parents' labels and one sibling's in binary ones."""
    label, *children = node
    if isinstance(children[0], str):
        return rules["words"][label, children[0]]
    name, parts = f"{label}^{parent}", [child[0] if isinstance(child[1], str) else f"{child[0]}^{label}" for child in children]
    found = math.prod(probability(child, rules, label) for child in children)
    while len(parts) > 2:
        rest = f"{name.split('|')[0]}|{parts[0].split('^')[0]}"
        found *= rules[name, parts[0], rest]
        name, parts = rest, parts[1:]
    return found * rules[(name, *parts)]


def trees_over(words, labels, tags):
    """Every tree with these labels, tags and two or three children, or one above a word; chains of labels have no loops."""
    if len(words) == 1:
        yield from ([tag, words[0]] for tag in tags)
        yield from ([label, [tag, words[0]]] for label in labels for tag in tags)
        return
    count = len(words)
    cuts = [*((i,) for i in range(1, count)), *itertools.combinations(range(1, count), 2)]
    for cut in cuts:
        edges = [0, *cut, count]
        for children in itertools.product(*([*trees_over(words[a:b], labels, tags)] for a, b in itertools.pairwise(edges))):
            yield from ([label, *children] for label in labels)


def test_the_grammar_finds_the_likeliest_tree(monkeypatch):
    """Against all trees, each by the product of its rules' shares."""
    monkeypatch.setattr(_pcfg, "BEAM", math.inf)
    monkeypatch.setattr(_pcfg, "RARE", 0)
    lines = ["(S (N a) (V b))", "(S (NP (N a) (N a)) (V b))", "(S (NP (N a)) (V b) (NP (N a) (N b)))", "(NP (NP (N b)) (S (N a) (V a)))", "(S (NP (N a)) (V b) (N a))"]
    grammar = _pcfg.learn(_treebanks.simple_trees(" ".join(lines)), parents=True)

    class Shares(dict):
        def __missing__(self, key):
            return 0.0

    rules = Shares(words=Shares())
    for right, made in grammar.unary.items():
        rules.update({(left, right): math.exp(score) for left, score in made})
    for left_child, others in grammar.binary.items():
        rules.update({(left, left_child, other): math.exp(score) for other, made in others.items() for left, score in made})
    for word, tags in grammar.emissions.items():
        rules["words"].update({(tag, word): math.exp(score) for tag, score in tags.items()})
    assert rules["S^", "N", "V"] == pytest.approx(1 / 4) and rules["S^", "NP^S", "S^|NP"] == pytest.approx(1 / 2)
    assert rules["words"]["N", "a"] == pytest.approx(8 / 10)
    for words in (["a", "b"], ["a", "a", "b"], ["b", "a", "a"], ["a", "b", "a", "b"]):
        best = max(((probability(each, rules) * math.exp(grammar.roots.get(f"{each[0]}^", -math.inf)), each)
                    for each in trees_over(words, ["S", "NP"], ["N", "V"])), key=lambda pair: pair[0])
        found, = _treebanks.simple_trees(_pcfg.parse(words, grammar))
        assert probability(found, rules) * math.exp(grammar.roots[f"{found[0]}^"]) == pytest.approx(best[0]) and best[0] > 0


def test_the_grammar_knows_unknown_words_by_their_shape_and_always_answers():
    trees = "(S (NP (NNS dogs)) (VP (VBD barked)))( (S (NP-SBJ (NNS cats) (-NONE- *)) (VP (VBD sat))) )"
    grammar = _pcfg.learn(_treebanks.simple_trees(trees), parents=True)
    assert _pcfg.parse(["birds", "mewed"], grammar) == "(S (NP (NNS birds)) (VP (VBD mewed)))"
    assert _pcfg.parse(["sat", "sat", "sat"], grammar) == "(S (VBD sat) (VBD sat) (VBD sat))"


def test_the_grammar_keeps_what_tags_say_of_case():
    trees = "(IP-MAT (NP-SBJ (N-N hundur)) (VBDI beit) (NP-OB1 (N-A kött)))(IP-MAT (NP-SBJ (N-N kona)) (VBDI svaf))"
    grammar = _pcfg.learn(_treebanks.simple_trees(trees), parents=True)
    assert _pcfg.parse(["kona", "beit", "kött"], grammar) == "(IP (NP (N-N kona)) (VBDI beit) (NP (N-A kött)))"


def test_the_script_parses_as_the_table_does(work):
    bank = _table4_rows.BANKS[0]
    result = _parsers.measure_grammar(work, bank)
    assert result["f1"] == 100 and result["sentences"] == 8 and result["within_40"]["sentences"] == 8
    text = work.settings.output / "text/treebank"
    done = subprocess.run([sys.executable, ROOT / "bench/parsing_pcfg.py", text / "train.trees", text / "test.words", "--parents"], capture_output=True, text=True, check=True)
    assert done.stdout == (work.settings.output / "runs/treebank-pcfg-6.trees").read_text(encoding="utf-8")


def test_what_was_parsed_is_kept(work, monkeypatch):
    bank = _table4_rows.BANKS[0]
    whole = _parsers.measure_grammar(work, bank)
    path = work.settings.output / "runs/treebank-pcfg-6.trees"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:3], lines[3][:9]]), encoding="utf-8")  # killed while it wrote
    asked = []
    monkeypatch.setattr(_parsers, "_parse", lambda line: asked.append(line))
    assert not _parsers._extend(Work(work.settings, Budget(0), work.cells), path, lines, iter, 2)
    assert _parsers._extend(work, path, lines, iter, 2)
    assert path.read_text(encoding="utf-8").splitlines() == lines and whole is not None


def test_every_row_is_measured_and_goes_on(work, monkeypatch):
    """A model of four updates, whose trees are what they may be."""
    monkeypatch.setattr(_parsers, "RAW_SENTENCES", 30)
    monkeypatch.setattr(_parsers, "CHUNK", 20)
    for bank in _table4_rows.BANKS:
        recipe = work.settings.output / f"{bank.name}.toml"
        text = _parsers.recipe(bank).read_text(encoding="utf-8")
        recipe.write_text(text.replace("encoder.layers = 4", "encoder.layers = 1").replace("vocab_type = \"unigram\"", "vocab_type = \"char\""), encoding="utf-8")
    monkeypatch.setattr(_parsers, "recipe", lambda bank: work.settings.output / f"{bank.name}.toml")
    report = _table4.make(work)
    rows = {row["row"]: row["result"] for row in report.data["rows"]}
    assert list(rows) == _table4_rows.ROWS and all(0 <= result["f1"] <= 100 for result in rows.values())
    assert rows["treebank-silver"]["silver"] == 15 and rows["treebank-silver"]["weight"] == pytest.approx(0.5 * 60 / 15)
    assert rows["treebank"]["parameters"] > 0 and rows["craft-pcfg"]["f1"] == 100
    own = work.settings.output / "runs/treebank-silver-wikitext2-penn-4-trees"
    parsed = list(map(json.loads, (own / "parsed.jsonl").read_text(encoding="utf-8").splitlines()))
    kept = (own / "silver.trees").read_text(encoding="utf-8").splitlines()
    sure = {each["tree"]: each["log_probability"] / (each["tree"].count("(") * 2 - len(each["words"]) + 1) for each in parsed}
    assert len(parsed) == 30 and min(sure[tree] for tree in kept) >= sorted(sure[each["tree"]] for each in parsed)[15]
    assert [each["treebank"] for each in report.data["gains"]] == ["treebank", "craft"]
    page = report.html()
    assert "Beams are Penn Treebank sample 21, CRAFT and IcePaHC 4; the paper's is 21." in page
    assert page.count("<svg") == 1 and "8 of 8 rows are measured" in page and "91.3" in page and "These trainings have 4 updates" in page
    options = json.loads(next((work.settings.output / "runs/treebank-silver-wikitext2-penn-4/checkpoints").glob("update-*/state.json")).read_text(encoding="utf-8"))["run"]["options"]
    assert options["train_weights"] == [1, 2] and options["max_updates"] == 4
    again = Work(work.settings, Budget(0), Cells(work.settings.output / "cells.jsonl"))
    assert _table4.make(again).html() == page
    minutes = rows["treebank-silver"]
    assert minutes["parsing_minutes"] == pytest.approx(float((own / "parsed.seconds").read_text(encoding="utf-8")) / 60, abs=0.001) and minutes["parsing_minutes"] > 0
    assert f"<td>{minutes['minutes']:.0f}\u00a0+\u00a0{minutes['parsing_minutes']:.0f}</td>" in page


def test_a_parser_whose_run_is_gone_is_trained_again_for_raw_text(work, monkeypatch):
    bank = _table4_rows.BANKS[0]
    work.cells.add("table4/treebank", _parsers.settings(work, bank), {"f1": 70.0})
    trained = []
    monkeypatch.setattr(_parsers, "train", lambda _, __, folder, **___: trained.append(folder.name) or {"f1": 71.0})
    monkeypatch.setattr(_parsers, "write_silver", lambda *_: 15)
    assert _parsers.measure_silver(work, bank)["silver"] == 15
    assert trained == ["treebank-4", "treebank-silver-wikitext2-penn-4"]
    (work.settings.output / "runs/treebank-4/model").mkdir(parents=True)
    assert _parsers.with_silver(work, bank)["f1"] == 71 and trained[2:] == ["treebank-silver-wikitext2-penn-4"]


def test_an_older_cell_of_own_trees_is_shown_and_said(work):
    """Of raw text with other dashes."""
    bank = _table4_rows.BANKS[0]
    figures = dict.fromkeys(_parsers.FIGURES, 70.0)
    result = figures | {"within_40": figures, "minutes": 25.5, "parameters": 9, "silver": 10000, "weight": 0.17}
    work.cells.add("table4/treebank-silver", _parsers.settings(work, bank) | {
        "raw": ["wikitext2"], "sentences": _parsers.RAW_SENTENCES, "kept": 0.5, "share": 0.5, "beam": 4}, result)
    work.budget, work.settings.dry_run = Budget(0), True
    text = _table4.make(work).markdown()
    assert "| Penn Treebank sample | semi-supervised | 70.00 |" in text and "| 9 | 26 |" in text
    assert "The semi-supervised row of Penn Treebank sample was measured before raw text had the treebank's dash" in text
    assert "- treebank-silver: attend parse over up to 20,000 sentences of wikitext2-penn, and the same training" in text
    work.cells.add("table4/treebank-silver", _parsers.silver_settings(work, bank), result | {"parsing_minutes": 14.2})
    text = _table4.make(work).markdown()
    assert "| 9 | 26\u00a0+\u00a014 |" in text and "was measured before" not in text and "- treebank-silver: " not in text


def test_nothing_is_measured_without_time_or_text(work):
    work.budget = Budget(0)
    text = _table4.make(work).markdown()
    assert "0 of 8 rows are measured" in text and "Not measured yet." in text and "| Transformer (4 layers) | semi-supervised | 92.7 |" in text.replace("**", "")
    work.budget, work.settings.rows, work.settings.data = Budget(None), ["icepahc-pcfg"], work.settings.output
    with pytest.raises(attend.InputError, match="finished.psd.xz' is missing"):
        _table4.make(work)
    work.settings.rows = ["treebank-lstm"]
    with pytest.raises(attend.ConfigurationError, match="--rows has 'treebank-lstm', expected some of treebank, treebank-pcfg, treebank-silver"):
        _table4.make(work)


@pytest.mark.parametrize(("gone", "rows"), [
    ("icepahc/finished.psd.xz", ["treebank", "icepahc"]), ("lm/wikitext2.train.txt.gz", ["treebank-silver"]), ("craft-treebank/dev.mrg.gz", ["treebank", "craft-pcfg"])])
def test_all_corpora_are_there_before_anything_is_measured(work, data, monkeypatch, gone, rows):
    measured = []
    monkeypatch.setattr(_table4, "MEASURES", {ending: lambda _, bank, ending=ending: measured.append(bank.name + ending) for ending in _table4.KINDS})
    (data / gone).unlink()
    work.settings.rows = rows
    with pytest.raises(attend.InputError, match=f"{gone}' is missing"):
        _table4.make(work)
    assert not measured
    work.settings.dry_run = True  # what measures nothing needs no files
    assert "## What would be measured" in _table4.make(work).markdown()


def test_a_row_that_is_measured_needs_no_corpus(work, data):
    bank = _table4_rows.BANKS[2]
    figures = dict.fromkeys(_parsers.FIGURES, 70.0)
    work.cells.add("table4/icepahc", _parsers.settings(work, bank), figures | {"within_40": figures, "minutes": 1.0})
    (data / bank.files[0]).unlink()
    work.settings.rows = ["icepahc"]
    assert "1 of 8 rows are measured" in _table4.make(work).markdown()


def test_a_row_whose_text_is_made_needs_no_corpus(work, data):
    bank = _table4_rows.BANKS[2]
    _parsers.texts(work, bank)
    (data / bank.files[0]).unlink()
    _parsers.check_files(work, bank, "")
    assert _parsers.texts(work, bank) == work.settings.output / "text/icepahc"


def test_the_main_table_fits_a_page():
    """A page of 1,060 pixels holds some 125 characters."""
    figures = dict.fromkeys(("f1", "precision", "recall", "exact_match"), 73.94)
    result = figures | {"within_40": figures, "errors": 272, "sentences": 9099, "parameters": 4463936, "minutes": 123.4, "parsing_minutes": 124.1}
    table = _table4.main_table([_table4.Outcome(bank, row.removeprefix(bank.name), result) for bank in _table4_rows.BANKS for row in bank.rows])
    assert max(map(len, table.plain().splitlines())) <= 125 and "272\u00a0of\u00a09,099" in table.plain()


def test_relative_folders_are_of_the_command(data, tmp_path):
    """Where the environment names another folder for relative paths, too."""
    command = [PROGRAM, "paper", "table4", "--output", "out", "--data-dir", "data", "--rows", "treebank-pcfg", "--threads", "1", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=ENVIRONMENT | {"ATTEND_DATA": str(tmp_path / "elsewhere")})
    assert done.returncode == 0, done.stderr
    assert "| Penn Treebank sample | PCFG | 100.00 |" in (tmp_path / "out/table4.md").read_text(encoding="utf-8")


def test_the_command_says_what_it_would_do(tmp_path):
    done = subprocess.run([PROGRAM, "paper", "table4", "--output", tmp_path / "out", "--dry-run", "--rows", "craft-silver"], capture_output=True, text=True,
                          check=False, env=ENVIRONMENT)
    assert done.returncode == 0 and "- craft-silver: attend parse over up to 20,000 sentences of wikitext2 and craft-dev" in done.stdout, done.stderr
    assert "- craft: attend train --config recipes/parsing/craft.toml, the updates of the recipe\n" in done.stdout
    assert "treebank-pcfg: " not in done.stdout and not (tmp_path / "out").exists()
