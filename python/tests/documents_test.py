"""attend.translate_file on DOCX, PPTX, ODT and EPUB that other libraries write and read again; hostile archives; the command.

Most tests translate by a stub that writes upper case, or the words in reverse order, so that what must come out is known to the byte.
"""

import importlib
import io
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import zipfile
import zlib

import attend
import attend.documents
import pytest
from package import GOLDEN, PACKAGE, PROGRAM
from translated_documents import LAUGHS, Stub, refused, text_file, translated, without

etree = pytest.importorskip("lxml.etree")

from attend.documents._serving import _Served  # noqa: E402

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def parts(path):
    with zipfile.ZipFile(path) as archive:
        return {each.filename: archive.read(each) for each in archive.infolist()}


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
        types = types.replace("</Types>", f'<Override PartName="/word/{name}" ContentType="application/vnd.{kind}+xml"/></Types>')
        relations = relations.replace("</Relationships>", f'<Relationship Id="rMore{number}" Target="{name}" Type="x"/></Relationships>')
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


def test_a_bookmark_begins_before_it_ends(tmp_path):
    paragraph = "<w:p>" + r("one ") + '<w:bookmarkStart w:id="4" w:name="x"/>' + r("two three") + '<w:bookmarkEnd w:id="4"/>' + r(" four") + "</w:p>"
    content = parts(translated(with_body(tmp_path / "a.docx", paragraph), reverse=True))["word/document.xml"].decode()
    assert 0 < content.index('<w:bookmarkStart w:id="4" w:name="x"/>') < content.index('<w:bookmarkEnd w:id="4"/>')


def test_footnotes_are_translated_and_comments_are_not(tmp_path):
    note = '<w:{0} xmlns:w="{1}"><w:{2} w:id="2"><w:p><w:r><w:{3}/></w:r><w:r><w:t xml:space="preserve"> a note</w:t></w:r></w:p></w:{2}></w:{0}>'
    office = "openxmlformats-officedocument.wordprocessingml"
    source = with_body(
        tmp_path / "a.docx", "<w:p>" + r("one") + "</w:p>",
        ("footnotes.xml", f"{office}.footnotes", note.format("footnotes", W[1:-1], "footnote", "footnoteRef")),
        ("comments.xml", f"{office}.comments", note.format("comments", W[1:-1], "comment", "annotationRef")))
    after = parts(translated(source))
    assert "".join(etree.fromstring(after["word/footnotes.xml"]).itertext()).strip() == "A NOTE"
    assert b"footnoteRef" in after["word/footnotes.xml"] and after["word/comments.xml"] == parts(source)["word/comments.xml"]


def test_text_of_smart_art_is_translated(tmp_path):
    drawing = '<d xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:p><a:r><a:rPr lang="en"/><a:t>box</a:t></a:r><a:endParaRPr/></a:p></d>'
    kinds = ("openxmlformats-officedocument.drawingml.diagramData", "ms-office.drawingml.diagramDrawing", "openxmlformats-officedocument.drawingml.diagramColors")
    source = with_body(tmp_path / "a.docx", "<w:p/>", *((f"{number}.xml", kind, drawing) for number, kind in enumerate(kinds)))
    after = parts(translated(source))
    assert [etree.tostring(etree.fromstring(after[f"word/{number}.xml"])).decode() == drawing.replace("box", "BOX") for number in range(3)] == [True, True, False]


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
    data = importlib.import_module("pptx.chart.data").CategoryChartData()
    data.categories = ["x"]
    data.add_series("y", (1,))
    slide.shapes.add_chart(importlib.import_module("pptx.enum.chart").XL_CHART_TYPE.LINE, 0, 0, 9, 9, data).chart.chart_title.text_frame.text = "a chart"
    source = tmp_path / "a.pptx"
    deck.save(source)
    target = translated(source)
    after = pptx.Presentation(target).slides[0]
    assert after.shapes.title.text == "A TITLE" and after.notes_slide.notes_text_frame.text == "NOTES OF IT"
    runs = [(run.text, run.font.bold, run.hyperlink.address) for run in after.placeholders[1].text_frame.paragraphs[0].runs]
    assert runs == [("SOME ", None, None), ("BOLD", True, None), (" ", None, None), ("WORDS", None, "https://example.org/"), ("BELOW", None, None)]
    assert next(shape for shape in after.shapes if shape.has_table).table.cell(0, 0).text == "IN A TABLE"
    assert next(shape for shape in after.shapes if shape.has_chart).chart.chart_title.text_frame.text == "A CHART"
    assert_same_but_runs(source, target, "ppt/slides/slide1.xml", "ppt/notesSlides/notesSlide1.xml", *(name for name in parts(source) if re.fullmatch(r"ppt/charts/\w+.xml", name)))


OPEN_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


