"""ItemClassifier over many items: windows change no bits and no numbers of items, and what is cut is told."""

import io

import numpy as np
import pytest
import random_models

import attend

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(name="classifier", scope="module")
def model_of_items(tmp_path_factory):
    return attend.ItemClassifier(random_models.write_item_model(tmp_path_factory.mktemp("items"), max_positions=20), threads=1)


def picture(number):
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(number).integers(0, 256, (8, 8), dtype=np.uint8)).save(file, "PNG")
    return file.getvalue()


def items(count):
    texts = ("lumi tavo", "keri", None)
    return [{"text": texts[number % 3], "picture": picture(number), "links": ["barn"] * (number % 2)} for number in range(count)]


def test_windows_change_nothing(classifier):
    many = items(100)
    together = classifier.classify(iter(many), contributions=True)
    assert len(together) == 100
    for number in range(0, 100, 13):
        assert classifier.classify([many[number]], contributions=True) == [together[number]]


def test_an_item_that_can_t_be_read_has_its_number_in_the_call(classifier):
    many = [*items(40), {"picture": b"none"}]
    with pytest.raises(attend.InputError, match="^item 41: "):
        classifier.classify(many)


def test_what_is_cut_is_told(classifier):
    long = {"text": "lumi " * 50}
    with pytest.warns(attend.CutTextWarning, match="1 text"):
        found = classifier.classify([*items(30), long])
    assert [each.cut for each in found] == [False] * 30 + [True]
