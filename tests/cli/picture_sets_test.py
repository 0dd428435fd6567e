"""attend classify and embed over labelled pictures: the answers are those of single files, and what is said to be right is counted here anew."""

import json
import random
import re
import struct

import pytest
import random_models
from programs import attend

Image = pytest.importorskip("PIL.Image")
np = pytest.importorskip("numpy")
LABELS = ["cat", "dog", "owl"]  # of the model
COUNT = 90
IDX = "test-images-idx3-ubyte"


def grey(seed):
    return Image.frombytes("L", (28, 20), random.Random(seed).randbytes(28 * 20))


@pytest.fixture(name="model", scope="module")
def a_model_of_pictures(tmp_path_factory):
    return random_models.write_picture_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(name="sets", scope="module")
def the_same_pictures_in_three_forms(tmp_path_factory):
    """And their labels, in the order of each."""
    folder = tmp_path_factory.mktemp("sets")
    labels = [random.Random(7 * i).randrange(3) for i in range(COUNT)]
    pictures = [grey(i) for i in range(COUNT)]
    (folder / IDX).write_bytes(struct.pack(">IIII", 2051, COUNT, 20, 28) + b"".join(picture.tobytes() for picture in pictures))
    (folder / IDX.replace("images-idx3", "labels-idx1")).write_bytes(struct.pack(">II", 2049, COUNT) + bytes(labels))
    for name in LABELS:
        (folder / "tree" / name).mkdir(parents=True)
    for number, (label, picture) in enumerate(zip(labels, pictures, strict=True)):
        picture.save(folder / "tree" / LABELS[label] / f"{number:03}.png")
    paths = [f"tree/{LABELS[label]}/{number:03}.png" for number, label in enumerate(labels)]
    (folder / "test.tsv").write_text("".join(f"{path}\t{LABELS[label]}\n" for path, label in zip(paths, labels, strict=True)))
    named = [LABELS[label] for label in labels]
    in_folders = [number for name in LABELS for number in range(COUNT) if named[number] == name]
    return folder, {IDX: list(range(COUNT)), "test.tsv": list(range(COUNT)), "tree": in_folders}, paths, named


def classified(model, *arguments):
    done = attend("classify", "--model", model, "--json", "--top", "3", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


@pytest.mark.parametrize("type", ["f32", "int8"])
@pytest.mark.parametrize("form", [IDX, "test.tsv", "tree"])
def test_answers_are_those_of_the_files_alone(model, sets, form, type):
    folder, orders, paths, labels = sets
    alone, said = classified(model, "--type", type, "--threads", "1", *[folder / path for path in paths])
    assert "right" not in said
    lines, said = classified(model, "--type", type, "--threads", "2", folder / form)
    assert [line["classes"] for line in lines] == [alone[number]["classes"] for number in orders[form]]
    assert [line["label"] for line in lines] == [labels[number] for number in orders[form]]
    right = sum(line["classes"][0]["label"] == line["label"] for line in lines)
    assert 0 < right < COUNT
    assert f"right: {100 * right / COUNT:.2f} % of {COUNT} labelled pictures" in said
    macro_f1 = np.mean([f1(lines, label) for label in LABELS])
    assert float(re.search(r"macro F1 ([\d.]+)", said)[1]) == pytest.approx(macro_f1, abs=0.006)


def f1(lines, label):
    both = sum(line["classes"][0]["label"] == label == line["label"] for line in lines)
    either = sum(line["classes"][0]["label"] == label for line in lines) + sum(line["label"] == label for line in lines)
    return 200 * both / either


def test_a_label_that_the_model_has_not_is_named(model, sets):
    folder, _, paths, _ = sets
    (folder / "other.tsv").write_text(f"{paths[0]}\tcow\n")
    done = attend("classify", "--model", model, folder / "other.tsv")
    assert done.returncode == 3 and "cow" in done.stderr and "other.tsv" in done.stderr


def test_a_damaged_picture_is_named_and_not_counted(model, sets):
    folder, _, paths, labels = sets
    (folder / "broken.png").write_bytes((folder / paths[0]).read_bytes()[:100])
    (folder / "some.tsv").write_text(f"{paths[0]}\t{labels[0]}\nbroken.png\tcat\n")
    lines, said = classified(model, folder / "some.tsv")
    assert "error" in lines[1] and "broken.png" in lines[1]["picture"] and "of 1 labelled picture;" in said
    assert "1 of 2 pictures could not be read" in said


def test_vectors_of_a_set_are_those_of_its_files(model, sets, tmp_path):
    folder, _, paths, _ = sets
    for name, files in [("set", [folder / IDX]), ("files", [folder / path for path in paths])]:
        assert attend("embed", "--model", model, "--output", tmp_path / f"{name}.npy", *files).returncode == 0
    assert np.array_equal(np.load(tmp_path / "set.npy"), np.load(tmp_path / "files.npy"))
