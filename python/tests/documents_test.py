"""attend.translate_file on documents that other libraries write and read again.

Most tests translate by a stub that writes upper case, or the words in reverse order, so that what must come out is known to the byte.
"""

import io
import json
import re
import struct
import subprocess
import sys
import zipfile
import zlib

import attend
import attend.documents
import pytest
from package import GOLDEN, PROGRAM, program

etree = pytest.importorskip("lxml.etree")

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


class Stub:
    """A translator that knows which word became which."""

    def __init__(self, *, reverse=False):
        self.reverse, self.texts = reverse, []

    def translate(self, texts, *, alignments):
        assert alignments
        self.texts += texts
        return [self.translation(text) for text in texts]

    def translation(self, text):
        words = text.upper().split()
        order = range(len(words))[::-1] if self.reverse else range(len(words))
        links = [(source, target) for target, source in enumerate(order)]
        return attend.Translation((attend.Hypothesis(" ".join(words[at] for at in order), 0, 0, [], True, links),))


def translated(source, *, reverse=False, **options):
    """The path of the source's translation by a stub."""
    target = source.with_name(f"out-{source.name}")
    stub = Stub(reverse=reverse)
    attend.translate_file(stub, source, target, **options)
    assert [path.name for path in source.parent.iterdir() if path.name.startswith(target.name)] == [target.name]
    return target


def text_file(folder, name, content):
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return path


def translated_text(folder, name, content, **options):
    return translated(text_file(folder, name, content), **options).read_bytes().decode()


def parts(path):
    with zipfile.ZipFile(path) as archive:
        return {each.filename: archive.read(each) for each in archive.infolist()}


def without(content, *names):
    """Canonical XML without elements of these local names."""
    root = etree.fromstring(content)
    for node in [each for each in root.iter(etree.Element) if etree.QName(each).localname in names]:
        if node.getparent() is not None:
            node.getparent().remove(node)
    return etree.tostring(root, method="c14n")


def assert_same_but_runs(source, target, *changed):
    """The same parts, byte for byte, but for those named, which differ in their runs alone."""
    before, after = parts(source), parts(target)
    assert list(before) == list(after)
    assert {name for name in before if before[name] != after[name]} == set(changed)
    for name in changed:
        assert without(before[name], "r") == without(after[name], "r"), name


