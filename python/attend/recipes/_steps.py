"""Steps of a recipe, each a command of the program or a function, that go on where an earlier call ended."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attend._errors import RunError, UsageError
from attend._train import find_program
from attend._whole import whole

Path = str | os.PathLike[str]


class Steps:
    """The steps of one output folder. `steps.json` there tells which are done, and by which commands."""

    def __init__(self, folder: Path, *, data_dir: str = "", threads: int = 0, quiet: bool = False) -> None:
        self.folder = pathlib.Path(folder).absolute()  # what is made here does not start from data_dir
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "steps.json"
        self.done: dict[str, Any] = json.loads(self.log.read_text(encoding="utf-8")) if self.log.exists() else {}
        self.program = find_program()
        self.quiet = quiet
        self.common = ["--data-dir", data_dir] * bool(data_dir) + ["--quiet"] * quiet
        self.threads = ["--threads", str(threads)] * bool(threads)

    def path(self, name: str) -> pathlib.Path:
        return self.folder / name

    def command(self, name: str, command: str, *arguments: object, threads: bool = True, data_dir: bool = True) -> None:
        """`attend command`, which may itself go on where it ended."""
        words = [command, *map(str, arguments)]

        def start() -> None:
            common = self.common if data_dir else ["--quiet"] * self.quiet
            status = subprocess.run([self.program, *words, *common, *self.threads * threads], check=False, stdin=subprocess.DEVNULL).returncode
            if status != 0:
                raise RunError(f"step {name} ended with status {status}: attend {' '.join(words)}; the same call goes on from there")

        self.call(name, words, start)

    def call(self, name: str, options: Sequence[object], work: Callable[[], None]) -> None:
        """Does the work, unless it was done with these options. Raises UsageError where it was done with others."""
        said = [str(option) for option in options]
        if name in self.done:
            if self.done[name] != said:
                raise UsageError(
                    f"step {name} of '{self.folder}' was made with other options ({' '.join(self.done[name])}), expected {' '.join(said)}; "
                    "give the same ones, or another output")
            return
        if not self.quiet:
            print(f"step {name}: {' '.join(said)}", file=sys.stderr, flush=True)
        work()
        self.done[name] = said
        write_lines(self.log, [json.dumps(self.done, indent=1)])


def write_lines(path: pathlib.Path, lines: Iterable[str]) -> None:
    """A file that appears whole or not at all."""
    with whole(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)
