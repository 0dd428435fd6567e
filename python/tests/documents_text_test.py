"""attend.translate_file on XLIFF, TMX, PO, SRT, WebVTT, TSV and HTML, whose results other libraries read; attend.translate_html."""

import random
import re
import sys

import attend
import attend.documents
import pytest
from translated_documents import LAUGHS, Stub, refused, text_file, translated, translated_text, without

polib, srt, webvtt = (pytest.importorskip(name) for name in ("polib", "srt", "webvtt"))
etree = pytest.importorskip("lxml.etree")

from attend._attend import HtmlDocument  # noqa: E402
from attend.documents._plain import broken  # noqa: E402
from attend.documents._segment import Kind, Segment  # noqa: E402
from attend.documents._subtitles import TAG  # noqa: E402


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
        '<trans-unit id="4"><source>new</source><target state="new">new</target><note>n</note><alt-trans><source>a</source><target>b</target></alt-trans></trans-unit>'
        '<trans-unit id="5"><source> </source></trans-unit>'
        '<trans-unit id="6"><source>One. Two.</source><seg-source><mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg" mid="1">Two.</mrk></seg-source></trans-unit>')
    found = translated_text(tmp_path, "a.xlf", content)
    assert targets(found) == ["fertig", "NEW", "b", '<mrk mtype="seg" mid="0">ONE.</mrk> <mrk mtype="seg" mid="1">TWO.</mrk>']
    assert without(found.encode(), "target") == without(content.encode(), "target")
    names = [[etree.QName(node).localname for node in unit] for unit in etree.fromstring(found.encode()).iter("{*}trans-unit")]
    assert names[3:] == [["source", "target", "note", "alt-trans"], ["source"], ["source", "seg-source", "target"]]
    assert 'state="needs-review-translation" state-qualifier="mt-suggestion"' in found
    assert targets(translated_text(tmp_path, "b.xlf", content, retranslate=True))[0] == "DONE"
    factory = pytest.importorskip("translate.storage.xliff")
    store = factory.xlifffile.parsestring(found.encode())
    assert [unit.target for unit in store.units if unit.source == "new"] == ["NEW"]


def test_new_elements_stand_on_lines_of_their_own(tmp_path):
    unit = '\n  <trans-unit id="1">\n    <source>one</source>{}\n  </trans-unit>\n'
    target = '\n    <target state="needs-review-translation" state-qualifier="mt-suggestion">ONE</target>'
    assert translated_text(tmp_path, "a.xlf", xliff(unit.format(""))).partition("<body>")[2] == xliff(unit.format(target)).partition("<body>")[2]
    memory = '<tmx version="1.4">\n<header srclang="en"/>\n<body>\n<tu>\n  <tuv xml:lang="en">\n    <seg>one</seg>\n  </tuv>{}\n</tu>\n</body>\n</tmx>'
    variant = '\n  <tuv xml:lang="de">\n    <seg>ONE</seg>\n  </tuv>'
    assert translated_text(tmp_path, "a.tmx", memory.format(""), target_language="de").partition("?>\n")[2] == memory.format(variant)


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
    text_file(tmp_path, "a.xlf", xliff('<unit id="1"><segment><source>a <mrk id="m">red house</mrk></source></segment></unit>', "2.0"))
    attend.translate_file(Parting(), source, tmp_path / "b.xlf")
    assert targets((tmp_path / "b.xlf").read_text()) == ['<mrk id="m">RED</mrk> A <mrk id="m-2">HOUSE</mrk>']
    # Two elements that name each other come once.
    text_file(tmp_path, "a.xlf", xliff('<unit id="1"><segment><source>a <sc id="1"/>red house<ec startRef="1"/></source></segment></unit>', "2.0"))
    attend.translate_file(Parting(), source, tmp_path / "b.xlf")
    assert targets((tmp_path / "b.xlf").read_text()) == ['<sc id="1"/>RED<ec startRef="1"/> A HOUSE']


