"""Translation memories on the page: the one that is asked, and what it has for the sentence that is looked at."""

from web_page import GARDEN, GARTEN, Select

MATCH = {"score": 83.3, "source": "The old garden behind the house is quiet.", "target": "Der alte Garten hinter dem Haus ist ruhig."}


def reload(page):
    page.browser.refresh()
    page.until(lambda: page.all("#to option"), "the languages")
    page.source = page["source"]


def test_without_a_memory_there_is_no_choice(page):
    page.translates(GARDEN, GARTEN)
    assert not page["memory-choice"].is_displayed() and not page["matches"].is_displayed()
    assert "memory" not in page.server.requests[-1]


def test_matches_of_the_sentence_that_is_looked_at(page):
    page.server.memories, page.server.matches = ["office", "law"], {GARDEN: [MATCH]}
    reload(page)
    assert [option.text for option in Select(page["memory"]).options] == ["office", "law", "None"]
    page.translates(f"{GARDEN} One two.", f"{GARTEN} two.' One'")
    assert page.server.requests[-1]["memory"] == "office"
    assert not page["matches"].is_displayed()  # the caret is in the second sentence
    page.all("#output span")[0].click()
    page.until(lambda: page["matches"].is_displayed(), "the matches")
    assert page.texts("#matches button span") == [MATCH["source"], MATCH["target"]]
    assert page.texts("#matches li > span") == ["83 %"]
    page.all("#matches button")[0].click()
    assert page.output == f"{MATCH['target']} two.' One'"
    assert GARTEN in page.texts("#alternatives button")  # the model's own is there still


def test_another_memory_is_kept(page):
    page.server.memories, page.server.matches = ["office", "law"], {GARDEN: [MATCH]}
    reload(page)
    page.translates(GARDEN, GARTEN)
    page.choose("memory", "law")
    page.until(lambda: page.server.requests[-1].get("memory") == "law", "the request")
    reload(page)
    assert Select(page["memory"]).first_selected_option.text == "law"
    page.choose("memory", "None")
    page.source.send_keys("good day")
    page.until(lambda: page.output == "day' good'", "a translation")
    assert "memory" not in page.server.requests[-1] and not page["matches"].is_displayed()
