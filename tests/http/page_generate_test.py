"""The panel of language models on the page, in a real Chromium, with the service itself."""

import signal

import pytest
from server import LANGUAGE_MODEL, MODEL, serving
from web_page import Keys, Page, opened


@pytest.fixture(name="service", scope="module")
def running(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"tales={LANGUAGE_MODEL}", model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        yield service


@pytest.fixture(name="writing")
def page_of_a_language_model(browser, service):
    """The page of a server that has a language model alone."""
    browser.get(service.url)
    page = Page(browser, service)
    page.until(lambda: page["generate"].is_displayed(), "the panel")
    yield page
    complaints = [entry["message"] for entry in browser.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert not complaints


def write(page, prompt, **options):
    page["prompt"].clear()
    page["prompt"].send_keys(prompt)
    for name, value in options.items():
        page[f"option-{name}"].clear()
        page[f"option-{name}"].send_keys(str(value))
    page["generate"].click()


def ended(page):
    page.until(lambda: page["generate"].is_enabled() and page["generate-state"].text.startswith(("The model ended", "Cut off")), "the end")
    return page["generated"].get_property("textContent")


def completion(service, **body):
    return service.post("/v1/completions", body)[1]["choices"][0]


def test_the_text_is_that_of_the_service(writing, service):
    write(writing, "The old man", max_tokens=60, temperature=0.7, top_k=20, seed=7)
    wanted = completion(service, prompt="The old man", max_tokens=60, temperature=0.7, top_k=20, seed=7)
    assert ended(writing) == "The old man" + wanted["text"]
    told = {"stop": "The model ended the text. Seed 7.", "length": "Cut off at the number of tokens. Seed 7."}
    assert writing["generate-state"].text == told[wanted["finish_reason"]]


def test_a_drawn_seed_is_told_and_gives_the_text_again(writing, service):
    write(writing, "A bird", max_tokens=40)
    text = ended(writing)
    seed = int(writing["generate-state"].text.split("Seed ")[1].rstrip("."))
    assert text == "A bird" + completion(service, prompt="A bird", max_tokens=40, temperature=0.8, seed=seed)["text"]


def test_there_is_nothing_of_translation(writing):
    assert not writing.all("[role=tablist]")[0].is_displayed()
    assert not writing["source"].is_displayed() and not writing["attention"].is_displayed()
    assert writing.all(".skip")[0].get_attribute("href").endswith("#prompt")


def test_it_comes_piece_by_piece_and_stops(writing, service):
    never_end(writing)
    write(writing, "The", max_tokens=1000000)
    writing.until(lambda: len(writing["generated-text"].get_property("textContent")) > 20, "a beginning")
    assert not writing["generate"].is_enabled()
    writing["generate-stop"].click()
    writing.until(lambda: writing["generate-state"].text.startswith("Stopped."), "the end")
    assert writing["generate"].is_enabled() and not writing["generate-stop"].is_displayed()
    service.wait_for_metric("attend_live_sentences", 0)


def never_end(page):
    """Texts that the page asks for."""
    page.js("""void (window.fetch = (real => (path, options) =>
        real(path, {...options, body: options.body?.replace("{", '{"min_tokens": 1000000, ')}))(window.fetch))""")


def lone_panel(browser, service):
    browser.get(f"http://127.0.0.1:{service.port}/")
    page = Page(browser, service)
    page.until(lambda: page["generate"].is_displayed(), "the panel")
    return page


def test_stop_ends_the_wait_for_a_server_that_is_away(browser, tmp_path):
    with serving(tmp_path, "--model", f"tales={LANGUAGE_MODEL}", model=None) as service:
        page = lone_panel(browser, service)
        service.process.kill()
        service.process.wait()
        write(page, "The", max_tokens=20)
        page.until(lambda: "does not answer" in page.notice, "the message")
        page["generate-stop"].click()
        page.until(lambda: page["generate-state"].text.startswith("Stopped."), "the end", 5)
        assert page["generate"].is_enabled() and not page["generate-stop"].is_displayed()


def test_a_stream_that_goes_silent_is_noticed(browser, tmp_path):
    with serving(tmp_path, "--model", f"tales={LANGUAGE_MODEL}", model=None) as service:
        page = lone_panel(browser, service)
        never_end(page)
        write(page, "The", max_tokens=1000000)
        page.until(lambda: len(page["generated-text"].get_property("textContent")) > 20, "a beginning")
        service.process.send_signal(signal.SIGSTOP)
        page.until(lambda: "does not answer" in page.notice, "the message")
        service.process.send_signal(signal.SIGCONT)
        page.until(lambda: not page.notice and len(page["generated-text"].get_property("textContent")) > 20, "the text, from its beginning on")
        page["generate-stop"].click()
        page.until(lambda: page["generate-state"].text.startswith("Stopped."), "the end")


def test_a_key_is_asked_for(browser, tmp_path):
    (tmp_path / "keys").write_text("secret\n", encoding="utf-8")
    with serving(tmp_path, "--model", f"tales={LANGUAGE_MODEL}", "--api-keys", tmp_path / "keys", model=None) as service:
        page = lone_panel(browser, service)
        write(page, "The", max_tokens=20, seed=7)
        page.until(lambda: page.notice == "This server asks for an API key.", "the question")
        page["key"].send_keys("wrong", Keys.ENTER)
        page.until(lambda: page.notice == "The server does not know this API key.", "the refusal")
        page["key"].send_keys("secret", Keys.ENTER)
        assert len(ended(page)) > 3 and not page.notice


def test_a_refusal_is_said(writing):
    writing.js("document.getElementById('prompt').value = 'a'.repeat(5000)")
    writing["prompt"].send_keys(Keys.CONTROL, Keys.ENTER)
    writing.until(lambda: "prompt 1 has 5001 tokens" in writing.notice or "prompt 1 has 5000 tokens" in writing.notice, "the message")


def test_hostile_options_cannot_be_sent(writing, service):
    before = service.metric("attend_sentences_total")
    write(writing, "The", temperature=-1)
    assert service.metric("attend_sentences_total") == before
    assert writing["generate-state"].text == ""


def test_tabs_of_both_tasks(browser, tmp_path):
    with serving(tmp_path, "--model", MODEL, "--model", f"tales={LANGUAGE_MODEL}", model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        page = opened(browser, service)
        assert page["source"].is_displayed() and not page["generate"].is_displayed()
        assert [tab.text for tab in page.all("[role=tab]") if tab.is_displayed()] == ["Text", "File", "Generate"]
        assert page.texts("#from option") == ["Georgian"]  # the language model is none of these
        page["text-tab"].send_keys(Keys.ARROW_LEFT)
        assert page["generate"].is_displayed() and not page["source"].is_displayed()
        assert page.js("document.activeElement.id") == "generate-tab"
        page["generate-tab"].send_keys(Keys.ARROW_RIGHT)
        assert page["source"].is_displayed() and page["attention"].is_displayed()
        page["file-tab"].click()
        assert page["drop"].is_displayed() and not page["attention"].is_displayed()
