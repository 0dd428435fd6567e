"""attend.convert: models of other toolkits as attend's model directories, and model directories as models of other toolkits.

    import attend.convert

    found = attend.convert.convert("opus-mt-en-de", "en-de")
    print(found.kind, found.left_out)
    made = attend.convert.export("en-de", "hf-en-de", format="transformers")
    print(made.kind, made.changed, made.left_out)

The same from the command line: `attend import opus-mt-en-de --output en-de`, and
`attend export --format transformers --model en-de --output hf-en-de`. One file of this package reads one kind of source (SOURCES), or
writes one (TARGETS). Weights take the package safetensors; reading PyTorch's pickles takes torch, which loads tensors and plain values
from them and nothing else; writing models of CTranslate2 takes ctranslate2.
"""

from __future__ import annotations

import os
import pathlib

from attend._errors import Error, InputError, UsageError
from attend.convert import (
    _bart, _ctranslate2, _ctranslate2_whisper, _encoders, _eole, _fairseq, _gpt2, _marian, _marian_transformers, _opennmt, _recognise, _t5, _to_bert,
    _to_ctranslate2, _to_gpt2, _to_marian, _vit, _whisper)
from attend.convert._source import Converted, Languages, Source
from attend.convert._target import Directory, Exported, Target, read_directory
from attend._whole import whole

__all__ = ["SOURCES", "TARGETS", "Converted", "Exported", "convert", "export", "recognise"]

SOURCES: tuple[Source, ...] = (
    _marian_transformers.SOURCE, _bart.SOURCE, _t5.SOURCE, _encoders.SOURCE, _vit.SOURCE, _whisper.SOURCE, _gpt2.SOURCE, _marian.SOURCE,
    _ctranslate2_whisper.SOURCE, _ctranslate2.SOURCE, _fairseq.SOURCE, _opennmt.SOURCE, _eole.SOURCE)
TARGETS: tuple[Target, ...] = (*_to_marian.TARGETS, *_to_gpt2.TARGETS, *_to_bert.TARGETS, *_to_ctranslate2.TARGETS)


def recognise(path: str | os.PathLike[str]) -> Source:
    """The kind of model at `path`. Raises attend.InputError that names what was looked for."""
    folder = pathlib.Path(path)
    if not folder.exists():
        raise InputError(f"'{folder}' does not exist; expected a model of another toolkit")
    for source in SOURCES:
        if source.recognises(folder):
            return source
    raise _recognise.refusal(folder, [kind for source in SOURCES for kind in source.model_types])


def new_path(output: str | os.PathLike[str]) -> pathlib.Path:
    """Raises attend.UsageError where something stands there."""
    target = pathlib.Path(output)
    if target.exists():
        raise UsageError(f"'{target}' exists; remove it or choose another name")
    return target


def _read(kind: Source, source: pathlib.Path, languages: Languages) -> Converted:
    try:
        if kind.convert_between is not None:
            return kind.convert_between(source, languages)
        converted = kind.convert(source)
        languages.name(converted.model)
        return converted
    except Error:
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        raise InputError(f"'{source}': a file of it is damaged ({type(error).__name__}: {error})") from error


def convert(
    source: str | os.PathLike[str], output: str | os.PathLike[str], *, source_language: str | None = None, target_language: str | None = None,
    label_scheme: str | None = None,
) -> Converted:
    """Writes the model directory `output` from the model at `source`. A model of several languages becomes one that translates from
    `source_language` to `target_language`, as the model names them. To another translation model they give names, which clients of the
    service ask by. `label_scheme` says how a tagger's labels spell entities.

    Raises attend.InputError that names the file and key where the source is damaged or has something that attend lacks, and
    attend.UsageError where `output` stands already, or languages or `label_scheme` are not for the model.
    """
    target = new_path(output)
    kind = recognise(source)
    converted = _read(kind, pathlib.Path(source), Languages(source_language, target_language))
    if label_scheme is not None:
        converted.spell_labels(label_scheme)
    _write(converted, source, target)
    return converted


def _write(converted: Converted, source: str | os.PathLike[str], output: pathlib.Path) -> None:
    try:
        converted.write(output)
    except InputError as error:  # which knows attend's names alone
        called = converted.source_of(str(error))
        raise InputError(f"'{source}' makes no model of attend's (docs/model_file.md): {error}{called}") from error


def target_of(directory: Directory, format: str) -> Target:
    """What the model can become in this format. Raises attend.InputError that tells what can."""
    known = [target for target in TARGETS if target.format == format]
    if not known:
        raise UsageError(f"format is '{format}', expected transformers or ctranslate2")
    text = not any(directory.model.get(key) for key in ("patches", "frames", "fusion"))
    found = next((target for target in known if text and target.fits(directory.model)), None)
    if found is None:
        takes = "; ".join(target.takes for target in known)
        raise InputError(f"'{directory.path}' is no model that attend writes for {format}; it writes models of text: {takes}")
    return found


def write(exported: Exported, output: str | os.PathLike[str]) -> None:
    """Makes the folder, which appears whole or not at all."""
    with whole(new_path(output)) as made:
        made.mkdir()
        exported.write(made)


def export(
    model: str | os.PathLike[str], output: str | os.PathLike[str], *, format: str = "transformers", positions: int = 1024) -> Exported:
    """Writes the model directory `model` as a model of another toolkit, transformers or ctranslate2, into the folder `output`.

    Sinusoids become a table of so many `positions` where the other toolkit needs one. Raises attend.InputError that names the key that the
    other toolkit lacks, and attend.UsageError where `output` stands already.
    """
    if positions < 1:
        raise UsageError(f"positions is {positions}, expected at least 1")
    new_path(output)
    directory = read_directory(pathlib.Path(model))
    exported = target_of(directory, format).export(directory, positions)
    write(exported, output)
    return exported