@pytest.mark.parametrize(("version", "unit", "attributes"), [
    ("1.2", '<trans-unit id="1"><source>one</source></trans-unit>', ("source-language", "target-language")),
    ("2.0", '<unit id="1"><segment><source>one</source></segment></unit>', ("srcLang", "trgLang"))])
def test_languages_of_xliff_must_agree(tmp_path, version, unit, attributes):
    source = text_file(tmp_path, "a.xlf", xliff(unit, version))
    for options, words in (({"source_language": "fr"}, f'{attributes[0]}="en"'), ({"target_language": "fr"}, f'{attributes[1]}="de"')):
        with pytest.raises(attend.UsageError, match=f"{words}, expected fr"):
            translated(source, **options)
    assert targets(translated(source, source_language="en-GB", target_language="de_AT").read_text()) == ["ONE"]


@pytest.mark.parametrize(("name", "content", "said"), [
    ("a.tmx", '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>one</seg></tuv></tu></body></tmx>', 'xml:lang="{}"'),
    ("a.po", 'msgid ""\nmsgstr "Language: en\\n"\n\nmsgid "one"\nmsgstr ""\n', '"Language: {}\\n"'),
    ("a.xlf", xliff('<trans-unit id="1"><source>one</source></trans-unit>', attributes='source-language="en"'), 'target-language="{}"'),
])
def test_documents_say_the_language_of_the_model(tmp_path, name, content, said):
    source = text_file(tmp_path, name, content)
    for wanted, written in ((None, "pt"), ("pt-BR", "pt-BR"), ("por", "por")):
        assert said.format(written) in translated(source, languages=("en", "pt"), target_language=wanted).read_text()
    (tmp_path / f"out-{name}").unlink()
    with pytest.raises(attend.UsageError, match="target_language is de, but the model translates to pt"):
        translated(source, languages=("en", "pt"), target_language="de")
    assert not (tmp_path / f"out-{name}").exists()
    assert said.format("de") in translated(source, languages=("en",), target_language="de").read_text()


def units_of(srclang, *languages):
    variants = "".join(f'<tuv xml:lang="{language}"><seg>{language} text</seg></tuv>' for language in languages)
    return f'<tmx version="1.4"><header srclang="{srclang}"/><body><tu>{variants}</tu></body></tmx>'


@pytest.mark.parametrize(("name", "content", "becomes"), [
    ("a.tmx", units_of("en-US", "fr", "en-US"), "EN-US TEXT"), ("a.tmx", units_of("*all*", "fr", "en-US"), "EN-US TEXT"),
    ("a.tmx", units_of("eng", "fr", "eng"), "ENG TEXT"), ("a.tmx", units_of("fr", "fr", "en"), 'srclang="fr", but the model translates from en'),
    ("a.xlf", xliff('<trans-unit id="1"><source>one</source></trans-unit>', attributes='source-language="en-US"'), "ONE"),
    ("a.xlf", xliff('<trans-unit id="1"><source>one</source></trans-unit>', attributes='source-language="fr"'), 'source-language="fr", but the model'),
    ("a.xlf", xliff('<unit id="1"><segment><source>one</source></segment></unit>', "2.0").replace('srcLang="en"', 'srcLang="fr"'), 'srcLang="fr", but the model'),
])
def test_documents_are_in_the_language_that_the_model_reads(tmp_path, name, content, becomes):
    source = text_file(tmp_path, name, content)
    for languages in (("en", "de"), ("en-GB", "de")):
        if becomes.isupper():
            assert becomes in translated(source, languages=languages).read_text()
        else:
            with pytest.raises(attend.UsageError, match=becomes):
                translated(source, languages=languages)
    with pytest.raises(attend.UsageError, match="source_language is pt, but the model translates from en"):
        translated(source, languages=("en", "de"), source_language="pt")
    if name == "a.tmx":
        assert re.search(r">EN\S* TEXT<", translated(source, languages=("en", "de"), source_language="eng" if "eng" in content else "en").read_text())
    if "*all*" not in content:  # a model that names no languages takes what the file names
        assert "TEXT" in translated(source, target_language="de").read_text() or "ONE" in translated(source).read_text()


