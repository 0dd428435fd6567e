"""The panel of parsing on the page, in a real Chromium, with the service itself.

ATTEND_PICTURES names a folder for pictures of the panel; ATTEND_PARSER a model for them, in place of one of random weights."""

import os
import pathlib

import pytest
import random_models
from server import serving
from web_page import Page

TEXT = "The small cat sits on the mat, and nobody knows why."


@pytest.fixture(name="service", scope="module")
def running(tmp_path_factory):
    model = os.environ.get("ATTEND_PARSER") or random_models.write_parser(tmp_path_factory.mktemp("parser"))
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"trees={model}", model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        yield service


@pytest.fixture(name="panel")
def page_of_a_parser(browser, service):
    browser.set_window_size(1280, 900)
    browser.get(service.url)
    page = Page(browser, service)
    page.until(lambda: page["parse-text"].is_displayed(), "the panel")
    yield page
    complaints = [entry["message"] for entry in browser.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert not complaints


def typed(page, text):
    page.js("(document.getElementById('parse-text').value = arguments[0], document.getElementById('parse-text').dispatchEvent(new Event('input')))", text)
    page.until(lambda: page["parse-output"].get_attribute("aria-busy") == "false", "the answer")


def texts(page, kind):
    return page.js(f"[...document.querySelectorAll('#parse-output {kind}')].map(text => text.textContent)")


def test_the_tree_is_drawn(panel, service):
    typed(panel, TEXT)
    wanted = service.post("/v1/parse", {"text": TEXT})[1]["results"][0]
    assert texts(panel, "text.constituent") == [each["label"] for each in wanted["constituents"]]
    assert texts(panel, "text.tag") == wanted["tags"]
    assert texts(panel, "text:not([class])") == wanted["words"]
    assert panel["parse-brackets"].text == wanted["tree"]
    assert len(panel.all("#parse-output path")) == len(wanted["constituents"]) + len(wanted["words"]) - 1


def test_no_word_is_outside_the_drawing_and_none_overlap(panel):
    typed(panel, TEXT)
    boxes = panel.js("[...document.querySelectorAll('#parse-output text:not([class])')].map(text => { const {x, width} = text.getBBox(); return [x, x + width]; })")
    width = panel.js("Number(document.querySelector('#parse-output svg').getAttribute('width'))")
    assert all(0 <= begin < end <= width for begin, end in boxes)
    assert all(left[1] <= right[0] for left, right in zip(boxes, boxes[1:]))


def test_an_empty_text_has_no_tree(panel):
    typed(panel, TEXT)
    panel.js("(document.getElementById('parse-text').value = '', document.getElementById('parse-text').dispatchEvent(new Event('input')))")
    panel.until(lambda: not panel.all("#parse-output svg"), "an empty panel")
    assert panel["parse-brackets"].text == ""


@pytest.mark.skipif("ATTEND_PICTURES" not in os.environ, reason="no pictures are asked for")
def test_pictures(panel, browser):
    typed(panel, TEXT)
    folder = pathlib.Path(os.environ["ATTEND_PICTURES"])
    browser.save_screenshot(str(folder / "parse.png"))
    browser.set_window_size(420, 900)
    browser.save_screenshot(str(folder / "parse_narrow.png"))
