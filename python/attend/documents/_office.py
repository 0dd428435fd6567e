"""DOCX and PPTX (Office Open XML, ECMA-376): paragraphs of text, headers, footers, footnotes, tables, slides, notes, charts.

A paragraph holds runs, each with properties of its own. The properties that most of its text has are those of the whole paragraph; runs
with others become formatting in its HTML.
"""

from __future__ import annotations

import copy
import pathlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from attend._errors import InputError
from attend.documents._archive import Archive
from attend.documents._segment import Kind, Segment
from attend.documents._xml import XML_SPACE, local_name, namespace, order_ranges, parse, serialise, shell_of
from lxml import etree

if TYPE_CHECKING:
    from attend.documents import ReadingOptions

_WORD = ("http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://purl.oclc.org/ooxml/wordprocessingml/main")
_DRAWING = ("http://schemas.openxmlformats.org/drawingml/2006/main", "http://purl.oclc.org/ooxml/drawingml/main")
_CONTENT_TYPES = "[Content_Types].xml"
# Ends of the content types of parts with text that readers see.
_WITH_TEXT = tuple(f"{name}+xml" for name in (
    "wordprocessingml.document.main", "wordprocessingml.header", "wordprocessingml.footer", "wordprocessingml.footnotes",
    "wordprocessingml.endnotes", "presentationml.slide", "presentationml.notesSlide", "drawingml.chart", "drawingml.diagramData",
    "ms-office.drawingml.diagramDrawing"))
_MAIN = {".docx": "wordprocessingml.document.main+xml", ".pptx": "presentationml.presentation.main+xml"}

# Children of a paragraph that have runs in them.
_AROUND_RUNS = {"hyperlink", "ins", "moveTo", "smartTag", "customXml", "dir", "bdo", "sdt"}
# What a program for writing makes anew.
_DROPPED = {"proofErr", "lastRenderedPageBreak", "softHyphen"}
_DIVIDING = {"br", "cr", "tab", "ptab"}
_SEEN = {"footnoteReference", "endnoteReference", "sym", "object", "pgNum", "footnoteRef", "endnoteRef", "ruby", "oMath", "oMathPara"}
_STAYING = {"pPr", "endParaRPr"}  # first and last in a paragraph
# Properties of runs that change nothing that a reader sees.
_UNSEEN_ELEMENTS = {"lang", "noProof"}
_UNSEEN_ATTRIBUTES = {"lang", "altLang", "dirty", "err", "noProof", "smtClean", "smtId", "bmk"}


@dataclass(frozen=True)
class _Format:
    """Properties of a run; none: as the paragraph has them."""

    properties: etree._Element | None


@dataclass(frozen=True)
class _Field:
    """A link whose text stands between two groups of runs."""

    begin: Sequence[etree._Element]
    end: Sequence[etree._Element]


@dataclass(frozen=True)
class _InRun:
    """What a run holds beside text."""

    run: etree._Element
    content: etree._Element


def _key(properties: etree._Element | None) -> bytes:
    """Equal where runs look alike."""
    if properties is None:
        return b""
    seen = copy.deepcopy(properties)
    seen.tail = None
    for name in _UNSEEN_ATTRIBUTES & set(seen.attrib):
        del seen.attrib[name]
    for child in list(seen):
        if local_name(child) in _UNSEEN_ELEMENTS:
            seen.remove(child)
    return bytes(etree.tostring(seen, method="c14n")) if len(seen) or seen.attrib else b""


def _child(node: etree._Element, name: str) -> etree._Element | None:
    return next((child for child in node if local_name(child) == name), None)


def _texts(nodes: list[etree._Element], name: str) -> str:
    """Of all elements of this name in them."""
    return "".join(each.text or "" for node in nodes for each in node.iter() if local_name(each) == name)


def _field_marks(node: etree._Element) -> list[str]:
    """Where fields begin and end in it."""
    return [each.get(f"{{{namespace(each)}}}fldCharType") or "" for each in node.iter() if local_name(each) == "fldChar"]


class _FieldPlaces(NamedTuple):
    """Where a field has its parts, among its neighbours."""

    separate: int | None  # of what it shows, behind its instruction; its last mark of that kind
    end: int