def test_a_source_that_is_missing(tmp_path):
    with pytest.raises(attend.InputError, match=r"a\.tsv.*No such file"):
        attend.translate_file(Stub(), tmp_path / "a.tsv", text_file(tmp_path, "b.tsv", "one"))


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
    with pytest.raises(attend.UsageError, match="name it: target_language$"):
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


@pytest.mark.parametrize("flag", ["qt-format", "kde-format", "kde-kuit-format"])
def test_placeholders_of_qt_are_kept(tmp_path, flag):
    content = f'msgid ""\nmsgstr ""\n\n#, {flag}\nmsgid "%1 is 100% of %L12, %n"\nmsgstr ""\n'
    assert polib.pofile(translated_text(tmp_path, "a.po", content))[0].msgstr == "%1 IS 100% OF %L12, %n"


@pytest.mark.parametrize("label", ['<meta charset="{}">', '<meta http-equiv="Content-Type" content="text/html; charset={}">'])
def test_a_page_names_the_encoding_that_it_is_written_in(tmp_path, label):
    page = "<html><head>{}</head><body><p>one</p></body></html>"
    found = translated_text(tmp_path, "a.html", page.format(label.format("iso-8859-1")))
    assert found == page.format(label.format("utf-8")).replace("one", "ONE")


def test_forms_of_a_message_that_are_there_stay(tmp_path):
    content = CATALOGUE.replace('msgstr[1] ""', 'msgstr[1] "eins"')
    forms = {0: "ONE {thing} HERE", 1: "{n} THINGS HERE", 2: "{n} THINGS HERE"}
    assert polib.pofile(translated_text(tmp_path, "a.po", content))[3].msgstr_plural == forms | {1: "eins"}
    assert polib.pofile(translated_text(tmp_path, "b.po", content, retranslate=True))[3].msgstr_plural == forms
    fuzzy = content.replace("#, python-brace-format", "#, fuzzy, python-brace-format")
    assert polib.pofile(translated_text(tmp_path, "c.po", fuzzy))[3].msgstr_plural == forms


def test_a_catalogue_keeps_its_line_ends_and_byte_order_mark(tmp_path):
    content = '\ufeffmsgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "one"\nmsgstr ""\n'.replace("\n", "\r\n")
    (tmp_path / "a.po").write_bytes(content.encode())
    found = translated(tmp_path / "a.po").read_bytes().decode()
    assert found.startswith("\ufeff") and 'msgstr "ONE"\r\n' in found and found.count("\n") == found.count("\r\n")


@pytest.mark.parametrize("comment", ["", "#\n", "# by me\n", "#, fuzzy\n", "#\n#, fuzzy\n"])
def test_a_catalogue_begins_as_it_did(tmp_path, comment):
    content = comment + 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "one"\nmsgstr ""\n'
    assert translated_text(tmp_path, "a.po", content) == content.replace('"one"\nmsgstr ""', '"one"\nmsgstr "ONE"')


@pytest.mark.parametrize("standalone", ["", ' standalone="yes"'])
def test_xml_declares_what_it_did(tmp_path, standalone):
    declared = f'<?xml version="1.0" encoding="UTF-8"{standalone}?>\n'
    memory = '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>one</seg></tuv></tu></body></tmx>'
    unit = xliff('<trans-unit id="1"><source>one</source></trans-unit>').partition("?>\n")[2]
    for name, content in (("a.tmx", memory), ("a.xlf", unit)):
        found = translated_text(tmp_path, name, declared + content, target_language="de")
        assert found.partition("?>")[0] == declared.partition("?>")[0].replace('"', "'"), name


