"""TMX 1.4 (LISA): translation memories. Units without a variant in the target language get one."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attend._errors import InputError, UsageError
from attend.documents._segment import Segment
from attend.documents._xml import (
    XML_LANG, Inline, add_behind, fill, local_name, parse, read_bytes, read_inline, same_language, serialise, shell_of, text_of)
from lxml import etree

if TYPE_CHECKING:
    from attend.documents import ReadingOptions


def _kind_of(node: etree._Element) -> Inline:
    return {"hi": Inline.FORMAT, "bpt": Inline.BEGIN, "ept": Inline.END}.get(local_name(node), Inline.PLACE)


def _key_of(node: etree._Element) -> str | None:
    return node.get("i")


def _language(variant: etree._Element) -> str:
    return variant.get(XML_LANG) or variant.get("lang") or ""


class TmxDocument:
    """The source is what the unit or the header names, or what the options name."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        self._tree = parse(read_bytes(path), f"'{path}'")
        root = self._tree.getroot()
        if local_name(root) != "tmx":
            raise InputError(f"'{path}' is no TMX: its root is <{local_name(root)}>")
        if not options.target_language:
            raise UsageError(f"'{path}' does not say into which language to translate; name it: target_language, or --target-language")
        self._target_language = options.target_language
        header = root.find("{*}header")
        usual = options.source_language or (header.get("srclang") if header is not None else None) or "*all*"
        # (the source's variant, the one to be replaced, the text)
        self._units: list[tuple[etree._Element, etree._Element | None, Segment]] = []
        for unit in root.iter("{*}tu"):
            self._read(path, unit, options.source_language or unit.get("srclang") or usual, retranslate=options.retranslate)
        self.texts = [segment.html for _, _, segment in self._units]

    def _read(self, path: pathlib.Path, unit: etree._Element, language: str, *, retranslate: bool) -> None:
        if language == "*all*":
            raise UsageError(f"'{path}' does not say which language is the source (srclang); name it: source_language, or --source-language")
        variants = unit.findall("{*}tuv")
        source = next((each for each in variants if same_language(_language(each), language)), None)
        old = next((each for each in variants if same_language(_language(each), self._target_language)), None)
        content = None if source is None else source.find("{*}seg")
        known = old is not None and (found := old.find("{*}seg")) is not None and text_of(found).strip()
        if source is None or content is None or source is old or known and not retranslate:
            return
        segment = Segment()
        read_inline(content, segment, _kind_of, _key_of)
        if segment.has_text:
            self._units.append((source, old, segment))

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the memory with a variant for each of its texts; once."""
        for (source, old, segment), translation in zip(self._units, translations, strict=True):
            variant = self._new_variant(source) if old is None else old
            content = variant.find("{*}seg")
            if content is None:
                content = etree.SubElement(variant, source.find("{*}seg").tag)
            fill(content, segment, translation)
        path.write_bytes(serialise(self._tree))

    def _new_variant(self, source: etree._Element) -> etree._Element:
        """Behind the unit's last, laid out as the source."""
        variant = etree.Element(source.tag)
        variant.set(XML_LANG if source.get(XML_LANG) else "lang" if source.get("lang") else XML_LANG, self._target_language)
        variant.text = source.text
        content = shell_of(source.find("{*}seg"))
        content.tail = source.find("{*}seg").tail
        variant.append(content)
        add_behind(source.getparent()[-1], variant)
        return variant
