"""The translation page for everyone: keyboard, screen reader, finger, phone, light and dark, right to left."""

import time

import pytest
from web_page import GARDEN, GARTEN, Keys


def test_aligned_words_at_the_finger(page):
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 780, "deviceScaleFactor": 2, "mobile": True})
    page.browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        page.translates(GARDEN, GARTEN)
        page.tap(page.all("#output span")[9])
        page.until(lambda: (page.lit("pointed"), page.lit("aligned")) == (["still."], ["quiet"]), "the words, once the finger is gone")
        page.tap(page.all("#mirror span")[8])
        page.until(lambda: (page.lit("pointed"), page.lit("aligned")) == (["in"], ["am"]), "the words of the source")
        page.tap(page["count"])
        page.until(lambda: not page.lit("pointed") and not page.lit("aligned"), "an end")
    finally:
        page.browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


FOCUS = """(() => { const e = document.activeElement, s = getComputedStyle(e), p = getComputedStyle(e.parentElement);
  return [e.id || e.textContent.trim().slice(0, 20), s.outlineStyle !== "none" || s.boxShadow !== "none" || p.boxShadow !== "none" || p.outlineStyle !== "none"]; })()"""


def test_keyboard_alone(page):
    page.translates(GARDEN, GARTEN)
    page.js("document.querySelector('.skip').focus()")
    reached = []
    for _ in range(14):
        if reached:
            page.keys(Keys.TAB)
        name, visible = page.js(FOCUS)
        assert visible, name
        reached.append(name)
    assert reached[:9] == ["Skip to the text", "text-tab", "theme", "from", "swap", "to", "source", "clear", "output"]
    assert reached[9] == "copy" and reached[13] == "Attention – what the"
    page["text-tab"].send_keys(Keys.ARROW_RIGHT)
    assert page["file-panel"].is_displayed() and not page["text-panel"].is_displayed()
    assert page.js("document.activeElement.id") == "file-tab" and page["file-tab"].get_attribute("aria-selected") == "true"
    page.keys(Keys.TAB * 5)
    assert page.js(FOCUS) == ["file", True]


UNNAMED = """[...document.querySelectorAll("button, select, input, textarea, a, [tabindex], [role=img], progress")].filter(e => e.checkVisibility()
  && !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim() || e.getAttribute("aria-labelledby"))).map(e => e.outerHTML)"""
CONTRAST = """(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const rgb = color => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [[r, .2126], [g, .7152], [b, .0722]].reduce((s, [c, w]) => s + w * ((c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4), 0);
  const poor = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e.checkVisibility() || e.closest("#mirror, .pale, .hidden, script")) continue;
    let ground = e;
    while (rgb(getComputedStyle(ground).backgroundColor)[3] < 255) ground = ground.parentElement;
    const style = getComputedStyle(e), ink = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [light(rgb(ink)), light(rgb(getComputedStyle(ground).backgroundColor))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) poor.push([walker.currentNode.data, (a + .05) / (b + .05)]);
  }
  return poor; })()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_names_and_contrast(page, scheme):
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    page.browser.refresh()
    page.source = page["source"]
    page.until(lambda: page.all("#to option"), "the languages")
    page.translates(GARDEN, GARTEN)
    page.all("summary")[0].click()
    page.until(lambda: page.all("#attention figure"), "the maps")
    page.server.stop()
    page.source.send_keys("x")
    page.until(lambda: page.notice, "the message")
    dark = page.js("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 27)"
    assert dark == (scheme == "dark") == (page["theme"].get_attribute("aria-pressed") == "true")
    time.sleep(.3)  # colours change softly
    assert not page.js(CONTRAST)
    assert not page.js(UNNAMED)


def test_the_switch_of_colours_is_remembered(page):
    page["theme"].click()
    assert page["theme"].get_attribute("aria-pressed") == "true"
    page.browser.refresh()
    assert page.js("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 27)"
    page["theme"].click()
    assert page.js("getComputedStyle(document.body).backgroundColor") == "rgb(245, 246, 247)"


def test_a_browser_that_keeps_nothing(page):
    script = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
    made = page.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    try:
        page.browser.refresh()
        page.source = page["source"]
        page.translates("one", "one'")
        page["theme"].click()
        page.choose("to", "French")
        page.until(lambda: page.server.requests[-1]["model"] == "en-fr small", "the request")
    finally:
        page.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": made["identifier"]})


SMALLEST = """Math.min(...[...document.querySelectorAll('#attention svg text')].map(t => parseFloat(getComputedStyle(t).fontSize)))"""


def test_attention_of_a_long_sentence_can_be_read(page):
    page.translates(" ".join(f"word{i}" for i in range(30)))
    page.all("summary")[0].click()
    page.until(lambda: len(page.all("#attention figure")) == 4, "the maps")
    assert page.js(SMALLEST) >= 9
    first, second = (figure.rect for figure in page.all("#attention figure")[:2])
    assert first["y"] == second["y"]  # two heads beside each other
    page.all("[data-group=heads] button")[1].click()
    assert page.js(SMALLEST) >= 12
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 780, "deviceScaleFactor": 2, "mobile": True})
    page.until(lambda: page.pressed("[data-group=views]") == ["lines"], "another view where no map fits")
    assert page.js(SMALLEST) >= 12 and page.js("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [320, 390])
def test_phones(page, width):
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 780, "deviceScaleFactor": 2, "mobile": True})
    page.translates(GARDEN + " Donaudampfschifffahrtsgesellschaftskapitän" * 2)
    page.all("summary")[0].click()
    page.until(lambda: page.all("#attention figure"), "the maps")
    assert page.js("document.documentElement.scrollWidth") <= width and page.js("innerWidth") == width
    assert page["output"].location["y"] >= page.source.location["y"] + page.source.size["height"]
    for name in ("theme", "swap", "clear", "copy"):
        assert min(page[name].size.values()) >= 44, name


def test_text_from_right_to_left(page):
    page.translates("שלום עולם")
    assert page.js("document.getElementById('source').matches(':dir(rtl)') && document.getElementById('output').matches(':dir(rtl)')")
    page.js("document.getElementById('output').focus()")
    page.keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert (page.lit("pointed"), page.lit("aligned")) == (["שלום'"], ["שלום"])