def png():
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    return io.BytesIO(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


def add_link(paragraph, address, text):
    """A hyperlink, as python-docx can read but not write."""
    docx = pytest.importorskip("docx")
    link = paragraph._p.makeelement(f"{W}hyperlink", {
        "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id": paragraph.part.relate_to(address, docx.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, is_external=True)})
    run = etree.SubElement(link, f"{W}r")
    etree.SubElement(run, f"{W}t").text = text
    paragraph._p.append(link)


def word_document(path):
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("A small house", 1)
    paragraph = document.add_paragraph("The ")
    paragraph.add_run("quick ").bold = True
    paragraph.add_run("brown").bold = True
    paragraph.add_run(" fox & the ")
    paragraph.add_run("lazy").italic = True
    paragraph.add_run(" dog.")
    linked = document.add_paragraph("See ")
    add_link(linked, "https://example.org/", "this page")
    linked.add_run(" now.")
    tabbed = document.add_paragraph("Name")
    tabbed.add_run("\tAnn").bold = True
    tabbed.add_run("\nnext line")
    document.add_paragraph("A picture ").add_run().add_picture(png())
    document.add_paragraph("")
    document.add_paragraph("   ")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left cell", "right cell"
    document.sections[0].header.paragraphs[0].text = "page head"
    document.sections[0].footer.paragraphs[0].add_run("page foot").italic = True
    document.save(path)
    return path


def word_characters(path):
    """[[(character, bold, italic, address)]] of all paragraphs that python-docx finds."""
    docx = pytest.importorskip("docx")
    document = docx.Document(path)
    section = document.sections[0]
    cells = [cell for table in document.tables for row in table.rows for cell in row.cells]
    found = []
    for paragraph in [*document.paragraphs, *(each for cell in [*cells, section.header, section.footer] for each in cell.paragraphs)]:
        characters = []
        for item in paragraph.iter_inner_content():
            for run in getattr(item, "runs", [item]):
                characters += [(each, bool(run.bold), bool(run.italic), getattr(item, "address", None)) for each in run.text]
        found.append(characters)
    return found


def test_a_word_document_keeps_its_formatting(tmp_path):
    source = word_document(tmp_path / "a.docx")
    target = translated(source)

    def words(path):
        return [re.sub(r"\s+", " ", "".join(f"{each[0]}{'b' * each[1]}{'i' * each[2]}{each[3] or ''}\0" for each in line if not each[0].isspace())) for line in word_characters(path)]

    assert [line.upper() for line in words(source)] == [line.upper() for line in words(target)]
    lines = ["".join(each[0] for each in line) for line in word_characters(target)]
    assert lines == [
        "A SMALL HOUSE", "THE QUICK BROWN FOX & THE LAZY DOG.", "SEE THIS PAGE NOW.", "NAME\tANN\nNEXT LINE", "A PICTURE ", "", "   ", "LEFT CELL",
        "RIGHT CELL", "PAGE HEAD", "PAGE FOOT"]
    names = [name for name in parts(source) if re.fullmatch(r"word/(document|header\d|footer\d).xml", name) and b"<w:t" in parts(source)[name]]
    assert_same_but_runs(source, target, *names)
    assert parts(target)["word/document.xml"].count(b"<pic:pic") == 1


def test_words_take_their_formatting_along(tmp_path):
    target = translated(word_document(tmp_path / "a.docx"), reverse=True)
    docx = pytest.importorskip("docx")
    runs = [(run.text, run.bold, run.italic) for run in docx.Document(target).paragraphs[1].runs]
    assert [(text.strip(), bold, italic) for text, bold, italic in runs if text.strip()] == [
        ("DOG.", None, None), ("LAZY", None, True), ("THE & FOX", None, None), ("BROWN QUICK", True, None), ("THE", None, None)]
    link = docx.Document(target).paragraphs[2].hyperlinks[0]
    assert (docx.Document(target).paragraphs[2].text, link.text, link.address) == ("NOW. PAGE THIS SEE", "PAGE THIS", "https://example.org/")


def with_body(path, body, *more):
    """A document whose body and other parts (name, content type, relation, content) are given as XML."""
    word_document(path)
    content = parts(path)
    types, relations = content["[Content_Types].xml"].decode(), content["word/_rels/document.xml.rels"].decode()
    for number, (name, kind, xml) in enumerate(more):
        office = "application/vnd.openxmlformats-officedocument.wordprocessingml"
        types = types.replace("</Types>", f'<Override PartName="/word/{name}" ContentType="{office}.{kind}+xml"/></Types>')
        relations = relations.replace("</Relationships>", f'<Relationship Id="rMore{number}" Target="{name}" '
                                      f'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"/></Relationships>')
        content[f"word/{name}"] = xml.encode()
    document = f'<w:document xmlns:w="{W[1:-1]}"><w:body>{body}</w:body></w:document>'
    content |= {"[Content_Types].xml": types.encode(), "word/_rels/document.xml.rels": relations.encode(), "word/document.xml": document.encode()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in content.items():
            archive.writestr(name, each)
    return path


def r(text, properties=""):
    return f'<w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r>'


BOLD = "<w:rPr><w:b/></w:rPr>"
FIELD = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'


@pytest.mark.parametrize(("paragraph", "expected"), [
    # What programs cut into runs by themselves becomes one again.
    (r("one t") + "<w:proofErr w:type='spellStart'/>" + r("w", "<w:rPr><w:noProof/></w:rPr>") + r("o", '<w:rPr><w:lang w:val="en-US"/></w:rPr>'), r("ONE TWO")),
    # A note, a bookmark and a comment stay at their words.
    ('<w:bookmarkStart w:id="1" w:name="x"/>' + r("one") + '<w:bookmarkEnd w:id="1"/><w:r><w:footnoteReference w:id="2"/></w:r>' + r(" two"),
     '<w:bookmarkStart w:id="1" w:name="x"/>' + r("ONE") + '<w:bookmarkEnd w:id="1"/><w:r><w:footnoteReference w:id="2"/></w:r>' + r(" TWO")),
    # What a tracked change deletes stays as it is, what it inserts is text.
    ('<w:del w:id="1"><w:r><w:delText>old</w:delText></w:r></w:del><w:ins w:id="2">' + r("new") + "</w:ins>" + r(" text"),
     '<w:del w:id="1"><w:r><w:delText>old</w:delText></w:r></w:del><w:ins w:id="2">' + r("NEW") + "</w:ins>" + r(" TEXT")),
    # The number of a page is a field, which is made anew; the text of a link is text.
    (r("page ") + FIELD.format("begin") + "<w:r><w:instrText>PAGE</w:instrText></w:r>" + FIELD.format("separate") + r("x") + FIELD.format("end"),
     r("PAGE ") + FIELD.format("begin") + "<w:r><w:instrText>PAGE</w:instrText></w:r>" + FIELD.format("separate") + r("x") + FIELD.format("end")),
    (r("see ") + FIELD.format("begin") + "<w:r><w:instrText> HYPERLINK \"x\"</w:instrText></w:r>" + FIELD.format("separate") + r("it") + FIELD.format("end"),
     r("SEE ") + FIELD.format("begin") + "<w:r><w:instrText> HYPERLINK \"x\"</w:instrText></w:r>" + FIELD.format("separate") + r("IT") + FIELD.format("end")),
    # A field that goes on in the next paragraph.
    (FIELD.format("begin") + "<w:r><w:instrText>TOC</w:instrText></w:r>" + FIELD.format("separate") + r("one"),
     FIELD.format("begin") + "<w:r><w:instrText>TOC</w:instrText></w:r>" + FIELD.format("separate") + r("ONE")),
    ('<w:sdt><w:sdtPr><w:id w:val="7"/></w:sdtPr><w:sdtContent>' + r("in") + "</w:sdtContent></w:sdt>" + r(" out of it", BOLD),
     '<w:sdt><w:sdtPr><w:id w:val="7"/></w:sdtPr><w:sdtContent>' + r("IN") + "</w:sdtContent></w:sdt>" + r(" OUT OF IT", BOLD)),
    # A text box in a drawing is a paragraph of its own.
    (r("out") + "<w:r><w:pict><w:txbxContent><w:p>" + r("in the box") + "</w:p></w:txbxContent></w:pict></w:r>",
     r("OUT") + "<w:r><w:pict><w:txbxContent><w:p>" + r("IN THE BOX") + "</w:p></w:txbxContent></w:pict></w:r>"),
])
def test_what_else_stands_in_a_paragraph(tmp_path, paragraph, expected):
    target = translated(with_body(tmp_path / "a.docx", f"<w:p><w:pPr><w:jc w:val='left'/></w:pPr>{paragraph}</w:p>"))
    found = etree.fromstring(parts(target)["word/document.xml"])[0][0]
    wanted = etree.fromstring(f'<w:p xmlns:w="{W[1:-1]}"><w:pPr><w:jc w:val="left"/></w:pPr>{expected}</w:p>')
    for node in [*found.iter(f"{W}t"), *wanted.iter(f"{W}t")]:
        node.attrib.clear()
    assert etree.tostring(found, method="c14n") == etree.tostring(wanted, method="c14n")


def test_footnotes_are_translated_and_comments_are_not(tmp_path):
    note = '<w:{0} xmlns:w="{1}"><w:{2} w:id="2"><w:p><w:r><w:{3}/></w:r><w:r><w:t xml:space="preserve"> a note</w:t></w:r></w:p></w:{2}></w:{0}>'
    source = with_body(
        tmp_path / "a.docx", "<w:p>" + r("one") + "</w:p>",
        ("footnotes.xml", "footnotes", note.format("footnotes", W[1:-1], "footnote", "footnoteRef")),
        ("comments.xml", "comments", note.format("comments", W[1:-1], "comment", "annotationRef")))
    after = parts(translated(source))
    assert "".join(etree.fromstring(after["word/footnotes.xml"]).itertext()).strip() == "A NOTE"
    assert b"footnoteRef" in after["word/footnotes.xml"] and after["word/comments.xml"] == parts(source)["word/comments.xml"]


def test_slides_keep_their_formatting(tmp_path):
    pptx = pytest.importorskip("pptx")
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "A title"
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    for text, bold in (("Some ", None), ("bold", True), (" words", None)):
        run = paragraph.add_run()
        run.text, run.font.bold = text, bold
    run.hyperlink.address = "https://example.org/"
    paragraph.add_line_break()
    paragraph.add_run().text = "below"
    cell = slide.shapes.add_table(1, 1, 0, 0, 9, 9).table.cell(0, 0)
    cell.text = "in a table"
    slide.notes_slide.notes_text_frame.text = "notes of it"
    source = tmp_path / "a.pptx"
    deck.save(source)
    target = translated(source)
    after = pptx.Presentation(target).slides[0]
    assert after.shapes.title.text == "A TITLE" and after.notes_slide.notes_text_frame.text == "NOTES OF IT"
    runs = [(run.text, run.font.bold, run.hyperlink.address) for run in after.placeholders[1].text_frame.paragraphs[0].runs]
    assert runs == [("SOME ", None, None), ("BOLD", True, None), (" WORDS", None, "https://example.org/"), ("BELOW", None, None)]
    assert next(shape for shape in after.shapes if shape.has_table).table.cell(0, 0).text == "IN A TABLE"
    assert_same_but_runs(source, target, "ppt/slides/slide1.xml", "ppt/notesSlides/notesSlide1.xml")


def test_an_open_document_keeps_its_formatting(tmp_path):
    odf = pytest.importorskip("odf.opendocument")
    from odf import style, table, text

    document = odf.OpenDocumentText()
    bold = style.Style(name="bold", family="text")
    bold.addElement(style.TextProperties(fontweight="bold"))
    document.automaticstyles.addElement(bold)
    document.text.addElement(text.H(outlinelevel=1, text="A heading"))
    paragraph = text.P(text="Some ")
    paragraph.addElement(text.Span(stylename=bold, text="bold words"))
    paragraph.addText(" and ")
    paragraph.addElement(text.A(href="https://example.org/", text="a link"))
    note = text.Note(noteclass="footnote")
    note.addElement(text.NoteCitation(text="1"))
    body = text.NoteBody()
    body.addElement(text.P(text="a note"))
    note.addElement(body)
    paragraph.addElement(note)
    paragraph.addText(".")
    paragraph.addElement(text.LineBreak())
    paragraph.addText("page ")
    paragraph.addElement(text.PageNumber(text="7x"))
    document.text.addElement(paragraph)
    rows, row, cell = table.Table(name="t"), table.TableRow(), table.TableCell()
    cell.addElement(text.P(text="in a table"))
    row.addElement(cell)
    rows.addElement(row)
    document.text.addElement(rows)
    source = tmp_path / "a.odt"
    document.save(str(source))
    before, after = parts(source), parts(translated(source))
    assert list(before) == list(after) and {name for name in before if before[name] != after[name]} <= {"content.xml", "styles.xml"}
    # Upper case is all that differs.
    wanted = etree.fromstring(before["content.xml"])
    for node in wanted.iter():
        kept = etree.QName(node).localname in ("page-number", "note-citation")
        node.text = node.text.upper() if node.text and not kept else node.text
        node.tail = node.tail.upper() if node.tail else None
    assert etree.tostring(etree.fromstring(after["content.xml"]), method="c14n") == etree.tostring(wanted, method="c14n")
    assert odf.load(str(translated(source))).mimetype == "application/vnd.oasis.opendocument.text"


def test_a_book_keeps_its_tags(tmp_path):
    epub = pytest.importorskip("ebooklib.epub")
    book = epub.EpubBook()
    book.set_identifier("id")
    book.set_title("A book")
    book.set_language("en")
    book.add_author("Ann Author")
    chapter = epub.EpubHtml(title="One", file_name="one.xhtml", lang="en")
    chapter.content = '<html><body><p id="p">Some <b>bold</b> words<br/>and a <img src="x.png" alt=""/> picture</p><p class="e"/><code>not this</code></body></html>'
    book.add_item(chapter)
    book.add_item(epub.EpubItem(file_name="x.png", media_type="image/png", content=png().read()))
    book.toc, book.spine = (chapter,), ["nav", chapter]
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    source = tmp_path / "a.epub"
    epub.write_epub(source, book)
    target = translated(source, target_language="de")
    after = epub.read_epub(target)
    assert after.get_metadata("DC", "title")[0][0] == "A BOOK" and after.get_metadata("DC", "language")[0][0] == "de"
    assert after.get_metadata("DC", "creator")[0][0] == "Ann Author"
    content = after.get_item_with_href("one.xhtml").get_content().decode()
    assert '<p id="p">SOME <b>BOLD</b> WORDS<br/>AND A <img src="x.png" alt=""/> PICTURE</p>' in content
    assert "<code>not this</code>" in content
    assert b"<text>ONE</text>" in re.sub(rb"\s*\n\s*", b"", parts(target)["EPUB/toc.ncx"]) and b">ONE</a>" in parts(target)["EPUB/nav.xhtml"]
    with zipfile.ZipFile(target) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type, archive.read(first)) == ("mimetype", zipfile.ZIP_STORED, b"application/epub+zip")
        assert archive.read("EPUB/x.png") == png().read()


def xliff(units, version="1.2", attributes='source-language="en" target-language="de"'):
    if version == "1.2":
        return (f'<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" datatype="x" '
                f'{attributes}><body>{units}</body></file></xliff>')
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="de"><file id="f">'
            f'{units}</file></xliff>')


