"""Hostile documents take time in proportion to their size: what a reader does is counted at n and at 2n, not timed. Nor do they take memory that
they do not name."""

import struct
import tracemalloc
import zipfile
import zlib

import attend
import attend.documents
import pytest
from attend.documents._plain import broken
from attend.documents._subtitles import TAG
from documents_test import BOLD, parts, r, with_body
from documents_text_test import xliff
from translated_documents import Stub, refused, text_file

etree = pytest.importorskip("lxml.etree")

FEW, TWICE = 100, 200


class Steps:
    """Elements that readers and writers go to."""

    def __init__(self):
        self.count = 0

    def each(self, nodes):
        for node in nodes:
            self.count += 1
            yield node


STEPS = Steps()


class Counting(etree.ElementBase):
    """An element of which the ways to its neighbours are counted."""

    def __iter__(self):
        return STEPS.each(super().__iter__())

    def __len__(self):  # lxml goes from child to child
        length = super().__len__()
        STEPS.count += length
        return length

    def iter(self, *tags):
        return STEPS.each(super().iter(*tags))

    def itersiblings(self, *tags, **options):
        return STEPS.each(super().itersiblings(*tags, **options))

    def get(self, key, default=None):
        STEPS.count += 1
        return super().get(key, default)


@pytest.fixture(name="steps")
def counted_steps(monkeypatch):
    """A function that gives the steps of reading and writing a document."""
    lookup = etree.ElementDefaultClassLookup(element=Counting)
    made = etree.XMLParser

    def parser(**options):
        result = made(**options)
        result.set_element_class_lookup(lookup)
        return result

    monkeypatch.setattr(etree, "XMLParser", parser)

    def steps(path):
        STEPS.count = 0
        document = attend.documents.read_document(path, attend.documents.ReadingOptions("en", "de"))
        assert document.texts
        attend.documents.write_document(document, document.texts, path.with_name(f"out-{path.name}"))
        return STEPS.count

    return steps


def memory(folder, n, content):
    return text_file(folder, f"{n}.tmx", (
        '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>' + content + "</seg></tuv></tu></body></tmx>"))


def unit(folder, n, content, version="1.2"):
    if version == "2.0":
        units = f'<unit id="1"><segment><source>{content}</source></segment></unit>'
        return text_file(folder, f"{n}.xlf", xliff(units, "2.0", 'srcLang="en" trgLang="de"'))
    return text_file(folder, f"{n}.xlf", xliff(f'<trans-unit id="1">{content}</trans-unit>'))


def mark(kind):
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def word(folder, n, content):
    return with_body(folder / f"{n}.docx", f"<w:p>{content}</w:p>")


