"""attend parse with a model of random weights: a tree over exactly the words of each line, the same bits whatever shares the call."""

import json
import random
import re
import xml.etree.ElementTree

import pytest
import random_models
from programs import attend, refused

WORDS = "lumi tavo kesi tavokesi . , ( ) a)b U.S. \u00e9t\u00e9".split()


@pytest.fixture(name="parser", scope="module")
def random_parser(tmp_path_factory):
    return random_models.write_parser(tmp_path_factory.mktemp("parser"))


def lines(count=40):
    numbers = random.Random(5)
    return [" ".join(numbers.choices(WORDS, k=numbers.choice([1, 2, 3, 5, 8, 30]))) for _ in range(count)]


def parsed(parser, texts, *arguments):
    done = attend("parse", "--model", parser, "--beam-size", "3", *arguments, stdin="".join(text + "\n" for text in texts))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def words_of(tree):
    return re.findall(r"\([^\s()]+ ([^\s()]+)\)", tree)


@pytest.mark.parametrize("type", ["f32", "int8"])
def test_a_sentence_gets_the_same_tree_whatever_shares_the_call(parser, type):
    texts = lines()
    together = parsed(parser, texts, "--threads", "3", "--type", type, "--json")
    assert parsed(parser, texts[::-1], "--threads", "1", "--type", type, "--json")[::-1] == together
    for number in range(0, len(texts), 9):
        assert parsed(parser, [texts[number]], "--threads", "1", "--type", type, "--json") == [together[number]]
    assert len({json.loads(line)["tree"] for line in together}) > 20


def test_a_tree_has_the_words_of_its_line(parser):
    texts = ["", *lines(), " ".join(["lumi"] * 300)]
    trees = parsed(parser, texts)
    assert len(trees) == len(texts) and trees[0] == ""
    for text, tree in zip(texts, trees):
        assert words_of(tree) == text.replace("(", "-LRB-").replace(")", "-RRB-").split()
        assert tree.count("(") == tree.count(")")


def test_brackets_are_no_unknown_characters(parser):
    """The model reads -LRB- for (, whose characters it may lack; those are told."""
    done = attend("parse", "--model", parser, "--beam-size", "3", stdin="lumi ( tavo )\n")
    assert done.returncode == 0 and "U+004C L" in done.stderr
    assert "U+0028" not in done.stderr and "U+0029" not in done.stderr


def test_json_has_what_the_tree_has(parser):
    line, = parsed(parser, ["lumi tavo , kesi ."], "--output-format", "json")
    result = json.loads(line)
    assert words_of(result["tree"]) == result["words"] == ["lumi", "tavo", ",", "kesi", "."]
    assert re.findall(r"\(([^\s()]+) [^\s()]+\)", result["tree"]) == result["tags"]
    assert [each["label"] for each in result["constituents"]] == re.findall(r"\(([^\s()]+)(?= \()", result["tree"])
    assert result["constituents"][0]["begin"] == 0 and result["constituents"][0]["end"] == 5
    assert result["log_probability"] < 0 > result["score"]


def test_svg_is_one_picture(parser):
    picture = xml.etree.ElementTree.fromstring("\n".join(parsed(parser, ["", "lumi <tavo> &", "kesi"], "--output-format", "svg")))
    texts = ["".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in ("lumi", "<tavo>", "&", "kesi")] == ["lumi", "<tavo>", "&", "kesi"]


def test_plain_text_is_divided_into_words(parser):
    tree, = parsed(parser, ["Lumi (tavo) kesi."], "--plain")
    assert words_of(tree) == ["Lumi", "-LRB-", "tavo", "-RRB-", "kesi", "."]


def test_what_can_not_be_parsed_is_refused(parser, tmp_path, encoders):
    refused(attend("parse", "--model", encoders["tagging"], stdin="lumi\n"), 2, "the model's task is tagging, expected parsing; run it with `attend tag`")
    refused(attend("translate", "--model", parser, stdin="lumi\n"), 2, "the model's task is parsing, expected translation; run it with `attend parse`")
    refused(attend("score", "--model", parser, "--source", tmp_path / "text", "--target", tmp_path / "text"), 2,
            "the model's task is parsing, expected translation or language_model; run it with `attend parse`")
    refused(attend("parse", "--model", parser, "--beam-size", "0", stdin="lumi\n"), 2, "beam-size")
    refused(attend("parse", "--model", parser, "--json", "--output-format", "svg", stdin="lumi\n"), 2, "leave out one")
    short = tmp_path / "short"
    short.mkdir()
    random_models.write_parser(short)
    config = json.loads((short / "config.json").read_text(encoding="utf-8"))
    config["model"]["encoder"] |= {"positions": "learned", "max_positions": 12}
    random_models.write_model(short, config)
    done = attend("parse", "--model", short, stdin="lumi\n" + "lumi " * 30 + "\n")
    assert done.returncode == 3 and ":2: " in done.stderr and "learned positions" in done.stderr, done.stderr
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize(("change", "parts"), [
    ({"tags": []}, ["tags is empty"]),
    ({"constituents": ["S", "S"]}, ["constituents has 'S' twice"]),
    ({"constituents": ["S", "N P", "X", "Y"]}, ["constituents has 'N P', expected names without brackets and blanks"]),
    ({"tie_source_target": True}, ["tie_source_target needs one vocabulary"]),
    ({"target_vocab_size": 9}, ["target_vocab_size is 9"]),
])
def test_a_wrong_configuration_is_refused(parser, tmp_path, change, parts):
    config = json.loads((parser / "config.json").read_text(encoding="utf-8"))
    config["model"] |= change
    random_models.write_parser(tmp_path)
    random_models.write_config(tmp_path, config, list(config["sha256"]))
    refused(attend("parse", "--model", tmp_path, stdin="lumi\n"), 3, *parts)
