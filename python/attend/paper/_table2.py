"""Table 2: translation quality and training cost, section 6.1. The operations of the paper's trainings, counted and as published, and
how long a processor would take."""

from __future__ import annotations

import pathlib
import tempfile
from dataclasses import dataclass
from typing import Any

from attend.paper import _table2_rivals as _rivals
from attend.paper._cells import Result
from attend._plots import COLOURS, drawing
from attend._report import MISSING, Heading, Plot, Points, Report, Table, Text
from attend.paper._work import Work

VOCABULARY = 37000  # shared by English and German, section 5.1
BATCH_TOKENS = 25000  # of the source, and of the target
LENGTH = 25  # tokens of a sentence on each side: assumed, the paper has none
P100, GPUS = 9.5e12, 8  # single-precision operations a second of a GPU, as the paper's footnote has it
RATE_UPDATES, RATE_BATCH, RATE_VOCABULARY = 4, 1024, 8000  # what is measured here
ROWS = ("rate", *_rivals.ROWS)


@dataclass(frozen=True)
class Published:
    """A row of the paper's table: BLEU on newstest2014 and operations of training, English to German and to French."""

    name: str
    bleu: tuple[float | None, float | None]
    operations: tuple[float | None, float | None]
    preset: str = ""  # of the Transformer
    steps: int = 0
    hours: float = 0  # on eight P100


PUBLISHED = (
    Published("ByteNet", (23.75, None), (None, None)),
    Published("Deep-Att + PosUnk", (None, 39.2), (None, 1.0e20)),
    Published("GNMT + RL", (24.6, 39.92), (2.3e19, 1.4e20)),
    Published("ConvS2S", (25.16, 40.46), (9.6e18, 1.5e20)),
    Published("MoE", (26.03, 40.56), (2.0e19, 1.2e20)),
    Published("Deep-Att + PosUnk ensemble", (None, 40.4), (None, 8.0e20)),
    Published("GNMT + RL ensemble", (26.30, 41.16), (1.8e20, 1.1e21)),
    Published("ConvS2S ensemble", (26.36, 41.29), (7.7e19, 1.2e21)),
    Published("Transformer base", (27.3, 38.1), (3.3e18, 3.3e18), "base", 100_000, 12),
    Published("Transformer big", (28.4, 41.8), (2.3e19, 2.3e19), "big", 300_000, 84),
)


def counted(work: Work, row: Published) -> Result:
    """Operations of the paper's training, by the count of one pair of sentences."""
    found = work.attend(
        "inspect", "--preset", row.preset, "--vocab-size", VOCABULARY, "--flops", "--source-length", LENGTH, "--target-length", LENGTH)
    pairs = row.steps * BATCH_TOKENS / LENGTH
    operations = found["operations"]
    return {
        "parameters": found["parameters"]["total"], "forward_of_a_pair": operations["forward"], "training_of_a_pair": operations["training"],
        "pairs": pairs, "training": operations["training"] * pairs, "hardware_times_time": row.hours * 3600 * GPUS * P100}


def measured_rate(work: Work, precision: str) -> Result:
    """What training the base model reaches on this processor."""
    source, target = (work.text(f"multi30k/train.{side}") for side in ("en", "de"))
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = pathlib.Path(folder) / "vocab.spm"
        work.attend("vocab", "--input", source, target, "--size", RATE_VOCABULARY, "--type", "bpe", "--output", vocabulary, "--quiet")
        found = work.attend(
            "bench", "train", "--vocab", vocabulary, "--source", source, "--target", target, "--preset", "base", "--precision", precision,
            "--batch-tokens", RATE_BATCH, "--updates", RATE_UPDATES, "--threads", work.settings.threads)
    return {
        "operations_per_s": found["flops"], "products_per_s": found["machine"][f"{precision}_products_per_s"],
        "threads": found["threads"], "target_tokens_per_s": found["target_tokens_per_s"]}


def measure_rate(work: Work, precision: str) -> Result | None:
    settings: dict[str, Any] = {"precision": precision, "threads": work.settings.threads, "updates": RATE_UPDATES, "batch": RATE_BATCH}
    name = f"table2/rate/{precision}"
    return work.placed_cell(name, settings, lambda: measured_rate(work, precision), chosen=work.chosen("rate"))


