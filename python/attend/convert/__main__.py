"""`attend import SOURCE --output MODEL`, which runs this module with its options as one JSON object."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any

from attend import _say
from attend._command import run
from attend._errors import RunError
from attend.convert import _recognise, _shortlist, convert, recognise
from attend.convert._command import describe


def _usual_output(source: str) -> str:
    """The source's name, in the working directory."""
    path = pathlib.Path(source).resolve()
    name = path.stem if path.is_file() else path.name
    return f"{name}-attend" if pathlib.Path(name).exists() else name


def _run(options: argparse.Namespace) -> None:
    source, output = recognise(options.source), options.output or _usual_output(options.source)

    def say(text: str) -> None:
        if not options.quiet:
            _say.say(text)

    say(f"found {_recognise.found(source.looks_like, pathlib.Path(options.source))}")
    converted = convert(
        options.source, output, source_language=options.source_language or None, target_language=options.target_language or None,
        label_scheme=None if options.label_scheme == "auto" else options.label_scheme)
    for text in converted.left_out:
        say(f"left out {text}")
    say(f"wrote {output}: {describe(converted.model, converted.tensors)}")
    if converted.model["task"] == "translation" and not converted.model["languages"]:
        say("named no languages: clients of a service that ask by them need --source-language and --target-language")
    if converted.shortlist is not None:
        say(f"wrote {output}/{_shortlist.FILE}, which --shortlist takes")
    if not options.verify:
        return
    difference = source.compare(options.source, output)
    what = "vectors" if converted.model["head"] == "none" else "log-probabilities"
    say(f"{what} of {len(converted.texts)} samples agree within {difference:.1e} with the program that the model comes from")
    if not difference < converted.tolerance:
        raise RunError(f"the samples differ by {difference:.1e}, expected less than {converted.tolerance:.1e}")


def main(options: dict[str, Any]) -> int:
    """With all options of `attend import`, as the program declares them."""
    return run("attend import", options["source"], lambda: _run(argparse.Namespace(**options)))


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
