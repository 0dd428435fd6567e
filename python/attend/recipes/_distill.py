"""Sequence-level distillation (Kim and Rush 2016): a student learns what its teacher writes for the training text."""

from __future__ import annotations

import dataclasses
import itertools
import json
import pathlib
from collections.abc import Iterator, Sequence

from attend import bleu, read_lines
from attend._errors import InputError, UsageError
from attend._train import newest_state
from attend.recipes._steps import Path, Steps, write_lines


@dataclasses.dataclass(frozen=True, kw_only=True)
class Distillation:
    """Makes OUTPUT/run/model, a student, beside an int8 copy and a shortlist. The same call goes on where an earlier one ended.

    teacher: model directory
    config: recipe of the student (TOML), with the text that the teacher translates
    sources, targets: that text, as the recipe names it; relative names start from data_dir
    beam_size, length_penalty, type: how the teacher translates
    n_best: above 1: of that many translations the one that is most like the reference, by sentence BLEU, is learned
    keep_original: learn the reference translations too
    word_level: learn the teacher's predictions of each token as well, by its vocabularies
    alignments: link the words of the text, for guided alignment; the recipe has guided_alignment_weight
    int8_updates: updates that follow with products rounded as int8 rounds them; 0: none
    device: the recipe's, which a run does not keep; "": the default
    """

    teacher: Path
    config: Path
    output: Path
    sources: Sequence[str]
    targets: Sequence[str]
    beam_size: int = 5
    length_penalty: float = 0.6
    n_best: int = 1
    type: str = "stored"
    keep_original: bool = False
    word_level: bool = False
    alignments: bool = False
    int8_updates: int = 0
    device: str = ""
    data_dir: str = ""
    threads: int = 0
    quiet: bool = False

    def run(self) -> None:
        """Raises UsageError where the output is of other options, RunError where a step fails."""
        if self.n_best > self.beam_size:
            raise UsageError(f"n_best is {self.n_best}, expected at most beam_size, {self.beam_size}")
        steps = Steps(self.output, data_dir=self.data_dir, threads=self.threads, quiet=self.quiet)
        if any(f"translate {number}" not in steps.done for number in range(len(self.sources))):
            steps.expect(self._teacher, [*self.sources, *self.targets])
            self._check(steps)
        written = [str(self._translate(steps, number)) for number in range(len(self.sources))]
        model = self._train(steps, written)
        steps.command("quantize", "quantize", model, "--output", steps.path("model-int8"), threads=False, data_dir=False)
        steps.command(
            "shortlist", "shortlist", "--model", model, *each("--source", self.sources), *each("--target", written),
            "--output", steps.path("shortlist.safetensors"), reads=list(self.sources), threads=False)
        steps.finish(model)

    @property
    def _teacher(self) -> pathlib.Path:
        return pathlib.Path(self.teacher).absolute()

    def _translate(self, steps: Steps, number: int) -> pathlib.Path:
        """What the teacher writes for a file of text, a line a line."""
        written = steps.path(f"teacher.{number}")
        searched = steps.path(f"teacher.{number}.n-best") if self.n_best > 1 else written
        reads: list[Path] = [self._teacher, self.sources[number]]
        steps.command(
            f"translate {number}", "translate", "--model", self._teacher, "--input", self.sources[number], "--output", searched, "--resume",
            "--type", self.type, "--beam-size", self.beam_size, "--length-penalty", self.length_penalty, "--n-best", self.n_best,
            reads=reads)
        if self.n_best > 1:
            reference = pathlib.Path(self.data_dir) / self.targets[number]
            steps.call(
                f"choose {number}", ["choose", searched, reference], lambda: write_lines(written, choose(searched, reference)),
                reads=[self.targets[number]])
        return written

    @property
    def _recipe(self) -> pathlib.Path:
        return pathlib.Path(self.config).absolute()

    def _pairs(self, written: Sequence[str]) -> tuple[list[str], list[str]]:
        """The files of the training's sources and targets."""
        sources = [*self.sources, *self.sources] if self.keep_original else list(self.sources)
        return sources, [*written, *self.targets] if self.keep_original else list(written)

    def _text(self, sources: Sequence[str], targets: Sequence[str], links: Sequence[pathlib.Path]) -> list[str]:
        return [
            *each("--train-source", sources), *each("--train-target", targets), *["--teacher", str(self._teacher)] * self.word_level,
            *each("--train-alignments", links)]

    def _check(self, steps: Steps) -> None:
        """Refuses before the long translation what the training would refuse: of the references, and without links."""
        sources, targets = self._pairs(self.targets)
        links = [steps.path(f"no-links.{number}") for number in range(len(sources) * self.alignments)]
        try:
            for path, source in zip(links, sources):
                write_lines(path, ("" for _ in read_lines(pathlib.Path(self.data_dir) / source)))
            steps.check("train", "--config", self._recipe, *self._text(sources, targets, links), *self._vocabularies(), "--dry-run")
        finally:
            for path in links:
                path.unlink(missing_ok=True)

    def _vocabularies(self) -> list[str]:
        return _vocabularies(self._teacher) if self.word_level else []

    def _train(self, steps: Steps, written: list[str]) -> pathlib.Path:
        """The student's model."""
        sources, targets = self._pairs(written)
        text = self._text(sources, targets, _link(steps, sources, targets) if self.alignments else [])
        recipe = self._recipe
        reads: list[Path] = [recipe, *self.sources, *self.targets, *[self._teacher] * self.word_level]
        steps.command("train", "train", "--config", recipe, *text, *self._vocabularies(), "--output", steps.path("run"), reads=reads)
        model = steps.path("run/model")
        if not self.int8_updates:
            return model
        tuned, often = steps.path("int8-run"), max(1, self.int8_updates // 4)
        own = [
            *text, *["--device", self.device] * bool(self.device), "--init", str(model), "--quantization-aware", "--max-updates", str(self.int8_updates),
            "--schedule", "constant", "--peak-learning-rate", "0.0001", "--warmup-updates", "0", "--validate-every", str(often),
            "--checkpoint-every", str(often)]
        steps.command("train int8", "train", *own, *_kept_options(steps.path("run"), own), "--output", tuned, reads=reads)
        return tuned / "model"


def each(option: str, values: Sequence[object]) -> list[str]:
    return [word for value in values for word in (option, str(value))]


# What the updates for int8 leave out; all else they take over, what the training's command names for them too.
_OF_THE_MODEL = {  # and of its vocabulary
    "preset", "architecture", "languages", "head_bias", "tie_source_target", "tie_target_output", "right_to_left", "protect", "protect_patterns",
    "vocab", "source_vocab", "target_vocab", "joint_vocab", "vocab_size", "vocab_type", "character_coverage", "byte_fallback",
    "user_defined_symbols", "placeholders", "sentinels", "newline", "mask", "normalization", "split_digits", "case", "vocab_max_sentences"}
_OF_A_LONG_TRAINING = {
    "end_learning_rate", "noam_scale", "ema_decay", "early_stopping_patience", "max_epochs", "max_target_tokens", "average_last", "average_best"}


def _kept_options(run: pathlib.Path, given: Sequence[str]) -> list[str]:
    """Those of a run, defaults included, as its newest checkpoint has them, but for the ones that are `given`."""
    left_out = _OF_THE_MODEL | _OF_A_LONG_TRAINING | {word[2:].replace("-", "_") for word in given if word.startswith("--")}
    words = []
    for name, value in newest_state(run)["run"]["options"].items():
        if name in left_out or isinstance(value, dict):  # a stack of the model
            continue
        for each_value in value if isinstance(value, list) else [value]:
            text = json.dumps(each_value) if isinstance(each_value, (bool, int, float)) else each_value
            words += [f"--{name.replace('_', '-')}={text}"] * (value not in (None, ""))
    return words


def _link(steps: Steps, sources: Sequence[str], targets: Sequence[str]) -> list[pathlib.Path]:
    """Files of the links between the words of each pair of files."""
    links = []
    for number, (source, target) in enumerate(zip(sources, targets)):
        links.append(steps.path(f"links.{number}"))
        steps.command(f"align {number}", "align", "--source", source, "--target", target, "--output", links[-1], reads=[source, target], threads=False)
    return links


def _vocabularies(model: pathlib.Path) -> list[str]:
    if (model / "vocab.spm").exists():
        return ["--vocab", str(model / "vocab.spm")]
    return ["--source-vocab", str(model / "source.spm"), "--target-vocab", str(model / "target.spm")]


def choose(translations: Path, references: Path) -> Iterator[str]:
    """Of each line's translations, as `attend translate --n-best` writes them, the one with the highest sentence BLEU; of equal ones the first."""
    def number(line: str) -> str:
        return line.partition(" ||| ")[0]

    groups = itertools.groupby(read_lines(translations), key=number)
    for index, reference in enumerate(read_lines(references)):
        found, lines = next(groups, ("nothing", iter(())))
        if found != str(index):
            raise InputError(f"'{translations}': the translations of line {index + 1} of '{references}' are missing; found {found}")
        texts = [line.partition(" ||| ")[2].rpartition(" ||| ")[0] for line in lines]
        yield max(texts, key=lambda text: bleu([text], [reference], effective_order=True))
