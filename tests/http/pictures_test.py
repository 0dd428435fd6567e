"""Models of pictures served: /v1/classify and /v1/embeddings against the command line."""

import base64
import io
import json
import random
import subprocess

import pytest
import random_models
from encoder_models import trained_encoders
from server import ATTEND, PATIENCE, serving

Image = pytest.importorskip("PIL.Image")
(CLASSIFIER,) = trained_encoders("classifier")


def picture(seed, size=(12, 8), kind="PNG"):
    generator, file = random.Random(seed), io.BytesIO()
    Image.frombytes("RGB", size, generator.randbytes(3 * size[0] * size[1])).save(file, kind)
    return file.getvalue()


FILES = [picture(0), picture(1, (30, 41)), picture(2, (64, 64), "JPEG"), picture(3)]


def encoded(file):
    return base64.b64encode(file).decode()


@pytest.fixture(name="model", scope="module")
def a_model_of_pictures(tmp_path_factory):
    return random_models.write_picture_model(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(name="server", scope="module")
def running(tmp_path_factory, model):
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"animals={model}", "--model", f"news={CLASSIFIER}", model=None) as server:
        yield server


@pytest.fixture(name="paths", scope="module")
def files_of_pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for number, file in enumerate(FILES):
        (folder / f"{number}.png").write_bytes(file)
    return sorted(folder.iterdir())


def command_line(command, model, paths, *options):
    done = subprocess.run([ATTEND, command, "--model", model, *options, *paths], capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def ask(server, route="/v1/classify", **body):
    status, answer = server.post(route, {"model": "animals", **body})
    assert status == 200, answer
    return answer


def test_classes_are_those_of_the_program(server, model, paths):
    wanted = [line["classes"] for line in command_line("classify", model, paths, "--json", "--top=2")]
    found = ask(server, picture=[encoded(file) for file in FILES], top=2)["results"]
    assert found == [{"classes": classes} for classes in wanted]
    for file, result in zip(FILES, found, strict=True):
        assert ask(server, picture=f"data:image/png;base64,{encoded(file)}", top=2)["results"] == [result]
    assert ask(server, picture=[encoded(FILES[0])] * 40 + [encoded(FILES[1])], top=2)["results"] == found[:1] * 40 + found[1:2]


def test_attention_is_that_of_the_program(server, model, paths, tmp_path):
    found = ask(server, picture=encoded(FILES[1]), attention=True)["results"][0]["attention"]
    subprocess.run([ATTEND, "attention", "--model", model, "--picture", paths[1], "--output", tmp_path / "a.json"], check=True, timeout=PATIENCE)
    wanted = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert found == {name: wanted[name] for name in ("picture", "rows", "columns", "heads", "rollout")}
    assert (found["rows"], found["columns"], len(found["rollout"])) == (2, 3, 6)


def test_vectors_are_those_of_the_program(server, model, paths):
    wanted = [line["embedding"] for line in command_line("embed", model, paths)]
    answer = ask(server, "/v1/embeddings", picture=[encoded(file) for file in FILES])
    assert [item["embedding"] for item in answer["data"]] == wanted
    assert answer["usage"]["prompt_tokens"] == 4 * 7


def test_the_model_says_what_it_reads(server):
    models = {model["name"]: model for model in server.get("/v1/models")["models"]}
    assert models["animals"]["picture"] == {"width": 12, "height": 8}
    assert "max_text_tokens" not in models["animals"] and "picture" not in models["news"]


@pytest.mark.parametrize(("body", "part"), [
    ({"text": "a"}, "the model reads pictures, but the request has text"),
    ({"picture": encoded(FILES[0]), "model": "news"}, "the model reads text, but the request has pictures"),
    ({"picture": encoded(FILES[0]), "text": "a"}, "text and picture are given; leave out one"),
    ({"picture": "%%%"}, "picture 1 is not base64"),
    ({"picture": ""}, "picture 1 is not base64"),
    ({"picture": "data:image/png"}, "picture 1 is not base64"),
    ({"picture": [encoded(FILES[0]), encoded(b"no picture")]}, "picture 2"),
    ({"picture": encoded(FILES[0][:-20])}, "picture 1"),
    ({"picture": []}, "the request has 0 pictures, expected 1 to"),
    ({"picture": 3}, "picture"),
    ({"picture": [encoded(FILES[0])] * 150, "attention": True}, "asks for 300150 classes, tokens or numbers"),
    ({"text": "a", "model": "news", "attention": True}, "attention is for pictures"),
])
def test_bad_requests_say_what_is_wrong(server, body, part):
    status, answer = server.post("/v1/classify", {"model": "animals", **body})
    assert status == 400 and part in answer["error"], answer
