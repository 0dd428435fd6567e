"""The menu of other words at a word of the translation, and documents, on the page in a real Chromium."""

import sys
import time

import pytest
from server import HAS_PACKAGE, TEXT, command_line, serving
from web_page import GARDEN, GARTEN, Keys, drawn, opened, seen_as

OTHER = "Der alte Garten hinter dem Haus ist morgens still."


def shown(page):
    return [item.text for item in page.all("#word-menu [role=menuitem]")] if page["word-menu"].is_displayed() else []


def test_a_word_has_a_menu_of_others(page):
    page.translates(GARDEN, GARTEN)
    page.all("#output span")[7].click()  # am
    page.until(lambda: shown(page), "the menu")
    assert shown(page) == ["morgens still.", "something else"]
    assert page.server.positions[-1]["text"] == GARDEN and page.server.positions[-1]["target_prefix"] == "Der alte Garten hinter dem Haus ist"
    assert page["word-menu"].get_attribute("aria-label") == "In place of am"
    drawn(page.browser, "word-menu")
    with seen_as(page.browser, 360, "dark"):
        page.until(lambda: not shown(page), "its end")  # where the word was something else stands
        page.all("#output span")[9].click()
        page.until(lambda: shown(page), "the menu")
        drawn(page.browser, "word-menu-narrow")
        assert page.js("document.documentElement.scrollWidth <= innerWidth")
    page.until(lambda: not shown(page), "its end")
    page.all("#output span")[7].click()
    page.until(lambda: shown(page), "the menu")
    page.all("#word-menu button")[0].click()
    assert page.output == OTHER and not page["word-menu"].is_displayed()
    assert page.js("document.activeElement.id") == "output"
    page.until(lambda: GARTEN in page.texts("#alternatives button"), "the way back")


def test_the_menu_asks_for_the_glossary_and_for_quality(page):
    page["glossary"].find_element("tag name", "summary").click()
    page["glossary-terms"].clear()
    page["glossary-terms"].send_keys("garden = Garten")
    page.translates(GARDEN, GARTEN)
    page.until(lambda: "glossary" in page.server.requests[-1], "the terms")
    page.all("#output span")[7].click()
    page.until(lambda: shown(page), "the menu")
    assert page.server.positions[-1]["glossary"] == [{"source": "garden", "target": "Garten", "flags": "ignore-case"}]
    assert page.server.positions[-1]["quality"] is True
    time.sleep(0.8)  # longer than the page waits after the last key in the glossary, which has been asked with by now
    assert shown(page)


def test_the_menu_by_keyboard(page):
    page.translates(f"Good day. {GARDEN}", f"day.' Good' {GARTEN}")
    page.js("document.getElementById('output').focus()")
    page.keys(Keys.HOME, *[Keys.ARROW_RIGHT] * 9, Keys.ENTER)
    page.until(lambda: shown(page), "the menu")
    page.until(lambda: page.js("document.activeElement.textContent") == "morgens still.", "the focus")
    page.keys(Keys.ARROW_DOWN)
    assert page.js("document.activeElement.textContent") == "something else"
    page.keys(Keys.ARROW_DOWN)
    assert page.js("document.activeElement.textContent") == "morgens still."
    page.keys(Keys.ESCAPE)
    assert not shown(page) and page.js("document.activeElement.id") == "output"
    page.keys(Keys.ENTER)
    page.until(lambda: page.js("document.activeElement.textContent") == "morgens still.", "the menu again")
    page.keys(Keys.ENTER)
    page.until(lambda: page.output == f"day.' Good' {OTHER}", "the choice")
    assert page.lit("pointed") == ["morgens"]  # and so the keyboard goes on from there
    page.until(lambda: page["live"].get_attribute("textContent").startswith("morgens"), "the announcement")


def test_a_word_without_others_and_a_menu_that_is_left(page):
    page.translates(GARDEN, GARTEN)
    page.js("document.getElementById('output').focus()")
    page.server.delay = lambda body: .5 if "target_prefix" in body else 0
    page.all("#output span")[7].click()
    page.all("#output span")[0].click()  # before the answer came
    page.until(lambda: shown(page), "the menu of the second")
    assert page["word-menu"].get_attribute("aria-label") == "In place of Der"
    page["count"].click()
    page.until(lambda: not shown(page), "its end")
    page.source.send_keys(" x")
    page.until(lambda: page.output.startswith(GARTEN) and page.output != GARTEN, "the new text")
    assert not shown(page)


def test_with_the_service_itself(browser, tmp_path):
    for package in ("lxml", "srt"):
        pytest.importorskip(package, reason=f"no {package}; run tools/setup")
    if not HAS_PACKAGE:
        pytest.skip("the build has no Python module")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTEND_PYTHON", sys.executable)
        with serving(tmp_path) as service:
            service.url = f"http://127.0.0.1:{service.port}/"
            page = opened(browser, service)
            page.translates(TEXT, command_line(TEXT)[0])
            before = page.output
            page.all("#output span")[0].click()
            page.until(lambda: shown(page), "the menu")
            chosen = shown(page)[0]
            page.all("#word-menu button")[0].click()
            assert page.output == chosen != before

            cue = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
            (tmp_path / "film.srt").write_text(cue.format(TEXT), encoding="utf-8")
            page["file-tab"].click()
            assert ".srt" in page["file"].get_attribute("accept") and ".srt" in page["file-suffixes"].text
            page.translate_file(tmp_path / "film.srt")
            page.until(lambda: page["file-state"].text.startswith("Done."), "the end")
            drawn(page.browser, "document")
            assert page.downloaded(tmp_path / "film.su.srt").decode() == cue.format(command_line(TEXT)[0]) + "\n"
            (tmp_path / "bad.docx").write_bytes(b"lumi")
            page.translate_file(tmp_path / "bad.docx")
            page.until(lambda: "'bad.docx' is no docx file" in page["file-state"].text, "the reason")
            log = [entry["message"] for entry in browser.get_log("browser")]
            assert not [line for line in log if "Failed to load resource" not in line]
