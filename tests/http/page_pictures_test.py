"""The page's panel of pictures, and the page of `attend attention`, in a real Chromium.

ATTEND_PICTURES names a folder for pictures of them: light, dark and narrow."""

import base64
import io
import subprocess

import pytest
import random_models
from encoder_models import trained_encoders
from server import ATTEND, serving
from web_page import Page, drawn, seen_as

Image = pytest.importorskip("PIL.Image")
(CLASSIFIER,) = trained_encoders("classifier")


@pytest.fixture(name="model", scope="module")
def a_model_of_pictures(tmp_path_factory):
    return random_models.write_picture_model(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(name="service", scope="module")
def running(tmp_path_factory, model):
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"animals={model}", "--model", f"news={CLASSIFIER}", model=None) as service:
        service.url = f"http://127.0.0.1:{service.port}/"
        yield service


@pytest.fixture(name="photo", scope="module")
def a_photo(tmp_path_factory):
    """A bright square on a dark gradient."""
    picture = Image.linear_gradient("L").resize((96, 64)).convert("RGB")
    picture.paste((250, 220, 60), (56, 8, 88, 40))
    file = io.BytesIO()
    picture.save(file, "PNG")
    path = tmp_path_factory.mktemp("photo") / "photo.png"
    path.write_bytes(file.getvalue())
    return path


@pytest.fixture(name="page")
def page_of_pictures(browser, service):
    browser.set_window_size(1280, 900)
    browser.get(service.url)
    page = Page(browser, service)
    page.until(lambda: page.texts("#classify-model option") == ["animals", "news"], "the models")
    page.choose("classify-model", "animals")
    page.until(lambda: page["classify-drop"].is_displayed(), "the place for pictures")
    yield page
    complaints = [entry["message"] for entry in browser.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert not complaints


def given(page, path):
    page.all("#classify-drop input")[0].send_keys(str(path))
    page.until(lambda: page["classify-output"].get_attribute("aria-busy") == "false" and (page.texts("#classify-output li") or page.notice), "the answer")


def result(service, path):
    picture = base64.b64encode(path.read_bytes()).decode()
    return service.post("/v1/classify", {"model": "animals", "picture": picture, "top": 12, "attention": True})[1]["results"][0]


def opacities(page, figure):
    return page.js("[...document.querySelectorAll('.patches-frame')[arguments[0]].querySelectorAll('i')].map(patch => +patch.style.opacity)", figure)


def shares(weights):
    return pytest.approx([.85 * weight / max(weights) for weight in weights], abs=1e-4)


def test_classes_and_attention_of_a_picture(page, service, photo):
    given(page, photo)
    wanted = result(service, photo)
    assert page.texts("#classify-output .bar-name") == [each["label"] for each in wanted["classes"]]
    assert page["classify-attention"].is_displayed()
    attention, layers = wanted["attention"], len(wanted["attention"]["heads"])
    heads = attention["heads"][-1]
    assert page.texts("#classify-attention figcaption")[1:] == ["all layers (rollout)", *(f"layer {layers}, head {i + 1}" for i in range(len(heads)))]
    assert opacities(page, 0) == [] and opacities(page, 1) == shares(attention["rollout"]) and opacities(page, 2) == shares(heads[0])
    assert page.js("[...document.querySelectorAll('.patches-frame img')].every(image => image.naturalWidth === 12)")
    page.all("#classify-attention .group button")[0].click()
    assert page.texts("#classify-attention figcaption")[2] == "layer 1, head 1" and opacities(page, 2) == shares(attention["heads"][0][0])


def test_a_patch_tells_its_share(page, service, photo):
    given(page, photo)
    rollout = result(service, photo)["attention"]["rollout"]
    page.point_at(page.all(".patches")[0].find_elements("css selector", "i")[4])
    assert page.texts("#classify-attention .note")[0] == f"all layers (rollout): row 2, column 2 has {100 * rollout[4]:.1f} %"


def test_what_is_no_picture_is_told(page, photo, tmp_path):
    (tmp_path / "text.txt").write_text("no picture", encoding="utf-8")
    page.all("#classify-drop input")[0].send_keys(str(tmp_path / "text.txt"))
    page.until(lambda: page.texts("#classify-drop .hint") == ["That is no PNG or JPEG picture."], "the hint")
    assert not page["classify-attention"].is_displayed()
    (tmp_path / "damaged.png").write_bytes(photo.read_bytes()[:-30])
    given(page, tmp_path / "damaged.png")
    assert "This can't be classified: 'picture 1' is a damaged PNG" in page.notice
    given(page, photo)
    page.until(lambda: not page.notice, "the end of the notice")


def test_a_model_of_texts_takes_a_text(page, photo):
    given(page, photo)
    page.choose("classify-model", "news")
    page.until(lambda: page["classify-text"].is_displayed(), "the text")
    assert not page["classify-drop"].is_displayed() and not page["classify-attention"].is_displayed()
    page["classify-text"].send_keys("fresh bread")
    page.until(lambda: page.texts("#classify-output .bar-name")[:1] == ["food"], "the class")


LOOKS = {"light": (1280, "light"), "dark": (1280, "dark"), "narrow": (390, "light")}


@pytest.mark.parametrize("look", LOOKS)
def test_the_panel_fits_the_window(browser, page, photo, look):
    with seen_as(browser, *LOOKS[look]):
        given(page, photo)
        assert page.js("document.documentElement.scrollWidth") <= LOOKS[look][0]
        drawn(browser, f"picture_{look}")


@pytest.mark.parametrize("look", LOOKS)
def test_the_written_page_fits_the_window(browser, model, photo, tmp_path, look):
    subprocess.run([ATTEND, "attention", "--model", model, "--picture", photo, "--output", tmp_path / "a.html"], check=True)
    with seen_as(browser, *LOOKS[look]):
        browser.get((tmp_path / "a.html").as_uri())
        assert browser.execute_script("return document.querySelectorAll('figure').length") == 2 + 4
        assert browser.execute_script("return document.querySelector('h1').textContent") == "photo.png"
        assert browser.execute_script("return document.documentElement.scrollWidth") <= LOOKS[look][0]
        drawn(browser, f"picture_page_{look}")
        assert not browser.get_log("browser")
