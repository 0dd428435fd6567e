"""LibreTranslate's routes, with its own Python client and by hand."""

import json
import re
import time
import urllib.error
import urllib.parse

import pytest
from libretranslatepy import LibreTranslateAPI
from server import MODEL, TEXT, VARIANT, command_line, serving


@pytest.fixture(name="server", scope="module")
def run_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("serve")) as server:
        yield server


def form(server, **members):
    status, _, text = server.request(
        "POST", "/translate", urllib.parse.urlencode(members), {"Content-Type": "application/x-www-form-urlencoded"})
    return status, text


def test_libretranslates_client_works(server):
    client = LibreTranslateAPI(f"http://127.0.0.1:{server.port}")
    assert client.translate(TEXT, "ka", "su") == command_line(TEXT)[0]
    assert client.translate("Lumi & tavo, ü!", "auto", "su") == command_line("Lumi & tavo, ü!")[0]
    assert client.languages() == [
        {"code": "ka", "name": "Georgian", "targets": ["su"]}, {"code": "su", "name": "Sundanese", "targets": []}]
    with pytest.raises(urllib.error.HTTPError, match="400"):
        client.translate(TEXT, "en", "su")


def test_texts_lists_and_alternatives(server):
    one = {"source": "ka", "target": "su"}
    best = command_line(TEXT)[0]
    assert server.post("/translate", {"q": TEXT, **one}) == (200, {"translatedText": best})
    assert server.post("/translate", {"q": [TEXT, " "], **one}) == (200, {"translatedText": [best, " "]})
    n_best = [line.split(" ||| ")[1] for line in command_line(TEXT, "--n-best", "3")]
    assert server.post("/translate", {"q": TEXT, "alternatives": 2, **one})[1] == {
        "translatedText": n_best[0], "alternatives": n_best[1:]}
    assert server.post("/translate", {"q": [TEXT], "alternatives": 1, **one})[1]["alternatives"] == [[n_best[1]]]
    for many in (99, 2**63 - 1):
        status, answer = server.post("/translate", {"q": TEXT, "alternatives": many, **one})
        assert status == 400 and f"alternatives is {many}," in answer["error"]


@pytest.mark.parametrize("options, same", [
    (("--beam-size", 4, "--beam-groups", 2), {"beam_size": 6}), (("--mbr", "chrf", "--mbr-samples", 2), {"mbr_samples": 5})])
def test_alternatives_are_as_many_as_are_asked_for(tmp_path, options, same):
    """A beam is as wide as its groups need; so many outputs are drawn."""
    with serving(tmp_path, *options, "--max-beam-size", 7) as server:
        expected = [one["text"] for one in server.translate(TEXT, n_best=5, **same)[0]["sentences"][0]["hypotheses"]]
        assert len(expected) == 5
        status, answer = server.post("/translate", {"q": TEXT, "source": "ka", "target": "su", "alternatives": 4})
        assert (status, answer["translatedText"]) == (200, expected[0])
        assert answer["alternatives"] == [text for text in dict.fromkeys(expected) if text != expected[0]]
        status, answer = server.post("/translate", {"q": TEXT, "source": "ka", "target": "su", "alternatives": 6})
        assert (status == 400 and "expected at most 5 here" in answer["error"]) == ("--beam-groups" in options)


def test_a_header_tells_how_many_sentences_were_cut(tmp_path):
    with serving(tmp_path, "--max-length", "1") as server:
        def unfinished(text):
            body = json.dumps({"q": text, "source": "ka", "target": "su"})
            status, headers, _ = server.request("POST", "/translate", body, {"Content-Type": "application/json"})
            assert status == 200
            return headers["X-Attend-Unfinished"]

        assert unfinished("Lumi tavo. Keri sona!") == "2" and unfinished(["*", "…"]) is None


def test_source_auto_is_the_language_of_the_one_model(server):
    found = server.post("/translate", {"q": TEXT, "source": "auto", "target": "su"})[1]["detectedLanguage"]
    assert found == {"confidence": 0.0, "language": "ka"}
    many = server.post("/translate", {"q": [TEXT, TEXT], "source": "auto", "target": "su"})[1]["detectedLanguage"]
    assert many == [found, found]


