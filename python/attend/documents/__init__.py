"""Documents of other programs, translated: their text changes and nothing else. `attend translate-file` runs this.

`FORMATS` names the reader of each file ending. A reader gives the texts of a document as HTML whose tags stand for formatting, and
writes the document with other texts; `_segment.Segment` makes such texts.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from attend._errors import UsageError
from attend._html import translate_html
from attend._packages import needed
from attend._whole import whole

if TYPE_CHECKING:
    from attend._attend import Translator

# The file and the class that read it.
FORMATS = {
    ".docx": ("_office", "OfficeDocument"),
    ".pptx": ("_office", "OfficeDocument"),
    ".odt": ("_opendocument", "OpenDocument"),
    ".epub": ("_epub", "EpubDocument"),
    ".html": ("_html_file", "HtmlFile"),
    ".htm": ("_html_file", "HtmlFile"),
    ".xlf": ("_xliff", "XliffDocument"),
    ".xliff": ("_xliff", "XliffDocument"),
    ".tmx": ("_tmx", "TmxDocument"),
    ".po": ("_po", "PoDocument"),
    ".pot": ("_po", "PoDocument"),
    ".srt": ("_subtitles", "SrtDocument"),
    ".vtt": ("_subtitles", "VttDocument"),
    ".tsv": ("_tsv", "TsvDocument"),
}


@dataclass(frozen=True)
class ReadingOptions:
    """How a document is read."""

    source_language: str | None = None  # such as en; None: what the document says
    target_language: str | None = None  # such as de; None: what the document says, if it does
    retranslate: bool = False  # what has a translation is translated, too


class Document(Protocol):
    """A document that was read; the constructor raises InputError for one that is damaged or not what its name says."""

    texts: list[str]  # what is to be translated, each as HTML

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None: ...

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the document with each of its texts replaced; once."""


def read_document(path: str | os.PathLike[str], options: ReadingOptions | None = None) -> Document:
    """Reads the document at `path`, by its ending."""
    path = pathlib.Path(path)
    file, name = _format_of(path)
    with needed(f"a {path.suffix} file", "'.[documents]' in attend's source folder"):
        module = importlib.import_module(f"attend.documents.{file}")
    return cast(Document, getattr(module, name)(path, options or ReadingOptions()))


def _format_of(path: pathlib.Path) -> tuple[str, str]:
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise UsageError(f"'{path}' ends in '{path.suffix}', expected one of {', '.join(FORMATS)}")
    return found


def write_document(document: Document, translations: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Writes it at `path`, whole or not at all."""
    with whole(pathlib.Path(path)) as unfinished:
        document.write(translations, unfinished)


def _target_language(translator: Translator, wanted: str | None) -> str | None:
    """What documents are to say: the language that was asked for, which must be the model's, or the model's where it names one."""
    named = translator.languages[1] if len(translator.languages) == 2 else None
    if wanted and named:
        asked, own = (re.split("[-_]", language.lower())[0] for language in (wanted, named))
        if len(asked) == len(own) and asked != own:  # de and deu may be the same
            raise UsageError(f"target_language is {wanted}, but the model translates to {named}; leave it out, or use a model for {wanted}")
    return wanted or named


def translate_file(
    translator: Translator, source: str | os.PathLike[str], target: str | os.PathLike[str], *, source_language: str | None = None,
    target_language: str | None = None, retranslate: bool = False, **options: Any,
) -> int:
    """Translates the document `source` to `target`, which gets the same format, and returns how many texts were translated.

    Formatting goes where the words go that have it, by alignment; all else stays as it is. Files that hold translations beside their
    sources (XLIFF, TMX, PO, TSV) keep those that they have, unless `retranslate` is true. `target_language` is by default what the model
    names; TMX, and XLIFF 2 without trgLang, need one. It may be a variant of the model's language, such as de-AT of de, and no other one.
    `options` are those of `Translator.translate`, `glossary` and `memory` too.
    """
    source, target = pathlib.Path(source), pathlib.Path(target)
    if _format_of(source) != _format_of(target) or {source.suffix.lower(), target.suffix.lower()} == {".docx", ".pptx"}:
        raise UsageError(f"'{target}' ends in '{target.suffix}', expected '{source.suffix}', as the source does: formats are not converted")
    options_of_reading = ReadingOptions(source_language, _target_language(translator, target_language), retranslate)
    document = read_document(source, options_of_reading)
    if target.exists() and source.samefile(target):
        raise UsageError(f"'{target}' is the source itself; name another file")
    write_document(document, translate_html(translator, document.texts, **options), target)
    return len(document.texts)
