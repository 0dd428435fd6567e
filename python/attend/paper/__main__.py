"""`attend paper TABLE --output DIR`, which runs this module with its options as one JSON object."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import signal
import sys
from typing import Any

from attend._command import status_of
from attend._errors import UsageError
from attend._report import Report
from attend.paper import TABLES
from attend.paper._cells import Cells, locked
from attend.paper._work import Budget, Settings, Work

STOPPED = 130


def seconds(text: str) -> float:
    """Of "90s", "30m" or "4h"."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if found is None:
        raise UsageError(f"--budget is '{text}', expected a number with s, m or h, such as 4h")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


def _run(options: argparse.Namespace) -> None:
    budget = Budget(seconds(options.budget) if options.budget else None)
    # Whole paths: in programs that are started, relative ones start from $ATTEND_DATA.
    settings = Settings(
        data=pathlib.Path(options.data_dir or os.environ.get("ATTEND_DATA", ".")).absolute(), output=pathlib.Path(options.output).absolute(),
        threads=options.threads, rows=[row for text in options.rows for row in text.split(",")], updates=options.updates,
        copy_updates=options.copy_updates, row_minutes=options.row_minutes, price=options.price, dry_run=options.dry_run, quiet=options.quiet,
        model=pathlib.Path(options.model) if options.model else None, sentences=options.sentences, device=options.device, precision=options.precision)
    if settings.dry_run:
        print(_make(options.table, settings, budget)[0].markdown(), end="")
        return
    settings.output.mkdir(parents=True, exist_ok=True)
    with locked(settings.output):
        report, work = _make(options.table, settings, budget)
        for path in report.write(settings.output / options.table):
            work.say(f"wrote {path}")
    if work.left_out:
        work.say("the time of --budget is over; give the same command again to go on")


def _make(table: str, settings: Settings, budget: Budget) -> tuple[Report, Work]:
    work = Work(settings, budget, Cells(settings.output / "cells.jsonl"))
    report = TABLES[table](work)
    report.add_processors(work.cells.used)
    return report, work


def _stop(number: int, frame: Any) -> None:  # noqa: ARG001
    raise KeyboardInterrupt


def main(options: dict[str, Any]) -> int:
    """With all options of `attend paper`, as the program declares them."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    try:
        return status_of("attend paper", options["output"], lambda: _run(argparse.Namespace(**options)))
    except KeyboardInterrupt:
        print("attend paper: stopped; nothing is lost: give the same command again to go on", file=sys.stderr)
        return STOPPED


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
