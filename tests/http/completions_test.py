"""Language models served beside translation: /v1/completions by the official OpenAI client, against what `attend generate` writes."""

import json
import subprocess
import threading
import time

import openai
import pytest
from random_models import write_language_model
from server import ATTEND, LANGUAGE_MODEL, MODEL, PATIENCE, TEXT, command_line, serving

PROMPTS = ["The", "A small", "", "The old man sees\nThe"]


def generated(*prompts, **options):
    """What the program writes: for each prompt its outputs."""
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = subprocess.run(
        [ATTEND, "generate", *prompts, "--model", LANGUAGE_MODEL, "--json", *arguments],
        capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE)
    return [json.loads(line)["outputs"] for line in done.stdout.splitlines()]


@pytest.fixture(name="server", scope="module")
def running(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"tales={LANGUAGE_MODEL}") as server:
        yield server


@pytest.fixture(name="client", scope="module")
def openai_client(server):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)


@pytest.mark.parametrize("options", [
    {"temperature": 0}, {"seed": 3, "n": 3}, {"seed": 4, "top_p": 0.8}, {"seed": 5, "top_k": 3, "repetition_penalty": 1.2},
    {"min_p": 0.2, "min_tokens": 30}, {"stop": "house", "seed": 2}])
def test_a_prompt_gives_the_text_of_the_program(client, options):
    extra = {name: value for name, value in options.items() if name in ("top_k", "min_p", "repetition_penalty", "min_tokens")}
    named = {name: value for name, value in options.items() if name not in extra}
    answer = client.completions.create(model="tales", prompt=PROMPTS, max_tokens=40, **named, extra_body=extra)
    wanted = [output for outputs in generated(*PROMPTS, max_tokens=40, **options) for output in outputs]
    assert [choice.index for choice in answer.choices] == list(range(len(wanted)))
    assert [choice.text for choice in answer.choices] == [output["text"] for output in wanted]
    assert [choice.finish_reason for choice in answer.choices] == [
        "length" if output["ending"] == "length" else "stop" for output in wanted]
    assert answer.usage.completion_tokens == sum(len(output["ids"]) for output in wanted)
    assert answer.usage.prompt_tokens == sum(len(prompt) for prompt in PROMPTS)  # a token a character
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert (answer.object, answer.model) == ("text_completion", "tales")
    # Alone as well.
    alone = client.completions.create(model="tales", prompt=PROMPTS[1], max_tokens=40, **named, extra_body=extra)
    n = options.get("n", 1)
    assert [choice.text for choice in alone.choices] == [choice.text for choice in answer.choices[n:2 * n]]


def test_a_stream_comes_in_pieces_that_are_the_whole_text(client):
    options = {"model": "tales", "prompt": PROMPTS[:2], "max_tokens": 60, "n": 2, "seed": 9, "stop": ["boat"], "echo": True}
    whole = client.completions.create(**options)
    texts, endings, pieces, usage = [""] * 4, [None] * 4, 0, None
    for event in client.completions.create(**options, stream=True, stream_options={"include_usage": True}):
        usage = event.usage
        for choice in event.choices:
            pieces += 1
            texts[choice.index] += choice.text
            endings[choice.index] = choice.finish_reason or endings[choice.index]
    assert texts == [choice.text for choice in whole.choices]
    assert endings == [choice.finish_reason for choice in whole.choices]
    assert pieces > 50  # it comes as it is made
    assert usage == whole.usage


def test_logprobs_are_those_of_score(client):
    prompt = "The dog sees"
    answer = client.completions.create(model="tales", prompt=prompt, max_tokens=12, seed=6, logprobs=3, echo=True).choices[0]
    told = answer.logprobs
    assert "".join(told.tokens) == answer.text
    assert told.text_offset == list(range(len(answer.text)))
    output = generated(prompt, max_tokens=12, seed=6)[0][0]
    assert told.token_logprobs[len(prompt):] == pytest.approx(output["token_log_probabilities"][:len(output["ids"])], abs=1e-9)
    for token, logprob, top in zip(told.tokens, told.token_logprobs, told.top_logprobs):
        assert top[token] == logprob
        assert len(top) in (3, 4)
    plain = client.completions.create(model="tales", prompt=prompt, max_tokens=12, seed=6, logprobs=0).choices[0].logprobs
    assert plain.tokens == told.tokens[len(prompt):]
    assert plain.token_logprobs == pytest.approx(told.token_logprobs[len(prompt):], abs=1e-9)
    assert plain.text_offset == told.text_offset[len(prompt):]
    assert plain.top_logprobs is None
    # The prompt alone, as those who score texts ask.
    scored = client.completions.create(model="tales", prompt=prompt, max_tokens=0, logprobs=1, echo=True)
    assert scored.choices[0].text == prompt
    assert scored.choices[0].logprobs.token_logprobs == pytest.approx(told.token_logprobs[:len(prompt)], abs=1e-9)
    assert scored.usage.completion_tokens == 0


