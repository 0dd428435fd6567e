"""The panels of tagging, classification and masked language models on the page, in a real Chromium, with the service itself.

ATTEND_PICTURES names a folder for pictures of the panels: light, dark and narrow."""

import itertools
import json

import pytest
import random_models
from encoder_models import trained_encoders
from server import LANGUAGE_MODEL, MODEL, serving
from web_page import Keys, Page, drawn, opened, seen_as

TAGGER, CLASSIFIER, MASKED_LANGUAGE_MODEL = trained_encoders("tagger", "classifier", "masked_language_model")
CLOTH = "Kanchipuram sarees have contrast borders, zari-rich pallus and a silk body."
MODELS = {"cloth": TAGGER, "news": CLASSIFIER, "things": MASKED_LANGUAGE_MODEL}


@pytest.fixture(name="service", scope="module")
def running(tmp_path_factory):
    named = [argument for name, model in MODELS.items() for argument in ("--model", f"{name}={model}")]
    with serving(tmp_path_factory.mktemp("serve"), *named, model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        yield service


@pytest.fixture(name="panels")
def page_of_encoders(browser, service):
    browser.set_window_size(1280, 900)
    browser.get(service.url)
    page = Page(browser, service)
    page.until(lambda: page["tag-tab"].is_displayed(), "the tabs")
    yield page
    complaints = [entry["message"] for entry in browser.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert not complaints


def typed(page, panel, text):
    """Opens the panel and gives it a text, of any characters."""
    page[f"{panel}-tab"].click()
    page.js(f"(document.getElementById('{panel}-text').value = arguments[0], document.getElementById('{panel}-text').dispatchEvent(new Event('input')))", text)
    page.until(lambda: page[f"{panel}-output"].get_attribute("aria-busy") == "false", "the answer")


def entities(page):
    return page.js("[...document.querySelectorAll('#tag-output mark')].map(mark => [mark.textContent, mark.dataset.label])")


def result(service, route, text, **options):
    return service.post(route, {"text": text, **options})[1]["results"][0]


def test_only_what_is_served_has_a_tab(panels):
    assert [tab.text for tab in panels.all("[role=tab]") if tab.is_displayed()] == ["Tag", "Classify", "Fill"]
    assert panels["tag-text"].is_displayed() and not panels["source"].is_displayed() and not panels["attention"].is_displayed()
    assert panels.all(".skip")[0].get_attribute("href").endswith("#tag-text")


def test_entities_are_coloured_where_the_service_says(panels, service):
    typed(panels, "tag", CLOTH)
    wanted = result(service, "/v1/tag", CLOTH)["entities"]
    assert ["Kanchipuram", "CLUSTER"] in entities(panels)
    assert entities(panels) == [[entity["text"], entity["label"]] for entity in wanted]
    assert panels["tag-output"].get_property("textContent") == CLOTH
    colours = dict(panels.js("[...document.querySelectorAll('#tag-output mark')].map(mark => [mark.dataset.label, getComputedStyle(mark).backgroundColor])"))
    assert len(set(colours.values())) == len(colours) > 2
    legend = panels.texts("#tag-legend li")
    assert len(legend) == 6
    assert f"CLUSTER{sum(entity['label'] == 'CLUSTER' for entity in wanted)}" in legend


@pytest.mark.parametrize("text", ["🧵🧵 Kanchipuram sarees 👩‍🎨 have ikat borders.", "Cafe\u0301 e\u0301toffes: Kanchipuram sarees have silk borders.", "A <b>silk</b> &amp; border\n\n  of Bhuj"])
def test_colours_stand_right_beside_any_characters(panels, service, text):
    typed(panels, "tag", text)
    wanted = result(service, "/v1/tag", text)["entities"]
    assert wanted and entities(panels) == [[entity["text"], entity["label"]] for entity in wanted]
    assert [text[entity["begin"]:entity["end"]] for entity in wanted] == [entity["text"] for entity in wanted]
    assert panels["tag-output"].get_property("textContent") == text


def test_classes_have_bars_by_their_probabilities(panels, service):
    typed(panels, "classify", "fresh bread tastes of pepper")
    wanted = result(service, "/v1/classify", "fresh bread tastes of pepper", top=12)["classes"]
    assert panels.texts("#classify-output .bar-name") == [each["label"] for each in wanted]
    assert panels.texts("#classify-output .bar-number") == [f"{100 * each['probability']:.1f} %" for each in wanted]
    widths = panels.js("[...document.querySelectorAll('#classify-output .bar')].map(bar => bar.firstChild.getBoundingClientRect().width / bar.getBoundingClientRect().width)")
    assert widths[0] == pytest.approx(wanted[0]["probability"], abs=.02)
    assert wanted[0]["label"] == "food"


def test_masks_are_filled_in(panels, service):
    typed(panels, "fill", "green [MASK] red [MASK]")
    wanted = result(service, "/v1/fill", "green [MASK] red [MASK]", top=6)
    best = [mask[0]["token"] for mask in wanted["masks"]]
    assert panels["fill-filled"].text == wanted["filled"] == f"green {best[0]} red {best[1]}"
    assert panels.texts("#fill-filled mark") == best
    assert panels.texts("#fill-masks h2") == ["[MASK] 1", "[MASK] 2"]
    assert panels.texts("#fill-masks .bar-name") == [token["token"] for mask in wanted["masks"] for token in mask]


def test_pieces_of_words_stand_where_the_service_puts_them(browser, tmp_path):
    model = random_models.write_filler_of_pieces(tmp_path)
    with serving(tmp_path, "--model", f"pieces={model}", "--model", f"news={CLASSIFIER}", model=None) as service:
        browser.get(f"http://127.0.0.1:{service.port}/")
        page, begin = Page(browser, service), set()
        page.until(lambda: page["fill-tab"].is_displayed(), "the tabs")
        for text in (f"{word} [MASK] red" for word in random_models.TEXT[1].split()):
            typed(page, "fill", text)
            wanted = result(service, "/v1/fill", text, top=6)
            best = wanted["masks"][0]
            page.until(lambda: page["fill-filled"].text == wanted["filled"], wanted["filled"])  # noqa: B023
            assert page.texts("#fill-masks .bar-name") == [("" if token["begins_word"] else "…") + token["token"] for token in best]
            begin.add(best[0]["begins_word"])
        assert False in begin


def test_the_button_puts_a_mask_where_the_caret_is(panels, service):
    typed(panels, "fill", "")
    panels["fill-text"].send_keys("white  black coal", *[Keys.ARROW_LEFT] * 11)
    wanted = result(service, "/v1/fill", "white [MASK] black coal")["filled"]
    panels["fill-mask"].click()
    panels.until(lambda: panels["fill-filled"].text == wanted, "the filled text")
    assert panels["fill-text"].get_property("value") == "white [MASK] black coal"
    assert panels.js("document.activeElement.id") == "fill-text"


def test_a_text_without_a_mask_is_not_sent(panels, service):
    before = service.metric("attend_requests_total")
    typed(panels, "fill", "white snow")
    assert panels["fill-hint"].is_displayed()
    assert panels.notice == ""
    assert service.metric("attend_requests_total") <= before + 1  # the look at the metrics itself


def test_a_cut_text_is_told_and_a_refusal_is_said(panels):
    typed(panels, "classify", "bread " * 100)
    assert panels["classify-state"].text.startswith("Longer than the model can read")
    typed(panels, "classify", "bread " * 5000)
    assert "This can't be classified: text 1 has 20001 tokens" in panels.notice
    assert panels.texts("#classify-output li") == []
    typed(panels, "classify", "bread")
    assert panels.notice == "" and panels["classify-state"].text == ""


def test_hostile_text_is_only_text(panels):
    typed(panels, "tag", "<img src=x onerror=alert(1)> silk border")
    assert panels.js("document.querySelectorAll('#tag-output img').length") == 0
    typed(panels, "fill", "<b>red</b> [MASK]")
    assert panels.js("document.querySelectorAll('#fill-filled b').length") == 0


def test_a_model_of_vectors_alone_has_no_panel(browser, tmp_path):
    model = random_models.write_encoders(tmp_path)["masked_language_model"]
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    config["model"]["head"] = "none"
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with serving(tmp_path, "--model", model, model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        browser.get(service.url)
        page = Page(browser, service)
        page.until(lambda: page["no-tab"].is_displayed(), "what the page says")
        assert not any(page[name].is_displayed() for name in ("source", "from", "file-panel", "fill-text", "attention"))
        assert page.js("document.querySelectorAll('[role=tab]:not([hidden])').length") == 0


def test_several_models_are_offered(browser, tmp_path):
    with serving(tmp_path, "--model", MODEL, "--model", LANGUAGE_MODEL, "--model", f"a={CLASSIFIER}", "--model", f"b={CLASSIFIER}", model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        page = opened(browser, service)
        assert [tab.text for tab in page.all("[role=tab]") if tab.is_displayed()] == ["Text", "File", "Generate", "Classify"]
        page["classify-tab"].click()
        assert page.texts("#classify-model option") == ["a", "b"]
        assert not page["source"].is_displayed()
        typed(page, "classify", "snow covers the hills")
        page.choose("classify-model", "b")
        page.until(lambda: page.texts("#classify-output .bar-name")[:1] == ["weather"], "the class")


@pytest.mark.parametrize(("name", "scheme", "width"), [("light", "light", 1280), ("dark", "dark", 1280), ("narrow", "light", 390)])
def test_panels_fit_the_window(browser, panels, name, scheme, width):
    with seen_as(browser, width, scheme):
        for panel, text in (("tag", f"{CLOTH} 🧵 Bhuj shawls have ikat borders."), ("classify", "the young runner wins"), ("fill", "green [MASK] red [MASK]")):
            typed(panels, panel, text)
            assert panels.js("document.documentElement.scrollWidth") <= width
            drawn(browser, f"{panel}_{name}")


# What lies near the corners of each tab is that tab, so nothing cuts or covers it.
UNSEEN_TABS = """[...document.querySelectorAll('[role=tab]:not([hidden])')].filter(tab => {
  const box = tab.getBoundingClientRect();
  return [[box.left + 3, box.top + 9], [box.right - 3, box.bottom - 9]].some(([x, y]) => document.elementFromPoint(x, y) !== tab);
}).map(tab => tab.textContent)"""


def test_every_tab_is_in_sight(browser, tmp_path):
    (tmp_path / "parser").mkdir()
    models = MODELS | {"words": MODEL, "tales": LANGUAGE_MODEL, "trees": random_models.write_parser(tmp_path / "parser")}
    named = [argument for name, model in models.items() for argument in ("--model", f"{name}={model}")]
    with serving(tmp_path, *named, model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        page = opened(browser, service)
        page.until(lambda: page["fill-tab"].is_displayed(), "the tabs")
        assert [tab.text for tab in page.all("[role=tab]:not([hidden])")] == ["Text", "File", "Generate", "Tag", "Parse", "Classify", "Fill"]
        for width, scheme in itertools.product((1280, 721, 500, 390, 320), ("light", "dark")):
            with seen_as(browser, width, scheme):
                drawn(browser, f"tabs_{width}_{scheme}")
                assert page.js(UNSEEN_TABS) == [], width
                assert page.js("document.documentElement.scrollWidth") <= width
