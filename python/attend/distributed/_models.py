"""A model directory as a function of texts, whatever its task is."""

from __future__ import annotations

import functools
import json
import operator
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import attend
import pyarrow as pa
from attend._errors import ConfigurationError, InputError, UsageError

_WORDS = pa.list_(pa.struct([
    ("text", pa.string()), ("label", pa.string()), ("begin", pa.int64()), ("end", pa.int64()), ("probability", pa.float64())]))


class Task(NamedTuple):
    """How models of a task are run, and what they make of a text."""

    made_by: str  # a class of the package
    method: str
    value: Callable[[Any], Any]  # of what the method gives, for a column
    type: pa.DataType  # of the column
    one_line: bool  # a value is a text of one line


def _tags(result: attend.TaggedText) -> dict[str, list[dict[str, Any]]]:
    return {name: [word._asdict() for word in words] for name, words in result._asdict().items()}


TASKS = {
    "translation": Task("Translator", "translate", str, pa.string(), one_line=True),
    "language_model": Task("Generator", "generate", str, pa.string(), one_line=False),
    "parsing": Task("Parser", "parse", str, pa.string(), one_line=True),
    "classification": Task("Classifier", "classify", operator.attrgetter("label"), pa.string(), one_line=True),
    "tagging": Task("Tagger", "tag", _tags, pa.struct([("words", _WORDS), ("entities", _WORDS)]), one_line=False),
    "masked_language_model": Task("Encoder", "embed", operator.methodcaller("tolist"), pa.list_(pa.float32()), one_line=False),
}


def task_of(directory: str | os.PathLike[str]) -> Task:
    """Of a model directory, from its configuration alone."""
    path = pathlib.Path(directory) / "config.json"
    try:
        name = json.loads(path.read_text(encoding="utf-8"))["model"]["task"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"'{path}' can't be read as a model's configuration ({error}); expected a model directory of attend") from error
    if name not in TASKS:
        raise UsageError(f"'{directory}' is a model of the task {name}; expected one that reads texts: {', '.join(TASKS)}")
    return TASKS[name]


class Counts(NamedTuple):
    """What happened to texts. Counts add up."""

    rows: int = 0
    cut: int = 0  # outputs that reached the maximum length, or texts of which the model read the beginning
    divided: int = 0  # texts with a sentence longer than max_input_tokens
    unknown: int = 0  # texts with characters that the vocabulary lacks
    terms: int = 0  # of the glossary, each time that they stand in the texts
    terms_kept: int = 0  # those that the outputs have

    def plus(self, other: Counts) -> Counts:
        return Counts(*map(operator.add, self, other))


FILES = ("glossary", "memory")  # options that name a file
_UNWRITTEN = {"n_best": 1, "n": 1, "alignments": False, "quality": False}  # what asks for more than the best text, and what does not


def _ready(options: Mapping[str, Any]) -> dict[str, Any]:
    """With what their files hold."""
    for name, without in _UNWRITTEN.items():
        if options.get(name, without) != without:
            raise ConfigurationError(f"options have {name}, but a job writes the best text alone; leave it out")
    ready = {name: value for name, value in options.items() if name not in ("memory_source", "memory_target")}
    languages = [options.get(name, "") for name in ("memory_source", "memory_target")]
    if any(languages) and not ready.get("memory"):
        raise ConfigurationError("options have a language of a memory, but no memory; give memory, or leave it out")
    if ready.get("glossary"):
        ready["glossary"] = attend.Glossary(ready["glossary"])
    if ready.get("memory"):
        ready["memory"] = attend.TranslationMemory(ready["memory"], *languages)
    return ready


class Model:
    """Makes a value of each text. `options` name files of a glossary and a memory by their paths; memory_source and memory_target are
    the languages of a TMX. Raises ConfigurationError for unknown options before it has seen any."""

    def __init__(self, directory: str, threads: int, load: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self.task = task_of(directory)
        ready = _ready(options)
        made = getattr(attend, self.task.made_by)(directory, threads=threads, **load)
        self._run = functools.partial(getattr(made, self.task.method), **ready)
        self._run([])

    def __call__(self, texts: Sequence[str | None]) -> tuple[list[Any], Counts]:
        """A value for each text, None for None."""
        results = list(self._run([text for text in texts if text is not None]))
        best = [result.hypotheses[0] for result in results if isinstance(result, attend.Translation)]
        counts = Counts(
            len(texts), sum(getattr(result, "cut", not getattr(result, "finished", True)) for result in results),
            sum(getattr(result, "divided", False) for result in results),
            sum(getattr(result, "unknown_characters", 0) > 0 for result in results),
            sum(each.terms for each in best), sum(each.terms_kept for each in best))
        values = map(self.task.value, results)
        return [None if text is None else next(values) for text in texts], counts


@functools.lru_cache(maxsize=1)
def _loaded(directory: str, threads: int, load: str, options: str) -> Model:
    return Model(directory, threads, json.loads(load), json.loads(options))


def load(directory: str | os.PathLike[str], threads: int, load: Mapping[str, Any], options: Mapping[str, Any]) -> Model:
    """The model, which a process keeps until it asks for another."""
    return _loaded(os.fspath(directory), threads, json.dumps(dict(load)), json.dumps(dict(options)))