def test_a_greedy_text_takes_the_likeliest_tokens(client):
    told = client.completions.create(model="tales", prompt="The", max_tokens=30, temperature=0, logprobs=2).choices[0].logprobs
    assert told.tokens == [max(top, key=top.get) for top in told.top_logprobs]
    assert all(len(top) == 2 for top in told.top_logprobs)


def test_tokens_of_a_stop_text_are_not_told(client):
    answer = client.completions.create(model="tales", prompt="The", max_tokens=60, temperature=0, logprobs=0, stop=" ").choices[0]
    assert (answer.text, answer.logprobs.tokens) == ("", [])


def test_a_prompt_is_never_longer_than_learned_positions(tmp_path):
    (tmp_path / "model").mkdir()
    with serving(tmp_path, model=write_language_model(tmp_path / "model", positions="learned", max_positions=20)) as server:
        most = server.get("/v1/models")["models"][0]["max_prompt_tokens"]
        assert most == 19  # and bos
        assert server.post("/v1/completions", {"prompt": [4] * most})[0] == 200
        assert server.post("/v1/completions", {"prompt": [4] * (most + 1)})[0] == 400


def test_models_are_listed_for_both_apis(server, client):
    assert [model.id for model in client.models.list()] == ["ka-su", "tales"]
    assert client.models.retrieve("tales").id == "tales"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("others")
    models = server.get("/v1/models")["models"]
    assert [(model["name"], model["task"]) for model in models] == [("ka-su", "translation"), ("tales", "language_model")]
    assert (models[1]["encoder_layers"], models[1]["decoder_layers"]) == (0, 2)


def test_translation_does_not_see_the_language_model(server):
    assert server.translate(TEXT)[0]["text"] == command_line(TEXT, model=MODEL)[0]
    assert [language["code"] for language in server.get("/languages")] == ["ka", "su"]
    status, answer = server.post("/v1/translate", {"text": TEXT, "model": "tales"})
    assert (status, "language_model" in answer["error"]) == (400, True)


@pytest.mark.parametrize(("body", "part"), [
    ({}, "expected an object with prompt"),
    ({"prompt": 7}, "prompt is a number, expected a text or a list of texts"),
    ({"prompt": ["a", {}]}, "prompt holds an object, expected a text or a list of texts"),
    ({"prompt": ["a", 1]}, "prompt holds a number, expected a text"),
    ({"prompt": [1, "a"]}, "prompt holds a text among token ids"),
    ({"prompt": [1, 2.5]}, "prompt holds 2.5 among token ids"),
    ({"prompt": [[1], 2]}, "prompt holds a number among lists of token ids"),
    ({"prompt": [1, 9999]}, "id 9999 is outside the vocabulary; expected 0 to"),
    ({"prompt": [4] * 5000}, "prompt 1 has 5000 tokens, expected at most"),
    ({"prompt": []}, "0 prompts"),
    ({"prompt": "a", "n": 2, "temperature": 0}, "n is 2, but at temperature 0 all outputs are the same; raise temperature, or set n to 1"),
    ({"prompt": "a", "temperature": 1e-38}, "temperature is 1e-38, expected 0 (always the likeliest token) or at least 0.01"),
    ({"prompt": "a", "model": "ka-su"}, "the task of the model 'ka-su' is translation; ask it at /v1/translate"),
    ({"prompt": "a", "presence_penalty": 1}, "presence_penalty is not supported"),
    ({"prompt": "a", "max_tokens": 0}, "echo"),
    ({"prompt": "a", "stream": True, "logprobs": 1}, "with stream logprobs is 0 at most"),
    ({"prompt": "a", "stream": True, "logprobs": 0, "echo": True}, "with stream logprobs is 0 at most, and without echo"),
    ({"prompt": "a", "stream": True, "stream_options": "on"}, 'stream_options is a text, expected an object such as {"include_usage": true}'),
    ({"prompt": "a", "logprobs": 4, "n": 4, "max_tokens": 10001}, "could have 200020 log-probabilities, expected at most 200000; lower max_tokens, n or logprobs"),
    ({"prompt": ["aaaaaaaaaa"] * 20, "logprobs": 0, "echo": True, "max_tokens": 9991}, "could have 200020 log-probabilities"),
    ({"prompt": "a", "temprature": 1}, "temperature"),
    ({"prompt": ["a"] * 200, "n": 6}, "200 prompts"),
    ({"prompt": "a" * 5000}, "prompt 1 has 5000 tokens, expected at most"),
])
def test_what_cannot_be_is_refused(server, body, part):
    status, answer = server.post("/v1/completions", body)
    assert status == 400
    assert part in answer["error"]["message"]


