"""What was measured, a JSON line each, so that no cell of a table is measured twice."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from attend._errors import InputError, RunError

Result = dict[str, Any]


def processor() -> str:
    """This machine's, as Linux names it, and whether it has AMX, which decides how fast products in bf16 are; "unknown" elsewhere."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    members = {name.strip(): value.strip() for name, found, value in (line.partition(":") for line in reversed(lines)) if found}
    return members.get("model name", "unknown") + (" with AMX" if "amx_bf16" in members.get("flags", "").split() else "")


@contextlib.contextmanager
def locked(folder: pathlib.Path) -> Iterator[None]:
    """Only one `attend paper` at a time is in its body: each would write over what another one adds. Trainings lock their folders in the same way."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"output directory '{folder}' is in use by another `attend paper`; wait for it or choose another --output") from None
        except OSError as error:
            raise RunError(f"can't lock output directory '{folder}': {error.strerror}") from error
        yield
    finally:
        os.close(descriptor)


def _read(line: bytes) -> tuple[str, Result, str]:
    """A cell's key, its result and its processor."""
    cell = json.loads(line)
    key, result, where = Cells.key(cell["cell"], cell["settings"]), cell["result"], cell.get("processor", "unknown")
    if not isinstance(result, dict) or not isinstance(where, str):
        raise TypeError
    return key, result, where


class Cells:
    """The results in a file. A cell is known by its name and by the settings that decide it; the last line of both counts."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.results: dict[str, Result] = {}
        self.processors: dict[str, str] = {}  # that each result was measured on, where that is known
        self.asked: list[str] = []  # the keys of what a page asked for, in that order
        self.kept = 0  # bytes of whole lines: a program that is killed while it writes leaves a part of one
        if not path.exists():
            return
        data = path.read_bytes()
        self.kept = data.rfind(b"\n") + 1
        for number, line in enumerate(data[: self.kept].splitlines(), start=1):
            try:
                key, result, where = _read(line)
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}, line {number}: no cell of `attend paper`; remove the line to measure it again") from error
            self.results[key], self.processors[key] = result, where

    @property
    def used(self) -> list[str]:
        """The processors of what was asked for and is there."""
        return list(dict.fromkeys(self.processors[key] for key in self.asked if key in self.processors))

    def find(self, cell: str, settings: Result) -> Result | None:
        key = self.key(cell, settings)
        self.asked.append(key)
        return self.results.get(key)

    def processor_of(self, cell: str, settings: Result) -> str:
        """What a result that there is was measured on."""
        return self.processors[self.key(cell, settings)]

    def add(self, cell: str, settings: Result, result: Result) -> None:
        here = processor()
        line = json.dumps({"cell": cell, "settings": settings, "result": result, "processor": here}) + "\n"
        with self.path.open("r+b" if self.path.exists() else "w+b") as file:
            file.truncate(self.kept)
            file.seek(self.kept)
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
            self.kept = file.tell()
        key = self.key(cell, settings)
        self.asked.append(key)
        self.results[key], self.processors[key] = result, here

    @staticmethod
    def key(cell: str, settings: Result) -> str:
        return json.dumps([cell, settings], sort_keys=True)