def paragraph_of_odt(folder, paragraph, **options):
    """What becomes of the content of a paragraph, as XML."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    with zipfile.ZipFile(folder / "a.odt", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", f'<o:body xmlns:o="{office}" xmlns:text="{OPEN_TEXT}"><text:p>{paragraph}</text:p></o:body>')
    found = parts(translated(folder / "a.odt", **options))["content.xml"].decode()
    return re.fullmatch(r"(?s).*<text:p>(.*)</text:p></o:body>", found)[1]


@pytest.mark.parametrize(("name", "identity"), [("change", "change-id"), ("toc-mark", "id"), ("bookmark", "name")])
def test_ranges_of_open_documents_begin_before_they_end(tmp_path, name, identity):
    def mark(which, value):
        return f'<text:{name}-{which} text:{identity}="{value}"/>'

    paragraph = f'{mark("start", 1)}one{mark("end", 1)} and {mark("start", 2)}two{mark("end", 2)}'
    assert paragraph_of_odt(tmp_path, paragraph) == paragraph.replace("one", "ONE").replace("and", "AND").replace("two", "TWO")
    moved = paragraph_of_odt(tmp_path, paragraph.replace("one", "one word"), reverse=True)
    for value in (1, 2):
        assert 0 <= moved.index(mark("start", value)) < moved.index(mark("end", value))


def test_parts_that_are_read_are_limited_together(tmp_path, monkeypatch):
    source = word_document(tmp_path / "a.docx")
    monkeypatch.setattr("attend.documents._archive._MOST_READ", len(parts(source)["word/document.xml"]))
    refused(source, attend.InputError, "bytes of text")


def test_spaces_of_open_documents_stay(tmp_path):
    assert paragraph_of_odt(tmp_path, 'one<text:s text:c="5"/>two<text:s/>three') == 'ONE<text:s text:c="5"/>TWO THREE'


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_parts_that_are_packed_otherwise_are_refused(tmp_path, packing):
    source = word_document(tmp_path / "a.docx")
    content = parts(source)
    with zipfile.ZipFile(source, "w") as archive:
        for each, text in content.items():
            archive.writestr(each, text, packing if each == "word/styles.xml" else zipfile.ZIP_DEFLATED)
    refused(source, attend.InputError, "word/styles.xml is packed in a way", f"method {packing}), expected Deflate")


def test_an_archive_of_a_later_version_is_refused(tmp_path):
    source = word_document(tmp_path / "a.docx")
    damaged = bytearray(source.read_bytes())
    damaged[damaged.index(b"PK\x01\x02") + 6] = 99  # the version that is needed
    source.write_bytes(damaged)
    refused(source, attend.InputError, "packed in a way")


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


def command(*arguments):
    """`attend translate-file` by the Python of this test."""
    environment = {**os.environ, "ATTEND_PYTHON": sys.executable, "PYTHONPATH": str(PACKAGE)}
    return subprocess.run([PROGRAM, "translate-file", *map(str, arguments)], capture_output=True, text=True, check=False, env=environment, timeout=300)


def test_the_command(tmp_path, translator):
    source = word_document(tmp_path / "a.docx")
    done = command(GOLDEN, source, tmp_path / "b.docx", "--beam-size=1", "--repetition-penalty=5")
    assert (done.returncode, done.stdout) == (0, f"wrote {tmp_path / 'b.docx'}: 9 texts translated\n")
    attend.translate_file(translator, source, tmp_path / "c.docx", beam_size=1, repetition_penalty=5)
    assert parts(tmp_path / "b.docx") == parts(tmp_path / "c.docx")
    endings = command("--help").stdout.split("OUT REQUIRED")[0]
    assert sorted(re.findall(r"\.\w+", endings)) == sorted(attend.documents.FORMATS)


def test_the_command_takes_a_glossary(tmp_path):
    source, terms = text_file(tmp_path, "a.tsv", "lumi\n"), text_file(tmp_path, "terms.txt", "lumi\tvesta\n")
    done = command(GOLDEN, source, tmp_path / "b.tsv", "--glossary", terms)
    assert done.returncode == 0 and done.stderr.endswith("terms of the glossary in the text: 1, of which 1 are kept\n")
    assert "vesta" in (tmp_path / "b.tsv").read_text(encoding="utf-8").split()


def test_the_command_takes_a_memory(tmp_path):
    source = text_file(tmp_path, "a.html", "<p>lumi <b>tavo</b></p><p>neri dosa</p><p><i>sona mipa</i></p>")
    memory = text_file(tmp_path, "units.tsv", "lumi tavo\tEINS ZWEI\nsona mipa\tDREI VIER\n")
    done = command(GOLDEN, source, tmp_path / "b.html", "--memory", memory)
    assert done.returncode == 0, done.stderr
    found = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert found.startswith("<p>EINS <b>ZWEI</b></p>") and found.endswith("<p><i>DREI VIER</i></p>")
    plain = command(GOLDEN, source, tmp_path / "c.html", "--memory", memory, "--memory-exact=false")
    assert plain.returncode == 0 and "ZWEI" not in (tmp_path / "c.html").read_text(encoding="utf-8")
    units = '<tu><tuv xml:lang="{}"><seg>lumi tavo</seg></tuv><tuv xml:lang="de"><seg>FUNF</seg></tuv><tuv xml:lang="fr"><seg>SIX</seg></tuv></tu>'
    memory = text_file(tmp_path, "units.tmx", f'<tmx version="1.4"><header srclang="en"/><body>{units.format("en")}</body></tmx>')
    assert command(GOLDEN, source, tmp_path / "d.html", "--memory", memory).returncode == 3
    assert command(GOLDEN, source, tmp_path / "d.html", "--memory", memory, "--memory-source=en", "--memory-target=fr").returncode == 0
    assert "SIX" in (tmp_path / "d.html").read_text(encoding="utf-8")


def test_what_is_lost_is_told(tmp_path, translator):
    """In the words of `attend translate`, whose lines are the document's texts."""
    lines = ["lumi tavo Q\u6f22", "keri neri dosa mipa lumi tavo keri neri", "olin"]
    source, terms = text_file(tmp_path, "a.tsv", "\n".join(lines)), text_file(tmp_path, "terms.tsv", "lumi\tzzzzzzzzzzz\n")
    options = {"max_length": 2, "max_input_tokens": 4}
    texts = attend.translate_file(translator, source, tmp_path / "b.tsv", glossary=attend.Glossary(terms), **options)
    found = translator.translate(lines, glossary=attend.Glossary(terms), **options)
    best = [each.hypotheses[0] for each in found]
    counts = texts.counts
    assert texts == 3 and pickle.loads(pickle.dumps(texts)).counts == counts
    assert counts[:4] == (sum(not each.finished for each in best), sum(each.divided for each in found), 1, 2)
    assert counts[4:] == (2, sum(each.terms_kept for each in best), 2) and counts.cut > 1 <= counts.divided
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    told = command(GOLDEN, source, tmp_path / "c.tsv", "--glossary", terms, *words).stderr.splitlines()
    plain = subprocess.run([PROGRAM, "translate", "--model", GOLDEN, "--glossary", terms, *words], input="\n".join(lines), capture_output=True, text=True, check=True)

    def without_places(line):
        return re.sub(r"(:|,) (of )?lines? [\d, ]+|, most often .*", "", line).replace("line", "text").replace("4 tokens", "max_input_tokens")

    assert sorted(told) == sorted(without_places(line) for line in plain.stderr.splitlines()) and len(told) == 5
    quiet = command(GOLDEN, source, tmp_path / "c.tsv", "--glossary", terms, "--quiet", *words)
    assert (quiet.stdout, quiet.stderr.splitlines()) == ("", [line for line in told if line.startswith("warning: ")])


