"""XLIFF 1.2 and 2 (OASIS): each unit's translation beside its source."""

from __future__ import annotations

import copy
import pathlib
from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING

from attend._errors import InputError, UsageError
from attend.documents._languages import other_language, same_language
from attend.documents._segment import Segment
from attend.documents._xml import (
    XML_LANG, Inline, add_behind, fill, inherited, local_name, namespace, parse, read_bytes, read_inline, serialise, text_of)
from lxml import etree

if TYPE_CHECKING:
    from attend.documents import ReadingOptions

_BEGINS = {"bx": "ex", "bpt": "ept", "sc": "ec", "sm": "em"}  # beginnings of formatting that ends at another element
# States of a target that is there but not yet a translation.
_UNTRANSLATED = {"new", "needs-translation", "initial"}
_FORMATS, _ENDS, _MARKS = {"g", "pc", "mrk"}, {"ex", "ept", "ec", "em"}, {"cp"}


def _kind_of(node: etree._Element) -> Inline:
    name = local_name(node)
    if name == "mrk" and (node.get("mtype") == "protected" or node.get("translate") == "no"):
        return Inline.KEEP
    if name in _FORMATS:
        return Inline.FORMAT
    if name in _MARKS:
        return Inline.MARK
    return Inline.BEGIN if name in _BEGINS else Inline.END if name in _ENDS else Inline.PLACE


def _key_of(node: etree._Element) -> tuple[str, str | None]:
    """The name of the END, and 1.2: the same rid, or where there is none the same id; 2: its startRef is the id."""
    name = local_name(node)
    end = _BEGINS.get(name, name)
    if end in ("ec", "em"):
        return end, node.get("startRef" if name == end else "id")
    return end, node.get("rid", node.get("id"))


def _child(node: etree._Element, name: str) -> etree._Element | None:
    return node.find(f"{{*}}{name}")


def _new_target(source: etree._Element) -> etree._Element:
    """An empty <target> where the schema wants it."""
    target = etree.Element(etree.QName(namespace(source) or None, "target"))
    before = source.getnext() if source.getnext() is not None and local_name(source.getnext()) == "seg-source" else source
    add_behind(before, target)
    return target


def _sentences(target: etree._Element) -> dict[str | None, etree._Element]:
    """By their mid; of equals, the first."""
    found: dict[str | None, etree._Element] = {}
    for node in target.iter("{*}mrk"):
        if node.get("mtype") == "seg":
            found.setdefault(node.get("mid"), node)
    return found


