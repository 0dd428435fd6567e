"""attend classify and embed with a model of fusion: items that lack inputs, what each contributes, and what can't be read."""

import json
import math
from xml.etree import ElementTree

import numpy
import pytest
import random_models
from PIL import Image
from programs import attend, refused

TEXTS = ["lumi tavo keri", "neri", "olin lumi"]


@pytest.fixture(name="model", scope="module")
def random_model(tmp_path_factory):
    return random_models.write_item_model(tmp_path_factory.mktemp("items"))


@pytest.fixture(name="items")
def some_items(tmp_path):
    """Whole ones, and one of each input alone."""
    draw = numpy.random.default_rng(3)
    items = []
    for number, text in enumerate(TEXTS):
        Image.fromarray(draw.integers(0, 256, (8, 8), dtype=numpy.uint8)).save(tmp_path / f"{number}.png")
        items.append({"id": str(number), "text": text, "picture": f"{number}.png", "links": ["wood", "barn"][: 1 + number % 2]})
    items += [{"id": "text", "text": "neri"}, {"id": "picture", "picture": "1.png", "text": None}, {"id": "links", "links": ["house"]}]
    write(tmp_path, items)
    return items


def write(folder, items):
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")


def answers(model, folder, *arguments):
    done = attend("classify", "--model", model, folder / "items.jsonl", "--json", "--top", "3", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("type", ["f32", "int8"])
def test_an_item_gets_the_same_answer_whatever_shares_the_call(model, items, type, tmp_path):
    together = answers(model, tmp_path, "--threads", "2", "--type", type)
    assert [answer["id"] for answer in together] == [item["id"] for item in items]
    write(tmp_path, items[::-1])
    assert answers(model, tmp_path, "--threads", "1", "--type", type)[::-1] == together
    write(tmp_path, items[1:2])
    assert answers(model, tmp_path, "--threads", "1", "--type", type) == together[1:2]


def test_contributions_are_what_answers_without_an_input_lose(model, items, tmp_path):
    whole = answers(model, tmp_path)
    assert [set(answer["contributions"]) for answer in whole[3:]] == [{"text"}, {"picture"}, {"links"}]
    assert [list(answer["contributions"].values()) for answer in whole[3:]] == [[None]] * 3
    write(tmp_path, items[:3])
    for left_out in ("text", "picture", "links"):
        for answer, rest in zip(whole, answers(model, tmp_path, "--without", left_out), strict=False):
            assert left_out not in rest["contributions"]
            label, probability = answer["classes"][0]["label"], answer["classes"][0]["probability"]
            [other] = [each["probability"] for each in rest["classes"] if each["label"] == label]
            assert answer["contributions"][left_out] == pytest.approx(math.log(probability) - math.log(other), abs=1e-5)


def test_lines_without_json(model, items, tmp_path):
    done = attend("classify", "--model", model, stdin=json.dumps(items[3]) + "\n")
    label, probability = done.stdout.rstrip("\n").split("\t")
    write(tmp_path, items[3:4])
    best = answers(model, tmp_path)[0]["classes"][0]
    assert (label, probability) == (best["label"], f"{best['probability']:.4f}")


def test_what_can_not_be_read_is_named_and_counted(model, items, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    bad = [{"id": "a", "picture": "broken.png"}, {"id": "b", "links": ["wod"]}, {"id": "c"}, {"id": "d", "txt": "x"}]
    write(tmp_path, [items[0], *bad])
    done = attend("classify", "--model", model, tmp_path / "items.jsonl", "--json")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and "4 of 5 items could not be read and have no answer: " in done.stderr
    assert "classes" in found[0]
    for answer, why in zip(found[1:], ["broken.png", "did you mean 'wood'?", "no text, no picture and no links", "did you mean 'text'?"], strict=True):
        assert why in answer["error"]
    write(tmp_path, bad)
    done = attend("classify", "--model", model, tmp_path / "items.jsonl")
    assert done.returncode == 3 and "items.jsonl:1: " in done.stderr and "broken.png" in done.stderr and not done.stdout.strip()
    write(tmp_path, items[:1])
    refused(attend("classify", "--model", model, tmp_path / "items.jsonl", "--without", "txt"), 2, "--without has 'txt', expected text, picture or links; did you mean 'text'?")
    refused(attend("classify", "--model", model, tmp_path / "items.jsonl", "--without", "text,links,picture"), 2, "which leaves no input")


def test_labels_tell_how_many_are_right(model, items, tmp_path):
    write(tmp_path, items[:4])
    found = [answer["classes"][0]["label"] for answer in answers(model, tmp_path)]
    labels = [*found[:3], "no such class"]
    write(tmp_path, [item | {"label": label} for item, label in zip(items[:4], labels, strict=True)] + [{"picture": "gone.png", "label": "a"}])
    done = attend("classify", "--model", model, tmp_path / "items.jsonl", "--json")
    assert done.returncode == 0 and "right: 75.00 % of 4 labelled items; macro F1 " in done.stderr
    assert [json.loads(line)["label"] for line in done.stdout.splitlines()] == [*labels, "a"]


def test_a_long_text_is_cut(model, tmp_path):
    write(tmp_path, [{"text": "lumi " * 100_000}])
    done = attend("classify", "--model", model, tmp_path / "items.jsonl", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["cut"] and "1 text is longer than the model can read" in done.stderr


def embedded(model, folder, *arguments):
    done = attend("embed", "--model", model, folder / "items.jsonl", *arguments)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("of", ["text", "picture"])
def test_an_item_has_a_vector_of_its_text_and_of_its_picture(model, items, of, tmp_path):
    write(tmp_path, items[:3])
    lines = [json.loads(line) for line in embedded(model, tmp_path, "--of", of).stdout.splitlines()]
    assert [(line["id"], line["cut"]) for line in lines] == [(item["id"], False) for item in items[:3]]
    together = numpy.array([line["embedding"] for line in lines])
    assert together.shape == (3, 6) and numpy.allclose((together ** 2).sum(1), 1, atol=1e-5)
    # By the other inputs an item's vector is no other, and the file has the same numbers.
    write(tmp_path, [{"id": "a", of: items[1][of]}, {"id": "b", "links": ["wod"]}])
    done = embedded(model, tmp_path, "--of", of, "--output", tmp_path / "vectors.npy")
    found = numpy.load(tmp_path / "vectors.npy")
    assert found.shape == (2, 6) and numpy.array_equal(found[0], together[1].astype(numpy.float32)) and numpy.isnan(found[1]).all()
    assert f"1 of 2 items could not be read and has no answer: {tmp_path}/items.jsonl:2: the item has no {of}" in done.stderr


def test_what_embed_refuses_of_items(model, items, tmp_path):
    write(tmp_path, items)
    for arguments, why in ([], "--of is ''"), (["--of", "links"], "of is 'links', expected text or picture"), (["--of", "text", "--pooling", "first"], "pooling"):
        refused(attend("embed", "--model", model, tmp_path / "items.jsonl", *arguments), 2, why)
    (tmp_path / "pictures").mkdir()
    classifier = random_models.write_picture_model(tmp_path / "pictures")
    refused(attend("embed", "--model", classifier, tmp_path / "0.png", "--of", "picture"), 2, "of is for a model of fusion")


def drawn(model, folder, name, *arguments):
    done = attend("attention", "--model", model, folder / "items.jsonl", "--output", folder / name, *arguments)
    assert done.returncode == 0, done.stderr
    return (folder / name).read_text(encoding="utf-8")


def test_attention_of_an_item(model, items, tmp_path):
    numbers = json.loads(drawn(model, tmp_path, "a.json", "--item", "2"))
    attention = numbers["attention"]
    assert numbers["name"] == "items.jsonl, item 1" and attention["links"]["nodes"] == ["wood", "barn"]
    assert numbers["graph"] == {"triples": [], "left_out": 0}  # the model has no graph with it
    assert numbers["contributions"] == answers(model, tmp_path)[1]["contributions"]
    rows = [sum(attention[part]["heads"][layer][head]) for layer in range(2) for head in range(2) for part in ("text", "picture", "links")]
    assert all(0 < share < 1 for share in rows)
    picture = ElementTree.fromstring(drawn(model, tmp_path, "a.svg", "--item", "2"))
    told = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"neri", "text", "picture", "links"} <= set(told) and len(list(picture.iter("{http://www.w3.org/2000/svg}image"))) == 2
    assert "ItemView" in drawn(model, tmp_path, "a.html", "--layer", "1")
    assert json.loads(drawn(model, tmp_path, "a.json", "--item", "4"))["attention"]["picture"] is None


def test_the_graph_of_an_item(items, tmp_path):
    del items
    (tmp_path / "model").mkdir()
    model = random_models.write_item_model(tmp_path / "model", "wood\tmakes\tbarn\nbarn\tstands by\thouse\n")
    assert json.loads(drawn(model, tmp_path, "a.json", "--item", "2"))["graph"]["triples"] == [["wood", "makes", "barn"], ["barn", "stands by", "house"]]
    assert "stands by →" in drawn(model, tmp_path, "a.svg", "--item", "2")
    assert attend("verify", model).returncode == 0
    (model / "graph.tsv").write_text("wood\tmakes\tbarns\n", encoding="utf-8")
    refused(attend("classify", "--model", model, tmp_path / "items.jsonl"), 3, "graph.tsv: line 1: 'barns' is no node of the model; did you mean 'barn'?")


@pytest.mark.parametrize(("arguments", "status", "why"), [
    (["--item", "9"], 3, "has 6 lines, and item 9 is asked for"), (["--source", "lumi"], 2, "give a file of them"), (["--layer", "7"], 2, "layer"),
    (["--kind", "decoder"], 2, "--kind is not for models of pictures or of fusion"), (["--segment", "1"], 2, "--segment is for models of transcription"),
    (["--layer", "99", "--output", "a.json"], 2, "--layer is not for .json"),
    (["--layer", "1", "--output", "a.svg"], 2, "all layers together"), (["--statistics", "--input", "a", "--output", "a.svg"], 2, "for models of text")])
def test_what_an_item_is_not_drawn_with(model, items, tmp_path, arguments, status, why):
    del items
    output = [] if "--output" in arguments else ["--output", tmp_path / "a.html"]
    refused(attend("attention", "--model", model, tmp_path / "items.jsonl", *output, *arguments), status, why)
