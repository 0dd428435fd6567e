"""Texts with formatting as HTML, and back: what all readers share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from attend._errors import InputError
from lxml import etree

# What XML can't hold.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_DEEPEST = 200


class Kind(Enum):
    """What a piece of a translation is."""

    TEXT = auto()  # value: the text
    OPEN = auto()  # value: the code of formatting, which holds for the pieces up to its CLOSE
    AGAIN = auto()  # the same for formatting that was open before
    CLOSE = auto()
    PLACE = auto()  # value: the code of something that is no text; comes once


class Piece(NamedTuple):
    """A part of a translation."""

    kind: Kind
    value: Any


def for_xml(text: str) -> str:
    """The text with U+FFFD for each character that XML can't hold."""
    return _NOT_XML.sub("\ufffd", text)


class Segment:
    """A text with formatting, from which a reader makes HTML piece by piece.

    Formatting and what is no text are codes, any values of the reader's. Code n is the tag x-n, of which the code that translates HTML
    knows by its hyphen that it stands inside a line.
    """

    def __init__(self) -> None:
        self._html: list[str] = []
        self._codes: list[Any] = []
        self._open: list[int] = []
        self._places: dict[int, None] = {}  # codes of no text
        self._has_text = False

    @property
    def html(self) -> str:
        """What is to be translated."""
        return "".join(self._html)

    @property
    def has_text(self) -> bool:
        """Whether there is anything to translate."""
        return self._has_text

    def _number(self, code: Any, *, is_text: bool = False) -> int:
        self._codes.append(code)
        number = len(self._codes) - 1
        if not is_text:
            self._places[number] = None
        return number

    def text(self, text: str | None) -> None:
        """Text to translate."""
        self._html.append(escape(for_xml(text or "")))
        self._has_text = self._has_text or bool(text and text.strip())

    def open(self, code: Any) -> None:
        """Formatting begins."""
        if len(self._open) == _DEEPEST:
            raise InputError(f"formatting stands more than {_DEEPEST} deep in formatting; simplify the document")
        self._open.append(self._number(code, is_text=True))
        self._html.append(f"<x-{self._open[-1]}>")

    def close(self) -> None:
        """The formatting that began last ends."""
        self._html.append(f"</x-{self._open.pop()}>")

    def place(self, code: Any) -> None:
        """Something that a reader sees in the line, such as a picture."""
        self._html.append(f"<x-{self._number(code)}/>")

    def keep(self, code: Any, text: str) -> None:
        """Text that is not to be translated."""
        number = self._number(code)
        self._html.append(f'<x-{number} translate="no">{escape(for_xml(text))}</x-{number}>')

    def mark(self, code: Any) -> None:
        """Something that nobody sees, such as a bookmark."""
        self._html.append(f"<!--{self._number(code)}-->")

    def cut(self, code: Any) -> None:
        """Something that divides the text, such as a line end. What is open is closed before it and opened again behind it."""
        codes = [self._codes[number] for number in self._open]
        for _ in codes:
            self.close()
        self._html.append(f'<br n="{self._number(code)}"/>')
        for each in codes:
            self.open(each)

    def pieces(self, translation: str) -> Iterator[Piece]:
        """What a translation of the HTML holds. Each code of no text comes once: one that was lost, at the end."""
        root = etree.fromstring(f"<s>{for_xml(translation)}</s>", etree.XMLParser(huge_tree=True, resolve_entities=False))
        left, opened = set(self._places), set[int]()
        yield from self._pieces_of(root, left, opened)
        for number in sorted(left):
            yield Piece(Kind.PLACE, self._codes[number])

    def _pieces_of(self, parent: etree._Element, left: set[int], opened: set[int]) -> Iterator[Piece]:
        if parent.text:
            yield Piece(Kind.TEXT, parent.text)
        for child in parent:
            number = _number_of(child)
            code = self._codes[number]
            if number in left:
                left.remove(number)
                yield Piece(Kind.PLACE, code)
            elif number not in self._places:
                yield Piece(Kind.AGAIN if id(code) in opened else Kind.OPEN, code)  # behind a cut it has another number
                opened.add(id(code))
                yield from self._pieces_of(child, left, opened)
                yield Piece(Kind.CLOSE, code)
            if child.tail:
                yield Piece(Kind.TEXT, child.tail)


def _number_of(node: etree._Element) -> int:
    """The code's number."""
    if not isinstance(node.tag, str):
        return int(node.text or "")
    return int(node.attrib["n"] if node.tag == "br" else node.tag.removeprefix("x-"))
