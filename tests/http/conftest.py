"""A browser, and the translation page in it, for the tests that ask for them."""

import shutil

import pytest
from mock_server import MockServer

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    if not CHROMIUM or not DRIVER:
        pytest.skip("no chromium and chromedriver; run tools/setup")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900",
                     "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"):  # a microphone that beeps
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=webdriver.ChromeService(DRIVER), options=options)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def mock():
    server = MockServer()
    yield server
    if server.server:
        server.stop()


@pytest.fixture
def page(browser, mock):
    from web_page import opened  # where selenium is

    browser.get("about:blank")  # the page before asks no more
    mock.await_silence()
    mock.reset()
    yield opened(browser, mock)
    complaints = [entry["message"] for entry in browser.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert not complaints  # no script error, nothing that the content security policy stopped
