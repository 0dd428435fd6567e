"""Table 3: variations of the model, section 6.2, scaled to Multi30k English to German and to minutes on two cores."""

from __future__ import annotations

import pathlib
import statistics
from dataclasses import dataclass
from typing import Any

from attend._errors import RunError
from attend.paper._cells import Result
from attend._plots import COLOURS, drawing
from attend.paper._ranks import spearman
from attend._report import MISSING, Heading, Plot, Points, Report, Table, Text
from attend.paper._table3_rows import FULL_SIZE, NAMES, ROWS, SMALL, Row, with_stacks
from attend.paper._work import Work, json_lines

FULL_VOCABULARY, VOCABULARY = 37000, 6000
UPDATES = 8000  # where --updates is not given
SEEDS = {"base": (1, 2, 3)}  # of the other rows 1
ROW_MINUTES = 12  # where --row-minutes is not given
VALIDATIONS = 4  # in a training, and as many checkpoints
BLOCKS = {"A": "heads", "B": "width of keys", "C": "size", "D": "dropout and label smoothing"}
TRAINING = {  # of every row; the paper's where Multi30k asks for nothing else
    "vocab_type": "bpe", "case": "lower", "batch_tokens": 1024, "schedule": "noam", "warmup_updates": 2000, "precision": "bf16",
    "beam_size": 4, "length_penalty": 0.6}


def updates_of(work: Work) -> int:
    return work.settings.updates or UPDATES


def options_of(row: Row, seed: int, updates: int) -> Result:
    """What decides a training, as options of attend.train."""
    stack = SMALL | row.small
    stacks = {f"{side}__{name}": value for side in ("encoder", "decoder") for name, value in stack.items()}
    regularisation = {"dropout": 0.1, "label_smoothing": 0.1} | row.training
    return {"preset": "tiny", "vocab_size": VOCABULARY, **TRAINING, **stacks, **regularisation, "max_updates": updates, "seed": seed}


