"""HTML through a translator: tags go where the words go that they stand at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from attend._attend import HtmlDocument

if TYPE_CHECKING:
    from attend._attend import Translator


@overload
def translate_html(translator: Translator, html: str, **options: Any) -> str: ...


@overload
def translate_html(translator: Translator, html: Iterable[str], **options: Any) -> list[str]: ...


def translate_html(translator: Translator, html: str | Iterable[str], **options: Any) -> str | list[str]:
    """The translation of an HTML text, whole or in part, or of each of several, which share batches.

    Tags inside a line (b, a, span ..., and any whose name has a hyphen) go where their words go, by alignment; all others divide the
    text. What is marked translate="no", code, scripts and comments stay as they are. `options` are those of `Translator.translate`.
    """
    documents = [HtmlDocument(text) for text in ([html] if isinstance(html, str) else html)]
    translations = iter(translator.translate([text for document in documents for text in document.texts], alignments=True, **options))
    joined = []
    for document in documents:
        best = [next(translations) for _ in document.texts]
        joined.append(document.translated([str(each) for each in best], [each.alignment for each in best]))
    return joined[0] if isinstance(html, str) else joined
