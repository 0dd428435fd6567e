"""Back-translation (Edunov et al. 2018): text of the target language becomes pairs by a model of the other direction."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Sequence

from attend.recipes._distill import each
from attend.recipes._steps import Path, Steps


@dataclasses.dataclass(frozen=True, kw_only=True)
class BackTranslation:
    """Makes OUTPUT/run/model of the recipe's pairs and of the text with its back-translation. The same call goes on where an earlier one ended.

    model: model directory, from the recipe's target language to its source language
    config: recipe of the model to train (TOML)
    text: files of the target language, a sentence a line; relative names start from data_dir
    sources, targets: the recipe's pairs
    sample, top_k, seed: draw translations at random, as `attend translate --sample` does; else a beam search of beam_size
    tag: what each back-translated source begins with (Caswell et al. 2019), so that the model can tell it; "": nothing
    makes_vocabulary: the recipe makes its vocabulary, which then has the tag as one token
    symbols: the recipe's user_defined_symbols, which stay
    """

    model: Path
    config: Path
    output: Path
    text: Sequence[str]
    sources: Sequence[str]
    targets: Sequence[str]
    sample: bool = True
    top_k: int = 0
    beam_size: int = 5
    seed: int = 1
    type: str = "stored"
    tag: str = "<BT>"
    makes_vocabulary: bool = False
    symbols: Sequence[str] = ()
    data_dir: str = ""
    threads: int = 0
    quiet: bool = False

    def run(self) -> None:
        """Raises UsageError where the output is of other options, RunError where a step fails."""
        steps = Steps(self.output, data_dir=self.data_dir, threads=self.threads, quiet=self.quiet)
        search = ["--sample", "--top-k", self.top_k, "--seed", self.seed] if self.sample else ["--beam-size", self.beam_size]
        model = pathlib.Path(self.model).absolute()
        written = [steps.path(f"back.{number}") for number in range(len(self.text))]
        if any(f"translate {number}" not in steps.done for number in range(len(self.text))):  # what the training refuses, it refuses now
            steps.expect(model, self.text)
            steps.check("train", *self._training([self.sources[0]] * len(self.text), [self.targets[0]] * len(self.text)), "--dry-run")
        for number, (file, output) in enumerate(zip(self.text, written)):
            steps.command(
                f"translate {number}", "translate", "--model", model, "--input", file, "--output", output, "--resume", "--type", self.type, *search,
                reads=[model, file])
        steps.command(
            "train", "train", *self._training(written, self.text), "--output", steps.path("run"),
            reads=[self._recipe, *self.sources, *self.targets, *self.text])
        steps.finish(steps.path("run/model"))

    @property
    def _recipe(self) -> pathlib.Path:
        return pathlib.Path(self.config).absolute()

    def _training(self, sources: Sequence[Path], targets: Sequence[Path]) -> list[str]:
        """Arguments of the training, with these files beside the recipe's pairs."""
        arguments = ["--config", str(self._recipe), *each("--train-source", [*self.sources, *sources]), *each("--train-target", [*self.targets, *targets])]
        if self.tag:
            arguments += ["--train-prefixes", *[""] * len(self.sources), *[self.tag + " "] * len(self.text)]
            arguments += ["--user-defined-symbols", *self.symbols, self.tag] * self.makes_vocabulary
        return arguments
