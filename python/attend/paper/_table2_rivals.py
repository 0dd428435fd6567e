"""What Table 2 compares, trained here: a Transformer, an LSTM and ConvS2S on the same text, for the same number of tokens, with the same
search."""

from __future__ import annotations

import functools
import json
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attend.paper._cells import Result
from attend._plots import COLOURS, drawing
from attend._report import MISSING, Plot, Table
from attend.paper._work import RECIPES, RECIPES_PRECISION, Work, digest, json_lines, options_of, origin_notes

GOALS = (30, 35)  # BLEU on the validation text
UPDATES, SHARE = 35000, 10  # of a whole training, 65 million target tokens; and the part of it that each seed has
SEEDS = (1, 2, 3)
VALIDATE_EVERY = 1000  # updates
NEAR_BLEU = 1  # below what is published
VALIDATIONS = 10  # of a shorter training: the best three, which are averaged, are then late ones


@dataclass(frozen=True)
class Rival:
    name: str
    title: str
    published: float | None = None  # the best BLEU of its kind on test_2016_flickr from text alone that is known to us
    source: str = MISSING

    @property
    def recipe(self) -> pathlib.Path:
        return RECIPES / "rivals" / f"{self.name}.toml"


RIVALS = (
    Rival("transformer", "Transformer", 41.02, "Wu et al. 2021, Transformer-Tiny"),
    Rival("lstm", "LSTM with attention", 38.1, "Caglayan et al. 2017, ± 0.8"),
    Rival("convolution", "ConvS2S"))
SEEDED, SPEED = "-seeds", "-speed"
SPEED_UPDATES = 100
TRANSLATING_THREADS = 1
ROWS = tuple(rival.name + ending for rival in RIVALS for ending in ("", SEEDED, SPEED))


def updates_of(work: Work) -> int:
    return work.settings.updates or UPDATES


def settings_of(rival: Rival, updates: int, seed: int) -> Result:
    return {"recipe": digest(rival.recipe), "updates": updates, "validate_every": validate_every(updates), "seed": seed}