def targets(content):
    """The inner XML of each target."""
    return [re.sub(r"</?target[^>]*>| xmlns=\"[^\"]*\"", "", etree.tostring(node, encoding="unicode", with_tail=False)) for node in etree.fromstring(content.encode()).iter("{*}target")]


@pytest.mark.parametrize(("source", "target"), [
    ('Click <g id="1">the <g id="2">red</g></g> button.', 'CLICK <g id="1">THE <g id="2">RED</g></g> BUTTON.'),
    ('One<x id="1"/> two &amp; <ph id="2">{0}</ph> three', 'ONE<x id="1"/> TWO &amp; <ph id="2">{0}</ph> THREE'),
    ('a <bpt id="1">[b]</bpt>bold<ept id="1">[/b]</ept> word', 'A <bpt id="1">[b]</bpt>BOLD<ept id="1">[/b]</ept> WORD'),
    ('a <bx id="1" rid="9"/>bold<ex id="2" rid="9"/> word<ex id="3"/>', 'A <bx id="1" rid="9"/>BOLD<ex id="2" rid="9"/> WORD<ex id="3"/>'),
    ('keep <mrk mtype="protected">this Name</mrk> so', 'KEEP <mrk mtype="protected">this Name</mrk> SO'),
])
def test_inline_elements_of_xliff_1(tmp_path, source, target):
    found = translated_text(tmp_path, "a.xlf", xliff(f'<trans-unit id="u"><source>{source}</source></trans-unit>'))
    assert targets(found) == [target]