def test_settings_are_those_that_a_page_reads(server):
    settings = server.get("/frontend/settings")
    assert settings["keyRequired"] is False
    assert settings["language"]["source"] == {"code": "ka", "name": "Georgian"}
    assert settings["filesTranslation"] is True and ".txt" in settings["supportedFilesFormat"]
    assert settings["suggestions"] is False
    assert server.post("/suggest", {"q": TEXT, "s": TEXT, "source": "ka", "target": "su"})[0] == 403


@pytest.mark.parametrize("members", [
    {"target": "su"}, {"q": TEXT}, {"q": TEXT, "target": "su", "format": "pdf"}, {"q": TEXT, "target": "su", "alternatives": "two"},
    {"q": TEXT, "target": "su", "alternatives": "-1"}, {"q": TEXT, "target": "xx"},
], ids=str)
def test_wrong_forms_are_refused(server, members):
    status, text = form(server, **members)
    assert status == 400 and '"error"' in text


def test_members_may_stand_in_the_query(server):
    members = {"q": "lumi & tavo", "source": "ka", "target": "su"}
    expected = (200, {"translatedText": command_line("lumi & tavo")[0]})
    query = urllib.parse.urlencode(members)

    def ask(path, body=None, headers=None):
        status, _, text = server.request("POST", path, body, headers)
        return status, json.loads(text)

    assert ask(f"/translate?{query}") == expected
    form_type = {"Content-Type": "application/x-www-form-urlencoded"}
    assert ask("/translate?source=ka&target=su", urllib.parse.urlencode({"q": "lumi & tavo"}), form_type) == expected
    assert server.post("/translate?source=ka&target=su", {"q": "lumi & tavo", "target": "su"}) == expected
    assert ask("/translate?q=%zz")[0] == ask("/translate")[0] == 400


def test_what_stands_twice_is_used_or_refused(server):
    form_type = {"Content-Type": "application/x-www-form-urlencoded"}
    both = [command_line("lumi")[0], command_line("tavo")[0]]

    def ask(query, body, headers=form_type):
        status, _, text = server.request("POST", f"/translate{query}", body, headers)
        return status, json.loads(text)

    languages = "source=ka&target=su"
    assert ask("", f"q=lumi&q=tavo&{languages}") == ask(f"?q=lumi&q=tavo&{languages}", "", {}) == (200, {"translatedText": both})
    parts = "".join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                    for name, value in (("q", "lumi"), ("q", "tavo"), ("source", "ka"), ("target", "su"))) + "--x--"
    multipart = {"Content-Type": "multipart/form-data; boundary=x"}
    assert ask("", parts, multipart) == (200, {"translatedText": both})
    json_type = {"Content-Type": "application/json"}
    for query, body, headers in (
            ("", f"q=lumi&{languages}&target=xx", form_type), ("", f"q=lumi&{languages}&target=su", form_type),
            ("?target=xx", f"q=lumi&{languages}", form_type), (f"?q=lumi&{languages}&target=xx", "", {}),
            ("", parts.replace("--x--", '--x\r\nContent-Disposition: form-data; name="target"\r\n\r\nsu\r\n--x--'), multipart),
            ("", '{"q": "lumi", "source": "ka", "target": "su", "target": "xx"}', json_type),
            ("?target=xx", '{"q": "lumi", "source": "ka", "target": "su"}', json_type)):
        status, answer = ask(query, body, headers)
        assert status == 400 and "target" in answer["error"] and "twice" in answer["error"], answer
    assert "q appears twice" in ask("?q=tavo", f"q=lumi&{languages}")[1]["error"]
    assert ask("", parts.replace('name="q"', 'name="q"; name="p"'), multipart)[0] == 400
    doubled = server.raw(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n"
                         b"Content-Type: application/json\r\nContent-Type: text/plain\r\n\r\n")
    assert b" 400 " in doubled[:20]
    assert server.post("/v1/translate?target=xx", {"text": "lumi"})[0] == 400


