"""The translation page before a server that delays, refuses, stops and returns, or asks for a key."""

import time

import pytest
from web_page import Keys


def test_refusals_are_said_as_text(page):
    page.server.refusals = [(400, "<img src=x onerror=alert(1)> is too long", {})]
    page.source.send_keys("one")
    page.until(lambda: page.notice == "This can't be translated: <img src=x onerror=alert(1)> is too long.", "the message")
    assert not page.all("img[src=x]") and page.output == "" and page["notice-text"].get_attribute("role") == "alert"
    page.translates(" two", "two' one'")
    assert page.notice == ""


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_gets_its_time(page, status):
    page.server.refusals = [(status, "too much is waiting", {"Retry-After": 2})]
    page.source.send_keys("one")
    page.until(lambda: "has much to do" in page.notice, "the message")
    refused = time.monotonic()
    page.until(lambda: page.output == "one'", "the translation")
    assert time.monotonic() - refused > 1 and page.server.texts() == ["one", "one"] and page.notice == ""


def test_a_server_that_stops_and_returns(page):
    page.translates("one", "one'")
    page.server.stop()
    page.source.send_keys(" two")
    page.until(lambda: "does not answer" in page.notice, "the message")
    page.source.send_keys(" three")
    assert page.source.get_attribute("value") == "one two three"
    page.server.models = page.server.models[:1]
    page.server.start()
    page.until(lambda: page.output == "three' two' one'", "the translation")
    page.until(lambda: not page.notice, "an end of the message")
    page.until(lambda: len(page.all("#to option")) == 1, "the models that there are now")


def test_a_server_that_goes_silent_and_returns(page):
    page.translates("one", "one'")
    page.server.awake.clear()
    page.source.send_keys(" two")
    page.until(lambda: "does not answer" in page.notice, "the message", 60)
    page.server.awake.set()
    page.until(lambda: page.output == "two' one'" and not page.notice, "the translation", 60)


def test_a_server_that_takes_its_time_is_waited_for(page):
    page.server.delay = lambda body: 18
    page.source.send_keys("one")
    page.until(lambda: page.output == "one'", "the translation", 60)
    assert page.server.texts() == ["one"] and not page.server.abandoned


def test_a_page_that_waits_for_its_server(page):
    page.server.refusals = [(503, "the server is stopping", {"Retry-After": 1})]
    page.source.send_keys("one")
    page.until(lambda: "has much to do" in page.notice, "the message")
    page.server.stop()
    page.until(lambda: "does not answer" in page.notice, "the other message")
    page.until(lambda: page["notice-wait"].text in ("Next try in 8 s.", "Next try in 7 s."), "a long wait")
    page.server.start()
    page["notice-retry"].click()
    page.until(lambda: page.output == "one'", "the translation")


def test_an_api_key(page):
    page.server.key = "secret"
    page.source.send_keys("one")
    page.until(lambda: page.notice == "This server asks for an API key.", "the question")
    page["key"].send_keys("wrong", Keys.ENTER)
    page.until(lambda: page.notice == "The server does not know this API key.", "the refusal")
    page["key"].send_keys("secret", Keys.ENTER)
    page.until(lambda: page.output == "one'", "the translation")
    page.server.key = "another"
    page.all("summary")[0].click()
    page.source.send_keys(" two")
    page.until(lambda: page.notice == "The server does not know this API key.", "the question")
    page["key"].send_keys("another", Keys.ENTER)
    page.until(lambda: page.output == "two' one'" and page.all("#attention figure"), "text and attention")
    assert not page.notice and "secret" not in page.js("JSON.stringify(localStorage)")


def limited(page, most):
    page.server.most_characters = most
    page.browser.refresh()
    page.source = page["source"]
    page.until(lambda: page["count"].text == f"0 / {most:,}", "the limit")


def test_a_server_without_a_limit_gets_any_text(page):
    page.js("void (document.getElementById('source').value = 'x '.repeat(20000))")
    page.translates("y")
    assert page["count"].text == "40,001" and page.server.texts()[-1] == "x " * 20000 + "y"


def test_too_long_a_text_is_not_sent(page):
    limited(page, 5000)
    page.js("document.getElementById('source').value = 'x'.repeat(5000)")
    page.translates("y" + Keys.BACKSPACE)
    sent = len(page.server.requests)
    page.source.send_keys("yz")
    assert page["count"].text.startswith("5,002 / 5,000: more than this server promises to take at once") and page.source.get_attribute("aria-invalid") == "true"
    time.sleep(1)
    assert len(page.server.requests) == sent and page.output == "" and len(page.source.get_attribute("value")) == 5002


def test_too_long_a_text_is_taken_as_a_file(page):
    limited(page, 2500)
    page.js("void (document.getElementById('source').value = 'one two.\\n'.repeat(600))")
    page.source.send_keys("x")
    page["as-file"].click()
    page.until(lambda: page["file-start"].is_displayed(), "the button")
    assert page["file-name"].text == "text.txt" and page["file-size"].text == "601 lines"
    page["file-start"].click()
    page.until(lambda: page["file-state"].text == "Done. 601 lines translated.", "the end")
    assert all(sum(map(len, body["text"])) <= 2500 for body in page.server.requests)