def test_units_of_xliff_1(tmp_path):
    content = xliff(
        '<trans-unit id="1" translate="no"><source>no</source></trans-unit>'
        '<group translate="no"><trans-unit id="2"><source>nor this</source></trans-unit></group>'
        '<trans-unit id="3"><source>done</source><target state="final">fertig</target></trans-unit>'
        '<trans-unit id="4"><source>new</source><target state="new">new</target><note>n</note></trans-unit>'
        '<trans-unit id="5"><source> </source></trans-unit>'
        '<trans-unit id="6"><source>One. Two.</source><seg-source><mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg" mid="1">Two.</mrk></seg-source></trans-unit>')
    found = translated_text(tmp_path, "a.xlf", content)
    assert targets(found) == ["fertig", "NEW", '<mrk mtype="seg" mid="0">ONE.</mrk> <mrk mtype="seg" mid="1">TWO.</mrk>']
    assert without(found.encode(), "target") == without(content.encode(), "target")
    names = [[etree.QName(node).localname for node in unit] for unit in etree.fromstring(found.encode()).iter("{*}trans-unit")]
    assert names[3:] == [["source", "target", "note"], ["source"], ["source", "seg-source", "target"]]
    assert 'state="needs-review-translation" state-qualifier="mt-suggestion"' in found
    assert targets(translated_text(tmp_path, "b.xlf", content, retranslate=True))[0] == "DONE"
    factory = pytest.importorskip("translate.storage.xliff")
    store = factory.xlifffile.parsestring(found.encode())
    assert [unit.target for unit in store.units if unit.source == "new"] == ["NEW"]


