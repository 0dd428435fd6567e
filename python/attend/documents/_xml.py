"""XML that may be hostile, and elements that mix text with inline elements."""

from __future__ import annotations

import copy
import pathlib
import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from attend._errors import InputError
from attend.documents._segment import Kind, Segment
from lxml import etree

XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
MOST_BYTES = 100 << 20  # of a file, or of a part of an archive, that is read into memory


def read_bytes(path: pathlib.Path) -> bytes:
    """A file of moderate size."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InputError(f"'{path}' has {size:,} bytes, expected at most {MOST_BYTES:,}; divide it")
        return path.read_bytes()
    except OSError as error:
        raise error if isinstance(error, InputError) else InputError(f"'{path}': {error.strerror}") from error


def parse(content: bytes, name: str) -> etree._ElementTree:
    """The tree of a document, for which nothing else is read; one with entities of its own is refused."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, strip_cdata=True)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise InputError(f"{name} is no XML that can be read: {error.msg}") from error
    tree = root.getroottree()
    internal = tree.docinfo.internalDTD
    if internal is not None and next(internal.iterentities(), None) is not None:
        raise InputError(f"{name} declares entities of its own, which can make it grow without limit; write them out")
    return tree


def serialise(tree: etree._ElementTree) -> bytes:
    """As XML files begin: with a declaration, and with the DOCTYPE that was read."""
    information = tree.docinfo
    standalone = information.standalone or None  # lxml says False where nothing is declared, which means the same
    return bytes(etree.tostring(tree, xml_declaration=True, encoding=information.encoding or "UTF-8", standalone=standalone))


def local_name(node: etree._Element) -> str:
    """Without namespace; "" of comments and the like."""
    return etree.QName(node).localname if isinstance(node.tag, str) else ""


def namespace(node: etree._Element) -> str:
    """"" where there is none."""
    return (etree.QName(node).namespace or "") if isinstance(node.tag, str) else ""


def text_of(node: etree._Element) -> str:
    """Of the element and all in it."""
    return "".join(node.itertext(etree.Element, etree.Entity)) if isinstance(node.tag, str) else ""


def without_tail(node: etree._Element) -> etree._Element:
    """A copy of the element alone."""
    alone = copy.deepcopy(node)
    alone.tail = None
    return alone


def shell_of(node: etree._Element) -> etree._Element:
    """A copy of the element without what is in it."""
    return etree.Element(node.tag, dict(node.attrib), nsmap=node.nsmap)


