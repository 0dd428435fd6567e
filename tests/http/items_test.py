"""Models of fusion served: items at /v1/classify against the command line."""

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
GRAPH = "barn\tstands by\thouse\nhouse\tis made of\twood\nbarn\tis made of\twood\n"
TEXTS = ["lumi tavo keri", "neri", "olin lumi", None, "neri  tavo"]


def picture(seed, kind="PNG"):
    generator, file = random.Random(seed), io.BytesIO()
    Image.frombytes("L", (16, 12), generator.randbytes(16 * 12)).save(file, kind)
    return file.getvalue()


def encoded(file):
    return base64.b64encode(file).decode()


# Each lacks something else.
ITEMS = [{"text": TEXTS[0], "picture": encoded(picture(0)), "links": ["wood", "barn"]}, {"text": TEXTS[1]},
         {"picture": "data:image/jpeg;base64," + encoded(picture(1, "JPEG")), "text": None}, {"links": ["house"]},
         {"text": TEXTS[4], "links": ["house", "house"]}]


@pytest.fixture(name="model", scope="module")
def a_model_of_items(tmp_path_factory):
    return random_models.write_item_model(tmp_path_factory.mktemp("items"), GRAPH)


@pytest.fixture(name="server", scope="module")
def running(tmp_path_factory, model):
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"shop={model}", "--model", f"news={CLASSIFIER}", model=None) as server:
        yield server


