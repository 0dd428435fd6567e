"""Files on the translation page."""

import json

import pytest
from mock_server import MODELS
from web_page import Keys


def test_file(page, tmp_path):
    path = tmp_path / "notes.en.txt"
    lines = [f"line {i}" if i % 10 else "" for i in range(200)]
    path.write_bytes(("\r\n".join(lines) + "\nlast").encode())
    page.server.delay = lambda body: .2
    page.translate_file(path)
    page.until(lambda: 0 < float(page["file-progress"].get_property("value")) < 201, "progress")
    page.until(lambda: page["file-state"].text == "Done. 201 lines translated.", "the end")
    assert page.downloaded(tmp_path / "notes.en.de.txt").decode() == "\r\n".join(f"{i}' line'" if i % 10 else "" for i in range(200)) + "\nlast'"
    assert all(body["priority"] == "bulk" and len(body["text"]) <= 32 and "" not in body["text"] for body in page.server.requests)


def test_file_cancelled_and_started_again(page, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("a b\n" * 100, encoding="utf-8")
    page.server.delay = lambda body: .1 if len(page.server.requests) == 1 else 30
    page.translate_file(path)
    page.until(lambda: len(page.server.requests) == 2, "the second request")
    leaving = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"
    assert page.js(leaving)  # the browser asks whether to
    page["file-cancel"].click()
    page.until(lambda: page["file-state"].text == "Cancelled.", "the end")
    page.until(lambda: len(page.server.abandoned) == 1, "the end of the request")
    assert not page["file-download"].is_displayed() and len(page.server.requests) == 2 and not page.js(leaving)
    page.server.delay = lambda body: 0
    page["file-start"].click()
    page.until(lambda: page["file-download"].is_displayed(), "the file")


def test_file_while_the_server_stops_and_returns(page, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("a b\n" * 100, encoding="utf-8")
    page.server.delay = lambda body: .3
    page.translate_file(path)
    page.until(lambda: "32 of 100" in page["file-state"].text, "a first part")
    page.server.stop()
    page.until(lambda: "does not answer" in page.notice, "the message")
    page.server.start()
    page.until(lambda: page["file-state"].text == "Done. 100 lines translated.", "the end")
    assert page.server.texts().count("a b") >= 100


def test_a_file_that_is_refused_and_one_in_its_place(page, tmp_path):
    path, other = tmp_path / "notes.txt", tmp_path / "other.txt"
    path.write_text("a b\n" * 100, encoding="utf-8")
    other.write_text("c d\n" * 5, encoding="utf-8")
    page.server.delay = lambda body: 1 if len(page.server.requests) == 1 else 30
    page.translate_file(path)
    page.until(lambda: len(page.server.requests) == 1, "the first request")
    page.server.refusals = [(400, "a sentence has 700 tokens", {})] * 6
    page.until(lambda: page["file-state"].text == "Stopped at line 33: a sentence has 700 tokens.", "the reason")
    page["file-start"].click()
    page.until(lambda: page["file-cancel"].is_displayed(), "the start")
    page["file"].send_keys(str(other))
    page.until(lambda: page["file-start"].is_displayed() and page["file-name"].text == "other.txt", "the other file")
    assert page["file-state"].text == "" and page["file-size"].text == "5 lines"


def test_what_is_refused_is_sent_in_smaller_parts(page, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("".join(f"line {i}\n" for i in range(20)), encoding="utf-8")
    page.server.refusals = [(400, "the request has more than 8 sentences", {})] * 2
    page.translate_file(path)
    page.until(lambda: page["file-state"].text == "Done. 20 lines translated.", "the end")
    assert [len(body["text"]) for body in page.server.requests] == [20, 10, 5, 5, 5, 5]


def test_most_of_the_first_lines_choose_the_model_of_a_file(page, tmp_path):
    page.server.models = [*MODELS, {"name": "fr-en", "task": "translation", "routes": ["/v1/translate"], "source": "fr", "target": "en", "beam_size": 4}]
    page.browser.refresh()
    page.until(lambda: page.all("#to option"), "the languages")
    page.choose("from", "Detect language")
    page.choose("to", "English")
    (tmp_path / "notes.txt").write_text("de a\n" * 7 + "fr b\n" * 93, encoding="utf-8")
    page.translate_file(tmp_path / "notes.txt")
    page.until(lambda: page["file-state"].text == "Done. 100 lines translated.", "the end")
    assert [(body.get("model"), len(body["text"])) for body in page.server.requests] == [
        (None, 32), ("fr-en", 32), ("fr-en", 32), ("fr-en", 32), ("fr-en", 4)]
    page.server.requests.clear()
    (tmp_path / "notes.txt").write_text("fr b\n" * 40, encoding="utf-8")
    page.translate_file(tmp_path / "notes.txt")
    page.until(lambda: page["file-state"].text == "Done. 40 lines translated.", "the end")
    assert [body.get("model") for body in page.server.requests] == [None, "fr-en"]


def test_html_is_translated_as_html(page, tmp_path):
    path = tmp_path / "notes.html"
    html = "<title>x</title>\n<p>a <b>b</b></p>"
    path.write_text(html, encoding="utf-8")
    page.translate_file(path)
    page.until(lambda: page["file-state"].text == "Done.", "the end")
    assert page.server.requests == [{"file": html, "model": "en-de", "source": "en", "target": "de", "stream": "true"}]
    assert page.downloaded(tmp_path / "notes.de.html").decode() == f"<!-- translated -->{html}"
    page.server.refusals = [(413, "the body is too large", {})]
    page["file-start"].click()
    page.until(lambda: page["file-state"].text == "Stopped: the body is too large.", "the reason")


@pytest.mark.parametrize("name", ["notes.txt", "notes.html"])
def test_files_have_the_terms_and_the_memory(page, tmp_path, name):
    page.server.memories = ["office"]
    page.browser.refresh()
    page.until(lambda: page.all("#to option"), "the languages")
    page["file-tab"].click()
    assert page["memory-choice"].is_displayed()
    page["glossary"].find_element("tag name", "summary").click()
    page["glossary-terms"].send_keys("garden = Garten")
    (tmp_path / name).write_text("a garden\n", encoding="utf-8")
    page.translate_file(tmp_path / name)
    page.until(lambda: page["file-state"].text.startswith("Done."), "the end")
    asked, terms = page.server.requests[-1], [{"source": "garden", "target": "Garten", "flags": "ignore-case"}]
    assert asked["memory"] == "office" and asked["glossary"] == (terms if name.endswith("txt") else json.dumps(terms, separators=(",", ":")))


def test_a_file_and_a_key(page, tmp_path):
    page.server.key = "secret"
    path = tmp_path / "notes.txt"
    path.write_text("a b\n" * 40, encoding="utf-8")
    page["file-tab"].click()
    page["file"].send_keys(str(path))
    page.until(lambda: page.notice == "This server asks for an API key.", "the question")
    page["key"].send_keys("secret", Keys.ENTER)
    page.until(lambda: page["file-start"].is_displayed(), "the file")
    page.server.key = "other"
    page["file-start"].click()
    page.until(lambda: page.notice == "The server does not know this API key.", "the second question")
    page["key"].send_keys("other", Keys.ENTER)
    page.until(lambda: page["file-state"].text == "Done. 40 lines translated.", "the end")


DROP = """(names => { const data = new DataTransfer(); for (const name of names) data.items.add(new File(["a b"], name));
  document.getElementById("drop").dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true})); return true; })(arguments[0])"""


def test_files_that_are_dropped(page):
    page["file-tab"].click()
    page.js(DROP, ["a.txt"])
    page.until(lambda: page["file-start"].is_displayed() and page["file-name"].text == "a.txt", "the file")
    page.js(DROP, ["b.txt", "c.txt"])
    assert page["file-state"].text == "There are 2 files, expected one at a time." and not page["file-start"].is_displayed()


def test_files_that_can_not_be_read(page, tmp_path):
    path = tmp_path / "latin1.txt"
    path.write_bytes("Größe".encode("latin-1"))
    page["file-tab"].click()
    page["file"].send_keys(str(path))
    page.until(lambda: "not UTF-8" in page["file-state"].text, "the message")
    path.write_bytes(b"PK\0\0")
    page["file"].send_keys(str(path))
    page.until(lambda: page["file-state"].text == "The file is no text: it has NUL characters.", "the message")
    (tmp_path / "table.TSV").write_text("a\tb", encoding="utf-8")
    page["file"].send_keys(str(tmp_path / "table.TSV"))
    page.until(lambda: page["file-state"].text == "A file of type '.tsv' is not supported.", "the message")
    assert not page["file-start"].is_displayed()
