"""A job: files in, a folder of parts out, each of which appears whole or not at all."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import attend
import pyarrow.fs
from attend._errors import ConfigurationError, InputError, UsageError
from attend.distributed import _files, _formats, _models

_ABOUT = "_job.json"
_DIRECTORIES = ("adapter",)  # options that name a model directory
_FILES = ("shortlist",)
_WITHOUT_EFFECT = ("batch_sentences", "batch_tokens")  # options that change no result


def check_shard(shard: tuple[int, int]) -> tuple[int, int]:
    index, count = shard
    if not 1 <= index <= count:
        raise ConfigurationError(f"shard is {index}/{count}, expected I/N with 1 <= I <= N")
    return shard


class Report(NamedTuple):
    """What a call of a job has done."""

    parts: int  # of the job
    there: int  # parts that are done; fewer than all where other shards are not
    made: int  # parts of this call
    counts: _models.Counts  # of this call, without those of workers that were lost

    def __str__(self) -> str:
        counts = self.counts
        lines = [f"{self.there} of {self.parts} parts are there, {self.made} made now from {counts.rows} rows"]
        for number, what in ((counts.cut, "cut at the maximum length"), (counts.divided, "divided because a sentence was too long"),
                             (counts.unknown, "with characters that the model's vocabulary lacks")):
            if number:
                lines.append(f"{number} {what}")
        if counts.terms:
            lines.append(f"terms of the glossary in the text: {counts.terms}, of which {counts.terms_kept} are kept")
        return "\n".join(lines)


@dataclasses.dataclass(eq=False)
class Job:
    """What a model makes of the texts of files, in a folder of parts: output/part-000000.txt (.jsonl, .parquet) and so on.

    The parts, in the order of their names, hold every row of the inputs once and in order. Which rows a part has follows from the
    inputs and `part_bytes` alone, and its bytes from the model and the options too: not from who made it, or how often. The same job
    again makes what is missing. `output/_job.json` tells what the parts come from; another job is refused there.

    model: directory of a model that reads texts. It runs as the class for its task does: translate, generate, parse, classify, tag, embed
    inputs: files of lines, JSON lines (.jsonl, .ndjson, .json), both also as .gz or .zst, or Parquet, all of one kind, and folders of
        them: paths that every worker can read, or addresses that pyarrow.fs reads, such as s3://bucket/folder
    output: a folder, which every worker can write
    column, target: names of the text's column and of the new one; not for plain lines
    part_bytes: about so many bytes of lines, or of a Parquet column's texts, are a part
    load, options: options of the class and of its method, such as {"type": "int8"} and {"beam_size": 6}. A glossary and a memory are
        paths of files that every worker can read

    Raises InputError, ConfigurationError and UsageError before anything is run.
    """

    model: str | os.PathLike[str]
    inputs: Sequence[str | os.PathLike[str]]
    output: str | os.PathLike[str]
    _: dataclasses.KW_ONLY
    column: str = ""
    target: str = ""
    part_bytes: int = 1 << 20
    load: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self.model = os.path.abspath(self.model)
        self.load = {name: os.path.abspath(value) if name in (*_DIRECTORIES, *_FILES) else value for name, value in self.load.items()}
        self.options = {name: self._path(name, value) if name in _models.FILES else value for name, value in self.options.items()}
        if "estimator" in self.load:
            raise ConfigurationError("load has estimator, but a job writes texts alone, without their quality; leave it out")
        if "threads" in self.load:
            raise ConfigurationError("load has threads, which is an argument of what runs the job; leave it out")
        if self.part_bytes < 1:
            raise ConfigurationError(f"part_bytes is {self.part_bytes}, expected at least 1")
        self.columns = _formats.Columns(self.column, self.target)
        self.files = _files.inputs_of(self.inputs)
        self.format = self._common_format()
        self.loaded(threads=1)  # for its errors
        self.parts = [
            _formats.Part(number, *range_) for number, file in enumerate(self.files) for range_ in self.format.cut(file, self.columns, self.part_bytes)]
        self._place, self._folder = _files.locate(self.output)
        self._begin()

    @staticmethod
    def _path(name: str, value: Any) -> str:
        if not isinstance(value, (str, os.PathLike)):
            raise ConfigurationError(f"{name} is {value!r}, expected the path of a file that every worker can read")
        return os.path.abspath(value)

    def _common_format(self) -> _formats.Lines | _formats.Parquet:
        first = _formats.format_of(self.files[0])
        for file in self.files:
            if (found := _formats.format_of(file)) is not first:
                raise UsageError(f"{self.files[0]} becomes {first.suffix}, {file} {found.suffix}; expected files of one kind in a job")
        if first.has_columns != all(self.columns) or first.has_columns != any(self.columns):
            raise UsageError(
                f"column is '{self.column}', target '{self.target}'; expected "
                f"{'the names of both' if first.has_columns else 'neither, since plain lines have no columns'}, for {self.files[0]}")
        task = _models.task_of(self.model)
        if not first.has_columns and not task.one_line:
            raise UsageError(f"what '{self.model}' gives ({task.method}) is no line of text; expected JSON lines or Parquet, for {self.files[0]}")
        return first

    def _about(self) -> dict[str, Any]:
        """What the bytes of all parts follow from."""
        load = dict(self.load) | {name: _digest(pathlib.Path(self.load[name]) / "config.json") for name in _DIRECTORIES if name in self.load}
        load |= {name: _digest(pathlib.Path(load[name])) for name in _FILES if name in load}
        options = {name: value for name, value in self.options.items() if name not in _WITHOUT_EFFECT}
        options |= {name: _digest(pathlib.Path(options[name])) for name in _models.FILES if name in options}
        return {
            "program": attend.__version__, "model": _digest(pathlib.Path(self.model) / "config.json"), "load": load,
            "options": options, "column": self.column, "target": self.target, "part_bytes": self.part_bytes,
            "inputs": [[file.path, file.size, file.changed] for file in self.files]}

    def _begin(self) -> None:
        """Writes what the job is into its folder, or compares it with what is written there."""
        about, path = json.loads(json.dumps(self._about())), f"{self._folder}/{_ABOUT}"
        self._place.create_dir(self._folder, recursive=True)
        names = self._names()
        if _ABOUT not in names:
            if any(not name.startswith("_") for name in names):  # those are of another process that begins the job
                raise UsageError(f"'{self._folder}' has files but no {_ABOUT}; expected an empty folder, or one of the same job")
            with _files.whole_file(self._place, path) as stream:
                stream.write(json.dumps(about, ensure_ascii=False, indent=1).encode())
        with self._place.open_input_stream(path) as stream:
            there = json.loads(stream.read())
        for name, value in about.items():
            if there.get(name) != value:
                raise UsageError(
                    f"'{path}' has {name} {_short(there.get(name))}, this job {_short(value)}; give the same as at first, or another output")

    def _names(self) -> set[str]:
        return {each.base_name for each in self._place.get_file_info(pyarrow.fs.FileSelector(self._folder))}

    def name(self, number: int) -> str:
        """Of a part's file."""
        return f"part-{number:06d}{self.format.suffix}"

    def missing(self, shard: tuple[int, int] = (1, 1)) -> list[int]:
        """Numbers of parts that are not done, of every Nth from the Ith on for the shard (I, N)."""
        index, count = check_shard(shard)
        names = self._names()
        return [number for number in range(index - 1, len(self.parts), count) if self.name(number) not in names]

    def loaded(self, threads: int) -> _models.Model:
        """The job's model, which a process keeps."""
        return _models.load(self.model, threads, self.load, self.options)

    def run_part(self, number: int, threads: int) -> _models.Counts:
        """Makes a part, in this process. Counts nothing where it is there: its worker was lost before it could tell."""
        part, path = self.parts[number], f"{self._folder}/{self.name(number)}"
        if self._is_there(path):
            return _models.Counts()
        model = self.loaded(threads)
        try:
            with _files.whole_file(self._place, path) as stream:
                return self.format.run(self.files[part.input], part, self.columns, model, stream)
        except OSError:  # such as that another process made the part, too, and then removed what this one had begun
            if self._is_there(path):
                return _models.Counts()
            raise

    def _is_there(self, path: str) -> bool:
        found: bool = self._place.get_file_info(path).type == pyarrow.fs.FileType.File
        return found

    def finish(self, results: Iterable[_models.Counts]) -> Report:
        """Adds up what an engine does of the missing parts. Once all are there, removes what killed processes left."""
        total, made = _models.Counts(), 0
        for counts in results:
            total, made = total.plus(counts), made + 1
        names = self._names()
        there = sum(self.name(number) in names for number in range(len(self.parts)))
        if there == len(self.parts):
            for name in names:
                if name.startswith("_part-"):
                    with contextlib.suppress(FileNotFoundError):  # which another process has removed
                        self._place.delete_file(f"{self._folder}/{name}")
        return Report(len(self.parts), there, made, total)


def run(job: Job, *, threads: int = 0, shard: tuple[int, int] = (1, 1)) -> Report:
    """Makes the missing parts in this process: those of a shard (I, N), where N processes share the job."""
    return job.finish(job.run_part(number, threads) for number in job.missing(shard))


@contextlib.contextmanager
def errors_of_workers() -> Iterator[None]:
    """Raises an error of attend in a worker as what it is: engines give its text, in a traceback of theirs."""
    try:
        yield
    except Exception as error:
        told = re.findall(r"^attend\._errors\.(\w+): (.*)$", str(error), flags=re.MULTILINE)
        if isinstance(error, attend.Error) or not told:
            raise
        name, message = told[-1]  # those before are its causes
        raise getattr(attend, name)(message) from error


def _digest(path: pathlib.Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"'{path}' can't be read: {error.strerror}") from error


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."