class XliffDocument:
    """Units that have a translation keep it, as do those that are not to be translated."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        self._tree = parse(read_bytes(path), f"'{path}'")
        root = self._tree.getroot()
        version = root.get("version") or ""
        if local_name(root) != "xliff" or version[:1] not in ("1", "2"):
            raise InputError(f"'{path}' is no XLIFF of version 1 or 2: its root is <{local_name(root)} version='{version}'>")
        self._is_2 = version.startswith("2")
        self._check_languages(path, options)
        self._name_language(path, options)
        self._segments: list[tuple[etree._Element, etree._Element, Segment]] = []  # (what it stands in, its source, the text)
        holders = "{*}segment" if self._is_2 else "{*}trans-unit"
        for holder in root.iter(holders):
            source = _child(holder, "source")
            if source is not None and self._is_wanted(holder, retranslate=options.retranslate):
                self._segments += [(holder, part, segment) for part, segment in self._read(holder, source) if segment.has_text]
        self.texts = [segment.html for _, _, segment in self._segments]

    def _check_languages(self, path: pathlib.Path, options: ReadingOptions) -> None:
        """Those of the document against those that were asked for, and its source's against the model's."""
        root = self._tree.getroot()
        names = ("srcLang", "trgLang") if self._is_2 else ("source-language", "target-language")
        for node in [root] if self._is_2 else root.iter("{*}file"):
            for attribute, wanted, option in zip(names, (options.source_language, options.target_language), options.names, strict=True):
                found = node.get(attribute)
                if found and wanted and not same_language(found, wanted):
                    raise UsageError(
                        f"'{path}' says {attribute}=\"{found}\", expected {wanted}; use a model of these languages, name it as the file does ({option}), "
                        "or change the file")
            found, own = node.get(names[0]), options.model_language
            if found and own and not options.source_language and other_language(found, own):
                raise UsageError(f"'{path}' says {names[0]}=\"{found}\", but the model translates from {own}; use a model for {found}, or change the file")

    def _name_language(self, path: pathlib.Path, options: ReadingOptions) -> None:
        """Where the document does not."""
        root = self._tree.getroot()
        nodes = [(root, "trgLang")] if self._is_2 else [(node, "target-language") for node in root.iter("{*}file")]
        for node, attribute in nodes:
            if options.target_language and not node.get(attribute):
                node.set(attribute, options.target_language)
        if self._is_2 and not root.get("trgLang"):
            raise UsageError(f"'{path}' does not say into which language it is translated (trgLang); name it: {options.names[1]}")

    def _is_wanted(self, holder: etree._Element, *, retranslate: bool) -> bool:
        if inherited(holder, "translate") == "no" or holder.get("approved") == "yes":
            return False
        target = _child(holder, "target")
        if retranslate or target is None or not text_of(target).strip():
            return True
        return (holder if self._is_2 else target).get("state") in _UNTRANSLATED

    def _read(self, holder: etree._Element, source: etree._Element) -> Iterator[tuple[etree._Element, Segment]]:
        """The source, or the sentences that another program cut it into."""
        divided = None if self._is_2 else _child(holder, "seg-source")
        parts = [] if divided is None else [node for node in divided.iter("{*}mrk") if node.get("mtype") == "seg"]
        for part in parts or [source]:
            segment = Segment()
            read_inline(part, segment, _kind_of, _key_of)
            yield part, segment

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the document with a target for each of its texts; once."""
        targets: dict[etree._Element, etree._Element] = {}
        sentences: dict[etree._Element, dict[str | None, etree._Element]] = {}  # of each holder the target's, by mid
        for (holder, source, segment), translation in zip(self._segments, translations, strict=True):
            if holder not in targets:
                targets[holder] = self._target(holder)
                sentences[holder] = _sentences(targets[holder])
            target = sentences[holder][source.get("mid")] if local_name(source) == "mrk" else targets[holder]
            numbers = count(2)
            fill(target, segment, translation, copied=lambda node, numbers=numbers: self._name_copy(node, next(numbers)))  # type: ignore[misc]
        path.write_bytes(serialise(self._tree))

    def _name_copy(self, node: etree._Element, number: int) -> None:
        """Version 2 says what is a copy of what; in version 1.2 it has the same id."""
        if self._is_2 and local_name(node) in ("pc", "mrk"):
            original = node.get("id") or ""
            node.set("id", f"{original}-{number}")
            if local_name(node) == "pc":  # annotations have no such attribute
                node.set("copyOf", original)

    def _target(self, holder: etree._Element) -> etree._Element:
        """The target of a unit, empty, or with the sentences of its source."""
        source = _child(holder, "source")
        target = _child(holder, "target")
        if target is None:
            target = _new_target(source)
        divided = None if self._is_2 else _child(holder, "seg-source")
        if divided is not None:
            tail = target.tail
            content = copy.deepcopy(divided)
            target.clear(keep_tail=True)
            target.text, target.tail = content.text, tail
            target.extend(list(content))
        if self._is_2:
            holder.set("state", "translated")
        else:
            target.set("state", "needs-review-translation")
            target.set("state-qualifier", "mt-suggestion")
            language = inherited(holder, "target-language")
            if language and source is not None and source.get(XML_LANG):
                target.set(XML_LANG, language)
        return target