def _fields(children: list[etree._Element]) -> dict[int, _FieldPlaces]:
    """The fields that end among these elements, by the places where they begin. One pass: `open_at` has the fields that are open by
    how many are open around each."""
    found: dict[int, _FieldPlaces] = {}
    open_at: dict[int, tuple[int, int | None]] = {}  # (begin, separate), the innermost last
    depth = 0
    for at, child in enumerate(children):
        marks = _field_marks(child)
        if marks and marks[0] == "begin":
            open_at[depth] = at, None
        for mark in marks:
            depth += {"begin": 1, "end": -1}.get(mark, 0)
            if mark == "separate" and depth - 1 in open_at:
                open_at[depth - 1] = open_at[depth - 1][0], at
        while open_at and depth <= next(reversed(open_at)):
            begin, separate = open_at.popitem()[1]
            found[begin] = _FieldPlaces(separate, at)
    return found


class _Paragraph:
    """One paragraph, to be read and then written."""

    def __init__(self, element: etree._Element) -> None:
        self.element = element
        self.segment = Segment()
        self._base = self._usual_properties()
        self._base_key = _key(self._base)
        self._format = self._base_key  # what is open
        self._read_all([child for child in element if local_name(child) not in _STAYING])
        self._use(self._base_key, None)

    def _usual_properties(self) -> etree._Element | None:
        """Those of most characters; of equals, the first."""
        characters: Counter[bytes] = Counter()
        first: dict[bytes, etree._Element | None] = {}
        for run in self._runs(self.element):
            properties = _child(run, "rPr")
            key = _key(properties)
            first.setdefault(key, properties)
            characters[key] += sum(len(child.text or "") for child in run if local_name(child) == "t")
        return first[characters.most_common(1)[0][0]] if characters else None

    def _runs(self, parent: etree._Element) -> Iterator[etree._Element]:
        for child in parent:
            if local_name(child) == "r":
                yield child
            elif local_name(child) in _AROUND_RUNS | {"sdtContent"}:
                yield from self._runs(child)

    def _use(self, key: bytes, properties: etree._Element | None) -> None:
        """Text that follows has these properties."""
        if key == self._format:
            return
        if self._format != self._base_key:
            self.segment.close()
        if key != self._base_key:
            self.segment.open(_Format(properties))
        self._format = key

    def _inside(self, code: object, read: Callable[[], None]) -> None:
        """What `read` adds stands in formatting."""
        self._use(self._base_key, None)
        self.segment.open(code)
        read()
        self._use(self._base_key, None)
        self.segment.close()

    def _read_all(self, children: list[etree._Element]) -> None:
        self._read(children, range(len(children)), _fields(children))

    def _read(self, children: list[etree._Element], places: range, fields: Mapping[int, _FieldPlaces]) -> None:
        """Reads the children at these places."""
        at = places.start
        while at < places.stop:
            child, name = children[at], local_name(children[at])
            at += 1
            if name == "r" and _child(child, "fldChar") is not None:
                at = self._read_field(children, range(at - 1, places.stop), fields)
            elif name == "r":
                self._read_run(child)
            elif name in _AROUND_RUNS:
                content = _child(child, "sdtContent") if name == "sdt" else child
                inner = [each for each in (() if content is None else content) if not local_name(each).endswith("Pr")]
                self._inside(child, partial(self._read_all, inner))
            elif name in ("fld", "fldSimple"):  # made anew: a page number, a date
                self.segment.keep(child, _texts([child], "t"))
            elif name == "br":  # of a slide
                self.segment.cut(child)
            elif name in _SEEN:
                self.segment.place(child)
            elif name not in _DROPPED:
                self.segment.mark(child)

    def _read_field(self, children: list[etree._Element], places: range, fields: Mapping[int, _FieldPlaces]) -> int:
        """Reads the field that begins at the first place, and returns the place behind it. One that ends nowhere, or in another
        paragraph, divides."""
        begin = places.start
        field = fields.get(begin)
        if field is None or field.end >= places.stop:
            self.segment.cut((children[begin],))
            return begin + 1
        separate, end = field.separate, field.end
        block = children[begin:end + 1]
        if _texts(block, "instrText").strip().upper().startswith("HYPERLINK") and separate is not None and separate < end:
            inner = range(separate + 1, end)
            self._inside(_Field(children[begin:separate + 1], [children[end]]), partial(self._read, children, inner, fields))
        else:
            self.segment.keep(tuple(block), _texts(block if separate is None else children[separate:end + 1], "t"))
        return end + 1

    def _read_run(self, run: etree._Element) -> None:
        properties = _child(run, "rPr")
        for child in run:
            name = local_name(child)
            if name == "t":
                if child.text:
                    self._use(_key(properties), properties)
                    self.segment.text(child.text)
            elif name == "noBreakHyphen":
                self.segment.text("\u2011")
            elif name in _DIVIDING:
                self._use(self._base_key, None)
                self.segment.cut(_InRun(run, child))
            elif name in _SEEN or any(local_name(each) == "inline" for each in child.iter()):
                self.segment.place(_InRun(run, child))
            elif name != "rPr" and name not in _DROPPED:
                self.segment.mark(_InRun(run, child))

    def write(self, translation: str) -> None:
        """Replaces what is between the properties at its begin and those at its end."""
        element = self.element
        last = _child(element, "endParaRPr")
        for child in list(element):
            if local_name(child) not in _STAYING:
                element.remove(child)
        parents, formats = [element], [self._base]
        for kind, value in self.segment.pieces(translation):
            if kind == Kind.TEXT:
                self._add_run(parents[-1], formats[-1], value)
            elif kind == Kind.PLACE:
                self._add_place(parents[-1], value)
            elif isinstance(value, _Format):
                if kind == Kind.CLOSE:
                    formats.pop()
                else:
                    formats.append(value.properties)
            elif isinstance(value, _Field):
                parents[-1].extend(copy.deepcopy(each) for each in (value.end if kind == Kind.CLOSE else value.begin))
            elif kind == Kind.CLOSE:
                parents.pop()
            else:
                parents.append(self._add_shell(parents[-1], value, again=kind == Kind.AGAIN))
        if last is not None:
            element.append(last)
        order_ranges(element, self._name("id"))

    def _name(self, name: str) -> str:
        return f"{{{namespace(self.element)}}}{name}"

    def _new_run(self, parent: etree._Element, properties: etree._Element | None) -> etree._Element:
        run = etree.SubElement(parent, self._name("r"))
        if properties is not None:
            own = copy.deepcopy(properties)
            own.tail = None
            run.append(own)
        return run

    def _add_run(self, parent: etree._Element, properties: etree._Element | None, text: str) -> None:
        node = etree.SubElement(self._new_run(parent, properties), self._name("t"))
        node.text = text
        if namespace(self.element) in _WORD and text != text.strip():
            node.set(XML_SPACE, "preserve")

    def _add_place(self, parent: etree._Element, value: object) -> None:
        if isinstance(value, _InRun):
            run = self._new_run(parent, _child(value.run, "rPr"))
            value.content.tail = None
            run.append(value.content)
        elif isinstance(value, tuple):
            parent.extend(value)
        else:
            parent.append(value)

    def _add_shell(self, parent: etree._Element, element: etree._Element, *, again: bool) -> etree._Element:
        """What stands around runs; returns what they go into."""
        shell = shell_of(element)
        parent.append(shell)
        if local_name(element) != "sdt":
            return shell
        for child in element:
            if local_name(child) == "sdtContent":
                continue
            own = copy.deepcopy(child)
            for identity in [each for each in own if local_name(each) == "id"] if again else []:
                own.remove(identity)
            shell.append(own)
        return etree.SubElement(shell, self._name("sdtContent"))