@pytest.mark.parametrize(("model", "target", "status", "words"), [
    (GOLDEN, "b.pdf", 2, "ends in '.pdf', expected one of .docx"), (GOLDEN, "b.PPT", 2, ".tsv; save it as .pptx"), (GOLDEN, "a.tsv", 2, "the source itself"), ("no_such", "b.tsv", 3, "no_such"),
])
def test_the_command_tells_what_is_wrong(tmp_path, model, target, status, words):
    source = text_file(tmp_path, "a.tsv", "lumi")
    done = command(model, source, tmp_path / target)
    assert done.returncode == status and words in done.stderr and done.stderr.count("\n") == 1 and done.stderr.startswith("attend translate-file: ")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"] and source.read_text() == "lumi"


def test_the_service_is_told_the_names_of_its_own_fields(tmp_path):
    request = {"ask": "read", "path": text_file(tmp_path, "a.xlf", '<xliff version="1.2"><file source-language="fr"/></xliff>'), "texts": tmp_path / "texts"}
    with pytest.raises(attend.UsageError, match=r"expected en; .* as the file does \(source\)"):
        _Served().answer({**request, "source_language": "en", "target_language": ""})


def bomb(path, size):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", b"<Types/>")
        with archive.open("word/document.xml", "w") as file:
            for _ in range(size >> 20):
                file.write(bytes(1 << 20))
    return path


def test_an_archive_that_unpacks_to_much_more_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    refused(bomb(tmp_path / "a.docx", 40 << 20), attend.InputError, "unpacks to 2 parts", "times its size")


def test_entities_in_a_part_are_refused(tmp_path):
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
        ("a.odt", whole, ["no part content.xml"]), ("a.epub", whole, ["no part META-INF/container.xml"]),
    ]:
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name, attend.InputError, *words)
    damaged = bytearray(whole)
    with zipfile.ZipFile(tmp_path / "whole.docx") as archive:
        damaged[archive.getinfo("word/document.xml").header_offset + 60] ^= 255
    (tmp_path / "damaged.docx").write_bytes(damaged)
    refused(tmp_path / "damaged.docx", attend.InputError, "word/document.xml is damaged")
    refused(tmp_path / "none.docx", attend.InputError, "No such file")


def test_what_fails_leaves_the_old_target(tmp_path):
    class Failing(Stub):
        def translate(self, texts, *, alignments):
            raise attend.RunError("no")

    source, target = word_document(tmp_path / "a.docx"), text_file(tmp_path, "b.docx", "old")
    with pytest.raises(attend.RunError):
        attend.translate_file(Failing(), source, target)
    assert target.read_text() == "old" and json.dumps(sorted(path.name for path in tmp_path.iterdir())) == '["a.docx", "b.docx"]'
