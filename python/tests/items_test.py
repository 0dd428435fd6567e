"""ItemClassifier over many items: windows change no bits and no numbers of items, and what is cut is told."""

import io
import json

import numpy as np
import pytest
import random_models
from package import program

import attend

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(name="directory", scope="module")
def directory_of_model(tmp_path_factory):
    return random_models.write_item_model(tmp_path_factory.mktemp("items"), max_positions=20)


@pytest.fixture(name="classifier", scope="module")
def model_of_items(directory):
    return attend.ItemClassifier(directory, threads=1)


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


def test_attention_is_the_command_line_s(directory, classifier, tmp_path):
    """Numbers of one item, and those of each of its inputs."""
    (tmp_path / "cloth.png").write_bytes(picture(1))
    item = {"text": "lumi tavo", "picture": tmp_path / "cloth.png", "links": ["wood", "barn"]}
    (tmp_path / "items.jsonl").write_text(json.dumps(item, default=str) + "\n", encoding="utf-8")
    program("attention", "--model", directory, tmp_path / "items.jsonl", "--output", tmp_path / "seen.json")
    wanted = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))["attention"]
    seen = classifier.attention(item)
    assert seen.pieces == wanted["text"]["pieces"] and seen.links == wanted["links"]["nodes"] and seen.patches == (2, 2)
    assert seen.heads.sum(-1) == pytest.approx(np.ones(seen.heads.shape[:2]), abs=1e-5) and seen.rollout.sum() == pytest.approx(1, abs=1e-5)
    for part in ("text", "picture", "links"):
        found = seen.of(part)
        layers, heads = found.heads.shape[:2]
        assert (found.heads.reshape(layers, heads, -1) == np.float32(wanted[part]["heads"])).all()
        assert (found.rollout.ravel() == np.float32(wanted[part]["rollout"])).all()
    assert seen.of("picture").rollout.shape == (2, 2) and seen.of("summary").rollout == np.float32(wanted["shares"]["summary"]["rollout"])
    alone = classifier.attention({"links": ["wood"]})
    assert alone.pieces == [] and alone.of("text").rollout.size == alone.of("picture").rollout.size == 0 and alone.rollout.shape == (2,)
    with pytest.raises(attend.UsageError, match="part is 'sound'"):
        seen.of("sound")
