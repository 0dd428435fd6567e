"""Hostile documents take time in proportion to their size: what a reader does is counted at n and at 2n, not timed."""

import zipfile

import attend
import attend.documents
import pytest
from attend.documents._plain import broken
from attend.documents._subtitles import TAG
from documents_test import BOLD, r, with_body
from documents_text_test import xliff
from translated_documents import Stub, text_file

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