def train(work: Work, name: str, options: Result) -> Result | None:
    """One training with its figures on the validation text, continued where it stopped; None where the budget ends before it does."""
    settings = work.settings
    folder = settings.output / "runs" / f"{name}-{options['max_updates']}"
    limit = 60 * settings.row_minutes
    texts: dict[str, Any] = {
        f"{kind}_{side}": work.text(f"multi30k/{file}.{language}")
        for kind, file in (("train", "train"), ("valid", "val")) for side, language in (("source", "en"), ("target", "de"))}
    every = max(1, options["max_updates"] // VALIDATIONS)
    spent, finished = work.train(folder, limit, languages=["en", "de"], validate_every=every, checkpoint_every=every, **texts, **options)
    if not finished and spent < limit:
        return None
    return last_validation(folder) | {"minutes": spent / 60, "finished": finished, "row_minutes": settings.row_minutes}


def last_validation(folder: pathlib.Path) -> Result:
    validations = [line for line in json_lines(folder / "metrics.jsonl") if "validation" in line]
    if not validations:
        raise RunError(f"{folder}: no validation within the time of a row; raise --row-minutes, or lower --updates")
    last = validations[-1]
    return {"update": last["update"], "perplexity": last["validation"]["perplexity"], "bleu": last["validation"]["bleu"]}


@dataclass
class Outcome:
    """A row: its parameters, and what each seed gave."""

    row: Row
    full_size_parameters: int
    parameters: int
    runs: list[Result]  # of the seeds that are measured

    def mean(self, figure: str) -> float | None:
        return statistics.fmean(run[figure] for run in self.runs) if self.runs else None

    def text(self, figure: str, digits: int) -> str:
        mean = self.mean(figure)
        if mean is None:
            return MISSING
        values = [run[figure] for run in self.runs]
        spread = f"\u00a0±\u00a0{statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
        return f"{mean:.{digits}f}{spread}" + ("" if all(run["finished"] for run in self.runs) else "\u00a0*")


@dataclass
class Training:
    """One training of a row, and what of it is known."""

    work: Work
    row: Row
    seed: int

    def __post_init__(self) -> None:
        self.name = f"{self.row.name}-seed{self.seed}"
        self.options = options_of(self.row, self.seed, updates_of(self.work))
        self.chosen = self.work.chosen(self.row.name)

    def found(self) -> Result | None:
        return self.work.cells.find(f"table3/{self.name}", self.options)

    def is_left(self) -> bool:
        """Not measured, or stopped by a shorter limit than the one now."""
        found = self.found()
        return self.chosen and (found is None or (not found["finished"] and found["row_minutes"] < self.work.settings.row_minutes))

    def measure(self) -> None:
        place = f"{NAMES.index(self.row.name) + 1} of {len(NAMES)}"
        if self.is_left():
            self.work.measure(f"table3/{self.name}", self.options, lambda: train(self.work, self.name, self.options),
                              f"row {self.row.name} ({place}), seed {self.seed}: {self.row.here}")


def trainings_of(work: Work, row: Row) -> list[Training]:
    return [Training(work, row, seed) for seed in SEEDS.get(row.name, (1,))]


def option(name: str) -> str:
    """As the command line and recipes have it."""
    return name.replace("__", ".")


def plan(work: Work) -> list[str]:
    """What would be trained now."""
    usual = options_of(ROWS[0], 1, updates_of(work))
    common = ", ".join(f"{option(name)} {value}" for name, value in usual.items() if name != "seed")
    left = [each for row in ROWS for each in trainings_of(work, row) if each.is_left()]
    lines = [f"{each.name}: " + (", ".join(
        f"{option(name)} {value}" for name, value in each.options.items() if name != "seed" and value != usual.get(name)) or "as above") for each in left]
    minutes = len(left) * work.settings.row_minutes
    return [f"every training: {common}", *lines, f"{len(left)} trainings, {minutes:g} minutes at most"]


def correlations(outcomes: list[Outcome]) -> list[Result]:
    """Spearman's, of each block with the base beside it, and of all rows."""
    found = []
    for block, name in [*BLOCKS.items(), ("", "all rows")]:
        members = [each for each in outcomes if each.runs and (not block or each.row.block in (block, "base"))]
        found.append({"block": block or "all", "name": name, "rows": len(members)} | {
            figure: spearman([getattr(each.row, figure) for each in members], [each.mean(figure) or 0 for each in members])
            for figure in ("perplexity", "bleu")})
    return found


def main_table(outcomes: list[Outcome]) -> Table:
    rows = [[
        each.row.name, each.row.change, f"{each.row.perplexity:.2f}", f"{each.row.bleu:.1f}",
        MISSING if each.row.millions is None else f"{each.row.millions:g}", f"{each.full_size_parameters / 1e6:.2f}", each.row.here,
        each.text("perplexity", 2), each.text("bleu", 1), f"{each.parameters:,}"] for each in outcomes]
    return Table(
        ["row", "in the paper", "PPL", "BLEU", "10⁶ parameters", "counted, 10⁶", "here", "PPL here", "BLEU here", "parameters here"], rows,
        words=(0, 1, 6), strong=tuple(i for i, each in enumerate(outcomes) if each.row.name in ("base", "big")))


def correlation_table(found: list[Result]) -> Table:
    def text(value: float | None) -> str:
        return MISSING if value is None else f"{value:+.2f}"

    return Table(["block", "rows", "PPL", "BLEU"], [
        [f"{each['block']}: {each['name']}" if each["block"] != "all" else "all rows", str(each["rows"]), text(each["perplexity"]), text(each["bleu"])]
        for each in found])


def differences(outcomes: list[Outcome], figure: str) -> tuple[list[float], list[float], float]:
    """From the base, of BLEU in points and of perplexity in per cent, in the paper and here; and the spread of the base's seeds."""
    base = outcomes[0]
    mean = base.mean(figure) or 1

    def of(value: float, usual: float) -> float:
        return value - usual if figure == "bleu" else 100 * (value / usual - 1)

    seeds = [of(run[figure], mean) for run in base.runs]
    return ([of(getattr(each.row, figure), getattr(base.row, figure)) for each in outcomes], [of(each.mean(figure) or 0, mean) for each in outcomes],
            statistics.stdev(seeds) if len(seeds) > 1 else 0)


def plot(outcomes: list[Outcome]) -> Plot:
    measured = [each for each in outcomes if each.runs]
    blocks = list(dict.fromkeys(row.block for row in ROWS))
    colours = [COLOURS[blocks.index(each.row.block) % len(COLOURS)] for each in measured]
    places = [-i for i in range(len(measured))]
    with drawing(2, 1.4 + 0.27 * len(measured)) as (result, axes):
        for axis, figure, title in zip(axes, ("perplexity", "bleu"), ("perplexity, % more than base", "BLEU, points more than base"), strict=True):
            paper, here, spread = differences(measured, figure)
            axis.axvspan(-spread, spread, color="#e6ebf0", linewidth=0)
            axis.axvline(0, color="#8795a6", linewidth=1)
            axis.hlines(places, paper, here, colors=colours, linewidth=1)
            axis.scatter(paper, places, facecolors="white", edgecolors=colours, s=42, zorder=3)
            axis.scatter(here, places, color=colours, s=42, zorder=3)
            axis.set(title=title)
            axis.margins(x=0.1)
            axis.set_yticks(places, [f"{each.row.name}   {each.row.change.split(',')[0] if each.row.name not in ('base', 'big') else ''}" for each in measured])
            axis.grid(visible=False, axis="y")
    return Plot(result.svg, "How far each row is from the base: hollow in the paper, filled here. Rows are labelled by the paper's change; the filled dot is of "
                "the change that the table has under “here”. Colours are blocks; the band is the standard deviation of the base's seeds here.")


def minutes_text(outcomes: list[Outcome]) -> str:
    """How long the trainings took, whether that is more than a row usually may, and what they might take, where cells have it: older ones do not."""
    runs = [run for each in outcomes for run in each.runs]
    if not runs:
        return ""
    minutes = [run["minutes"] for run in runs]
    least, most = f"{min(minutes):.0f}", f"{max(minutes):.0f}"
    text = f"The trainings took {least if least == most else f'{least} to {most}'} {'minute' if most == '1' else 'minutes'} each. "
    if longer := sum(each > ROW_MINUTES for each in minutes):
        text += f"{longer} of them took more than the {ROW_MINUTES} minutes that a row has where `--row-minutes` is not given. "
    limits = [run["row_minutes"] for run in runs if "row_minutes" in run]
    if limits:
        given = " or ".join(f"{limit:g}" for limit in sorted(set(limits)))
        text += f"`--row-minutes` was {given} for {'all' if len(limits) == len(runs) else len(limits)} of them. "
    return text


def notes(work: Work, outcomes: list[Outcome]) -> list[str]:
    return [
        "The base here is 4 layers, 128 wide, 4 heads, d_ff 256. Each row changes it in the paper's proportion. Numbers of heads are whole, so "
        "one head is a quarter of the base, not an eighth; 2, 4 and 8 of 6 layers become 1, 3 and 5 of 4.",
        f"Every row trains for {updates_of(work):,} updates of at most {TRAINING['batch_tokens']:,} tokens, padding included, with the paper's schedule (noam, "
        f"{TRAINING['warmup_updates']:,} updates of warm-up), Adam and label smoothing. That is as many for big as for the others; the paper's big has three times as many updates as its base. "
        f"{minutes_text(outcomes)}* marks one that `--row-minutes` stopped, which has its last validation's figures.",
        f"Text is Multi30k English to German, lower-cased, with {VOCABULARY:,} shared BPE tokens, {TRAINING['precision']} products. Perplexity is of a token of its validation "
        f"text (1,014 pairs), BLEU is lower-cased sacreBLEU (13a) of the same, beam {TRAINING['beam_size']}, α = {TRAINING['length_penalty']}. Nothing is averaged, as in the paper.",
        f"Counted parameters of the paper's models are of a shared vocabulary of {FULL_VOCABULARY:,}. Differences between rows do not depend on it.",
        "The base row is the mean of seeds 1 to 3 with its standard deviation; the others have seed 1.",
        "Spearman's correlation is of the ranks of a block's rows, the base among them, in the paper and here: +1 is the same order. Few rows say little."]


def make(work: Work) -> Report:
    work.check_rows(NAMES)
    paper, tiny = work.preset("base", FULL_VOCABULARY), work.preset("tiny", VOCABULARY)
    outcomes = []
    for row in ROWS:
        counts = [work.inspect(with_stacks(model, base | change))["parameters"]["total"]
                  for model, base, change in ((paper, FULL_SIZE, row.full_size), (tiny, SMALL, row.small))]
        trainings = trainings_of(work, row)
        for training in trainings:
            training.measure()
        runs = [run for training in trainings if (run := training.found()) is not None]
        outcomes.append(Outcome(row, counts[0], counts[1], runs))
    found = correlations(outcomes)
    data = {"rows": [{
        "row": each.row.name, "paper": {"change": each.row.change, "perplexity": each.row.perplexity, "bleu": each.row.bleu,
                                        "parameters_millions": each.row.millions, "parameters_counted": each.full_size_parameters},
        "here": {"change": each.row.here, "parameters": each.parameters, "perplexity": each.mean("perplexity"), "bleu": each.mean("bleu"),
                 "runs": each.runs, "options": options_of(each.row, 1, updates_of(work))}} for each in outcomes],
        "spearman": found, "notes": notes(work, outcomes)}
    measured, wanted = sum(len(each.runs) for each in outcomes), sum(len(SEEDS.get(row.name, (1,))) for row in ROWS)
    report = Report("Table 3: variations of the model", data)
    report.blocks = [
        Text(f"The paper's Table 3 changes one thing of the base model in each row. Here are its numbers, and the same changes of a small model on "
             f"Multi30k. {measured} of {wanted} trainings are measured."),
        main_table(outcomes),
        *([Heading("What would be trained"), Points(plan(work))] if work.settings.dry_run else [plot(outcomes)] if outcomes[0].runs and measured > len(outcomes[0].runs) else []),
        Heading("Do the rows come in the paper's order?"),
        correlation_table(found),
        Heading("How it was measured"),
        Points(notes(work, outcomes))]
    return report
