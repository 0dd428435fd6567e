"""Plain text: files of it, and text that has tags such as <i>."""

from __future__ import annotations

import html
import pathlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from attend._errors import InputError
from attend.documents._segment import Kind, Segment
from attend.documents._xml import read_bytes


class TextFile(NamedTuple):
    """A file of text."""

    begin: str  # a byte order mark, or nothing
    text: str  # with its line ends


def read_text(path: pathlib.Path) -> TextFile:
    """Reads UTF-8."""
    content = read_bytes(path)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"'{path}' is not UTF-8 at byte {error.start}; expected text in UTF-8, which iconv makes of other encodings") from error
    if "\0" in text:
        raise InputError(f"'{path}' is no text: it has NUL characters")
    return TextFile("\ufeff", text[1:]) if text.startswith("\ufeff") else TextFile("", text)


@dataclass(frozen=True)
class _Tags:
    """Formatting, as it was written."""

    opening: str
    closing: str


_NAME = re.compile(r"</?([^\s<>/.]*)")


def read_tagged(segment: Segment, text: str, tag: re.Pattern[str], *, kept: re.Pattern[str] | None = None, entities: bool = False) -> None:
    """Adds a text. Two matches of `tag` that begin and end the same, one in the other, are formatting; others are marks. Matches of
    `kept` are text that is not to be translated; a line end divides. With `entities`, &amp; is a character."""
    tokens = list(_tokens(text, tag))
    pairs = _pairs(tokens)
    closing = set(pairs.values())
    for at, (is_tag, token) in enumerate(tokens):
        if not is_tag:
            _read_untagged(segment, token, kept, entities=entities)
        elif at in pairs:
            segment.open(_Tags(token, tokens[pairs[at]][1]))
        elif at in closing:
            segment.close()
        else:
            segment.mark(token)


def _tokens(text: str, tag: re.Pattern[str]) -> Iterator[tuple[bool, str]]:
    """(is a tag, text)."""
    done = 0
    for match in tag.finditer(text):
        yield False, text[done:match.start()]
        yield True, match.group()
        done = match.end()
    yield False, text[done:]


def _pairs(tokens: list[tuple[bool, str]]) -> dict[int, int]:
    """Tokens that close, by those that open."""
    pairs, opened, counts = {}, list[tuple[str, int]](), Counter[str]()
    for at, (is_tag, token) in enumerate(tokens):
        name = _NAME.match(token) if is_tag else None
        if name is None or not name[1] or token.endswith("/>"):
            continue
        if not token.startswith("</"):
            opened.append((name[1], at))
            counts[name[1]] += 1
        elif counts[name[1]]:
            last = ("", 0)
            while last[0] != name[1]:
                last = opened.pop()
                counts[last[0]] -= 1
            pairs[last[1]] = at
    return pairs


def _read_untagged(segment: Segment, text: str, kept: re.Pattern[str] | None, *, entities: bool) -> None:
    parts = re.split(f"({kept.pattern})", text) if kept else [text]
    for number, part in enumerate(parts):
        if number % 2:
            segment.keep(part, part)
            continue
        for line in re.split("(\n)", part):
            if line == "\n":
                segment.cut(line)
            else:
                segment.text(html.unescape(line) if entities else line)


def write_tagged(segment: Segment, translation: str, *, entities: bool = False) -> str:
    """The translation with the tags as they were written."""
    written = []
    for kind, value in segment.pieces(translation):
        if kind == Kind.TEXT:
            written.append(html.escape(value, quote=False) if entities else value)
        elif kind == Kind.PLACE:
            written.append(value)
        else:
            written.append(value.closing if kind == Kind.CLOSE else value.opening)
    return "".join(written)


def broken(text: str, lines: int, tag: re.Pattern[str]) -> str:
    """The text in so many lines of about equal length, tags not counted, or fewer where it has too few words."""
    hidden = {at for match in tag.finditer(text) for at in range(match.start(), match.end())}
    seen = [at for at in range(len(text)) if at not in hidden]
    spaces = [(place, at) for place, at in enumerate(seen) if text[at] == " " and 0 < place < len(seen) - 1]
    cuts, first = [0], 0  # `first`: the first space behind the last cut
    for line in range(1, min(lines, len(spaces) + 1)):
        wanted = len(seen) * line / lines
        behind = bisect_left(spaces, wanted, first, key=lambda space: space[0])
        nearest = [at for at in (behind - 1, behind) if first <= at < len(spaces)]
        if nearest:
            chosen = min(nearest, key=lambda at, wanted=wanted: abs(spaces[at][0] - wanted))  # type: ignore[misc]
            cuts.append(spaces[chosen][1])
            first = chosen + 1
    cuts.append(len(text))
    return "\n".join(text[begin + (begin > 0):end] for begin, end in pairwise(cuts))
