"""Adapters beside their models: chosen by name, each with the bits that it has alone, loaded and gone like models."""

import concurrent.futures
import json
import shutil
import subprocess

import pytest
import random_models
from server import ATTEND, LANGUAGE_MODEL, MODEL, TEXT, VARIANT, failed_start, serving

TEXTS = [TEXT, "sona mipa", "lumi sona keri tavo", "mipa", "tavo tavo lumi"]


@pytest.fixture(name="adapters", scope="module")
def write_adapters(tmp_path_factory):
    """Of three customers."""
    folder = tmp_path_factory.mktemp("adapters")
    return {name: random_models.write_adapter(folder / name, MODEL, seed) for seed, name in enumerate(["acme", "bolt", "coil"], 1)}


def alone(text, *arguments, model=MODEL):
    done = subprocess.run([ATTEND, "translate", "--model", model, "--scores", *arguments], input=text, capture_output=True, text=True, check=True)
    return [tuple(line.split(" ||| ")) for line in done.stdout.splitlines()]


def names(server):
    return [model["name"] for model in server.get("/v1/models")["models"]]


def translated(server, text, **options):
    """Each text's only sentence, and its score."""
    found = [(each["text"], each["sentences"][0]["hypotheses"][0]["score"]) for each in server.translate(text, **options)]
    return [(line, f"{score:.6f}") for line, score in found]


@pytest.mark.parametrize("more", [[], ["--type", "int8"]])
def test_each_gives_what_it_gives_alone(adapters, tmp_path, more):
    given = [each for name, path in adapters.items() for each in ("--adapter", f"{name}={path}")]
    with serving(tmp_path, *given, *more, model=f"base={MODEL}") as server:
        assert names(server) == ["base", "base/acme", "base/bolt", "base/coil"]
        [whole, *others] = server.get("/v1/models")["models"]
        assert "base" not in whole and {other["base"] for other in others} == {"base"}
        assert server.get("/v1/models/base/acme")["id"] == server.get("/v1/models/base%2Facme")["id"] == "base/acme"
        expected = {f"base/{name}": alone("\n".join(TEXTS), "--adapter", path, *more) for name, path in adapters.items()}
        expected["base"] = alone("\n".join(TEXTS), *more)
        assert len({str(each) for each in expected.values()}) == 4
        asked = [name for name in expected for _ in range(8)]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for name, found in zip(asked, pool.map(lambda name: translated(server, TEXTS, model=name), asked)):
                assert found == expected[name], name
        # Who names no model does not mean a customer's.
        assert translated(server, TEXTS) == translated(server, TEXTS, source="ka", target="su") == expected["base"]
        assert server.post("/translate", {"q": TEXT, "source": "ka", "target": "su"})[1]["translatedText"] == expected["base"][0][0]
        assert "base/acme" in server.get("/openapi.json")["components"]["schemas"]["NativeRequest"]["properties"]["model"]["enum"]
        status, answer = server.post("/v1/translate", {"text": TEXT, "model": "base/none"})
        assert status == 400 and "base/acme (ka to su)" in answer["error"]


def test_a_language_model_and_its_adapter(tmp_path):
    adapter = random_models.write_adapter(tmp_path / "acme", LANGUAGE_MODEL, 3)
    with serving(tmp_path, "--adapter", adapter, model=f"tales={LANGUAGE_MODEL}") as server:
        def completed(**options):
            status, answer = server.post("/v1/completions", {"prompt": "lumi", "max_tokens": 9, "seed": 4, "logprobs": 1, **options})
            assert status == 200, answer
            return answer["choices"]

        assert names(server) == ["tales", "tales/acme"]
        found = completed(model="tales/acme")
        assert found != completed(model="tales") == completed()
        merged = tmp_path / "merged"
        subprocess.run([ATTEND, "export", "--adapter", adapter, "--model", LANGUAGE_MODEL, "--output", merged, "--quiet"], check=True)
    with serving(tmp_path, model=f"tales={merged}") as server:
        assert completed() == found


