"""What a catalogue of gettext must be before polib reads it, which passes over damage and then writes it with characters lost."""

from __future__ import annotations

import io
import pathlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from attend._errors import InputError

_HEADER = re.compile(rb'^[ \t]*msgid[ \t]+""\s*^[ \t]*msgstr(.*?)(?=^[ \t]*(?:msg|#)|\Z)', re.MULTILINE | re.DOTALL)
_CHARSET = re.compile(rb"charset=([\w.:-]+)")
_UNNAMED = "CHARSET"  # what xgettext writes into a template
_LINE = re.compile(r"(#~\s|#\|)?\s*(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?)?\s*(.*)", re.DOTALL)
_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')
_ESCAPE = re.compile(r"\\.")
_ESCAPES = (r"\n", r"\t", r"\r", r"\v", r"\b", r"\f", r"\\", r"\"")  # those that polib writes as it reads them
_LONGEST = 80  # characters of a message that an error tells


class _Part(NamedTuple):
    """A line with a string."""

    line: int
    mark: str  # "#~" of what is obsolete, "#|" of what was there before, else ""
    keyword: str  # "" where the string goes on
    text: str  # as it is written


class _Message(NamedTuple):
    line: int
    obsolete: bool
    context: list[str] | None  # its strings, of a line each
    text: list[str]


def encoding_of(path: pathlib.Path, content: bytes) -> str:
    """What the header names; UTF-8 where it names none."""
    header = _HEADER.search(content.replace(b"\r\n", b"\n"))
    named = _CHARSET.search(header[1]) if header else None
    encoding = named[1].decode() if named else _UNNAMED
    if encoding == _UNNAMED:
        return "utf-8"
    try:
        "".encode(encoding)
    except (LookupError, UnicodeError) as error:
        raise InputError(
            f"'{path}' names the encoding {encoding} (charset=), which is unknown; name the one that it has, best UTF-8") from error
    return encoding


def count_messages(path: pathlib.Path, content: bytes, encoding: str) -> int:
    """Of the catalogue, without its header. Raises InputError for a string that is damaged and a message that comes twice."""
    count = 0
    lines: dict[tuple[str | None, str], int] = {}  # of the messages that are not obsolete
    for message in _messages(_parts(path, content, encoding)):
        count += 1
        if message.obsolete:
            continue
        context, text = None if message.context is None else "".join(message.context), "".join(message.text)
        if first := lines.get((context, text)):
            raise InputError(
                f"'{path}:{message.line}' is no PO that can be read: the message \"{text[:_LONGEST]}\" is in line {first}, too; remove one of them")
        lines[context, text] = message.line
    return count - any(not text for _, text in lines)


def _messages(parts: Iterator[_Part]) -> Iterator[_Message]:
    """Each once, when it is whole."""
    message: _Message | None = None
    context: list[str] | None = None
    strings: list[str] = []  # of the keyword that was last
    for part in parts:
        if part.mark == "#|":
            continue
        if part.keyword:
            strings = []
        strings.append(part.text)
        if part.keyword == "msgctxt":
            context = strings
        elif part.keyword == "msgid":
            if message:
                yield message
            message, context = _Message(part.line, part.mark == "#~", context, strings), None
    if message:
        yield message


def _parts(path: pathlib.Path, content: bytes, encoding: str) -> Iterator[_Part]:
    for number, line in enumerate(io.TextIOWrapper(io.BytesIO(content), encoding), 1):
        found = _LINE.fullmatch(line.removeprefix("\ufeff" * (number == 1)).strip())
        mark, keyword, rest = found.groups(default="") if found else ("", "", "")
        if not rest.startswith('"') and not keyword:  # a comment, or what polib refuses
            continue
        string = _STRING.match(rest)
        if not string:
            wrong = "the string has no closing quote; add it" if rest.startswith('"') else f"{keyword} has no string in double quotes; add it"
        elif string.end() < len(rest):
            wrong = "more follows behind the string's closing quote; write \\\" for a quote in a string, and each string on a line of its own"
        elif strange := next((each for each in _ESCAPE.findall(string[1]) if each not in _ESCAPES), ""):
            wrong = rf"the string has {strange}, expected one of {' '.join(_ESCAPES)}; write \\ for a backslash"
        else:
            yield _Part(number, mark.strip(), keyword, string[1])
            continue
        raise InputError(f"'{path}:{number}' is no PO that can be read: {wrong}")
