"""HTML files."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attend.documents._plain import read_text
from attend.documents._xml import XML_LANG

if TYPE_CHECKING:
    from attend.documents import ReadingOptions
    from lxml import etree

_HEAD = 1024  # characters in which browsers look for the encoding
_CHARSET = re.compile(r"""(<meta\b[^<>]*?\bcharset\s*=\s*["']?\s*)(?!utf-?8\b)[\w.:-]+""", re.IGNORECASE)


def name_language(root: etree._Element, language: str | None) -> None:
    """Changes the language that an XHTML page names."""
    for attribute in (XML_LANG, "lang"):
        if language and root.get(attribute) is not None:
            root.set(attribute, language)


class HtmlFile:
    """A page; all of it is one text."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        file = read_text(path)
        self._begin = file.begin
        head = _CHARSET.sub(r"\1utf-8", file.text[:_HEAD], count=1)  # what was read as UTF-8 is written so
        self.texts = [head + file.text[_HEAD:]]

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the page in another language."""
        path.write_bytes((self._begin + translations[0]).encode())
