"""The translation page in a real Chromium: typing, languages, alternatives, alignment, attention, copying."""

import json
import pathlib

from files_test import post_parts
from server import command_line, serving
from web_page import GARDEN, GARTEN, Keys, Select, drawn, opened


def test_translates_while_typing(page):
    page.translates(GARDEN, GARTEN)
    asked = page.server.requests[-1]
    assert (asked["model"], asked["text"], asked["n_best"], asked["priority"]) == ("en-de", [GARDEN], 4, "interactive")
    assert len(page.server.requests) < 10  # not one a character
    page.until(lambda: page["live"].get_attribute("textContent") == f"Translation: {GARTEN}", "the announcement")
    assert page["count"].text == str(len(GARDEN))
    page["clear"].click()
    page.until(lambda: page.output == "", "an empty translation")
    assert page.source.get_attribute("value") == "" and page.js("document.activeElement.id") == "source"


def test_lines_and_spaces_stay(page):
    page.translates("One two.\n\n  Three.  Four five.")
    assert page["output"].get_property("textContent") == "two.' One'\n\n  Three.'  five.' Four'"


def test_terms_of_the_glossary_are_asked_for_and_marked(page):
    page.translates(GARDEN, GARTEN)
    assert "glossary" not in page.server.requests[-1] and page["glossary-state"].text == ""
    page["glossary"].find_element("tag name", "summary").click()
    page["glossary-terms"].send_keys("garden = Garten\nhouse = Hütte\nquiet\n\n= x")
    page.until(lambda: page["glossary-state"].text == "1 of 3 kept", "the number of terms")
    assert page.server.requests[-1]["glossary"] == [
        {"source": "garden", "target": "Garten", "flags": "ignore-case"}, {"source": "house", "target": "Hütte", "flags": "ignore-case"},
        {"source": "quiet", "target": "", "flags": "ignore-case, keep"}]
    assert page.texts("#output .term") == ["Garten"]
    page["glossary-endings"].click()
    page.until(lambda: page.server.requests[-1]["glossary"][0]["flags"] == "ignore-case, inflect-source, inflect", "the request")
    page.browser.refresh()
    page.until(lambda: page["glossary-terms"].get_attribute("value").startswith("garden = Garten"), "the terms")
    assert page["glossary-endings"].is_selected()


def test_a_term_with_a_hyphen_is_marked(page):
    page["glossary"].find_element("tag name", "summary").click()
    page["glossary-terms"].clear()
    page["glossary-terms"].send_keys("garden = Garten\nwell-kept = gut-gepflegt")
    page.translates(GARDEN, GARTEN)
    page.until(lambda: page["glossary-state"].text == "1 of 1 kept", "the number of terms")
    assert page.texts("#output .term") == ["Garten"]  # and no complaint of a script


def test_superseded_requests_are_cancelled(page):
    page.server.delay = lambda body: 30 if body["text"] == ["slow"] else 0
    page.source.send_keys("slow")
    page.until(lambda: page.server.texts() == ["slow"], "the request")
    page.translates("er", "slower'")
    page.until(lambda: [body["text"] for body in page.server.abandoned] == [["slow"]], "the end of the first request")


def test_languages_and_models(page):
    assert [option.text for option in Select(page["from"]).options] == ["English", "German", "Detect language"]
    assert [option.text for option in Select(page["to"]).options] == ["German", "French"]
    assert not page["model-choice"].is_displayed()
    page.translates("good day", "day' good'")
    page.choose("to", "French")
    page.until(lambda: page.server.requests[-1]["model"] == "en-fr small", "the request")
    assert page["model-choice"].is_displayed() and not page["swap"].is_enabled()
    page.choose("model", "en-fr")
    page.until(lambda: page.server.requests[-1]["model"] == "en-fr", "the request")
    assert page["output"].get_attribute("lang") == "fr"
    assert page.server.requests[-1]["n_best"] == 1  # the model's beam_size
    page.browser.refresh()
    page.until(lambda: page.all("#to option"), "the languages")
    assert Select(page["to"]).first_selected_option.text == "French"


def test_swap_takes_the_translation_along(page):
    page.translates("good day", "day' good'")
    page["swap"].click()
    page.until(lambda: page.output == "good'' day''", "the way back")
    assert page.server.requests[-1]["model"] == "de-en" and page.source.get_attribute("value") == "day' good'"
    assert Select(page["from"]).first_selected_option.text == "German"


