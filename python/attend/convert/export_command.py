"""`attend export --format transformers --model MODEL --output DIRECTORY`, which runs this module."""

from __future__ import annotations

import argparse
import pathlib
import sys

from attend._errors import InputError, RunError
from attend.convert import TARGETS, target_of, write
from attend.convert._command import describe, run
from attend.convert._target import read_directory

TOLERANCE = 1e-4  # of the samples' log-probabilities


def _run(options: argparse.Namespace) -> None:
    say = (lambda text: None) if options.quiet else print
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


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="attend export", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Makes a model of another toolkit of a model directory:\n" + "\n".join(
            f"  {target.format}: {target.takes}" for target in TARGETS))
    parser.add_argument("--format", choices=sorted({target.format for target in TARGETS}), required=True)
    parser.add_argument("--model", metavar="MODEL", required=True, help="model directory")
    parser.add_argument("--output", metavar="DIRECTORY", required=True, help="directory to write")
    parser.add_argument("--positions", type=int, default=1024, help="rows of a table of positions that sinusoids become")
    parser.add_argument("--verify", action="store_true", help="compare the samples with what the other toolkit makes of them")
    parser.add_argument("--quiet", action="store_true", help="print only warnings and errors")
    options = parser.parse_args(arguments)
    return run("attend export", options.model, lambda: _run(options))


if __name__ == "__main__":
    sys.exit(main())
