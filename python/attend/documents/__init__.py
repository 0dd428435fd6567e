"""Documents of other programs, translated: their text changes and nothing else. `attend translate-file` runs this.

`FORMATS` names the reader of each file ending. A reader gives the texts of a document as HTML whose tags stand for formatting, and
writes the document with other texts; `_segment.Segment` makes such texts.
"""

from __future__ import annotations

import importlib
import os
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from attend._errors import UsageError
from attend._html import translate_html
from attend._packages import needed
from attend._whole import whole
from attend.documents._languages import other_language
from attend.documents._translated import Counts, TranslatedTexts, count

if TYPE_CHECKING:
    from attend._attend import Translator

__all__ = ["FORMATS", "Counts", "Document", "ReadingOptions", "TranslatedTexts", "read_document", "translate_file", "write_document"]

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
    model_language: str | None = None  # that the model reads: where source_language is None, the document's must be the same
    names: tuple[str, str] = ("source_language", "target_language")  # what errors call the two languages


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
    suffix = path.suffix.lower()
    found = FORMATS.get(suffix)
    if found is None:
        cure = f"; save it as {suffix}x" if suffix in (".doc", ".ppt") else ""
        raise UsageError(f"'{path}' ends in '{path.suffix}', expected one of {', '.join(FORMATS)}{cure}")
    return found


def write_document(document: Document, translations: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Writes it at `path`, whole or not at all."""
    with whole(pathlib.Path(path)) as unfinished:
        document.write(translations, unfinished)


def _reading_options(translator: Translator, source: str | None, target: str | None, *, retranslate: bool) -> ReadingOptions:
    """With what documents are to say: the languages that were asked for, which must be the model's, or the model's where it names them."""
    named = translator.languages if len(translator.languages) == 2 else (None, None)
    for name, wanted, own, direction in (("source_language", source, named[0], "from"), ("target_language", target, named[1], "to")):
        if wanted and own and other_language(wanted, own):
            raise UsageError(f"{name} is {wanted}, but the model translates {direction} {own}; leave it out, or use a model for {wanted}")
    return ReadingOptions(source, target or named[1], retranslate, named[0])


def translate_file(
    translator: Translator, source: str | os.PathLike[str], target: str | os.PathLike[str], *, source_language: str | None = None,
    target_language: str | None = None, retranslate: bool = False, **options: Any,
) -> TranslatedTexts:
    """Translates the document `source` to `target`, which gets the same format, and returns how many texts were translated. `counts` of that
    number tells what was cut, divided or unknown.

    Formatting goes where the words go that have it, by alignment; all else stays as it is. Files that hold translations beside their
    sources (XLIFF, TMX, PO, TSV) keep those that they have, unless `retranslate` is true. The languages are by default those that the model
    names; TMX, and XLIFF 2 without trgLang, need a target. Each may be a variant of the model's language, such as de-AT of de, and no other one.
    `options` are those of `Translator.translate`, `glossary` and `memory` too.
    """
    source, target = pathlib.Path(source), pathlib.Path(target)
    if _format_of(source) != _format_of(target) or {source.suffix.lower(), target.suffix.lower()} == {".docx", ".pptx"}:
        raise UsageError(f"'{target}' ends in '{target.suffix}', expected '{source.suffix}', as the source does: formats are not converted")
    document = read_document(source, _reading_options(translator, source_language, target_language, retranslate=retranslate))
    if target.exists() and source.samefile(target):
        raise UsageError(f"'{target}' is the source itself; name another file")
    translations = translate_html(translator, document.texts, **options)
    write_document(document, translations, target)
    return TranslatedTexts(len(document.texts), count(each for text in translations for each in text.translations))
