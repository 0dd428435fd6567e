"""Catalogues of gettext: PO and POT."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polib
from attend._errors import InputError
from attend.documents._plain import read_tagged, write_tagged
from attend.documents._po_syntax import count_messages, encoding_of
from attend.documents._segment import Segment
from attend.documents._xml import read_bytes

if TYPE_CHECKING:
    from attend.documents import ReadingOptions

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
# %s, %(name)d, %-5.2f, %1$s, %@ of those that begin with %; {name}, {0:.2f} of the others.
_PERCENT = re.compile(r"%(?:\(\w+\)|\d+\$)?[-+ #0']*(?!0)[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|q|j|z|t|L)?[A-Za-z@%]")
_NUMBERED = re.compile(r"%L?(?:\d+|n)")  # of Qt and KDE
_QT = {"qt-format", "qt-plural-format", "kde-format", "kde-kuit-format"}
_BRACE = re.compile(r"\{[^{}\s]*\}")
_BRACED = {"python-brace-format", "csharp-format", "java-format", "java-printf-format", "perl-brace-format", "c++-format"}
_PLURALS = re.compile(r"nplurals\s*=\s*(\d+)")
_MOST_PLURALS = 10


def _placeholders(flags: list[str]) -> re.Pattern[str] | None:
    """What the program replaces in a message with these flags."""
    formats = {flag for flag in flags if flag.endswith("-format") and not flag.startswith("no-")}
    if not formats:
        return None
    patterns = [
        (_BRACE, formats & _BRACED), (_NUMBERED, formats & _QT), (_PERCENT, formats - _BRACED - _QT | formats & {"java-printf-format"})]
    return re.compile("|".join(pattern.pattern for pattern, wanted in patterns if wanted))


class PoDocument:
    """A catalogue. It is written in UTF-8. The header is not translated; obsolete messages stay. A fuzzy message has no translation yet."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        content = read_bytes(path)
        self._begin = "\ufeff" * content.startswith(b"\xef\xbb\xbf")
        self._line_end = "\r\n" if b"\r\n" in content else "\n"
        self._begins_empty = re.match(rb"(\xef\xbb\xbf)?#\r?\n", content) is not None  # by an empty comment, which polib writes always
        try:
            encoding = encoding_of(path, content)
            count = count_messages(path, content, encoding)
            self._catalogue = polib.pofile(str(path), encoding=encoding)  # which takes text, too, and looks whether it names a file
        except InputError:
            raise
        except (OSError, ValueError, IndexError, LookupError) as error:
            raise InputError(f"'{path}' is no PO that can be read: {' '.join(str(error).split())}") from error
        if not len(self._catalogue) and not self._catalogue.metadata and content.strip():
            raise InputError(f"'{path}' is no PO file: it has no message")
        if len(self._catalogue) != count:  # such as the last one, with an empty comment behind it
            raise InputError(
                f"'{path}' is no PO that can be read: of {count} messages polib finds {len(self._catalogue)}; remove comments behind the last one")
        plurals = _PLURALS.search(self._catalogue.metadata.get("Plural-Forms", ""))
        self._plurals = min(int(plurals[1]), _MOST_PLURALS) if plurals else 2
        self._language, self._retranslate = options.target_language, options.retranslate
        self._segments = [
            (entry, plural, segment) for entry in self._catalogue if not entry.obsolete and (options.retranslate or not entry.translated())
            for plural, segment in self._read(entry)]
        self.texts = [segment.html for _, _, segment in self._segments]

    @staticmethod
    def _read(entry: polib.POEntry) -> Iterator[tuple[bool, Segment]]:
        """(whether it is the plural, text) of a message."""
        for plural, text in ((False, entry.msgid), (True, entry.msgid_plural)):
            segment = Segment()
            read_tagged(segment, text, _TAG, kept=_placeholders(entry.flags))
            if segment.has_text:
                yield plural, segment

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the catalogue with each of its texts translated; once."""
        for entry, _, _ in self._segments:
            if self._retranslate or entry.fuzzy:
                entry.msgstr_plural = dict.fromkeys(entry.msgstr_plural, "")
        # Plurals come first, and what stands for one fills the forms that they leave.
        for (entry, plural, segment), translation in reversed(list(zip(self._segments, translations, strict=True))):
            text = write_tagged(segment, translation)
            if not entry.msgid_plural:
                entry.msgstr = text
            else:
                forms = range(min(1, self._plurals - 1) if plural else 0, self._plurals)
                entry.msgstr_plural |= {form: text for form in forms if not entry.msgstr_plural.get(form)}
            entry.flags = [flag for flag in entry.flags if flag != "fuzzy"]
            entry.previous_msgid = entry.previous_msgid_plural = entry.previous_msgctxt = None
        if self._language:
            self._catalogue.metadata["Language"] = self._language
        if self._catalogue.metadata:
            self._catalogue.metadata["Content-Type"] = "text/plain; charset=UTF-8"
        self._catalogue.encoding = "utf-8"
        text = str(self._catalogue).rstrip("\n") + "\n"
        if not self._catalogue.header and not self._begins_empty:
            text = text.removeprefix("#\n")
        path.write_bytes((self._begin + text.replace("\n", self._line_end)).encode())
