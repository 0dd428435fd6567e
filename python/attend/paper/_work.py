"""What every table has: its settings, the time that is left, the program, and the cells that are measured already."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import math
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from attend._errors import ConfigurationError, Error, InputError, RunError
from attend._train import find_program
from attend._train import train as _train
from attend._whole import whole
from attend.paper._cells import Cells, Result

RECIPES = pathlib.Path(__file__).with_name("recipes")  # as the project's folder has them


def digest(recipe: pathlib.Path) -> str:
    """What tells a recipe from others, in a cell's settings."""
    return hashlib.sha256(recipe.read_bytes()).hexdigest()


RECIPES_PRECISION = "bf16"  # of products, in all recipes that a table trains


def origin_notes(results: Iterable[tuple[str, Result | None]]) -> list[str]:
    """Which of the models with these titles were trained on a GPU, and which in another precision than their recipes have."""
    notes: dict[str, dict[str, None]] = {}  # each with its titles, in order
    for title, result in results:
        if result is None:
            continue
        if "gpu" in result:
            notes.setdefault(f"Trained on a GPU ({result['gpu']})", {})[title] = None
        if (precision := result.get("products", RECIPES_PRECISION)) != RECIPES_PRECISION:
            notes.setdefault(f"Trained with products in {precision}, where the recipe has {RECIPES_PRECISION}", {})[title] = None
    return [f"{note}: {', '.join(titles)}." for note, titles in notes.items()]


def options_of(file: pathlib.Path) -> dict[str, Any]:
    """Numbers, words and truth values of a recipe, or of a run's config.toml."""
    found = re.findall(r'^([\w.]+) = ("[^"]*"|[\d.e-]+|true|false)\s*(?:#.*)?$', file.read_text(encoding="utf-8"), flags=re.M)
    return {name: json.loads(value) for name, value in found}


def precision_of(run: pathlib.Path) -> str:
    """Of a training's products."""
    found: str = options_of(run / "config.toml")["precision"]
    return found


def json_lines(path: pathlib.Path) -> list[Result]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass
class Settings:
    """What the command line says."""

    data: pathlib.Path
    output: pathlib.Path
    threads: int  # 0: as many as the machine has
    rows: list[str]  # empty: all
    updates: int  # of each training; 0: as many as its table has
    copy_updates: int
    row_minutes: float
    price: float  # US dollars an hour
    dry_run: bool
    quiet: bool
    model: pathlib.Path | None = None  # of figures
    sentences: int = 500  # of figures: of each text at most
    device: str = "cpu"  # that trainings run on; speeds are always the CPU's
    precision: str = "recipe"  # of trainings' products


class OutOfTimeError(Exception):
    """What was running has had the time that it may take."""


