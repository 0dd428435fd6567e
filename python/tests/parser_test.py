"""attend.Parser against the program, and attend.torch's parser against what it computes."""

import json
import pickle

import attend
import attend.torch
import pytest
import random_models
import torch
from package import program

TEXTS = ["lumi tavo kesi", "", "tavokesi , lumi .", "lumi " * 20]


@pytest.fixture(name="model", scope="module")
def random_parser(tmp_path_factory):
    return random_models.write_parser(tmp_path_factory.mktemp("parser"))


def test_trees_are_the_programs(model):
    parser = attend.load(model, threads=2)
    assert repr(parser) == f"Parser('{model}', f32, 2 threads)"
    assert parser.constituents == ["NP", "PP", "S", "VP"] and parser.tags == [".", "DT", "NN", "VBZ"]
    printed = [json.loads(line) for line in program("parse", "--model", model, "--json", "--beam-size", "4", stdin="\n".join(TEXTS) + "\n").splitlines()]
    results = parser.parse_words([text.split() for text in TEXTS], beam_size=4)
    for result, wanted in zip(results, printed, strict=True):
        assert result == wanted["tree"] and list(result.words) == wanted["words"] and list(result.tags) == wanted["tags"]
        assert [each._asdict() for each in result.constituents] == wanted["constituents"]
        assert (result.score, result.log_probability) == (wanted["score"], wanted["log_probability"])
        copy = pickle.loads(pickle.dumps(result))
        assert copy == result and copy.constituents == result.constituents
    assert parser.parse_words(TEXTS[0].split(), beam_size=4) == results[0]
    assert parser.parse("Lumi (tavo).").words == ("Lumi", "-LRB-", "tavo", "-RRB-", ".")
    assert parser.parse(["lumi", "tavo"])[1].words == ("tavo",)


def test_what_is_wrong_is_an_error(model):
    parser = attend.Parser(model)
    with pytest.raises(attend.UsageError, match="empty word"):
        parser.parse_words([["lumi", ""]])
    with pytest.raises(attend.ConfigurationError, match="beam_sice"):
        parser.parse("lumi", beam_sice=3)
    with pytest.raises(attend.UsageError, match="use attend.Parser or attend.load"):
        attend.Tagger(model)


def test_plain_pytorch_gives_the_same_probability(model):
    result = attend.Parser(model).parse_words(["lumi", "tavokesi", "lumi"], beam_size=2)
    network = attend.torch.load(model)
    vocabulary = attend.Vocabulary(model / "vocab.spm")
    source, words = [2], []
    for word in result.words:
        words.append(len(source))
        source += vocabulary.encode(word)
    words.append(len(source))
    source.append(3)
    ids = {f"({label}": 4 + i for i, label in enumerate(["NP", "PP", "S", "VP"])} | {f"{label})": 8 + i for i, label in enumerate(["NP", "PP", "S", "VP"])}
    ids |= {tag: 12 + i for i, tag in enumerate([".", "DT", "NN", "VBZ"])}
    target, stack, seen, next_words = [2], [], 0, [words[0]]
    for token in result.replace("(", " (").replace(")", " ) ").split():
        if token == ")":
            label = stack.pop()
            if label is None:
                continue
            target.append(ids[f"{label})"])
        elif token in ids:
            target.append(ids[token])
            stack.append(token[1:])
        elif token.startswith("("):
            target.append(ids[token[1:]])
            stack.append(None)
            seen += 1
        else:
            continue  # the word
        next_words.append(words[seen])
    logits = network(torch.tensor([source]), torch.tensor([target]), torch.tensor([next_words]))[0].log_softmax(-1)
    total = sum(logits[t, id].item() for t, id in enumerate([*target[1:], 3]))
    assert total == pytest.approx(result.log_probability, abs=1e-4)
    with pytest.raises(attend.UsageError, match="next_words"):
        network(torch.tensor([source]), torch.tensor([target]))