def test_a_catalogue_in_another_encoding_becomes_utf_8(tmp_path):
    (tmp_path / "a.po").write_bytes('msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=ISO-8859-1\\n"\n\nmsgid "\u00ff"\nmsgstr ""\n'.encode("latin-1"))
    after = polib.pofile(str(translated(tmp_path / "a.po")))
    assert (after[0].msgid, after[0].msgstr, after.metadata["Content-Type"]) == ("\u00ff", "\u0178", "text/plain; charset=UTF-8")


HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset={}\\n"\n\n'


@pytest.mark.parametrize(("damage", "said"), [
    ('msgid "a"\nmsgstr "guter Text\n', "a.po:5' is no PO that can be read: the string has no closing quote"),
    ('msgid "a\\"\nmsgstr ""\n', "a.po:4' is no PO that can be read: the string has no closing quote"),
    ('#~ msgid "a"\n#~ msgstr "weg\n', "a.po:5' is no PO that can be read: the string has no closing quote"),
    ('msgid "a"\nmsgstr ""\n"gut\\q"\n', r"a.po:6' is no PO that can be read: the string has \q, expected one of \n"),
    ('msgid "a"\nmsgstr "x\\\\" y"\n', "a.po:5' is no PO that can be read: more follows"), ('msgid a"\nmsgstr ""\n', "a.po:4' is no PO that can be read: msgid has no"),
    ('msgid "b"\nmsgstr ""\n\nmsgid ""\n"b"\nmsgid_plural "c"\nmsgstr[0] ""\n', "a.po:7' is no PO that can be read: the message \"b\" is in line 4, too"),
    ('msgctxt "m"\nmsgid "b"\nmsgstr ""\n\nmsgctxt "m"\nmsgid "b"\nmsgstr ""\n', 'the message "b" is in line 5, too'),
    ('msgid "a"\nmsgstr "b"\n#:\n', "of 1 messages polib finds 0"),
])
def test_a_damaged_catalogue_is_refused(tmp_path, damage, said):
    refused(text_file(tmp_path, "a.po", HEADER.format("UTF-8") + damage), attend.InputError, said)


def test_a_catalogue_may_repeat_what_is_obsolete_or_of_another_context(tmp_path):
    content = (HEADER.format("CHARSET") + '#| msgid "a"\nmsgid "one \\"\\\\"\nmsgstr "eins\\t\\\\"\n\nmsgctxt ""\nmsgid "one \\"\\\\"\nmsgstr "zwei"\n\n'
               '#~ msgid "one \\"\\\\"\n#~ msgstr "weg"\n\n#~ msgid "one \\"\\\\"\n#~ msgstr "weg"\n')
    assert translated_text(tmp_path, "a.po", content) == content.replace("CHARSET", "UTF-8")


@pytest.mark.parametrize("charset", ["KLINGON", "rot13"])
def test_a_catalogue_in_an_unknown_encoding_is_refused(tmp_path, charset):
    refused(text_file(tmp_path, "a.po", HEADER.format(charset)), attend.InputError, "a.po", f"the encoding {charset} (charset=), which is unknown")
    inside = HEADER.format("UTF-8") + f'msgid "charset={charset}"\nmsgstr "x"\n'
    assert translated_text(tmp_path, "b.po", inside) == inside


def test_a_catalogue_that_is_the_name_of_a_file_is_no_catalogue(tmp_path):
    text_file(tmp_path, "a.po", CATALOGUE)
    with pytest.raises(attend.InputError, match="no PO"):
        translated(text_file(tmp_path, "b.po", str(tmp_path / "a.po")))


def test_subtitles(tmp_path):
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


def test_lines_of_a_cue_are_of_about_equal_length():
    for text, lines, expected in [
        ("aa bb cc dd", 2, "aa bb\ncc dd"), ("aa bb cc dd", 3, "aa bb\ncc\ndd"), ("<i class='a b'>aa</i> bb", 2, "<i class='a b'>aa</i>\nbb"), ("aa", 2, "aa"),
        (" aa ", 3, " aa "), ("", 2, ""), ("a bbbbbbbbbb", 2, "a\nbbbbbbbbbb"), ("aa bb", 5, "aa\nbb"),
    ]:
        assert broken(text, lines, TAG) == expected


