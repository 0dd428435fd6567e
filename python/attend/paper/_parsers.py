"""What Table 4 measures: a parser by a treebank's recipe, a grammar of the same trees, and the parser again with its own trees of raw text.
All that takes long is kept under OUTPUT/runs and goes on where it stopped."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

from attend.paper import _pcfg, _treebanks
from attend.paper._cells import Result
from attend.paper._table4_rows import Bank
from attend.paper._work import RECIPES, Clock, Work, digest, json_lines, options_of

FIGURES = ("f1", "precision", "recall", "exact_match", "tagging_accuracy", "errors", "sentences")
RAW_SENTENCES = 20000  # that are parsed at most, at equal distances in the text
KEPT = 0.5  # share of them that trains: those whose trees the model finds likeliest, by symbol
SILVER_SHARE = 0.5  # own trees in an epoch, for each of the treebank
USUAL_BEAM, RAW_BEAM = 21, 4  # of a recipe that names none, as the paper's; and for raw text
CHUNK = 1000  # sentences that are parsed between two looks at the clock


def recipe(bank: Bank) -> pathlib.Path:
    return RECIPES / "parsing" / f"{bank.name}.toml"


def beam(bank: Bank) -> int:
    """That validation and test search with."""
    found: int = options_of(recipe(bank)).get("beam_size", USUAL_BEAM)
    return found


def settings(work: Work, bank: Bank) -> Result:
    """What decides a training."""
    return {"recipe": digest(recipe(bank)), "updates": work.settings.updates}


def silver_settings(work: Work, bank: Bank) -> Result:
    return settings(work, bank) | {
        "raw": list(bank.raw_texts), "sentences": RAW_SENTENCES, "kept": KEPT, "share": SILVER_SHARE, "beam": RAW_BEAM}


def older_silver_settings(work: Work, bank: Bank) -> Result:
    """Of cells of the raw text that the row had before."""
    return silver_settings(work, bank) | {"raw": list(bank.older_raw_texts)}


def grammar_settings(work: Work, bank: Bank) -> Result:  # noqa: ARG001
    return {"beam": _pcfg.BEAM, "rare": _pcfg.RARE, "parents": True}


def has_text(work: Work, bank: Bank) -> bool:
    return (work.settings.output / "text" / bank.name / "test.words").exists()  # it is written last


def raw_words(work: Work, name: str) -> pathlib.Path:
    return work.settings.output / "text" / f"{name}.words"


def check_files(work: Work, bank: Bank, ending: str = "") -> None:
    """Raises InputError where DATA lacks a file of which this row's text is yet to be made."""
    files = () if has_text(work, bank) else bank.files
    if ending == "-silver" and not all(raw_words(work, name).exists() for name in bank.raw_texts):
        files += bank.raw_files
    for name in files:
        work.text(name)


def texts(work: Work, bank: Bank) -> pathlib.Path:
    """The folder with the treebank's train.trees, valid.trees, test.trees and test.words, which it makes once."""
    folder = work.settings.output / "text" / bank.name
    if not has_text(work, bank):
        check_files(work, bank)
        work.say(f"makes the text of {bank.title}")
        _treebanks.write(bank.name, work.settings.data, folder)
    return folder


def scores(work: Work, found: pathlib.Path, expected: pathlib.Path) -> Result:
    """As evalb counts them: of all sentences, and of those of at most 40 words."""
    counts = work.attend("evaluate", "--metrics", "brackets", "--hypothesis", found, "--reference", expected)["brackets"]

    def of(part: Result) -> Result:
        return {name: part[name] for name in FIGURES} | {"errors": part["errors"] + part["skipped"]}

    return of(counts) | {"within_40": of(counts["within_40"])}