def append_text(parent: etree._Element, text: str) -> None:
    """Text behind all that the element holds."""
    last = next(parent.iterchildren(reversed=True), None)  # len(parent) would count all
    if last is not None:
        last.tail = (last.tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def add_behind(node: etree._Element, new: etree._Element) -> None:
    """Puts a new element behind one, on a line of its own where that one has one."""
    before = node.getprevious()
    parent = node.getparent()
    space = before.tail if before is not None else parent.text if parent is not None else None
    tail, node.tail = node.tail, None
    node.addnext(new)
    new.tail, node.tail = tail, space if space and not space.strip() else None


class Inline(Enum):
    """What an element among text is."""

    FORMAT = auto()  # formatting of what is in it
    PLACE = auto()  # no text, but to be seen
    MARK = auto()  # neither
    KEEP = auto()  # text that is not to be translated
    CUT = auto()  # it divides the text
    SPACE = auto()  # white space
    DROP = auto()  # it holds for the source alone, such as a page break where a line was full
    BEGIN = auto()  # formatting begins, to end at an element beside it
    END = auto()


@dataclass(frozen=True)
class Pair:
    """Formatting between two elements."""

    begin: etree._Element
    end: etree._Element


def read_inline(element: etree._Element, segment: Segment, kind_of: Callable[[etree._Element], Inline],
                key_of: Callable[[etree._Element], Hashable] = lambda node: None) -> None:
    """Adds the content of an element. `key_of` gives what a BEGIN and its END have in common; one without the other is a PLACE."""
    segment.text(element.text)
    children = list(element)
    kinds = [kind_of(child) if isinstance(child.tag, str) else Inline.MARK for child in children]
    ends = _ends(children, kinds, key_of)
    open_ends: list[int] = []  # of what is open, the innermost last
    for at, (child, kind) in enumerate(zip(children, kinds, strict=True)):
        if kind == Inline.FORMAT:
            segment.open(child)
            read_inline(child, segment, kind_of, key_of)
            segment.close()
        elif kind == Inline.KEEP:
            segment.keep(child, text_of(child))
        elif kind == Inline.MARK:
            segment.mark(child)
        elif kind == Inline.CUT:
            segment.cut(child)
        elif kind == Inline.SPACE:
            segment.text(" ")
        elif at in ends and (not open_ends or ends[at] < open_ends[-1]):  # it ends before what is open
            segment.open(Pair(child, children[ends[at]]))
            open_ends.append(ends[at])
        elif open_ends and open_ends[-1] == at:
            segment.close()
            open_ends.pop()
        elif kind != Inline.DROP:
            segment.place(child)
        segment.text(child.tail)


def _ends(children: list[etree._Element], kinds: list[Inline], key_of: Callable[[etree._Element], Hashable]) -> dict[int, int]:
    """Of each BEGIN the place of the first END behind it that has the same key, where there is one."""
    ends: dict[int, int] = {}
    next_ends: dict[Hashable, int] = {}
    for at in reversed(range(len(children))):
        if kinds[at] == Inline.END:
            next_ends[key_of(children[at])] = at
        elif kinds[at] == Inline.BEGIN and (end := next_ends.get(key_of(children[at]))) is not None:
            ends[at] = end
    return ends


def fill(element: etree._Element, segment: Segment, translation: str, *, move: bool = False,
         copied: Callable[[etree._Element], Any] = lambda node: None) -> None:
    """Replaces the content of an element. What is no text is copied from the source, or moved. `copied` changes the second and later
    copies of formatting."""
    for child in list(element):
        element.remove(child)
    element.text = None
    parents, ends = [element], list[etree._Element | None]()
    for kind, value in segment.pieces(translation):
        if kind == Kind.TEXT:
            append_text(parents[-1], value)
        elif kind == Kind.PLACE:
            if move:
                value.tail = None
            parents[-1].append(value if move else without_tail(value))
        elif isinstance(value, Pair):  # comes once, since its elements name each other: of formatting that parts, around the first part
            if kind == Kind.CLOSE:
                parents[-1].extend(end for end in [ends.pop()] if end is not None)
                continue
            ends.append(without_tail(value.end) if kind == Kind.OPEN else None)
            parents[-1].extend([without_tail(value.begin)] if kind == Kind.OPEN else [])
        elif kind == Kind.CLOSE:
            parents.pop()
        else:
            shell = shell_of(value)
            if kind == Kind.AGAIN:
                copied(shell)
            parents[-1].append(shell)
            parents.append(shell)


def order_ranges(element: etree._Element, *identities: str) -> None:
    """Has each range between two elements, such as a bookmark, begin before it ends where words that changed places have parted them.
    The first of the attributes `identities` that an element has says what belongs together."""
    ends: dict[tuple[str, str], etree._Element] = {}
    for node in element.iter(etree.Element):
        name = local_name(node)
        identity = next((value for each in identities if (value := node.get(each)) is not None), None)
        if identity is None:
            continue
        key = (re.sub("-?(start|end)$", "", name, flags=re.IGNORECASE), identity)
        if name.lower().endswith("end"):
            ends[key] = node
        elif name.lower().endswith("start") and (end := ends.pop(key, None)) is not None:
            attributes = dict(node.attrib), dict(end.attrib)
            node.tag, end.tag = end.tag, node.tag
            for each, own in ((end, attributes[0]), (node, attributes[1])):
                each.attrib.clear()
                each.attrib.update(own)


def with_ancestor(node: etree._Element, names: frozenset[str]) -> bool:
    """Whether it stands in an element of one of these names."""
    return any(ancestor.tag in names for ancestor in node.iterancestors())


def inherited(node: etree._Element, attribute: str) -> str | None:
    """The attribute of the innermost element around the node, itself included, that has it."""
    return next((value for each in _outwards(node) if (value := each.get(attribute)) is not None), None)


def _outwards(node: etree._Element) -> Iterator[etree._Element]:
    yield node
    yield from node.iterancestors()