class Budget:
    """The time in which something new may be measured."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        return float("inf") if self.end is None else self.end - time.monotonic()


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises OutOfTimeError in its body after so many seconds; only in the main thread."""

    def end(number: int, frame: Any) -> None:  # noqa: ARG001
        raise OutOfTimeError

    if seconds == float("inf"):
        yield
        return
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Clock:
    """The seconds that something took so far, over all calls, which a file keeps."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        try:
            seconds = float(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # there is none, or a full disk left it empty
            seconds = 0.0
        self.seconds = seconds if math.isfinite(seconds) else 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Counts the time of its body, however that ends."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.seconds += time.monotonic() - begun
            with whole(self.path) as unfinished:
                unfinished.write_text(f"{self.seconds:.1f}\n", encoding="utf-8")


class Work:
    def __init__(self, settings: Settings, budget: Budget, cells: Cells) -> None:
        self.settings, self.budget, self.cells = settings, budget, cells
        self.left_out = False  # whether there was no time left for something

    def say(self, text: str) -> None:
        if not self.settings.quiet:
            print(text, file=sys.stderr, flush=True)

    def check_rows(self, names: Sequence[str]) -> None:
        """Raises ConfigurationError for one of --rows that the table has not."""
        unknown = [row for row in self.settings.rows if row not in names]
        if unknown:
            meant = "".join(f"; did you mean '{name}'?" for name in difflib.get_close_matches(unknown[0], names, 1))
            raise ConfigurationError(f"--rows has '{unknown[0]}', expected some of {', '.join(names)}{meant}")

    def chosen(self, row: str) -> bool:
        """Whether it is to be measured: all are, unless --rows names some."""
        return not self.settings.rows or row in self.settings.rows

    def cell(self, name: str, settings: Result, measure: Callable[[], Result | None], saying: str = "", chosen: bool = True) -> Result | None:
        """What was measured, before or, where it is chosen, now; None: there is no time left for it, or it ended before `measure` did."""
        found = self.cells.find(name, settings)
        return self.measure(name, settings, measure, saying) if found is None and chosen else found

    def placed_cell(self, name: str, settings: Result, measure: Callable[[], Result | None], saying: str = "", chosen: bool = True) -> Result | None:
        """The same with the processor that it was measured on, which may be another one than this machine's."""
        found = self.cell(name, settings, measure, saying, chosen)
        return None if found is None else found | {"processor": self.cells.processor_of(name, settings)}

    def measure(self, name: str, settings: Result, measure: Callable[[], Result | None], saying: str = "") -> Result | None:
        """What is measured now, whatever was before."""
        self.left_out |= self.budget.left() <= 0
        if self.settings.dry_run or self.budget.left() <= 0:
            return None
        self.say(saying or f"measures {name}")
        result = measure()
        self.left_out |= self.budget.left() <= 0 and result is None
        if result is not None:
            self.cells.add(name, settings, result)
        return result

    def train(self, folder: pathlib.Path, limit: float = float("inf"), **options: Any) -> tuple[float, bool]:
        """A training into `folder`, continued where it stopped. Returns the seconds that all calls took together, at most `limit`, and whether it
        is done: else they or the budget ended it."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        clock, finished = Clock(folder.with_name(folder.name + ".seconds")), True
        if self.settings.precision != "recipe":
            options["precision"] = self.settings.precision
        if "config" in options:
            self._check_precision(folder)
        with clock.running():
            try:
                with time_limit(min(limit - clock.seconds, self.budget.left())):
                    _train(output=folder, quiet=self.settings.quiet, threads=self.settings.threads, device=self.settings.device, **options)
            except OutOfTimeError:
                finished = False
                self.left_out |= self.budget.left() <= 0
        return clock.seconds, finished

    def _check_precision(self, folder: pathlib.Path) -> None:
        """Raises ConfigurationError where a training by a recipe began with another precision than the one it would go on with."""
        asked = RECIPES_PRECISION if self.settings.precision == "recipe" else self.settings.precision
        if not (folder / "config.toml").exists() or (begun := precision_of(folder)) == asked:
            return
        raise ConfigurationError(f"'{folder}' began with products in {begun} and would go on in {asked}; give --precision {begun}, or another --output")

    def origin(self, run: pathlib.Path) -> Result:
        """Of a training that is done: its parameters, the precision of its products, and the GPU that it ran on, if one did."""
        found = self.attend("inspect", run / "model")
        gpu = found["provenance"]["environment"].get("gpu")
        return {"parameters": found["parameters"]["total"], "products": precision_of(run)} | ({} if gpu is None else {"gpu": gpu})

    def run(self, *arguments: object) -> str:
        """What the program prints."""
        command = [find_program(), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            kinds: dict[int, type[Error]] = {2: ConfigurationError, 3: InputError}
            message = done.stderr.strip().splitlines()
            raise kinds.get(done.returncode, RunError)(message[-1].removeprefix("attend: ") if message else f"{command[1]} failed")
        return done.stdout

    def attend(self, *arguments: object) -> Any:
        """What the program says, as JSON."""
        return json.loads(self.run(*arguments, "--json"))

    def preset(self, name: str, vocab_size: int) -> dict[str, Any]:
        """`model` of config.json."""
        found: dict[str, Any] = self.attend("inspect", "--preset", name, "--vocab-size", vocab_size)["model"]
        return found

    def inspect(self, model: dict[str, Any], *arguments: object) -> Any:
        """What `attend inspect` says of a model without weights."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.json"
            file.write_text(json.dumps(model), encoding="utf-8")
            return self.attend("inspect", file, *arguments)

    def text(self, name: str) -> pathlib.Path:
        """A corpus's file."""
        path = self.settings.data / name
        if not path.is_file():
            raise InputError(f"'{path}' is missing; --data-dir names the folder with the corpora")
        return path
