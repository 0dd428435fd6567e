"""The translation page as its tests drive it, in a real Chromium."""

import contextlib
import os
import pathlib
import time

import pytest

pytest.importorskip("selenium", reason="no selenium; run tools/setup")
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException  # noqa: E402
from selenium.webdriver import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402,F401
from selenium.webdriver.support.ui import Select  # noqa: E402

GARDEN = "The old garden behind the house is quiet in the morning."
GARTEN = "Der alte Garten hinter dem Haus ist am Morgen still."
PATIENCE = 60  # seconds, on a machine that does other things


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

    def until(self, seen, what="what was expected", patience=PATIENCE):
        """What `seen` gives, once it gives something; what the page drew anew meanwhile is looked for again."""

        def look():
            try:
                return seen()
            except (NoSuchElementException, StaleElementReferenceException):
                return None

        end = time.monotonic() + patience
        while not (value := look()):
            assert time.monotonic() < end, f"{what} did not come; the page reads: {self.js('document.body.innerText')}"
            time.sleep(.05)
        return value

    @property
    def output(self):
        return self["output"].text

    @property
    def notice(self):
        return self["notice-text"].text if self["notice"].is_displayed() else ""

    def translates(self, text, into=None):
        self.source.send_keys(text)
        self.until(lambda: self.output and self["output"].get_attribute("aria-busy") == "false", "a translation")
        assert into is None or self.output == into

    def choose(self, name, label):
        Select(self[name]).select_by_visible_text(label)

    def texts(self, selector):
        """Of all at one instant: the page may draw them anew at the next."""
        return self.js("[...document.querySelectorAll(arguments[0])].map(element => element.textContent)", selector)

    def pressed(self, selector):
        return self.texts(f"{selector} [aria-pressed=true]")

    def point_at(self, element):
        ActionChains(self.browser).move_to_element(element).perform()

    def tap(self, element):
        x, y = self.js("(r => [r.left + r.width / 2, r.top + r.height / 2])(arguments[0].getBoundingClientRect())", element)
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            self.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def keys(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def lit(self, kind):
        return self.texts(f".{kind}")

    def translate_file(self, path):
        self["file-tab"].click()
        self["file"].send_keys(str(path))
        self.until(lambda: self["file-start"].is_displayed(), "the button")
        self["file-start"].click()

    def downloaded(self, path):
        """The bytes that the browser saves as `path`, where an empty file stands at first."""
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(path.parent)})
        self["file-download"].click()
        return self.until(lambda: path.exists() and path.read_bytes(), "the download")


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


@contextlib.contextmanager
def seen_as(browser, width, scheme):
    """The page in a window of this width, and in these colours."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})


def drawn(browser, name):
    """Keeps a picture of the window where a folder for them is named."""
    if folder := os.environ.get("ATTEND_PICTURES"):
        browser.save_screenshot(str(pathlib.Path(folder) / f"{name}.png"))
