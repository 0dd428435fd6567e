"""EPUB 2 and 3: chapters and the table of contents, each as HTML, the labels of the older table, and the book's title."""

from __future__ import annotations

import pathlib
import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.sax.saxutils import escape

from attend._errors import InputError
from attend.documents._archive import Archive
from attend.documents._html_file import name_language
from attend.documents._segment import for_xml
from attend.documents._xml import local_name, parse, serialise, text_of
from lxml import etree

if TYPE_CHECKING:
    from attend.documents import ReadingOptions

_CONTAINER = "META-INF/container.xml"
_XHTML, _CONTENTS = "application/xhtml+xml", "application/x-dtbncx+xml"
# XHTML writes empty elements as <p/>, which HTML knows of these alone.
_EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}


class _Chapter:
    """A page of XHTML. All of it is one text."""

    def __init__(self, content: bytes, name: str) -> None:
        self._name = name
        self._tree = parse(content, name)
        for node in self._tree.iter(etree.Element):
            if node.text is None and not len(node) and local_name(node) not in _EMPTY:
                node.text = ""  # written as <p></p>
        self.texts = [str(etree.tostring(self._tree, encoding="unicode"))]

    def write(self, translations: list[str], language: str | None) -> bytes:
        tree = parse(for_xml(translations[0]).encode(), f"{self._name}, translated,")
        name_language(tree.getroot(), language)
        return bytes(etree.tostring(tree, xml_declaration=True, encoding="UTF-8"))


class _Labels:
    """A part of which some elements hold plain text."""

    def __init__(self, content: bytes, name: str, labels: set[str]) -> None:
        self._tree = parse(content, name)
        self._nodes = [node for node in self._tree.iter(etree.Element) if self._is_label(node, labels)]
        self.texts = [escape(for_xml(text_of(node))) for node in self._nodes]

    @staticmethod
    def _is_label(node: etree._Element, labels: set[str]) -> bool:
        parent = node.getparent()
        of_author = parent is not None and local_name(parent) == "docAuthor"
        return local_name(node) in labels and not len(node) and bool(text_of(node).strip()) and not of_author

    def write(self, translations: list[str], language: str | None) -> bytes:
        for node, translation in zip(self._nodes, translations, strict=True):
            node.text = text_of(etree.fromstring(f"<s>{for_xml(translation)}</s>"))
        if language:
            for node in self._tree.iter("{http://purl.org/dc/elements/1.1/}language"):
                node.text = language
        return serialise(self._tree)


class EpubDocument:
    """A book without copy protection."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        self._archive = Archive(path)
        self._language = options.target_language
        package = self._package(path)
        content, name = self._archive.read(package), f"'{path}': the part {package}"
        self._parts: dict[str, _Chapter | _Labels] = {package: _Labels(content, name, {"title"})}
        protected = self._protected(path)
        manifest = parse(content, name)
        for item in manifest.iter(etree.Element):
            kind = item.get("media-type") if local_name(item) == "item" else None
            if kind not in (_XHTML, _CONTENTS):
                continue
            part = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(item.get("href") or "")))
            if part in self._parts:  # named twice
                continue
            if part in protected:
                raise InputError(f"'{path}' is copy-protected: its part {part} is encrypted")
            content, name = self._archive.read(part), f"'{path}': the part {part}"
            self._parts[part] = _Chapter(content, name) if kind == _XHTML else _Labels(content, name, {"text"})
        self.texts = [text for part in self._parts.values() for text in part.texts]

    def _package(self, path: pathlib.Path) -> str:
        container = parse(self._archive.read(_CONTAINER), f"'{path}': the part {_CONTAINER}")
        found = next((node.get("full-path") for node in container.iter(etree.Element) if local_name(node) == "rootfile"), None)
        if not found:
            raise InputError(f"'{path}' is no epub file: its part {_CONTAINER} names no package")
        return str(found)

    def _protected(self, path: pathlib.Path) -> set[str]:
        name = "META-INF/encryption.xml"
        if name not in self._archive.names():
            return set()
        tree = parse(self._archive.read(name), f"'{path}': the part {name}")
        return {unquote(node.get("URI") or "") for node in tree.iter(etree.Element) if local_name(node) == "CipherReference"}

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the book with each of its texts replaced; once."""
        left = list(translations)
        changed = {}
        for name, part in self._parts.items():
            count = len(part.texts)
            changed[name] = part.write(left[:count], self._language)
            del left[:count]
        self._archive.write(path, changed)