def test_the_client_sees_a_refusal_as_one(client):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.completions.create(model="tales", prompt="a", frequency_penalty=1)
    assert refusal.value.body == {
        "message": "frequency_penalty is not supported; leave it out", "type": "invalid_request_error", "param": None, "code": None}
    assert (refusal.value.type, refusal.value.code, refusal.value.param) == ("invalid_request_error", None, None)
    with pytest.raises(openai.NotFoundError, match="no model fits model 'others'; expected one of tales"):
        client.completions.create(model="others", prompt="a")
    with pytest.raises(openai.NotFoundError) as missing:
        client.models.retrieve("others")
    assert missing.value.body["message"] == "there is no model of this name; /v1/models lists them"
    with pytest.raises(openai.APIStatusError) as large:
        client.completions.create(model="tales", prompt="a" * (1 << 21))
    assert (large.value.status_code, large.value.body["message"]) == (
        413, "the body is larger than 1048576 bytes; send less at once, or raise the server's --max-body-bytes")


def test_the_client_sees_the_error_of_a_stream(client):
    """Pieces come, and then the deadline."""
    events = client.completions.create(
        model="tales", prompt="The", max_tokens=900000, stream=True, extra_body={"min_tokens": 900000, "deadline_ms": 500})
    with pytest.raises(openai.APIError, match="^the deadline has passed; send less text at once$") as failure:
        for event in events:
            assert event.choices[0].text
    assert failure.value.type == "server_error"


def test_an_unknown_key_is_what_the_client_takes_for_one(tmp_path):
    (tmp_path / "keys").write_text("alice: secret\n", encoding="utf-8")
    with serving(tmp_path, "--api-keys", tmp_path / "keys", model=LANGUAGE_MODEL) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        assert openai.OpenAI(base_url=url, api_key="secret").completions.create(model="", prompt="a", max_tokens=3).choices
        with pytest.raises(openai.AuthenticationError) as refusal:
            openai.OpenAI(base_url=url, api_key="wrong").completions.create(model="", prompt="a")
        assert refusal.value.body["message"] == "the API key is not known"
        assert refusal.value.response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("options", [{}, {"n": 3}, {"stop": ["house", "e s"]}, {"stop": " ", "temperature": 0}])
def test_a_stream_tells_the_log_probabilities_of_the_whole_answer(client, options):
    options = {"model": "tales", "prompt": PROMPTS[:2], "max_tokens": 50, "seed": 4, "logprobs": 0, **options}
    whole = client.completions.create(**options).choices
    told = [{"tokens": [], "token_logprobs": [], "text_offset": []} for _ in whole]
    pieces = 0
    for event in client.completions.create(**options, stream=True):
        for choice in event.choices:
            pieces += bool(choice.logprobs.tokens)
            assert choice.logprobs.top_logprobs is None
            for name, values in told[choice.index].items():
                values += getattr(choice.logprobs, name)
    assert told == [{name: getattr(choice.logprobs, name) for name in told[0]} for choice in whole]
    assert pieces > 20 or options.get("temperature") == 0


def test_token_ids_are_taken_for_prompts(client):
    written = [outputs[0] for outputs in generated("The", "A", max_tokens=9, temperature=0)]
    texts, ids = [output["text"] for output in written], [output["ids"] for output in written]
    options = {"model": "tales", "max_tokens": 20, "temperature": 0, "echo": True, "logprobs": 1}
    wanted = client.completions.create(prompt=texts, **options)
    for given, choices in ((ids, wanted.choices), (ids[0], wanted.choices[:1])):
        answer = client.completions.create(prompt=given, **options)
        assert answer.choices == choices
    assert answer.usage.prompt_tokens == 9


def test_neutral_members_and_nulls_are_taken(server):
    status, answer = server.post("/v1/completions", {
        "prompt": "The", "temperature": 0, "max_tokens": 9, "presence_penalty": 0, "logit_bias": {}, "best_of": 1, "user": "x",
        "suffix": None, "seed": None, "stop": None})
    assert (status, answer["choices"][0]["text"]) == (200, generated("The", temperature=0, max_tokens=9)[0][0]["text"])


def test_requests_run_together_and_are_counted(server):
    before = server.metric("attend_sentences_total")
    answers = [None] * 8

    def ask(i):
        answers[i] = server.post("/v1/completions", {"prompt": PROMPTS[i % 4], "seed": i, "max_tokens": 50})[1]

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(8):
        assert answers[i]["choices"][0]["text"] == generated(PROMPTS[i % 4], seed=i, max_tokens=50)[0][0]["text"]
    assert server.metric("attend_sentences_total") == before + 8


def test_who_leaves_frees_the_queue(server, client):
    stream = client.completions.create(model="tales", prompt="The", max_tokens=900000, extra_body={"min_tokens": 900000}, stream=True)
    next(iter(stream))
    server.wait_for_metric("attend_live_sentences", 1)
    stream.close()
    for _ in range(PATIENCE * 10):
        if server.metric("attend_live_sentences") == 0:
            break
        time.sleep(0.1)
    assert server.metric("attend_live_sentences") == 0


def test_a_deadline_ends_a_completion(server):
    status, _ = server.post("/v1/completions", {"prompt": "The", "max_tokens": 900000, "min_tokens": 900000, "deadline_ms": 300})
    assert status == 504