class OfficeDocument:
    """Text of the document itself: not comments, what a tracked change deleted, or masters and layouts of slides."""

    def __init__(self, path: pathlib.Path, options: ReadingOptions) -> None:
        self._archive = Archive(path)
        self._trees: dict[str, etree._ElementTree] = {}
        self._paragraphs: list[_Paragraph] = []
        for name in self._names(path):
            tree = parse(self._archive.read(name), f"'{path}': the part {name}")
            read = [_Paragraph(node) for node in tree.iter() if local_name(node) == "p" and namespace(node) in _WORD + _DRAWING]
            read = [paragraph for paragraph in read if paragraph.segment.has_text]
            if read:
                self._trees[name] = tree
                self._paragraphs += read
        self.texts = [paragraph.segment.html for paragraph in self._paragraphs]

    def _names(self, path: pathlib.Path) -> list[str]:
        """Of the parts with text."""
        types = parse(self._archive.read(_CONTENT_TYPES), f"'{path}': the part {_CONTENT_TYPES}")
        parts = {(node.get("PartName") or "").lstrip("/"): node.get("ContentType") or "" for node in types.getroot()}
        if not any(each.endswith(_MAIN[path.suffix.lower()]) for each in parts.values()):
            raise InputError(f"'{path}' is no {path.suffix[1:]} file: its parts are of other types")
        return [name for name, kind in parts.items() if kind.endswith(_WITH_TEXT)]

    def write(self, translations: Sequence[str], path: pathlib.Path) -> None:
        """Writes the document with each of its texts replaced; once."""
        for paragraph, translation in zip(self._paragraphs, translations, strict=True):
            paragraph.write(translation)
        self._archive.write(path, {name: serialise(tree) for name, tree in self._trees.items()})
