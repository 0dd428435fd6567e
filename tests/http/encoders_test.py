"""Encoders served: /v1/tag, /v1/classify and /v1/fill against the command line, /v1/embeddings by the official OpenAI client."""

import base64
import json
import pathlib
import struct
import subprocess
import threading

import openai
import pytest
from encoder_models import trained_encoders
from server import ATTEND, LANGUAGE_MODEL, MODEL, PATIENCE, serving

TAGGER, CLASSIFIER, MASKED_LANGUAGE_MODEL = trained_encoders("tagger", "classifier", "masked_language_model")
CLOTH = [
    "Kanchipuram sarees have contrast borders, zari-rich pallus and a silk body.",
    "🧵 Cafe\u0301 shawls of 👩‍🎨 Bhuj have ikat borders.",
    "",
    "The border is plain."]
NEWS = ["fresh bread tastes of pepper", "snow covers the hills", "", "the captain scores again"]
MASKED = ["green [MASK] red apple", "[MASK] sky white [MASK]", "[MASK]"]
TASKS = {"/v1/tag": ("tag", CLOTH, {}), "/v1/classify": ("classify", NEWS, {"top": 3}), "/v1/fill": ("fill", MASKED, {"top": 4})}
MODELS = {"tag": TAGGER, "classify": CLASSIFIER, "fill": MASKED_LANGUAGE_MODEL, "embed": MASKED_LANGUAGE_MODEL}


def command_line(command, texts, *options, model=None):
    """What the program writes: JSON of each line."""
    file = ("--input", "-") if command == "fill" else ()
    json_lines = () if command in ("tag", "embed") else ("--json",)
    done = subprocess.run(
        [ATTEND, command, "--model", model or MODELS[command], "--threads", "2", *file, *json_lines, *map(str, options)],
        input="".join(f"{text}\n" for text in texts), capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(name="server", scope="module")
def running(tmp_path_factory):
    models = {"cloth": TAGGER, "news": CLASSIFIER, "things": MASKED_LANGUAGE_MODEL, "tales": LANGUAGE_MODEL}
    named = [argument for name, model in models.items() for argument in ("--model", f"{name}={model}")]
    with serving(tmp_path_factory.mktemp("serve"), *named) as server:
        yield server


@pytest.fixture(name="client", scope="module")
def openai_client(server):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)


def ask(server, route, **body):
    status, answer = server.post(route, body)
    assert status == 200, answer
    return answer


@pytest.mark.parametrize("route", TASKS)
def test_answers_are_the_lines_of_the_program(server, route):
    command, texts, options = TASKS[route]
    answer = ask(server, route, text=texts, **options)
    assert answer["model"] == {"tag": "cloth", "classify": "news", "fill": "things"}[command]
    arguments = [f"--{name}={value}" for name, value in options.items()]
    assert answer["results"] == command_line(command, texts, *arguments)


@pytest.mark.parametrize("route", TASKS)
def test_a_text_alone_and_in_a_list_gives_equal_json(server, route):
    _, texts, options = TASKS[route]
    many = ask(server, route, text=texts * 20, **options)["results"]
    assert many == many[:len(texts)] * 20
    for text, result in zip(texts, many):
        assert ask(server, route, text=text, **options)["results"] == [result]


