"""ODT (OpenDocument 1.3): paragraphs and headings of the text, its tables, notes, frames, headers and footers."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attend._errors import InputError
from attend.documents._archive import Archive
from attend.documents._segment import Segment
from attend.documents._xml import Inline, fill, local_name, namespace, order_ranges, parse, read_inline, serialise, with_ancestor
from lxml import etree

if TYPE_CHECKING:
    from attend.documents import ReadingOptions

_OF = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _DRAW = f"{_OF}text:1.0", f"{_OF}drawing:1.0"
_PARAGRAPHS = {f"{{{_TEXT}}}p", f"{{{_TEXT}}}h"}
# Comments and deleted text.
_NOT_SHOWN = frozenset({f"{{{_OF}office:1.0}}annotation", f"{{{_TEXT}}}tracked-changes"})
_KINDS = {
    "span": Inline.FORMAT, "a": Inline.FORMAT, "meta": Inline.FORMAT, "tab": Inline.CUT, "line-break": Inline.CUT,
    "soft-page-break": Inline.DROP, "note": Inline.PLACE, "ruby": Inline.KEEP,
}
# Beginnings of the names of what marks a place or a range.
_MARKS = ("bookmark", "reference-mark", "change", "toc-mark", "alphabetical-index-mark", "user-index-mark")

# Attributes that say which ends belong together: of bookmarks and references, of tracked changes, of marks for an index.
_IDENTITIES = tuple(f"{{{_TEXT}}}{name}" for name in ("name", "change-id", "id"))


def _kind_of(node: etree._Element) -> Inline:
    name, space = local_name(node), namespace(node)
    if space == _DRAW:
        anchor = node.get(f"{{{_TEXT}}}anchor-type")
        return Inline.PLACE if anchor == "as-char" else Inline.MARK
    if space != _TEXT or name.startswith(_MARKS) and not name.endswith("-ref"):
        return Inline.MARK
    if name == "s":  # one space is text; several, which align text, stay as they are
        return Inline.SPACE if node.get(f"{{{_TEXT}}}c", "1") == "1" else Inline.CUT
    return _KINDS.get(name, Inline.KEEP)  # fields: a page number, a date


class OpenDocument:
    """A text document. Its paragraphs are rewritten in place, so that notes and frames stay what they are."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        self._archive = Archive(path)
        names = self._archive.names()
        if "mimetype" in names and not self._archive.read("mimetype").startswith(b"application/vnd.oasis.opendocument.text"):
            raise InputError(f"'{path}' is no odt file: its part mimetype names another kind")
        manifest = "META-INF/manifest.xml"
        if manifest in names and b"encryption-data" in self._archive.read(manifest):
            raise InputError(f"'{path}' has a password; save it without one")
        self._trees: dict[str, etree._ElementTree] = {}
        self._paragraphs: list[tuple[etree._Element, Segment]] = []
        for name in ["content.xml", *(["styles.xml"] if "styles.xml" in names else [])]:
            tree = parse(self._archive.read(name), f"'{path}': the part {name}")
            self._trees[name] = tree
            for node in tree.iter(*_PARAGRAPHS):
                if with_ancestor(node, _NOT_SHOWN):
                    continue
                segment = Segment()
                read_inline(node, segment, _kind_of)
                if segment.has_text:
                    self._paragraphs.append((node, segment))
        self.texts = [segment.html for _, segment in self._paragraphs]

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the document with each of its texts replaced; once."""
        for (node, segment), translation in zip(self._paragraphs, translations, strict=True):
            fill(node, segment, translation, move=True)
            order_ranges(node, *_IDENTITIES)
        self._archive.write(path, {name: serialise(tree) for name, tree in self._trees.items()})
