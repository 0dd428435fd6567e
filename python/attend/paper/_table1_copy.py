"""A task that shows what path length does: to copy symbols over a growing distance, through the decoder alone."""

from __future__ import annotations

import pathlib
import random
from dataclasses import dataclass, field
from typing import Any

from attend.paper._cells import Result
from attend._plots import COLOURS, drawing, widths_of
from attend._report import MISSING, Plot, Table
from attend.paper._work import Work

SYMBOLS = tuple("abcdefgh")
DISTANCES = (2, 4, 6, 8, 12, 16, 24, 32, 48)  # of a symbol and its copy
WINDOW, LAYERS, WIDTH, KERNEL_WIDTH = 8, 2, 64, 5
TRAINING_PAIRS, TESTED = 20000, 50  # of the tested at each distance
TRAINING = {
    "vocab_type": "word", "vocab_size": 128, "batch_tokens": 2048, "schedule": "cosine", "peak_learning_rate": 0.005, "warmup_updates": 200,
    "dropout": 0.0, "label_smoothing": 0.0, "seed": 1}
INTRODUCTION = (
    f"A target begins with one of {len(SYMBOLS)} symbols, goes on with a chain of words that always follow each other, and ends with the same "
    "symbol. The source only says where the chain begins, so that nothing but the decoder's own layers can carry the symbol from its first "
    "place to the second. Self-attention has it in one step; a window of r positions and a convolution need layers enough to reach so far; an "
    "LSTM has to keep it in its state, step by step.")


@dataclass(frozen=True)
class Model:
    name: str
    title: str
    preset: str
    decoder: dict[str, Any] = field(default_factory=dict)  # besides its size
    both: dict[str, Any] = field(default_factory=dict)
    reach: int | None = None  # of the decoder's layers together; None: all


MODELS = (
    Model("transformer", "Transformer", "tiny", both={"heads": 4, "d_ff": 128}),
    Model("window", f"Transformer, r = {WINDOW}", "tiny", {"attention_window": WINDOW}, {"heads": 4, "d_ff": 128}, WINDOW * LAYERS),
    Model("lstm", "LSTM", "lstm"),
    Model("convolution", f"ConvS2S, k = {KERNEL_WIDTH}", "convolution", both={"kernel_width": KERNEL_WIDTH}, reach=(KERNEL_WIDTH - 1) * LAYERS),
    Model("separable", f"ConvS2S, separable, k = {KERNEL_WIDTH}", "convolution", both={"kernel_width": KERNEL_WIDTH, "separable": True},
          reach=(KERNEL_WIDTH - 1) * LAYERS),
)


def options_of(model: Model, updates: int) -> Result:
    """What decides a training, as options of attend.train."""
    stack = {"layers": LAYERS, "d_model": WIDTH} | model.both
    stacks = {f"{side}__{name}": value for side in ("encoder", "decoder") for name, value in stack.items()}
    return {"preset": model.preset, **TRAINING, **stacks, **{f"decoder__{name}": value for name, value in model.decoder.items()}, "max_updates": updates}


def pair(distance: int, symbol: str) -> tuple[str, str]:
    """Source and target, whose symbol and its copy are so far from each other."""
    last = max(DISTANCES)
    chain = [f"s{i}" for i in range(last - (distance - 1), last)]
    return chain[0], " ".join([symbol, *chain, symbol])


def candidates(distance: int, symbol: str) -> list[tuple[str, str]]:
    """The pair with each symbol as the last one, of which one is right."""
    source, target = pair(distance, symbol)
    return [(source, target.rsplit(" ", 1)[0] + " " + symbol) for symbol in SYMBOLS]


def write_pairs(folder: pathlib.Path, name: str, pairs: list[tuple[str, str]]) -> dict[str, pathlib.Path]:
    files = {"source": folder / f"{name}.source", "target": folder / f"{name}.target"}
    for side, path in enumerate(files.values()):
        text = "".join(f"{each[side]}\n" for each in pairs)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return files