def test_xliff_2(tmp_path):
    content = xliff(
        '<unit id="1"><segment><source>Click <pc id="1">the red</pc> button<ph id="2"/>.</source></segment></unit>'
        '<unit id="2"><segment state="final"><source>done</source><target>fertig</target></segment></unit>'
        '<unit id="3" translate="no"><segment><source>no</source></segment></unit>'
        '<unit id="4"><segment><source>a <sc id="5"/>bold<ec startRef="5"/> and <mrk id="m" translate="no">Name</mrk></source></segment><ignorable><source> </source></ignorable></unit>',
        "2.0")
    found = translated_text(tmp_path, "a.xliff", content)
    assert targets(found) == [
        'CLICK <pc id="1">THE RED</pc> BUTTON<ph id="2"/>.', "fertig", 'A <sc id="5"/>BOLD<ec startRef="5"/> AND <mrk id="m" translate="no">Name</mrk>']
    assert [node.get("state") for node in etree.fromstring(found.encode()).iter("{*}segment")] == ["translated", "final", None, "translated"]
    storage = pytest.importorskip("translate.storage.xliff")
    assert storage is not None
    with pytest.raises(attend.UsageError, match="trgLang"):
        translated(text_file(tmp_path, "b.xliff", content.replace(' trgLang="de"', "")))
    assert 'trgLang="fr"' in translated_text(tmp_path, "c.xliff", content.replace(' trgLang="de"', ""), target_language="fr")