def test_alternatives(page):
    page.translates(GARDEN, GARTEN)
    others = [button.text for button in page.all("#alternatives button")]
    assert len(others) == 3 and GARTEN not in others
    assert [word.text for word in page.all("#alternatives b")] == ["morgens", "ruhig.", "Am Morgen ist der alte Garten hinter dem Haus"]
    page.all("#alternatives button")[1].click()
    assert page.output == others[1]
    assert [button.text for button in page.all("#alternatives button")] == [GARTEN, others[0], others[2]]


def test_alternatives_and_attention_of_the_sentence_that_is_looked_at(page):
    page.translates(f"Good day. {GARDEN} One two.", f"day.' Good' {GARTEN} two.' One'")
    heading = page.all("#alternatives h2")[0]
    assert heading.text == "Alternatives to sentence 3"  # where the caret is
    page.all("#output span")[5].click()
    assert heading.text == "Alternatives to sentence 2"
    assert page.lit("current") == [*GARDEN.split(), *GARTEN.split()]
    page.all("#alternatives button")[0].click()
    assert page.output == "day.' Good' Der alte Garten hinter dem Haus ist morgens still. two.' One'"
    page.point_at(page.all("#output span")[-1])
    assert (page.lit("pointed"), page.lit("aligned")) == (["One'"], ["One"])
    page.source.send_keys(Keys.CONTROL, Keys.HOME)
    page.until(lambda: heading.text == "Alternatives to sentence 1", "the sentence at the caret")
    page.all("summary")[0].click()
    page.until(lambda: page.all("#attention figure") and page.server.requests[-1]["text"] == ["Good day."], "its attention")
    assert not page["attention-rank"].is_displayed()
    page.choose("sentence", f"2: {GARDEN}")
    page.until(lambda: page.server.requests[-1]["text"] == [GARDEN], "the attention of another")
    assert heading.text == "Alternatives to sentence 2" and page["attention-rank"].is_displayed()


def test_confidence_and_words_in_doubt(page):
    page.translates(GARDEN, GARTEN)
    assert page["confidence"].text == "Confidence: high (84)"
    assert page.texts("#alternatives li span") == ["medium (64)", "low (44)", "low (24)"]
    assert page.texts("#output .doubtful") == ["hinter"]
    word = page.all("#output .doubtful")[0]
    assert word.get_attribute("title") == "In doubt: the model finds this word 12 % probable"
    assert "wavy" in word.value_of_css_property("text-decoration")
    page.js("document.getElementById('output').focus()")
    page.keys(*[Keys.ARROW_RIGHT] * 4)
    page.until(lambda: page["live"].get_attribute("textContent") == "hinter: from behind, in doubt", "the announcement")
    drawn(page.browser, "confidence")
    page.all("#alternatives button")[1].click()
    assert page["confidence"].text == "Confidence: low (44)"
    page.source.send_keys(" Good day.")
    page.until(lambda: page["confidence"].text == "Confidence in sentence 2: high (84)", "that of the sentence at the caret")
    assert page.texts("#output .doubtful") == ["hinter"]  # the word's place counts from the whole text
    page["clear"].click()
    page.until(lambda: not page["confidence"].is_displayed(), "nothing to be sure of")


def test_aligned_words_at_the_pointer(page):
    page.translates(f"{GARDEN} Good day", f"{GARTEN} day' Good'")
    page.point_at(page.all("#output span")[9])
    assert (page.lit("pointed"), page.lit("aligned")) == (["still."], ["quiet"])
    page.point_at(page.all("#mirror span")[8])  # under the text area
    assert (page.lit("pointed"), page.lit("aligned")) == (["in"], ["am"])
    page.point_at(page.all("#mirror span")[12])  # of the second sentence
    assert (page.lit("pointed"), page.lit("aligned")) == (["day"], ["day'"])
    page.point_at(page["copy"])
    assert not page.lit("pointed") and not page.lit("aligned")
    page.source.send_keys(".")
    assert not page.lit("aligned")


def test_aligned_words_by_keyboard(page):
    page.translates(GARDEN, GARTEN)
    page.js("document.getElementById('output').focus()")
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert (page.lit("pointed"), page.lit("aligned")) == (["alte"], ["old"])
    page.until(lambda: page["live"].get_attribute("textContent") == "alte: from old", "the announcement")
    page.keys(Keys.END)
    assert (page.lit("pointed"), page.lit("aligned")) == (["still."], ["quiet"])
    page.source.send_keys(Keys.CONTROL, Keys.HOME)
    assert (page.lit("pointed"), page.lit("aligned")) == (["The"], ["Der"])


