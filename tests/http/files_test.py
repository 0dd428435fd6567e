"""Bodies of several parts, and translated files."""

import json
import subprocess

import pytest
from server import ATTEND, MODEL, TEXT, VARIANT, command_line, multipart, serving

LANGUAGES = {"source": "ka", "target": "su"}


@pytest.fixture(name="server", scope="module")
def run_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("serve")) as server:
        yield server


def post_parts(server, path, *form):
    """Status and JSON of a request with that form, as multipart has it."""
    status, _, text = server.request("POST", path, *multipart(*form))
    return status, json.loads(text)


def test_a_form_of_parts_translates(server):
    assert post_parts(server, "/translate", {"q": TEXT, **LANGUAGES}) == (200, {"translatedText": command_line(TEXT)[0]})
    alternatives = post_parts(server, "/translate", {"q": "<b>ü</b>\r\n", "format": "html", "alternatives": "1", **LANGUAGES})[1]
    assert "<b>" in alternatives["translatedText"] and len(alternatives["alternatives"]) == 1
    assert post_parts(server, "/translate", {"q": TEXT})[0] == 400
    assert post_parts(server, "/translate", {"q": b"\xff", **LANGUAGES})[0] == 400
    assert post_parts(server, "/translate", LANGUAGES, ("q.txt", TEXT.encode()))[0] == 400


@pytest.mark.parametrize("body", [b"", b"--x", b"--x\r\n", b"--x\r\n\r\n--x--", b"--y\r\n", b"--x\r\nContent-Disposition: form-data\r\n\r\n\r\n--x--"])
def test_what_is_no_form_of_parts_is_refused(server, body):
    for path in ("/translate", "/detect", "/translate_file"):
        assert server.request("POST", path, body, {"Content-Type": "multipart/form-data; boundary=x"})[0] == 400
        assert server.request("POST", path, body, {"Content-Type": "multipart/form-data"})[0] == 400


def fetch(server, url):
    address = f"http://127.0.0.1:{server.port}"
    assert url.startswith(address + "/download_file/")
    return server.request("GET", url.removeprefix(address))


def test_a_text_file_is_translated(server):
    text = f"{TEXT}\r\n\r\n  Sona mipa! {TEXT}.\n"
    status, answer = post_parts(server, "/translate_file", LANGUAGES, ("A file.TXT", text.encode()))
    assert status == 200
    status, headers, translated = fetch(server, answer["translatedFileUrl"])
    assert status == 200 and translated == server.translate(text)[0]["text"]
    assert headers["Content-Type"] == "application/octet-stream" and headers["Content-Disposition"].startswith("attachment")
    again = post_parts(server, "/translate_file", LANGUAGES, ("a.txt", text.encode()))[1]
    assert again["translatedFileUrl"] != answer["translatedFileUrl"]


def test_a_file_may_name_its_model(tmp_path):
    with serving(tmp_path, "--model", f"second={VARIANT}", model=f"first={MODEL}") as server:
        def translated(**model):
            return fetch(server, post_parts(server, "/translate_file", {**LANGUAGES, **model}, ("a.txt", TEXT.encode()))[1]["translatedFileUrl"])[2]

        assert translated() == translated(model="first") == command_line(TEXT)[0] != translated(model="second")
        assert post_parts(server, "/translate_file", {**LANGUAGES, "model": "third"}, ("a.txt", TEXT.encode()))[0] == 400


def test_a_file_has_the_terms_and_the_memory(tmp_path):
    (tmp_path / "terms.tsv").write_text("lumi\tvesta\n", encoding="utf-8")
    (tmp_path / "office.tsv").write_text("Sona mipa.\tDREI VIER.\n", encoding="utf-8")
    with serving(tmp_path, "--glossary", f"house={tmp_path / 'terms.tsv'}", "--memory", tmp_path / "office.tsv") as server:
        def translated(name, content, **more):
            status, answer = post_parts(server, "/translate_file", {**LANGUAGES, **more}, (name, content.encode()))
            return fetch(server, answer["translatedFileUrl"])[2] if status == 200 else answer["error"]

        expected = command_line(TEXT, "--glossary", str(tmp_path / "terms.tsv"))[0]
        terms = json.dumps([{"source": "lumi", "target": "vesta"}])
        assert translated("a.txt", TEXT, glossary="house") == translated("a.txt", TEXT, glossary=terms) == expected != translated("a.txt", TEXT)
        assert translated("a.txt", "Sona mipa.", memory="office") == "DREI VIER." != translated("a.txt", "Sona mipa.", memory="")
        page = "<p>Sona <b>mipa.</b></p><p><i>Sona mipa.</i></p>"
        assert translated("a.html", page, memory="office") == "<p>DREI <b>VIER.</b></p><p><i>DREI VIER.</i></p>"
        assert "there is no glossary 'x' here; there are house" in translated("a.txt", TEXT, glossary="x")
        assert "glossary" in translated("a.txt", TEXT, glossary="[1")
        assert "there is no memory 'x', expected one of office" in translated("a.txt", TEXT, memory="x")
        assert "'glosary' is no member of it" in translated("a.txt", TEXT, glosary="house")
        assert "did you mean 'glossary'" in translated("a.txt", TEXT, glosary="house")
        assert post_parts(server, "/translate_file?memories=office", LANGUAGES, ("a.txt", TEXT.encode()))[0] == 400