def test_formatting_that_parts_is_a_copy(tmp_path):
    """What stood in one element stands in two, of which XLIFF 2 says that one is a copy."""

    class Parting(Stub):
        def translation(self, text):
            assert text == "a red house"
            return attend.Translation((attend.Hypothesis("RED A HOUSE", 0, 0, [], True, [(1, 0), (0, 1), (2, 2)]),))

    source = text_file(tmp_path, "a.xlf", xliff('<unit id="1"><segment><source>a <pc id="1">red house</pc></source></segment></unit>', "2.0"))
    attend.translate_file(Parting(), source, tmp_path / "b.xlf")
    assert targets((tmp_path / "b.xlf").read_text()) == ['<pc id="1">RED</pc> A <pc id="1-2" copyOf="1">HOUSE</pc>']


def test_a_translation_memory(tmp_path):
    content = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header srclang="en" segtype="sentence"/><body>'
        '<tu><tuv xml:lang="en-US"><seg>a <bpt i="1">&lt;b></bpt>bold<ept i="1">&lt;/b></ept> <hi>word</hi> <ph/></seg></tuv></tu>'
        '<tu><tuv xml:lang="en"><seg>done</seg></tuv><tuv xml:lang="de-DE"><seg>fertig</seg></tuv></tu>'
        '<tu srclang="fr"><tuv xml:lang="en"><seg>english</seg></tuv><tuv xml:lang="fr"><seg>french</seg></tuv></tu></body></tmx>')
    found = translated_text(tmp_path, "a.tmx", content, target_language="de")
    segments = [(node.getparent().get("{http://www.w3.org/XML/1998/namespace}lang"), etree.tostring(node, encoding="unicode", with_tail=False)) for node in etree.fromstring(found.encode()).iter("seg")]
    assert segments[1] == ("de", '<seg>A <bpt i="1">&lt;b&gt;</bpt>BOLD<ept i="1">&lt;/b&gt;</ept> <hi>WORD</hi> <ph/></seg>')
    assert segments[3:] == [("de-DE", "<seg>fertig</seg>"), ("en", "<seg>english</seg>"), ("fr", "<seg>french</seg>"), ("de", "<seg>FRENCH</seg>")]
    assert '<!DOCTYPE tmx SYSTEM "tmx14.dtd">' in found
    storage = pytest.importorskip("translate.storage.tmx")
    units = storage.tmxfile.parsestring(found.encode(), "en", "de").units
    assert [unit.target for unit in units][0].startswith("A ")
    assert "DONE" in translated_text(tmp_path, "b.tmx", content, target_language="de", retranslate=True)
    with pytest.raises(attend.UsageError, match="--target-language"):
        translated(tmp_path / "a.tmx")


CATALOGUE = r"""# A comment
msgid ""
msgstr ""
"Project-Id-Version: x\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n<5 ? 1 : 2);\n"

#. for translators
#: a.c:1
#, c-format
msgctxt "menu"
msgid "%d files in <b>%s</b>\n"
msgstr ""

msgid "done"
msgstr "fertig"

#, fuzzy
#| msgid "old words"
msgid "new words"
msgstr "alte Worte"

#, python-brace-format
msgid "one {thing} here"
msgid_plural "{n} things here"
msgstr[0] ""
msgstr[1] ""
msgstr[2] ""

#~ msgid "gone"
#~ msgstr "weg"
"""


def test_a_catalogue(tmp_path):
    polib = pytest.importorskip("polib")
    found = translated_text(tmp_path, "a.po", CATALOGUE, target_language="pl")
    storage = pytest.importorskip("translate.storage.pypo")
    units = {str(unit.source): unit for unit in storage.pofile.parsestring(found.encode()).units}
    assert str(units["%d files in <b>%s</b>\n"].target) == "%d FILES IN <b>%s</b>\n"
    assert (str(units["done"].target), str(units["new words"].target), units["new words"].isfuzzy()) == ("fertig", "NEW WORDS", False)
    assert [str(each) for each in units["one {thing} here"].target.strings] == ["ONE {thing} HERE", "{n} THINGS HERE", "{n} THINGS HERE"]
    before, after = polib.pofile(CATALOGUE), polib.pofile(found)
    assert after.metadata == before.metadata | {"Language": "pl"}
    for one, other in zip(before, after, strict=True):
        assert (one.msgid, one.msgctxt, one.comment, one.occurrences, one.obsolete) == (other.msgid, other.msgctxt, other.comment, other.occurrences, other.obsolete)
    assert '#~ msgid "gone"' in found and "#. for translators\n#: a.c:1\n#, c-format\n" in found
    one_form = CATALOGUE.replace("nplurals=3; plural=(n==1 ? 0 : n<5 ? 1 : 2);", "nplurals=1; plural=0;").replace('msgstr[1] ""\nmsgstr[2] ""\n', "")
    assert polib.pofile(translated_text(tmp_path, "b.po", one_form))[3].msgstr_plural == {0: "{n} THINGS HERE"}


