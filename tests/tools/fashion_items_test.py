"""recipes/fusion/tables.py: the words that say an item's class are hidden, and nothing but the training part makes the graph."""

import collections
import gzip
import json
import pathlib
import subprocess
import sys
import zipfile

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "recipes/fusion/tables.py"
HEADER = "id split has_image gender masterCategory subCategory articleType baseColour season year usage name".split()
# Names, of which the second has what stays.
NAMES = [
    ("Puma Men Navy Blue Faas T-shirt", "Puma Faas"),
    ("Puma Mens Faas Tees", "Puma Faas"),
    ("Puma Women's Red/White Faas T Shirts", "Puma Faas"),
    ("Puma Unisex Printed Back Pack", "Puma Printed"),
    ("Red Tape Men Casual Shoe", "Tape"),
    ("Red Tape Derby Shoes", "Tape Derby"),
    ("Red Tape Kids Brogue Black-Brown Shoe", "Tape Brogue"),
    ("Once Watch", "Once"),
]
OF_TYPE = {"Puma": ("Apparel", "Topwear", "Tshirts"), "Red": ("Footwear", "Shoes", "Casual Shoes"), "Once": ("Accessories", "Watches", "Watches")}


def row(number, name, split="train", image=1, usage="Casual", colour="Red", **values):
    category, label, article = OF_TYPE[name.split()[0]]
    found = dict(zip(HEADER, [number, split, image, "Men", category, label, article, colour, "Fall", "2011", usage, name], strict=True))
    return "\t".join(str((found | values)[column]) for column in HEADER)


@pytest.fixture(name="items")
def made_items(tmp_path):
    more = {0: {"colour": "Navy Blue"}, 3: {"gender": "Unisex"}, 6: {"colour": "Brown"}}
    rows = [row(number, name, **more.get(number, {})) for number, (name, _) in enumerate(NAMES)]
    rows += [row(20, "Puma Men Blue Tshirt", colour="Blue", articleType="Backpacks"), row(21, "Puma Men Tshirt", image=0, usage="Sports", gender="Women")]
    # What is not of the training part has a usage and a brand of its own, and a class that training lacks.
    rows += [row(30 + n, "Red Tape Tuxedo Shoes", "test", usage="Formal", colour="White") for n in range(9)]
    rows += [row(40, "Puma Faas Tshirt", "valid"), row(41, "Once Only Saree", "test", subCategory="Saree"), row(42, "Puma", "test", image=0), row(43, "Red Shoes", "test")]
    folder = tmp_path / "fashion-catalogue"
    folder.mkdir()
    with gzip.open(folder / "items.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(["\t".join(HEADER), *rows]) + "\n")
    with zipfile.ZipFile(folder / "images.zip", "w") as pictures:
        pictures.writestr("0.jpg", b"a picture")
    subprocess.run([sys.executable, SCRIPT, "fashion-catalogue", tmp_path, tmp_path / "items"], check=True)
    return tmp_path / "items"


def read(items, part):
    return [json.loads(line) for line in (items / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_words_of_type_gender_and_colour_are_hidden(items):
    assert [item["text"] for item in read(items, "train")[: len(NAMES)]] == [text for _, text in NAMES]
    assert read(items, "test")[-1] == {"id": "43", "text": None, "picture": "pictures/43.jpg", "label": "Shoes",
                                       "links": ["gender:Men", "baseColour:Red", "season:Fall", "year:2011", "usage:Casual"]}


def test_whole_names_are_for_retrieval(items):
    subprocess.run([sys.executable, SCRIPT, "fashion-names", items.parent, items.parent / "names"], check=True)
    hidden, whole = read(items, "train"), read(items.parent / "names", "train")
    assert [item["text"] for item in whole[: len(NAMES)]] == [name for name, _ in NAMES]
    assert [item | {"text": ""} for item in whole] == [item | {"text": ""} for item in hidden]


def test_items_have_pictures_classes_of_training_and_their_own_split(items):
    assert [item["id"] for item in read(items, "test")] == [str(number) for number in [*range(30, 39), 43]]
    assert [item["label"] for item in read(items, "valid")] == ["Topwear"]
    assert (items / "pictures/0.jpg").read_bytes() == b"a picture"


def test_the_graph_knows_the_training_part_alone(items):
    triples = [line.split("\t") for line in (items / "graph.tsv").read_text(encoding="utf-8").splitlines()]
    nodes = {end for start, _, other in triples for end in (start, other)}
    brands = {node for node in nodes if node.startswith("brand:")}
    assert brands == {"brand:puma", "brand:tape"}  # of one item none
    assert "usage:Formal" not in nodes and "baseColour:White" not in nodes
    of_puma = collections.defaultdict(set)
    for start, relation, other in triples:
        if start == "brand:puma":
            of_puma[relation].add(other)
    assert of_puma["mostly_usage"] == {"usage:Casual"} and of_puma["also_usage"] == {"usage:Sports"}
    assert of_puma["also_gender"] == {"gender:Unisex", "gender:Women"} and of_puma["also_baseColour"] == {"baseColour:Blue", "baseColour:Navy Blue"}
    assert not [node for node in nodes if any(word in node for word in ("Topwear", "Shoes", "Apparel", "Tshirts", "masterCategory", "subCategory"))]
    for part in ("train", "valid", "test"):
        assert all(set(item["links"]) <= nodes for item in read(items, part))
    assert read(items, "train")[4]["links"][0] == "brand:tape" and "usage:Formal" not in read(items, "test")[0]["links"]
