"""attend.convert: models of other toolkits as attend's model directories.

    import attend.convert

    found = attend.convert.convert("opus-mt-en-de", "en-de")
    print(found.kind, found.left_out)

The same from the command line: `attend import opus-mt-en-de --output en-de`, or `attend-convert`. One file of this package reads one
kind of source; SOURCES lists them. Reading weights takes the package safetensors; reading PyTorch's pickles takes torch, which loads
tensors and plain values from them and nothing else.
"""

from __future__ import annotations

import os
import pathlib

from attend._errors import InputError, UsageError
from attend.convert import _bart, _ctranslate2, _encoders, _eole, _fairseq, _gpt2, _marian, _marian_transformers, _opennmt
from attend.convert._source import Converted, Languages, Source

__all__ = ["SOURCES", "Converted", "convert", "recognise"]

SOURCES: tuple[Source, ...] = (
    _marian_transformers.SOURCE, _bart.SOURCE, _encoders.SOURCE, _gpt2.SOURCE, _marian.SOURCE, _ctranslate2.SOURCE, _fairseq.SOURCE,
    _opennmt.SOURCE, _eole.SOURCE)


def recognise(path: str | os.PathLike[str]) -> Source:
    """The kind of model at `path`. Raises attend.InputError that names what was looked for."""
    folder = pathlib.Path(path)
    if not folder.exists():
        raise InputError(f"'{folder}' does not exist; expected a model of another toolkit")
    for source in SOURCES:
        if source.recognises(folder):
            return source
    known = "; ".join(source.looks_like for source in SOURCES)
    raise InputError(f"'{folder}' is no model that can be imported; expected one of: {known}")


def convert(
    source: str | os.PathLike[str], output: str | os.PathLike[str], *, source_language: str | None = None, target_language: str | None = None,
) -> Converted:
    """Writes the model directory `output` from the model at `source`. A model of several languages becomes one that translates from
    `source_language` to `target_language`, as the model names them.

    Raises attend.InputError that names the file and key where the source is damaged or has something that attend lacks, and
    attend.UsageError where `output` stands already.
    """
    target = pathlib.Path(output)
    if target.exists():
        raise UsageError(f"'{target}' exists; remove it or choose another name")
    kind = recognise(source)
    languages = Languages(source_language, target_language)
    if languages == Languages():
        converted = kind.convert(pathlib.Path(source))
    elif kind.convert_between is None:
        raise UsageError(f"source_language or target_language is given, but '{source}' is no model of several languages; leave them out")
    else:
        converted = kind.convert_between(pathlib.Path(source), languages)
    converted.write(target)
    return converted