# Where the plot's labels stand beside their points, but for those to the right of them; of 0, above or below.
LABELS = {
    ("ConvS2S ensemble", 0): (-7, 4), ("GNMT + RL ensemble", 0): (0, -14), ("ConvS2S ensemble", 1): (-7, 3),
    ("GNMT + RL ensemble", 1): (-7, -8), ("MoE", 1): (-7, 2), ("ConvS2S", 1): (-7, -9), ("Deep-Att + PosUnk ensemble", 1): (0, -14)}


def power(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1e}".replace("e+", "e")


def days(operations: float | None, rate: float | None) -> str:
    return MISSING if operations is None or not rate else f"{operations / rate / 86400:,.0f}"


def rate_sentence(rates: dict[str, Result | None]) -> str:
    parts: dict[str, list[str]] = {}
    for precision, rate in rates.items():
        if rate:
            parts.setdefault(f"{rate['processor']} (threads: {rate['threads']})", []).append(
                f"{rate['operations_per_s'] / 1e9:,.0f} GFLOP/s in {precision} ({100 * rate['operations_per_s'] / rate['products_per_s']:.0f} % of "
                f"what its large matrix products reach, {rate['products_per_s'] / 1e9:,.0f})")
    if not parts:
        return "How fast a processor trains the base model is not measured yet."
    return " ".join(f"{where} trains the base model at {' and '.join(found)}." for where, found in parts.items()) + (
        f" This is measured by `attend bench train` over {RATE_UPDATES} updates of {RATE_BATCH:,} tokens.")


def price_sentence(best: Result | None, price: float) -> str:
    where = "the processor" if best is None else f"{best['processor']} (threads: {best['threads']})"
    return f"Days and dollars are of {where}. An hour of it is taken to cost {price:g} US dollars (`--price`)."


def dollars(operations: float | None, rate: float | None, price: float) -> str:
    return MISSING if operations is None or not rate else f"{operations / rate / 3600 * price:,.0f}"


def published_table(best: Result | None, price: float) -> Table:
    peak = best["products_per_s"] if best else None
    rows = [[row.name, *(f"{bleu:g}" if bleu else MISSING for bleu in row.bleu), *map(power, row.operations),
             *(days(operations, peak) for operations in row.operations), *(dollars(operations, peak, price) for operations in row.operations)] for row in PUBLISHED]
    strong = tuple(i for i, row in enumerate(PUBLISHED) if row.preset)
    columns = [f"{column} EN-{side}" for column in ("BLEU", "FLOPs", "days at peak", "dollars at peak") for side in ("DE", "FR")]
    return Table(["model", *columns], rows, strong=strong)


def counted_table(counts: dict[str, Result], best: Result | None, price: float) -> Table:
    rate = best["operations_per_s"] if best else None
    rows = []
    for row in PUBLISHED:
        if row.preset:
            count = counts[row.preset]
            cost = dollars(count["training"], rate, price)
            rows.append([
                row.name, f"{count['parameters']:,}", f"{count['training_of_a_pair'] / 1e9:,.2f}", power(count["training"]),
                power(count["hardware_times_time"]), f"{100 * count['training'] / count['hardware_times_time']:.0f} %",
                days(count["training"], rate), cost])
    return Table(
        ["model", "parameters", "GFLOP of a pair", "FLOPs counted", "FLOPs, hardware × time", "share used", "days as measured", "US dollars"], rows)


def draw(axis: Any, side: int, counts: dict[str, Result]) -> None:
    """One pair of languages."""
    for row in PUBLISHED:
        bleu, operations = row.bleu[side], row.operations[side]
        if bleu is None or operations is None:
            continue
        colour = COLOURS[1 if row.preset else 0]
        axis.scatter(operations, bleu, color=colour, s=45, marker="s" if "ensemble" in row.name else "o", zorder=3)
        place = LABELS.get((row.name, side), (7, -3))
        where = "right" if place[0] < 0 else "left" if place[0] > 0 else "center"
        axis.annotate(row.name, (operations, bleu), xytext=place, textcoords="offset points", ha=where, fontsize=8.5)
        if row.preset and side == 0:
            axis.scatter(counts[row.preset]["training"], bleu, facecolors="none", edgecolors=colour, s=45, zorder=3)
            axis.plot([counts[row.preset]["training"], operations], [bleu, bleu], color=colour, linewidth=1, linestyle=":")
    axis.set(xscale="log", xlabel="floating-point operations of training", ylabel="BLEU, newstest2014")
    axis.margins(x=0.3, y=0.12)


