"""TMX 1.4 (LISA): translation memories. Units without a variant in the target language get one."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attend._errors import InputError, UsageError
from attend.documents._languages import other_language, same_language, without_variant
from attend.documents._segment import Segment
from attend.documents._xml import (
    XML_LANG, Inline, add_behind, fill, local_name, parse, read_bytes, read_inline, serialise, shell_of, text_of)
from lxml import etree

if TYPE_CHECKING:
    from attend.documents import ReadingOptions

_ANY = "*all*"  # of srclang: any language of a unit may be its source


def _kind_of(node: etree._Element) -> Inline:
    return {"hi": Inline.FORMAT, "bpt": Inline.BEGIN, "ept": Inline.END}.get(local_name(node), Inline.PLACE)


def _key_of(node: etree._Element) -> str | None:
    return node.get("i")


def _language(variant: etree._Element) -> str:
    return variant.get(XML_LANG) or variant.get("lang") or ""


class TmxDocument:
    """The source is what the options name; else what the unit or the header names, which must be the model's; else the model's."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        self._tree = parse(read_bytes(path), f"'{path}'")
        root = self._tree.getroot()
        if local_name(root) != "tmx":
            raise InputError(f"'{path}' is no TMX: its root is <{local_name(root)}>")
        if not options.target_language:
            raise UsageError(f"'{path}' does not say into which language to translate; name it: {options.names[1]}")
        self._options, self._target_language = options, options.target_language
        header = root.find("{*}header")
        usual = (header.get("srclang") if header is not None else None) or _ANY
        # (the source's variant, the one to be replaced, the text)
        self._units: list[tuple[etree._Element, etree._Element | None, Segment]] = []
        for unit in root.iter("{*}tu"):
            self._read(unit, self._source_language(path, unit.get("srclang") or usual))
        self.texts = [segment.html for _, _, segment in self._units]

    def _source_language(self, path: pathlib.Path, named: str) -> str:
        """Of a unit, for which the file names this one."""
        options, own = self._options, self._options.model_language
        language = options.source_language or (named if named != _ANY else own and without_variant(own))
        if not language:
            raise UsageError(f"'{path}' does not say which language is the source (srclang); name it: {options.names[0]}")
        if own and not options.source_language and other_language(language, own):
            raise UsageError(
                f"'{path}' says srclang=\"{language}\", but the model translates from {own}; use a model for {language}, or name the variants "
                f"to translate: {options.names[0]}")
        return language

    def _read(self, unit: etree._Element, language: str) -> None:
        variants = unit.findall("{*}tuv")
        source = next((each for each in variants if same_language(_language(each), language)), None)
        old = next((each for each in variants if same_language(_language(each), self._target_language)), None)
        content = None if source is None else source.find("{*}seg")
        known = old is not None and (found := old.find("{*}seg")) is not None and text_of(found).strip()
        if source is None or content is None or source is old or known and not self._options.retranslate:
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
