"""The native API against the command line: the same texts, options and scores."""

import json
import re
import subprocess
import threading

import pytest
from server import ATTEND, MODEL, TEXT, command_line, events_of, serving


@pytest.fixture(name="server", scope="module")
def run_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("serve")) as server:
        yield server


def test_a_translation_is_the_command_lines(server):
    answer = server.translate(TEXT)[0]
    assert answer["text"] == command_line(TEXT)[0]
    assert answer["sentences"][0]["source"] == TEXT
    best = answer["sentences"][0]["hypotheses"][0]
    assert f"{best['score']:.6f}" == command_line(TEXT, "--scores")[0].split(" ||| ")[1]
    assert best["finished"] in (True, False) and best["log_probability"] <= best["score"] <= 0


OPTIONS = [
    {"beam_size": 1}, {"beam_size": 7, "length_penalty": 1.5}, {"n_best": 4}, {"max_length": 5}, {"min_length": 30},
    {"allow_unknown": True, "n_best": 3}, {"alignments": True}, {"alignments": True, "alignment_layer": 1, "n_best": 2},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_search_option_means_what_it_means_there(server, options):
    arguments = [f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}") for name, value in options.items()]
    hypotheses = server.translate(TEXT, **options)[0]["sentences"][0]["hypotheses"]
    lines = [line.split(" ||| ") for line in command_line(TEXT, "--scores", *arguments)]
    assert len(hypotheses) == len(lines) == options.get("n_best", 1)
    for one, fields in zip(hypotheses, lines, strict=True):
        fields = fields[1:] if "n_best" in options else fields
        links = " ".join(f"{source}-{target}" for source, target in one.get("alignment", []))
        expected = [one["text"], f"{one['score']:.6f}", *([links] if options.get("alignments") else [])]
        assert fields == expected


def test_every_search_option_of_the_command_line_is_there(server):
    rows = subprocess.run([ATTEND, "translate", "--help-markdown"], capture_output=True, text=True, check=True).stdout
    names = {name.replace("-", "_") for name in re.findall(r"^\| `--([\w-]+)`", rows, flags=re.M)}
    not_of_a_request = {"config", "model", "adapter", "type", "shortlist", "estimator", "input", "output", "scores", "max_input_tokens", "overlong",
                        "batch_sentences", "batch_tokens", "threads", "quiet", "data_dir", "resume", "shard", "progress", "device",
                        "model_weights",  # of models together: the service runs each alone
                        # which a client puts before its text, and a file
                        "prefix", "target_prefix", "json", "memory_source", "memory_target"}
    schema = server.get("/openapi.json")["components"]["schemas"]["NativeRequest"]
    assert names - not_of_a_request <= set(schema["properties"])


def test_quality_is_the_command_lines_and_of_the_whole_text(server):
    translation = server.translate(TEXT, quality=True, n_best=2)[0]
    [line] = command_line(TEXT, "--quality", "--json", "--n-best=2")
    names = ("text", "quality", "word_quality", "doubtful_words")
    [sentence] = translation["sentences"]
    assert [[one[name] for name in names] for one in sentence["hypotheses"]] == [
        [one[name] for name in names] for one in json.loads(line)["hypotheses"]]
    assert translation["quality"] == pytest.approx(sentence["hypotheses"][0]["quality"], rel=1e-12)
    plain = server.translate(TEXT)[0]
    assert "quality" not in plain and not set(names[1:]) & set(plain["sentences"][0]["hypotheses"][0])
    assert server.translate("***", quality=True)[0]["quality"] == 100


def test_the_servers_defaults_are_its_options(tmp_path):
    with serving(tmp_path, "--beam-size", "1", "--n-best", "1") as server:
        assert server.translate(TEXT)[0]["text"] == command_line(TEXT, "--beam-size", "1")[0]
        schema = server.get("/openapi.json")["components"]["schemas"]["NativeRequest"]
        assert schema["properties"]["beam_size"]["default"] == 1


def test_white_space_between_sentences_is_kept(server):
    text = "  lumi tavo.  Keri sona!\r\n\r\n\tRudu vesta.\nsona mipa \u3000\n"
    one = lambda sentence: command_line(sentence)[0]  # noqa: E731
    sentences = ["lumi tavo.", "Keri sona!", "Rudu vesta.", "sona mipa"]
    answer = server.translate(text)[0]
    assert [part["source"] for part in answer["sentences"]] == sentences
    assert answer["text"] == (
        f"  {one(sentences[0])}  {one(sentences[1])}\r\n\r\n\t{one(sentences[2])}\n{one(sentences[3])} \u3000\n")
    lines = server.translate(text, split_sentences=False)[0]
    assert [part["source"] for part in lines["sentences"]] == ["lumi tavo.  Keri sona!", "Rudu vesta.", "sona mipa"]


def test_sentences_are_split_by_word_or_as_older_clients_say(server):
    text = "Lumi tavo. Keri sona!"
    for splitting, sources in [(None, 2), ("auto", 2), ("always", 2), (True, 2), ("never", 1), (False, 1)]:
        options = {} if splitting is None else {"split_sentences": splitting}
        assert len(server.translate(text, **options)[0]["sentences"]) == sources, splitting
    status, answer = server.post("/v1/translate", {"text": text, "split_sentences": "maybe"})
    assert status == 400 and "expected one of auto, always, never" in answer["error"]


def test_what_was_cut_is_told(server):
    texts = [TEXT, "*** 😀"]
    cut, whole = server.translate(texts, max_length=1)
    assert cut["finished"] is False and cut["sentences"][0]["hypotheses"][0]["finished"] is False
    assert whole["finished"] is True and whole["text"] == texts[1]


def test_characters_that_the_vocabulary_lacks_are_counted(server):
    texts, before = ["lumi 天地.\nkeri 天", TEXT, "天地", "*** 😀"], server.metric("attend_unknown_characters_total")
    found = server.translate(texts)
    assert [one["unknown_characters"] for one in found] == [3, 0, 2, 0]
    assert [sentence["unknown_characters"] for sentence in found[0]["sentences"]] == [2, 1]
    assert server.metric("attend_unknown_characters_total") == before + 5
    done = events_of(server, {"text": texts, "stream": True})[-1][1]
    assert [one["unknown_characters"] for one in done["translations"]] == [3, 0, 2, 0]
    body = json.dumps({"q": texts, "source": "ka", "target": "su"})
    assert server.request("POST", "/translate", body, {"Content-Type": "application/json"})[1]["X-Attend-Unknown-Characters"] == "5"


def test_a_text_without_a_word_comes_back_as_it_is(server):
    for text in ["", " ", "\n\n", "\t \r\n\u3000"]:
        assert server.translate(text) == [
            {"model": "ka-su", "text": text, "finished": True, "divided": False, "unknown_characters": 0, "sentences": []}]
    assert [one["text"] for one in server.translate(["", TEXT, " "])][::2] == ["", " "]
    assert server.translate([]) == []


def test_what_is_too_long_is_refused_and_never_cut(tmp_path):
    with serving(tmp_path, "--max-input-tokens", "20", "--max-sentences", "5") as server:
        status, answer = server.post("/v1/translate", {"text": "lumi tavo " * 400})
        assert status == 400 and "more than 5 sentences" in answer["error"]
        status, answer = server.post("/v1/translate", {"text": "lumi" * 9 + "\u0301" * 10000})
        assert status == 400 and "a sentence has 20036 bytes, expected at most 6400" in answer["error"]
        status, answer = server.post("/v1/translate", {"text": "Lumi.\n" * 6})
        assert status == 400 and "more than 5 sentences" in answer["error"]
        status, answer = server.post("/v1/translate", {"text": [""] * 6})
        assert status == 400 and "6 texts" in answer["error"]
        long_line = "Lumi tavo keri. Sona. " * 4  # too long as a line, and short sentences
        sentences = [one["source"] for one in server.translate(long_line, split_sentences=False)[0]["sentences"]]
        assert " ".join(sentences) == long_line.strip() and 1 < len(sentences) < 8
        assert all(one.endswith(".") for one in sentences)
        status, answer = server.post("/v1/translate", {"text": "Lumi tavo keri. " * 60, "split_sentences": False})
        assert status == 400 and "a line has" in answer["error"] and "tokens, expected at most 100" in answer["error"]


@pytest.mark.parametrize("text", ["lumi tavo, keri paku " * 40, "keritavo" * 60, "天地玄黄a" * 100, "e\u0301" * 400, "http://lumi/" + "tavo/keri?" * 40])
def test_a_sentence_that_is_too_long_is_translated_in_parts_as_the_command_does(tmp_path, text):
    with serving(tmp_path, "--max-input-tokens", "20") as server:
        whole, long = server.translate([TEXT, text], max_length=3)
        assert (whole["divided"], long["divided"]) == (False, True) and len(long["sentences"]) > 1
        assert "".join(part["source"] for part in long["sentences"]).replace(" ", "") == text.replace(" ", "")
        assert [long["text"]] == command_line(text, "--max-input-tokens", "20", "--max-length", "3")
        done = events_of(server, {"text": text, "stream": True})[-1][1]
        assert done["translations"][0]["divided"] is True
        body = json.dumps({"q": [text, TEXT, text], "source": "ka", "target": "su"})
        headers = server.request("POST", "/translate", body, {"Content-Type": "application/json"})[1]
        assert headers["X-Attend-Divided"] == "2"
        assert server.post("/v1/translate", {"text": "lumi tavo " * 40, "attention": True})[0] == 400


@pytest.mark.parametrize(("body", "part"), [
    ({"text": TEXT, "beam_sise": 3}, "did you mean 'beam_size'"),
    ({"text": TEXT, "beam_size": "3"}, "an integer"),
    ({"text": TEXT, "beam_size": 0}, "1 to 64"),
    ({"text": TEXT, "beam_size": 17}, "at most 16"),
    ({"text": TEXT, "n_best": 5}, "n_best is 5"),
    ({"text": TEXT, "min_length": 5, "max_length": 3}, "min_length is 5"),
    ({"text": TEXT, "alignments": True, "alignment_layer": 3}, "expected 1 to 2"),
    ({"text": TEXT, "model": "other"}, "no model fits model 'other'; expected one of ka-su (ka to su)"),
    ({"text": TEXT, "source": "de"}, "no model fits"),
    ({"text": TEXT, "batch_tokens": 5}, "batch_tokens"),
    ({"text": [TEXT, 3]}, "text holds a number, expected a text or a list of texts"),
    ({"text": None}, "text is null, expected a text or a list of texts"),
    ({"txt": TEXT}, "expected an object with text"),
    ([TEXT], "expected an object with text"),
], ids=str)
def test_wrong_requests_say_what_was_expected(server, body, part):
    status, answer = server.post("/v1/translate", body)
    assert status == 400
    assert part in answer["error"]


def test_attention_of_each_hypothesis_is_what_the_command_draws(server, tmp_path):
    path, same = tmp_path / "attention.json", 0
    sentences = [server.translate(TEXT, attention=True, n_best=3, max_length=length)[0]["sentences"][0] for length in (0, 1)]
    flat = lambda weights: [x for layer in weights for head in layer for row in head for x in row]  # noqa: E731
    for sentence, hypothesis in ((sentence, one) for sentence in sentences for one in sentence["hypotheses"]):
        source, own = sentence["attention"], hypothesis["attention"]
        assert len(own["cross"]) == 2 and len(own["cross"][0]) == 4
        assert len(own["cross"][0][0]) == len(own["target_pieces"])
        for weights in (source["encoder_self"], own["decoder_self"], own["cross"]):
            for row in (row for layer in weights for head in layer for row in head):
                assert abs(sum(row) - 1) < 1e-4
        assert source["source_pieces"][-1] == "</s>" and own["target_pieces"][0] == "<s>"
        assert "".join(own["target_pieces"][1:]).replace("▁", " ").strip() == hypothesis["text"]
        subprocess.run([ATTEND, "attention", "--model", MODEL, "--source", TEXT, "--target", hypothesis["text"], "--output", path], check=True)
        drawn = json.loads(path.read_text(encoding="utf-8"))["kinds"]
        assert flat(source["encoder_self"]) == pytest.approx(flat(drawn["encoder"]["weights"]), abs=1e-5)
        if own["target_pieces"] == drawn["decoder"]["queries"]:  # the text's pieces are those of the search
            same += 1
            seen = [[[row[: i + 1] for i, row in enumerate(head)] for head in layer] for layer in drawn["decoder"]["weights"]]
            assert flat(own["decoder_self"]) == pytest.approx(flat(seen), abs=1e-5)
            assert flat(own["cross"]) == pytest.approx(flat(drawn["cross"]["weights"]), abs=1e-5)
    assert same > 0
    status, answer = server.post("/v1/translate", {"text": "Lumi. Tavo.", "attention": True})
    assert status == 400 and "attention" in answer["error"]
    status, answer = server.post("/v1/translate", {"text": TEXT, "attention": True, "n_best": 5, "beam_size": 5})
    assert status == 400 and "at most 4 with attention" in answer["error"]
    status, answer = server.post("/v1/translate", {"text": TEXT, "attention": True, "max_length": 1000})
    assert status == 400 and "at most 178 with attention" in answer["error"]
    line = {"text": "Lumi tavo. " * 100, "attention": True, "split_sentences": False}
    assert "expected at most 128 with attention" in server.post("/v1/translate", line)[1]["error"]


def test_the_servers_defaults_give_way_to_attention(tmp_path):
    with serving(tmp_path, "--max-length", "300", "--n-best", "5", "--beam-size", "5") as server:
        assert len(server.translate(TEXT, attention=True)[0]["sentences"][0]["hypotheses"]) == 4
        assert server.post("/v1/translate", {"text": TEXT, "attention": True, "n_best": 5})[0] == 400


def test_a_stream_has_an_event_for_each_sentence(server):
    texts = ["Lumi tavo. Keri sona!", "", "rudu vesta"]
    whole = server.translate(texts)
    events = events_of(server, {"text": texts, "stream": True})
    assert [name for name, _ in events] == ["sentence"] * 3 + ["done"]
    for _, sentence in events[:-1]:
        place = whole[sentence.pop("text_index")]["sentences"][sentence.pop("sentence_index")]
        assert sentence == place
    assert [one["text"] for one in events[-1][1]["translations"]] == [one["text"] for one in whole]
    assert [name for name, _ in events_of(server, {"text": " ", "stream": True})] == ["done"]
    assert events_of(server, {"text": [], "stream": True}) == [("done", {"translations": []})]


def test_a_stream_that_meets_its_deadline_says_so(tmp_path):
    with serving(tmp_path, "--threads", "1", "--batch-sentences", "1") as server:
        many = {"text": ["lumi"] * 1000, "stream": True, "min_length": 400, "max_length": 400}
        events = events_of(server, {**many, "deadline_ms": 3000})
        assert {name for name, _ in events[:-1]} == {"sentence"}
        assert events[-1][0] == "error" and "deadline" in events[-1][1]["error"]
        server.wait_for_metric("attend_live_sentences", 0)
        assert [event["status"] for event in server.events() if event.get("route") == "/v1/translate"] == [504]


def test_clients_at_once_get_what_they_get_alone(server):
    texts = [f"{TEXT} {'sona ' * (i % 7)}mipa" for i in range(24)]
    expected = command_line("\n".join(texts))
    found = [None] * len(texts)

    def ask(i):
        found[i] = server.translate(texts[i])[0]["text"]

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_models_health_and_head(server):
    assert server.get("/v1/models")["models"] == [{
        "name": "ka-su", "task": "translation", "source": "ka", "target": "su", "routes": ["/v1/translate"], "encoder_layers": 2, "encoder_heads": 4, "decoder_layers": 2,
        "decoder_heads": 4, "beam_size": 4}]
    assert server.get("/health") == {"status": "ok"}
    status, headers, text = server.request("HEAD", "/health")
    assert (status, headers["Content-Length"], text) == (200, "15", "")


def test_the_page_and_what_it_loads(server):
    status, headers, page = server.request("GET", "/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    files = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert {"page.js", "page.css", "attention.css"} <= set(files)
    types = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml; charset=utf-8", "json": "application/json"}
    for file in files:
        status, headers, text = server.request("GET", f"/{file}")
        assert (status, headers["Content-Type"]) == (200, types[file.split(".")[-1]]) and text, file
    assert server.request("GET", "/page.html")[0] == server.request("GET", "/attention.html")[0] == 404
    assert server.request("POST", "/")[0] == 405


@pytest.mark.parametrize("path", ["/", "/page.js", "/health", "/nothing"])
def test_answers_carry_security_headers_and_no_cors(server, path):
    _, headers, _ = server.request("GET", path, headers={"Origin": "https://example.org"})
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Access-Control-Allow-Origin"] is None
    assert server.request("OPTIONS", "/v1/translate")[0] == 405


def test_cors_is_there_where_it_is_asked_for(tmp_path):
    with serving(tmp_path, "--cors-origin", "https://example.org") as server:
        status, headers, _ = server.request("OPTIONS", "/v1/translate")
        assert status == 204 and headers["Access-Control-Allow-Methods"] == "POST"
        assert server.request("GET", "/nothing")[1]["Access-Control-Allow-Origin"] == "https://example.org"