def plot(counts: dict[str, Result]) -> Plot:
    with drawing(2) as (result, axes):
        for side, title in enumerate(("English to German", "English to French")):
            draw(axes[side], side, counts)
            axes[side].set_title(title)
    return Plot(result.svg, "BLEU against the cost of training as published (hardware times time). Squares are ensembles. Hollow circles are "
                "the operations of the Transformers as counted, without what the hardware could have done in the same time.")


ASSUMPTIONS = [
    "Counted are the products of matrices, a multiplication with its addition as two operations; norms, softmax, activations and biases "
    "are not (`attend inspect --flops`, equal to PyTorch's counter). A backward pass takes twice what its forward pass takes.",
    f"A batch has {BATCH_TOKENS:,} source and {BATCH_TOKENS:,} target tokens; base trains for 100,000 steps, big for 300,000 (section 5). "
    f"Sentences of {LENGTH} tokens on each side are assumed, so {BATCH_TOKENS // LENGTH:,} pairs a batch without padding. With twice the length the "
    "count grows by less than 1 %: attention over short sentences is a small part.",
    f"The shared vocabulary has {VOCABULARY:,} tokens, as for English to German. English to French has 32,000, and so a little less to count.",
    "Hardware × time is the paper's estimate: 12 hours (base) or 3.5 days (big) on 8 P100 GPUs at 9.5 TFLOP/s each.",
    "The share used is the count over that estimate: what the GPUs did of what they could have done.",
    "The published cost of a rival is such an estimate too. So days at peak are those of a processor that always runs at the rate of "
    "its large matrix products, in the better precision. No count of a rival's operations is published.",
    "Of big, English to French, the paper's table has 41.8 BLEU and its text 41.0.",
    "Days and dollars of the second table go by the counted operations and the measured rate of training, in the better precision.",
]


def plan(work: Work, rates: dict[str, Result | None], rivals: list[_rivals.Outcome]) -> list[str]:
    """What would be measured now."""
    left = [precision for precision, rate in rates.items() if rate is None and work.chosen("rate")]
    rate = [f"rate: attend bench train over {RATE_UPDATES} updates of the base model in {' and '.join(left)}"] if left else []
    return [*rate, *_rivals.plan(work, rivals)] or ["nothing"]


def make(work: Work) -> Report:
    work.check_rows(ROWS)
    counts = {row.preset: counted(work, row) for row in PUBLISHED if row.preset}
    rates = {precision: measure_rate(work, precision) for precision in ("f32", "bf16")}
    rivals = [_rivals.measure(work, rival) for rival in _rivals.RIVALS]
    drawn = _rivals.plot(rivals)
    best = max((rate for rate in rates.values() if rate), key=lambda rate: rate["operations_per_s"], default=None)
    rows = [{"model": row.name, "bleu": row.bleu, "published_operations": row.operations, **counts.get(row.preset, {})} for row in PUBLISHED]
    data = {"rows": rows, "rates": rates, "price_per_hour": work.settings.price, "assumptions": ASSUMPTIONS,
            "rivals": [each.as_json() for each in rivals]}
    report = Report("Table 2: what the paper's trainings cost", data)
    report.blocks = [
        Text("The paper's Table 2 gives BLEU on newstest2014 and the floating-point operations of training, as time on the hardware times what "
             "that hardware can do. Here are those numbers, and how long the same would take on the processor whose rate was measured."),
        *([Heading("What would be measured"), Points(plan(work, rates, rivals))] if work.settings.dry_run else []),
        Text(rate_sentence(rates)), Text(price_sentence(best, work.settings.price)),
        published_table(best, work.settings.price),
        Heading("The Transformers, counted"),
        counted_table(counts, best, work.settings.price),
        plot(counts),
        Heading("The rivals, trained here"),
        _rivals.table(rivals),
        _rivals.published_table(rivals),
        *([drawn] if drawn else []),
        Points(_rivals.notes(work, rivals)),
        Heading("Assumptions"),
        Points(ASSUMPTIONS)]
    return report