def validate_every(updates: int) -> int:
    return max(1, min(VALIDATE_EVERY, updates // VALIDATIONS))


def parameters(work: Work, rival: Rival) -> int:
    """Of the recipe's model, without its training."""
    options = options_of(rival.recipe)
    model = work.preset(options["preset"], options["vocab_size"])
    for name, value in options.items():
        side, _, member = name.partition(".")
        if member:
            model[side][member] = value
    count: int = work.inspect(model)["parameters"]["total"]
    return count


def curve(metrics: list[Result]) -> list[Result]:
    """Each validation: its update and BLEU."""
    return [{"update": line["update"], "bleu": line["validation"]["bleu"]} for line in metrics if "validation" in line]


def reached(points: list[Result], goal: float) -> int | None:
    """The update of the first validation with so much BLEU."""
    return next((point["update"] for point in points if point["bleu"] >= goal), None)


def folder_of(work: Work, rival: Rival, updates: int, seed: int) -> pathlib.Path:
    return work.settings.output / "runs" / f"{rival.name}-{updates}-seed{seed}"


def translating_rate(work: Work, folder: pathlib.Path) -> float:
    """Target tokens a second of one thread over the test text, by LibTorch, the time to start among it."""
    source = work.text("multi30k/test_2016_flickr.en")
    common: tuple[Any, ...] = ("--model", folder / "model", "--device", "cpu", "--threads", TRANSLATING_THREADS)
    begun = time.monotonic()
    output = work.run("translate", *common, "--beam-size", 5, "--length-penalty", 0.6, "--input", source)
    seconds = time.monotonic() - begun
    with tempfile.TemporaryDirectory() as scratch:
        target = pathlib.Path(scratch) / "output"
        target.write_text(output, encoding="utf-8")
        tokens: int = work.attend("score", *common, "--source", source, "--target", target)["pieces"]
    return tokens / seconds


def train(work: Work, rival: Rival, updates: int, seed: int) -> Result | None:
    """None where the budget ends before the training does."""
    folder = folder_of(work, rival, updates, seed)
    every = validate_every(updates)
    _, finished = work.train(folder, config=rival.recipe, data_dir=work.settings.data, max_updates=updates, validate_every=every,
                             checkpoint_every=every, seed=seed)
    if not finished:
        return None
    metrics = json_lines(folder / "metrics.jsonl")
    points = curve(metrics)
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    tokens = max(line["target_tokens"] for line in metrics if "target_tokens" in line)
    return {"bleu": result["bleu"]["score"], "best_validation": max(point["bleu"] for point in points), "target_tokens": tokens,
            "curve": points, "updates_to": {str(goal): reached(points, goal) for goal in GOALS}} | work.origin(folder)


def speed(work: Work, rival: Rival) -> Result:
    """How fast a training is while nothing else runs."""
    found = work.attend("bench", "train", "--recipe", rival.recipe, "--data-dir", work.settings.data, "--updates", SPEED_UPDATES,
                        "--threads", work.settings.threads)
    return {"seconds_per_update": found["ms_per_update"] / 1000, "target_tokens_per_s": found["target_tokens_per_s"], "threads": found["threads"]}


@dataclass
class Outcome:
    """What is known of a rival: its whole training, those of each seed with a part of the updates, its speed, and its parameters."""

    rival: Rival
    whole: Result | None
    seeds: list[Result]
    speed: Result | None
    parameters: int

    @property
    def bleu(self) -> float | None:
        """Of the whole training; while that is missing, the mean over the seeds of a tenth."""
        if self.whole is not None:
            score: float = self.whole["bleu"]
            return score
        return statistics.fmean(seed["bleu"] for seed in self.seeds) if self.seeds else None

    @property
    def difference(self) -> float | None:
        """From what is published."""
        return None if self.bleu is None or self.rival.published is None else round(self.bleu - self.rival.published, 2)

    def minutes(self, updates: float | None) -> float | None:
        return None if updates is None or self.speed is None else updates * self.speed["seconds_per_update"] / 60

    def as_json(self) -> Result:
        found: Result = {"model": self.rival.title, "parameters": self.parameters, "whole": self.whole, "seeds": self.seeds, "speed": self.speed,
                         "published": self.rival.published, "source": self.rival.source, "difference": self.difference}
        if self.whole is not None:
            found["minutes_to"] = {goal: self.minutes(updates) for goal, updates in self.whole["updates_to"].items()}
        return found


def measure(work: Work, rival: Rival) -> Outcome:
    """What was asked for and what was measured before; less where the budget ends."""
    updates = updates_of(work)
    part = max(1, updates // SHARE)

    def cell(ending: str, settings: Result, measuring: Callable[[], Result | None], saying: str) -> Result | None:
        row = rival.name + ending
        return work.placed_cell(f"table2/{row}", settings, measuring, saying, work.chosen(row))

    whole = cell("", settings_of(rival, updates, SEEDS[0]), lambda: train_whole(work, rival, updates), f"trains {rival.title} for {updates:,} updates")
    seeds = [cell(SEEDED, settings_of(rival, part, seed), functools.partial(train, work, rival, part, seed),
                  f"trains {rival.title} for {part:,} updates, seed {seed}") for seed in SEEDS]
    fast = cell(SPEED, {"recipe": digest(rival.recipe), "updates": SPEED_UPDATES, "threads": work.settings.threads}, lambda: speed(work, rival),
                f"measures how fast {rival.title} trains")
    count = parameters(work, rival) if whole is None else whole["parameters"]
    return Outcome(rival, whole, [each for each in seeds if each is not None], fast, count)


def plan(work: Work, found: list[Outcome]) -> list[str]:
    """What would be measured now."""
    updates = updates_of(work)
    lines = []
    for each in found:
        name, seeds = each.rival.name, len(SEEDS) - len(each.seeds)
        if each.whole is None:
            lines.append(f"{name}: attend train --config recipes/rivals/{name}.toml, {updates:,} updates")
        if seeds:
            lines.append(f"{name}{SEEDED}: the same with {max(1, updates // SHARE):,} updates, {seeds} of {len(SEEDS)} seeds")
        if each.speed is None:
            lines.append(f"{name}{SPEED}: attend bench train over {SPEED_UPDATES} updates")
    return [line for line in lines if work.chosen(line.split(":")[0])]


def train_whole(work: Work, rival: Rival, updates: int) -> Result | None:
    found = train(work, rival, updates, SEEDS[0])
    if found is None:
        return None
    folder = folder_of(work, rival, updates, SEEDS[0])
    return found | {"translating_tokens_per_s": translating_rate(work, folder)}


def shown(value: float | None, form: str) -> str:
    return MISSING if value is None else format(value, form)


def table(found: list[Outcome]) -> Table:
    rows = []
    for each in found:
        whole = each.whole or {}
        to = whole.get("updates_to", {})
        cells = [shown(whole.get("bleu"), ".2f"), shown(whole.get("best_validation"), ".2f"), f"{each.parameters:,}",
                 shown((each.speed or {}).get("target_tokens_per_s"), ",.0f"), *(shown(each.minutes(to.get(str(goal))), ".0f") for goal in GOALS),
                 shown(whole.get("translating_tokens_per_s"), ",.0f")]
        values = [seed["bleu"] for seed in each.seeds]
        mean = f"{statistics.fmean(values):.2f}" if values else MISSING
        spread = f"\u00a0±\u00a0{statistics.stdev(values):.2f}" if len(values) > 1 else ""
        rows.append([each.rival.title, *cells, mean + spread])
    return Table(["model", "BLEU", "validation", "parameters", "tokens/s, training", *(f"minutes to {goal}" for goal in GOALS), "tokens/s, translating",
                  "BLEU, a tenth"], rows, strong=(0,))


def published_table(found: list[Outcome]) -> Table:
    rows = []
    for each in found:
        part = ", a tenth" if each.whole is None and each.seeds else ""
        within = MISSING if each.difference is None else "yes" if each.difference >= -NEAR_BLEU else "no"
        rows.append([each.rival.title, shown(each.rival.published, "g"), each.rival.source, shown(each.bleu, ".2f") + part, shown(each.difference, "+.2f"), within])
    return Table(["model", "BLEU, published", "source", "BLEU, here", "difference", f"within {NEAR_BLEU} BLEU, or better"], rows, words=(0, 2), strong=(0,))


def plot(found: list[Outcome]) -> Plot | None:
    if all(each.whole is None for each in found):
        return None
    with drawing(2, 3.8) as (result, axes):
        for each in found:
            if each.whole is None:
                continue
            colour = COLOURS[RIVALS.index(each.rival)]
            points = each.whole["curve"]
            bleu = [point["bleu"] for point in points]
            if each.speed is not None:
                axes[0].plot([each.minutes(point["update"]) for point in points], bleu, color=colour, label=each.rival.title)
            per_update = each.whole["target_tokens"] / points[-1]["update"] / 1e6
            axes[1].plot([point["update"] * per_update for point in points], bleu, color=colour, label=each.rival.title)
        for axis, label in zip(axes, ("minutes of training", "million target tokens"), strict=True):
            for goal in GOALS:
                axis.axhline(goal, color="#8795a6", linewidth=1, linestyle=":")
            axis.set(title="BLEU on the validation text", xlabel=label)
        axes[1].legend(loc="lower right")
    return Plot(result.svg, "How the models learn, by time and by tokens. The learning rate falls along a cosine to the end of the training, so a shorter training "
                            "would be ahead of these curves.")


def places(found: list[Outcome]) -> list[str]:
    """A note for each processor on which speeds were measured, and each number of threads."""
    titles: dict[tuple[str, str, int], list[str]] = {}
    for what in ("training", "translating"):
        for each in found:
            result = each.speed if what == "training" else each.whole
            if result is not None:
                threads = result["threads"] if what == "training" else TRANSLATING_THREADS
                titles.setdefault((what, result["processor"], threads), []).append(each.rival.title)
    return [f"Speeds of {what} were measured on {processor} (threads: {threads}): {', '.join(names)}." for (what, processor, threads), names in titles.items()]


def tenths_to(each: Outcome, goal: int) -> str:
    """The updates after which a tenth has so much BLEU: a mean over the seeds that get there."""
    updates = [seed["updates_to"][str(goal)] for seed in each.seeds if seed["updates_to"][str(goal)] is not None]
    of_seeds = f"{len(updates) or 'none'} of {len(each.seeds)}"
    if not updates:
        return of_seeds
    return f"{statistics.fmean(updates):,.0f}" + (f" ({of_seeds})" if len(updates) < len(each.seeds) else "")


def tenths_note(found: list[Outcome]) -> list[str]:
    parts = [f"{each.rival.title} {' and '.join(tenths_to(each, goal) for goal in GOALS)}" for each in found if each.seeds]
    return [f"Updates of a tenth to {' and to '.join(map(str, GOALS))} BLEU on the validation text, a mean over the seeds that reach it: {'; '.join(parts)}."] if parts else []


def notes(work: Work, found: list[Outcome]) -> list[str]:
    updates = updates_of(work)
    return [
        f"The rivals here are trained on Multi30k English to German (29,000 pairs), lower-cased, with 6,000 shared BPE tokens, by the recipes of `recipes/rivals`: {updates:,} "
        f"updates of at most 2,048 tokens each, products in {RECIPES_PRECISION} where nothing else is said. BLEU is lower-cased "
        "sacreBLEU (13a) of test_2016_flickr, beam 5, α = 0.6, of the average of the three best checkpoints.",
        "The LSTM is in GNMT's shape, scaled: three layers on each side, the third with a residual connection. All three models have about as many parameters.",
        f"Tokens a second of training are of `attend bench train` over {SPEED_UPDATES} updates of the recipe as it is, with nothing beside it, and minutes are updates times what one took there; "
        "validations are left out. Validation BLEU decides when a goal is reached. Translating is by LibTorch for all "
        "three, the time to start among it. attend's own engine, which only the Transformer has, is not in this table.",
        f"A tenth is {max(1, updates // SHARE):,} updates with the learning rate falling to its end, validated ten times: mean and standard deviation of seeds 1 to 3, as far as they are measured.",
        *tenths_note(found),
        "Published values are of the same test, from text alone: the best that are known to us, and none is for ConvS2S. The Transformer's is BLEU of lower-cased tokens, not "
        "sacreBLEU, so some tenths of the difference may be the counting. The LSTM's is of attention over recurrent networks.",
        *places(found), *origin_notes((each.rival.title, each.whole) for each in found),
        *origin_notes((f"{each.rival.title}, a tenth", seed) for each in found for seed in each.seeds)]
