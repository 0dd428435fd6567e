"""`attend export --format transformers --model MODEL --output DIRECTORY`, which runs this module with its options as one JSON object."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any

from attend import _say
from attend._command import run
from attend._errors import InputError, RunError
from attend.convert import new_path, target_of, write
from attend.convert._command import describe
from attend.convert._target import read_directory

TOLERANCE = 1e-4  # of the samples' log-probabilities


def _run(options: argparse.Namespace) -> None:
    say = (lambda text: None) if options.quiet else _say.say
    new_path(options.output)
    directory = read_directory(pathlib.Path(options.model))
    if options.verify and (directory.is_int8 or directory.samples == 0):
        reason = "is int8, whose products are rounded" if directory.is_int8 else "has no samples"
        raise InputError(f"--verify: '{directory.path}' {reason}; leave it out")
    target = target_of(directory, options.format)
    exported = target.export(directory, options.positions)
    write(exported, options.output)
    for text in exported.changed:
        say(f"changed {text}")
    for text in exported.left_out:
        say(f"left out {text}")
    say(f"wrote {options.output}: {exported.kind}, {describe(directory.model, directory.tensors)}")
    if not options.verify:
        return
    difference = target.compare(directory, pathlib.Path(options.output))
    say(f"log-probabilities of {directory.samples} samples agree within {difference:.1e} with {options.format}")
    if not difference < TOLERANCE:
        raise RunError(f"the samples differ by {difference:.1e}, expected less than {TOLERANCE:.1e}")


def main(options: dict[str, Any]) -> int:
    """With all options of `attend export` for another toolkit, as the program declares them."""
    return run("attend export", options["model"], lambda: _run(argparse.Namespace(**options)))


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