def test_a_catalogue_that_is_the_name_of_a_file_is_no_catalogue(tmp_path):
    pytest.importorskip("polib")
    text_file(tmp_path, "a.po", CATALOGUE)
    with pytest.raises(attend.InputError, match="no PO"):
        translated(text_file(tmp_path, "b.po", str(tmp_path / "a.po")))


def test_subtitles(tmp_path):
    srt = pytest.importorskip("srt")
    content = (
        "3\n00:00:01,000 --> 00:00:02,500\n{\\an8}The <i>quick brown</i> fox\njumps & runs\n\n"
        "7\n00:00:03,000 --> 00:00:04,000\n- Who?\n- <b>Me.</b>\n\n8\n00:00:05,000 --> 00:00:06,000\n♪\n\n")
    for ends in ("\n", "\r\n"):
        found = translated_text(tmp_path, "a.srt", content.replace("\n", ends))
        assert found == content.replace("The <i>quick brown</i> fox\njumps & runs", "THE <i>QUICK BROWN</i>\nFOX JUMPS & RUNS").replace(
            "Who?", "WHO?").replace("Me.", "ME.").replace("\n", ends)
    assert [each.index for each in srt.parse(found.replace("\r\n", "\n"))] == [3, 7, 8]
    with pytest.raises(attend.InputError, match="no SRT"):
        translated(text_file(tmp_path, "b.srt", "some text\n"))


def test_web_subtitles(tmp_path):
    pytest.importorskip("webvtt")
    content = (
        "WEBVTT\n\nNOTE a note\n\nSTYLE\n::cue { color: red }\n\n"
        "a\n00:01.000 --> 00:02.500 align:start\n<v Ann>Fish &amp; <c.loud>big chips</c>\n\n00:03.000 --> 00:04.000\n<00:03.500>two words\n")
    found = translated_text(tmp_path, "a.vtt", content)
    assert found.replace("00:00:0", "00:0") == content.replace("Fish", "FISH").replace("big chips", "BIG CHIPS").replace("two words", "TWO WORDS")
    with pytest.raises(attend.InputError, match="no WebVTT"):
        translated(text_file(tmp_path, "b.vtt", "some text\n"))


def test_a_table(tmp_path):
    found = translated_text(tmp_path, "a.tsv", '\ufeffone <b> & "two"\t\tc\r\ndone\tfertig\nalone\n\n \tx\nlast')
    assert found == '\ufeffONE <B> & "TWO"\tONE <B> & "TWO"\tc\r\n'.replace("ONE <B> & \"TWO\"\t", 'one <b> & "two"\t', 1) + "done\tfertig\nalone\tALONE\n\n \tx\nlast\tLAST"
    assert translated_text(tmp_path, "b.tsv", "done\tfertig", retranslate=True) == "done\tDONE"


def test_a_page(tmp_path):
    page = "<!DOCTYPE html><title>A page</title><p>Some <b>bold</b> words<script>var a;</script>"
    assert translated_text(tmp_path, "a.html", page) == "<!DOCTYPE html><title>A PAGE</title><p>SOME <b>BOLD</b> WORDS<script>var a;</script>"


def test_html_goes_through_the_model(translator):
    plain = translator.translate(["lumi tavo", "keri neri"])
    found = attend.translate_html(translator, "<p>lumi <b>tavo</b></p><p>keri neri</p>")
    assert re.sub(r"<[^>]*>", "\n", found).split("\n")[-2] == plain[1]
    assert re.sub(r"<[^>]*>", "", found) == "".join(plain) and found.count("<b>") == found.count("</b>") >= 1
    assert attend.translate_html(translator, ["keri neri", ""]) == [plain[1], ""]
    with pytest.raises(attend.ConfigurationError, match="beam_sise"):
        attend.translate_html(translator, "lumi", beam_sise=4)


def test_a_document_goes_through_the_model(tmp_path, translator):
    source = text_file(tmp_path, "a.tsv", "lumi tavo\nkeri neri\n")
    assert attend.translate_file(translator, source, tmp_path / "b.tsv", beam_size=2) == 2
    expected = translator.translate(["lumi tavo", "keri neri"], beam_size=2)
    assert (tmp_path / "b.tsv").read_text() == f"lumi tavo\t{expected[0]}\nkeri neri\t{expected[1]}\n"


