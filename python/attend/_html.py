"""HTML through a translator: tags go where the words go that they stand at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from attend._attend import HtmlDocument

if TYPE_CHECKING:
    from attend._attend import Translator
    from attend._results import Translation


class TranslatedHtml(str):
    """HTML in another language: a str that knows what the search found for its texts."""

    translations: tuple[Translation, ...]  # of the texts between the tags that divide it, in order

    def __new__(cls, html: str, translations: tuple[Translation, ...]) -> TranslatedHtml:
        self = super().__new__(cls, html)
        self.translations = translations
        return self

    def __getnewargs__(self) -> tuple[str, tuple[Translation, ...]]:  # type: ignore[override]  # what pickle makes it from
        return (str(self), self.translations)


@overload
def translate_html(translator: Translator, html: str, **options: Any) -> TranslatedHtml: ...


@overload
def translate_html(translator: Translator, html: Iterable[str], **options: Any) -> list[TranslatedHtml]: ...


def translate_html(translator: Translator, html: str | Iterable[str], **options: Any) -> TranslatedHtml | list[TranslatedHtml]:
    """The translation of an HTML text, whole or in part, or of each of several, which share batches.

    Tags inside a line (b, a, span ..., and any whose name has a hyphen) go where their words go, by alignment; all others divide the
    text. What is marked translate="no", code, scripts and comments stay as they are. `options` are those of `Translator.translate`.
    `translations` of the result tells which texts were cut or divided, or have unknown characters.
    """
    documents = [HtmlDocument(text) for text in ([html] if isinstance(html, str) else html)]
    translations = iter(translator.translate([text for document in documents for text in document.texts], alignments=True, **options))
    joined = []
    for document in documents:
        best = tuple(next(translations) for _ in document.texts)
        joined.append(TranslatedHtml(document.translated([str(each) for each in best], [each.alignment for each in best]), best))
    return joined[0] if isinstance(html, str) else joined
