"""A parser served: /v1/parse against the command line."""

import json
import subprocess
import threading

import pytest
import random_models
from server import ATTEND, PATIENCE, serving

TEXTS = ["Lumi (tavo) kesi.", "", "tavokesi , lumi", "lumi " * 20]


@pytest.fixture(name="model", scope="module")
def random_parser(tmp_path_factory):
    return random_models.write_parser(tmp_path_factory.mktemp("parser"))


@pytest.fixture(name="server", scope="module")
def running(tmp_path_factory, model):
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"trees={model}", model=None) as server:
        yield server


def ask(server, **body):
    status, answer = server.post("/v1/parse", body)
    assert status == 200, answer
    return answer


def printed(model, *options):
    done = subprocess.run(
        [ATTEND, "parse", "--model", model, "--json", "--beam-size", "3", *options], input="".join(f"{text}\n" for text in TEXTS),
        capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_answers_are_the_lines_of_the_program(server, model):
    answer = ask(server, text=TEXTS, beam_size=3)
    assert answer["model"] == "trees"
    assert answer["results"] == [{**line, "text": text} for line, text in zip(printed(model, "--plain"), TEXTS)]
    words = [text.split() for text in TEXTS if text]
    results = ask(server, words=words, beam_size=3)["results"]
    assert [result["tree"] for result in results] == [line["tree"] for line in printed(model) if line["words"]]
    assert ask(server, words=words[0], beam_size=3)["results"] == results[:1]


def test_requests_that_run_together_have_their_own_answers(server):
    alone = [ask(server, text=text, beam_size=1 + number % 3) for number, text in enumerate(TEXTS * 6)]
    together = [None] * len(alone)

    def post(number):
        together[number] = ask(server, text=TEXTS[number % len(TEXTS)], beam_size=1 + number % 3)

    threads = [threading.Thread(target=post, args=(number,)) for number in range(len(alone))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


@pytest.mark.parametrize(("body", "part"), [
    ({}, "text or words"), ({"text": "a", "words": ["a"]}, "leave out one"), ({"words": []}, "expected words"), ({"words": [""]}, "expected words"),
    ({"text": "a", "beam_size": 0}, "beam_size"), ({"text": "a", "top": 3}, "top")])
def test_wrong_requests_are_refused(server, body, part):
    status, answer = server.post("/v1/parse", body)
    assert status == 400 and part in answer["error"], answer