def test_the_command(tmp_path, translator):
    source = word_document(tmp_path / "a.docx")
    said = program("translate-file", GOLDEN, source, tmp_path / "b.docx", "--beam-size=1")
    assert said == f"wrote {tmp_path / 'b.docx'}: 9 texts translated\n"
    attend.translate_file(translator, source, tmp_path / "c.docx", beam_size=1)
    assert parts(tmp_path / "b.docx") == parts(tmp_path / "c.docx")
    done = subprocess.run([PROGRAM, "translate-file", GOLDEN, source, tmp_path / "b.pdf"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "ends in '.pdf', expected one of .docx" in done.stderr and not (tmp_path / "b.pdf").exists()


def bomb(path, size):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", b"<Types/>")
        with archive.open("word/document.xml", "w") as file:
            for _ in range(size >> 20):
                file.write(bytes(1 << 20))
    return path


def refused(path, kind, *words):
    with pytest.raises(kind) as error:
        translated(path)
    assert all(word in str(error.value) for word in words), error.value
    assert not [each for each in path.parent.iterdir() if each.name.startswith("out-")]


def test_an_archive_that_unpacks_to_much_more_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    refused(bomb(tmp_path / "a.docx", 40 << 20), attend.InputError, "unpacks to 2 parts", "times its size")


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def test_entities_are_refused(tmp_path):
    secret = text_file(tmp_path, "secret.txt", "the secret")
    for doctype in (LAUGHS, f'<!DOCTYPE x [<!ENTITY b SYSTEM "file://{secret}">]>'):
        content = xliff('<trans-unit id="1"><source>say &b;</source></trans-unit>').replace("<xliff", f"{doctype}<xliff", 1)
        refused(text_file(tmp_path, "a.xlf", content), attend.InputError, "entities")
    content = parts(word_document(tmp_path / "a.docx"))
    content["word/document.xml"] = content["word/document.xml"].replace(b"<w:document", LAUGHS.encode() + b"<w:document", 1)
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for name, each in content.items():
            archive.writestr(name, each)
    refused(tmp_path / "a.docx", attend.InputError, "word/document.xml", "entities")


def test_broken_documents_are_refused(tmp_path):
    whole = word_document(tmp_path / "whole.docx").read_bytes()
    for name, content, words in [
        ("cut.docx", whole[:len(whole) // 2], ["no ZIP archive"]), ("empty.docx", b"", ["no ZIP archive"]),
        ("old.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), ["password"]), ("a.pptx", whole, ["no pptx file"]),
        ("a.odt", whole, ["no part content.xml"]), ("a.epub", whole, ["no part META-INF/container.xml"]), ("a.xlf", b"<xliff version='1.2'><file>", ["no XML"]),
        ("b.xlf", b"<html/>", ["no XLIFF"]), ("a.tmx", b"<html/>", ["no TMX"]), ("a.tsv", b"\xff\xfe", ["not UTF-8 at byte 0"]), ("a.html", b"a\0", ["NUL"]),
        ("a.po", b'msgid "a\nmsgstr', ["no PO"]), ("a.vtt", b"", ["no WebVTT"]),
    ]:
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name, attend.InputError, *words)
    damaged = bytearray(whole)
    with zipfile.ZipFile(tmp_path / "whole.docx") as archive:
        damaged[archive.getinfo("word/document.xml").header_offset + 60] ^= 255
    (tmp_path / "damaged.docx").write_bytes(damaged)
    refused(tmp_path / "damaged.docx", attend.InputError, "word/document.xml is damaged")
    refused(tmp_path / "none.docx", attend.InputError, "No such file")


def test_calls_that_make_no_sense(tmp_path, monkeypatch):
    source = text_file(tmp_path, "a.tsv", "one")
    for target, words in ((source, "the source itself"), (tmp_path / "b.po", "formats are not converted"), (tmp_path / "b.txt", "expected one of .docx")):
        with pytest.raises(attend.UsageError, match=words):
            attend.translate_file(Stub(), source, target)
    monkeypatch.setitem(sys.modules, "polib", None)
    monkeypatch.delitem(sys.modules, "attend.documents._po", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'attend\[documents\]'"):
        attend.documents.read_document(text_file(tmp_path, "a.po", CATALOGUE))


def test_what_fails_leaves_the_old_target(tmp_path):
    class Failing(Stub):
        def translate(self, texts, *, alignments):
            raise attend.RunError("no")

    source, target = word_document(tmp_path / "a.docx"), text_file(tmp_path, "b.docx", "old")
    with pytest.raises(attend.RunError):
        attend.translate_file(Failing(), source, target)
    assert target.read_text() == "old" and json.dumps(sorted(path.name for path in tmp_path.iterdir())) == '["a.docx", "b.docx"]'
