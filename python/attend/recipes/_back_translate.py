"""Back-translation (Edunov et al. 2018): text of the target language becomes pairs by a model of the other direction."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from attend.recipes._distill import _each
from attend.recipes._steps import Path, Steps


def back_translate(
        model: Path, config: Path, output: Path, *, text: Sequence[str], sources: Sequence[str], targets: Sequence[str], sample: bool = True,
        top_k: int = 0, beam_size: int = 5, seed: int = 1, type: str = "stored", tag: str = "<BT>", makes_vocabulary: bool = False,
        data_dir: str = "", threads: int = 0, quiet: bool = False) -> None:
    """Makes OUTPUT/run/model of the recipe's pairs and of the text with its back-translation. The same call goes on where an earlier one ended.

    model: model directory, from the recipe's target language to its source language
    config: recipe of the model to train (TOML)
    text: files of the target language, a sentence a line; relative names start from data_dir
    sources, targets: the recipe's pairs
    sample, top_k, seed: draw translations at random, as `attend translate --sample` does; else a beam search of beam_size
    tag: what each back-translated source begins with (Caswell et al. 2019), so that the model can tell it; "": nothing
    makes_vocabulary: the recipe makes its vocabulary, which then has the tag as one token
    """
    steps = Steps(output, data_dir=data_dir, threads=threads, quiet=quiet)
    search = ["--sample", "--top-k", top_k, "--seed", seed] if sample else ["--beam-size", beam_size]
    written = []
    for number, file in enumerate(text):
        written.append(str(steps.path(f"back.{number}")))
        steps.command(
            f"translate {number}", "translate", "--model", pathlib.Path(model).absolute(), "--input", file, "--output", written[-1], "--resume",
            "--type", type, *search)
    arguments = [*_each("--train-source", [*sources, *written]), *_each("--train-target", [*targets, *text])]
    if tag:
        arguments += ["--train-prefixes", *[""] * len(sources), *[tag + " "] * len(text)]
        if makes_vocabulary:
            arguments += ["--user-defined-symbols", tag]
    steps.command("train", "train", "--config", pathlib.Path(config), *arguments, "--output", steps.path("run"))