def accuracy(work: Work, folder: pathlib.Path, model: pathlib.Path, device: str) -> dict[str, float]:
    """At each distance the share of last symbols to which the model gives more than to any other, in per cent."""
    random_numbers = random.Random(2)
    tested = [(distance, random_numbers.choice(SYMBOLS)) for distance in DISTANCES for _ in range(TESTED)]
    files = write_pairs(folder, "test", [each for distance, symbol in tested for each in candidates(distance, symbol)])
    found = work.attend("score", "--model", model, "--source", files["source"], "--target", files["target"], "--threads", work.settings.threads,
                        "--device", device)["pairs"]
    right = dict.fromkeys(DISTANCES, 0)
    for i, (distance, symbol) in enumerate(tested):
        scores = [each["log_probability"] for each in found[i * len(SYMBOLS):(i + 1) * len(SYMBOLS)]]
        right[distance] += scores.index(max(scores)) == SYMBOLS.index(symbol)
    return {str(distance): 100 * count / TESTED for distance, count in right.items()}


def train(work: Work, model: Model, options: Result) -> Result | None:
    """None where the budget ends before the training does; it goes on from its last checkpoint."""
    texts = work.settings.output / "runs" / "copy"
    texts.mkdir(parents=True, exist_ok=True)
    random_numbers = random.Random(1)
    files: dict[str, Any] = {f"{kind}_{side}": path for kind, count in (("train", TRAINING_PAIRS), ("valid", 16)) for side, path in write_pairs(
        texts, kind, [pair(random_numbers.choice(DISTANCES), random_numbers.choice(SYMBOLS)) for _ in range(count)]).items()}
    folder = texts / f"{model.name}-{options['max_updates']}"
    _, finished = work.train(folder, validate_every=options["max_updates"], checkpoint_every=max(1, options["max_updates"] // 4), **files, **options)
    if not finished:
        return None
    device = "engine" if model.preset == "tiny" else "cpu"
    parameters = work.attend("inspect", folder / "model")["parameters"]["total"]
    return {"accuracy": accuracy(work, texts, folder / "model", device), "parameters": parameters}


def measure(work: Work, model: Model) -> Result | None:
    options = options_of(model, work.settings.copy_updates)
    settings = options | {"distances": list(DISTANCES), "pairs": TRAINING_PAIRS, "tested": TESTED}
    return work.cell(f"table1/copy/{model.name}", settings, lambda: train(work, model, options), f"trains {model.title} to copy",
                     work.chosen(f"copy-{model.name}"))


def table(found: list[tuple[Model, Result]]) -> Table:
    results = {model.name: result for model, result in found}
    rows = []
    for model in MODELS:
        result = results.get(model.name)
        accuracies = [MISSING if result is None else f"{result['accuracy'][str(distance)]:.0f}" for distance in DISTANCES]
        rows.append([model.title, MISSING if result is None else f"{result['parameters']:,}", "all" if model.reach is None else str(model.reach), *accuracies])
    return Table(["model", "parameters", "reach of its decoder", *(f"% at {distance}" for distance in DISTANCES)], rows)


def plot(found: list[tuple[Model, Result]]) -> Plot:
    with drawing(1, 3.8) as (result, axes):
        lines = [[(distance, each["accuracy"][str(distance)]) for distance in DISTANCES] for _, each in found]
        for (model, _), line, width in zip(found, lines, widths_of(lines), strict=True):
            place = [other.name for other in MODELS].index(model.name)
            axes[0].plot(*zip(*line, strict=True), color=COLOURS[place], linewidth=width, marker="o", markersize=width + 2, label=model.title)
            if model.reach is not None:  # dots of one that equals the next one's stand between them
                axes[0].axvline(model.reach, color=COLOURS[place], linewidth=1.2, linestyle=(2 * place, (1, 3)))
        axes[0].axhline(100 / len(SYMBOLS), color="#8795a6", linewidth=1, linestyle="--")
        axes[0].set(title="copied symbols that are right, %", xlabel="distance of a symbol and its copy", ylim=(0, 104))
        axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Plot(result.svg, "Accuracy against distance, after the same training of each model. Dotted lines are how far the layers of a decoder reach together; the "
                            "dashed one is chance. Where lines run together, the lower ones are wider.")


def notes(work: Work) -> list[str]:
    return [
        f"In the copy task each model has {LAYERS} + {LAYERS} layers, {WIDTH} wide, and {work.settings.copy_updates:,} updates of at most {TRAINING['batch_tokens']:,} "
        f"tokens over {TRAINING_PAIRS:,} pairs of all distances, trained by `attend train` with the same options. Of {TESTED} pairs at each distance `attend score` tells "
        f"which of {len(SYMBOLS)} last symbols is the likeliest. Such pairs are in the training text, too: what is tested is whether the symbol gets there."]
