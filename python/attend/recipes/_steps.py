"""Steps of a recipe, each a command of the program or a function, that go on where an earlier call ended."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pathlib
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attend._errors import InputError, RunError, UsageError
from attend._say import complain
from attend._train import find_program
from attend._whole import whole

Path = str | os.PathLike[str]
_STOPPED = (128 + signal.SIGINT, 128 + signal.SIGTERM)  # a command's status after a signal that it could take


class Steps:
    """The steps of one output folder. `steps.json` there tells which are done, by which commands and of which files."""

    def __init__(self, folder: Path, *, data_dir: str = "", threads: int = 0, quiet: bool = False) -> None:
        self.folder = pathlib.Path(folder).absolute()  # what is made here does not start from data_dir
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "steps.json"
        self.done: dict[str, Any] = json.loads(self.log.read_text(encoding="utf-8")) if self.log.exists() else {}
        self.program = find_program()
        self.quiet = quiet
        self.data_dir = pathlib.Path(data_dir).absolute()
        self.common = ["--data-dir", data_dir] * bool(data_dir) + ["--quiet"] * quiet
        self.threads = ["--threads", str(threads)] * bool(threads)
        self.digests: dict[pathlib.Path, str] = {}

    def path(self, name: str) -> pathlib.Path:
        return self.folder / name

    def command(
            self, name: str, command: str, *arguments: object, reads: Sequence[Path] = (), threads: bool = True, data_dir: bool = True) -> None:
        """`attend command`, which may itself go on where it ended."""
        words = [command, *map(str, arguments)]
        more = [*(self.common if data_dir else ["--quiet"] * self.quiet), *self.threads * threads]
        self.call(name, words, lambda: self._start(name, words, more), reads=reads)

    def expect(self, model: Path, files: Iterable[Path]) -> None:
        """Raises InputError where the model directory or one of the files is not there, so that nothing is run in vain."""
        for path, what in ((pathlib.Path(model) / "config.json", "a model directory"), *((self.data_dir / file, "a file of text") for file in files)):
            if not path.exists():
                raise InputError(f"'{path}' is missing, expected {what}; correct the name")

    def finish(self, model: pathlib.Path) -> None:
        """Says that there is no more to do."""
        if not self.quiet:
            complain(f"all steps are done: {model}")

    def check(self, command: str, *arguments: object) -> None:
        """Runs `attend command` for its errors alone; what it prints is for nobody, and it is never done."""
        words = [command, *map(str, arguments)]
        if not self.quiet:
            complain(f"step check: {shlex.join(words)}")
        self._start("check", words, [*self.common, *self.threads], output=subprocess.DEVNULL)

    def _start(self, name: str, words: Sequence[str], more: Sequence[str], *, output: int | None = None) -> None:
        status = run([self.program, *words, *more], output)
        if status == 0:
            return
        stopped = status < 0 or status in _STOPPED
        what_next = "the same call goes on from there" if stopped else "mend what it says, then give the same call"
        raise RunError(f"step {name} ended with status {status}: attend {shlex.join(words)}; {what_next}")

    def call(self, name: str, options: Sequence[object], work: Callable[[], None], *, reads: Sequence[Path] = ()) -> None:
        """Does the work, unless it was done with these options and these files. `reads`: what the caller gave of them, files and model
        directories; relative names start from data_dir. Raises UsageError where it was done with others."""
        digests = {str(path): self._digest(path) for path in reads}
        said = {"command": shlex.join(map(str, options)), "data_dir": str(self.data_dir), "digests": digests}
        if name in self.done:
            if self.done[name] != said:
                raise UsageError(f"step {name} of '{self.folder}' {_difference(self.done[name], said)}; give the same, or another output")
            return
        if not self.quiet:
            complain(f"step {name}: {said['command']}")
        work()
        self.done[name] = said
        write_lines(self.log, [json.dumps(self.done, indent=1)])

    def _digest(self, path: Path) -> str:
        """SHA-256 of a file, or of a model's config.json, which has those of its other files; "" of what is not there, which the step tells."""
        whole_path = self.data_dir / path
        if whole_path.is_dir():
            whole_path /= "config.json"
        if not whole_path.is_file():
            return ""
        if whole_path not in self.digests:
            digest = hashlib.sha256()
            with whole_path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
            self.digests[whole_path] = digest.hexdigest()
        return self.digests[whole_path]


def _options(command: str) -> dict[str, list[str]]:
    """The values of each option of a command; those of "" stand before the first."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for word in shlex.split(command):
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            found.setdefault(name, []).extend([value] * bool(equals))
        else:
            found[name].append(word)
    return found


def _said(values: list[str] | None) -> str:
    return "not given" if values is None else shlex.join(values) or "given"


def _difference(before: Any, now: dict[str, Any]) -> str:
    if not isinstance(before, dict):
        return "was made by another version"
    old, new = _options(before["command"]), _options(now["command"])
    differences = [
        f"{name or 'its command'} was {_said(old.get(name))}, now {_said(new.get(name))}"
        for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    if before["data_dir"] != now["data_dir"]:
        differences.append(f"data_dir was {before['data_dir']}, now {now['data_dir']}")
    if differences:
        return f"was made with other options: {', '.join(differences)}"
    changed = [path for path, digest in now["digests"].items() if before["digests"].get(path) != digest]
    return f"was made of other files; since then these have changed: {', '.join(changed)}" if changed else "was made by another version"


def run(command: Sequence[str], output: int | None = None) -> int:
    """The status of a program that ends with this process: Ctrl-C and SIGTERM let it write its checkpoint first, another one kills it."""
    prctl, dies_with_parent = ctypes.CDLL(None).prctl, 1  # PR_SET_PDEATHSIG

    def tie() -> None:
        prctl(dies_with_parent, signal.SIGKILL)  # so that the same call finds its files free at once

    # A group of its own: else the terminal's Ctrl-C would reach it beside the signal from here, and the second ends it at once.
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, start_new_session=True, preexec_fn=tie) as process:
        try:
            return process.wait()
        except BaseException as reason:
            try:
                process.send_signal(signal.SIGINT if isinstance(reason, KeyboardInterrupt) else signal.SIGTERM)
                process.wait()
            finally:
                process.kill()
            raise


def write_lines(path: pathlib.Path, lines: Iterable[str]) -> None:
    """A file that appears whole or not at all."""
    with whole(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)