DOCUMENTS = {
    "pairs of a memory": lambda folder, n: memory(folder, n, "".join(f'<bpt i="{i}"/>x<ept i="{i}"/>' for i in range(n))),
    "begins without an end": lambda folder, n: memory(folder, n, "".join(f'<bpt i="{i}"/>x' for i in range(n))),
    "many begins of one end": lambda folder, n: memory(folder, n, '<bpt i="1"/>x' * n + '<ept i="1"/>'),
    "pairs of XLIFF 1": lambda folder, n: unit(folder, n, "<source>" + "".join(f'<bx id="{i}"/>x<ex id="{i}"/>' for i in range(n)) + "</source>"),
    "pairs of XLIFF 2 that cross": lambda folder, n: unit(
        folder, n, "".join(f'<sc id="{i}"/>x' for i in range(n)) + "".join(f'<ec startRef="{i}"/>' for i in range(n)), "2.0"),
    "sentences of a unit": lambda folder, n: unit(
        folder, n, "<source>x</source><seg-source>" + "".join(f'<mrk mtype="seg" mid="{i}">x</mrk>' for i in range(n)) + "</seg-source>"),
    "fields that end nowhere": lambda folder, n: word(folder, n, (mark("begin") + r("x")) * n),
    "fields that end before they begin": lambda folder, n: word(folder, n, (mark("end") + r("x")) * n + mark("begin")),
    "links in links": lambda folder, n: word(folder, n, (
        (mark("begin") + "<w:r><w:instrText>HYPERLINK x</w:instrText></w:r>" + mark("separate")) * 20 + r("x") * n + mark("end") * 20)),
    "runs": lambda folder, n: word(folder, n, (r("x", BOLD) + r("y")) * n),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_steps_grow_as_the_document_does(tmp_path, steps, name):
    few, twice = (steps(DOCUMENTS[name](tmp_path, n)) for n in (FEW, TWICE))
    assert few > FEW, "nothing was counted"
    assert twice < 2.2 * few


def test_lines_of_a_cue_are_cut_in_one_pass(monkeypatch):
    compared = []
    monkeypatch.setattr("attend.documents._plain.abs", lambda number: compared.append(number) or abs(number), raising=False)
    counts = []
    for n in (FEW, TWICE):
        compared.clear()
        assert broken("x " * (2 * n), n, TAG).count("\n") == n - 1
        counts.append(len(compared))
    assert FEW - 1 <= counts[0] and counts[1] < 2.2 * counts[0]


def test_a_part_counts_once(tmp_path, monkeypatch):
    """A book whose package names one chapter many times, and whose parts together just fit."""
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata><title xmlns="http://purl.org/dc/elements/1.1/">A book</title></metadata><manifest>'
        + "".join(f'<item id="c{i}" href="a.xhtml" media-type="application/xhtml+xml"/>' for i in range(20)) + "</manifest></package>")
    content = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
        "book.opf": package, "a.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>One page.</p></body></html>'}
    with zipfile.ZipFile(tmp_path / "a.epub", "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    read = sum(len(text) for name, text in content.items() if name != "mimetype")
    monkeypatch.setattr("attend.documents._archive._MOST_READ", read)
    attend.translate_file(Stub(), tmp_path / "a.epub", tmp_path / "b.epub")
    with zipfile.ZipFile(tmp_path / "b.epub") as archive:
        assert b"ONE PAGE." in archive.read("a.xhtml")
    monkeypatch.setattr("attend.documents._archive._MOST_READ", read - 1)
    with pytest.raises(attend.InputError, match="bytes of text"):
        attend.translate_file(Stub(), tmp_path / "a.epub", tmp_path / "b.epub")


def lying(path, name, *, checksum):
    """A document of which a part has 200 MB, and a header says 1,000 bytes, with their checksum or with that of all."""
    with_body(path, "<w:p>" + r("x") + "</w:p>")
    content = parts(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in content:
            with archive.open(each, "w") as file:
                for _ in range(200 if each == name else 0):
                    file.write(bytes(1 << 20))
                file.write(b"" if each == name else content[each])
    written = bytearray(path.read_bytes())
    entry = written.index(name.encode(), written.index(b"PK\x01\x02")) - 46  # of the central directory
    struct.pack_into("<I", written, entry + 24, 1000)
    if checksum:
        struct.pack_into("<I", written, entry + 16, zlib.crc32(bytes(1000)))
    path.write_bytes(written)
    return path


@pytest.mark.parametrize("name", ["word/document.xml", "word/styles.xml"])  # one is read, the other copied
def test_a_part_that_is_larger_than_it_says_is_refused(tmp_path, name):
    source = lying(tmp_path / "a.docx", name, checksum=True)
    tracemalloc.start()
    try:
        refused(source, attend.InputError, name, "unpacks to more than the 1,000 bytes")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 20 << 20
    refused(lying(tmp_path / "a.docx", name, checksum=False), attend.InputError, name, "unpacks to more than the 1,000 bytes")


@pytest.mark.parametrize("name", ["word/document.xml", "word/styles.xml"])
def test_the_checksum_of_a_part_is_compared(tmp_path, name):
    source = with_body(tmp_path / "a.docx", "<w:p>" + r("x") + "</w:p>")
    written = bytearray(source.read_bytes())
    written[written.index(name.encode(), written.index(b"PK\x01\x02")) - 46 + 16] ^= 1
    source.write_bytes(written)
    refused(source, attend.InputError, name, "damaged", "CRC")
