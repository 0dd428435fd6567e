"""Which language a text is in: /detect, and the model that `source: auto` means."""

import re
import urllib.error

import pytest
from libretranslatepy import LibreTranslateAPI
from server import ENDLESS, VARIANT, copied_model, events_of, serving

ENGLISH = "A dog runs through the snow."
GERMAN = "Ein Hund rennt im Schnee."
FRENCH = "Un chien court dans la neige."
CHILDREN = "Die Kinder spielen heute nach der Schule auf der Straße."
TEXTS = [GERMAN, f"{FRENCH} {FRENCH}", f"{CHILDREN}\n\n{GERMAN}", FRENCH, f" {FRENCH}", GERMAN]
LANGUAGES = ["de", "fr", "de", "fr", "fr", "de"]


@pytest.fixture(name="server", scope="module")
def run_server(tmp_path_factory):
    """Two models into English, which translate differently."""
    folder = tmp_path_factory.mktemp("serve")
    models = {"de": copied_model(folder / "de", ["de", "en"]), "fr": copied_model(folder / "fr", ["fr", "en"], of=VARIANT)}
    with serving(folder, "--model", models["fr"], model=models["de"]) as server:
        server.models = models
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


def translated(server, texts, **members):
    """Of /translate: the texts, and the languages and confidences that were detected."""
    status, answer = server.post("/translate", {"q": texts, "source": "auto", "target": "en", **members})
    assert status == 200, answer
    return answer["translatedText"], [(one["language"], one["confidence"]) for one in answer.get("detectedLanguage", [])]


def test_each_text_of_a_list_goes_to_the_model_of_its_language(server):
    alone = [server.translate(text, source=language)[0] for text, language in zip(TEXTS, LANGUAGES, strict=True)]
    assert [one["model"] for one in alone] == [f"{language}-en" for language in LANGUAGES]
    for order in (1, -1):
        answer = server.post("/v1/translate", {"text": TEXTS[::order], "source": "auto", "target": "en"})[1]
        assert answer == {"model": f"{LANGUAGES[::order][0]}-en", "translations": alone[::order]}
        texts, found = translated(server, TEXTS[::order])
        assert texts == [one["text"] for one in alone[::order]] and [language for language, _ in found] == LANGUAGES[::order]
        assert all(confidence > 50 for _, confidence in found)
    singly = [translated(server, [text])[1][0] for text in TEXTS]
    assert translated(server, TEXTS)[1] == singly


def test_alternatives_of_texts_in_several_languages(server):
    def ask(text, source):
        return server.post("/translate", {"q": text, "source": source, "target": "en", "alternatives": 2})[1]["alternatives"]

    assert ask(TEXTS, "auto") == [ask(text, language) for text, language in zip(TEXTS, LANGUAGES, strict=True)]


def test_a_stream_of_texts_in_several_languages(server):
    whole = server.translate(TEXTS, source="auto")
    events = events_of(server, {"text": TEXTS, "source": "auto", "stream": True})
    sentences = [(i, j) for i, one in enumerate(whole) for j in range(len(one["sentences"]))]
    assert [name for name, _ in events] == ["sentence"] * len(sentences) + ["done"]
    places = [(sentence.pop("text_index"), sentence.pop("sentence_index")) for _, sentence in events[:-1]]
    assert sorted(places) == sentences
    for (i, j), (_, sentence) in zip(places, events[:-1], strict=True):
        assert sentence == whole[i]["sentences"][j]
    assert events[-1][1] == {"translations": [{name: one[name] for name in one if name != "sentences"} for one in whole]}


def test_pages_in_several_languages(server):
    pages = [f"<p title='{GERMAN} {GERMAN}'>{FRENCH}</p><p>{FRENCH} <b>Ils jouent</b> dehors.</p>", f"<ul><li>{GERMAN}<li>{CHILDREN}</ul>",
             "<p> </p>", f"<div>{FRENCH}</div>"]
    languages = ["fr", "de", "fr", "fr"]
    alone = [server.post("/translate", {"q": page, "source": language, "target": "en", "format": "html"})[1]["translatedText"]
             for page, language in zip(pages, languages, strict=True)]
    texts, found = translated(server, pages, format="html")
    assert texts == alone and [language for language, _ in found] == languages


@pytest.mark.parametrize(("texts", "languages", "unknown"), [
    ([GERMAN, FRENCH, "Hallo", "Bonjour", "OK", "123"], "de fr de fr de de", ["OK", "123"]),  # OK is guessed to be English
    (["OK", FRENCH, "Hallo", GERMAN], "fr fr de de", ["OK"]),
    (["Hallo", FRENCH, "123"], "fr fr fr", ["Hallo", "123"]),
    (["123", "Bonjour", "Hallo", "OK"], "fr fr de fr", ["123", "OK"]),
], ids=str)
def test_a_text_too_short_to_be_sure_is_guessed_or_goes_with_the_others(server, texts, languages, unknown):
    output, found = translated(server, texts)
    assert [language for language, _ in found] == languages.split()
    assert [text for text, (_, confidence) in zip(texts, found, strict=True) if confidence > 50] == [text for text in texts if text in (GERMAN, FRENCH)]
    assert [text for text, (_, confidence) in zip(texts, found, strict=True) if confidence == 0] == unknown
    assert output == [server.translate(text, source=language)[0]["text"] for text, language in zip(texts, languages.split(), strict=True)]


