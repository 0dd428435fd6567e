"""What was measured, a JSON line each, so that no cell of a table is measured twice."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from attend._errors import InputError

Result = dict[str, Any]


class Cells:
    """The results in a file. A cell is known by its name and by the settings that decide it; the last line of both counts."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.results: dict[str, Result] = {}
        self.kept = 0  # bytes of whole lines: a program that is killed while it writes leaves a part of one
        if not path.exists():
            return
        data = path.read_bytes()
        self.kept = data.rfind(b"\n") + 1
        for number, line in enumerate(data[: self.kept].splitlines(), start=1):
            try:
                cell = json.loads(line)
                self.results[self.key(cell["cell"], cell["settings"])] = cell["result"]
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}, line {number}: no cell of `attend paper`; remove the line to measure it again") from error

    def find(self, cell: str, settings: Result) -> Result | None:
        return self.results.get(self.key(cell, settings))

    def add(self, cell: str, settings: Result, result: Result) -> None:
        line = json.dumps({"cell": cell, "settings": settings, "result": result}) + "\n"
        with self.path.open("r+b" if self.path.exists() else "w+b") as file:
            file.truncate(self.kept)
            file.seek(self.kept)
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
            self.kept = file.tell()
        self.results[self.key(cell, settings)] = result

    @staticmethod
    def key(cell: str, settings: Result) -> str:
        return json.dumps([cell, settings], sort_keys=True)
