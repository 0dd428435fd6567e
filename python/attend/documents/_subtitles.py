"""Subtitles: SRT and WebVTT. Times and settings stay; a cue keeps its number of lines."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import srt
import webvtt
from attend._errors import InputError
from attend.documents._plain import broken, read_tagged, read_text, write_tagged
from attend.documents._segment import Segment
from webvtt.errors import MalformedCaptionError, MalformedFileError

if TYPE_CHECKING:
    from attend.documents import ReadingOptions

# <i>, <font color="red">, <c.loud>, <v Ann>, <00:01.500>, {\an8}
TAG = re.compile(r"</?[A-Za-z][^<>]*>|</?>|<[0-9:.]+>|\{\\[^{}]*\}")
_SPEECH = re.compile(r"(?:<[^<>]*>|\{\\[^{}]*\})*\s*[-\u2010-\u2015]")  # where another speaker begins


class _Cue:
    """What stands on the screen together: a text over several lines, or with a dash at its lines a text for each."""

    def __init__(self, text: str, *, entities: bool) -> None:
        self._lines = text.split("\n")
        self._entities = entities
        self._spoken = any(_SPEECH.match(line) for line in self._lines[1:])
        self.segment = Segment()
        read_tagged(self.segment, text if self._spoken else " ".join(self._lines), TAG, entities=entities)

    def translated(self, translation: str) -> str:
        text = write_tagged(self.segment, translation, entities=self._entities)
        return text if self._spoken else broken(text, len(self._lines), TAG)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


class SrtDocument:
    """SubRip."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        file = read_text(path)
        self._begin, self._line_end = file.begin, _line_end(file.text)
        try:
            self._subtitles = list(srt.parse(file.text.replace("\r\n", "\n")))
        except (srt.SRTParseError, ValueError) as error:
            raise InputError(f"'{path}' is no SRT that can be read: {' '.join(str(error).split())}") from error
        if not self._subtitles and file.text.strip():
            raise InputError(f"'{path}' is no SRT file: it has no line such as 00:00:01,000 --> 00:00:02,500")
        cues = {at: _Cue(each.content, entities=False) for at, each in enumerate(self._subtitles)}
        self._cues = {at: cue for at, cue in cues.items() if cue.segment.has_text}
        self.texts = [cue.segment.html for cue in self._cues.values()]

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the subtitles with each of their texts replaced; once."""
        for (at, cue), translation in zip(self._cues.items(), translations, strict=True):
            self._subtitles[at].content = cue.translated(translation)
        text = srt.compose(self._subtitles, reindex=False, strict=False)
        path.write_bytes((self._begin + text.replace("\n", self._line_end)).encode())


class VttDocument:
    """WebVTT (W3C)."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        file = read_text(path)
        self._begin, self._line_end = file.begin, _line_end(file.text)
        try:
            self._captions = webvtt.from_string(file.text, strict=True)
        except (MalformedFileError, MalformedCaptionError) as error:
            raise InputError(f"'{path}' is no WebVTT that can be read: {' '.join(str(error).split())}") from error
        cues = {at: _Cue("\n".join(each.lines), entities=True) for at, each in enumerate(self._captions.captions)}
        self._cues = {at: cue for at, cue in cues.items() if cue.segment.has_text}
        self.texts = [cue.segment.html for cue in self._cues.values()]

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the subtitles with each of their texts replaced; once."""
        for (at, cue), translation in zip(self._cues.items(), translations, strict=True):
            lines = cue.translated(translation).split("\n")
            self._captions[at].text = "\n".join(line for line in lines if line.strip())  # an empty line ends a cue
        try:
            text = self._captions.content
        except ValueError as error:
            raise InputError(f"'{path}' can't be written as WebVTT: {error}") from error
        path.write_bytes((self._begin + text.replace("\n", self._line_end)).encode())