@pytest.fixture(name="lines", scope="module")
def file_of_items(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    with open(folder / "items.jsonl", "w", encoding="utf-8") as file:
        for number, item in enumerate(ITEMS):
            if "picture" in item:
                (folder / f"{number}.png").write_bytes(base64.b64decode(item["picture"].split(",")[-1]))
            file.write(json.dumps({"id": number, **item, **({"picture": f"{number}.png"} if "picture" in item else {})}) + "\n")
    return folder / "items.jsonl"


def ask(server, item, **body):
    status, answer = server.post("/v1/classify", {"model": "shop", "item": item, **body})
    assert status == 200, answer
    return answer["results"]


def test_answers_are_those_of_the_program(server, model, lines):
    done = subprocess.run([ATTEND, "classify", "--model", model, lines, "--json", "--top=2"], capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE)
    wanted = [json.loads(line) for line in done.stdout.splitlines()]
    found = ask(server, ITEMS, top=2, contributions=True)
    assert found == [{name: line[name] for name in ("classes", "contributions", "cut")} for line in wanted]
    assert [set(line["contributions"]) for line in found[:2]] == [{"text", "picture", "links"}, {"text"}]


def test_an_item_gets_the_same_bits_whatever_is_beside_it(server):
    everything = {"contributions": True, "attention": True, "graph": True}
    together = ask(server, ITEMS * 9, **everything)
    for i, item in enumerate(ITEMS):
        assert ask(server, item, **everything) == [together[i]] == [together[8 * len(ITEMS) + i]]
    assert ask(server, ITEMS[0]) == [{name: together[0][name] for name in ("classes", "cut")}]


def test_vectors_of_texts_and_pictures_are_those_of_the_program(server, model, lines):
    """At /v1/embeddings, whatever shares the batch: `input` has the texts' vectors, `picture` the pictures'."""
    for name, of, given in (("input", "text", [text for text in (item.get("text") for item in ITEMS) if text]),
                            ("picture", "picture", [item["picture"] for item in ITEMS if "picture" in item])):
        items = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
        kept = lines.parent / f"{of}.jsonl"
        kept.write_text("".join(json.dumps(item) + "\n" for item in items if item.get(of)), encoding="utf-8")
        done = subprocess.run([ATTEND, "embed", "--model", model, kept, "--of", of], capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE)
        wanted = [json.loads(line)["embedding"] for line in done.stdout.splitlines()]
        status, answer = server.post("/v1/embeddings", {"model": "shop", name: given * 7})
        assert status == 200, answer
        assert [each["embedding"] for each in answer["data"]] == wanted * 7
        assert sum(x * x for x in wanted[0]) == pytest.approx(1)
        assert server.post("/v1/embeddings", {"model": "shop", name: given[0]})[1]["data"][0]["embedding"] == wanted[0]
    shop = next(each for each in server.get("/v1/models")["models"] if each["name"] == "shop")
    assert shop["embedding_width"] == len(wanted[0]) == 6
    for body, message in (({"input": ["neri", ""]}, "text 2 is empty"), ({"picture": encoded(b"none")}, "picture 1"),
                          ({"input": "neri", "pooling": "first"}, "pooling is not for a model of items")):
        status, answer = server.post("/v1/embeddings", {"model": "shop", **body})
        assert status == 400 and message in answer["error"]["message"], answer
    # A model of items reads no text by itself elsewhere.
    status, answer = server.post("/v1/classify", {"model": "shop", "text": "neri"})
    assert status == 400 and "send `item`" in str(answer)


def test_attention_is_that_of_the_program(server, model, lines, tmp_path):
    found = ask(server, ITEMS[0], attention=True, contributions=True, graph=True)[0]
    subprocess.run([ATTEND, "attention", "--model", model, lines, "--output", tmp_path / "a.json"], check=True, timeout=PATIENCE)
    wanted = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert {name: wanted[name] for name in ("attention", "contributions", "graph")} == {name: found[name] for name in ("attention", "contributions", "graph")}
    attention = found["attention"]
    assert (attention["text"]["words"], attention["links"]["nodes"]) == (["lumi", "tavo", "keri"], ["wood", "barn"])
    assert (attention["picture"]["rows"], attention["picture"]["columns"]) == (2, 2)
    assert sum(share["rollout"] for share in attention["shares"].values()) == pytest.approx(1, abs=1e-5)
    assert sum(share["heads"][0][1] for share in attention["shares"].values()) == pytest.approx(1, abs=1e-5)
    assert ask(server, ITEMS[1], attention=True)[0]["attention"]["picture"] is None


def test_an_empty_text_is_none(server):
    [answer] = ask(server, {"text": "", "links": ["wood"]}, attention=True)
    assert answer["attention"]["text"] is None and answer["attention"]["links"]


def test_the_graph_around_the_links(server):
    graph = ask(server, {"links": ["house"]}, graph=True)[0]["graph"]
    assert graph == {"triples": [["barn", "stands by", "house"], ["house", "is made of", "wood"]], "left_out": 0}
    assert ask(server, {"text": "neri"}, graph=True)[0]["graph"]["triples"] == []


def test_the_model_says_what_it_reads(server):
    models = {model["name"]: model for model in server.get("/v1/models")["models"]}
    shop = models["shop"]
    assert shop["inputs"] == ["text", "picture", "links"] and shop["picture"] == {"width": 8, "height": 8} and shop["max_text_tokens"] > 0
    assert shop["nodes"] == {"count": 3, "names": ["barn", "house", "wood"], "triples": 3}
    assert shop["labels"] == ["cat", "dog", "owl"] and shop["routes"] == ["/v1/classify", "/v1/embeddings"]
    assert "inputs" not in models["news"] and "nodes" not in models["news"]


WORD = {"text": "neri"}


@pytest.mark.parametrize(("body", "part"), [
    ({"text": "a"}, "the model reads items, but the request has text; send `item`"),
    ({"picture": encoded(picture(0))}, "the model reads items, but the request has pictures; send `item`"),
    ({"item": WORD, "model": "news"}, "the model reads text, but the request has items"),
    ({"item": WORD, "text": "a"}, "text and item are given; leave out one"),
    ({"item": WORD, "picture": "a"}, "picture and item are given; leave out one"),
    ({"item": [WORD, WORD, {"links": ["wood", "hose"]}]}, "item 3: link 'hose' is no node of the model's graph; did you mean 'house'?"),
    ({"item": [WORD, {"picture": encoded(b"no picture")}]}, "item 2: the picture"),
    ({"item": [WORD, {"picture": encoded(picture(0)[:-20])}]}, "item 2: the picture"),
    ({"item": [WORD, {"picture": "%%%"}]}, "item 2: picture is not base64"),
    ({"item": {"picture": ""}}, "item: the picture is empty"),
    ({"item": [WORD, {}]}, "item 2: the item has no text, no picture and no links"),
    ({"item": {"links": []}}, "item 1: the item has no text, no picture and no links"),
    ({"item": []}, "the request has 0 items, expected 1 to"),
    ({"item": "a"}, "item is a text, expected an object with text, picture or links"),
    ({"item": [WORD, 3]}, "item 2 is a number, expected an object"),
    ({"item": {"test": "a"}}, "item: unknown key 'test', expected text, picture, links; did you mean 'text'?"),
    ({"item": {"text": 3}}, "item: text is 3, expected a text"),
    ({"item": {"links": "wood"}}, 'item: links is "wood", expected a list of nodes'),
    ({"item": {"links": [3]}}, "item: a link is 3, expected a text"),
    ({"item": {"links": ["wood"] * 257}}, "item: links has 257 nodes, expected at most 256"),
    ({"item": [WORD, {"text": "lumi " * 5000}]}, "item 2: the text"),
    ({"item": [WORD, {"text": "lumi " * 2000}], "attention": True}, "item 2: the item has"),
    ({"item": [WORD] * 200, "attention": True}, "lower top, or send fewer"),
    ({"text": "a", "model": "news", "contributions": True}, "contributions is for items"),
    ({"text": "a", "model": "news", "graph": True}, "graph is for items"),
    ({"text": "a", "model": "news", "attention": True}, "attention is for pictures and items"),
])
def test_bad_requests_say_what_is_wrong(server, body, part):
    status, answer = server.post("/v1/classify", {"model": "shop", **body})
    assert status == 400 and part in answer["error"], answer
    assert ask(server, WORD)[0]["classes"]  # it goes on


def test_vectors_are_not_given_without_a_shared_width(tmp_path):
    with serving(tmp_path, model=random_models.write_item_model(tmp_path, shared_width=0)) as server:
        status, answer = server.post("/v1/embeddings", {"input": "a"})
    assert status == 400 and "no model for /v1/embeddings" in answer["error"]["message"], answer