def test_web_subtitles(tmp_path):
    content = (
        "WEBVTT\n\nNOTE a note\n\nSTYLE\n::cue { color: red }\n\n"
        "a\n00:01.000 --> 00:02.500 align:start\n<v Ann>Fish &amp;\n<c.loud>big chips</c>\n\n00:03.000 --> 00:04.000\n<00:03.500>two words\n")
    found = translated_text(tmp_path, "a.vtt", content)
    assert found.replace("00:00:0", "00:0") == content.replace("Fish", "FISH").replace("big chips", "BIG CHIPS").replace("two words", "TWO WORDS")
    with pytest.raises(attend.InputError, match="no WebVTT"):
        translated(text_file(tmp_path, "b.vtt", "some text\n"))


class Losing(Stub):
    """Translates what has the word `lost` to nothing."""

    def translation(self, text):
        return super().translation("" if "lost" in text else text)


def test_cues_of_web_subtitles_do_not_vanish(tmp_path):
    cue = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\none\n"
    refused(text_file(tmp_path, "a.vtt", f"{cue}\n00:00:03,000 --> 00:00:04,000\ntwo\n"), attend.InputError, "no WebVTT", "00:00:03,000")
    refused(text_file(tmp_path, "a.vtt", f"{cue}00:00:03.000 --> 00:00:04.000\ntwo\n"), attend.InputError, "no WebVTT")
    windows = cue.replace("\n", "\r\n")
    assert translated_text(tmp_path, "b.vtt", windows) == windows.replace("one", "ONE")
    source = text_file(tmp_path, "c.vtt", cue.replace("one", "- one\n- lost\n- two"))
    attend.translate_file(Losing(), source, tmp_path / "d.vtt")
    assert len(webvtt.read(tmp_path / "d.vtt")) == 1 and "TWO" in webvtt.read(tmp_path / "d.vtt")[0].text


def test_hostile_formatting(tmp_path):
    cue = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
    refused(text_file(tmp_path, "a.srt", cue.format("<b>" * 1000 + "x" + "</b>" * 1000)), attend.InputError, "more than 200 deep")
    unit = '<trans-unit id="1"><source>{}</source></trans-unit>'
    nested = '<g id="1">' * 240 + "x" + "</g>" * 240
    refused(text_file(tmp_path, "a.xlf", xliff(unit.format(nested))), attend.InputError, "more than 200 deep")


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


def test_translations_that_are_not_the_document_s_are_refused():
    document = HtmlDocument("<p>a <b>house</b></p><p>b</p>")
    assert document.texts == ["a house", "b"]
    assert document.translated(["HAUS EIN", " B "], [[(1, 0), (0, 1)], []]) == "<p><b>HAUS</b> EIN</p><p>B</p>"
    assert document.translated(["", "B"], [[(5, 7), (-1, 0), (0, -1)], [(9, 0)]]) == "<p><b></b></p><p>B</p>"
    with pytest.raises(attend.UsageError, match="1 translations and 2 alignments, expected 2"):
        document.translated(["x"], [[], []])
    with pytest.raises(TypeError):
        document.translated([1, 2], [[], []])


def test_a_document_goes_through_the_model(tmp_path, translator):
    source = text_file(tmp_path, "a.tsv", "lumi tavo\nkeri neri\n")
    assert attend.translate_file(translator, source, tmp_path / "b.tsv", beam_size=2) == 2
    expected = translator.translate(["lumi tavo", "keri neri"], beam_size=2)
    assert (tmp_path / "b.tsv").read_text() == f"lumi tavo\t{expected[0]}\nkeri neri\t{expected[1]}\n"