def test_attention(page):
    page.translates(f"Good day. {GARDEN}")
    assert not any(body.get("attention") for body in page.server.requests)  # nobody looks
    page.all("summary")[0].click()
    page.until(lambda: page.all("#attention figure"), "the maps")
    assert page.server.requests[-1]["text"] == [GARDEN] and page.pressed("#attention") == ["cross", "2", "heat maps", "all"]
    assert len(page.all("#attention figure")) == 4
    titles = [title.get_attribute("textContent") for title in page.all("#attention figure:first-child title")]
    assert titles[:12] == ["▁" + word for word in GARDEN.split()] + ["</s>"]
    assert titles[12:] == ["▁" + word for word in GARTEN.split()] + ["</s>"]

    page.all("[data-group=heads] button")[2].click()
    page.all("[data-group=layers] button")[0].click()
    assert page.pressed("#attention") == ["cross", "1", "heat maps", "2"] and len(page.all("#attention figure")) == 1
    page.keys(Keys.TAB * 9)
    assert page.js("document.activeElement.tagName") == "svg"
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert "▁alte gives ▁old the weight 0." in page.all("#attention .note")[0].text

    page.choose("sentence", "1: Good day.")
    page.until(lambda: page.server.requests[-1]["text"] == ["Good day."] and "▁Good" in page.js("document.getElementById('attention-view').textContent"), "the first sentence")
    page.all("[data-group=kinds] button")[1].click()
    page.all("[data-group=views] button")[1].click()
    assert "Decoder self-attention, layer 1 of 2" in page["attention-view"].text and page.all("#attention figure path")


def test_the_language_is_detected_where_the_reader_asks(page, tmp_path):
    page.choose("from", "Detect language")
    assert [option.text for option in Select(page["to"]).options] == ["German", "English", "French"] and not page["swap"].is_enabled()
    page.choose("to", "English")
    page.translates("eins zwei", "zwei' eins'")
    asked = page.server.requests[-1]
    assert (asked["source"], asked["target"], "model" in asked) == ("auto", "en", False)
    assert page["told"].text == "From German." and page.source.get_attribute("lang") == "de"
    page.all("summary")[0].click()
    page.until(lambda: page.all("#attention figure"), "the maps")
    assert page.server.requests[-1]["model"] == "de-en"
    page.server.requests.clear()
    (tmp_path / "notes.txt").write_text("eins\n" * 40, encoding="utf-8")
    page.translate_file(tmp_path / "notes.txt")
    page.until(lambda: page["file-state"].text == "Done. 40 lines translated.", "the end")
    assert [(body.get("model"), body.get("source"), body.get("target")) for body in page.server.requests] == [(None, "auto", "en"), ("de-en", None, None)]
    page.browser.refresh()
    page.until(lambda: Select(page["from"]).first_selected_option.text == "Detect language", "what was chosen before")


def test_what_stands_between_sentences_is_the_servers(browser, tmp_path):
    with serving(tmp_path, "--max-input-tokens", "12", "--max-characters", "300") as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        page = opened(browser, service)
        text = "keritavo" * 9 + " lumi 天。天 tavo " + "lumi tavo, " * 9
        page.js("void (document.getElementById('source').value = arguments[0])", text)
        page.source.send_keys(".")
        expected = service.translate(f"{text}.")[0]
        assert expected["divided"] and len(expected["sentences"]) > 4
        page.until(lambda: page["output"].get_property("textContent") == expected["text"], "the route's text")
        assert page["count"].text == f"{len(text) + 1} / 300"


def test_what_is_cut_off_is_said(page, tmp_path):
    page.translates("One two. An endless sentence.")
    assert page["cut"].text.endswith("“An endless sentence.”")
    page.until(lambda: page["live"].get_attribute("textContent").startswith("Translation, cut off: "), "the announcement")
    page.source.send_keys(Keys.BACKSPACE * len(" An endless sentence."))
    page.until(lambda: page.output == "two.' One'", "the translation")
    assert not page["cut"].is_displayed()
    path = tmp_path / "notes.txt"
    path.write_text("a b\n\nendless\nc d\n" * 3, encoding="utf-8")
    page.translate_file(path)
    page.until(lambda: page["file-state"].text == "Done. 12 lines translated. Cut off at the model's longest output: line 3, 7, 11; divide "
               "the sentences there.", "the end")


