"""What became of a document's texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from attend._results import Translation


class Counts(NamedTuple):
    """Of what is translated alone: a text of a document may have several such parts, divided by line breaks or, of HTML, by tags."""

    cut: int = 0  # translations that reached the maximum length
    divided: int = 0  # parts with a sentence of more than max_input_tokens
    with_unknown: int = 0  # parts with characters that the vocabulary lacks
    unknown_characters: int = 0  # these characters
    terms: int = 0  # of the glossary, each time that they stand in the document
    terms_kept: int = 0  # those that the translations have
    lacking: int = 0  # translations that lack a term


class TranslatedTexts(int):
    """How many texts of a document were translated: an int that knows what the search found for them."""

    counts: Counts

    def __new__(cls, texts: int, counts: Counts) -> TranslatedTexts:
        self = super().__new__(cls, texts)
        self.counts = counts
        return self

    def __getnewargs__(self) -> tuple[int, Counts]:  # type: ignore[override]  # what pickle makes it from
        return (int(self), self.counts)


def count(translations: Iterable[Translation]) -> Counts:
    """What happened to them."""
    total = [0] * len(Counts._fields)
    for each in translations:
        best = each.hypotheses[0]
        of_one = Counts(
            not best.finished, each.divided, each.unknown_characters > 0, each.unknown_characters, best.terms, best.terms_kept,
            best.terms_kept < best.terms)
        total = [sum(pair) for pair in zip(total, of_one)]
    return Counts(*total)


def warnings_of(counts: Counts) -> Iterator[str]:
    """In the words of `attend translate`."""
    if counts.divided:
        yield (f"{_texts(counts.divided)} a sentence of more than max_input_tokens, which was translated in parts; "
               "overlong refuse stops at such texts")
    if counts.with_unknown:
        yield (f"{_texts(counts.with_unknown)} characters that the model's vocabulary lacks, and translations lose them; "
               f"{counts.unknown_characters} character{'' if counts.unknown_characters == 1 else 's'}")
    if counts.cut:
        yield (f"{counts.cut} translation{' was' if counts.cut == 1 else 's were'} cut at the maximum length; "
               f"{'is it' if counts.cut == 1 else 'are they'} longer with a larger max_length?")
    if counts.lacking:
        yield (f"{counts.lacking} translation{' lacks' if counts.lacking == 1 else 's lack'} a term of the glossary: the search found no output "
               "with it within the maximum length, or a match of the memory does not have it")


def _texts(number: int) -> str:
    return f"{number} text{' has' if number == 1 else 's have'}"
