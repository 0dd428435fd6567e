"""Tables of text: the first column is the source, the second its translation."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attend.documents._plain import read_text
from attend.documents._segment import Kind, Segment

if TYPE_CHECKING:
    from attend.documents import ReadingOptions


class TsvDocument:
    """A row a line, tabs between its columns; no quotes, no tags."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        file = read_text(path)
        self._begin = file.begin
        parts = re.split("(\r?\n)", file.text)
        self._rows, self._ends = [row.split("\t") for row in parts[::2]], [*parts[1::2], ""]
        self._segments: dict[int, Segment] = {}
        for number, row in enumerate(self._rows):
            if row[0].strip() and (options.retranslate or not "".join(row[1:2]).strip()):
                self._segments[number] = Segment()
                self._segments[number].text(row[0])
        self.texts = [segment.html for segment in self._segments.values()]

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the table with translations in the second column; once."""
        for (number, segment), translation in zip(self._segments.items(), translations, strict=True):
            text = "".join(piece.value for piece in segment.pieces(translation) if piece.kind == Kind.TEXT)
            self._rows[number][1:2] = [" ".join(re.split("[\t\r\n]+", text))]
        lines = ("\t".join(row) + end for row, end in zip(self._rows, self._ends, strict=True))
        path.write_bytes((self._begin + "".join(lines)).encode())