def test_a_text_of_a_list_in_a_language_that_no_model_reads_is_named(server):
    for texts, number in (([GERMAN, ENGLISH], 2), ([GERMAN, FRENCH, ENGLISH], 3)):
        for path, member in (("/translate", "q"), ("/v1/translate", "text")):
            status, answer = server.post(path, {member: texts, "source": "auto", "target": "en"})
            assert status == 400 and f"text {number} is in the language 'en', which no model here reads" in answer["error"]
    status, answer = server.post("/translate", {"q": [FRENCH, GERMAN], "source": "auto", "target": "en", "model": "fr-en"})
    assert status == 400 and "text 2 is in the language 'de', which the model 'fr-en' does not read" in answer["error"]


def test_the_log_and_the_metrics_count_the_sentences_of_each_model(server):
    def counted(model):
        return [int(re.search(rf'^{name}{{.*model="{model}-en".*}} (\d+)', server.request("GET", "/metrics")[2], flags=re.M)[1])
                for name in ("attend_sentences_total", "attend_unknown_characters_total")]

    server.translate([GERMAN, FRENCH], source="auto")  # both are there
    before = [counted("de"), counted("fr")]
    unknown = [sum(one["unknown_characters"] for one in server.translate(text, source=language))
               for text, language in (([GERMAN, CHILDREN], "de"), (f"{FRENCH} {FRENCH} {FRENCH}", "fr"))]
    alone = [event for event in server.events() if event["event"] == "request"][-2:]
    server.translate([GERMAN, f"{FRENCH} {FRENCH} {FRENCH}", CHILDREN], source="auto")
    event = [event for event in server.events() if event["event"] == "request"][-1]
    assert (event["model"], event["sentences"]) == ("de-en,fr-en", 5)
    assert event["source_pieces"] == alone[0]["source_pieces"] + alone[1]["source_pieces"]
    assert [counted("de"), counted("fr")] == [
        [sentences + 2 * more, characters + 2 * lost] for (sentences, characters), more, lost in zip(before, (2, 3), unknown, strict=True)]


def test_limits_are_of_all_texts_in_all_languages(server, tmp_path):
    limits = ("--max-sentences", "4", "--queue-sentences", "4", "--batch-sentences", "1", "--threads", "1")
    with serving(tmp_path, "--model", server.models["fr"], *limits, model=server.models["de"]) as limited:
        def texts(german, french, **options):
            return {"text": [f"{GERMAN} " * german, f"{FRENCH} " * french], "source": "auto", **options}

        def ask(*counts, **options):
            return limited.post("/v1/translate", texts(*counts, **options))

        def await_load(live, waiting):
            limited.wait_for_metric("attend_live_sentences", live)
            limited.wait_for_metric("attend_waiting_sentences", waiting)

        assert ask(2, 2)[0] == 200
        assert ask(2, 3) == (400, {"error": "the request has more than 4 sentences; send less text at once"})
        status, answer = ask(1, 1, attention=True)
        assert status == 400 and "more than 1 sentence, the most with attention" in answer["error"]
        with limited.connect() as other:
            other.sendall(limited.post_bytes("/v1/translate", texts(0, 4, **ENDLESS)))
            await_load(1, 3)
            for options in ({}, {"stream": True}):  # there is room for the German sentence, but not for both French ones
                assert ask(1, 2, **ENDLESS, **options)[0] == 503
                await_load(1, 3)
        await_load(0, 0)
        assert ask(2, 2, **ENDLESS, deadline_ms=500)[0] == 504
        await_load(0, 0)
        assert ask(1, 1)[0] == 200


def test_the_one_model_does_not_take_another_language(tmp_path):
    with serving(tmp_path, model=copied_model(tmp_path / "de", ["de", "en"])) as server:
        assert server.post("/translate", {"q": GERMAN, "source": "auto", "target": "en"})[0] == 200
        status, answer = server.post("/translate", {"q": FRENCH, "source": "auto", "target": "en"})
        assert status == 400 and "'fr'" in answer["error"]
        assert server.post("/translate", {"q": FRENCH, "source": "de", "target": "en"})[0] == 200
        assert server.post("/translate", {"q": "123", "source": "auto", "target": "en"})[1]["detectedLanguage"]["confidence"] == 0
