"""`attend import SOURCE --output MODEL`, `attend-convert` and `python -m attend.convert`."""

from __future__ import annotations

import argparse
import pathlib
import sys

from attend._errors import InputError, RunError
from attend.convert import SOURCES, _recognise, _shortlist, convert, recognise
from attend.convert._command import describe, run


def _usual_output(source: str) -> str:
    """The source's name, in the working directory."""
    path = pathlib.Path(source).resolve()
    name = path.stem if path.is_file() else path.name
    return f"{name}-attend" if pathlib.Path(name).exists() else name


def _run(options: argparse.Namespace) -> None:
    source, output = recognise(options.source), options.output or _usual_output(options.source)
    if options.verify and source.compare is None:
        raise InputError("--verify: the program that the model comes from is not one that can be asked; leave it out")

    def say(text: str) -> None:
        if not options.quiet:
            print(text, flush=True)

    say(f"found {_recognise.found(source.looks_like, pathlib.Path(options.source))}")
    converted = convert(
        options.source, output, source_language=options.source_language, target_language=options.target_language,
        label_scheme=options.label_scheme)
    for text in converted.left_out:
        say(f"left out {text}")
    say(f"wrote {output}: {describe(converted.model, converted.tensors)}")
    if converted.model["task"] == "translation" and not converted.model["languages"]:
        say("named no languages: clients of a service that ask by them need --source-language and --target-language")
    if converted.shortlist is not None:
        say(f"wrote {output}/{_shortlist.FILE}, which --shortlist takes")
    if not options.verify or source.compare is None:
        return
    difference = source.compare(options.source, output)
    what = "vectors" if converted.model["head"] == "none" else "log-probabilities"
    say(f"{what} of {len(converted.texts)} samples agree within {difference:.1e} with the program that the model comes from")
    if not difference < converted.tolerance:
        raise RunError(f"the samples differ by {difference:.1e}, expected less than {converted.tolerance:.1e}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="attend import", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Makes a model directory from a model of another toolkit:\n" + "\n".join(f"  {source.looks_like}" for source in SOURCES),
        epilog="Examples:\n  attend import opus-mt-en-de --output en-de\n  attend import model.npz --output en-de\n"
        "  attend import ct2-en-de --output en-de\n  attend import opus-mt-en-de --output en-de --verify\n"
        "  attend import m2m100 --output en-fr --source-language en --target-language fr")
    parser.add_argument("source", metavar="SOURCE", help="the model's folder or file")
    parser.add_argument("--output", metavar="MODEL", help="model directory to write; by default the source's name, in the working directory")
    parser.add_argument("--source-language", metavar="LANGUAGE", help="what the model translates from; of several, as the model names it")
    parser.add_argument("--target-language", metavar="LANGUAGE", help="what it translates to")
    parser.add_argument("--verify", action="store_true", help="compare with the program that the model comes from, where it is installed")
    parser.add_argument(
        "--label-scheme", choices=("iob1", "iob2", "iobes", "iob", "none"), help="how a tagger's labels spell entities, where it is known")
    parser.add_argument("--quiet", action="store_true", help="print only warnings and errors")
    options = parser.parse_args(arguments)
    return run("attend import", options.source, lambda: _run(options))


if __name__ == "__main__":
    sys.exit(main())
