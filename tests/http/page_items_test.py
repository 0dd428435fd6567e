"""The page's panel of items with a text, a picture and links, and the page of `attend attention`, in a real Chromium.

ATTEND_PICTURES names a folder for pictures of them: light, dark and narrow. ATTEND_ITEM_MODEL and ATTEND_ITEMS name a trained model of
fusion and a file of its items to look at."""

import base64
import json
import os
import pathlib
import subprocess

import pytest
import random_models
from encoder_models import trained_encoders
from server import ATTEND, serving
from web_page import Keys, Page, drawn, seen_as

Image = pytest.importorskip("PIL.Image")
(CLASSIFIER,) = trained_encoders("classifier")
GRAPH = "barn\tstands by\thouse\nhouse\tis made of\twood\nbarn\tis made of\twood\n"
LOOKS = {"light": (1280, "light"), "dark": (1280, "dark"), "narrow": (390, "light"), "narrow_dark": (390, "dark")}


@pytest.fixture(name="model", scope="module")
def a_model_of_items(tmp_path_factory):
    return random_models.write_item_model(tmp_path_factory.mktemp("items"), GRAPH)


@pytest.fixture(name="service", scope="module")
def running(tmp_path_factory, model):
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"shop={model}", "--model", f"news={CLASSIFIER}", model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        yield service


@pytest.fixture(name="photo", scope="module")
def a_photo(tmp_path_factory):
    path = tmp_path_factory.mktemp("photo") / "photo.png"
    Image.linear_gradient("L").resize((96, 64)).save(path)
    return path