def test_they_are_loaded_again_and_with_their_model(adapters, tmp_path):
    model, own = tmp_path / "model", tmp_path / "own"
    shutil.copytree(MODEL, model)
    shutil.copytree(adapters["acme"], own)
    with serving(tmp_path, "--adapter", own, model=f"base={model}") as server:
        first, second = (alone(TEXT, "--adapter", adapters[name]) for name in ("acme", "bolt"))
        assert translated(server, TEXT, model="base/own") == first
        own.rename(tmp_path / "old")
        shutil.copytree(adapters["bolt"], tmp_path / "new")
        (tmp_path / "new").rename(own)
        assert "error" not in server.wait_for("reload") and server.wait_for("reload")["model"] == "base/own"
        assert translated(server, TEXT, model="base/own") == second
        # The same weights again: the adapter follows its model.
        model.rename(tmp_path / "old_model")
        shutil.copytree(MODEL, tmp_path / "new_model")
        (tmp_path / "new_model").rename(model)
        assert [server.wait_for("reload", count)["model"] for count in (2, 3)] == ["base", "base/own"]
        assert translated(server, TEXT, model="base/own") == second
        # Others: it goes on with those that it was trained on, and the log says so.
        model.rename(tmp_path / "older_model")
        shutil.copytree(VARIANT, tmp_path / "other")
        (tmp_path / "other").rename(model)
        assert server.wait_for("reload", 4)["model"] == "base"
        failed = server.wait_for("reload", 5)
        assert failed["model"] == "base/own" and failed["level"] == "warning" and "trained" in failed["error"]
        assert translated(server, TEXT, model="base/own") == second
        assert translated(server, TEXT, model="base") == alone(TEXT, model=VARIANT)


def test_they_come_and_go_beside_their_models(adapters, tmp_path):
    models = tmp_path / "models"
    models.mkdir()
    shutil.copytree(adapters["acme"], models / "acme")  # by name before its model
    shutil.copytree(MODEL, models / "en")
    with serving(tmp_path, "--models-dir", models, model=None) as server:
        assert names(server) == ["en", "en/acme"]
        shutil.copytree(adapters["bolt"], models / ".bolt")
        (models / ".bolt").rename(models / "bolt")
        assert server.wait_for("load", 3)["model"] == "en/bolt"
        assert translated(server, TEXT, model="en/bolt") == alone(TEXT, "--adapter", adapters["bolt"])
        shutil.rmtree(models / "acme")
        assert server.wait_for("unload")["model"] == "en/acme"
        assert names(server) == ["en", "en/bolt"]


def test_an_adapter_waits_for_its_model(adapters, tmp_path):
    models = tmp_path / "models"
    shutil.copytree(adapters["acme"], models / "acme")
    with serving(tmp_path, "--models-dir", models, model=None) as server:
        failed = server.wait_for("load")
        assert failed["model"] == "acme" and "none of the models served" in failed["error"]
        shutil.copytree(MODEL, models / ".en")
        (models / ".en").rename(models / "en")
        assert server.wait_for("load", 3)["model"] == "en/acme"
        assert names(server) == ["en", "en/acme"]


@pytest.mark.parametrize("arguments, status, error", [
    (["--model", MODEL, "--adapter", MODEL], 3, "is a model, expected an adapter"),
    (["--model", VARIANT, "--adapter", "ACME"], 3, "none of the models served is the one that the adapter was trained on"),
    (["--model", "ACME"], 3, "is an adapter, which runs with the model"),
    (["--adapter", "ACME"], 2, "there is no model"),
    (["--model", MODEL, "--adapter", "x=ACME", "--adapter", "x=ACME"], 2, "two models are named"),
    (["--model", MODEL, "--adapter", "nowhere"], 3, "nowhere")])
def test_wrong_options_are_refused(adapters, arguments, status, error):
    arguments = [str(each).replace("ACME", str(adapters["acme"])) for each in arguments]
    done = failed_start(*arguments)
    assert done.returncode == status and error in done.stderr, done.stderr
    assert json.dumps(done.stdout) == '""'
