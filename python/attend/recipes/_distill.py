"""Sequence-level distillation (Kim and Rush 2016): a student learns what its teacher writes for the training text."""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Iterator, Sequence

from attend import bleu, read_lines
from attend._errors import InputError, UsageError
from attend.recipes._steps import Path, Steps, write_lines


def distill(
        teacher: Path, config: Path, output: Path, *, sources: Sequence[str], targets: Sequence[str], beam_size: int = 5, length_penalty: float = 0.6,
        n_best: int = 1, type: str = "stored", keep_original: bool = False, word_level: bool = False, alignments: bool = False,
        int8_updates: int = 0, data_dir: str = "", threads: int = 0, quiet: bool = False) -> None:
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
    """
    if n_best > beam_size:
        raise UsageError(f"n_best is {n_best}, expected at most beam_size, {beam_size}")
    steps = Steps(output, data_dir=data_dir, threads=threads, quiet=quiet)
    teacher = pathlib.Path(teacher).absolute()
    written = []
    for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
        searched = steps.path(f"teacher.{number}" + (".n-best" if n_best > 1 else ""))
        steps.command(
            f"translate {number}", "translate", "--model", teacher, "--input", source, "--output", searched, "--resume", "--type", type,
            "--beam-size", beam_size, "--length-penalty", length_penalty, "--n-best", n_best)
        if n_best > 1:
            chosen, reference = steps.path(f"teacher.{number}"), pathlib.Path(data_dir) / target
            steps.call(f"choose {number}", ["choose", searched, reference], lambda a=searched, b=reference, c=chosen: write_lines(c, choose(a, b)))
            searched = chosen
        written.append(str(searched))
    learned = [*sources, *sources] if keep_original else list(sources)
    said = [*written, *targets] if keep_original else written
    text = [*_each("--train-source", learned), *_each("--train-target", said), *["--teacher", str(teacher)] * word_level]
    links = _each("--train-alignments", _link(steps, learned, said)) if alignments else []
    steps.command("train", "train", "--config", config, *text, *links, *_vocabularies(teacher) * word_level, "--output", steps.path("run"))
    model = steps.path("run/model")
    if int8_updates:
        tuned = steps.path("int8-run")
        steps.command(
            "train int8", "train", *text, "--init", model, "--quantization-aware", "--max-updates", int8_updates, "--schedule", "constant",
            "--peak-learning-rate", "0.0001", "--warmup-updates", "0", "--checkpoint-every", max(1, int8_updates // 4), "--output", tuned)
        model = tuned / "model"
    steps.command("quantize", "quantize", model, "--output", steps.path("model-int8"), threads=False, data_dir=False)
    if len(sources) == 1:
        steps.command(
            "shortlist", "shortlist", "--model", model, "--source", sources[0], "--target", written[0], "--output", steps.path("shortlist.safetensors"),
            threads=False)


def _each(option: str, values: Sequence[object]) -> list[str]:
    return [word for value in values for word in (option, str(value))]


def _link(steps: Steps, sources: Sequence[str], targets: Sequence[str]) -> list[pathlib.Path]:
    """Files of the links between the words of each pair of files."""
    links = []
    for number, (source, target) in enumerate(zip(sources, targets)):
        links.append(steps.path(f"links.{number}"))
        steps.command(f"align {number}", "align", "--source", source, "--target", target, "--output", links[-1], threads=False)
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