def test_without_an_option_the_limit_is_what_every_encoding_fits_into_a_body(tmp_path, server):
    """It was -1, for none, and a text of 25,000 characters got 413 where a body may have 20,000 bytes."""
    assert server.get("/frontend/settings")["charLimit"] == ((1 << 20) - 4096) // 12 == 87040
    one = {"source": "ka", "target": "su"}
    with serving(tmp_path, "--max-body-bytes", 20000, "--max-input-tokens", 4) as small:
        most = small.get("/frontend/settings")["charLimit"]
        assert most == (20000 - 4096) // 12 == 1325
        for character in "a中😀":
            text = (character * 9 + "\n") * (most // 10) + character * (most % 10)
            assert len(text) == most
            assert small.post("/translate", {"q": text, **one})[0] == form(small, q=text, **one)[0] == 200
            assert small.post("/translate", {"q": character * 20000, **one})[0] == 413
    with serving(tmp_path, "--max-body-bytes", 1024) as smallest:
        assert smallest.get("/frontend/settings")["charLimit"] == 1
        assert smallest.post("/translate", {"q": "😀", **one})[0] == 200


def test_the_limit_of_characters_is_as_it_says(tmp_path):
    with serving(tmp_path, "--max-characters", 10) as limited:
        most = limited.get("/frontend/settings")["charLimit"]
        assert most == 10
        for character in "aä中😀":
            one = {"source": "ka", "target": "su"}
            for texts, status in ((character * most, 200), (character * (most + 1), 400), ([character * 5, character * 5], 200),
                                  ([character * 5, character * 6], 400)):
                assert limited.post("/translate", {"q": texts, **one})[0] == limited.post("/v1/translate", {"text": texts})[0] == status
            assert form(limited, q=character * most, **one)[0] == 200 and form(limited, q=character * (most + 1), **one)[0] == 400
            assert limited.post("/translate", {"q": "<p>" + character * 8, "format": "html", **one})[0] == 400


def test_null_is_as_good_as_nothing(server):
    one = {"q": TEXT, "source": "ka", "target": "su"}
    nulls = {"format": None, "alternatives": None, "api_key": None, "model": None}
    assert server.post("/translate", {**one, **nulls}) == (200, {"translatedText": command_line(TEXT)[0]})
    assert "detectedLanguage" in server.post("/translate", {**one, "source": None})[1]
    assert server.post("/translate?target=su", {**one, "target": None})[0] == 200
    assert server.post("/translate", {**one, "target": None})[0] == server.post("/translate", {**one, "q": None})[0] == 400


def test_a_form_of_very_many_members_is_refused_at_once(server):
    begun = time.monotonic()
    assert form(server, **{f"a{i}": "" for i in range(100000)})[0] == 400
    assert time.monotonic() - begun < 5


def test_of_two_models_for_the_same_languages_the_first_is_the_default(tmp_path):
    with serving(tmp_path, "--model", f"second={VARIANT}", model=f"first={MODEL}") as server:
        one = {"q": TEXT, "source": "ka", "target": "su"}
        first, second = (server.translate(TEXT, model=name)[0]["text"] for name in ("first", "second"))
        assert first != second
        for asked in (one, {**one, "source": "auto"}, {**one, "model": "first"}):
            assert server.post("/translate", asked)[1]["translatedText"] == first
        assert server.post("/translate", {**one, "model": "second"})[1]["translatedText"] == second
        assert server.post("/translate", {**one, "model": "third"})[0] == 400


def test_other_types_of_body_are_refused(server):
    for unknown in ("text/xml", "application/jsonx", ""):
        for route in ("/translate", "/v1/translate"):
            assert server.request("POST", route, "<q/>", {"Content-Type": unknown})[0] == 415
    for known in ("Application/JSON", "application/json ; charset=utf-8"):
        assert server.request("POST", "/translate", "<q/>", {"Content-Type": known})[0] == 400
    form_type = {"Content-Type": "application/x-www-form-urlencoded"}
    assert server.request("POST", "/translate", "q=%zz&target=su", form_type)[0] == 400
    assert server.request("POST", "/translate", "q=%ff&target=su", form_type)[0] == 400


def html(server, text):
    status, answer = server.post("/translate", {"q": text, "source": "ka", "target": "su", "format": "html"})
    assert status == 200, answer
    return answer["translatedText"]


def aligned(server, text):
    """Words of the translation, each with the source word it goes back to."""
    best = server.translate(text, alignments=True)[0]["sentences"][0]["hypotheses"][0]
    links = {target: source for source, target in best["alignment"]}
    return [(word, links[i]) for i, word in enumerate(best["text"].split())]


def test_tags_go_where_their_words_go(server):
    words = aligned(server, "lumi tavo keri")
    for marked in range(3):
        source = [f"<b>{word}</b>" if i == marked else word for i, word in enumerate(TEXT.split())]
        found = html(server, " ".join(source))
        plain = [f"<b>{word}</b>" if at == marked else word for word, at in words]
        expected = " ".join(plain).replace("</b> <b>", " ")
        if all(at != marked for _, at in words):
            assert "<b></b>" in found
            found = found.replace("<b></b>", "")
        assert found == expected


def test_html_around_the_text_is_kept(server):
    page = '<!DOCTYPE html><div class="a>b">\n <p>lumi tavo</p><script>if (a < b) {}</script><p translate="no">keri</p>\n</div>'
    assert html(server, page) == page.replace("lumi tavo", command_line("lumi tavo")[0])
    assert html(server, "lumi tavo<br>keri") == f"{command_line('lumi tavo')[0]}<br>{command_line('keri')[0]}"
    assert html(server, "<p> </p>") == "<p> </p>"


def test_entities_are_read_and_written(server):
    expected = command_line("lumi & <tavo>")[0].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert html(server, "lumi &amp; &lt;tavo&#62;") == expected
    assert html(server, "<p>l&uuml;mi</p>") == f"<p>{command_line('lümi')[0]}</p>"


@pytest.mark.parametrize("text", ["lumi <b>tavo", "lumi</b> tavo", "lumi <img src='a'> tavo", "lumi <!-- x --> tavo", "<i>lumi <b>tavo</i> keri</b>"])
def test_no_tag_is_lost(server, text):
    found = html(server, text)
    for tag in ("<b>", "</b>", "<img src='a'>", "<!-- x -->", "<i>", "</i>"):
        assert found.count(tag) >= min(text.count(tag), 1), found


def test_hostile_html_is_answered_soon(tmp_path):
    with serving(tmp_path, "--max-sentences", "100") as server:  # no time goes into translation
        for text in ("<a" * 100000, "<" * 100000, "&" * 100000, '<a href="' * 30000, "<!--" * 50000, "<p>" * 50000, "</b>" * 50000):
            status, _ = server.post("/translate", {"q": text, "source": "ka", "target": "su", "format": "html"})
            assert status in (200, 400)


@pytest.mark.parametrize("text", ["<p>lumi <b>" + "tavo keri " * 600 + "</b> sona</p>", "<p>" + "keritavo" * 500 + "<i>" + "lumitavo" * 500 + "</i></p>"])
def test_a_sentence_of_html_that_is_too_long_is_divided(tmp_path, text):
    with serving(tmp_path, "--beam-size", "1", "--max-length", "9") as server:
        body = json.dumps({"q": text, "source": "ka", "target": "su", "format": "html"})
        status, headers, answer = server.request("POST", "/translate", body, {"Content-Type": "application/json"})
        assert (status, headers["X-Attend-Divided"]) == (200, "1")
        translated = json.loads(answer)["translatedText"]
        assert all(translated.count(tag) == 1 for tag in re.findall("<[^>]*>", text)), translated


def test_keys_are_asked_for_and_compared(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("# people\nfirst-key\n\nsecond key  \n", encoding="utf-8")
    with serving(tmp_path, "--api-keys", keys) as server:
        body = {"q": TEXT, "source": "ka", "target": "su"}
        for wrong in ({}, {"api_key": "first"}, {"api_key": "first-keyx"}, {"api_key": "# people"}, {"api_key": ""}):
            assert server.post("/translate", {**body, **wrong})[0] == 403
        assert server.post("/translate", {**body, "api_key": "first-key"})[0] == 200
        assert server.post("/translate", {**body, "api_key": "second key"})[0] == 200
        client = LibreTranslateAPI(f"http://127.0.0.1:{server.port}", "first-key")
        assert client.translate(TEXT, "ka", "su") == command_line(TEXT)[0]
        assert server.post("/v1/translate", {"text": TEXT})[0] == 403
        for scheme in ("Bearer", "bearer", "BEARER "):
            assert server.post("/v1/translate", {"text": TEXT}, {"Authorization": f"{scheme} first-key"})[0] == 200
        assert server.post("/v1/translate", {"text": TEXT}, {"Authorization": "Basic first-key"})[0] == 403
        assert server.get("/health") and server.get("/frontend/settings")["keyRequired"] is True
        assert "first" not in server.log.read_text(encoding="utf-8")