@pytest.fixture(name="page")
def page_of_items(browser, service):
    browser.set_window_size(1280, 900)
    browser.get(service.url)
    page = Page(browser, service)
    page.until(lambda: page.texts("#classify-model option") == ["shop", "news"], "the models")
    page.choose("classify-model", "shop")
    page.until(lambda: page["classify-links"].is_displayed(), "the place for links")
    yield page
    complaints = [entry["message"] for entry in browser.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert not complaints


def answered(page):
    page.until(lambda: page["classify-output"].get_attribute("aria-busy") == "false" and (page.texts("#classify-output li") or page.notice), "the answer")


def given(page, text=None, picture=None, links=()):
    if text:
        page["classify-text"].send_keys(text)
    if picture:
        page.all("#classify-drop input")[0].send_keys(str(picture))
    for link in links:
        page["classify-link"].send_keys(link, Keys.ENTER)
    answered(page)


def result(service, **item):
    body = {"model": "shop", "item": item, "top": 12, "contributions": True, "attention": True, "graph": True}
    status, answer = service.post("/v1/classify", body)
    assert status == 200, answer
    return answer["results"][0]


def encoded(path):
    return base64.b64encode(path.read_bytes()).decode()


def bars(page):
    return page.texts("#classify-output .bar-name"), page.texts("#classify-output .bar-number")


def strengths(page):
    return page.js("[...document.querySelectorAll('.heated span')].map(word => parseFloat(word.style.getPropertyValue('--strength')))")


def test_the_answer_to_all_three_inputs(page, service, photo):
    given(page, "lumi tavo keri", photo, ["wood", "barn"])
    wanted = result(service, text="lumi tavo keri", picture=encoded(photo), links=["wood", "barn"])
    page.until(lambda: bars(page)[0] == [each["label"] for each in wanted["classes"]]
               and len(page.texts("#classify-contributions .contribution-name")) == 3, "the answer of all three")
    numbers = [f"{'−' if value < 0 else '+'}{abs(value):.2f}" for value in wanted["contributions"].values()]
    assert page.texts("#classify-contributions .contribution-number") == numbers
    text = wanted["attention"]["text"]
    shares = [sum(share for share, at in zip(text["rollout"], text["piece_words"], strict=True) if at == word) for word in range(3)]
    assert page.texts(".heated span") == ["lumi", "tavo", "keri"]
    assert strengths(page) == pytest.approx([60 * share / max(shares) for share in shares], abs=.06)
    assert page.texts("#classify-item .shares li") == [f"{name} {100 * share['rollout']:.1f} %" for name, share in wanted["attention"]["shares"].items()]
    page.all("#classify-item .attention-bar .group button")[1].click()
    assert page.texts("#classify-item .shares li") == [f"{name} {100 * share['heads'][0][0]:.1f} %" for name, share in wanted["attention"]["shares"].items()]
    assert page.texts("#classify-item figcaption")[1] == "all layers (rollout)"
    assert page.js("[...document.querySelectorAll('.patches')].every(patches => patches.children.length === 4)")


def test_an_item_too_long_for_attention_has_its_classes(page):
    given(page, "lumi " * 1100, links=["wood"])
    page.until(lambda: page.texts("#classify-contributions .contribution-name") == ["text", "links"], "classes and contributions")
    assert not page.notice and not page.js("document.querySelector('#classify-item').offsetParent")


def test_the_graph_around_the_links_is_drawn(page, service):
    given(page, links=["house"])
    share = result(service, links=["house"])["attention"]["links"]["rollout"][0]
    assert page.texts(".neighbourhood .linked text") == ["house", f"{100 * share:.1f} %"]
    assert sorted(page.texts(".neighbourhood .relation text")) == ["is made of\u00a0→", "←\u00a0stands by"]
    assert sorted(page.texts(".neighbourhood .neighbour text")) == ["barn", "wood"]
    assert page.js("document.querySelectorAll('.neighbourhood path').length") == 4
    assert not page.js("document.querySelector('.item-text').offsetParent") and not page.js("document.querySelector('.item-picture').offsetParent")


def test_links_come_and_go_as_chips(page):
    assert page.js("[...document.querySelectorAll('#classify-nodes option')].map(option => option.value)") == ["barn", "house", "wood"]
    given(page, links=["house", "house", "wood"])
    assert page.texts("#classify-links li span") == ["house", "wood"]
    page.all("#classify-links li button")[0].click()
    page.until(lambda: page.texts("#classify-links li span") == ["wood"], "one chip")
    page["classify-link"].send_keys(Keys.BACKSPACE)
    page.until(lambda: not page.texts("#classify-links li") and not page.texts("#classify-output li"), "no answer")
    given(page, links=["hose"])
    assert "link 'hose' is no node of the model's graph; did you mean 'house'?" in page.notice
    page.all("#classify-links li button")[0].click()
    page.until(lambda: not page.notice, "the end of the notice")


def test_the_picture_can_be_taken_away(page, photo):
    given(page, "neri", photo)
    page.until(lambda: page.texts("#classify-contributions .contribution-name") == ["text", "picture"], "both inputs")
    page.all("#classify-drop button")[0].click()
    page.until(lambda: page.texts("#classify-contributions .contribution-number") == ["alone"], "the text alone")
    assert not page.all("#classify-drop img")[0].is_displayed() and page.texts("#classify-drop .hint") == ["PNG or JPEG"]


def test_a_model_of_texts_takes_a_text(page, photo):
    given(page, "fresh bread", photo)
    page.choose("classify-model", "news")
    page.until(lambda: page.texts("#classify-output .bar-name")[:1] == ["food"], "the class")
    for name in ("classify-drop", "classify-links", "classify-item", "classify-contributions"):
        assert not page[name].is_displayed()


@pytest.mark.parametrize("look", LOOKS)
def test_the_panel_fits_the_window(browser, page, photo, look):
    with seen_as(browser, *LOOKS[look]):
        given(page, "lumi tavo keri", photo, ["wood", "barn"])
        assert page.js("document.documentElement.scrollWidth") <= LOOKS[look][0]
        drawn(browser, f"item_{look}")


@pytest.mark.parametrize("look", LOOKS)
def test_the_written_page_fits_the_window(browser, model, photo, tmp_path, look):
    item = {"id": "a<b", "text": "lumi tavo </script> keri", "picture": str(photo), "links": ["house"]}
    (tmp_path / "items.jsonl").write_text(json.dumps({"text": "neri"}) + "\n" + json.dumps(item) + "\n", encoding="utf-8")
    chosen = os.environ.get("ATTEND_ITEM_MODEL", model), pathlib.Path(os.environ.get("ATTEND_ITEMS", tmp_path / "items.jsonl"))
    subprocess.run([ATTEND, "attention", "--model", chosen[0], chosen[1], "--item", "2", "--output", tmp_path / "a.html"], check=True)
    with seen_as(browser, *LOOKS[look]):
        browser.get((tmp_path / "a.html").as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= LOOKS[look][0]
        drawn(browser, f"item_page_{look}")
        assert not browser.get_log("browser")
        if chosen[0] == model:
            assert browser.execute_script("return document.querySelector('h1').textContent") == "items.jsonl, item a<b"
            assert browser.execute_script("return [...document.querySelectorAll('.heated span')].map(word => word.textContent)") == ["lumi", "tavo", "</script>", "keri"]
            assert browser.execute_script("return document.querySelectorAll('.neighbourhood .linked').length") == 1