def test_requests_that_run_together_have_their_own_answers(server):
    before = server.metric("attend_sentences_total")
    answers = {}

    def post(number):
        route, top = [("/v1/tag", None), ("/v1/classify", 1), ("/v1/classify", 2), ("/v1/embeddings", None)][number % 4]
        name = "input" if route == "/v1/embeddings" else "text"
        answers[number] = (route, top, ask(server, route, **{name: NEWS * 9, "model": "cloth" if top is None else "news"}, **({"top": top} if top else {})))

    threads = [threading.Thread(target=post, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(16):
        assert answers[number] == answers[number % 4]
    assert [len(classes["classes"]) for classes in answers[1][2]["results"] + answers[2][2]["results"]] == [1] * 36 + [2] * 36
    assert server.metric("attend_sentences_total") == before + 16 * 36


def test_entities_stand_where_they_say(server):
    results = ask(server, "/v1/tag", text=CLOTH)["results"]
    assert [(entity["text"], entity["label"]) for entity in results[0]["entities"]][:2] == [("Kanchipuram", "CLUSTER"), ("contrast", "FEATURE")]
    found = [(result["text"], entity) for result in results for entity in result["entities"]]
    assert any(entity["begin"] > 2 and "🧵" in text for text, entity in found)
    for text, entity in found:
        assert text[entity["begin"]:entity["end"]] == entity["text"]  # Python's characters are code points, too
        assert 0 < entity["probability"] <= 1


def test_words_that_are_divided_already(server):
    words = CLOTH[0].replace(",", " ,").replace(".", " .").split()
    result = ask(server, "/v1/tag", words=words, word_labels=True)["results"][0]
    assert result["text"] == " ".join(words)
    assert [word["text"] for word in result["words"]] == words
    several = ask(server, "/v1/tag", words=[words, ["silk"]], word_labels=True)["results"]
    assert several[0] == result and len(several) == 2
    plain = ask(server, "/v1/tag", text=CLOTH[0], word_labels=True)["results"][0]
    assert [word["label"] for word in plain["words"]] == [word["label"] for word in result["words"]]
    assert "words" not in ask(server, "/v1/tag", text=CLOTH[0])["results"][0]


def as_f32(vector):
    return list(struct.unpack(f"<{len(vector)}f", struct.pack(f"<{len(vector)}f", *vector)))


@pytest.mark.parametrize("options", [{}, {"pooling": "first"}, {"normalize": True}])
@pytest.mark.parametrize("model", ["things", "cloth", "news"])
def test_embeddings_are_those_of_the_program(client, model, options):
    directory = {"things": MASKED_LANGUAGE_MODEL, "cloth": TAGGER, "news": CLASSIFIER}[model]
    arguments = ["--normalize" if value is True else f"--{name}={value}" for name, value in options.items()]
    wanted = [line["embedding"] for line in command_line("embed", NEWS, *arguments, model=directory)]
    for form in ("float", "base64"):
        answer = client.embeddings.create(model=model, input=NEWS, encoding_format=form, extra_body=options)
        vectors = [item.embedding for item in answer.data]
        if form == "base64":
            vectors = [list(struct.unpack(f"<{len(wanted[0])}f", base64.b64decode(vector))) for vector in vectors]
        assert vectors == (wanted if form == "float" else [as_f32(vector) for vector in wanted])
    default = client.embeddings.create(model=model, input=NEWS[0], extra_body=options)  # the client asks for base64 by itself
    assert [item.embedding for item in default.data] == [as_f32(wanted[0])]
    assert [item.index for item in answer.data] == [0, 1, 2, 3]
    assert (answer.object, answer.data[0].object, answer.model) == ("list", "embedding", model)
    assert answer.usage.prompt_tokens == answer.usage.total_tokens > 0


def test_tokens_are_counted(client):
    answer = client.embeddings.create(model="things", input=["red apple blue", "sky"])
    assert answer.usage.prompt_tokens == 4


def test_texts_that_are_cut_are_told(server):
    text = " ".join(["bread"] * 100)
    assert ask(server, "/v1/classify", text=[text, "bread"])["results"][0]["cut"] is True
    assert ask(server, "/v1/classify", text=[text, "bread"])["results"][1]["cut"] is False
    assert ask(server, "/v1/fill", text="[MASK] " + "apple " * 100)["results"][0]["cut"] is True
    assert ask(server, "/v1/embeddings", model="things", input=["apple " * 100, "apple"])["data"][0]["cut"] is True
    assert ask(server, "/v1/embeddings", model="things", input="apple " * 100)["usage"]["prompt_tokens"] == 64
    # Words of a long text are all labelled.
    tagged = ask(server, "/v1/tag", text="silk " * 300, word_labels=True)["results"][0]
    assert len(tagged["words"]) == 300


def test_models_say_where_they_answer(server, client):
    models = {model["name"]: model for model in server.get("/v1/models")["models"]}
    assert {name: model["routes"] for name, model in models.items()} == {
        "ka-su": ["/v1/translate"], "tales": ["/v1/completions"], "cloth": ["/v1/tag", "/v1/embeddings"],
        "news": ["/v1/classify", "/v1/embeddings"], "things": ["/v1/fill", "/v1/embeddings"]}
    assert models["news"]["labels"] == ["food", "sport", "weather"]
    assert (models["things"]["max_text_tokens"], models["things"]["embedding_width"]) == (4096, 32)
    assert client.models.retrieve("cloth").id == "cloth"


@pytest.mark.parametrize(("route", "body", "part"), [
    ("/v1/tag", {}, "expected an object with text or words"),
    ("/v1/tag", {"text": "a", "words": ["a"]}, "it has text and words"),
    ("/v1/tag", {"text": []}, "0 texts, expected 1 to"),
    ("/v1/tag", {"words": []}, "expected words as a list"),
    ("/v1/tag", {"words": ["a", ["b"]]}, "expected words as a list"),
    ("/v1/tag", {"words": [["a"], "b"]}, "expected words as a list"),
    ("/v1/tag", {"words": [["a", ""]]}, "expected words as a list"),
    ("/v1/tag", {"text": "a", "word_lables": True}, "word_labels"),
    ("/v1/tag", {"text": "a", "model": "news"}, "the task of the model 'news' is classification; ask it at /v1/classify or /v1/embeddings"),
    ("/v1/tag", {"text": "a", "model": "ka-su"}, "the task of the model 'ka-su' is translation; ask it at /v1/translate"),
    ("/v1/tag", {"text": "a", "model": "others"}, "expected one of cloth"),
    ("/v1/tag", {"text": ["a"] * 1025}, "1025 texts, expected 1 to 1024"),
    ("/v1/tag", {"text": ["a", "silk " * 5000]}, "tokens, expected at most 4096; shorten it"),
    ("/v1/classify", {"text": 1}, "text is a number, expected a text or a list of texts"),
    ("/v1/classify", {"text": "a", "top": 0}, "top"),
    ("/v1/classify", {"text": ["a"] * 300, "top": 1000}, "asks for 300000 classes, tokens or numbers"),
    ("/v1/fill", {"text": "a red apple"}, "no [MASK]"),
    ("/v1/fill", {"text": "apple " * 70 + "[MASK]"}, "[MASK] stands after the 64 tokens"),
    ("/v1/fill", {"text": "a [MASK]", "model": "tales"}, "ask it at /v1/completions"),
    ("/v1/embeddings", {"input": "a"}, "several models fit"),
    ("/v1/embeddings", {"input": [[1, 2]], "model": "news"}, "input holds token ids, expected a text or a list of texts"),
    ("/v1/embeddings", {"input": [1, 2], "model": "news"}, "input holds token ids, expected a text or a list of texts"),
    ("/v1/embeddings", {"input": [None], "model": "news"}, "input holds null, expected a text or a list of texts"),
    ("/v1/embeddings", {"input": "a", "model": "news", "dimensions": 3}, "dimensions is not supported"),
    ("/v1/embeddings", {"input": "a", "model": "news", "pooling": "tokens"}, "pooling"),
    ("/v1/embeddings", {"input": "a", "model": "tales"}, "ask it at /v1/completions"),
    ("/v1/translate", {"text": "a", "model": "cloth"}, "ask it at /v1/tag or /v1/embeddings"),
])
def test_what_cannot_be_is_refused(server, route, body, part):
    status, answer = server.post(route, body)
    message = answer["error"]["message"] if route == "/v1/embeddings" else answer["error"]
    assert (status, part in message) == (400, True), answer


def test_a_wrong_text_does_not_spoil_those_beside_it(server):
    """It shares its batch with requests that are right."""
    statuses = []

    def post(number):
        statuses.append(server.post("/v1/fill", {"text": ["no mask here", *MASKED] if number % 2 else MASKED})[0])

    threads = [threading.Thread(target=post, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] * 6 + [400] * 6


def test_limits_and_keys_hold(tmp_path):
    (tmp_path / "keys").write_text("alice: secret\n", encoding="utf-8")
    with serving(tmp_path, "--model", f"cloth={TAGGER}", "--api-keys", tmp_path / "keys", "--max-characters", 20, "--max-sentences", 2,
                 "--max-input-tokens", 8, model=MODEL) as server:
        key = {"Authorization": "Bearer secret"}
        assert server.post("/v1/tag", {"text": "silk"})[0] == 403
        assert server.post("/v1/tag", {"text": "silk"}, key)[0] == 200
        for body, part in [({"text": "a" * 21}, "characters"), ({"text": ["a"] * 3}, "3 texts"), ({"text": "a b c d e f g h i"}, "tokens")]:
            status, answer = server.post("/v1/tag", body, key)
            assert (status, part in answer["error"]) == (400, True), answer
        assert server.request("POST", "/v1/tag", "{}", {"Content-Type": "text/plain", **key})[0] == 415


def test_a_model_is_named_where_there_is_none(tmp_path):
    with serving(tmp_path, model=MODEL) as server:
        status, answer = server.post("/v1/tag", {"text": "silk"})
        assert (status, answer["error"]) == (400, "there is no model for /v1/tag at the moment")
        status, answer = server.post("/v1/embeddings", {"input": "silk", "model": "cloth"})
        assert (status, answer["error"]["message"]) == (404, "there is no model for /v1/embeddings at the moment")
    with serving(tmp_path, model=TAGGER) as server:
        for route, body in [("/translate", {"q": "silk", "source": "ka", "target": "su"}), ("/v1/translate", {"text": "silk"}), ("/translate", {"q": "silk", "source": "auto", "target": "su"})]:
            status, answer = server.post(route, body)
            assert (status, answer["error"]) == (400, f"there is no model for {route} at the moment")


def test_a_model_that_is_not_there_is_missed_as_the_openai_api_does(server, client):
    with pytest.raises(openai.NotFoundError, match="no model fits model 'others'; expected one of "):
        client.embeddings.create(model="others", input="a")
    assert server.post("/v1/tag", {"text": "a", "model": "others"})[0] == 400


def test_encoders_run_on_the_threads_of_all_models(tmp_path):
    def threads_of(server):
        return len(list(pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()))

    (tmp_path / "one").mkdir()
    with serving(tmp_path / "one", model=MODEL) as server:
        alone = threads_of(server)
    with serving(tmp_path, "--model", TAGGER, "--model", CLASSIFIER, "--model", MASKED_LANGUAGE_MODEL, model=MODEL) as server:
        assert threads_of(server) == alone
        ask(server, "/v1/tag", text=CLOTH * 9)
        ask(server, "/v1/embeddings", model="classifier", input=NEWS * 9)
        assert threads_of(server) == alone


def test_a_bulk_of_texts_leaves_others_their_time(server):
    bulk = threading.Thread(target=lambda: ask(server, "/v1/tag", text=[CLOTH[0] * 10] * 1000))
    bulk.start()
    for _ in range(5):
        assert ask(server, "/v1/tag", text=CLOTH[0])["results"]
        assert ask(server, "/v1/classify", text=NEWS[0])["results"]
    bulk.join()
