"""Table 4: constituency parsing, section 6.3, on treebanks that are free, with a grammar beside each parser."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from attend.paper import _parsers
from attend.paper._cells import Result
from attend.paper._pcfg import BEAM, RARE
from attend._plots import COLOURS, drawing
from attend._report import MISSING, Heading, Plot, Points, Report, Table, Text
from attend.paper._table4_rows import BANKS, PAPER, ROWS, WSJ, Bank
from attend.paper._treebanks import LONGEST, LONGEST_RAW, SHORTEST_RAW
from attend.paper._work import Work, origin_notes

KINDS = {"": "Transformer", "-pcfg": "PCFG", "-silver": "semi-supervised"}
MEASURES = {"": _parsers.measure_parser, "-pcfg": _parsers.measure_grammar, "-silver": _parsers.measure_silver}
SETTINGS = {"": _parsers.settings, "-pcfg": _parsers.grammar_settings, "-silver": _parsers.silver_settings}


@dataclass
class Outcome:
    bank: Bank
    ending: str  # of KINDS
    result: Result | None
    old: bool = False  # measured on the raw text that the row had before

    @property
    def row(self) -> str:
        return self.bank.name + self.ending


def measured(work: Work) -> list[Outcome]:
    """Measures what was asked for; what was measured before counts, too."""
    order = [(bank, ending) for ending in KINDS for bank in BANKS if bank.name + ending in bank.rows]  # the dearest ones last
    chosen = [(bank, ending) for bank, ending in order if work.chosen(bank.name + ending)]
    if not work.settings.dry_run and work.budget.left() > 0:  # before a training of an hour ends in an error of the next row
        for bank, ending in chosen:
            if work.cells.find(f"table4/{bank.name}{ending}", SETTINGS[ending](work, bank)) is None:
                _parsers.check_files(work, bank, ending)
    for bank, ending in chosen:
        MEASURES[ending](work, bank)
    return [outcome(work, bank, row.removeprefix(bank.name)) for bank in BANKS for row in bank.rows]


def outcome(work: Work, bank: Bank, ending: str) -> Outcome:
    name = f"table4/{bank.name}{ending}"
    result = work.cells.find(name, SETTINGS[ending](work, bank))
    if result is None and ending == "-silver":
        older = work.cells.find(name, _parsers.older_silver_settings(work, bank))
        return Outcome(bank, ending, older, old=older is not None)
    return Outcome(bank, ending, result)


def minutes_text(result: Result) -> str:
    """Of the training and, where it is known, of parsing raw text."""
    if "minutes" not in result:
        return MISSING
    return f"{result['minutes']:.0f}" + (f"\u00a0+\u00a0{result['parsing_minutes']:.0f}" if "parsing_minutes" in result else "")


def main_table(outcomes: list[Outcome]) -> Table:
    rows = []
    for each in outcomes:
        result = each.result
        cells = [MISSING] * 8
        if result is not None:
            cells = [f"{result['f1']:.2f}", f"{result['within_40']['f1']:.2f}", f"{result['precision']:.2f}", f"{result['recall']:.2f}", f"{result['exact_match']:.2f}",
                     f"{result['errors']:,}\u00a0of\u00a0{result['sentences']:,}", f"{result['parameters']:,}" if "parameters" in result else MISSING,
                     minutes_text(result)]
        rows.append([each.bank.title, KINDS[each.ending], *cells])
    return Table(["treebank", "parser", "F1", "≤ 40 words", "precision", "recall", "exact match", "errors", "parameters", "minutes"], rows,
                 words=(0, 1), strong=tuple(i for i, each in enumerate(outcomes) if not each.ending))


def paper_table() -> Table:
    return Table(["parser", "trained on", "F1"], [[parser, training, f"{f1:.1f}"] for parser, training, f1 in PAPER], words=(0, 1),
                 strong=tuple(i for i, (parser, _, _) in enumerate(PAPER) if parser.startswith("Transformer")))


def gains(outcomes: list[Outcome]) -> list[Result]:
    """Of own trees over the same recipe and as many updates without them, in points of F1."""
    of_row = {each.row: each for each in outcomes if each.result is not None}
    found = []
    for bank in BANKS:
        base, more = of_row.get(bank.name), of_row.get(f"{bank.name}-silver")
        if base is not None and more is not None and base.result is not None and more.result is not None:
            found.append({"treebank": bank.name, "title": bank.title, "without": base.result["f1"], "with": more.result["f1"],
                          "gain": round(more.result["f1"] - base.result["f1"], 2), "trees": more.result["silver"], "weight": more.result["weight"]})
    return found


def gain_texts(found: list[Result]) -> list[Text]:
    if not found:
        return [Text("Not measured yet.")]
    return [Text(f"{each['title']}: {each['with']:.2f} F1 with {each['trees']:,} own trees at weight {each['weight']:g}, {each['without']:.2f} without: "
                 f"{each['gain']:+.2f}.") for each in found] + [Text("The paper gains 1.4 points (91.3 to 92.7) from 17 million sentences.")]


def short(parser: str, training: str) -> str:
    """ "Vinyals 2014" of "Vinyals et al. (2014)"."""
    name = re.sub(r" (et al\.|and \w+|\(4 layers\))|[()]", "", parser)
    return name if training == WSJ else f"{name}, {training}"


def write_values(axis: Any, places: list[float], values: list[float]) -> None:
    for place, value in zip(places, values, strict=True):
        axis.text(value - 1, place, f"{value:.1f}", va="center", ha="right", fontsize=8, color="white")


def plot(outcomes: list[Outcome]) -> Plot:
    with drawing(2, 4.4) as (result, axes):
        places, values = [float(i) for i in range(len(PAPER))], [f1 for _, _, f1 in PAPER]
        axes[0].barh(places, values, color=[COLOURS[0] if parser.startswith("Transformer") else "#8795a6" for parser, _, _ in PAPER])
        axes[0].set_yticks(places, [short(parser, training) for parser, training, _ in PAPER])
        axes[0].set_title("the paper: section 23 of WSJ")
        write_values(axes[0], places, values)
        for kind, (ending, colour) in enumerate(zip(KINDS, COLOURS, strict=False)):
            found = [(BANKS.index(each.bank) + 0.26 * (kind - 1), each.result["f1"]) for each in outcomes if each.ending == ending and each.result is not None]
            axes[1].barh([place for place, _ in found], [f1 for _, f1 in found], height=0.24, color=colour, label=KINDS[ending])
            write_values(axes[1], [place for place, _ in found], [f1 for _, f1 in found])
        axes[1].set_yticks(range(len(BANKS)), [bank.title for bank in BANKS])
        axes[1].set_ylim(-0.5, len(BANKS) - 0.5)  # also where rows lack
        axes[1].set_title("here: the test of each treebank")
        axes[1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3, fontsize=8)
        for axis in axes:
            axis.set_xlim(0, 100)
            axis.invert_yaxis()
            axis.grid(visible=False, axis="y")
    return Plot(result.svg, "F1 of labelled brackets, all lengths. The two sides have other texts and other sizes of training: they compare parsers within a side.")


def plan(work: Work, outcomes: list[Outcome]) -> list[str]:
    """What would be measured now."""
    updates = f"{work.settings.updates:,} updates" if work.settings.updates else "the updates of the recipe"
    what = {"": f"attend train --config recipes/parsing/{{0}}.toml, {updates}", "-pcfg": "a grammar of the training trees, and CKY over the test",
            "-silver": f"attend parse over up to {_parsers.RAW_SENTENCES:,} sentences of {{1}}, and the same training with those trees"}
    chosen = {each.row for each in outcomes if work.chosen(each.row)}
    chosen |= {row.removesuffix("-silver") for row in chosen}  # whose parser parses the raw text
    return [f"{each.row}: {what[each.ending].format(each.bank.name, ' and '.join(each.bank.raw_texts))}" for each in outcomes
            if (each.result is None or each.old) and each.row in chosen]


def beams() -> str:
    """Which treebanks are searched with which beam."""
    titles: dict[int, list[str]] = {}
    for bank in BANKS:
        titles.setdefault(_parsers.beam(bank), []).append(bank.title)
    return ", ".join(f"{' and '.join(found)} {beam}" for beam, found in titles.items())


def older_text(outcomes: list[Outcome]) -> list[str]:
    """A note on rows of the raw text as it was before."""
    titles = [each.bank.title for each in outcomes if each.old]
    return [f"The semi-supervised row of {' and '.join(titles)} was measured before raw text had the treebank's dash: on WikiText's dashes, "
            "– and —."] if titles else []


def notes(outcomes: list[Outcome]) -> list[str]:
    return [
        "F1 is of labelled brackets as evalb counts them with COLLINS.prm, over all sentences of the test. Errors are sentences that do not count: after "
        "punctuation is left out, their words differ from the reference's, because a word got another kind of tag.",
        "The treebanks are smaller than the paper's WSJ (40,000 trees, 950,000 words), but for IcePaHC: the Penn Treebank's sample has 3,396 trees of 81,793 words, CRAFT "
        "18,951 of 493,365 and IcePaHC some 58,000 of 810,000. Splits: WSJ files 1 to 159, 160 to 179 and 180 to 199; CRAFT's own; IcePaHC's by the last "
        f"digit of a tree's number, 8 to validate and 9 to test. Training leaves out trees of IcePaHC with more than {LONGEST} words; tests have all lengths.",
        "The parsers have 4 + 3 layers, 192 wide. They are trained on the trees alone, with tags, from nothing else, as `recipes/parsing` says. Their search "
        f"keeps within well-formed trees over the words: no output is anything else. Beams are {beams()}; the paper's is 21. The length penalty is the paper's, 0.3.",
        f"The PCFG is read off the same training trees, with the parent's label on each constituent and one sibling to the left where it is made binary (Klein and Manning "
        f"2003). Words seen less than {RARE} times lend their tags to unknown words of the same shape. CKY drops labels of a cell that are e^{BEAM:g} times less likely than "
        "its best.",
        f"Semi-supervised: the trained parser, in int8 with a beam of {_parsers.RAW_BEAM}, parses up to {_parsers.RAW_SENTENCES:,} sentences of raw text. They have "
        f"{SHORTEST_RAW} to {LONGEST_RAW} words and are taken at equal distances. The text is WikiText-2 without sentences that have unknown words. For the Penn "
        "Treebank sample its dashes (– and —) become the treebank's, `--`, but for – between two numbers. For CRAFT, which has these dashes, the sentences of its dev part are added, "
        "without their trees. "
        f"The {100 * _parsers.KEPT:g} % with the highest log-probability for each symbol are added to the treebank. In an epoch they are "
        f"{_parsers.SILVER_SHARE:g} times as many as the treebank's trees. Recipe and updates are the same, so own trees take updates from the others. The vocabulary is not: such a "
        "training makes one of its own, from the words of the treebank and of all own trees. CRAFT's checkpoints are chosen on its dev part, whose text, not trees, such a training has seen.",
        *older_text(outcomes),
        "Minutes are of the training with its validations and its test, and depend on the machine and on what else runs there. Of a semi-supervised parser they leave out the training of "
        "the parser that parses the raw text. The time of that parsing stands behind a plus sign, where it is known.",
        *origin_notes((f"{each.bank.title} ({KINDS[each.ending]})", each.result) for each in outcomes)]


def make(work: Work) -> Report:
    work.check_rows(ROWS)
    outcomes = measured(work)
    found = gains(outcomes)
    data = {"paper": [{"parser": parser, "training": training, "f1": f1} for parser, training, f1 in PAPER],
            "rows": [{"row": each.row, "treebank": each.bank.title, "parser": KINDS[each.ending], "result": each.result} for each in outcomes],
            "gains": found, "updates": work.settings.updates, "notes": notes(outcomes)}
    count = sum(each.result is not None for each in outcomes)
    report = Report("Table 4: constituency parsing", data)
    fewer = [Text(f"These trainings have {work.settings.updates:,} updates, not those of the recipes.")] if work.settings.updates else []
    report.blocks = [
        Text(f"The paper's Table 4 parses the Wall Street Journal. Here are its numbers, and those of parsers of the same kind on treebanks that are free to have. "
             f"{count} of {len(outcomes)} rows are measured."), *fewer,
        main_table(outcomes),
        *([Heading("What would be measured"), Points(plan(work, outcomes))] if work.settings.dry_run else [plot(outcomes)] if count else []),
        Heading("Own trees of raw text"), *gain_texts(found),
        Heading("The paper's"), paper_table(),
        Heading("How it was measured"), Points(notes(outcomes))]
    return report