def train(work: Work, bank: Bank, folder: pathlib.Path, **more: Any) -> Result | None:
    """None where the budget ends before the training does."""
    text = texts(work, bank)
    usual: dict[str, Any] = {f"{part}_trees": text / f"{part}.trees" for part in ("train", "valid", "test")}
    if updates := work.settings.updates:
        usual |= {"max_updates": updates} | dict.fromkeys(("validate_every", "checkpoint_every"), max(1, updates // 2))
    seconds, finished = work.train(folder, config=recipe(bank), **usual | more)
    if not finished:
        return None
    return scores(work, folder / "test_output.txt", folder / "test_reference.txt") | {"minutes": seconds / 60} | work.origin(folder)


def run_of(work: Work, row: str) -> pathlib.Path:
    return work.settings.output / "runs" / f"{row}-{work.settings.updates or 'recipe'}"


def measure_parser(work: Work, bank: Bank) -> Result | None:
    return work.cell(f"table4/{bank.name}", settings(work, bank), lambda: train(work, bank, run_of(work, bank.name)), f"trains on {bank.title}")


def _count(path: pathlib.Path) -> int:
    """Whole lines; what is left of a program that was killed while it wrote goes."""
    data = path.read_bytes() if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        os.truncate(path, len(whole))
    return whole.count(b"\n")


def _extend(work: Work, output: pathlib.Path, lines: list[str], parse: Callable[[list[str]], Iterator[str]], chunk: int) -> bool:
    """Adds what is missing of `output`, a line for each of `lines`; False where the budget ends first."""
    output.parent.mkdir(parents=True, exist_ok=True)
    begin = _count(output)
    with output.open("a", encoding="utf-8") as file:
        while begin < len(lines) and work.budget.left() > 0:
            for line in parse(lines[begin : begin + chunk]):
                file.write(line + "\n")
                file.flush()
            begin += chunk
            work.say(f"{output.name}: {min(begin, len(lines)):,} of {len(lines):,} sentences")
    return begin >= len(lines)


_grammar: _pcfg.Grammar | None = None  # of a process that parses


def _learn(path: pathlib.Path) -> None:
    global _grammar  # noqa: PLW0603
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    _grammar = _pcfg.learn(_treebanks.simple_trees(path.read_text(encoding="utf-8")), parents=True)


def _parse(line: str) -> str:
    assert _grammar is not None
    return _pcfg.parse(line.split(), _grammar)


def grammar(work: Work, bank: Bank) -> Result | None:
    text = texts(work, bank)
    output = work.settings.output / "runs" / f"{bank.name}-pcfg-{_pcfg.BEAM:g}.trees"
    with multiprocessing.get_context("spawn").Pool(work.settings.threads or None, _learn, (text / "train.trees",)) as pool:
        lines = (text / "test.words").read_text(encoding="utf-8").splitlines()
        done = _extend(work, output, lines, lambda part: pool.imap(_parse, part, chunksize=4), chunk=200)
    return scores(work, output, text / "test.trees") if done else None


def measure_grammar(work: Work, bank: Bank) -> Result | None:
    return work.cell(f"table4/{bank.name}-pcfg", grammar_settings(work, bank), lambda: grammar(work, bank), f"parses the test of {bank.title} by a grammar")


def raw_sentences(work: Work, bank: Bank) -> list[str]:
    check_files(work, bank, "-silver")
    lines = []
    for name in bank.raw_texts:
        path = raw_words(work, name)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _treebanks.write_raw(name, work.settings.data, path)
        lines += path.read_text(encoding="utf-8").splitlines()
    count = min(RAW_SENTENCES, len(lines))
    return [lines[i * len(lines) // count] for i in range(count)]


def symbols(tree: Result) -> int:
    """What the decoder wrote: an opening and a closing one for each constituent, a tag for each word, and eos."""
    return 2 * len(tree["constituents"]) + len(tree["words"]) + 1


def parse_raw(work: Work, bank: Bank, folder: pathlib.Path) -> pathlib.Path | None:
    """A file with the model's trees of the raw text, an object of JSON each; None where the budget ends first."""
    part = folder / "part.words"

    def parse(lines: list[str]) -> Iterator[str]:
        part.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        yield from work.run("parse", "--model", run_of(work, bank.name) / "model", "--type", "int8", "--beam-size", RAW_BEAM, "--threads", work.settings.threads,
                            "--json", part).splitlines()

    found = folder / "parsed.jsonl"
    sentences = raw_sentences(work, bank)
    with clock_of(folder).running():
        done = _extend(work, found, sentences, parse, CHUNK)
    return found if done else None


def clock_of(folder: pathlib.Path) -> Clock:
    """The time that parsing took."""
    return Clock(folder / "parsed.seconds")


def write_silver(work: Work, bank: Bank, folder: pathlib.Path) -> int | None:
    """The model's trees of the raw text, those of KEPT that it finds likeliest, in order; returns how many."""
    silver = folder / "silver.trees"
    if silver.exists():
        return _count(silver)
    parsed = parse_raw(work, bank, folder)
    if parsed is None:
        return None
    trees = json_lines(parsed)
    sure = [tree["log_probability"] / symbols(tree) for tree in trees]
    best = sorted(range(len(trees)), key=lambda i: -sure[i])[: round(KEPT * len(trees))]
    kept = [trees[i]["tree"] for i in sorted(best)]
    _treebanks.write_lines(silver, kept)
    return len(kept)


def with_silver(work: Work, bank: Bank) -> Result | None:
    """Trained by the same recipe, as many updates, on the treebank and on own trees."""
    if not (run_of(work, bank.name) / "model").exists() and train(work, bank, run_of(work, bank.name)) is None:
        return None  # the parser's cell is known, and its run is gone
    folder = run_of(work, "-".join([bank.name, "silver", *bank.raw_texts]))
    own = folder.with_name(f"{folder.name}-trees")
    own.mkdir(parents=True, exist_ok=True)
    count = write_silver(work, bank, own)
    if count is None:
        return None
    gold = texts(work, bank) / "train.trees"
    weight = SILVER_SHARE * _count(gold) / count
    found = train(work, bank, folder, train_trees=[gold, own / "silver.trees"], train_weights=[1.0, round(weight, 4)])
    return None if found is None else found | {"silver": count, "weight": round(weight, 4), "parsing_minutes": clock_of(own).seconds / 60}


def measure_silver(work: Work, bank: Bank) -> Result | None:
    if measure_parser(work, bank) is None:
        return None
    return work.cell(f"table4/{bank.name}-silver", silver_settings(work, bank), lambda: with_silver(work, bank),
                     f"trains on {bank.title} and on own trees of raw text")