def test_what_is_lost_or_divided_is_said(page, tmp_path):
    page.translates("天 one 天.")
    assert page["told"].text == "2 characters are unknown to this model, and left out."
    page.source.send_keys(" divided")
    page.until(lambda: page["told"].text == "Sentences that are too long for this model were translated in parts. 2 characters are unknown to this "
               "model, and left out.", "both")
    page["clear"].click()
    page.translates("two")
    assert not page["told"].is_displayed()
    path = tmp_path / "notes.txt"
    path.write_text("a 天\n\ndivided\nc d\n", encoding="utf-8")
    page.translate_file(path)
    page.until(lambda: page["file-state"].text == "Done. 4 lines translated. Sentences that are too long for this model were translated in parts. "
               "1 character is unknown to this model, and left out.", "the end")
    html = tmp_path / "notes.html"
    html.write_text("<p>unfinished unknown_characters", encoding="utf-8")
    page.translate_file(html)
    page.until(lambda: page["file-state"].text == "Done. Cut off at the model's longest output: 2 sentences; divide the sentences there. "
               "2 characters are unknown to this model, and left out.", "the end")


def test_hostile_text_stays_text(page):
    hostile = "</span><img src=x onerror=alert(1)> <script>alert(1)</script> &amp; "
    page.js("void (document.getElementById('source').value = arguments[0] + String.fromCharCode(0xd800))", hostile)
    page.translates(".")
    assert not page.all("main img[src=x], main script") and "onerror=alert(1)>" in page.output and "&amp;" in page.output


def test_copy(page):
    page.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    assert not page["copy"].is_enabled()
    page.translates(GARDEN, GARTEN)
    page["copy"].click()
    page.until(lambda: page["copied"].text == "Copied", "the confirmation")
    assert page.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])") == GARTEN


def test_nothing_comes_from_elsewhere(page):
    page.translates(GARDEN, GARTEN)
    loaded = page.js("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert loaded and all(address.startswith(page.server.url) for address in loaded)
    markup = (pathlib.Path(__file__).resolve().parents[2] / "src" / "web" / "page.html").read_text(encoding="utf-8")
    assert " style=" not in markup and "<style" not in markup and " on" not in markup.replace(" one", "").replace(" on:", "").lower().split("<body>")[0]
    assert json.loads(page.js("JSON.stringify(localStorage)")) == {}  # of the text nothing is kept


def test_with_the_service_itself(browser, tmp_path):
    with serving(tmp_path) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        page = opened(browser, service)
        for word in ("lumi", " tavo", " keri"):
            page.source.send_keys(word)
        best, *others = dict.fromkeys(line.split(" ||| ")[1] for line in command_line("lumi tavo keri\n", "--n-best", 4))
        page.until(lambda: page.output == best, "the translation")
        assert [button.text for button in page.all("#alternatives button")] == others
        links = command_line("lumi tavo keri\n", "--alignments")[0].split(" ||| ")[-1].split()
        page.point_at(page.all("#output span")[0])
        words = "lumi tavo keri".split()
        assert page.lit("aligned") == [words[s] for s in range(3) if f"{s}-0" in links]
        page.all("summary")[0].click()
        page.until(lambda: len(page.all("#attention figure")) == 4, "the maps")
        for button in range(3):
            page.all("[data-group=kinds] button")[button].click()
            assert len(page.all("#attention figure")) == 4
        (tmp_path / "file.txt").write_text("lumi\n\ntavo keri\n" * 40, encoding="utf-8")
        page.translate_file(tmp_path / "file.txt")
        page.until(lambda: page["file-state"].text.startswith("Done. 120 lines translated."), "the end of the file")
        for name, content in (("notes.md", b"lumi"), ("nothing", b"lumi"), ("a.txt", b"PK\0\0"),
                              ("table.txt", b"lumi\ttavo\nkeri\tpaku\n"), ("page.html", b"PK\x03\x04word/")):
            (tmp_path / name).write_bytes(content)
            page["file"].send_keys(str(tmp_path / name))
            error = post_parts(service, "/translate_file", {"target": "su"}, (name, content))[1]["error"]
            page.until(lambda: page["file-state"].text == f"{error[0].upper()}{error[1:]}.", "the route's error")  # noqa: B023
        page["text-tab"].click()
        assert service.stop() == 0
        page.source.send_keys(" dosa")
        page.until(lambda: "does not answer" in page.notice, "the message")
        log = [entry["message"] for entry in browser.get_log("browser")]
        assert not [line for line in log if "Failed to load resource" not in line]
