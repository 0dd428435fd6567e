"""tools/woven_catalogue: each input tells the pair of clusters and one pair's cluster, all three together tell every cluster."""

import io
import json
import pathlib
import subprocess
import sys

import pytest

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")
ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTERS = {"korvai": ("Kanchipuram", "Arani"), "petni": ("Gadwal", "Narayanpet"), "ikat": ("Barpali", "Nuapatna"), "jamdani": ("Chanderi", "Maheshwar")}


def make(folder, *options):
    subprocess.run([sys.executable, ROOT / "tools/woven_catalogue", folder, "--items=120", "--valid=16", "--test=40", *options], check=True)
    return folder


@pytest.fixture(name="catalogue", scope="module")
def a_catalogue(tmp_path_factory):
    return make(tmp_path_factory.mktemp("catalogue"))


def items(folder, part):
    return [json.loads(line) for line in (folder / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()]


def pixels(folder, item):
    return numpy.asarray(Image.open(io.BytesIO((folder / item["picture"]).read_bytes())).convert("RGB")).astype(float)


def test_the_same_seed_gives_the_same_files(catalogue, tmp_path):
    again, other = make(tmp_path / "again"), make(tmp_path / "other", "--seed=2")
    for file in (path for path in catalogue.rglob("*") if path.is_file()):
        assert (again / file.relative_to(catalogue)).read_bytes() == file.read_bytes()
    assert (other / "train.jsonl").read_bytes() != (catalogue / "train.jsonl").read_bytes()


def test_pictures_are_of_their_size(catalogue):
    for item in items(catalogue, "test"):
        assert pixels(catalogue, item).shape == (96, 96, 3)


def material_of_body(item):
    silk, cotton = (item["text"].lower().find(f"body is of {material}") + item["text"].find(f" {material} body") > -2 for material in ("silk", "cotton"))
    assert silk != cotton, item["text"]
    return "silk" if silk else "cotton"


def has_peacocks(folder, item):
    """Whether the pallu's motifs are of many parts: edges along the rows for each pixel that a motif covers, 0.42 to 0.66 for peacocks and
    0.17 to 0.31 for mangoes."""
    pallu = pixels(folder, item)[:70, 68:]
    covered = abs(pallu - numpy.median(pallu.reshape(-1, 3), axis=0)).sum(axis=2) > 60
    return (covered[:, 1:] != covered[:, :-1]).sum() / covered.sum() > 0.36


def district_of(graph, workshop):
    village = next(tail for head, relation, tail in graph if head == workshop and relation == "lies in")
    return next(tail for head, relation, tail in graph if head == village and relation == "in district")


def test_each_pair_differs_where_it_should(catalogue):
    graph = [line.split("\t") for line in (catalogue / "graph.tsv").read_text(encoding="utf-8").splitlines()]
    for item in items(catalogue, "train") + items(catalogue, "test"):
        workshop, technique, body, *_ = item["links"]
        first = CLUSTERS[technique].index(item["label"]) == 0
        assert material_of_body(item) == body and workshop in item["text"]
        if technique == "korvai":
            assert has_peacocks(catalogue, item) == first
        if technique == "petni":
            assert (body == "silk") == first
        if technique == "jamdani":
            assert ((body == "silk") == has_peacocks(catalogue, item)) == first
        if technique == "ikat":
            assert district_of(graph, workshop) == f"{item['label']} district"


@pytest.mark.parametrize("technique", ["korvai", "jamdani"])
def test_the_text_does_not_tell_other_twins_apart(catalogue, technique):
    seen = {(item["label"], item["links"][2]) for item in items(catalogue, "train") if item["links"][1] == technique}
    assert seen == {(cluster, material) for cluster in CLUSTERS[technique] for material in ("silk", "cotton")}


def test_the_text_tells_two_thirds_of_the_twins_that_picture_and_text_tell_apart(catalogue):
    bodies = [item["links"][2] == "silk" for part in ("train", "test") for item in items(catalogue, part) if item["links"][1] == "jamdani"]
    right = [(item["links"][2] == "silk") == (item["label"] == "Chanderi") for item in items(catalogue, "train") if item["links"][1] == "jamdani"]
    assert 0.5 < sum(bodies) / len(bodies) < 0.8 and 0.5 < sum(right) / len(right) < 0.8


def test_workshops_of_the_test_are_new_and_in_the_graph(catalogue):
    graph = {line.split("\t")[0] for line in (catalogue / "graph.tsv").read_text(encoding="utf-8").splitlines()}
    trained, tested = ({item["links"][0] for item in items(catalogue, part)} for part in ("train", "test"))
    assert not trained & tested and trained | tested <= graph
