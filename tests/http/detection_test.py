"""Which language a text is in: /detect, and the model that `source: auto` means."""

import urllib.error

import pytest
from libretranslatepy import LibreTranslateAPI
from server import VARIANT, copied_model, serving

ENGLISH = "A dog runs through the snow."
GERMAN = "Ein Hund rennt im Schnee."
FRENCH = "Un chien court dans la neige."


@pytest.fixture(name="server", scope="module")
def run_server(tmp_path_factory):
    """Two models into English, which translate differently."""
    folder = tmp_path_factory.mktemp("serve")
    german = copied_model(folder / "de", ["de", "en"])
    french = copied_model(folder / "fr", ["fr", "en"], of=VARIANT)
    with serving(folder, "--model", french, model=german) as server:
        status, answer = server.post("/detect", {"q": GERMAN})
        if status == 501:
            assert "libcld2-dev" in answer["error"]
            with pytest.raises(urllib.error.HTTPError, match="501"):
                LibreTranslateAPI(f"http://127.0.0.1:{server.port}").detect(GERMAN)
            pytest.skip(answer["error"])
        yield server


def test_languages_are_detected(server):
    client = LibreTranslateAPI(f"http://127.0.0.1:{server.port}")
    for text, language in ((ENGLISH, "en"), (GERMAN, "de"), (FRENCH, "fr")):
        found = client.detect(text)
        assert found[0]["language"] == language and 80 < found[0]["confidence"] <= 100
    assert 0 < client.detect("Hallo")[0]["confidence"] <= 50
    assert client.detect("123") == [{"confidence": 0.0, "language": "de"}]
    assert server.post("/detect", {"q": 3})[0] == server.post("/detect", {})[0] == 400


def test_auto_means_the_model_of_the_language(server):
    for text, language in ((GERMAN, "de"), (FRENCH, "fr"), (f"{FRENCH} {FRENCH} {FRENCH} {GERMAN}", "fr")):
        named = server.post("/translate", {"q": text, "source": language, "target": "en"})[1]["translatedText"]
        status, answer = server.post("/translate", {"q": text, "source": "auto", "target": "en"})
        assert status == 200 and answer["translatedText"] == named
        assert answer["detectedLanguage"]["language"] == language and answer["detectedLanguage"]["confidence"] > 50
        status, answer = server.post("/v1/translate", {"text": ["", text], "source": "auto"})
        assert answer["model"] == f"{language}-en" and answer["translations"][1]["text"] == named
    page = {"q": f"<p title='{GERMAN} {GERMAN}'>{FRENCH}</p>", "source": "auto", "target": "en", "format": "html"}
    assert server.post("/translate", page)[1]["detectedLanguage"]["language"] == "fr"


def test_a_language_that_no_model_reads_is_named_by_the_client(server):
    status, answer = server.post("/translate", {"q": ENGLISH, "source": "auto", "target": "en"})
    assert status == 400 and "language 'en', which no model here reads" in answer["error"]
    assert server.post("/translate", {"q": "123", "source": "auto", "target": "en"})[0] == 400  # several models fit
    assert server.post("/translate", {"q": GERMAN, "source": "auto", "target": "fr"})[0] == 400


def test_a_named_model_does_not_take_another_language(server):
    for ask in (lambda text, source: server.post("/v1/translate", {"text": text, "source": source, "model": "fr-en"}),
                lambda text, source: server.post("/translate", {"q": text, "source": source, "target": "en", "model": "fr-en"})):
        for text, language in ((GERMAN, "de"), (ENGLISH, "en")):
            status, answer = ask(text, "auto")
            assert status == 400 and f"language '{language}', which the model 'fr-en' does not read" in answer["error"]
            assert ask(text, "fr")[0] == 200
        assert ask("123", "auto")[0] == ask(FRENCH, "auto")[0] == 200
    found = server.post("/translate", {"q": FRENCH, "source": "auto", "target": "en", "model": "fr-en"})[1]["detectedLanguage"]
    assert found["language"] == "fr" and found["confidence"] > 50
    assert server.post("/v1/translate", {"text": GERMAN, "model": "fr-en"})[1]["model"] == "fr-en"


def test_each_text_of_a_list_is_detected(server):
    def ask(*texts):
        return server.post("/translate", {"q": texts, "source": "auto", "target": "en"})

    status, answer = ask(GERMAN, "123", "Die Kinder spielen heute nach der Schule auf der Straße.")
    assert status == 200 and [one["language"] for one in answer["detectedLanguage"]] == ["de"] * 3
    assert [one["confidence"] > 50 for one in answer["detectedLanguage"]] == [True, False, True]
    for texts, error in (([GERMAN, FRENCH], "texts 1 and 2"), (["123", FRENCH, FRENCH, GERMAN], "texts 2 and 4"),
                         ([GERMAN, ENGLISH], "text 2 is in the language 'en'")):
        assert ask(*texts)[0] == 400 and error in ask(*texts)[1]["error"]
        assert server.post("/v1/translate", {"text": texts, "source": "auto"})[0] == 400


def test_the_one_model_does_not_take_another_language(tmp_path):
    with serving(tmp_path, model=copied_model(tmp_path / "de", ["de", "en"])) as server:
        assert server.post("/translate", {"q": GERMAN, "source": "auto", "target": "en"})[0] == 200
        status, answer = server.post("/translate", {"q": FRENCH, "source": "auto", "target": "en"})
        assert status == 400 and "'fr'" in answer["error"]
        assert server.post("/translate", {"q": FRENCH, "source": "de", "target": "en"})[0] == 200
        assert server.post("/translate", {"q": "123", "source": "auto", "target": "en"})[1]["detectedLanguage"]["confidence"] == 0
