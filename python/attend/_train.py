"""attend.train: a training by the program `attend train`, in a process of its own."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import numbers
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from attend._errors import ConfigurationError, Error, InputError, RunError, UsageError
from attend._results import Training, Validation

_Path = str | os.PathLike[str]
_Value = str | float | os.PathLike[str]  # to type checkers an int or a bool is a float, too
_Option = _Value | Sequence[_Value] | None


def train(
        config: _Path | None = None, *, program: _Path | None = None, quiet: bool = False, mlflow: str | None = None,
        **options: _Option) -> Training:
    """Trains a model as the recipe `config` (TOML) and the options say, and returns the run's figures.

    Options are those of `attend train` (docs/options.md) with `_` for `-` and `__` for `.`: max_updates=1000, encoder__layers=2,
    stream=True, train_source=["a.en", "b.en"], output=pathlib.Path("run"). None is as if not given. The same call again continues the
    run in `output`, or ends at once where nothing is left to do. Ctrl-C writes a checkpoint first.

    config: recipe, a TOML file; options win over it
    program: the program `attend`; None: $ATTEND_PROGRAM, or the first that can train of the package's and PATH's
    quiet: show no progress. Else it stands on standard error, in a notebook in one line
    mlflow: MLflow's server or store (URI), to which attend.mlflow sends the run `output` while it works and at its end. What fails
      there is a warning; the training goes on

    Raises ConfigurationError, InputError and RunError with the program's message, UsageError where there is no program, and
    ModuleNotFoundError for mlflow= without MLflow.
    """
    command = [find_program(program), "train", "--json", *_arguments(config, options)]
    begun = time.monotonic()
    run = _Run(_Screen(quiet))
    with _logging(mlflow, options.get("output"), run):
        status, report = run.start(command)
    if status != 0:
        raise _error_of(status, run.last)
    result = json.loads(report) if report.strip() else {}
    if "model" not in result:
        raise UsageError("the program made no model; expected a training that is no dry_run, in the process of rank 0")
    return _read(result, time.monotonic() - begun, tuple(run.warnings))


@contextlib.contextmanager
def _logging(uri: str | None, output: _Option, run: _Run) -> Iterator[None]:
    """The run `output` goes to MLflow meanwhile, if that is asked for."""
    if uri is None:
        yield
        return
    if not isinstance(output, (str, os.PathLike)):
        raise UsageError("mlflow= needs the run's directory as output= of the same call")
    from attend.mlflow import Follower  # noqa: PLC0415  which `python -m attend.mlflow` runs

    follower = Follower(pathlib.Path(output), uri, run.warn)
    try:
        yield
    finally:
        follower.end(trained=run.status == 0)


def find_program(program: _Path | None = None, *, trains: bool = True) -> str:
    """The program `attend`, one that can train where that is asked for. Raises UsageError where there is none."""
    named = program or os.environ.get("ATTEND_PROGRAM")
    if named:
        return os.fspath(named)
    package = pathlib.Path(__file__).parent
    # In a build folder, where `pip install --target` puts it, where pip puts it.
    places = [package.parents[1] / "attend", package.parent / "bin/attend", pathlib.Path(sysconfig.get_path("scripts")) / "attend"]
    if on_path := shutil.which("attend"):
        places.append(pathlib.Path(on_path))
    found = [place for place in places if place.is_file()]
    for place in found:
        if not trains or (place.resolve().parent / "attend-train").is_file():
            return str(place)
    raise UsageError(
        (f"'{found[0]}' can't train: no attend-train stands beside it" if found else "there is no program attend")
        + "; install the package attend-train, or run `make build` in attend's source and name its build/attend by program= or ATTEND_PROGRAM")


def _arguments(config: _Path | None, options: dict[str, _Option]) -> list[str]:
    arguments = [] if config is None else [f"--config={os.fspath(config)}"]
    for name, value in options.items():
        if name in ("dry_run", "help", "json"):
            raise UsageError(f"attend.train has no option {name}, which trains nothing or is for the command line alone")
        if value is None:
            continue
        values = value if isinstance(value, (list, tuple)) else [value]
        if not values:
            raise ConfigurationError(f"{name} is an empty list, expected a value, or None for the default")
        option = "--" + name.replace("__", ".").replace("_", "-")
        arguments += [f"{option}={_text(name, each)}" for each in values]
    return arguments


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, (str, numbers.Real)):
        return str(value)
    raise ConfigurationError(f"{name} is {value!r}, expected a number, a text, a path, True or False, or a list of these")


def _error_of(status: int, message: str) -> Error:
    if status < 0:
        return RunError(f"attend train was ended by {signal.Signals(-status).name}; the same call continues from its last checkpoint")
    kinds: dict[int, type[Error]] = {2: ConfigurationError, 3: InputError}
    return kinds.get(status, RunError)(message or f"attend train ended with status {status}")


class _Screen:
    """Shows the program's lines to people: in a terminal the progress stays in one line, in a notebook all but warnings do."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.terminal = sys.stderr.isatty()
        self.notebook = not self.terminal and "ipykernel" in sys.modules
        self.line: Any = None  # the notebook's

    def show(self, text: str) -> None:
        if self.quiet:
            return
        if self.notebook and not text.startswith("warning: "):
            content = {"text/plain": text}
            if self.line is None:
                self.line = importlib.import_module("IPython.display").display(content, raw=True, display_id=True)
            else:
                self.line.update(content, raw=True)
        elif self.terminal:
            print("\r\x1b[K" + text, end="" if text.startswith("update ") else "\n", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.terminal and not self.quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Run:
    """One start of the program, and what it said."""

    def __init__(self, screen: _Screen) -> None:
        self.screen = screen
        self.warnings: list[str] = []
        self.last = ""  # line, which in the end is its message
        self.status: int | None = None  # None: it has not ended by itself

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        self.screen.show(f"warning: {text}")

    def start(self, command: list[str]) -> tuple[int, str]:
        """The exit status and what came on standard output."""
        # A group of its own: else the terminal's Ctrl-C would reach it beside the signal from here, and the second ends it at once.
        # Its progress is always read, so if this process dies, the next line of it ends the program, too.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            try:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                    start_new_session=True)
            except OSError as error:
                raise UsageError(f"can't run '{command[0]}': {error.strerror}; program= or ATTEND_PROGRAM names `attend`") from None
            with process:
                try:
                    self.follow(process)
                except BaseException:
                    self.stop(process)
                    raise
            output.seek(0)
            self.status = process.returncode
            return self.status, output.read()

    def follow(self, process: subprocess.Popen[str]) -> None:
        """Reads what it says until it ends."""
        assert process.stderr is not None
        try:
            for line in process.stderr:
                self.last = line.rstrip("\n").removeprefix("attend: ")
                if self.last.startswith("warning: "):
                    self.warnings.append(self.last.removeprefix("warning: "))
                if not line.startswith(("attend: ", "attend train: ")):  # which is its message, for an exception
                    self.screen.show(self.last)
            process.wait()
        finally:
            self.screen.close()

    def stop(self, process: subprocess.Popen[str]) -> None:
        """Lets it write a checkpoint first; another Ctrl-C ends it at once."""
        try:
            process.send_signal(signal.SIGINT)
            self.follow(process)
            self.screen.show(self.last)
        finally:
            process.kill()


def _read(result: dict[str, Any], seconds: float, warnings: tuple[str, ...]) -> Training:
    """The figures in a run's folder, which the program's `result` tells."""
    model, adapter = pathlib.Path(result["model"]), pathlib.Path(result["adapter"]) if "adapter" in result else None
    path = (adapter or model).parent
    history = [json.loads(line) for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    state = newest_state(path)
    validations = [Validation(line["update"], _figures(line["validation"])) for line in history if "validation" in line]
    metric, best = state["run"]["options"]["early_stopping_metric"], state["best_metric"]
    return Training(
        path=path, model=model, adapter=adapter, updates=state["update"], seconds=seconds, test=result["scores"], warnings=warnings,
        history=history,
        last=validations[-1] if validations else None,
        best=next((each for each in validations if each.figures[metric] == best), None))


def newest_state(run: pathlib.Path) -> dict[str, Any]:
    """What a run's newest checkpoint says of it."""
    state: dict[str, Any] = json.loads(max((run / "checkpoints").glob("update-*/state.json")).read_text(encoding="utf-8"))
    return state


def _figures(found: dict[str, float | None]) -> dict[str, float]:
    """JSON has no NaN."""
    return {name: math.nan if value is None else value for name, value in found.items()}
