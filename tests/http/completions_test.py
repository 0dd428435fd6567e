"""Language models served beside translation: /v1/completions by the official OpenAI client, against what `attend generate` writes."""

import json
import subprocess
import threading
import time

import openai
import pytest
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
    ({"prompt": [[1, 2]]}, "prompt is no text"),
    ({"prompt": []}, "0 prompts"),
    ({"prompt": "a", "n": 2, "temperature": 0}, "at temperature 0 all outputs are the same"),
    ({"prompt": "a", "model": "ka-su"}, "the task of the model 'ka-su' is translation; ask it at /v1/translate"),
    ({"prompt": "a", "model": "others"}, "expected one of tales"),
    ({"prompt": "a", "presence_penalty": 1}, "presence_penalty is not supported"),
    ({"prompt": "a", "max_tokens": 0}, "echo"),
    ({"prompt": "a", "stream": True, "logprobs": 1}, "logprobs is not for stream"),
    ({"prompt": "a", "temprature": 1}, "temperature"),
    ({"prompt": ["a"] * 200, "n": 6}, "200 prompts"),
    ({"prompt": "a" * 5000}, "prompt 1 has 5000 tokens, expected at most"),
])
def test_what_cannot_be_is_refused(server, body, part):
    status, answer = server.post("/v1/completions", body)
    assert status == 400
    assert part in answer["error"]


def test_the_client_sees_a_refusal_as_one(client):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.completions.create(model="tales", prompt="a", frequency_penalty=1)
    assert refusal.value.body == "frequency_penalty is not supported; leave it out"


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
