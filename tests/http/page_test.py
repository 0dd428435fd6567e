"""The translation page in a real Chromium, against a server that can delay, refuse, stop and return."""

import json
import pathlib
import shutil
import time

import pytest

webdriver = pytest.importorskip("selenium.webdriver")
from mock_server import MockServer  # noqa: E402
from server import command_line, serving  # noqa: E402
from selenium.webdriver import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not CHROMIUM or not DRIVER, reason="no chromium and chromedriver; run tools/setup")
GARDEN = "The old garden behind the house is quiet in the morning."
GARTEN = "Der alte Garten hinter dem Haus ist am Morgen still."
PATIENCE = 20  # seconds, on a machine that does other things


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=webdriver.ChromeService(DRIVER), options=options)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def server():
    mock = MockServer()
    yield mock
    if mock.server:
        mock.stop()


class Page:
    """What the tests do on the page, and see of it."""

    def __init__(self, browser, server):
        self.browser, self.server = browser, server
        self.source = self["source"]

    def __getitem__(self, name):
        return self.browser.find_element(By.ID, name)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def js(self, script, *arguments):
        return self.browser.execute_script(f"return {script}", *arguments)

    def until(self, seen, what="what was expected"):
        end = time.monotonic() + PATIENCE
        while not (value := seen()):
            assert time.monotonic() < end, f"{what} did not come; the page reads: {self.js('document.body.innerText')}"
            time.sleep(.05)
        return value

    @property
    def output(self):
        return self["output"].text.strip("\u200b")

    @property
    def notice(self):
        return self["notice-text"].text if self["notice"].is_displayed() else ""

    def translates(self, text, into=None):
        self.source.send_keys(text)
        self.until(lambda: self.output and self["output"].get_attribute("aria-busy") == "false", "a translation")
        assert into is None or self.output == into

    def choose(self, name, label):
        Select(self[name]).select_by_visible_text(label)

    def pressed(self, selector):
        return [button.text for button in self.all(f"{selector} [aria-pressed=true]")]

    def point_at(self, element):
        ActionChains(self.browser).move_to_element(element).perform()

    def keys(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def lit(self, kind):
        return [word.get_attribute("textContent") for word in self.all(f".{kind}")]

    def translate_file(self, path):
        self["file-tab"].click()
        self["file"].send_keys(str(path))
        self.until(lambda: self["file-start"].is_displayed(), "the button")
        self["file-start"].click()


def opened(browser, server):
    """The page as someone finds it who was never there."""
    browser.set_window_size(1280, 900)
    for feature in ("Emulation.clearDeviceMetricsOverride", "Storage.clearDataForOrigin"):
        browser.execute_cdp_cmd(feature, {"origin": server.url, "storageTypes": "all"} if "Storage" in feature else {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
    browser.get(server.url)
    page = Page(browser, server)
    page.until(lambda: page.all("#to option"), "the languages")
    return page


@pytest.fixture
def page(browser, server):
    server.reset()
    yield opened(browser, server)
    complaints = [entry["message"] for entry in browser.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert not complaints  # no script error, nothing that the content security policy stopped


def test_translates_while_typing(page):
    page.translates(GARDEN, GARTEN)
    asked = page.server.requests[-1]
    assert (asked["model"], asked["text"], asked["n_best"], asked["priority"]) == ("en-de", [GARDEN], 4, "interactive")
    assert len(page.server.requests) < 10  # not one a character
    page.until(lambda: page["live"].get_attribute("textContent") == f"Translation: {GARTEN}", "the announcement")
    assert page["count"].text == f"{len(GARDEN)} / 5,000"
    page["clear"].click()
    page.until(lambda: page.output == "", "an empty translation")
    assert page.source.get_attribute("value") == "" and page.js("document.activeElement.id") == "source"


def test_lines_and_spaces_stay(page):
    page.translates("One two.\n\n  Three.  Four five.")
    assert page["output"].get_property("textContent") == "two.' One'\n\n  Three.'  five.' Four'\u200b"


def test_superseded_requests_are_cancelled(page):
    page.server.delay = lambda body: 30 if body["text"] == ["slow"] else 0
    page.source.send_keys("slow")
    page.until(lambda: page.server.texts() == ["slow"], "the request")
    page.translates("er", "slower'")
    page.until(lambda: [body["text"] for body in page.server.abandoned] == [["slow"]], "the end of the first request")


def test_languages_and_models(page):
    assert [option.text for option in Select(page["from"]).options] == ["English", "German"]
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
    page.all("#alternatives button")[1].click()
    assert page.output == others[1]
    assert [button.text for button in page.all("#alternatives button")] == [GARTEN, others[0], others[2]]


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
    page.translates(f"{GARDEN} Good day")
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

    page.choose("sentence", "2: Good day")
    page.until(lambda: page.server.requests[-1]["text"] == ["Good day"] and "▁Good" in page.js("document.getElementById('attention-view').textContent"), "the second sentence")
    page.all("[data-group=kinds] button")[1].click()
    page.all("[data-group=views] button")[1].click()
    assert "Decoder self-attention, layer 1 of 2" in page["attention-view"].text and page.all("#attention figure path")


def test_refusals_are_said_as_text(page):
    page.server.refusals = [(400, "<img src=x onerror=alert(1)> is too long", {})]
    page.source.send_keys("one")
    page.until(lambda: page.notice == "This can't be translated: <img src=x onerror=alert(1)> is too long.", "the message")
    assert not page.all("img") and page.output == "" and page["notice-text"].get_attribute("role") == "alert"
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
    assert not page.notice and "secret" not in page.js("JSON.stringify(localStorage)")


def test_too_long_a_text_is_not_sent(page):
    page.js("document.getElementById('source').value = 'x'.repeat(5000)")
    page.translates("y" + Keys.BACKSPACE)
    sent = len(page.server.requests)
    page.source.send_keys("yz")
    assert page["count"].text.startswith("5,002 / 5,000: too long") and page.source.get_attribute("aria-invalid") == "true"
    time.sleep(1)
    assert len(page.server.requests) == sent and page.output == "" and len(page.source.get_attribute("value")) == 5002


def test_hostile_text_stays_text(page):
    hostile = "</span><img src=x onerror=alert(1)> <script>alert(1)</script> &amp; "
    page.js("void (document.getElementById('source').value = arguments[0] + String.fromCharCode(0xd800))", hostile)
    page.translates(".")
    assert not page.all("main img, main script") and "onerror=alert(1)>" in page.output and "&amp;" in page.output


def test_copy(page):
    page.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    assert not page["copy"].is_enabled()
    page.translates(GARDEN, GARTEN)
    page["copy"].click()
    page.until(lambda: page["copied"].text == "Copied", "the confirmation")
    assert page.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])") == GARTEN


def test_file(page, tmp_path):
    path = tmp_path / "notes.en.txt"
    lines = [f"line {i}" if i % 10 else "" for i in range(200)]
    path.write_bytes(("\r\n".join(lines) + "\nlast").encode())
    page.server.delay = lambda body: .2
    page.translate_file(path)
    page.until(lambda: 0 < float(page["file-progress"].get_property("value")) < 201, "progress")
    page.until(lambda: page["file-state"].text == "All 201 lines are translated.", "the end")
    page.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page["file-download"].click()
    made = tmp_path / "notes.en.de.txt"
    page.until(made.exists, "the download")
    assert made.read_bytes().decode() == "\r\n".join(f"{i}' line'" if i % 10 else "" for i in range(200)) + "\nlast'"
    assert all(body["priority"] == "bulk" and len(body["text"]) <= 32 and "" not in body["text"] for body in page.server.requests)


def test_file_cancelled_and_started_again(page, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("a b\n" * 100, encoding="utf-8")
    page.server.delay = lambda body: .1 if len(page.server.requests) == 1 else 30
    page.translate_file(path)
    page.until(lambda: len(page.server.requests) == 2, "the second request")
    page["file-cancel"].click()
    page.until(lambda: page["file-state"].text == "Cancelled.", "the end")
    page.until(lambda: len(page.server.abandoned) == 1, "the end of the request")
    assert not page["file-download"].is_displayed() and len(page.server.requests) == 2
    page.server.delay = lambda body: 0
    page["file-start"].click()
    page.until(lambda: page["file-download"].is_displayed(), "the file")


def test_file_while_the_server_stops_and_returns(page, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("a b\n" * 100, encoding="utf-8")
    page.server.delay = lambda body: .3
    page.translate_file(path)
    page.until(lambda: "32 of 100" in page["file-state"].text, "a first part")
    page.server.stop()
    page.until(lambda: "does not answer" in page.notice, "the message")
    page.server.start()
    page.until(lambda: page["file-state"].text == "All 100 lines are translated.", "the end")
    assert page.server.texts().count("a b") >= 100


def test_files_that_can_not_be_read(page, tmp_path):
    path = tmp_path / "latin1.txt"
    path.write_bytes("Größe".encode("latin-1"))
    page["file-tab"].click()
    page["file"].send_keys(str(path))
    page.until(lambda: "not UTF-8" in page["file-state"].text, "the message")
    assert not page["file-start"].is_displayed()


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
    assert reached[9] == "copy" and reached[13] == "Attention"
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
        page.until(lambda: page["file-state"].text == "All 120 lines are translated.", "the end of the file")
        page["text-tab"].click()
        assert service.stop() == 0
        page.source.send_keys(" dosa")
        page.until(lambda: "does not answer" in page.notice, "the message")
        log = [entry["message"] for entry in browser.get_log("browser")]
        assert not [line for line in log if "Failed to load resource" not in line]


def test_nothing_comes_from_elsewhere(page):
    page.translates(GARDEN, GARTEN)
    loaded = page.js("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert loaded and all(address.startswith(page.server.url) for address in loaded)
    markup = (pathlib.Path(__file__).resolve().parents[2] / "src" / "web" / "page.html").read_text(encoding="utf-8")
    assert " style=" not in markup and "<style" not in markup and " on" not in markup.replace(" one", "").replace(" on:", "").lower().split("<body>")[0]
    assert json.loads(page.js("JSON.stringify(localStorage)")) == {}  # of the text nothing is kept