def test_entities_are_refused(tmp_path):
    secret = text_file(tmp_path, "secret.txt", "the secret")
    for doctype in (LAUGHS, f'<!DOCTYPE x [<!ENTITY b SYSTEM "file://{secret}">]>'):
        content = xliff('<trans-unit id="1"><source>say &b;</source></trans-unit>').replace("<xliff", f"{doctype}<xliff", 1)
        refused(text_file(tmp_path, "a.xlf", content), attend.InputError, "entities")


def test_broken_files_are_refused(tmp_path):
    for name, content, words in [
        ("a.xlf", b"<xliff version='1.2'><file>", ["no XML"]), ("b.xlf", b"<html/>", ["no XLIFF"]), ("a.tmx", b"<html/>", ["no TMX"]),
        ("a.tsv", b"\xff\xfe", ["not UTF-8 at byte 0"]), ("a.html", b"a\0", ["NUL"]), ("a.po", b'msgid "a\nmsgstr', ["no PO"]), ("a.vtt", b"", ["no WebVTT"]),
    ]:
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name, attend.InputError, *words)


def test_calls_that_make_no_sense(tmp_path, monkeypatch):
    source = text_file(tmp_path, "a.tsv", "one")
    for target, words in ((source, "the source itself"), (tmp_path / "b.po", "formats are not converted"), (tmp_path / "b.txt", "expected one of .docx")):
        with pytest.raises(attend.UsageError, match=words):
            attend.translate_file(Stub(), source, target)
    monkeypatch.setitem(sys.modules, "polib", None)
    monkeypatch.delitem(sys.modules, "attend.documents._po", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"a \.po file needs the package polib: pip install '\.\[documents\]' in attend's source folder"):
        attend.documents.read_document(text_file(tmp_path, "a.po", CATALOGUE))


class Shuffling(Stub):
    """Words in any order, some lost and some twice, each linked to any word or to none."""

    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed)

    def translation(self, text):
        words = text.upper().split()
        order = [self.random.randrange(len(words)) for _ in range(self.random.randrange(2 * len(words)))]
        links = [(self.random.choice([source, self.random.randrange(len(words))]), target) for target, source in enumerate(order) if self.random.random() < 0.8]
        return attend.Translation((attend.Hypothesis(" ".join(words[at] for at in order), 0, 0, [], True, links),))


def random_segment(numbers):
    """A segment, and the codes in it: of formatting (letters), and of what is no text (numbers)."""
    segment, formats, places = Segment(), [], []
    depth = 0
    for step in range(numbers.randrange(1, 25)):
        what = numbers.choice(["text", "text", "open", "close", "place", "keep", "mark", "cut"])
        if what == "text":
            segment.text(numbers.choice(["one ", " two", "3", ", ", ".", "<&>", "\u00e9t\u00e9 ", "\x0c"]))
        elif what == "open":
            formats.append(f"f{step}")
            segment.open(formats[-1])
            depth += 1
        elif what == "close" and depth:
            segment.close()
            depth -= 1
        elif what != "close":
            places.append(step)
            getattr(segment, what)(*([step, "kept"] if what == "keep" else [step]))
    for _ in range(depth):
        segment.close()
    return segment, formats, places


def test_nothing_is_lost_whatever_the_alignment():
    numbers = random.Random(5)
    for seed in range(400):
        segment, formats, places = random_segment(numbers)
        pieces = list(segment.pieces(attend.translate_html(Shuffling(seed), segment.html)))
        assert sorted(piece.value for piece in pieces if piece.kind == Kind.PLACE) == places, segment.html
        opened = []
        for kind, value in pieces:
            if kind in (Kind.OPEN, Kind.AGAIN):
                opened.append(value)
            elif kind == Kind.CLOSE:
                assert opened.pop() == value, segment.html
        assert not opened and {piece.value for piece in pieces if piece.kind == Kind.OPEN} == set(formats), segment.html