def test_an_html_file_keeps_its_tags(server):
    page = f"<!DOCTYPE html><script>alert(1)</script><p>{TEXT}</p>"
    answer = post_parts(server, "/translate_file", {**LANGUAGES, "source": "auto"}, ("page.html", page.encode()))[1]
    _, headers, translated = fetch(server, answer["translatedFileUrl"])
    assert translated == page.replace(TEXT, command_line(TEXT)[0])
    assert "html" not in headers["Content-Type"] and headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("file, message", [
    (None, "file is missing"), (("a.pdf", b"PK"), "type '.pdf' is not supported"), (("a.DOC", b"PK"), "; save it as .docx"), (("txt", b"a"), "type '' is not supported"),
    (("a.txt", b"caf\xe9"), "the file is not UTF-8"), (("a.txt", b"PK\0\0"), "the file is no text"),
], ids=str)
def test_other_files_are_refused(server, file, message):
    status, answer = post_parts(server, "/translate_file", LANGUAGES, file)
    assert status == 400 and message in answer["error"]


# Of files that are named .txt; some were translated as plain text, the others were "not UTF-8".
FORMATS = {
    "a table of 2 columns (TSV)": b"lumi\ttavo\nkeri\tpaku\n",
    "a TMX file": b'<?xml version="1.0"?>\n<tmx version="1.4"><body><tu><tuv><seg>lumi</seg></tuv></tu></body></tmx>\n',
    "an XLIFF file": b'<?xml version="1.0"?>\n<xliff version="1.2"><file><body></body></file></xliff>\n',
    "JSON lines": b'{"text": "lumi"}\n{"text": "tavo"}\n',
    "an HTML page; extract its text first, or translate it by `attend serve` as an .html file": b"<!DOCTYPE html>\n<html><p>lumi</html>\n",
    "a Word document (.docx)": b"PK\x03\x04\x14\0\x06\0\x08\0word/document.xml\xff\xfe",
    "UTF-16 text; convert it": "lumi tavo keri\n".encode("utf-16"),
}


@pytest.mark.parametrize("named", FORMATS)
def test_other_formats_under_the_name_of_text_are_named(server, named, tmp_path):
    status, answer = post_parts(server, "/translate_file", LANGUAGES, ("a.txt", FORMATS[named]))
    assert status == 400 and answer["error"].startswith(f"'a.txt' is {named}"), answer
    assert post_parts(server, "/v1/check_file", {}, ("a.txt", FORMATS[named])) == (400, answer)
    path = tmp_path / "a.txt"
    path.write_bytes(FORMATS[named])
    done = subprocess.run([ATTEND, "translate", "--model", MODEL, "--input", path], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 3 and done.stderr.replace(f"{path}", "a.txt") == f"attend: {answer['error']}\n"


@pytest.mark.parametrize("named", list(FORMATS)[-2:])
def test_what_is_no_text_under_the_name_of_html_is_named(server, named):
    """They were "not UTF-8"."""
    status, answer = post_parts(server, "/translate_file", LANGUAGES, ("a.html", FORMATS[named]))
    assert status == 400 and answer["error"].startswith(f"'a.html' is {named}"), answer


def test_the_beginning_of_a_file_is_checked(server):
    beginning = ("é" * 40000).encode()[:65535]  # cut within a character
    assert post_parts(server, "/v1/check_file", {}, ("a.txt", beginning)) == (200, {})
    assert post_parts(server, "/v1/check_file", {}, ("a.html", b"<!DOCTYPE html>\n<html>")) == (200, {})
    assert post_parts(server, "/v1/check_file", {}, ("a.pdf", b"lumi"))[0] == 400
    assert post_parts(server, "/v1/check_file", {})[0] == 400


def test_text_with_some_tabs_or_braces_is_text(server):
    for text in ("lumi\ttavo\nkeri\n", "{lumi} tavo\n", "<b>lumi</b> tavo\n"):
        assert post_parts(server, "/translate_file", LANGUAGES, ("a.txt", text.encode()))[0] == 200
    assert post_parts(server, "/translate_file", LANGUAGES, ("a.html", b"<!DOCTYPE html>\n<html><p>lumi\ttavo</html>"))[0] == 200


def test_files_that_are_not_there(server):
    for path in ("/download_file/", "/download_file/x.txt", "/download_file/../../etc/passwd"):
        assert server.request("GET", path)[0] == 404
    assert server.request("GET", "/download_file")[0] == 404
    assert server.post("/translate_file", LANGUAGES)[0] == 400


def test_a_file_needs_a_key_too(tmp_path):
    (tmp_path / "keys").write_text("secret\n", encoding="utf-8")
    with serving(tmp_path, "--api-keys", tmp_path / "keys") as server:
        file = ("a.txt", TEXT.encode())
        assert post_parts(server, "/translate_file", LANGUAGES, file)[0] == 403
        status, answer = post_parts(server, "/translate_file", {**LANGUAGES, "api_key": "secret"}, file)
        assert status == 200 and fetch(server, answer["translatedFileUrl"])[0] == 200
