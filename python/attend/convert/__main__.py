"""`attend import SOURCE --output MODEL`, `attend-convert` and `python -m attend.convert`."""

from __future__ import annotations

import argparse
import sys

from attend._errors import Error, InputError, RunError
from attend.convert import SOURCES, _shortlist, convert, recognise
from attend.convert._source import Converted


def _describe(converted: Converted, output: str) -> str:
    shape = converted.model
    stacks = [stack for stack in (shape["encoder"], shape["decoder"]) if stack]
    layers = " + ".join(str(stack["layers"]) for stack in stacks)
    size = shape["target_vocab_size"] or shape["source_vocab_size"]
    count = sum(tensor.size for tensor in converted.tensors.values())
    return f"wrote {output}: {layers} layers, {stacks[0]['d_model']} wide, {size:,} tokens, {count / 1e6:.1f} million weights"


def _run(options: argparse.Namespace) -> None:
    source = recognise(options.source)
    say = (lambda text: None) if options.quiet else print
    say(f"found {source.looks_like}")
    converted = convert(options.source, options.output, source_language=options.source_language, target_language=options.target_language)
    for text in converted.left_out:
        say(f"left out {text}")
    say(_describe(converted, options.output))
    if converted.shortlist is not None:
        say(f"wrote {options.output}/{_shortlist.FILE}, which --shortlist takes")
    if not options.verify:
        return
    if source.compare is None:
        raise InputError("--verify: the program that the model comes from is not one that can be asked; leave it out")
    difference = source.compare(options.source, options.output)
    say(f"log-probabilities of {len(converted.texts)} samples agree within {difference:.1e} with the program that the model comes from")
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
    parser.add_argument("--output", metavar="MODEL", required=True, help="model directory to write")
    parser.add_argument("--source-language", metavar="LANGUAGE", help="what a model of several languages is to translate from")
    parser.add_argument("--target-language", metavar="LANGUAGE", help="what it is to translate to")
    parser.add_argument("--verify", action="store_true", help="compare with the program that the model comes from, where it is installed")
    parser.add_argument("--quiet", action="store_true", help="print only warnings and errors")
    try:
        _run(parser.parse_args(arguments))
    except (Error, ModuleNotFoundError) as error:
        print(f"attend import: {error}", file=sys.stderr)
        return 3 if isinstance(error, InputError) else 2 if isinstance(error, ValueError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
