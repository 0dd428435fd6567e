"""Estimators of quality in the service: the estimates are those of the command line, and belong to models by name."""

import json

import pytest
import random_models
from server import MODEL, TEXT, command_line, failed_start, serving


@pytest.fixture(name="estimator", scope="module")
def write_estimator(tmp_path_factory):
    return random_models.write_estimator(tmp_path_factory.mktemp("models") / "estimator")


def qualities(*arguments, text=TEXT):
    [line] = command_line(text, "--quality", "--json", "--n-best", "2", *arguments)
    return [(one["text"], one["quality"], one["doubtful_words"]) for one in json.loads(line)["hypotheses"]]


def test_estimates_are_the_command_lines_and_belong_to_models_by_name(tmp_path, estimator):
    with serving(tmp_path, "--estimator", f"judged={estimator}", "--model", f"judged={MODEL}", model=f"plain={MODEL}") as server:
        for model, arguments in (("judged", ("--estimator", estimator)), ("plain", ())):
            [found] = server.translate(TEXT, model=model, quality=True, n_best=2)
            [sentence] = found["sentences"]
            assert [(one["text"], one["quality"], one["doubtful_words"]) for one in sentence["hypotheses"]] == qualities(*arguments)
            assert found["quality"] == pytest.approx(sentence["hypotheses"][0]["quality"], rel=1e-12)
        assert "quality" not in server.translate(TEXT, model="judged")[0]
        # In many batches at once, and where there is nothing to translate.
        texts = [TEXT, "sona mipa", "***"] * 20
        found = [each["quality"] for each in server.translate(texts, model="judged", quality=True)]
        assert found == found[:3] * 20 and found[2] == 100
        assert found[1] == pytest.approx(qualities("--estimator", estimator, text="sona mipa")[0][1], rel=1e-12)
        asked = {"text": TEXT, "quality": True}
        judged, plain = (server.post("/v1/alternatives", {**asked, "model": model})[1]["alternatives"][0] for model in ("judged", "plain"))
        assert (judged["text"], judged["score"]) == (plain["text"], plain["score"]) and judged["quality"] != plain["quality"]


def test_an_adapter_has_its_models_estimator(tmp_path, estimator):
    adapter = random_models.write_adapter(tmp_path / "acme", MODEL)
    with serving(tmp_path, "--estimator", estimator, "--adapter", adapter) as server:
        name = next(model["name"] for model in server.get("/v1/models")["models"] if "/" in model["name"])
        found = server.translate(TEXT, model=name, quality=True, n_best=2)[0]["sentences"][0]["hypotheses"]
        expected = qualities("--estimator", estimator, "--adapter", adapter)
        assert [(one["text"], one["quality"], one["doubtful_words"]) for one in found] == expected


def test_wrong_estimators_are_refused(tmp_path, estimator):
    words = random_models.write_estimator(tmp_path / "words", ["05", "good"])
    for arguments, status, error in (
            (("--model", MODEL, "--estimator", f"other={estimator}"), 2, "no model is named 'other', expected one of "),
            (("--model", MODEL, "--model", f"b={MODEL}", "--estimator", estimator), 2, "expected NAME=DIRECTORY"),
            (("--model", MODEL, "--estimator", MODEL), 2, "is a model of translation, expected one of classification"),
            (("--model", f"c={estimator}", "--model", MODEL, "--estimator", f"c={estimator}"), 2, "the task of the model 'c' is classification, expected a model"),
            (("--model", f"c={estimator}", "--shortlist", words), 2, "the task of the model 'c' is classification, expected a model"),
            (("--model", MODEL, "--estimator", words), 3, "has the label 'good'")):
        done = failed_start(*map(str, arguments))
        assert done.returncode == status and error in done.stderr, done.stderr
